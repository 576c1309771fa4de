/* SPDX-License-Identifier: Apache-2.0
 * Makes the table's text; it writes nothing itself. Pure; any thread. */
#include "runner/show/verdict_table.h"

#include <string.h>

#define ROWS_MAX 100000u
#define COLUMNS  6u

static const char *const heads[COLUMNS] = {"Verdict", "Effect", "95 % interval",
                                           "p",       "Metric", "Benchmark"};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "-";
}

static char *percent(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? g_strdup_printf("%+.1f %%", 100 * json_number_value(value))
                                 : g_strdup("-");
}

static char *interval(const json_t *row)
{
    g_autofree char *low = percent(row, "low"), *high = percent(row, "high");
    return strcmp(low, "-") == 0 ? g_strdup("-") : g_strdup_printf("%s .. %s", low, high);
}

/* "Spawn/executor:fifo/threads:4 on ci-7" */
static char *name_of(const json_t *row)
{
    GString *name = g_string_new(text_of(row, "bench"));
    json_t *params = json_object_get(row, "params"), *value;
    const char *key;
    json_object_foreach(params, key, value)
    {
        g_autofree char *text = json_is_string(value)
                                    ? g_strdup(json_string_value(value))
                                    : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        g_string_append_printf(name, "/%s:%s", key, text ? text : "-");
    }
    g_string_append_printf(name, " on %s", text_of(row, "machine"));
    return g_string_free(name, FALSE);
}

static char *verdict_of(const json_t *row)
{
    const json_t *more = json_object_get(row, "runs_more");
    if (json_is_integer(more))
        return g_strdup_printf("unsure, %" JSON_INTEGER_FORMAT " runs more",
                               json_integer_value(more));
    return g_strdup(text_of(row, "verdict"));
}

static char *p_of(const json_t *row)
{
    const json_t *p = json_object_get(row, "p");
    return json_is_number(p) ? g_strdup_printf("%.2g", json_number_value(p)) : g_strdup("-");
}

static char **cells_of(const json_t *row)
{
    char **cells = g_new0(char *, COLUMNS + 1);
    cells[0] = verdict_of(row);
    cells[1] = percent(row, "effect");
    cells[2] = interval(row);
    cells[3] = p_of(row);
    cells[4] = g_strdup(text_of(row, "metric"));
    cells[5] = name_of(row);
    return cells;
}

static void append_line(GString *out, const char *const *cells, const glong *widths)
{
    for (guint c = 0; c < COLUMNS; c++) {
        glong width = g_utf8_strlen(cells[c], -1);
        g_string_append(out, cells[c]);
        for (glong i = width; i < widths[c] + 2 && c + 1 < COLUMNS; i++)
            g_string_append_c(out, ' ');
    }
    g_string_append_c(out, '\n');
}

static gboolean is_listed(const json_t *row, gboolean all)
{
    return all || (strcmp(text_of(row, "verdict"), "unchanged") != 0 &&
                   !json_is_null(json_object_get(row, "verdict")));
}

static void free_cells(gpointer cells)
{
    g_strfreev((char **)cells);
}

static GPtrArray *lines_of(const json_t *comparison, gboolean all)
{
    GPtrArray *lines = g_ptr_array_new_with_free_func(free_cells);
    const json_t *series = json_object_get(comparison, "series");
    for (size_t i = 0; i < json_array_size(series) && lines->len < ROWS_MAX; i++) {
        const json_t *row = json_array_get(series, i);
        if (is_listed(row, all))
            g_ptr_array_add(lines, cells_of(row));
    }
    return lines;
}

GString *verdict_table_draw(const json_t *comparison, gboolean all)
{
    GString *out = g_string_new(NULL);
    g_autoptr(GPtrArray) lines = lines_of(comparison, all);
    glong widths[COLUMNS];
    for (guint c = 0; c < COLUMNS; c++) {
        widths[c] = g_utf8_strlen(heads[c], -1);
        for (guint i = 0; i < lines->len; i++)
            widths[c] =
                MAX(widths[c], g_utf8_strlen(((const char *const *)lines->pdata[i])[c], -1));
    }
    if (lines->len > 0)
        append_line(out, heads, widths);
    for (guint i = 0; i < lines->len; i++)
        append_line(out, (const char *const *)lines->pdata[i], widths);
    return out;
}
