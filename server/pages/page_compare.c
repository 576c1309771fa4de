/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}/compare/{base}...{head}, or {base}...{head}...{also}: what a head says against a
 * base, or two heads; each side is a run's id, a branch, 7 digits or more of a sha, or a machine,
 * as comparison.h takes them. ?show=, ?q=, ?machine= and ?metric= choose among the rows. A worker
 * thread. */
#include "server/pages/compare_sheet.h"
#include "server/pages/compare_sides.h"
#include "server/pages/compare_table.h"
#include "server/pages/compare_view.h"
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/pages/series_words.h"
#include "server/routes.h"
#include "server/work/comparison_base.h"

#include <string.h>

#define DOTS "..."

static void write_side(Html *html, const char *term, const struct comparison_side *side)
{
    html_print(html, "<div><dt>%s</dt><dd>", term);
    if (side->branch)
        html_print(html, "branch %s, ", side->branch);
    if (side->machine && !side->run)
        html_print(html, "machine %s, ", side->machine->name);
    layout_commit(html, side->commit);
    html_literal(html, " ");
    layout_subject(html, side->commit);
    if (side->run)
        html_print(html, "<span class=\"sub\">run %s on %s</span>", side->run->id,
                   side->run->machine->name);
    html_literal(html, "</dd></div>");
}

static void write_against(Html *html, const struct compare_view *view, guint i)
{
    const Comparison *comparison = view->set->of[i];
    g_autofree char *against = comparison_base_words(comparison);
    g_autofree char *name = compare_side_name(&comparison->head);
    if (!against)
        return;
    html_print(html, "<div><dt>%s%s</dt><dd>", view->set->n > 1 ? name : "Compared with",
               view->set->n > 1 ? " is compared with" : "");
    layout_commit(html, comparison->measured);
    html_print(html, "<span class=\"sub\">%s</span></dd></div>", against);
}

static void write_sides(Html *html, const struct compare_view *view)
{
    static const char *const terms[COMPARISON_HEADS_MAX] = {"Head", "Also"};
    html_literal(html, "<section class=\"card\"><h2 class=\"visually-hidden\">What is "
                       "compared</h2><dl class=\"facts\">");
    write_side(html, "Base", &view->set->of[0]->base);
    for (guint i = 0; i < view->set->n; i++)
        write_side(html, terms[i], &view->set->of[i]->head);
    for (guint i = 0; i < view->set->n; i++)
        write_against(html, view, i);
    html_literal(html, "</dl><details class=\"fold say\"><summary>Compare others</summary>");
    compare_sides_write(html, view->snapshot, view->project, view->sides);
    html_literal(html, "</details></section>");
}

static void write_warnings(Html *html, const struct compare_view *view)
{
    guint n = 0;
    for (guint i = 0; i < view->set->n; i++) {
        const GPtrArray *warnings = view->set->of[i]->warnings;
        g_autofree char *name = compare_side_name(&view->set->of[i]->head);
        for (guint k = 0; k < warnings->len; k++) {
            if (n++ == 0)
                html_literal(html, "<section class=\"card warnings\"><h2>Before you trust "
                                   "this</h2><ul>");
            html_print(html, "<li>%s%s%s</li>", view->set->n > 1 ? name : "",
                       view->set->n > 1 ? ": " : "", (const char *)warnings->pdata[k]);
        }
    }
    if (n > 0)
        html_literal(html, "</ul></section>");
}

/* "3 slower, 1 faster"; of two heads each by its name. */
static void write_verdict(Html *html, const struct compare_view *view)
{
    html_literal(html, "<p id=\"verdict\">");
    for (guint i = 0; i < view->set->n; i++) {
        g_autofree char *words = compare_words(view->set->of[i]);
        g_autofree char *name = compare_side_name(&view->set->of[i]->head);
        if (view->set->n > 1)
            html_print(html, "%s<b>%s</b>: ", i > 0 ? " · " : "", name);
        html_text(html, words);
    }
    html_literal(html, "</p>");
}

static void write_exports(Html *html, const struct compare_view *view)
{
    static const char *const forms[][2] = {{".md", "Markdown"}, {".csv", "CSV"}};
    html_literal(html, "<nav class=\"neighbours\" aria-label=\"Take it along\">");
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        g_autofree char *url = layout_form_url(view->request, forms[i][0]);
        html_literal(html, "<a class=\"button\"");
        html_url(html, "href", url);
        html_print(html, ">%s</a>", forms[i][1]);
    }
    html_literal(html, "</nav>");
}

/* A sha is told in 8 digits, names as they are. */
static char *title_of(const struct compare_view *view)
{
    const Comparison *comparison = view->set->of[0];
    g_autofree char *base = compare_side_name(&comparison->base);
    g_autofree char *head = compare_side_name(&comparison->head);
    g_autofree char *also =
        view->set->n > 1 ? compare_side_name(&view->set->of[1]->head) : g_strdup("");
    return g_strconcat(base, DOTS, head, view->set->n > 1 ? DOTS : "", also, NULL);
}

static bool write_page(Html *html, const struct compare_view *view, GError **error)
{
    g_autofree char *project_url = link_project(view->project->name);
    g_autofree char *name = title_of(view);
    const struct layout_crumb crumbs[] = {{view->project->name, project_url}, {name, NULL}};
    g_autofree char *title = g_strdup_printf("%s · %s", name, view->project->name);
    const struct layout layout = {.title = title,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .project = view->project->name,
                                  .version = context_of(view->request)->version,
                                  .is_wide = true,
                                  .request = view->request};
    layout_begin(html, &layout);
    html_literal(html, "<div class=\"heading\"><h1>Compare</h1>");
    write_verdict(html, view);
    write_exports(html, view);
    html_literal(html, "</div>");
    write_warnings(html, view);
    write_sides(html, view);
    if (!compare_environment_write(html, view, error) ||
        !compare_table_differences(html, view, error))
        return false;
    compare_table_means(html, view);
    if (!compare_table_folded(html, view, error))
        return false;
    layout_end(html, &layout);
    return true;
}

struct rendered {
    Html *html;
    Sheet *sheet;
};

/* One of both, or neither with the error. */
static void render(struct compare_view *view, enum sheet_form form, struct rendered *out,
                   GError **error)
{
    struct store_filter filter = {0};
    if (view->metric) {
        filter.metrics = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(filter.metrics, g_strdup(view->metric));
    }
    const struct comparison_request wanted = {.project = view->project,
                                              .base = view->sides[0],
                                              .head = view->sides[1],
                                              .machine = view->machine,
                                              .filter = view->metric ? &filter : NULL};
    g_autoptr(ComparisonSet) set =
        comparison_set_new(view->snapshot, &wanted, view->sides[2], error);
    view->set = set;
    if (set && form != SHEET_HTML) {
        out->sheet = compare_sheet_new(view, form, error);
    } else if (set) {
        g_autoptr(Html) html = html_new();
        if (write_page(html, view, error))
            out->html = g_steal_pointer(&html);
    }
    store_filter_clear(&filter);
}

/* "base...head" or "base...head...also"; no git branch and no sha holds two dots in a row. */
static bool split(HttpRequest *request, char **out_sides)
{
    const char *range = http_request_segment(request, "range");
    g_auto(GStrv) parts = g_strsplit(range, DOTS, 0);
    guint n = g_strv_length(parts);
    bool fine = n == 2 || n == 3;
    for (guint i = 0; i < n; i++)
        fine = fine && *parts[i];
    for (guint i = 0; fine && i < n; i++)
        out_sides[i] = g_strdup(parts[i]);
    if (!fine)
        http_respond_status(request, 404,
                            "“%s” is no comparison; give base...head, or base...head...also, each "
                            "a run’s id, a branch, 7 digits or more of a sha, or a machine.",
                            range);
    return fine;
}

static const char *given(const HttpRequest *request, const char *name)
{
    const char *value = http_request_query(request, name);
    return value && *value ? value : NULL;
}

static struct compare_view view_of(HttpRequest *request, StoreSnapshot *snapshot)
{
    struct compare_view view = {.request = request,
                                .snapshot = snapshot,
                                .show = compare_show_of(http_request_query(request, "show")),
                                .text = http_request_query(request, "q"),
                                .machine = given(request, "machine"),
                                .metric = given(request, "metric")};
    view.words = series_words_of(view.text);
    view.text = view.words ? view.text : NULL;
    return view;
}

void page_compare(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    enum sheet_form form = sheet_form_of(request, false);
    g_auto(GStrv) sides = g_new0(char *, 2 + COMPARISON_HEADS_MAX);
    if (!project || !split(request, sides) ||
        http_not_modified(request, store_version(snapshot, project), sheet_type(form)))
        return;
    g_autoptr(GError) error = NULL;
    struct rendered rendered = {0};
    struct compare_view view = view_of(request, snapshot);
    view.project = project;
    for (guint i = 0; i < G_N_ELEMENTS(view.sides); i++)
        view.sides[i] = sides[i];
    render(&view, form, &rendered, &error);
    g_strfreev(view.words);
    store_snapshot_end(g_steal_pointer(&snapshot));
    sheet_respond(request, rendered.html, rendered.sheet, error);
}
