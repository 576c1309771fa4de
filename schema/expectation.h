/* SPDX-License-Identifier: Apache-2.0
 * What a commit expects of itself, by a trailer of its message:
 *
 *     Breakeven-Expect: ThreadPool*{threads=4} worse 5%
 *
 * Pure; any thread. */
#pragma once

#include "schema/series_pattern.h"

#define EXPECTATION_TRAILER "Breakeven-Expect"

struct expectation {
    struct series_pattern pattern;
    int direction; /* -1 worse, +1 better */
    double effect; /* at most so much: 0.05 is 5 % */
    char *text;    /* the trailer's value as it was written */
};
void expectation_free(struct expectation *expectation);

/* NULL with ERROR_SYNTAX that quotes the trailer and says what would be right. */
struct expectation *expectation_parse(const char *text, GError **error);

/* Those of a commit's trailers ({"Name":["value"]} or NULL): struct expectation *, in order.
 * `problems` (char *, or NULL) gets a message for each that is malformed. */
GPtrArray *expectations_parse(const char *trailers_json, GPtrArray *problems);
