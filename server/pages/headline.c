/* SPDX-License-Identifier: Apache-2.0
 * One series is read for each row of a list, so a list's cost is its rows. The request's thread,
 * inside its snapshot. */
#include "server/pages/headline.h"

#include "server/pages/chart.h"
#include "server/pages/trend_data.h"

#include <math.h>

void headline_free(Headline *headline)
{
    if (!headline)
        return;
    g_free(headline->label);
    if (headline->points)
        g_array_unref(headline->points);
    g_free(headline);
}

static char *label_of(const Selection *selection, const struct store_series *series)
{
    g_autoptr(GString) label = g_string_new(NULL);
    for (guint i = 1; i < selection->facets->len; i++) {
        const struct facet *facet = (const struct facet *)g_ptr_array_index(selection->facets, i);
        const char *value = selection_series_value(facet, series);
        if (*value)
            g_string_append_printf(label, "%s%s %s", label->len > 0 ? " · " : "", facet->name,
                                   value);
    }
    return g_string_free(g_steal_pointer(&label), FALSE);
}

Headline *headline_of_benchmark(StoreSnapshot *snapshot, const struct store_benchmark *benchmark,
                                const char *branch, GError **error)
{
    g_autoptr(Headline) headline = g_new0(Headline, 1);
    g_autoptr(Selection) selection = selection_new(benchmark, NULL);
    for (guint i = 0; i < selection->series->len; i++) {
        struct store_series *series =
            (struct store_series *)g_ptr_array_index(selection->series, i);
        if (!headline->series || series->n_points > headline->series->n_points)
            headline->series = series;
    }
    if (!headline->series)
        return g_steal_pointer(&headline);
    headline->label = label_of(selection, headline->series);
    headline->points = trend_series_points(snapshot, headline->series->id, branch, error);
    if (!headline->points)
        return NULL;
    if (headline->points->len > HEADLINE_POINTS_MAX)
        g_array_remove_range(headline->points, 0, headline->points->len - HEADLINE_POINTS_MAX);
    return g_steal_pointer(&headline);
}

Headline *headline_of_project(StoreSnapshot *snapshot, const struct store_project *project,
                              const char *branch, GError **error)
{
    const struct store_series *latest = NULL;
    for (guint i = 0; i < project->series->len; i++) {
        const struct store_series *series =
            (const struct store_series *)g_ptr_array_index(project->series, i);
        if (!latest || series->last_run_seq > latest->last_run_seq ||
            (series->last_run_seq == latest->last_run_seq && series->n_points > latest->n_points))
            latest = series;
    }
    return latest ? headline_of_benchmark(snapshot, latest->benchmark, branch, error)
                  : g_new0(Headline, 1);
}

static const struct commit_point *last_point(const Headline *headline)
{
    return headline->points && headline->points->len > 0
               ? &g_array_index(headline->points, struct commit_point, headline->points->len - 1)
               : NULL;
}

struct store_commit *headline_commit(const Headline *headline)
{
    const struct commit_point *point = last_point(headline);
    const GPtrArray *commits = point ? headline->series->project->commits : NULL;
    return commits && point->position < commits->len
               ? (struct store_commit *)g_ptr_array_index(commits, point->position)
               : NULL;
}

void headline_write_value(Html *html, const Headline *headline)
{
    const struct commit_point *point = last_point(headline);
    if (!point) {
        html_literal(html, "<span class=\"none\">no data</span>");
        return;
    }
    struct quantity_scale scale = quantity_scale_for(headline->series->unit, fabs(point->center));
    const struct layout_value value = {point->center,       point->low,      point->high,
                                       point->has_interval, point->censored, 0};
    layout_value(html, &value, &scale);
    html_literal(html, " <span class=\"unit\">");
    html_text(html, scale.label);
    if (headline->series->better != BETTER_UNKNOWN) {
        html_literal(html, " <abbr");
        html_attr(html, "title", chart_direction(headline->series->better));
        html_print(html, ">%s</abbr>", headline->series->better == BETTER_HIGHER ? "↑" : "↓");
    }
    html_literal(html, "</span>");
}

void headline_write_spark(Html *html, const Headline *headline)
{
    double values[HEADLINE_POINTS_MAX];
    guint n_values = 0;
    for (guint i = 0;
         headline->points && i < headline->points->len && n_values < HEADLINE_POINTS_MAX; i++)
        values[n_values++] = g_array_index(headline->points, struct commit_point, i).center;
    g_autofree char *label =
        n_values > 0 ? g_strdup_printf("Last %u values of %s", n_values, headline->label) : NULL;
    chart_sparkline(html, values, n_values, label);
}
