/* SPDX-License-Identifier: Apache-2.0
 * One series of a comparison in words: the same for the table and all reports. What the answer does
 * not hold is "-". Pure; the caller frees. */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/* "regressed", "regressed, cleared" (where it was measured again), "unsure, 3 runs more". */
char *verdict_row_verdict(const json_t *row);
/* "+12.4 %": of the samples that were measured again, where it was; so also the interval. */
char *verdict_row_effect(const json_t *row);
char *verdict_row_interval(const json_t *row); /* "+8.0 % .. +16.1 %" */
char *verdict_row_p(const json_t *row);
char *verdict_row_case(const json_t *row); /* "executor:fifo/threads:4"; "" without parameters */
char *verdict_row_name(const json_t *row); /* "Spawn/executor:fifo/threads:4 on ci-7" */

/* A member that is a text; "-" where it is none. Lives as long as the object. */
const char *verdict_row_text(const json_t *object, const char *key);

/* Whether it is worth a line of its own: it is not unchanged, and has a verdict. */
bool verdict_row_is_listed(const json_t *row);
/* Whether it fails the command (runner/judging.h). */
bool verdict_row_fails(const json_t *row);
