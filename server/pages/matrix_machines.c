/* SPDX-License-Identifier: Apache-2.0
 * Benchmarks × machines, in the matrix page (?view=machines): the latest value of each case on each
 * machine, and its ratio to the best machine of the row, or to the one that `reference` names.
 * `reference`, `metric`, `bench`, `q`, `param.NAME`, `page` and `columns` in the address. */
#include "server/pages/matrix_view.h"

#include "server/pages/link.h"
#include "server/pages/recent_runs.h"
#include "server/pages/series_choice.h"
#include "server/pages/series_parts.h"

#include <math.h>
#include <string.h>

#define MACHINES_MAX 12u /* columns of a page */

struct machines_table {
    const struct matrix_view *view;
    GPtrArray *machines; /* const struct store_machine *, by name, less the reference */
    guint first, end;    /* of those, shown on this page */
    GPtrArray *columns;  /* the reference, if there is one, and those */
    GPtrArray *cases;    /* struct machine_case *, the rows of all pages */
    RecentRuns *recent;
    const struct store_machine *reference; /* NULL: the best of the columns in each row */
};

/* One case, whatever machine measures it. */
struct machine_case {
    const struct store_series *like; /* of any machine */
    GPtrArray *series;               /* const struct store_series * */
};

static void case_free(gpointer data)
{
    struct machine_case *one = (struct machine_case *)data;
    g_ptr_array_unref(one->series);
    g_free(one);
}

/* Lengths keep apart what a text may hold. */
static char *case_key(const struct store_series *series)
{
    return g_strdup_printf("%" G_GINT64_FORMAT " %zu:%s %zu:%s %s", (gint64)series->benchmark->id,
                           strlen(series->metric), series->metric, strlen(series->unit),
                           series->unit, series->params_text);
}

static GPtrArray *cases_of(const GPtrArray *series)
{
    GPtrArray *cases = g_ptr_array_new_with_free_func(case_free);
    g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < series->len; i++) {
        const struct store_series *one = (const struct store_series *)series->pdata[i];
        g_autofree char *key = case_key(one);
        struct machine_case *found = (struct machine_case *)g_hash_table_lookup(by_key, key);
        if (!found) {
            found = g_new0(struct machine_case, 1);
            found->like = one;
            found->series = g_ptr_array_new();
            g_ptr_array_add(cases, found);
            g_hash_table_insert(by_key, g_steal_pointer(&key), found);
        }
        g_ptr_array_add(found->series, series->pdata[i]);
    }
    return cases;
}

static int compare_machines(gconstpointer a, gconstpointer b)
{
    return strcmp((*(const struct store_machine *const *)a)->name,
                  (*(const struct store_machine *const *)b)->name);
}

static GPtrArray *machines_of(const GPtrArray *series)
{
    GPtrArray *machines = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < series->len; i++) {
        struct store_machine *machine = ((const struct store_series *)series->pdata[i])->machine;
        if (g_hash_table_add(seen, machine))
            g_ptr_array_add(machines, machine);
    }
    g_ptr_array_sort(machines, compare_machines);
    return machines;
}

/* ---- One row --------------------------------------------------------------------------------- */

struct latest {
    const struct store_series *series; /* NULL: this machine has none */
    bool is_known;                     /* within reach */
    struct commit_point point;
};

static bool read_row(const struct machines_table *table, const struct machine_case *one,
                     struct latest *latest, GError **error)
{
    for (guint c = 0; c < table->columns->len; c++) {
        for (guint i = 0; i < one->series->len; i++) {
            const struct store_series *series = (const struct store_series *)one->series->pdata[i];
            if (series->machine == table->columns->pdata[c])
                latest[c].series = series;
        }
        if (!latest[c].series)
            continue;
        GError *failure = NULL;
        latest[c].is_known = recent_runs_latest(table->recent, table->view->snapshot,
                                                latest[c].series, &latest[c].point, &failure);
        if (failure) {
            g_propagate_error(error, failure);
            return false;
        }
    }
    return true;
}

/* What the others are held against: of the machine asked for, else the best; without a direction
 * nothing is best. 0: none. */
static double base_of(const struct machines_table *table, const struct machine_case *one,
                      const struct latest *latest)
{
    enum better better = one->like->better;
    double base = 0;
    for (guint c = 0; c < table->columns->len; c++) {
        const struct commit_point *point = &latest[c].point;
        if (!latest[c].is_known || point->censored != 0 || !(point->center > 0))
            continue;
        if (table->reference) {
            if (latest[c].series->machine == table->reference)
                return point->center;
            continue;
        }
        bool is_better = better == BETTER_LOWER ? point->center < base : point->center > base;
        if (better != BETTER_UNKNOWN && (base <= 0 || is_better))
            base = point->center;
    }
    return base;
}

static void write_ratio(Html *html, const struct machines_table *table, const struct latest *latest,
                        double base)
{
    const struct store_series *series = latest->series;
    double ratio = latest->point.center / base;
    bool is_base =
        table->reference ? series->machine == table->reference : !(ratio < 1) && !(ratio > 1);
    if (is_base) {
        html_print(html, "%s", table->reference ? "reference" : "best");
        return;
    }
    int direction = series->better == BETTER_UNKNOWN || !table->reference ? 0
                    : (ratio > 1) == (series->better == BETTER_HIGHER)    ? 1
                                                                          : -1;
    html_print(html, "%s×%.3g", direction > 0 ? "▲ " : direction < 0 ? "▼ " : "", ratio);
}

static void write_cell(Html *html, const struct machines_table *table, const struct latest *latest,
                       double base)
{
    const struct store_series *series = latest->series;
    if (!series || !latest->is_known) {
        html_print(html, "<td class=\"num none\">%s</td>", series ? "not lately" : "–");
        return;
    }
    const struct commit_point *point = &latest->point;
    const struct store_commit *commit =
        (const struct store_commit *)table->view->project->commits->pdata[point->position];
    g_autofree char *url = series_parts_url(series);
    g_autofree char *value = quantity_text(point->center, series->unit);
    html_print(html, "<td class=\"num shade%u\"><a",
               matrix_shade(point->censored == 0 ? point->center : 0, base, series->better));
    html_url(html, "href", url);
    html_print(html, ">%s%s</a>",
               point->censored > 0   ? "> "
               : point->censored < 0 ? "< "
                                     : "",
               value);
    if (point->flagged)
        matrix_flag_write(html);
    html_literal(html, "<span class=\"sub\">");
    if (base > 0 && point->censored == 0 && point->center > 0) {
        write_ratio(html, table, latest, base);
        html_literal(html, " · ");
    }
    layout_commit(html, commit);
    html_literal(html, "</span></td>");
}

static bool write_row(Html *html, const struct machines_table *table,
                      const struct machine_case *one, GError **error)
{
    g_autofree struct latest *latest = g_new0(struct latest, table->columns->len + 1);
    if (!read_row(table, one, latest, error))
        return false;
    double base = base_of(table, one, latest);
    g_autofree char *url = link_bench(one->like->project->name, one->like->benchmark->name);
    html_literal(html, "<tr><th scope=\"row\"><a");
    html_url(html, "href", url);
    html_print(html, ">%s</a><span class=\"sub params\"><span>%s</span> ",
               one->like->benchmark->name, one->like->metric);
    series_parts_params(html, one->like, false);
    html_literal(html, "</span></th>");
    for (guint c = 0; c < table->columns->len; c++)
        write_cell(html, table, &latest[c], base);
    html_literal(html, "</tr>");
    return true;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void write_columns(Html *html, const struct machines_table *table)
{
    guint n = table->machines->len;
    if (n <= MACHINES_MAX)
        return;
    html_literal(html, "<nav class=\"choices\" aria-label=\"Columns\"><span>machines</span>");
    for (guint first = 0; first < n; first += MACHINES_MAX) {
        g_autofree char *page = g_strdup_printf("%u", first / MACHINES_MAX + 1);
        g_autofree char *url =
            link_query(http_request_query_pairs(table->view->request), "columns", page);
        html_literal(html, "<a class=\"button\"");
        html_url(html, "href", url);
        if (first == table->first)
            html_literal(html, " aria-current=\"true\"");
        html_print(html, ">%u–%u of %u</a>", first + 1, MIN(n, first + MACHINES_MAX), n);
    }
    html_literal(html, "</nav>");
}

static void write_form(Html *html, const struct machines_table *table)
{
    static const char *const fields[] = {"reference", "metric", "q", NULL};
    const HttpRequest *request = table->view->request;
    g_autoptr(GPtrArray) machines = series_choice_machines(table->view->project);
    g_autoptr(GPtrArray) metrics = series_choice_metrics(table->view->project);
    series_choice_form_begin(html, request, "Rows and reference", fields);
    series_choice_select(html, "reference", "Held against", machines,
                         table->reference ? table->reference->name : NULL, "the best of each row");
    series_choice_select(html, "metric", "Metric", metrics, http_request_query(request, "metric"),
                         "each benchmark’s first");
    series_choice_search(html, request);
    series_choice_form_end(html, request);
}

static bool write_table(Html *html, const struct machines_table *table, GError **error)
{
    struct layout_paging paging =
        layout_paging_of(table->view->request, "page", table->cases->len, LAYOUT_PAGE_ROWS);
    write_columns(html, table);
    html_print(html, "<p class=\"muted\">%u cases on %u machines, branch %s</p>", table->cases->len,
               table->machines->len + (table->reference ? 1 : 0), table->view->branch);
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                       "aria-label=\"Benchmarks by machine\"><table class=\"matrix wide\" "
                       "data-grid><thead><tr><th scope=\"col\">Benchmark</th>");
    for (guint c = 0; c < table->columns->len; c++)
        html_print(html, "<th scope=\"col\" class=\"num\">%s</th>",
                   ((const struct store_machine *)table->columns->pdata[c])->name);
    html_literal(html, "</tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++)
        if (!write_row(html, table, (const struct machine_case *)table->cases->pdata[i], error))
            return false;
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, table->view->request, &paging, "Cases");
    html_print(html,
               "<p class=\"hint\"><span>A cell: the value at the newest commit that has one, its "
               "ratio to %s, that commit.</span> <span>The deeper the shade, the nearer to it; "
               "where a metric states no direction there is no best.</span></p>",
               table->reference                      ? table->reference->name
               : table->machines->len > MACHINES_MAX ? "the best of the columns in its row"
                                                     : "the best machine of its row");
    return true;
}

/* Takes the machine that the address asks for out of the list. */
static const struct store_machine *take_reference(const struct matrix_view *view,
                                                  GPtrArray *machines)
{
    const char *asked = http_request_query(view->request, "reference");
    for (guint i = 0; asked && i < machines->len; i++)
        if (strcmp(((const struct store_machine *)machines->pdata[i])->name, asked) == 0)
            return (const struct store_machine *)g_ptr_array_remove_index(machines, i);
    return NULL;
}

static void choose_columns(struct machines_table *table)
{
    const char *asked = http_request_query(table->view->request, "columns");
    guint n = table->machines->len, n_pages = MAX(1, (n + MACHINES_MAX - 1) / MACHINES_MAX);
    guint page = (guint)CLAMP(asked ? g_ascii_strtoull(asked, NULL, 10) : 1, 1, n_pages);
    table->first = (page - 1) * MACHINES_MAX;
    table->end = MIN(n, table->first + MACHINES_MAX);
    if (table->reference)
        g_ptr_array_add(table->columns, (gpointer)(gsize)table->reference);
    for (guint m = table->first; m < table->end; m++)
        g_ptr_array_add(table->columns, table->machines->pdata[m]);
}

static void table_open(struct machines_table *table, const struct matrix_view *view)
{
    g_autoptr(GPtrArray) series = series_choice_read(view->request, view->project, NULL);
    *table = (struct machines_table){.view = view,
                                     .machines = machines_of(series),
                                     .columns = g_ptr_array_new(),
                                     .cases = cases_of(series)};
    table->recent = recent_runs_new(view->project, view->branch, G_MAXUINT, RECENT_COMMITS);
    table->reference = take_reference(view, table->machines);
    choose_columns(table);
}

static void table_clear(struct machines_table *table)
{
    g_ptr_array_unref(table->machines);
    g_ptr_array_unref(table->columns);
    g_ptr_array_unref(table->cases);
    recent_runs_free(table->recent);
}

bool matrix_machines_write(Html *html, const struct matrix_view *view, GError **error)
{
    struct machines_table table;
    table_open(&table, view);
    html_literal(html, "<section class=\"card\"><h2>Benchmarks by machine</h2>");
    write_form(html, &table);
    bool fine = true;
    if (table.cases->len == 0)
        html_print(html, "<p>%s</p>",
                   view->project->series->len > 0 ? "No series matches this choice."
                                                  : "Nothing was measured yet.");
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
                                              {"share", "Of the base", true},
                                              {0}};

static bool sheet_row(Sheet *sheet, const struct machines_table *table,
                      const struct machine_case *one, GError **error)
{
    g_autofree struct latest *latest = g_new0(struct latest, table->columns->len + 1);
    if (!read_row(table, one, latest, error))
        return false;
    double base = base_of(table, one, latest);
    for (guint c = 0; c < table->columns->len; c++) {
        const struct commit_point *point = &latest[c].point;
        if (!latest[c].is_known)
            continue;
        series_parts_cells(sheet, latest[c].series);
        sheet_commit(
            sheet,
            (const struct store_commit *)table->view->project->commits->pdata[point->position]);
        sheet_number(sheet, point->center, latest[c].series->unit);
        sheet_share(sheet, base > 0 && point->censored == 0 ? point->center / base : (double)NAN);
    }
    return true;
}

bool matrix_machines_sheet(Sheet *sheet, const struct matrix_view *view, GError **error)
{
    struct machines_table table;
    table_open(&table, view);
    struct layout_paging paging =
        layout_paging_of(view->request, "page", table.cases->len, LAYOUT_PAGE_ROWS);
    sheet_fact(sheet, "base", "Base",
               table.reference ? table.reference->name : "the best of each case");
    sheet_fact(sheet, "branch", "Branch", view->branch);
    sheet_fact_integer(sheet, "cases", "Cases in all", table.cases->len);
    sheet_fact_integer(sheet, "page", "Page", paging.page);
    sheet_fact_integer(sheet, "pages", "Pages", paging.n_pages);
    sheet_table(sheet, "cells", "Latest values by machine", columns, SHEET_ROWS);
    bool fine = true;
    for (guint i = paging.first; i < paging.end && fine; i++)
        fine = sheet_row(sheet, &table, (const struct machine_case *)table.cases->pdata[i], error);
    sheet_table_end(sheet);
    table_clear(&table);
    return fine;
}
