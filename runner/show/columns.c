/* SPDX-License-Identifier: Apache-2.0
 * See columns.h. */
#include "runner/show/columns.h"

#include <stdbool.h>

#define GAP 2u

struct row {
    char **cells;
    char *note;
};

struct columns {
    enum columns_style style;
    const char *const *heads;
    guint n;
    gsize *widths;
    GPtrArray *rows; /* struct row * */
};

static void row_free(gpointer data)
{
    struct row *row = (struct row *)data;
    g_strfreev(row->cells);
    g_free(row->note);
    g_free(row);
}

static void widen(Columns *columns, const char *const *cells)
{
    for (guint c = 0; c < columns->n; c++)
        columns->widths[c] = MAX(columns->widths[c], (gsize)g_utf8_strlen(cells[c], -1));
}

Columns *columns_new(enum columns_style style, const char *const *heads)
{
    Columns *columns = g_new0(Columns, 1);
    columns->style = style;
    columns->heads = heads;
    columns->n = g_strv_length((GStrv)(guintptr)heads);
    columns->widths = g_new0(gsize, columns->n);
    columns->rows = g_ptr_array_new_with_free_func(row_free);
    widen(columns, heads);
    return columns;
}

void columns_free(Columns *columns)
{
    if (!columns)
        return;
    g_free(columns->widths);
    g_ptr_array_unref(columns->rows);
    g_free(columns);
}

void columns_take(Columns *columns, char **row, char *note)
{
    struct row *taken = g_new0(struct row, 1);
    *taken = (struct row){.cells = row, .note = note};
    g_ptr_array_add(columns->rows, taken);
    widen(columns, (const char *const *)row);
}

static void append_n(GString *out, char character, gsize n)
{
    for (gsize i = 0; i < n; i++)
        g_string_append_c(out, character);
}

static void append_row(GString *out, const Columns *columns, const char *const *cells,
                       const char *note)
{
    bool has_note = note && *note;
    for (guint c = 0; c < columns->n; c++) {
        gsize padding = columns->widths[c] - (gsize)g_utf8_strlen(cells[c], -1);
        bool is_left = c == 0 || columns->style == COLUMNS_WORDS;
        bool is_last = c + 1 == columns->n && !has_note;
        append_n(out, ' ', (c ? GAP : 0) + (is_left ? 0 : padding));
        g_string_append(out, cells[c]);
        append_n(out, ' ', is_left && !is_last ? padding : 0);
    }
    if (has_note)
        g_string_append_printf(out, "%*s%s", (int)GAP, "", note);
    g_string_append_c(out, '\n');
}

static void append_rule(GString *out, const Columns *columns)
{
    for (guint c = 0; c < columns->n; c++)
        append_n(out, '-', columns->widths[c] + (c ? GAP : 0));
    g_string_append_c(out, '\n');
}

GString *columns_draw(const Columns *columns)
{
    if (columns->rows->len == 0)
        return NULL;
    GString *out = g_string_new(NULL);
    append_row(out, columns, columns->heads, NULL);
    if (columns->style == COLUMNS_NUMBERS)
        append_rule(out, columns);
    for (guint i = 0; i < columns->rows->len; i++) {
        const struct row *row = (const struct row *)columns->rows->pdata[i];
        append_row(out, columns, (const char *const *)row->cells, row->note);
    }
    return out;
}
