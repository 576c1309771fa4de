/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}/explore: many small charts beside each other, with one cursor. `by` says in which
 * order they come, `overlay` what their lines are; `bench`, `machine`, `metric`, `q` and
 * `param.NAME` which series are drawn; `branch`, `commits`, `normalise`, `zero` and `page` how. A
 * worker thread. */
#include "server/pages/explore_view.h"
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/pages/series_choice.h"
#include "server/pages/trend_data.h"
#include "server/routes.h"

#include <string.h>

static enum explore_normalise normalise_of(const HttpRequest *request)
{
    const char *asked = http_request_query(request, "normalise");
    return g_strcmp0(asked, "first") == 0       ? EXPLORE_TO_FIRST
           : g_strcmp0(asked, "reference") == 0 ? EXPLORE_TO_REFERENCE
                                                : EXPLORE_AS_MEASURED;
}

static guint number_of(const HttpRequest *request, const char *name, guint otherwise)
{
    const char *asked = http_request_query(request, name);
    return asked ? (guint)MIN(g_ascii_strtoull(asked, NULL, 10), G_MAXINT) : otherwise;
}

static struct explore_request wanted_of(const HttpRequest *request,
                                        const struct store_project *project)
{
    const char *branch = http_request_query(request, "branch");
    guint commits = number_of(request, "commits", 60);
    return (struct explore_request){.by = http_request_query(request, "by"),
                                    .overlay = http_request_query(request, "overlay"),
                                    .branch =
                                        branch && *branch ? branch : trend_branch_of(project, NULL),
                                    .n_commits = commits == 30 || commits == 120 ? commits : 60,
                                    .page = number_of(request, "page", 1),
                                    .normalise = normalise_of(request)};
}

static void write_page_link(Html *html, const struct explore_view *view, guint page,
                            const char *text)
{
    g_autofree char *number = g_strdup_printf("%u", page);
    g_autofree char *url = link_query(http_request_query_pairs(view->request), "page", number);
    html_literal(html, "<a class=\"button\"");
    html_url(html, "href", url);
    html_print(html, ">%s</a>", text);
}

/* How many there are is said also where all are shown. */
static void write_pager(Html *html, const struct explore_view *view)
{
    const ExploreData *data = view->data;
    html_print(html, "<nav class=\"pager\" aria-label=\"Charts\"><span>Charts %u–%u of %u</span>",
               data->first + 1, data->end, data->charts->len);
    if (data->page > 1)
        write_page_link(html, view, data->page - 1, "← Previous");
    if (data->page < data->n_pages)
        write_page_link(html, view, data->page + 1, "Next →");
    html_literal(html, "</nav>");
}

static void write_body(Html *html, const struct explore_view *view)
{
    const ExploreData *data = view->data;
    html_literal(html, "<div class=\"heading\"><h1>Explore</h1>");
    html_print(html,
               "<p class=\"muted\">%u series in %u charts, the last %u measured commits of "
               "%s</p></div><section class=\"card\">",
               view->series->len, data->charts->len, data->commits->len, view->wanted.branch);
    explore_form_write(html, view);
    if (view->wanted.normalise == EXPLORE_TO_REFERENCE)
        html_literal(html, "<p class=\"hint\">Reference: the median of the 30 values before the "
                           "newest one.</p>");
    html_literal(html, "</section>");
    if (data->charts->len == 0) {
        html_literal(html, "<section class=\"card notice\"><h2>No series matches this choice</h2>"
                           "<p>Choose other values above.</p></section>");
        return;
    }
    if (data->commits->len == 0)
        html_print(html, "<p class=\"muted\">None of these series was measured on branch %s.</p>",
                   view->wanted.branch);
    html_literal(html,
                 "<p class=\"at\" id=\"at\">Values: of the newest commit, at the right of each "
                 "chart.</p>");
    explore_charts_write(html, view);
    write_pager(html, view);
    html_literal(html, "<p class=\"visually-hidden\" id=\"live\" role=\"status\" "
                       "aria-live=\"polite\"></p>");
}

static void write_page(Html *html, const struct explore_view *view)
{
    g_autofree char *project_url = link_project(view->project->name);
    g_autofree char *title = g_strdup_printf("Explore · %s", view->project->name);
    const struct layout_crumb crumbs[] = {{view->project->name, project_url}, {"Explore", NULL}};
    const struct layout layout = {.title = title,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .project = view->project->name,
                                  .room = "/explore",
                                  .version = context_of(view->request)->version,
                                  .is_wide = true,
                                  .request = view->request};
    layout_begin(html, &layout);
    write_body(html, view);
    layout_end(html, &layout);
}

/* One of both, or neither with the error. */
static void render(struct explore_view *view, StoreSnapshot *snapshot, Html **out_html,
                   Sheet **out_sheet, GError **error)
{
    enum sheet_form form = sheet_form_of(view->request, false);
    if (g_strcmp0(view->wanted.overlay, EXPLORE_MACHINE) == 0)
        view->machine = NULL; /* one machine alone is no overlay */
    g_autoptr(GPtrArray) series = series_choice_read(view->request, view->project, view->machine);
    g_autoptr(ExploreData) data =
        explore_data_new(snapshot, view->project, series, &view->wanted, error);
    if (!data)
        return;
    view->series = series;
    view->data = data;
    if (form == SHEET_HTML) {
        *out_html = html_new();
        write_page(*out_html, view);
    } else {
        g_autofree char *title = g_strdup_printf("%s · explore", view->project->name);
        *out_sheet = sheet_new(view->request, form, title);
        explore_sheet_write(*out_sheet, view);
    }
}

void page_explore(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    if (!project || http_not_modified(request, store_version(snapshot, project),
                                      sheet_type(sheet_form_of(request, false))))
        return;
    struct explore_view view = {.request = request,
                                .project = project,
                                .machine = series_choice_machine(request, project),
                                .wanted = wanted_of(request, project),
                                .from_zero =
                                    g_strcmp0(http_request_query(request, "zero"), "1") == 0};
    g_autoptr(GError) error = NULL;
    Html *html = NULL;
    Sheet *sheet = NULL;
    render(&view, snapshot, &html, &sheet, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    sheet_respond(request, html, sheet, error);
}
