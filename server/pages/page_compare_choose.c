/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}/compare: the form that says what is compared; with ?base= and ?head= (and ?also=) it
 * leads to the comparison. A worker thread. */
#include "server/pages/compare_sides.h"
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/routes.h"

static const char *given(const HttpRequest *request, const char *name)
{
    const char *value = http_request_query(request, name);
    return value && *value ? value : NULL;
}

static Html *render(HttpRequest *request, StoreSnapshot *snapshot,
                    const struct store_project *project)
{
    g_autofree char *project_url = link_project(project->name);
    g_autofree char *title = g_strdup_printf("Compare · %s", project->name);
    const struct layout_crumb crumbs[] = {{project->name, project_url}, {"Compare", NULL}};
    const struct layout layout = {.title = title,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .project = project->name,
                                  .room = "/compare",
                                  .version = context_of(request)->version};
    const char *const sides[3] = {given(request, "base"), given(request, "head"),
                                  given(request, "also")};
    Html *html = html_new();
    layout_begin(html, &layout);
    html_literal(html, "<div class=\"heading\"><h1>Compare</h1></div><section class=\"card\">");
    compare_sides_write(html, snapshot, project, sides);
    html_literal(html, "</section>");
    layout_end(html, &layout);
    return html;
}

void page_compare_choose(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    if (!project)
        return;
    const char *base = given(request, "base"), *head = given(request, "head");
    if (base && head) {
        g_autofree char *path =
            link_compare_also(project->name, base, head, given(request, "also"));
        http_response_header(request, "Location", path);
        http_respond_empty(request, 302);
        return;
    }
    if (http_not_modified(request, store_version(snapshot, project), HTTP_HTML))
        return;
    Html *html = render(request, snapshot, project);
    store_snapshot_end(g_steal_pointer(&snapshot));
    layout_send(request, html);
}
