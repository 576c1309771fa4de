/* SPDX-License-Identifier: Apache-2.0
 * See trend_annotations.h. */
#include "server/pages/trend_annotations.h"
#include "server/pages/layout.h"

#include "server/pages/chart_annotation.h"
#include "server/pages/link.h"

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
    if (annotation->machine) {
        html_literal(html, "on ");
        layout_machine(html, annotation->machine);
        html_literal(html, " ");
    }
    if (annotation->who)
        html_print(html, "by %s, ", annotation->who);
    layout_time_ms(html, annotation->made_ms);
}

/* ---- Their list, and the forms beside it ----------------------------------------------------- */

/* Where a form leads back to: what is looked at now. */
static void write_form_start(Html *html, const struct trend_view *view, const char *class_name)
{
    const char *query = http_request_query_string(view->request);
    g_autofree char *back = g_strconcat("?", query, "#annotations", NULL);
    g_autofree char *action = link_annotations(view->project->name);
    html_literal(html, "<form method=\"post\"");
    html_attr(html, "class", class_name);
    html_url(html, "action", action);
    html_literal(html, "><input type=\"hidden\" name=\"page\"");
    html_attr(html, "value", view->benchmark->name);
    html_literal(html, "><input type=\"hidden\" name=\"back\"");
    html_attr(html, "value", back);
    html_literal(html, ">");
    layout_form_token(html);
}

static void write_item(Html *html, const struct trend_view *view,
                       const struct trend_annotation *shown)
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
    html_literal(html, "</span>");
    write_form_start(html, view, "inline");
    html_print(
        html,
        "<button name=\"remove\" value=\"%" G_GINT64_FORMAT
        "\" class=\"quiet\" aria-label=\"Remove annotation: %s\">Remove</button></form></li>",
        (gint64)annotation->id, annotation->text);
}

static void write_list(Html *html, const struct trend_view *view)
{
    const GArray *annotations = view->data->annotations;
    guint n_shown = MIN(annotations->len, CHART_ANNOTATIONS_MAX);
    html_print(html, "<div id=\"annotation-list\"><h2>Annotations <span class=\"n\">%u</span></h2>",
               annotations->len);
    if (n_shown > 0)
        html_literal(html, "<ol>");
    for (guint i = 0; i < n_shown; i++)
        write_item(html, view, &g_array_index(annotations, struct trend_annotation, i));
    if (n_shown > 0)
        html_literal(html, "</ol>");
    if (annotations->len > n_shown)
        html_print(html, "<p class=\"muted\">and %u further ones, not drawn</p>",
                   annotations->len - n_shown);
    html_literal(html, "</div>");
}

/* Of all benchmarks and machines, or of what is drawn. */
static void write_scope(Html *html, const struct trend_view *view)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    html_literal(html, "<label class=\"field\"><span class=\"legend\">Benchmark</span><select "
                       "name=\"bench\"><option value=\"\">all</option>");
    layout_option(html, view->benchmark->name, view->benchmark->name, false);
    html_literal(html, "</select></label><label class=\"field\"><span "
                       "class=\"legend\">Machine</span><select name=\"machine\"><option "
                       "value=\"\">all</option>");
    for (guint i = 0; i < view->data->lines->len; i++) {
        struct store_machine *machine =
            ((const struct trend_line *)view->data->lines->pdata[i])->series->machine;
        if (g_hash_table_add(seen, machine))
            layout_option(html, machine->name, machine->name, false);
    }
    html_literal(html, "</select></label>");
}

static void write_form(Html *html, const struct trend_view *view)
{
    const TrendData *data = view->data;
    html_literal(html, "<details class=\"fold\"><summary>Annotate a commit or a range</summary>");
    write_form_start(html, view, "triage");
    html_literal(
        html, "<label class=\"field wide\"><span class=\"legend\">Text</span><input type=\"text\" "
              "name=\"text\" maxlength=\"1000\" required></label><label class=\"field\"><span "
              "class=\"legend\">Commit</span><input type=\"text\" name=\"commit\" "
              "id=\"annotate-commit\" maxlength=\"64\" required");
    if (data->view_end > data->view_first)
        html_attr(
            html, "value",
            g_array_index(data->columns, struct trend_column, data->view_end - 1).commit->sha);
    html_literal(html,
                 "></label><label class=\"field\"><span class=\"legend\">Last commit of a range "
                 "(optional)</span><input type=\"text\" name=\"to\" id=\"annotate-to\" "
                 "maxlength=\"64\"></label>");
    write_scope(html, view);
    layout_form_who(html, "Who");
    html_literal(html,
                 "<span class=\"field "
                 "buttons\"><button type=\"submit\">Annotate</button></span></form></details>");
}

void trend_annotations_write(Html *html, const struct trend_view *view)
{
    html_literal(html, "<section class=\"card\" id=\"annotations\">");
    write_list(html, view);
    write_form(html, view);
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
