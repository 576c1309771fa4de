/* SPDX-License-Identifier: Apache-2.0
 * Rows of text in columns, each as wide as its widest cell, two spaces between them: the one
 * drawer of the program's tables. Widths count characters. Pure; any thread. */
#pragma once

#include <glib.h>

enum columns_style {
    COLUMNS_NUMBERS, /* the first column at the left, the others at the right; a rule below the
                        head */
    COLUMNS_WORDS    /* all at the left */
};

typedef struct columns Columns;

/* `heads`: NULL-terminated, of the caller's. */
Columns *columns_new(enum columns_style style, const char *const *heads);
void columns_free(Columns *columns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Columns, columns_free)

/* Takes a row, a vector of as many texts as there are heads, and what stands behind it ("" or NULL:
 * nothing). */
void columns_take(Columns *columns, char **row, char *note);

/* NULL where there are no rows. */
GString *columns_draw(const Columns *columns);
