/* SPDX-License-Identifier: Apache-2.0
 * The text of a `param.NAME=` filter: a list of values and ranges, separated by commas.
 *
 *     2,4            one of these values
 *     1000..10000    a number from 1,000 to 10,000, both included; one end may be left out
 *     a\,b  1\..2    a backslash takes the character after it as it is
 *
 * Pure; any thread. */
#pragma once

#include "server/store/store.h"

/* Adds what `text` lists to `filter`: the values, each also in the canonical text of the number
 * that it is, and the ranges. ERROR_SYNTAX names the parameter and says what would be right. */
bool param_filter_add(struct store_param_filter *filter, const char *text, GError **error);
