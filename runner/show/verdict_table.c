/* SPDX-License-Identifier: Apache-2.0
 * Makes the table's text; it writes nothing itself. Pure; any thread. */
#include "runner/show/verdict_table.h"

#include "runner/show/columns.h"
#include "runner/show/verdict_row.h"

#define ROWS_MAX 100000u

static const char *const heads[] = {"Verdict",   "Effect", "95 % interval", "p", "Metric",
                                    "Benchmark", NULL};

static char **cells_of(const json_t *row)
{
    char **cells = g_new0(char *, G_N_ELEMENTS(heads));
    cells[0] = verdict_row_verdict(row);
    cells[1] = verdict_row_effect(row);
    cells[2] = verdict_row_interval(row);
    cells[3] = verdict_row_p(row);
    cells[4] = g_strdup(verdict_row_text(row, "metric"));
    cells[5] = verdict_row_name(row);
    return cells;
}

GString *verdict_table_draw(const json_t *comparison, gboolean all)
{
    g_autoptr(Columns) columns = columns_new(COLUMNS_WORDS, heads);
    const json_t *series = json_object_get(comparison, "series");
    for (size_t i = 0; i < MIN(json_array_size(series), ROWS_MAX); i++) {
        const json_t *row = json_array_get(series, i);
        if (all || verdict_row_is_listed(row))
            columns_take(columns, cells_of(row), NULL);
    }
    GString *out = columns_draw(columns);
    return out ? out : g_string_new(NULL);
}
