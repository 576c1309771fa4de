/* SPDX-License-Identifier: Apache-2.0
 * The explore page in its other forms: the values of the charts of the page at hand, a row each.
 * The request's thread. */
#include "server/pages/explore_view.h"

#include "server/pages/series_parts.h"

static const struct sheet_column columns[] = {
    SERIES_PARTS_COLUMNS, {"commit", "Commit", false}, {"value", "Value", true}, {0}};

static void write_line(Sheet *sheet, const struct explore_view *view,
                       const struct explore_line *line)
{
    bool is_share = view->wanted.normalise != EXPLORE_AS_MEASURED;
    for (guint i = 0; i < line->points->len; i++) {
        const struct explore_point *point = &g_array_index(line->points, struct explore_point, i);
        series_parts_cells(sheet, line->series);
        sheet_commit(sheet, (const struct store_commit *)view->data->commits->pdata[point->column]);
        sheet_number(sheet, point->value, is_share ? "%" : line->series->unit);
    }
}

void explore_sheet_write(Sheet *sheet, const struct explore_view *view)
{
    static const char *const normalised[] = {"no", "first", "reference"};
    const ExploreData *data = view->data;
    sheet_fact(sheet, "branch", "Branch", view->wanted.branch);
    sheet_fact(sheet, "by", "Charts by", data->by);
    sheet_fact(sheet, "overlay", "Lines by", *data->overlay ? data->overlay : NULL);
    sheet_fact(sheet, "normalised", "In percent of", normalised[view->wanted.normalise]);
    sheet_fact_integer(sheet, "charts", "Charts in all", data->charts->len);
    sheet_fact_integer(sheet, "page", "Page", data->page);
    sheet_fact_integer(sheet, "pages", "Pages", data->n_pages);
    sheet_table(sheet, "points", "Values", columns, SHEET_ROWS);
    for (guint i = data->first; i < data->end; i++) {
        const struct explore_chart *chart = (const struct explore_chart *)data->charts->pdata[i];
        for (guint k = 0; k < chart->lines->len; k++)
            write_line(sheet, view, (const struct explore_line *)chart->lines->pdata[k]);
    }
    sheet_table_end(sheet);
}
