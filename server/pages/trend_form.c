/* SPDX-License-Identifier: Apache-2.0
 * A plain GET form: every choice is a query parameter, so it works without script; with it a change
 * submits. The request's thread. */
#include "server/pages/layout.h"
#include "server/pages/trend_view.h"

#include "server/pages/link.h"
#include "server/pages/trend_norm.h"

#include <string.h>

#define CHIPS_MAX 40u /* beyond it a facet is a list box */

static void write_metric(Html *html, const struct trend_view *view)
{
    const Selection *selection = view->selection;
    html_literal(
        html,
        "<label class=\"field\"><span class=\"legend\">metric</span><select name=\"metric\">");
    for (guint i = 0; i < selection->metrics->len; i++) {
        const struct store_series *metric =
            (const struct store_series *)g_ptr_array_index(selection->metrics, i);
        g_autofree char *key = selection_metric_key(selection, metric);
        html_literal(html, "<option");
        html_attr(html, "value", key);
        if (metric == selection->metric)
            html_literal(html, " selected");
        html_literal(html, ">");
        html_text(html, metric->metric);
        if (*metric->unit)
            html_print(html, " (%s)", metric->unit);
        html_literal(html, "</option>");
    }
    html_literal(html, "</select></label>");
}

static const char *value_label(const struct facet_value *value)
{
    return *value->text ? value->text : "none";
}

static void write_chip(Html *html, const struct facet *facet, const struct facet_value *value)
{
    html_print(html, "<label class=\"%s\"><input type=\"checkbox\"",
               value->is_reachable ? "chip" : "chip dim");
    html_attr(html, "name", facet->query_name);
    html_attr(html, "value", value->text);
    if (value->is_chosen)
        html_literal(html, " checked");
    html_literal(html, "><span>");
    html_text(html, value_label(value));
    html_literal(html, "</span></label>");
}

static void write_list_box(Html *html, const struct facet *facet)
{
    html_literal(html, "<select multiple size=\"5\"");
    html_attr(html, "name", facet->query_name);
    html_attr(html, "aria-label", facet->name);
    html_literal(html, ">");
    for (guint i = 0; i < facet->values->len; i++) {
        const struct facet_value *value = &g_array_index(facet->values, struct facet_value, i);
        layout_option(html, value->text, value_label(value), value->is_chosen);
    }
    html_literal(html, "</select>");
}

static void write_facet(Html *html, const struct facet *facet)
{
    if (facet->values->len == 0)
        return;
    html_literal(html, "<fieldset class=\"field\"><legend>");
    html_text(html, facet->name);
    html_literal(html, "</legend><div class=\"chips\">");
    if (facet->values->len > CHIPS_MAX)
        write_list_box(html, facet);
    for (guint i = 0; facet->values->len <= CHIPS_MAX && i < facet->values->len; i++)
        write_chip(html, facet, &g_array_index(facet->values, struct facet_value, i));
    html_literal(html, "</div></fieldset>");
}

static void write_switch(Html *html, const char *name, const char *label, bool is_on)
{
    html_literal(html, "<label class=\"chip\"><input type=\"checkbox\" value=\"1\"");
    html_attr(html, "name", name);
    if (is_on)
        html_literal(html, " checked");
    html_literal(html, "><span>");
    html_text(html, label);
    html_literal(html, "</span></label>");
}

static void write_norm(Html *html, const struct trend_view *view)
{
    static const struct {
        enum trend_norm norm;
        const char *says;
    } choices[] = {{TREND_NORM_NONE, "as measured"},
                   {TREND_NORM_FIRST, "% of the first shown"},
                   {TREND_NORM_REFERENCE, "% of the reference"}};
    html_literal(
        html, "<label class=\"field\"><span class=\"legend\">values</span><select name=\"norm\">");
    for (guint i = 0; i < G_N_ELEMENTS(choices); i++)
        layout_option(html, trend_norm_name(choices[i].norm), choices[i].says,
                      view->wanted.norm == choices[i].norm);
    html_literal(html, "</select></label>");
}

static void write_hidden(Html *html, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    html_literal(html, "<input type=\"hidden\"");
    html_attr(html, "name", name);
    html_attr(html, "value", value);
    html_literal(html, ">");
}

void trend_form_write(Html *html, const struct trend_view *view)
{
    html_literal(html, "<form class=\"card choose\" method=\"get\" id=\"choose\">");
    write_metric(html, view);
    for (guint i = 0; i < view->selection->facets->len; i++)
        write_facet(html, (const struct facet *)g_ptr_array_index(view->selection->facets, i));
    write_norm(html, view);
    html_literal(html, "<fieldset class=\"field\"><legend>axes</legend><div class=\"chips\">");
    write_switch(html, "zero", "from zero", view->from_zero);
    write_switch(html, "log", "logarithmic", view->log);
    write_switch(html, "time", "by time", view->timed);
    if (view->data->has_other_branches || view->wanted.with_branches)
        write_switch(html, "branches", "other branches", view->wanted.with_branches);
    html_literal(html, "</div></fieldset>");
    write_hidden(html, "branch", view->wanted.branch);
    write_hidden(html, "from", view->wanted.from);
    write_hidden(html, "to", view->wanted.to);
    write_hidden(html, "commits", view->wanted.all_columns ? "all" : NULL);
    g_autofree char *reset = link_bench(view->project->name, view->benchmark->name);
    html_literal(
        html,
        "<div class=\"actions\"><button type=\"submit\">Show</button><a class=\"button quiet\"");
    html_url(html, "href", reset);
    html_literal(html, ">Reset</a></div></form>\n");
}
