/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}/matrix: executors × cells of one commit on one machine, each value a link to its
 * trend; and for each benchmark whose tasks have a cost, efficiency against that cost with the
 * break-even of each executor. `commit`, `machine` and `threads` in the address; else the newest
 * measured commit, the machine that measured most of it, and as many threads as it can use. A
 * worker thread. */
#include "server/pages/chart.h"
#include "server/pages/layout.h"
#include "server/pages/link.h"
#include "server/pages/matrix_chart.h"
#include "server/pages/page_names.h"
#include "server/routes.h"

#include <math.h>
#include <string.h>

#define RATE_UNIT  "items/s"
#define SHADES     5u   /* classes shade0 (best) to shade5 */
#define SHADE_BASE 1.26 /* a class for each tenth of a decade behind the best */

struct matrix_view {
    const HttpRequest *request;
    const struct store_project *project;
    const struct store_commit *commit;
    const struct store_machine *machine;
    GPtrArray *machines; /* const struct store_machine *: of the commit */
    Matrix *matrix;
    double effective_cpus;
    const char *version;
};

static const struct store_commit *newest_measured(const struct store_project *project)
{
    for (guint i = project->commits->len; i > 0; i--) {
        const struct store_commit *commit =
            (const struct store_commit *)g_ptr_array_index(project->commits, i - 1);
        if (commit->n_runs > 0)
            return commit;
    }
    return NULL;
}

/* The machines of the results, the one with the most first. */
static GPtrArray *machines_of(const CommitResults *results)
{
    GPtrArray *machines = g_ptr_array_new();
    g_autoptr(GHashTable) counts = g_hash_table_new(NULL, NULL);
    guint most = 0;
    for (guint i = 0; i < results->results->len; i++) {
        struct store_machine *machine =
            g_array_index(results->results, struct commit_result, i).series->machine;
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, machine)) + 1;
        g_hash_table_insert(counts, machine, GUINT_TO_POINTER(n));
        if (n == 1)
            g_ptr_array_add(machines, machine);
        if (n > most) {
            most = n;
            g_ptr_array_remove(machines, machine);
            g_ptr_array_insert(machines, 0, machine);
        }
    }
    return machines;
}

static const struct store_machine *choose_machine(const GPtrArray *machines, const char *asked)
{
    for (guint i = 0; asked && i < machines->len; i++) {
        const struct store_machine *machine =
            (const struct store_machine *)g_ptr_array_index(machines, i);
        if (strcmp(machine->name, asked) == 0)
            return machine;
    }
    return machines->len > 0 ? (const struct store_machine *)g_ptr_array_index(machines, 0) : NULL;
}

/* A fact of the newest environment; 1 where it is not told. */
static double effective_cpus_of(StoreSnapshot *snapshot, const struct store_machine *machine)
{
    g_autoptr(GPtrArray) environments = store_machine_environments(snapshot, machine, NULL);
    const struct store_environment *newest =
        environments && environments->len > 0
            ? (const struct store_environment *)g_ptr_array_index(environments, 0)
            : NULL;
    g_autoptr(GPtrArray) facts = newest ? run_params_parse(newest->facts_json) : NULL;
    for (guint i = 0; facts && i < facts->len; i++) {
        const struct run_param *fact = (const struct run_param *)g_ptr_array_index(facts, i);
        if (strcmp(fact->name, "effective_cpus") == 0)
            return MAX(1, g_ascii_strtod(fact->value, NULL));
    }
    return 1;
}

/* ---- The tables ---- */

static char *trend_url(const struct store_series *series)
{
    g_autofree char *path = link_bench(series->project->name, series->benchmark->name);
    GString *url = g_string_new(path);
    g_string_append(url, "?machine=");
    http_append_encoded(url, series->machine->name);
    g_string_append(url, "&metric=");
    http_append_encoded(url, series->metric);
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(series->params, i);
        g_string_append(url, "&param.");
        http_append_encoded(url, param->name);
        g_string_append_c(url, '=');
        http_append_encoded(url, param->value);
    }
    return g_string_free(url, FALSE);
}

static guint shade_of(double value, double best, enum better better)
{
    if (value <= 0 || best <= 0 || better == BETTER_UNKNOWN)
        return SHADES;
    double behind = better == BETTER_LOWER ? value / best : best / value;
    double steps = log(MAX(behind, 1)) / log(SHADE_BASE);
    return (guint)MIN(steps, SHADES);
}

static void write_cell(Html *html, const struct matrix_cell *cell, const struct matrix_bench *bench,
                       double best)
{
    if (!cell->series) {
        html_literal(html, "<td class=\"num none\">–</td>");
        return;
    }
    const char *bound = cell->value.censored > 0 ? "> " : cell->value.censored < 0 ? "< " : "";
    g_autofree char *url = trend_url(cell->series);
    g_autofree char *text = quantity_text(cell->value.center, bench->unit);
    /* "2.436 M items/s" in each cell would make the table too wide: the unit stands above. */
    char *unit = strcmp(bench->unit, RATE_UNIT) == 0 ? strstr(text, " " RATE_UNIT) : NULL;
    if (unit)
        *unit = '\0';
    html_print(html, "<td class=\"num shade%u\"><a",
               shade_of(cell->value.center, best, bench->better));
    html_url(html, "href", url);
    html_print(html, ">%s%s</a>", bound, text);
    if (cell->value.flagged)
        html_literal(html, " <span class=\"tag warn\"><span aria-hidden=\"true\">!</span><span "
                           "class=\"visually-hidden\">flagged</span></span>");
    html_literal(html, "</td>");
}

static bool has_executor(const struct matrix_bench *bench, guint executor)
{
    for (guint r = 0; r < bench->rows->len; r++)
        if (((const struct matrix_row *)g_ptr_array_index(bench->rows, r))->cells[executor].series)
            return true;
    return false;
}

static void write_row(Html *html, const Matrix *matrix, const struct matrix_bench *bench,
                      const struct matrix_row *row)
{
    double best = matrix_row_best(matrix, row, bench);
    html_literal(html, "<tr><th scope=\"row\">");
    html_text(html, *row->label ? row->label : "all");
    html_literal(html, "</th>");
    for (guint e = 0; e < matrix->executors->len; e++)
        if (has_executor(bench, e))
            write_cell(html, &row->cells[e], bench, matrix_is_yardstick(matrix, e) ? 0 : best);
    html_literal(html, "</tr>");
}

static void write_table(Html *html, const Matrix *matrix, const struct matrix_bench *bench)
{
    const char *name = bench->benchmark->name;
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    html_attr(html, "aria-label", name);
    html_literal(html, "><table class=\"matrix\"><thead><tr><th scope=\"col\">Cell</th>");
    for (guint e = 0; e < matrix->executors->len; e++) {
        if (!has_executor(bench, e))
            continue;
        html_literal(html, "<th scope=\"col\" class=\"num\">");
        html_text(html, (const char *)g_ptr_array_index(matrix->executors, e));
        html_literal(html, "</th>");
    }
    html_literal(html, "</tr></thead><tbody>");
    for (guint r = 0; r < bench->rows->len; r++)
        write_row(html, matrix, bench,
                  (const struct matrix_row *)g_ptr_array_index(bench->rows, r));
    html_literal(html, "</tbody></table></div>");
}

/* ---- Efficiency ---- */

/* Of the benchmark's numbers of threads, as texts in the order of its rows. */
static GPtrArray *threads_of(const struct matrix_bench *bench)
{
    GPtrArray *all = g_ptr_array_new();
    for (guint r = 0; r < bench->rows->len; r++) {
        const struct matrix_row *row = (const struct matrix_row *)g_ptr_array_index(bench->rows, r);
        const char *threads = matrix_param(row->like, "threads");
        if (!g_ptr_array_find_with_equal_func(all, threads, g_str_equal, NULL))
            g_ptr_array_add(all, (gpointer)(guintptr)threads);
    }
    return all;
}

static const char *choose_threads(const struct matrix_view *view, const GPtrArray *all)
{
    const char *asked = http_request_query(view->request, "threads");
    g_autofree char *usable = g_strdup_printf("%.0f", view->effective_cpus);
    const char *const wanted[] = {asked, usable};
    for (guint w = 0; w < G_N_ELEMENTS(wanted); w++)
        for (guint i = 0; wanted[w] && i < all->len; i++)
            if (strcmp((const char *)g_ptr_array_index(all, i), wanted[w]) == 0)
                return (const char *)g_ptr_array_index(all, i);
    return all->len > 0 ? (const char *)g_ptr_array_index(all, all->len - 1) : "";
}

static void write_threads_choice(Html *html, const struct matrix_view *view, const GPtrArray *all,
                                 const char *chosen)
{
    html_literal(html, "<nav class=\"choices\" aria-label=\"Threads\"><span>threads</span>");
    for (guint i = 0; i < all->len; i++) {
        const char *threads = (const char *)g_ptr_array_index(all, i);
        if (!*threads)
            continue;
        g_autofree char *url =
            link_query(http_request_query_pairs(view->request), "threads", threads);
        html_literal(html, "<a class=\"button\"");
        html_url(html, "href", url);
        if (strcmp(threads, chosen) == 0)
            html_literal(html, " aria-current=\"true\"");
        html_print(html, ">%s</a>", threads);
    }
    html_literal(html, "</nav>");
}

static void write_legend_item(Html *html, const struct matrix_line *line)
{
    double task_cost;
    enum matrix_reach reach = matrix_break_even(line->points, &task_cost);
    html_literal(html, "<li>");
    chart_legend_mark(html, line->slot);
    html_text(html, line->name);
    html_print(html, " <span class=\"muted\">break-even %s %.0f</span></li>",
               reach == MATRIX_BELOW    ? "below"
               : reach == MATRIX_BEYOND ? "not reached up to"
                                        : "at",
               task_cost);
}

static void draw_efficiency(Html *html, const struct matrix_bench *bench, const GArray *lines,
                            const char *threads, double cores)
{
    g_autofree char *title = g_strdup_printf("Efficiency of %s against task cost, %s threads",
                                             bench->benchmark->name, *threads ? threads : "no");
    const struct matrix_chart chart = {
        .title = title,
        .summary = "Items a second over those of as many plain calls as there are cores in use. "
                   "The legend tells where each executor breaks even.",
        .lines = (const struct matrix_line *)(const void *)lines->data,
        .n_lines = lines->len,
        .cores = cores,
    };
    html_literal(html, "<ul class=\"legend-list\">");
    for (guint l = 0; l < lines->len; l++)
        write_legend_item(html, &chart.lines[l]);
    html_literal(html, "</ul><div class=\"chart\" tabindex=\"0\" role=\"region\" "
                       "aria-label=\"Efficiency against task cost\">");
    matrix_chart_render(html, &chart);
    html_literal(html, "</div>");
}

static void line_clear(struct matrix_line *line)
{
    g_array_unref((GArray *)(guintptr)line->points);
}

static GArray *lines_of(const struct matrix_view *view, const struct matrix_bench *bench,
                        const char *threads)
{
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct matrix_line));
    g_array_set_clear_func(lines, (GDestroyNotify)line_clear);
    for (guint e = 0; e < view->matrix->executors->len; e++) {
        if (matrix_is_yardstick(view->matrix, e))
            continue; /* it is the level that the others are held against */
        GArray *points = matrix_efficiency(view->matrix, bench, e, threads, view->effective_cpus);
        struct matrix_line line = {.name =
                                       (const char *)g_ptr_array_index(view->matrix->executors, e),
                                   .slot = e % CHART_SLOTS,
                                   .points = points};
        if (points->len > 1)
            g_array_append_val(lines, line);
        else
            g_array_unref(points);
    }
    return lines;
}

static void write_efficiency(Html *html, const struct matrix_view *view,
                             const struct matrix_bench *bench)
{
    g_autoptr(GPtrArray) all = threads_of(bench);
    const char *threads = choose_threads(view, all);
    g_autoptr(GArray) lines = lines_of(view, bench, threads);
    if (lines->len == 0)
        return;
    double asked = *threads ? g_ascii_strtod(threads, NULL) : view->effective_cpus;
    html_literal(html, "<h3>Efficiency against task cost</h3>");
    write_threads_choice(html, view, all, threads);
    draw_efficiency(html, bench, lines, threads, MAX(1, MIN(asked, view->effective_cpus)));
}

/* ---- The page ---- */

static void write_machines(Html *html, const struct matrix_view *view)
{
    if (view->machines->len < 2)
        return;
    html_literal(html, "<nav class=\"choices\" aria-label=\"Machine\"><span>machine</span>");
    for (guint i = 0; i < view->machines->len; i++) {
        const struct store_machine *machine =
            (const struct store_machine *)g_ptr_array_index(view->machines, i);
        g_autofree char *url =
            link_query(http_request_query_pairs(view->request), "machine", machine->name);
        html_literal(html, "<a class=\"button\"");
        html_url(html, "href", url);
        if (machine == view->machine)
            html_literal(html, " aria-current=\"true\"");
        html_print(html, ">%s</a>", machine->name);
    }
    html_literal(html, "</nav>");
}

static void write_heading(Html *html, const struct matrix_view *view)
{
    html_literal(html, "<div class=\"heading\"><h1>Matrix</h1>");
    if (view->machine) {
        html_literal(html, "<p class=\"muted\">");
        layout_commit(html, view->commit);
        html_literal(html, " ");
        layout_subject(html, view->commit);
        html_print(html, " · %s, %.0f CPUs</p>", view->machine->name, view->effective_cpus);
    }
    html_literal(html, "</div>");
    write_machines(html, view);
}

static void write_bench(Html *html, const struct matrix_view *view,
                        const struct matrix_bench *bench)
{
    html_literal(html, "<section class=\"card\"><h2>");
    html_text(html, bench->benchmark->name);
    html_literal(html, "</h2><p class=\"muted\">");
    html_text(html, bench->metric);
    html_literal(html, ", ");
    html_text(html, bench->unit);
    html_print(html,
               " · %s; the deeper the shade, the nearer to the best of its row but for the plain "
               "call; ! is flagged: kept out of baselines</p>",
               chart_direction(bench->better));
    write_table(html, view->matrix, bench);
    write_efficiency(html, view, bench);
    html_literal(html, "</section>");
}

static void write_empty(Html *html, const struct matrix_view *view)
{
    g_autofree char *origin = http_request_origin(view->request);
    g_autofree char *quoted = link_shell_word(view->project->name);
    g_autofree char *command =
        g_strdup_printf("breakeven-runner run --project %s --server %s", quoted, origin);
    html_literal(html,
                 "<section class=\"card notice\"><h2>No executor was measured here</h2><p>The "
                 "matrix sets results side by side that have the parameter "
                 "<code>executor</code>. In the repository, type</p>");
    layout_command(html, command);
    html_literal(html, "</section>");
}

static Html *render(const struct matrix_view *view)
{
    Html *html = html_new();
    g_autofree char *project_url = link_project(view->project->name);
    g_autofree char *title = g_strdup_printf("Matrix · %s", view->project->name);
    const struct layout_crumb crumbs[] = {{view->project->name, project_url}, {"Matrix", NULL}};
    const struct layout layout = {.title = title,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .version = view->version,
                                  .is_wide = true};
    layout_begin(html, &layout);
    write_heading(html, view);
    if (!view->matrix || view->matrix->benches->len == 0)
        write_empty(html, view);
    for (guint i = 0; view->matrix && i < view->matrix->benches->len; i++)
        write_bench(html, view,
                    (const struct matrix_bench *)g_ptr_array_index(view->matrix->benches, i));
    if (view->matrix && view->matrix->is_cut)
        html_print(html,
                   "<p class=\"muted\">Only the first %u executors and %u cells of a "
                   "benchmark are shown.</p>",
                   MATRIX_EXECUTORS_MAX, MATRIX_ROWS_MAX);
    layout_end(html, &layout);
    return html;
}

/* Everything is read here; NULL with an error. */
static Html *render_matrix(HttpRequest *request, StoreSnapshot *snapshot,
                           const struct store_project *project, GError **error)
{
    const char *sha = http_request_query(request, "commit");
    struct matrix_view view = {
        .request = request,
        .project = project,
        .commit = sha ? store_commit_find(project, sha, error) : newest_measured(project),
        .version = context_of(request)->version,
    };
    if (sha && !view.commit)
        return NULL;
    g_autoptr(CommitResults) results =
        view.commit ? commit_results_new(snapshot, view.commit, error) : NULL;
    if (view.commit && !results)
        return NULL;
    g_autoptr(GPtrArray) machines = results ? machines_of(results) : g_ptr_array_new();
    view.machines = machines;
    view.machine = choose_machine(machines, http_request_query(request, "machine"));
    g_autoptr(Matrix) matrix = view.machine ? matrix_new(results, view.machine) : NULL;
    view.matrix = matrix;
    view.effective_cpus = view.machine ? effective_cpus_of(snapshot, view.machine) : 1;
    return render(&view);
}

void page_matrix(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    if (!project || http_not_modified(request, store_version(snapshot, project), HTTP_HTML))
        return;
    g_autoptr(GError) error = NULL;
    Html *html = render_matrix(request, snapshot, project, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    if (html)
        layout_send(request, html);
    else
        http_respond_error(request, error, NULL);
}
