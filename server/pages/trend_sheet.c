/* SPDX-License-Identifier: Apache-2.0
 * The trend page in its other forms: the values looked at, newest commit first, and the changes
 * found on them. The request's thread. */
#include "server/pages/series_parts.h"
#include "server/pages/trend_view.h"

#include <math.h>

static const struct sheet_column point_columns[] = {SERIES_PARTS_COLUMNS,
                                                    {"commit", "Commit", false},
                                                    {"time", NULL, false},
                                                    {"subject", "Subject", false},
                                                    {"value", "Value", true},
                                                    {"low", "Low", true},
                                                    {"high", "High", true},
                                                    {"n", "n", true},
                                                    {"censored", NULL, false},
                                                    {"branch", NULL, false},
                                                    {"flagged", NULL, false},
                                                    {"dirty", NULL, false},
                                                    {"environment_changed", NULL, false},
                                                    {0}};

static void write_point(Sheet *sheet, const struct trend_line *line,
                        const struct store_commit *commit, const struct trend_point *point)
{
    const struct commit_point *value = &point->value;
    const char *unit = line->series->unit;
    series_parts_cells(sheet, line->series);
    sheet_commit(sheet, commit);
    sheet_time_ms(sheet, commit->time_s * 1000);
    sheet_text(sheet, commit->subject);
    sheet_number(sheet, value->center, unit);
    sheet_number(sheet, value->has_interval ? value->low : (double)NAN, unit);
    sheet_number(sheet, value->has_interval ? value->high : (double)NAN, unit);
    sheet_integer(sheet, value->n);
    sheet_text(sheet, value->censored > 0 ? "above" : value->censored < 0 ? "below" : NULL);
    sheet_text(sheet, value->branch);
    sheet_bool(sheet, value->flagged);
    sheet_bool(sheet, value->dirty);
    sheet_bool(sheet, point->environment_changed);
}

/* The first point of a line at or after a column. */
static guint first_from(const struct trend_line *line, guint column)
{
    guint low = 0, high = line->points->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(line->points, struct trend_point, middle).column < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void write_points(Sheet *sheet, const struct trend_view *view)
{
    const TrendData *data = view->data;
    sheet_table(sheet, "points", "Values by commit", point_columns, SHEET_ROWS);
    for (guint i = data->view_end; i > data->view_first; i--) {
        const struct store_commit *commit =
            g_array_index(data->columns, struct trend_column, i - 1).commit;
        for (guint k = 0; k < data->lines->len; k++) {
            const struct trend_line *line = (const struct trend_line *)data->lines->pdata[k];
            for (guint at = first_from(line, i - 1); at < line->points->len; at++) {
                const struct trend_point *point =
                    &g_array_index(line->points, struct trend_point, at);
                if (point->column != i - 1)
                    break;
                write_point(sheet, line, commit, point);
            }
        }
    }
    sheet_table_end(sheet);
}

static const struct sheet_column change_columns[] = {SERIES_PARTS_COLUMNS,
                                                     {"change", NULL, false},
                                                     {"commit", "First bad", false},
                                                     {"subject", "Subject", false},
                                                     {"direction", "Moved", false},
                                                     {"effect", "Effect", true},
                                                     {"low", NULL, true},
                                                     {"high", NULL, true},
                                                     {"status", "Status", false},
                                                     {"triage", "Triage", false},
                                                     {0}};

static void write_changes(Sheet *sheet, const struct trend_view *view)
{
    const TrendData *data = view->data;
    sheet_table(sheet, "changes", "Changes", change_columns, SHEET_ROWS);
    for (guint k = 0; k < data->lines->len; k++) {
        const struct trend_line *line = (const struct trend_line *)data->lines->pdata[k];
        for (guint i = 0; i < line->marks->len; i++) {
            const struct trend_mark *mark = &g_array_index(line->marks, struct trend_mark, i);
            const struct store_commit *commit =
                g_array_index(data->columns, struct trend_column, mark->column).commit;
            series_parts_cells(sheet, line->series);
            sheet_id(sheet, mark->change_id);
            sheet_commit(sheet, commit);
            sheet_text(sheet, commit->subject);
            sheet_text(sheet, mark->direction < 0   ? "worse"
                              : mark->direction > 0 ? "better"
                                                    : NULL);
            sheet_ratio(sheet, mark->effect);
            sheet_ratio(sheet, mark->low);
            sheet_ratio(sheet, mark->high);
            sheet_text(sheet, store_change_status_name(mark->status));
            sheet_text(sheet, store_triage_name(mark->triage));
        }
    }
    sheet_table_end(sheet);
}

Sheet *trend_sheet_new(const struct trend_view *view, enum sheet_form form)
{
    g_autofree char *title = g_strdup_printf("%s · %s", view->benchmark->name, view->project->name);
    Sheet *sheet = sheet_new(view->request, form, title);
    sheet_csv_default(sheet, "points");
    sheet_fact(sheet, "branch", "Branch", view->data->branch);
    sheet_fact_integer(sheet, "older", "Older commits, not shown", view->data->n_older);
    write_changes(sheet, view);
    write_points(sheet, view);
    return sheet;
}
