/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}/b/{bench}: how a benchmark moved, commit by commit. A worker thread. */
#include "server/pages/chart.h"
#include "server/pages/layout.h"
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/pages/share.h"
#include "server/pages/trend_annotations.h"
#include "server/pages/trend_norm.h"
#include "server/pages/trend_view.h"
#include "server/routes.h"

#include <math.h>
#include <string.h>

struct rendered {
    Html *html;
    Sheet *sheet;
};

static bool query_is_on(const HttpRequest *request, const char *name)
{
    const char *value = http_request_query(request, name);
    return value && *value && strcmp(value, "0") != 0;
}

static struct trend_request wanted_of(const HttpRequest *request)
{
    const char *branch = http_request_query(request, "branch");
    return (struct trend_request){
        .branch = branch && *branch ? branch : NULL,
        .from = http_request_query(request, "from"),
        .to = http_request_query(request, "to"),
        .at = http_request_query(request, "at"),
        .with = http_request_query(request, "with"),
        .norm = trend_norm_parse(http_request_query(request, "norm")),
        .with_branches = query_is_on(request, "branches"),
        .all_columns = g_strcmp0(http_request_query(request, "commits"), "all") == 0};
}

/* y=0.9..1.2: that part of the y axis; anything else is passed over. */
static void read_window(struct trend_view *view)
{
    const char *text = http_request_query(view->request, "y");
    g_auto(GStrv) ends = g_strsplit(text ? text : "", "..", 3);
    if (g_strv_length(ends) != 2)
        return;
    for (guint i = 0; i < 2; i++) {
        char *rest;
        view->window[i] = g_ascii_strtod(ends[i], &rest);
        if (rest == ends[i] || *rest || !isfinite(view->window[i]))
            return;
    }
    view->has_window = view->window[0] < view->window[1];
}

void trend_view_read(struct trend_view *view)
{
    view->wanted = wanted_of(view->request);
    view->from_zero = query_is_on(view->request, "zero");
    view->log = query_is_on(view->request, "log");
    view->timed = query_is_on(view->request, "time");
    read_window(view);
}

static struct quantity_scale scale_of(const TrendData *data, const char *unit)
{
    double magnitude = 0;
    for (guint i = 0; i < data->lines->len; i++) {
        const GArray *points =
            ((const struct trend_line *)g_ptr_array_index(data->lines, i))->points;
        for (guint k = 0; k < points->len; k++)
            magnitude =
                MAX(magnitude, fabs(g_array_index(points, struct trend_point, k).value.center));
    }
    return quantity_scale_for(unit, magnitude);
}

#define MACHINES_MAX 8u

/* Whose lines are drawn. */
static void write_machines(Html *html, const Selection *selection)
{
    g_autoptr(GPtrArray) machines = g_ptr_array_new();
    for (guint i = 0; i < selection->series->len; i++) {
        struct store_machine *machine =
            ((const struct store_series *)selection->series->pdata[i])->machine;
        if (!g_ptr_array_find(machines, machine, NULL))
            g_ptr_array_add(machines, machine);
    }
    for (guint i = 0; i < machines->len && i < MACHINES_MAX; i++) {
        if (i == 0)
            html_literal(html, "<p>measured on ");
        else
            html_literal(html, ", ");
        layout_machine(html, (const struct store_machine *)machines->pdata[i]);
    }
    if (machines->len > MACHINES_MAX)
        html_print(html, " and %u more", machines->len - MACHINES_MAX);
    if (machines->len > 0)
        html_literal(html, "</p>");
}

static void write_heading(Html *html, const struct trend_view *view)
{
    g_autofree char *common = selection_common_name(view->selection);
    html_literal(html, "<div class=\"heading\"><h1>");
    html_text(html, view->benchmark->name);
    html_literal(html, "</h1><p class=\"muted\">");
    html_text(html, common);
    html_literal(html, "</p>");
    write_machines(html, view->selection);
    html_literal(html, "</div>\n");
}

/* Nothing to draw is said with what would change it. */
static void write_nothing(Html *html, const struct trend_view *view)
{
    g_autofree char *reset = link_bench(view->project->name, view->benchmark->name);
    html_literal(html, "<section class=\"card notice\"><h2>No series matches this choice</h2>");
    for (guint i = 0; i < view->selection->facets->len; i++) {
        const struct facet *facet =
            (const struct facet *)g_ptr_array_index(view->selection->facets, i);
        const char *asked = http_request_query(view->request, facet->query_name);
        if (facet->is_explicit && asked)
            html_print(html, "<p>%s is asked to be <code>%s</code>.</p>", facet->name,
                       *asked ? asked : "none");
    }
    html_literal(html, "<p>Choose other values above, or <a");
    html_url(html, "href", reset);
    html_literal(html, ">start from the default choice</a>.</p></section>\n");
}

/* The whole choice goes along, so that what is framed is what is seen; a picture is of one line. */
static void write_share(Html *html, const struct trend_view *view)
{
    g_autofree char *query = link_query(http_request_query_pairs(view->request), "theme", NULL);
    g_autofree char *bench = link_bench(view->project->name, view->benchmark->name);
    g_autofree char *page = g_strconcat(bench, query[1] ? query : "", NULL);
    g_autofree char *embed = g_strconcat("/embed", page, NULL);
    g_autofree char *badge = share_badge_path(view->project->name, view->benchmark->name);
    const struct store_series *first =
        ((const struct trend_line *)g_ptr_array_index(view->data->lines, 0))->series;
    g_autofree char *picture =
        g_strdup_printf("/chart/series/%" G_GINT64_FORMAT ".svg?theme=auto", (gint64)first->id);
    const struct share share = {.name = view->benchmark->name,
                                .page = page,
                                .badge = badge,
                                .embed = embed,
                                .picture = view->data->lines->len == 1 ? picture : NULL};
    share_write(html, view->request, &share);
}

static void write_body(Html *html, const struct trend_view *view)
{
    write_heading(html, view);
    trend_form_write(html, view);
    if (view->data->lines->len == 0) {
        write_nothing(html, view);
        return;
    }
    trend_figure_write(html, view);
    trend_annotations_write(html, view);
    trend_found_write(html, view);
    trend_table_write(html, view);
    write_share(html, view);
    trend_json_write(html, view);
}

static void write_page(const HttpRequest *request, Html *html, const struct trend_view *view)
{
    g_autofree char *project_url = link_project(view->project->name);
    const struct layout_crumb crumbs[] = {{view->project->name, project_url},
                                          {view->benchmark->name, NULL}};
    g_autofree char *title = g_strdup_printf("%s · %s", view->benchmark->name, view->project->name);
    const struct layout layout = {.title = title,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .project = view->project->name,
                                  .version = context_of(request)->version,
                                  .is_wide = true,
                                  .request = request};
    layout_begin(html, &layout);
    write_body(html, view);
    layout_end(html, &layout);
}

/* What the form asks for: *out_html, or *out_sheet; neither with the error. */
static bool render(StoreSnapshot *snapshot, struct trend_view *view, enum sheet_form form,
                   struct rendered *out, GError **error)
{
    g_autoptr(Selection) selection =
        selection_new(view->benchmark, http_request_query_pairs(view->request));
    view->selection = selection;
    g_autoptr(TrendData) data =
        trend_data_new(snapshot, view->project, selection, &view->wanted, error);
    if (!data)
        return false;
    view->data = data;
    view->scale = scale_of(data, selection->metric ? selection->metric->unit : "");
    if (form != SHEET_HTML) {
        out->sheet = trend_sheet_new(view, form);
        return true;
    }
    out->html = html_new();
    write_page(view->request, out->html, view);
    return true;
}

void page_trend(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    if (!snapshot)
        return;
    struct trend_view view = {.request = request};
    trend_view_read(&view);
    view.project = page_find_project(request, snapshot);
    view.benchmark = view.project ? page_find_benchmark(request, view.project) : NULL;
    if (!view.benchmark)
        return;
    enum sheet_form form = sheet_form_of(request, page_benchmark_is_whole(request, view.project));
    if (http_not_modified(request, store_version(snapshot, view.project), sheet_type(form)))
        return;
    g_autoptr(GError) error = NULL;
    struct rendered rendered = {0};
    render(snapshot, &view, form, &rendered, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    sheet_respond(request, rendered.html, rendered.sheet, error);
}
