/* SPDX-License-Identifier: Apache-2.0
 * The table of benchmarks: a row a benchmark, for which its best-known case stands; ?open=NAME
 * unfolds one into its cases; ?q=WORDS lists the cases that hold all the words. A row reads a
 * bounded number of points, and only rows of the page at hand are read. The request's thread. */
#include "server/pages/layout.h"
#include "server/pages/project_view.h"

#include "server/pages/link.h"
#include "server/pages/project_tree.h"
#include "server/pages/selection.h"
#include "server/pages/series_now.h"
#include "server/pages/series_parts.h"
#include "server/pages/series_words.h"

#include <string.h>

#define BENCHMARKS_ALL_MAX 500u
#define CASES_ALL_MAX      500u

struct table {
    const struct project_view *view;
    GHashTable *by_benchmark, *by_series; /* struct project_count *, of what waits; owned */
    bool has_machines;                    /* more than one */
};

/* ---- What waits ------------------------------------------------------------------------------ */

static void count_for(GHashTable *counts, gconstpointer key, int direction)
{
    struct project_count *count = (struct project_count *)g_hash_table_lookup(counts, key);
    if (!count) {
        count = g_new0(struct project_count, 1);
        g_hash_table_insert(counts, (gpointer)(gsize)key, count);
    }
    project_count_add(count, direction);
}

static void table_init(struct table *table, const struct project_view *view)
{
    *table = (struct table){.view = view};
    table->by_benchmark = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    table->by_series = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    for (guint i = 0; i < view->pulse->moves->len; i++) {
        const struct store_move *move = &g_array_index(view->pulse->moves, struct store_move, i);
        const struct store_series *series = store_series_by_id(view->snapshot, move->series_id);
        if (!move->waits || !series)
            continue;
        int direction = project_pulse_direction(view->snapshot, move);
        count_for(table->by_series, series, direction);
        count_for(table->by_benchmark, series->benchmark, direction);
    }
    const GPtrArray *series = view->project->series;
    for (guint i = 1; i < series->len && !table->has_machines; i++)
        table->has_machines = ((const struct store_series *)series->pdata[i])->machine !=
                              ((const struct store_series *)series->pdata[0])->machine;
}

static void table_clear(struct table *table)
{
    g_hash_table_unref(table->by_benchmark);
    g_hash_table_unref(table->by_series);
}

/* ---- Which rows ------------------------------------------------------------------------------ */

static bool is_on_machine(const struct project_view *view, const struct store_series *series)
{
    return !view->machine || series->machine == view->machine;
}

static GPtrArray *shown_benchmarks(const struct project_view *view)
{
    GPtrArray *shown = g_ptr_array_new();
    for (guint i = 0; i < view->project->benchmarks->len; i++) {
        const struct store_benchmark *benchmark =
            (const struct store_benchmark *)view->project->benchmarks->pdata[i];
        for (guint k = 0; k < benchmark->series->len; k++) {
            if (!is_on_machine(view, (const struct store_series *)benchmark->series->pdata[k]))
                continue;
            g_ptr_array_add(shown, (gpointer)(gsize)benchmark);
            break;
        }
    }
    return shown;
}

static int compare_cases(gconstpointer a, gconstpointer b)
{
    const struct store_series *left = *(const struct store_series *const *)a;
    const struct store_series *right = *(const struct store_series *const *)b;
    int order = strcmp(left->benchmark->name, right->benchmark->name);
    if (order == 0)
        order = strcmp(left->metric, right->metric);
    if (order == 0)
        order = strcmp(left->machine->name, right->machine->name);
    if (order == 0) /* ids are given in the order in which a document names its cases */
        order = left->id < right->id ? -1 : left->id > right->id;
    return order;
}

static GPtrArray *cases_of(const struct project_view *view, const struct store_benchmark *benchmark)
{
    GPtrArray *cases = g_ptr_array_new();
    for (guint i = 0; i < benchmark->series->len; i++) {
        if (is_on_machine(view, (const struct store_series *)benchmark->series->pdata[i]))
            g_ptr_array_add(cases, benchmark->series->pdata[i]);
    }
    g_ptr_array_sort(cases, compare_cases);
    return cases;
}

static GPtrArray *found_cases(const struct project_view *view)
{
    g_auto(GStrv) words = series_words_of(view->words);
    GPtrArray *found = g_ptr_array_new();
    for (guint i = 0; i < view->project->series->len; i++) {
        struct store_series *series = (struct store_series *)view->project->series->pdata[i];
        if (is_on_machine(view, series) && series_words_hold(series, words))
            g_ptr_array_add(found, series);
    }
    g_ptr_array_sort(found, compare_cases);
    return found;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void write_case_parts(Html *html, const struct table *table,
                             const struct store_series *series, bool with_metric)
{
    html_literal(html, "<span class=\"sub params\">");
    if (with_metric)
        html_print(html, "<span>%s</span> ", series->metric);
    series_parts_params(html, series, table->has_machines);
    html_literal(html, "</span>");
}

static bool write_cells(Html *html, const struct table *table, const struct store_series *series,
                        const struct project_count *waiting, GError **error)
{
    g_autoptr(SeriesNow) now =
        series_now_read(table->view->snapshot, table->view->recent, series, error);
    if (!now)
        return false;
    html_literal(html, "<td>");
    project_count_write(html, waiting);
    html_literal(html, "</td>");
    series_now_cells(html, now);
    html_literal(html, "</tr>");
    return true;
}

/* A case; of a benchmark that is unfolded above it, its own name is enough. */
static bool write_case(Html *html, const struct table *table, const struct store_series *series,
                       bool is_nested, GError **error)
{
    g_autofree char *url = series_parts_url(series);
    html_literal(html, "<tr");
    if (is_nested)
        html_literal(html, " class=\"nested\"");
    html_literal(html, "><th scope=\"row\"><a");
    html_url(html, "href", url);
    html_print(html, ">%s</a>", is_nested ? series->metric : series->benchmark->name);
    write_case_parts(html, table, series, !is_nested);
    html_literal(html, "</th>");
    return write_cells(html, table, series,
                       (const struct project_count *)g_hash_table_lookup(table->by_series, series),
                       error);
}

/* Of what its trend shows at first the series with the most points. */
static const struct store_series *headline_of(const struct project_view *view,
                                              const struct store_benchmark *benchmark)
{
    struct http_pair pair = {(char *)(gsize) "machine", view->machine ? view->machine->name : NULL};
    g_autoptr(GPtrArray) pairs = g_ptr_array_new();
    if (view->machine)
        g_ptr_array_add(pairs, &pair);
    g_autoptr(Selection) selection = selection_new(benchmark, pairs);
    const struct store_series *most = NULL;
    for (guint i = 0; i < selection->series->len; i++) {
        const struct store_series *series =
            (const struct store_series *)selection->series->pdata[i];
        if (!most || series->n_points > most->n_points)
            most = series;
    }
    return most;
}

static void write_unfold(Html *html, const struct project_view *view,
                         const struct store_benchmark *benchmark, bool is_open)
{
    if (benchmark->series->len < 2)
        return;
    g_autofree char *query = link_query(http_request_query_pairs(view->request), "open",
                                        is_open ? NULL : benchmark->name);
    g_autofree char *url =
        g_strdup_printf("%s#bench-%" G_GINT64_FORMAT, query, (gint64)benchmark->id);
    html_literal(html, " <a class=\"unfold\"");
    html_url(html, "href", url);
    html_print(html, " aria-label=\"%s %s: %u series\">%s%u series</a>",
               is_open ? "Fold" : "Unfold", benchmark->name, benchmark->series->len,
               is_open ? "▾ " : "▸ ", benchmark->series->len);
}

static bool write_benchmark(Html *html, const struct table *table,
                            const struct store_benchmark *benchmark, bool is_open, GError **error)
{
    const struct store_series *series = headline_of(table->view, benchmark);
    if (!series)
        return true;
    g_autofree char *url = link_bench(benchmark->project->name, benchmark->name);
    html_print(html, "<tr id=\"bench-%" G_GINT64_FORMAT "\"><th scope=\"row\"><a",
               (gint64)benchmark->id);
    html_url(html, "href", url);
    html_print(html, ">%s</a>", benchmark->name);
    write_unfold(html, table->view, benchmark, is_open);
    write_case_parts(html, table, series, true);
    html_literal(html, "</th>");
    return write_cells(
        html, table, series,
        (const struct project_count *)g_hash_table_lookup(table->by_benchmark, benchmark), error);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void write_head(Html *html)
{
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                       "aria-label=\"Benchmarks\"><table class=\"stack now\"><thead><tr><th "
                       "scope=\"col\">Benchmark</th><th scope=\"col\">Open changes</th>");
    series_now_heads(html);
    html_literal(html, "</tr></thead><tbody>");
}

/* "executor fifo", which folds and unfolds its cases where all of them are too many for a page. */
static void write_branch_head(Html *html, const struct project_view *view, const ProjectTree *tree,
                              const struct project_branch *branch, bool folds, bool is_open)
{
    const char *value = *branch->value ? branch->value : "none";
    html_print(html, "<tr class=\"branch\"><th scope=\"rowgroup\" colspan=\"7\"><i>%s</i> ",
               tree->param);
    if (folds) {
        const GPtrArray *pairs = http_request_query_pairs(view->request);
        g_autofree char *url = link_query(pairs, "in", is_open ? NULL : branch->value);
        html_literal(html, "<a class=\"unfold\"");
        html_url(html, "href", url);
        html_print(html, " aria-label=\"%s %s %s\">%s%s</a>", is_open ? "Fold" : "Unfold",
                   tree->param, value, is_open ? "▾ " : "▸ ", value);
    } else {
        html_text(html, value);
    }
    html_print(html, " <span class=\"n\">%u series</span></th></tr>", branch->cases->len);
}

/* The rows of one page, and the way to the others. */
static bool write_branch(Html *html, const struct table *table, const GPtrArray *cases,
                         GError **error)
{
    const struct project_view *view = table->view;
    struct layout_paging paging =
        layout_paging_of(view->request, "cases", cases->len, CASES_ALL_MAX);
    for (guint i = paging.first; i < paging.end; i++) {
        if (!write_case(html, table, (const struct store_series *)cases->pdata[i], true, error))
            return false;
    }
    if (paging.n_pages > 1) {
        html_literal(html, "<tr class=\"nested\"><td colspan=\"7\">");
        layout_pager(html, view->request, &paging, "Series");
        html_literal(html, "</td></tr>");
    }
    return true;
}

/* All cases where they fit on a page, else those of the branch that ?in= names. */
static bool write_unfolded(Html *html, const struct table *table,
                           const struct store_benchmark *benchmark, GError **error)
{
    const struct project_view *view = table->view;
    const char *in = http_request_query(view->request, "in");
    g_autoptr(GPtrArray) cases = cases_of(view, benchmark);
    g_autoptr(ProjectTree) tree = project_tree_new(cases);
    bool folds = cases->len > LAYOUT_PAGE_ROWS && tree->param;
    for (guint i = 0; i < tree->branches->len; i++) {
        const struct project_branch *branch =
            (const struct project_branch *)tree->branches->pdata[i];
        bool is_open = !folds || g_strcmp0(in, branch->value) == 0;
        if (tree->param)
            write_branch_head(html, view, tree, branch, folds, is_open);
        if (is_open && !write_branch(html, table, branch->cases, error))
            return false;
    }
    return true;
}

static bool write_benchmarks(Html *html, const struct table *table, GError **error)
{
    const struct project_view *view = table->view;
    const char *open = http_request_query(view->request, "open");
    g_autoptr(GPtrArray) shown = shown_benchmarks(view);
    struct layout_paging paging =
        layout_paging_of(view->request, "page", shown->len, BENCHMARKS_ALL_MAX);
    write_head(html);
    for (guint i = paging.first; i < paging.end; i++) {
        const struct store_benchmark *benchmark = (const struct store_benchmark *)shown->pdata[i];
        bool is_open = g_strcmp0(open, benchmark->name) == 0;
        if (!write_benchmark(html, table, benchmark, is_open, error) ||
            (is_open && !write_unfolded(html, table, benchmark, error)))
            return false;
    }
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, view->request, &paging, "Benchmarks");
    return true;
}

static bool write_found(Html *html, const struct table *table, GError **error)
{
    const struct project_view *view = table->view;
    g_autoptr(GPtrArray) found = found_cases(view);
    struct layout_paging paging =
        layout_paging_of(view->request, "page", found->len, CASES_ALL_MAX);
    if (found->len == 0) {
        html_print(html,
                   "<p>No series holds “%s” in its benchmark, parameters, machine and metric.</p>",
                   view->words);
        return true;
    }
    html_print(html, "<p class=\"muted\">%u series</p>", found->len);
    write_head(html);
    for (guint i = paging.first; i < paging.end; i++) {
        if (!write_case(html, table, (const struct store_series *)found->pdata[i], false, error))
            return false;
    }
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, view->request, &paging, "Series");
    return true;
}

/* ---- The filter ------------------------------------------------------------------------------ */

static void write_machines(Html *html, const struct table *table)
{
    const struct project_view *view = table->view;
    const GPtrArray *machines = store_machines(view->snapshot);
    g_autoptr(GHashTable) used = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < view->project->series->len; i++)
        g_hash_table_add(used,
                         ((const struct store_series *)view->project->series->pdata[i])->machine);
    html_literal(html, "<div class=\"field\"><label class=\"legend\" "
                       "for=\"machine\">Machine</label><select id=\"machine\" "
                       "name=\"machine\"><option value=\"\">all</option>");
    for (guint i = 0; i < machines->len; i++) {
        const struct store_machine *machine = (const struct store_machine *)machines->pdata[i];
        if (!g_hash_table_contains(used, machine))
            continue;
        layout_option(html, machine->name, machine->name, machine == view->machine);
    }
    html_literal(html, "</select></div>");
}

static void write_filter(Html *html, const struct table *table)
{
    const struct project_view *view = table->view;
    html_literal(html, "<form id=\"choose\" class=\"filter\" method=\"get\" "
                       "role=\"search\"><div class=\"field\"><label class=\"legend\" "
                       "for=\"q\">Find</label><input id=\"q\" name=\"q\" type=\"search\" "
                       "autocomplete=\"off\" spellcheck=\"false\" maxlength=\"200\" "
                       "placeholder=\"name, parameter=value, metric\"");
    html_attr(html, "value", view->words ? view->words : "");
    html_literal(html, "></div>");
    if (table->has_machines)
        write_machines(html, table);
    html_literal(html, "<button type=\"submit\">Show</button>");
    if (view->words || view->machine || view->unknown_machine) {
        g_autofree char *url = link_project(view->project->name);
        html_literal(html, "<a class=\"button\"");
        html_url(html, "href", url);
        html_literal(html, ">All</a>");
    }
    html_literal(html, "</form>");
}

bool project_table_write(Html *html, const struct project_view *view, GError **error)
{
    struct table table;
    table_init(&table, view);
    html_literal(html, "<section class=\"card\" id=\"benchmarks\"><h2>Benchmarks</h2>");
    write_filter(html, &table);
    if (view->unknown_machine)
        html_print(html, "<p class=\"warn\">No machine is called “%s”: all are shown.</p>",
                   view->unknown_machine);
    bool fine =
        view->words ? write_found(html, &table, error) : write_benchmarks(html, &table, error);
    if (fine)
        series_now_legend(html);
    html_literal(html, "</section>");
    table_clear(&table);
    return fine;
}

/* ---- The other forms ------------------------------------------------------------------------- */

static const struct sheet_column columns[] = {SERIES_PARTS_COLUMNS,
                                              SERIES_NOW_COLUMNS,
                                              {"worse", "Worse", true},
                                              {"better_changes", "Better", true},
                                              {0}};

static bool write_cells_of(Sheet *sheet, const struct table *table,
                           const struct store_series *series, const struct project_count *waiting,
                           GError **error)
{
    if (!store_snapshot_give_way(table->view->snapshot, error))
        return false;
    g_autoptr(SeriesNow) now =
        series_now_read(table->view->snapshot, table->view->recent, series, error);
    if (!now)
        return false;
    series_parts_cells(sheet, series);
    series_now_sheet(sheet, now);
    sheet_integer(sheet, waiting ? waiting->n_worse : 0);
    sheet_integer(sheet, waiting ? waiting->n_better : 0);
    return true;
}

/* What the page's table lists on all of its pages: the cases that the words find, else those of the
 * benchmark that is unfolded, else a case a benchmark. */
static GPtrArray *listed(const struct project_view *view, bool *out_by_series)
{
    const char *open = http_request_query(view->request, "open");
    const struct store_benchmark *unfolded =
        open ? store_benchmark_find(view->project, open) : NULL;
    *out_by_series = view->words || unfolded;
    if (view->words)
        return found_cases(view);
    if (unfolded)
        return cases_of(view, unfolded);
    g_autoptr(GPtrArray) benchmarks = shown_benchmarks(view);
    GPtrArray *list = g_ptr_array_new();
    for (guint i = 0; i < benchmarks->len; i++) {
        const struct store_series *series =
            headline_of(view, (const struct store_benchmark *)benchmarks->pdata[i]);
        if (series)
            g_ptr_array_add(list, (gpointer)(gsize)series);
    }
    return list;
}

bool project_table_sheet(Sheet *sheet, const struct project_view *view, GError **error)
{
    struct table table;
    bool by_series, fine = true;
    table_init(&table, view);
    g_autoptr(GPtrArray) list = listed(view, &by_series);
    sheet_table(sheet, "benchmarks", "Benchmarks", columns, SHEET_ROWS);
    for (guint i = 0; fine && i < list->len; i++) {
        const struct store_series *series = (const struct store_series *)list->pdata[i];
        gconstpointer waiting = by_series
                                    ? g_hash_table_lookup(table.by_series, series)
                                    : g_hash_table_lookup(table.by_benchmark, series->benchmark);
        fine = write_cells_of(sheet, &table, series, (const struct project_count *)waiting, error);
    }
    sheet_table_end(sheet);
    table_clear(&table);
    return fine;
}
