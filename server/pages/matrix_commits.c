/* SPDX-License-Identifier: Apache-2.0
 * Benchmarks × the last commits of a machine, in the matrix page (?view=commits): each cell the
 * difference to the row's reference, with a sign where it is more than noise, and a link to that
 * point of the trend. `machine`, `commits`, `metric`, `bench`, `q`, `param.NAME` and `page` in the
 * address. A page reads LAYOUT_PAGE_ROWS series at most, and of each the points of the columns and
 * of the RECENT_REFERENCE_COMMITS before them. */
#include "server/pages/matrix_view.h"

#include "server/pages/link.h"
#include "server/pages/recent_runs.h"
#include "server/pages/series_choice.h"
#include "server/pages/series_parts.h"

#include <math.h>
#include <string.h>

#define COMMITS_DEFAULT "20"
#define FAR_DEVIATIONS  3.0 /* of the noise: from here on a difference has an arrow */

struct commits_table {
    const struct matrix_view *view;
    const struct store_machine *machine; /* NULL: no run yet */
    GPtrArray *commits;                  /* struct store_commit *, newest first: the columns */
    GPtrArray *series;                   /* struct store_series *: the rows of all pages */
    RecentRuns *recent;
};

static const char *const counts[] = {"10", COMMITS_DEFAULT, "30", "60"};

static const char *count_of(const HttpRequest *request)
{
    const char *asked = http_request_query(request, "commits");
    for (guint i = 0; asked && i < G_N_ELEMENTS(counts); i++)
        if (strcmp(asked, counts[i]) == 0)
            return counts[i];
    return COMMITS_DEFAULT;
}

static void write_form(Html *html, const struct commits_table *table)
{
    static const char *const fields[] = {"machine", "commits", "metric", "q", NULL};
    const HttpRequest *request = table->view->request;
    g_autoptr(GPtrArray) machines = series_choice_machines(table->view->project);
    g_autoptr(GPtrArray) metrics = series_choice_metrics(table->view->project);
    g_autoptr(GPtrArray) numbers = g_ptr_array_new();
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++)
        g_ptr_array_add(numbers, (gpointer)(gsize)counts[i]);
    g_ptr_array_remove_index(machines, 0); /* a row needs one */
    series_choice_form_begin(html, request, "Rows and columns", fields);
    series_choice_select(html, "machine", "Machine", machines,
                         table->machine ? table->machine->name : NULL, "");
    series_choice_select(html, "metric", "Metric", metrics, http_request_query(request, "metric"),
                         "each benchmark’s first");
    series_choice_select(html, "commits", "Commits", numbers, count_of(request), "");
    series_choice_search(html, request);
    series_choice_form_end(html, request);
}

/* ---- One row --------------------------------------------------------------------------------- */

struct row {
    const struct store_series *series;
    GArray *points;   /* struct commit_point, in commit order */
    double reference; /* NaN: too few values */
    double noise;     /* 0: not known */
};

/* The median of what came before the columns; where that are too few, of the columns' own. */
static double reference_of(const GArray *points, guint first_position)
{
    const struct commit_point end = {.center = 0}; /* what comes last is not looked at */
    g_autoptr(GArray) before = g_array_new(FALSE, FALSE, sizeof(struct commit_point));
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct commit_point));
    for (guint i = 0; i < points->len; i++) {
        const struct commit_point *point = &g_array_index(points, struct commit_point, i);
        if (point->position < first_position)
            g_array_append_vals(before, point, 1);
        g_array_append_vals(all, point, 1);
    }
    g_array_append_val(before, end);
    g_array_append_val(all, end);
    struct recent_reference reference = recent_reference_of(before);
    if (reference.n < RECENT_REFERENCE_MIN)
        reference = recent_reference_of(all);
    return reference.n < RECENT_REFERENCE_MIN || reference.value == 0 ? (double)NAN
                                                                      : reference.value;
}

static bool row_read(struct row *row, const struct commits_table *table,
                     const struct store_series *series, GError **error)
{
    struct store_level level;
    bool is_judged;
    *row = (struct row){.series = series};
    row->points = recent_runs_points(table->recent, table->view->snapshot, series, error);
    if (!row->points)
        return false;
    if (!store_series_level(table->view->snapshot, series->id, &level, &is_judged, error)) {
        g_array_unref(row->points);
        return false;
    }
    const GPtrArray *commits = table->commits;
    guint first = commits->len > 0
                      ? ((const struct store_commit *)commits->pdata[commits->len - 1])->position
                      : 0;
    row->reference = reference_of(row->points, first);
    row->noise = is_judged && level.n > 0 ? level.noise : 0;
    return true;
}

static const struct commit_point *point_at(const GArray *points, guint position)
{
    guint low = 0, high = points->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(points, struct commit_point, middle).position < position)
            low = middle + 1;
        else
            high = middle;
    }
    const struct commit_point *found =
        low < points->len ? &g_array_index(points, struct commit_point, low) : NULL;
    return found && found->position == position ? found : NULL;
}

/* -1 worse, +1 better, 0 no more than noise, or no direction stated. */
static int direction_of(const struct row *row, double ratio)
{
    bool is_far = row->noise > 0 && fabs(log1p(fmax(ratio, -0.999))) > FAR_DEVIATIONS * row->noise;
    if (!is_far || row->series->better == BETTER_UNKNOWN)
        return 0;
    return (ratio > 0) == (row->series->better == BETTER_HIGHER) ? 1 : -1;
}

static void write_value(Html *html, const struct row *row, const struct commit_point *point)
{
    char text[QUANTITY_TEXT_BYTES];
    if (point->censored != 0 || !isfinite(row->reference)) {
        g_autofree char *value = quantity_text(point->center, row->series->unit);
        html_print(html, "%s%s",
                   point->censored > 0   ? "> "
                   : point->censored < 0 ? "< "
                                         : "",
                   value);
        return;
    }
    double ratio = (point->center - row->reference) / fabs(row->reference);
    int direction = direction_of(row, ratio);
    quantity_ratio(ratio, text);
    html_print(html, "<span class=\"effect%s\">%s%s</span>",
               direction < 0   ? " worse"
               : direction > 0 ? " better"
                               : " near",
               direction < 0   ? "▼ "
               : direction > 0 ? "▲ "
                               : "",
               text);
}

static void write_cell(Html *html, const struct row *row, const char *trend,
                       const struct store_commit *commit)
{
    const struct commit_point *point = point_at(row->points, commit->position);
    if (!point) {
        html_literal(html, "<td class=\"num none\">–</td>");
        return;
    }
    g_autofree char *url = g_strdup_printf("%s&at=%s&line=%" G_GINT64_FORMAT, trend, commit->sha,
                                           (gint64)row->series->id);
    html_literal(html, "<td class=\"num\"><a");
    html_url(html, "href", url);
    html_literal(html, ">");
    write_value(html, row, point);
    html_literal(html, "</a>");
    if (point->flagged)
        matrix_flag_write(html);
    html_literal(html, "</td>");
}

static bool write_row(Html *html, const struct commits_table *table,
                      const struct store_series *series, GError **error)
{
    struct row row;
    if (!row_read(&row, table, series, error))
        return false;
    g_autofree char *trend = series_parts_url(series);
    html_literal(html, "<tr><th scope=\"row\"><a");
    html_url(html, "href", trend);
    html_print(html, ">%s</a><span class=\"sub params\"><span>%s</span> ", series->benchmark->name,
               series->metric);
    series_parts_params(html, series, false);
    html_literal(html, "</span></th><td class=\"num\">");
    if (isfinite(row.reference))
        series_parts_value(html, series, true, row.reference);
    else
        html_literal(html, "<span class=\"none\">too few</span>");
    html_literal(html, "</td>");
    for (guint i = 0; i < table->commits->len; i++)
        write_cell(html, &row, trend, (const struct store_commit *)table->commits->pdata[i]);
    html_literal(html, "</tr>");
    g_array_unref(row.points);
    return true;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void write_commit_head(Html *html, const struct store_commit *commit)
{
    g_autofree char *url = link_commit(commit->project->name, commit->sha);
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(commit->time_s);
    g_autofree char *day = time ? g_date_time_format(time, "%m-%d") : NULL;
    html_literal(html, "<th scope=\"col\" class=\"num\"><a class=\"sha\"");
    html_url(html, "href", url);
    html_attr(html, "title", commit->subject ? commit->subject : "subject not known");
    html_print(html, ">%.7s</a><span class=\"sub\">%s</span></th>", commit->sha, day ? day : "");
}

static bool write_table(Html *html, const struct commits_table *table, GError **error)
{
    struct layout_paging paging =
        layout_paging_of(table->view->request, "page", table->series->len, LAYOUT_PAGE_ROWS);
    html_print(html, "<p class=\"muted\">%u series on %s, branch %s · newest commit first</p>",
               table->series->len, table->machine->name, table->view->branch);
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                       "aria-label=\"Benchmarks by commit\"><table class=\"matrix wide\" "
                       "data-grid><thead><tr><th scope=\"col\">Benchmark</th><th scope=\"col\" "
                       "class=\"num\">Reference</th>");
    for (guint i = 0; i < table->commits->len; i++)
        write_commit_head(html, (const struct store_commit *)table->commits->pdata[i]);
    html_literal(html, "</tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++)
        if (!write_row(html, table, (const struct store_series *)table->series->pdata[i], error))
            return false;
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, table->view->request, &paging, "Series");
    html_print(html,
               "<p class=\"hint\"><span>A cell: the difference to the row’s reference, the median "
               "of the %u values before the oldest column, or where that are fewer than "
               "%u, of the columns’ own.</span> <span>▲ better, ▼ worse than the noise "
               "explains; – not measured; ! flagged, kept out of baselines.</span></p>",
               RECENT_REFERENCE_COMMITS, RECENT_REFERENCE_MIN);
    return true;
}

static const struct store_machine *machine_of(const struct matrix_view *view)
{
    const GPtrArray *runs = view->project->runs;
    const struct store_machine *machine = series_choice_machine(view->request, view->project);
    if (!machine && runs->len > 0)
        machine = ((const struct store_run *)runs->pdata[runs->len - 1])->machine;
    return machine;
}

static void table_open(struct commits_table *table, const struct matrix_view *view)
{
    *table = (struct commits_table){.view = view, .machine = machine_of(view)};
    guint n = (guint)g_ascii_strtoull(count_of(view->request), NULL, 10);
    table->recent =
        recent_runs_new(view->project, view->branch, G_MAXUINT, n + RECENT_REFERENCE_COMMITS);
    table->commits =
        table->machine ? recent_runs_commits(table->recent, table->machine) : g_ptr_array_new();
    table->series = table->machine
                        ? series_choice_read(view->request, view->project, table->machine)
                        : g_ptr_array_new();
    if (table->commits->len > n)
        g_ptr_array_set_size(table->commits, (int)n);
}

static void table_clear(struct commits_table *table)
{
    g_ptr_array_unref(table->commits);
    g_ptr_array_unref(table->series);
    recent_runs_free(table->recent);
}

bool matrix_commits_write(Html *html, const struct matrix_view *view, GError **error)
{
    struct commits_table table;
    table_open(&table, view);
    html_literal(html, "<section class=\"card\"><h2>Benchmarks by commit</h2>");
    write_form(html, &table);
    bool fine = true;
    if (table.series->len == 0)
        html_print(html, "<p>%s</p>",
                   view->project->series->len > 0 ? "No series matches this choice."
                                                  : "Nothing was measured yet.");
    else if (table.commits->len == 0)
        html_print(html, "<p>%s has no run of branch %s yet.</p>", table.machine->name,
                   view->branch);
    else
        fine = write_table(html, &table, error);
    html_literal(html, "</section>");
    table_clear(&table);
    return fine;
}

/* ---- In other forms -------------------------------------------------------------------------- */

static const struct sheet_column columns[] = {SERIES_PARTS_COLUMNS,
                                              {"commit", "Commit", false},
                                              {"value", "Value", true},
                                              {"reference", "Reference", true},
                                              {"effect", "Difference", true},
                                              {"direction", "Direction", false},
                                              {0}};

static void sheet_cells(Sheet *sheet, const struct commits_table *table, const struct row *row)
{
    for (guint i = 0; i < table->commits->len; i++) {
        const struct store_commit *commit = (const struct store_commit *)table->commits->pdata[i];
        const struct commit_point *point = point_at(row->points, commit->position);
        if (!point)
            continue;
        double ratio = point->censored == 0
                           ? (point->center - row->reference) / fabs(row->reference)
                           : (double)NAN;
        int direction = isfinite(ratio) ? direction_of(row, ratio) : 0;
        series_parts_cells(sheet, row->series);
        sheet_commit(sheet, commit);
        sheet_number(sheet, point->center, row->series->unit);
        sheet_number(sheet, row->reference, row->series->unit);
        sheet_ratio(sheet, ratio);
        sheet_text(sheet, direction > 0 ? "better" : direction < 0 ? "worse" : NULL);
    }
}

bool matrix_commits_sheet(Sheet *sheet, const struct matrix_view *view, GError **error)
{
    struct commits_table table;
    table_open(&table, view);
    struct layout_paging paging =
        layout_paging_of(view->request, "page", table.series->len, LAYOUT_PAGE_ROWS);
    sheet_fact(sheet, "machine", "Machine", table.machine ? table.machine->name : NULL);
    sheet_fact(sheet, "branch", "Branch", view->branch);
    sheet_fact_integer(sheet, "series", "Series in all", table.series->len);
    sheet_fact_integer(sheet, "page", "Page", paging.page);
    sheet_fact_integer(sheet, "pages", "Pages", paging.n_pages);
    sheet_table(sheet, "cells", "Differences by commit", columns, SHEET_ROWS);
    bool fine = true;
    for (guint i = paging.first; i < paging.end && fine; i++) {
        struct row row;
        fine = row_read(&row, &table, (const struct store_series *)table.series->pdata[i], error);
        if (!fine)
            break;
        sheet_cells(sheet, &table, &row);
        g_array_unref(row.points);
    }
    sheet_table_end(sheet);
    table_clear(&table);
    return fine;
}
