/* SPDX-License-Identifier: Apache-2.0
 * Reading comma-separated values as RFC 4180 has them: fields in quotes may hold commas, line ends
 * and doubled quotes. Any thread. */
#pragma once

#include <glib.h>

#define CSV_FIELDS_MAX 256u

struct csv_reader {
    const char *at; /* what is left of the text; begins with the text */
    guint line;     /* of the record that was read last, from 1; begins with 0 */
    guint n_lines;  /* read; begins with 0 */
};

/* The fields of the next record (char *, freed with the array); NULL at the end, or with an error,
 * ERROR_SYNTAX, where a quote is not closed, text follows one, or there are too many fields. Lines
 * without any character are no records. */
GPtrArray *csv_read(struct csv_reader *reader, GError **error);
