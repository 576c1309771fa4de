/* SPDX-License-Identifier: Apache-2.0
 * CSV text into a GString. Knows no resource; one thread at a time. */
#include "server/http/csv_writer.h"

#include "schema/number.h"
#include <math.h>
#include <string.h>

void csv_writer_only(struct csv_writer *writer, const char *const *columns, const GPtrArray *names)
{
    writer->columns = columns;
    writer->only = names;
}

/* Takes back the cell before, where it was to be left out. */
static void drop_left_out(struct csv_writer *writer)
{
    if (writer->kept > 0)
        g_string_truncate(writer->out, writer->kept - 1);
    writer->kept = 0;
}

static bool is_left_out(const struct csv_writer *writer)
{
    return writer->only &&
           !g_ptr_array_find_with_equal_func((GPtrArray *)(guintptr)writer->only,
                                             writer->columns[writer->column], g_str_equal, NULL);
}

static void begin_cell(struct csv_writer *writer)
{
    drop_left_out(writer);
    bool left_out = is_left_out(writer);
    writer->column++;
    if (left_out) {
        writer->kept = writer->out->len + 1;
        return;
    }
    if (writer->in_row)
        g_string_append_c(writer->out, ',');
    writer->in_row = true;
}

/* = + - @ and what some spreadsheets take for them: the same in full width, and white space that
 * they skip. */
static bool reads_as_formula(const char *text)
{
    static const char *const openings[] = {"=",  "+",  "-",  "@",  "\t", "\r",
                                           "\n", "＝", "＋", "－", "＠", NULL};
    double number;
    for (const char *const *opening = openings; *opening; opening++)
        if (g_str_has_prefix(text, *opening))
            return !number_parse(text, &number);
    return false;
}

void csv_writer_text(struct csv_writer *writer, const char *text)
{
    begin_cell(writer);
    if (!text)
        return;
    bool guarded = reads_as_formula(text);
    if (!guarded && !strpbrk(text, ",\"\r\n") && text[0] != ' ' && !g_str_has_suffix(text, " ")) {
        g_string_append(writer->out, text);
        return;
    }
    g_string_append(writer->out, guarded ? "\"'" : "\"");
    for (const char *rest = text; *rest; rest++) {
        if (*rest == '"')
            g_string_append_c(writer->out, '"');
        g_string_append_c(writer->out, *rest);
    }
    g_string_append_c(writer->out, '"');
}

void csv_writer_number(struct csv_writer *writer, double value)
{
    begin_cell(writer);
    if (isfinite(value))
        number_append(writer->out, value);
}

void csv_writer_integer(struct csv_writer *writer, int64_t value)
{
    begin_cell(writer);
    g_string_append_printf(writer->out, "%" G_GINT64_FORMAT, (gint64)value);
}

void csv_writer_bool(struct csv_writer *writer, bool value)
{
    begin_cell(writer);
    g_string_append(writer->out, value ? "true" : "false");
}

void csv_writer_empty(struct csv_writer *writer, guint n_cells)
{
    for (guint i = 0; i < n_cells; i++)
        begin_cell(writer);
}

void csv_writer_end_row(struct csv_writer *writer)
{
    drop_left_out(writer);
    g_string_append_len(writer->out, "\r\n", 2);
    writer->in_row = false;
    writer->column = 0;
}

void csv_writer_header(struct csv_writer *writer, const char *const *columns)
{
    for (guint i = 0; columns[i]; i++)
        csv_writer_text(writer, columns[i]);
    csv_writer_end_row(writer);
}
