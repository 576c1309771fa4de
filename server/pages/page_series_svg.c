/* SPDX-License-Identifier: Apache-2.0
 * /chart/series/{id}.svg: one series as a picture for a wiki or a chat; ?theme= and ?width= say how
 * it looks there. A worker thread. */
#include "server/pages/chart.h"
#include "server/pages/chart_theme.h"
#include "server/pages/layout.h"
#include "server/pages/trend_annotations.h"
#include "server/routes.h"

#include <string.h>

#define COLUMNS_MAX   400u
#define WIDTH_DEFAULT 1100
#define WIDTH_MIN     240
#define WIDTH_MAX     2400

struct look {
    enum chart_theme theme;
    int64_t width;
};

static struct store_series *find_series(HttpRequest *request, StoreSnapshot *snapshot)
{
    const char *text = http_request_segment(request, "series");
    char *end = NULL;
    gint64 id = g_ascii_strtoll(text, &end, 10);
    bool is_number = end != text && (*end == '\0' || strcmp(end, ".svg") == 0);
    struct store_series *series = is_number ? store_series_by_id(snapshot, id) : NULL;
    if (!series)
        http_respond_status(request, 404, "No series has the id “%s”; /api/series lists them.",
                            text);
    return series;
}

static char *name_of(const struct store_series *series)
{
    g_autoptr(GString) name = g_string_new(series->benchmark->name);
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(series->params, i);
        g_string_append_printf(name, " · %s %s", param->name, param->value);
    }
    g_string_append_printf(name, " · %s", series->machine->name);
    return g_string_free(g_steal_pointer(&name), FALSE);
}

/* The measured commits only: a picture without a table has no use for gaps. */
static void fill(const struct store_series *series, const GArray *points, GArray *shown,
                 GArray *columns)
{
    guint first = points->len > COLUMNS_MAX ? points->len - COLUMNS_MAX : 0;
    for (guint i = first; i < points->len; i++) {
        const struct commit_point *point = &g_array_index(points, struct commit_point, i);
        const struct store_commit *commit = (const struct store_commit *)g_ptr_array_index(
            series->project->commits, point->position);
        struct chart_point drawn = {.column = i - first,
                                    .center = point->center,
                                    .low = point->low,
                                    .high = point->high,
                                    .has_interval = point->has_interval};
        struct chart_column column = {.label = commit->sha};
        g_array_append_val(shown, drawn);
        g_array_append_val(columns, column);
    }
}

static int compare_columns(gconstpointer a, gconstpointer b)
{
    const struct chart_annotation *left = (const struct chart_annotation *)a;
    const struct chart_annotation *right = (const struct chart_annotation *)b;
    return (left->first > right->first) - (left->first < right->first);
}

/* What is said of the series at the columns, by column; the newest ones where there are too many.
 */
static GArray *annotations_of(StoreSnapshot *snapshot, const struct store_series *series,
                              const GArray *points)
{
    g_autoptr(GArray) positions = g_array_new(FALSE, FALSE, sizeof(guint));
    GArray *shown = g_array_new(FALSE, FALSE, sizeof(struct chart_annotation));
    for (guint i = points->len > COLUMNS_MAX ? points->len - COLUMNS_MAX : 0; i < points->len; i++)
        g_array_append_val(positions, g_array_index(points, struct commit_point, i).position);
    const GPtrArray *all = series->project->annotations;
    for (guint i = all->len; i > 0 && shown->len < CHART_ANNOTATIONS_MAX; i--) {
        const struct store_annotation *annotation =
            (const struct store_annotation *)g_ptr_array_index(all, i - 1);
        struct chart_annotation drawn = {.text = annotation->text};
        if (store_annotation_applies(snapshot, annotation, series) &&
            trend_annotations_columns(annotation, positions, true, &drawn.first, &drawn.last))
            g_array_append_val(shown, drawn);
    }
    g_array_sort(shown, compare_columns);
    for (guint i = 0; i < shown->len; i++)
        g_array_index(shown, struct chart_annotation, i).number = i + 1;
    return shown;
}

static Html *render(StoreSnapshot *snapshot, const struct store_series *series,
                    const GArray *points, const struct look *look)
{
    g_autoptr(GArray) annotations = annotations_of(snapshot, series, points);
    g_autoptr(GArray) shown = g_array_new(FALSE, FALSE, sizeof(struct chart_point));
    g_autoptr(GArray) columns = g_array_new(FALSE, FALSE, sizeof(struct chart_column));
    fill(series, points, shown, columns);
    g_autofree char *name = name_of(series);
    g_autoptr(GStringChunk) labels = g_string_chunk_new(1024);
    for (guint i = 0; i < columns->len; i++) {
        struct chart_column *column = &g_array_index(columns, struct chart_column, i);
        column->label = g_string_chunk_insert_len(labels, column->label, 7);
    }
    struct chart_line line = {.name = name,
                              .points = (const struct chart_point *)(const void *)shown->data,
                              .n_points = shown->len};
    struct chart chart = {.title = name,
                          .summary = series->metric,
                          .lines = &line,
                          .n_lines = 1,
                          .columns = (const struct chart_column *)(const void *)columns->data,
                          .n_columns = columns->len,
                          .annotations =
                              (const struct chart_annotation *)(const void *)annotations->data,
                          .n_annotations = annotations->len,
                          .unit = series->unit,
                          .better = series->better,
                          .standalone = true,
                          .width = (guint)look->width,
                          .style = chart_theme_style(look->theme)};
    Html *html = html_new();
    chart_render(html, &chart);
    return html;
}

/* False: the request has been answered. */
static bool read_look(HttpRequest *request, struct look *look)
{
    const char *theme = http_request_query(request, "theme");
    g_autoptr(GError) error = NULL;
    if (theme && !chart_theme_parse(theme, &look->theme))
        http_respond_status(request, 400, "theme is “%s”; light, dark or auto would be right",
                            theme);
    else if (!http_query_integer(request, "width", WIDTH_MIN, WIDTH_MAX, &look->width, &error))
        http_respond_error(request, error, NULL);
    else
        return true;
    return false;
}

void page_series_svg(HttpRequest *request)
{
    struct look look = {CHART_THEME_LIGHT, WIDTH_DEFAULT};
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_series *series = snapshot ? find_series(request, snapshot) : NULL;
    if (!series || !read_look(request, &look))
        return;
    http_response_embeddable(request, chart_theme_style(look.theme));
    if (http_not_modified(request, store_version(snapshot, series->project), HTTP_SVG))
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) points =
        trend_series_points(snapshot, series->id, trend_branch_of(series->project, NULL), &error);
    Html *html = points ? render(snapshot, series, points, &look) : NULL;
    store_snapshot_end(g_steal_pointer(&snapshot));
    if (html)
        http_respond(request, 200, HTTP_SVG, html_finish(html));
    else
        http_respond_error(request, error, NULL);
}
