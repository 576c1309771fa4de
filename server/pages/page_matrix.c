/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}/matrix: results side by side, in one of three views (?view=): executors × cells of a
 * commit with the curves of efficiency, benchmarks × the last commits, benchmarks × machines. A
 * worker thread. */
#include "server/pages/link.h"
#include "server/pages/matrix_view.h"
#include "server/pages/page_names.h"
#include "server/pages/trend_data.h"
#include "server/routes.h"

#include <math.h>
#include <string.h>

#define SHADE_BASE 1.26 /* a class for each tenth of a decade behind the best */

static const struct matrix_kind {
    const char *value; /* of ?view=; NULL: where none is asked for */
    const char *name;
    bool (*write)(Html *html, const struct matrix_view *view, GError **error);
} kinds[] = {
    {NULL, "Executors", matrix_executors_write},
    {"commits", "Commits", matrix_commits_write},
    {"machines", "Machines", matrix_machines_write},
};

static const struct matrix_kind *kind_of(const HttpRequest *request)
{
    const char *asked = http_request_query(request, "view");
    for (guint i = 1; asked && i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(asked, kinds[i].value) == 0)
            return &kinds[i];
    return &kinds[0];
}

guint matrix_shade(double value, double best, enum better better)
{
    if (value <= 0 || best <= 0 || better == BETTER_UNKNOWN)
        return MATRIX_SHADES;
    double behind = better == BETTER_LOWER ? value / best : best / value;
    double steps = log(MAX(behind, 1)) / log(SHADE_BASE);
    return (guint)MIN(steps, MATRIX_SHADES);
}

void matrix_choice_write(Html *html, const struct matrix_view *view, const char *name,
                         const char *value, bool is_chosen)
{
    const GPtrArray *pairs = http_request_query_pairs(view->request);
    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    for (guint i = 0; i < pairs->len; i++)
        if (strcmp(((const struct http_pair *)pairs->pdata[i])->name, "page") != 0)
            g_ptr_array_add(kept, pairs->pdata[i]);
    g_autofree char *url = link_query(kept, name, value);
    html_literal(html, "<a class=\"button\"");
    html_url(html, "href", url);
    html_print(html, "%s>%s</a>", is_chosen ? " aria-current=\"true\"" : "", value);
}

/* The views lead to each other without what only one of them understands. */
static void write_heading(Html *html, const struct matrix_view *view,
                          const struct matrix_kind *kind)
{
    g_autofree char *project_url = link_project(view->project->name);
    html_literal(html, "<div class=\"heading\"><h1>Matrix</h1><nav class=\"choices\" "
                       "aria-label=\"View\">");
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autofree char *url = g_strconcat(project_url, "/matrix", kinds[i].value ? "?view=" : "",
                                           kinds[i].value, NULL);
        html_literal(html, "<a class=\"button\"");
        html_url(html, "href", url);
        html_print(html, "%s>%s</a>", kind == &kinds[i] ? " aria-current=\"page\"" : "",
                   kinds[i].name);
    }
    html_literal(html, "</nav></div>");
}

static Html *render(HttpRequest *request, StoreSnapshot *snapshot,
                    const struct store_project *project, GError **error)
{
    const struct matrix_view view = {.request = request,
                                     .snapshot = snapshot,
                                     .project = project,
                                     .branch = trend_branch_of(project, NULL)};
    const struct matrix_kind *kind = kind_of(request);
    g_autoptr(Html) html = html_new();
    g_autofree char *project_url = link_project(project->name);
    g_autofree char *title = g_strdup_printf("Matrix · %s", project->name);
    const struct layout_crumb crumbs[] = {{project->name, project_url}, {"Matrix", NULL}};
    const struct layout layout = {.title = title,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .project = project->name,
                                  .room = "/matrix",
                                  .version = context_of(request)->version,
                                  .is_wide = true};
    layout_begin(html, &layout);
    write_heading(html, &view, kind);
    if (!kind->write(html, &view, error))
        return NULL;
    layout_end(html, &layout);
    return g_steal_pointer(&html);
}

void page_matrix(HttpRequest *request)
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
