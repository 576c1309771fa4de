/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}: its benchmarks with their latest values, and the commits that were measured. A
 * worker thread. */
#include "server/pages/headline.h"
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/pages/trend_data.h"
#include "server/routes.h"

#define BENCHMARKS_ALL_MAX 500u
#define COMMITS_ALL_MAX    5000u

/* ---- Benchmarks
 * ----------------------------------------------------------------------------------------------------
 */

static void write_metrics(Html *html, const struct store_benchmark *benchmark)
{
    g_autoptr(Selection) selection = selection_new(benchmark, NULL);
    for (guint i = 0; i < selection->metrics->len; i++) {
        const struct store_series *metric =
            (const struct store_series *)g_ptr_array_index(selection->metrics, i);
        html_print(html, "%s%s", i > 0 ? ", " : "", metric->metric);
    }
}

static void write_benchmark_name(Html *html, const struct store_benchmark *benchmark)
{
    g_autofree char *url = link_bench(benchmark->project->name, benchmark->name);
    html_literal(html, "<th scope=\"row\"><a");
    html_url(html, "href", url);
    html_literal(html, ">");
    html_text(html, benchmark->name);
    html_literal(html, "</a><span class=\"sub\">");
    write_metrics(html, benchmark);
    html_literal(html, "</span></th>");
}

static bool write_benchmark(Html *html, StoreSnapshot *snapshot,
                            const struct store_benchmark *benchmark, const char *branch,
                            GError **error)
{
    g_autoptr(Headline) headline = headline_of_benchmark(snapshot, benchmark, branch, error);
    if (!headline)
        return false;
    html_literal(html, "<tr>");
    write_benchmark_name(html, benchmark);
    html_literal(html, "<td class=\"num\">");
    headline_write_value(html, headline);
    html_literal(html, "<span class=\"sub\">");
    html_text(html, headline->label);
    html_literal(html, "</span></td><td class=\"trend\">");
    headline_write_spark(html, headline);
    html_literal(html, "</td><td>");
    struct store_commit *commit = headline_commit(headline);
    if (commit)
        layout_commit(html, commit);
    html_print(html, "</td><td class=\"num\">%u</td></tr>", benchmark->series->len);
    return true;
}

static bool write_benchmarks(Html *html, HttpRequest *request, StoreSnapshot *snapshot,
                             const struct store_project *project, GError **error)
{
    const char *branch = trend_branch_of(project, NULL);
    g_autofree char *project_url = link_project(project->name);
    struct layout_paging paging =
        layout_paging_of(request, "page", project->benchmarks->len, BENCHMARKS_ALL_MAX);
    html_literal(html, "<section class=\"card\"><h2>Benchmarks</h2><p class=\"muted\"><a");
    g_autofree char *matrix_url = g_strconcat(project_url, "/matrix", NULL);
    html_url(html, "href", matrix_url);
    html_literal(html,
                 ">Matrix: executors side by side</a></p><div class=\"scroll\" tabindex=\"0\" "
                 "role=\"region\" aria-label=\"Benchmarks\"><table><thead><tr>"
                 "<th scope=\"col\">Benchmark</th>"
                 "<th scope=\"col\" class=\"num\">Latest value</th><th scope=\"col\">Trend</th>"
                 "<th scope=\"col\">At commit</th><th scope=\"col\" "
                 "class=\"num\">Series</th></tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++) {
        const struct store_benchmark *benchmark =
            (const struct store_benchmark *)g_ptr_array_index(project->benchmarks, i);
        if (!write_benchmark(html, snapshot, benchmark, branch, error))
            return false;
    }
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, request, &paging, "Benchmarks");
    html_literal(html, "</section>");
    return true;
}

/* ---- Commits
 * -------------------------------------------------------------------------------------------------------
 */

static GPtrArray *measured_commits(const struct store_project *project)
{
    GPtrArray *measured = g_ptr_array_new();
    for (guint i = project->commits->len; i > 0; i--) {
        struct store_commit *commit =
            (struct store_commit *)g_ptr_array_index(project->commits, i - 1);
        if (commit->n_runs > 0)
            g_ptr_array_add(measured, commit);
    }
    return measured;
}

static void write_commit(Html *html, const struct store_commit *commit)
{
    html_literal(html, "<tr><th scope=\"row\">");
    layout_commit(html, commit);
    html_literal(html, "</th><td class=\"subject\">");
    layout_subject(html, commit);
    html_literal(html, "</td><td>");
    html_text(html, commit->author);
    html_print(html, "</td><td class=\"num\">%u</td><td class=\"when\">", commit->n_runs);
    layout_time_s(html, commit->time_s);
    html_literal(html, "</td></tr>");
}

static void write_commits(Html *html, HttpRequest *request, const struct store_project *project)
{
    g_autoptr(GPtrArray) measured = measured_commits(project);
    struct layout_paging paging =
        layout_paging_of(request, "commits", measured->len, COMMITS_ALL_MAX);
    html_literal(html, "<section class=\"card\"><h2>Measured commits</h2>");
    html_print(html, "<p class=\"muted\">%u of the %u commits known, newest first.</p>",
               measured->len, project->commits->len);
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Measured "
                       "commits\"><table>"
                       "<thead><tr><th scope=\"col\">Commit</th><th scope=\"col\">Subject</th>"
                       "<th scope=\"col\">Author</th><th scope=\"col\" class=\"num\">Runs</th>"
                       "<th scope=\"col\">Time</th></tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++)
        write_commit(html, (const struct store_commit *)g_ptr_array_index(measured, i));
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, request, &paging, "Commits");
    html_literal(html, "</section>");
}

/* ---- The page
 * ------------------------------------------------------------------------------------------------------
 */

static void write_empty(Html *html, const HttpRequest *request, const struct store_project *project)
{
    g_autofree char *origin = http_request_origin(request);
    g_autofree char *quoted = link_shell_word(project->name);
    g_autofree char *command =
        g_strdup_printf("breakeven-runner run --quick --project %s --server %s", quoted, origin);
    html_literal(html, "<section class=\"card notice\"><h2>No run of this project yet</h2><p>In "
                       "its repository, type</p>");
    layout_command(html, command);
    html_literal(html, "</section>");
}

static void write_heading(Html *html, const struct store_project *project)
{
    char runs[QUANTITY_TEXT_BYTES], series[QUANTITY_TEXT_BYTES];
    quantity_count(project->runs->len, runs);
    quantity_count(project->series->len, series);
    html_literal(html, "<div class=\"heading\"><h1>");
    html_text(html, project->name);
    html_print(html, "</h1><p class=\"muted\">%s runs · %s series · default branch %s</p>", runs,
               series, project->default_branch);
    g_autofree char *changes = link_changes(project->name);
    html_literal(html, "<nav class=\"neighbours\" aria-label=\"Of this project\"><a "
                       "class=\"button\"");
    html_url(html, "href", changes);
    html_literal(html, ">Changes</a></nav></div>");
}

static Html *render(HttpRequest *request, StoreSnapshot *snapshot,
                    const struct store_project *project, GError **error)
{
    g_autoptr(Html) html = html_new();
    const struct layout_crumb crumbs[] = {{project->name, NULL}};
    const struct layout layout = {.title = project->name,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .version = context_of(request)->version};
    layout_begin(html, &layout);
    write_heading(html, project);
    if (project->runs->len == 0)
        write_empty(html, request, project);
    else if (!write_benchmarks(html, request, snapshot, project, error))
        return NULL;
    if (project->runs->len > 0)
        write_commits(html, request, project);
    layout_end(html, &layout);
    return g_steal_pointer(&html);
}

void page_project(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    if (!project || http_not_modified(request, store_version(snapshot, project), HTTP_HTML))
        return;
    g_autoptr(GError) error = NULL;
    Html *html = render(request, snapshot, project, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    if (html)
        layout_send(request, html);
    else
        http_respond_error(request, error, NULL);
}
