/* SPDX-License-Identifier: Apache-2.0
 * Google Benchmark prints NaN and Infinity as they are, so its files are not always JSON. This
 * makes them JSON without moving a byte, so that positions in messages stay right. Any thread. */
#include "schema/document.h"
#include "schema/formats/google_benchmark_parts.h"

#include <string.h>

/* Replaced by something of the same length that is no number, so that positions in messages stay
 * right. */
static const struct {
    const char *text, *instead;
} not_finite[] = {
    {"-Infinity", "null     "}, {"Infinity", "null    "}, {"-NaN", "null"}, {"NaN", "[] "},
    {"-nan", "null"},           {"nan", "[] "},           {"-inf", "null"}, {"inf", "[] "}};

static size_t replace_not_finite(char *at, size_t left)
{
    for (size_t i = 0; i < G_N_ELEMENTS(not_finite); i++) {
        size_t n = strlen(not_finite[i].text);

        if (n <= left && memcmp(at, not_finite[i].text, n) == 0 &&
            (n == left || !g_ascii_isalnum(at[n]))) {
            memcpy(at, not_finite[i].instead, n);
            return n;
        }
    }
    return 1;
}

static void tolerate_not_finite(char *bytes, size_t length)
{
    bool in_string = false;
    char before = ' ';

    for (size_t i = 0; i < length;) {
        size_t step = 1;

        if (in_string && bytes[i] == '\\')
            step = 2;
        else if (bytes[i] == '"')
            in_string = !in_string;
        else if (!in_string && strchr("-NnIi", bytes[i]) && bytes[i] &&
                 strchr(":, \t\r\n[", before))
            step = replace_not_finite(bytes + i, length - i);
        before = bytes[i] ? bytes[i] : 'x';
        i += step;
    }
}

json_t *google_benchmark_load(const char *bytes, size_t length, GError **error)
{
    g_autofree char *copy = NULL;

    if (length > RUN_BODY_BYTES_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                    "the file has %zu bytes, at most %u are allowed", length, RUN_BODY_BYTES_MAX);
        return NULL;
    }
    copy = (char *)g_try_malloc(length + 1);
    if (!copy) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_BUSY,
                    "there is no memory for a file of %zu bytes now", length);
        return NULL;
    }
    if (length)
        memcpy(copy, bytes, length);
    tolerate_not_finite(copy, length);
    return document_load(copy, length, error);
}
