/* SPDX-License-Identifier: Apache-2.0
 * The rules as a part of another document: what knows both the JSON library and the rules. */
#pragma once

#include "schema/document.h"
#include "schema/rules.h"

/* Reads an array of rules; faults are added with their places. Never NULL. */
GPtrArray *rules_read(struct reading at, json_t *value);
