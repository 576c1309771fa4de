/* SPDX-License-Identifier: Apache-2.0
 * The executors' view of the matrix page: executors × cells of one commit on one machine, each
 * value a link to its trend. `commit` and `machine` in the address; else the newest commit that was
 * measured on the branch, and the machine that measured most of it. Rows and benchmarks are paged.
 */
#include "server/pages/matrix_view.h"

#include "server/pages/chart.h"
#include "server/pages/link.h"
#include "server/pages/series_parts.h"
#include "server/store/store_branches.h"

#include <string.h>

#define RATE_UNIT "items/s"
#define ROWS_ALL  500u

static const struct store_commit *newest_measured(const struct matrix_view *view)
{
    const struct store_commit *newest = NULL;
    g_auto(StoreBranch) branch;
    store_branch_open(&branch, view->project, view->branch);
    for (guint i = 0; i < view->project->runs->len; i++) {
        const struct store_run *run =
            (const struct store_run *)g_ptr_array_index(view->project->runs, i);
        if ((!newest || run->commit->position > newest->position) &&
            store_branch_has_run(&branch, run))
            newest = run->commit;
    }
    return newest;
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

/* Of the commit's latest run on the machine that tells where it was measured; NULL: of none. */
static const char *environment_of(const CommitResults *results, const struct store_machine *machine)
{
    for (guint i = results->runs->len; i > 0; i--) {
        const struct store_run *run =
            (const struct store_run *)g_ptr_array_index(results->runs, i - 1);
        if (run->machine == machine && run->environment_digest)
            return run->environment_digest;
    }
    return NULL;
}

static double cpus_in(const char *facts_json)
{
    g_autoptr(GPtrArray) facts = run_params_parse(facts_json);
    for (guint i = 0; facts && i < facts->len; i++) {
        const struct run_param *fact = (const struct run_param *)g_ptr_array_index(facts, i);
        if (strcmp(fact->name, "effective_cpus") == 0)
            return MAX(1, g_ascii_strtod(fact->value, NULL));
    }
    return 0;
}

/* A fact of the environment in which the commit was measured; 0 where it is not told. */
static double effective_cpus_of(StoreSnapshot *snapshot, const CommitResults *results,
                                const struct store_machine *machine)
{
    const char *digest = environment_of(results, machine);
    g_autoptr(GPtrArray) environments =
        digest ? store_machine_environments(snapshot, machine, NULL) : NULL;
    for (guint i = 0; environments && i < environments->len; i++) {
        const struct store_environment *environment =
            (const struct store_environment *)g_ptr_array_index(environments, i);
        if (strcmp(environment->digest, digest) == 0)
            return cpus_in(environment->facts_json);
    }
    return 0;
}

/* ---- The tables ------------------------------------------------------------------------------ */

static void write_cell(Html *html, const struct matrix_cell *cell, const struct matrix_bench *bench,
                       double best)
{
    if (!cell->series) {
        html_literal(html, "<td class=\"num none\">–</td>");
        return;
    }
    const char *bound = cell->value.censored > 0 ? "> " : cell->value.censored < 0 ? "< " : "";
    g_autofree char *url = series_parts_url(cell->series);
    g_autofree char *text = quantity_text(cell->value.center, bench->unit);
    /* "2.436 M items/s" in each cell would make the table too wide: the unit stands above. */
    char *unit = strcmp(bench->unit, RATE_UNIT) == 0 ? strstr(text, " " RATE_UNIT) : NULL;
    if (unit)
        *unit = '\0';
    html_print(html, "<td class=\"num shade%u\"><a",
               matrix_shade(cell->value.center, best, bench->better));
    html_url(html, "href", url);
    html_print(html, ">%s%s</a>", bound, text);
    if (cell->value.flagged)
        matrix_flag_write(html);
    html_literal(html, "</td>");
}

static void write_row(Html *html, const Matrix *matrix, const struct matrix_bench *bench,
                      const struct matrix_row *row)
{
    double best = matrix_row_best(matrix, row, bench);
    html_literal(html, "<tr><th scope=\"row\">");
    html_text(html, *row->label ? row->label : "all");
    html_literal(html, "</th>");
    for (guint e = 0; e < matrix->executors->len; e++)
        if (matrix_has_executor(bench, e))
            write_cell(html, &row->cells[e], bench, matrix_is_yardstick(matrix, e) ? 0 : best);
    html_literal(html, "</tr>");
}

static void write_table(Html *html, const struct matrix_cells *cells,
                        const struct matrix_bench *bench)
{
    const Matrix *matrix = cells->matrix;
    g_autofree char *page = g_strdup_printf("rows%" G_GINT64_FORMAT, (gint64)bench->benchmark->id);
    struct layout_paging paging =
        layout_paging_of(cells->view->request, page, bench->rows->len, ROWS_ALL);
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    html_attr(html, "aria-label", bench->benchmark->name);
    html_literal(html, "><table class=\"matrix\" data-grid><thead><tr><th scope=\"col\">Cell</th>");
    for (guint e = 0; e < matrix->executors->len; e++) {
        if (!matrix_has_executor(bench, e))
            continue;
        html_literal(html, "<th scope=\"col\" class=\"num\">");
        html_text(html, (const char *)g_ptr_array_index(matrix->executors, e));
        html_literal(html, "</th>");
    }
    html_literal(html, "</tr></thead><tbody>");
    for (guint r = paging.first; r < paging.end; r++)
        write_row(html, matrix, bench,
                  (const struct matrix_row *)g_ptr_array_index(bench->rows, r));
    html_literal(html, "</tbody></table></div>");
    g_autofree char *what = g_strdup_printf("Cells of %s", bench->benchmark->name);
    layout_pager(html, cells->view->request, &paging, what);
}

/* ---- The view -------------------------------------------------------------------------------- */

static void write_machines(Html *html, const struct matrix_cells *cells)
{
    if (cells->machines->len < 2)
        return;
    html_literal(html, "<nav class=\"choices\" aria-label=\"Machine\"><span>machine</span>");
    for (guint i = 0; i < cells->machines->len; i++) {
        const struct store_machine *machine =
            (const struct store_machine *)g_ptr_array_index(cells->machines, i);
        matrix_choice_write(html, cells->view, "machine", machine->name, machine == cells->machine);
    }
    html_literal(html, "</nav>");
}

static void write_where(Html *html, const struct matrix_cells *cells)
{
    if (!cells->machine)
        return;
    html_literal(html, "<p class=\"muted\">");
    layout_commit(html, cells->commit);
    html_literal(html, " ");
    layout_subject(html, cells->commit);
    html_print(html, " · %s, ", cells->machine->name);
    if (cells->effective_cpus > 0)
        html_print(html, "%.0f %s</p>", cells->effective_cpus,
                   cells->effective_cpus > 1 ? "CPUs" : "CPU");
    else
        html_literal(html, "which did not tell how many CPUs its processes may use "
                           "(<code>effective_cpus</code>): no efficiency can be told</p>");
}

static void write_bench(Html *html, const struct matrix_cells *cells,
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
    write_table(html, cells, bench);
    matrix_efficiency_write(html, cells, bench);
    html_literal(html, "</section>");
}

static void write_empty(Html *html, const struct matrix_view *view)
{
    g_autofree char *origin = http_request_origin(view->request);
    g_autofree char *quoted = link_shell_word(view->project->name);
    g_autofree char *command =
        g_strdup_printf("breakeven-runner run --project %s --server %s", quoted, origin);
    html_literal(html,
                 "<section class=\"card notice\"><h2>No executor was measured here</h2><p>This "
                 "view sets results side by side that have the parameter "
                 "<code>executor</code>. In the repository, type</p>");
    layout_command(html, command);
    html_literal(html, "</section>");
}

static void write_benches(Html *html, const struct matrix_cells *cells)
{
    const GPtrArray *benches = cells->matrix->benches;
    struct layout_paging paging =
        layout_paging_of(cells->view->request, "page", benches->len, ROWS_ALL);
    for (guint i = paging.first; i < paging.end; i++)
        write_bench(html, cells, (const struct matrix_bench *)g_ptr_array_index(benches, i));
    layout_pager(html, cells->view->request, &paging, "Benchmarks");
    if (cells->matrix->is_cut)
        html_print(html,
                   "<p class=\"muted\">Only the first %u executors and %u cells of a "
                   "benchmark are shown.</p>",
                   MATRIX_EXECUTORS_MAX, MATRIX_ROWS_MAX);
}

/* ---- What is shown --------------------------------------------------------------------------- */

bool matrix_cells_open(struct matrix_cells *cells, const struct matrix_view *view, GError **error)
{
    const char *sha = http_request_query(view->request, "commit");
    *cells = (struct matrix_cells){.view = view,
                                   .commit = sha ? store_commit_find(view->project, sha, error)
                                                 : newest_measured(view)};
    if (sha && !cells->commit)
        return false;
    g_autoptr(CommitResults) results =
        cells->commit ? commit_results_new_alone(view->snapshot, cells->commit, error) : NULL;
    if (cells->commit && !results)
        return false;
    cells->machines = results ? machines_of(results) : g_ptr_array_new();
    cells->machine = choose_machine(cells->machines, http_request_query(view->request, "machine"));
    cells->matrix = cells->machine ? matrix_new(results, cells->machine) : NULL;
    cells->effective_cpus =
        cells->machine ? effective_cpus_of(view->snapshot, results, cells->machine) : 0;
    return true;
}

void matrix_cells_clear(struct matrix_cells *cells)
{
    g_clear_pointer(&cells->machines, g_ptr_array_unref);
    g_clear_pointer(&cells->matrix, matrix_free);
}

bool matrix_executors_write(Html *html, const struct matrix_view *view, GError **error)
{
    struct matrix_cells cells;
    if (!matrix_cells_open(&cells, view, error))
        return false;
    write_where(html, &cells);
    write_machines(html, &cells);
    if (cells.matrix && cells.matrix->benches->len > 0)
        write_benches(html, &cells);
    else
        write_empty(html, view);
    matrix_cells_clear(&cells);
    return true;
}
