/* SPDX-License-Identifier: Apache-2.0
 * The order in which a person expects parameters: numbers by value and before texts, texts by their
 * bytes. Pure. */
#pragma once

#include "schema/run.h"

int param_order_values(const char *left, const char *right); /* as strcmp */
/* By name, then value, parameter by parameter; both are lists of struct run_param * sorted by name.
 */
int param_order_lists(const GPtrArray *left, const GPtrArray *right);
