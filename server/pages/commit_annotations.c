/* SPDX-License-Identifier: Apache-2.0
 * What people said of the commit, or of a range that it lies in. The request's thread. */
#include "server/pages/commit_view.h"

#include "server/pages/chart_annotation.h"
#include "server/pages/trend_annotations.h"

static bool is_shown(const struct store_annotation *annotation, const struct store_commit *commit)
{
    guint low = MIN(annotation->first->position, annotation->last->position);
    guint high = MAX(annotation->first->position, annotation->last->position);
    return annotation->removed_ms == 0 && commit->position >= low && commit->position <= high;
}

void commit_annotations_write(Html *html, const struct commit_view *view)
{
    const GPtrArray *annotations = view->commit->project->annotations;
    guint n_shown = 0;
    for (guint i = annotations->len; i > 0 && n_shown < CHART_ANNOTATIONS_MAX; i--) {
        const struct store_annotation *annotation =
            (const struct store_annotation *)g_ptr_array_index(annotations, i - 1);
        if (!is_shown(annotation, view->commit))
            continue;
        if (n_shown++ == 0)
            html_literal(html,
                         "<section class=\"card\" id=\"annotations\"><h2>Annotations</h2><ul>");
        html_literal(html, "<li>");
        html_text(html, annotation->text);
        html_literal(html, "<span class=\"sub\">");
        trend_annotations_facts(html, annotation);
        html_literal(html, "</span></li>");
    }
    if (n_shown > 0)
        html_literal(html, "</ul></section>");
}
