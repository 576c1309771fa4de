/* SPDX-License-Identifier: Apache-2.0
 * See trend_annotations.h. */
#include "server/pages/trend_annotations.h"

#include "server/pages/chart_annotation.h"

bool trend_annotations_columns(const struct store_annotation *annotation, const GArray *positions,
                               bool gaps, guint *out_first, guint *out_last)
{
    guint low = MIN(annotation->first->position, annotation->last->position);
    guint high = MAX(annotation->first->position, annotation->last->position);
    guint n = positions->len, first = 0;
    while (first < n && g_array_index(positions, guint, first) < low)
        first++;
    guint end = first;
    while (end < n && g_array_index(positions, guint, end) <= high)
        end++;
    *out_first = first;
    *out_last = end > first ? end - 1 : first;
    bool is_between = gaps && first > 0 && first < n && annotation->last->line != STORE_LINE_OFF;
    return end > first || is_between;
}

static bool is_of_lines(StoreSnapshot *snapshot, const struct store_annotation *annotation,
                        const Selection *selection)
{
    for (guint i = 0; i < selection->series->len; i++)
        if (store_annotation_applies(
                snapshot, annotation,
                (const struct store_series *)g_ptr_array_index(selection->series, i)))
            return true;
    return false;
}

static int compare_columns(gconstpointer a, gconstpointer b)
{
    const struct trend_annotation *left = (const struct trend_annotation *)a;
    const struct trend_annotation *right = (const struct trend_annotation *)b;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    return (left->annotation->id > right->annotation->id) -
           (left->annotation->id < right->annotation->id);
}

void trend_annotations_read(TrendData *data, StoreSnapshot *snapshot,
                            const struct store_project *project, const Selection *selection)
{
    g_autoptr(GArray) positions = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < data->columns->len; i++)
        g_array_append_val(positions,
                           g_array_index(data->columns, struct trend_column, i).commit->position);
    for (guint i = 0; i < project->annotations->len; i++) {
        struct trend_annotation shown = {
            .annotation =
                (const struct store_annotation *)g_ptr_array_index(project->annotations, i)};
        if (is_of_lines(snapshot, shown.annotation, selection) &&
            trend_annotations_columns(shown.annotation, positions, false, &shown.first,
                                      &shown.last))
            g_array_append_val(data->annotations, shown);
    }
    g_array_sort(data->annotations, compare_columns);
}

void trend_annotations_facts(Html *html, const struct store_annotation *annotation)
{
    const struct store_benchmark *benchmark = store_annotation_benchmark(annotation);
    if (benchmark)
        html_print(html, "of %s ", benchmark->name);
    if (annotation->machine)
        html_print(html, "on %s ", annotation->machine->name);
    if (annotation->who)
        html_print(html, "by %s, ", annotation->who);
    layout_time_ms(html, annotation->made_ms);
}

static void write_item(Html *html, const struct trend_annotation *shown)
{
    const struct store_annotation *annotation = shown->annotation;
    html_literal(html, "<li>");
    html_text(html, annotation->text);
    html_literal(html, "<span class=\"sub\">");
    layout_commit(html, annotation->first);
    if (annotation->last != annotation->first) {
        html_literal(html, " to ");
        layout_commit(html, annotation->last);
    }
    html_literal(html, " ");
    trend_annotations_facts(html, annotation);
    html_literal(html, "</span></li>");
}

void trend_annotations_write(Html *html, const struct trend_view *view)
{
    const GArray *annotations = view->data->annotations;
    if (annotations->len == 0)
        return;
    guint n_shown = MIN(annotations->len, CHART_ANNOTATIONS_MAX);
    html_print(html,
               "<section class=\"card\" id=\"annotations\"><h2>Annotations <span "
               "class=\"n\">%u</span></h2><ol>",
               annotations->len);
    for (guint i = 0; i < n_shown; i++)
        write_item(html, &g_array_index(annotations, struct trend_annotation, i));
    html_literal(html, "</ol>");
    if (annotations->len > n_shown)
        html_print(html, "<p class=\"muted\">and %u further ones, not drawn</p>",
                   annotations->len - n_shown);
    html_literal(html, "</section>\n");
}

void trend_annotations_json(Html *html, const TrendData *data)
{
    guint n_shown = MIN(data->annotations->len, CHART_ANNOTATIONS_MAX);
    for (guint i = 0; i < n_shown; i++) {
        const struct trend_annotation *shown =
            &g_array_index(data->annotations, struct trend_annotation, i);
        html_print(html, "%s[%u,%u,%u,", i > 0 ? "," : "", shown->first, shown->last, i + 1);
        html_json_string(html, shown->annotation->text);
        html_literal(html, "]");
    }
}
