/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}/compare/{base}...{head}: what a head says against a base; each side is a run's id, a
 * branch, or 7 digits or more of a sha. A worker thread. */
#include "server/pages/compare_table.h"
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/routes.h"
#include "server/work/comparison_base.h"

#include <string.h>

#define DOTS "..."

static void write_side(Html *html, const char *term, const struct comparison_side *side)
{
    html_print(html, "<div><dt>%s</dt><dd>", term);
    if (side->branch)
        html_print(html, "branch %s, ", side->branch);
    layout_commit(html, side->commit);
    html_literal(html, " ");
    layout_subject(html, side->commit);
    if (side->run)
        html_print(html, "<span class=\"sub\">run %s on %s</span>", side->run->id,
                   side->run->machine->name);
    html_literal(html, "</dd></div>");
}

static void write_sides(Html *html, const Comparison *comparison)
{
    html_literal(html, "<section class=\"card\"><h2 class=\"visually-hidden\">What is "
                       "compared</h2><dl class=\"facts\">");
    write_side(html, "Base", &comparison->base);
    write_side(html, "Head", &comparison->head);
    g_autofree char *against = comparison_base_words(comparison);
    if (against) {
        html_literal(html, "<div><dt>Compared with</dt><dd>");
        layout_commit(html, comparison->measured);
        html_print(html, "<span class=\"sub\">%s</span></dd></div>", against);
    }
    html_literal(html, "</dl></section>");
}

static void write_warnings(Html *html, const Comparison *comparison)
{
    if (comparison->warnings->len == 0)
        return;
    html_literal(html, "<section class=\"card warnings\"><h2>Before you trust this</h2><ul>");
    for (guint i = 0; i < comparison->warnings->len; i++)
        html_print(html, "<li>%s</li>", (const char *)comparison->warnings->pdata[i]);
    html_literal(html, "</ul></section>");
}

static void write_page(HttpRequest *request, Html *html, const Comparison *comparison)
{
    g_autofree char *project_url = link_project(comparison->project->name);
    g_autofree char *words = compare_words(comparison);
    g_autofree char *name = g_strdup_printf("%.8s" DOTS "%.8s", comparison->base.commit->sha,
                                            comparison->head.commit->sha);
    const struct layout_crumb crumbs[] = {{comparison->project->name, project_url}, {name, NULL}};
    g_autofree char *title = g_strdup_printf("%s · %s", name, comparison->project->name);
    const struct layout layout = {.title = title,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .version = context_of(request)->version,
                                  .is_wide = true};
    layout_begin(html, &layout);
    html_literal(html, "<div class=\"heading\"><h1>Compare</h1><p id=\"verdict\">");
    html_text(html, words);
    html_literal(html, "</p></div>");
    write_warnings(html, comparison);
    write_sides(html, comparison);
    compare_table_differences(html, comparison);
    compare_table_means(html, comparison);
    compare_table_folded(html, comparison);
    layout_end(html, &layout);
}

static Html *render(HttpRequest *request, StoreSnapshot *snapshot,
                    const struct comparison_request *wanted, GError **error)
{
    g_autoptr(Comparison) comparison = comparison_new(snapshot, wanted, error);
    if (!comparison)
        return NULL;
    Html *html = html_new();
    write_page(request, html, comparison);
    return html;
}

/* "base...head" in two; no git branch and no sha holds two dots in a row. */
static bool split(HttpRequest *request, char **out_base, char **out_head)
{
    const char *range = http_request_segment(request, "range");
    const char *dots = strstr(range, DOTS);
    if (!dots || dots == range || !dots[strlen(DOTS)]) {
        http_respond_status(request, 404,
                            "“%s” is no comparison; give base...head, each a run’s id, a branch, "
                            "or 7 digits or more of a sha.",
                            range);
        return false;
    }
    *out_base = g_strndup(range, (gsize)(dots - range));
    *out_head = g_strdup(dots + strlen(DOTS));
    return true;
}

void page_compare(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    g_autofree char *base = NULL, *head = NULL;
    if (!project || !split(request, &base, &head) ||
        http_not_modified(request, store_version(snapshot, project), HTTP_HTML))
        return;
    const struct comparison_request wanted = {.project = project,
                                              .base = base,
                                              .head = head,
                                              .machine = http_request_query(request, "machine")};
    g_autoptr(GError) error = NULL;
    Html *html = render(request, snapshot, &wanted, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    if (html)
        layout_send(request, html);
    else
        http_respond_error(request, error, NULL);
}
