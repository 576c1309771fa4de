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
    bool (*sheet)(Sheet *sheet, const struct matrix_view *view, GError **error);
} kinds[] = {
    {NULL, "Executors", matrix_executors_write, matrix_executors_sheet},
    {"commits", "Commits", matrix_commits_write, matrix_commits_sheet},
    {"machines", "Machines", matrix_machines_write, matrix_machines_sheet},
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
    if (is_chosen)
        html_literal(html, " aria-current=\"true\"");
    html_print(html, ">%s</a>", value);
}

void matrix_flag_write(Html *html)
{
    html_literal(html, " <span class=\"tag warn\"><span aria-hidden=\"true\">!</span><span "
                       "class=\"visually-hidden\">flagged</span></span>");
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
        if (kind == &kinds[i])
            html_literal(html, " aria-current=\"page\"");
        html_print(html, ">%s</a>", kinds[i].name);
    }
    html_literal(html, "</nav></div>");
}

static bool write_page(Html *html, const struct matrix_view *view, const struct matrix_kind *kind,
                       GError **error)
{
    g_autofree char *project_url = link_project(view->project->name);
    g_autofree char *title = g_strdup_printf("Matrix · %s", view->project->name);
    const struct layout_crumb crumbs[] = {{view->project->name, project_url}, {"Matrix", NULL}};
    const struct layout layout = {.title = title,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .project = view->project->name,
                                  .room = "/matrix",
                                  .version = context_of(view->request)->version,
                                  .is_wide = true,
                                  .request = view->request};
    layout_begin(html, &layout);
    write_heading(html, view, kind);
    if (!kind->write(html, view, error))
        return false;
    layout_end(html, &layout);
    return true;
}

/* One of both, or neither with the error. */
static void render(const struct matrix_view *view, enum sheet_form form, Html **out_html,
                   Sheet **out_sheet, GError **error)
{
    const struct matrix_kind *kind = kind_of(view->request);
    g_autofree char *title = g_strdup_printf("%s · matrix by %s", view->project->name, kind->name);
    g_autoptr(Html) html = form == SHEET_HTML ? html_new() : NULL;
    g_autoptr(Sheet) sheet = html ? NULL : sheet_new(view->request, form, title);
    if (html && write_page(html, view, kind, error))
        *out_html = g_steal_pointer(&html);
    if (sheet && kind->sheet(sheet, view, error))
        *out_sheet = g_steal_pointer(&sheet);
}

void page_matrix(HttpRequest *request)
{
    enum sheet_form form = sheet_form_of(request, false);
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    if (!project || http_not_modified(request, store_version(snapshot, project), sheet_type(form)))
        return;
    const struct matrix_view view = {.request = request,
                                     .snapshot = snapshot,
                                     .project = project,
                                     .branch = trend_branch_of(project, NULL)};
    g_autoptr(GError) error = NULL;
    Html *html = NULL;
    Sheet *sheet = NULL;
    render(&view, form, &html, &sheet, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    sheet_respond(request, html, sheet, error);
}
