/* SPDX-License-Identifier: Apache-2.0
 * /embed/p/{project}/b/{bench}: a trend's chart alone, for a frame in a wiki: one answer without
 * script, form or further request, which other origins may frame. Takes what the trend page takes,
 * and ?theme=. A worker thread. */
#include "server/pages/chart_theme.h"
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/pages/trend_view.h"
#include "server/routes.h"

#include <string.h>

static void write_head(Html *html, const struct trend_view *view, enum chart_theme theme)
{
    html_literal(html, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
                       "name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                       "<meta name=\"robots\" content=\"noindex\"><title>");
    html_text(html, view->benchmark->name);
    html_literal(html, " · ");
    html_text(html, view->project->name);
    html_print(html, "</title><style>%s</style></head><body><main>", chart_theme_page_style(theme));
}

/* Where all of it is; above the frame, so that the wiki does not shrink around it. */
static void write_source(Html *html, const struct trend_view *view)
{
    g_autofree char *common = selection_common_name(view->selection);
    g_autofree char *path = link_bench(view->project->name, view->benchmark->name);
    g_autofree char *query = link_query(http_request_query_pairs(view->request), "theme", NULL);
    g_autofree char *url = g_strconcat(path, query[1] ? query : "", NULL);
    html_literal(html, "<h1><a target=\"_blank\" rel=\"noopener\"");
    html_url(html, "href", url);
    html_literal(html, ">");
    html_text(html, view->benchmark->name);
    html_literal(html, "</a> <small>");
    html_text(html, view->selection->metric ? view->selection->metric->metric : "");
    if (*common)
        html_literal(html, " · ");
    html_text(html, common);
    html_literal(html, "</small></h1>");
}

static Html *render(StoreSnapshot *snapshot, struct trend_view *view, enum chart_theme theme,
                    GError **error)
{
    g_autoptr(Selection) selection =
        selection_new(view->benchmark, http_request_query_pairs(view->request));
    view->selection = selection;
    g_autoptr(TrendData) data =
        trend_data_new(snapshot, view->project, selection, &view->wanted, error);
    if (!data)
        return NULL;
    view->data = data;
    Html *html = html_new();
    write_head(html, view, theme);
    write_source(html, view);
    if (data->lines->len > 0)
        trend_chart_write(html, view);
    else
        html_literal(html, "<p>No series matches this choice.</p>");
    html_literal(html, "</main></body></html>\n");
    return html;
}

void page_embed(HttpRequest *request)
{
    enum chart_theme theme = CHART_THEME_AUTO;
    const char *asked = http_request_query(request, "theme");
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    struct trend_view view = {.request = request};
    trend_view_read(&view);
    view.project = snapshot ? page_find_project(request, snapshot) : NULL;
    view.benchmark = view.project ? page_find_benchmark(request, view.project) : NULL;
    if (!view.benchmark)
        return;
    if (asked && !chart_theme_parse(asked, &theme)) {
        http_respond_status(request, 400, "theme is “%s”; light, dark or auto would be right",
                            asked);
        return;
    }
    http_response_embeddable(request, chart_theme_page_style(theme));
    if (http_not_modified(request, store_version(snapshot, view.project), HTTP_HTML))
        return;
    g_autoptr(GError) error = NULL;
    Html *html = render(snapshot, &view, theme, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    if (html)
        http_respond(request, 200, HTTP_HTML, html_finish(html));
    else
        http_respond_error(request, error, NULL);
}
