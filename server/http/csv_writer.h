/* SPDX-License-Identifier: Apache-2.0
 * Writes CSV (RFC 4180) into a GString: quoting, CRLF, and a guard against formulas: a text that a
 * spreadsheet would take for one (it starts with = + - @, a tab or a line end, or one of the four
 * in full width, and is no number) is given a leading apostrophe, which spreadsheets do not show.
 * Who reads the file by program takes it off again. Numbers are never touched. Knows no resource;
 * one thread at a time. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct csv_writer {
    GString *out; /* borrowed */
    bool in_row;  /* a cell of this row stays */
    /* see csv_writer_only */
    const char *const *columns;
    const GPtrArray *only;
    guint column; /* the next cell's */
    gsize kept;   /* where the text of a cell that is left out begins, plus 1; 0: none */
};

#define CSV_WRITER_INIT(string)                                                                    \
    {                                                                                              \
        .out = (string)                                                                            \
    }

/* Of the `columns` (NULL-terminated) only those among `names` (char *; NULL: all) stay; both are
 * borrowed. */
void csv_writer_only(struct csv_writer *writer, const char *const *columns, const GPtrArray *names);

void csv_writer_text(struct csv_writer *writer, const char *text); /* NULL: an empty cell */
void csv_writer_number(struct csv_writer *writer, double value);   /* not finite: an empty cell */
void csv_writer_integer(struct csv_writer *writer, int64_t value);
void csv_writer_bool(struct csv_writer *writer, bool value); /* true or false */
void csv_writer_empty(struct csv_writer *writer, guint n_cells);
void csv_writer_end_row(struct csv_writer *writer);
void csv_writer_header(struct csv_writer *writer,
                       const char *const *columns); /* NULL-terminated; a whole row */
