/* SPDX-License-Identifier: Apache-2.0
 * Numbers as text, the one way that all documents, keys and pages of the API use: the shortest
 * decimal that reads back as the same double; whole numbers below 2^53 without a point or exponent.
 * Independent of the locale. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define NUMBER_TEXT_BYTES 32

/* Writes into `buffer` and returns its length; `value` is finite. */
size_t number_format(double value, char buffer[NUMBER_TEXT_BYTES]);
size_t number_format_whole(int64_t value, char buffer[NUMBER_TEXT_BYTES]);
void number_append(GString *out, double value);

/* Appends `text` as a JSON string with its quotes; `text` is valid UTF-8. */
void json_append_string(GString *out, const char *text);

/* True where the whole text is a JSON number whose value is finite. */
bool number_parse(const char *text, double *out_value);
