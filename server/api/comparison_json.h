/* SPDX-License-Identifier: Apache-2.0
 * A comparison as JSON. Knows no request; one thread at a time. */
#pragma once

#include "server/http/json_writer.h"
#include "server/work/comparison.h"

/* The members of a comparison, into the object that is open. */
void comparison_json_write(struct json_writer *writer, const Comparison *comparison);
