/* SPDX-License-Identifier: Apache-2.0
 * /: the projects, and what to type where there is none. A worker thread. */
#include "server/pages/headline.h"
#include "server/pages/link.h"
#include "server/pages/trend_data.h"
#include "server/routes.h"

#define PROJECTS_ALL_MAX 500u

static void write_empty(Html *html, const HttpRequest *request)
{
    g_autofree char *origin = http_request_origin(request);
    g_autofree char *runner = g_strdup_printf("breakeven-runner run --quick --server %s", origin);
    g_autofree char *curl = g_strdup_printf(
        "curl -H 'Content-Type: application/json' --data-binary @run.json %s/api/runs", origin);
    g_autofree char *google = g_strdup_printf(
        "./my_benchmark --benchmark_format=json --benchmark_repetitions=10 > result.json\n"
        "curl -H 'Content-Type: application/json' --data-binary @result.json \\\n"
        "  "
        "\"%s/api/runs?format=google-benchmark&project=my-project&machine=$(hostname)&commit=$(git "
        "rev-parse HEAD)\"",
        origin);
    html_literal(html,
                 "<section class=\"card notice\"><h1>Nothing has been measured yet</h1>"
                 "<p>Run the thread pool benchmarks on this machine, inside a git repository:</p>");
    layout_command(html, runner);
    html_literal(html, "<p>or send what you have: a run document</p>");
    layout_command(html, curl);
    html_literal(html, "<p>or the output of Google Benchmark</p>");
    layout_command(html, google);
    html_literal(html, "<p class=\"muted\">Each upload shows up here at once.</p></section>");
}

static const struct store_run *latest_run(const struct store_project *project)
{
    return project->runs->len > 0
               ? (const struct store_run *)g_ptr_array_index(project->runs, project->runs->len - 1)
               : NULL;
}

static void write_count(Html *html, guint count)
{
    char text[QUANTITY_TEXT_BYTES];
    quantity_count(count, text);
    html_print(html, "<td class=\"num\">%s</td>", text);
}

static void write_headline(Html *html, const struct store_project *project,
                           const Headline *headline)
{
    html_literal(html, "<td>");
    if (headline->series) {
        g_autofree char *url = link_bench(project->name, headline->series->benchmark->name);
        html_literal(html, "<a");
        html_url(html, "href", url);
        html_literal(html, ">");
        html_text(html, headline->series->benchmark->name);
        html_literal(html, "</a><span class=\"sub\">");
        html_text(html, headline->label);
        html_literal(html, "</span>");
    }
    html_literal(html, "</td><td class=\"num\">");
    headline_write_value(html, headline);
    html_literal(html, "</td><td class=\"trend\">");
    headline_write_spark(html, headline);
    html_literal(html, "</td>");
}

static bool write_project(Html *html, StoreSnapshot *snapshot, const struct store_project *project,
                          GError **error)
{
    g_autoptr(Headline) headline =
        headline_of_project(snapshot, project, trend_branch_of(project, NULL), error);
    if (!headline)
        return false;
    g_autofree char *url = link_project(project->name);
    const struct store_run *latest = latest_run(project);
    html_literal(html, "<tr><th scope=\"row\"><a");
    html_url(html, "href", url);
    html_literal(html, ">");
    html_text(html, project->name);
    html_literal(html, "</a></th>");
    write_headline(html, project, headline);
    write_count(html, project->benchmarks->len);
    write_count(html, project->runs->len);
    html_literal(html, "<td class=\"when\">");
    layout_time_ms(html, latest ? latest->received_ms : 0);
    html_literal(html, "</td></tr>");
    return true;
}

static bool write_projects(Html *html, HttpRequest *request, StoreSnapshot *snapshot,
                           GError **error)
{
    const GPtrArray *projects = store_projects(snapshot);
    struct layout_paging paging =
        layout_paging_of(request, "page", projects->len, PROJECTS_ALL_MAX);
    html_literal(
        html,
        "<div class=\"heading\"><h1>Projects</h1></div><section class=\"card\">"
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Projects\"><table><thead><tr>"
        "<th scope=\"col\">Project</th><th scope=\"col\">Measured last</th>"
        "<th scope=\"col\" class=\"num\">Value</th><th scope=\"col\">Trend</th>"
        "<th scope=\"col\" class=\"num\">Benchmarks</th><th scope=\"col\" class=\"num\">Runs</th>"
        "<th scope=\"col\">Last result</th></tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++) {
        if (!write_project(html, snapshot,
                           (const struct store_project *)g_ptr_array_index(projects, i), error))
            return false;
    }
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, request, &paging, "Projects");
    html_literal(html, "</section>");
    return true;
}

static Html *render(HttpRequest *request, StoreSnapshot *snapshot, GError **error)
{
    g_autoptr(Html) html = html_new();
    const struct layout layout = {.version = context_of(request)->version};
    layout_begin(html, &layout);
    if (store_projects(snapshot)->len == 0)
        write_empty(html, request);
    else if (!write_projects(html, request, snapshot, error))
        return NULL;
    layout_end(html, &layout);
    return g_steal_pointer(&html);
}

void page_home(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    if (!snapshot || http_not_modified(request, store_version(snapshot, NULL), HTTP_HTML))
        return;
    g_autoptr(GError) error = NULL;
    Html *html = render(request, snapshot, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    if (html)
        layout_send(request, html);
    else
        http_respond_error(request, error, NULL);
}
