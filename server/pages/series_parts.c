/* SPDX-License-Identifier: Apache-2.0
 * See series_parts.h. The request's thread. */
#include "server/pages/series_parts.h"

#include "server/pages/chart.h"
#include "server/pages/link.h"

#include <math.h>

char *series_parts_url(const struct store_series *series)
{
    g_autofree char *path = link_bench(series->project->name, series->benchmark->name);
    g_autoptr(GString) url = g_string_new(path);
    g_string_append(url, "?metric=");
    http_append_encoded(url, series->metric);
    g_string_append(url, "&machine=");
    http_append_encoded(url, series->machine->name);
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(series->params, i);
        g_string_append(url, "&param.");
        http_append_encoded(url, param->name);
        g_string_append_c(url, '=');
        http_append_encoded(url, param->value);
    }
    return g_string_free(g_steal_pointer(&url), FALSE);
}

static void write_link(Html *html, const struct store_series *series)
{
    g_autofree char *url = series_parts_url(series);
    html_literal(html, "<th scope=\"row\"><a");
    html_url(html, "href", url);
    html_literal(html, ">");
    html_text(html, series->benchmark->name);
    html_literal(html, "</a>");
}

void series_parts_params(Html *html, const struct store_series *series, bool with_machine)
{
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(series->params, i);
        html_print(html, "<span><i>%s</i> %s</span> ", param->name, param->value);
    }
    if (!with_machine)
        return;
    html_literal(html, "<span><i>machine</i> ");
    layout_machine(html, series->machine);
    html_literal(html, "</span>");
}

void series_parts_write(Html *html, const struct store_series *series, bool with_machine)
{
    write_link(html, series);
    html_literal(html, "</th><td class=\"params\">");
    series_parts_params(html, series, with_machine);
    html_literal(html, "</td>");
}

void series_parts_head(Html *html, const struct store_series *series)
{
    write_link(html, series);
    html_print(html, " %s<span class=\"sub params\">", series->metric);
    series_parts_params(html, series, true);
    html_literal(html, "</span></th>");
}

void series_parts_effect(Html *html, double effect, double low, double high)
{
    char text[QUANTITY_TEXT_BYTES], from[QUANTITY_TEXT_BYTES], to[QUANTITY_TEXT_BYTES];
    quantity_ratio(effect, text);
    html_print(html, "<span class=\"value\">%s</span>", text);
    if (!isfinite(low) || !isfinite(high))
        return;
    quantity_ratio(low, from);
    quantity_ratio(high, to);
    html_print(html, " <span class=\"interval\">%s … %s</span>", from, to);
}

void series_parts_unit(Html *html, const struct store_series *series,
                       const struct quantity_scale *scale)
{
    html_print(html, " <span class=\"unit\">%s", scale->label);
    if (series->better != BETTER_UNKNOWN) {
        html_literal(html, " <abbr");
        html_attr(html, "title", chart_direction(series->better));
        html_print(html, ">%s</abbr>", series->better == BETTER_HIGHER ? "↑" : "↓");
    }
    html_literal(html, "</span>");
}

void series_parts_move(Html *html, const struct store_series *series, double before, double after)
{
    struct quantity_scale scale = quantity_scale_for(series->unit, fmax(fabs(before), fabs(after)));
    char from[QUANTITY_TEXT_BYTES], to[QUANTITY_TEXT_BYTES];
    quantity_format(before, &scale, from);
    quantity_format(after, &scale, to);
    html_print(html, "%s → <span class=\"value\">%s</span>", from, to);
    series_parts_unit(html, series, &scale);
}

void series_parts_value(Html *html, const struct store_series *series, bool known, double value)
{
    if (!known) {
        html_literal(html, "<span class=\"none\">not measured</span>");
        return;
    }
    struct quantity_scale scale = quantity_scale_for(series->unit, fabs(value));
    char text[QUANTITY_TEXT_BYTES];
    quantity_format(value, &scale, text);
    html_print(html, "<span class=\"value\">%s</span>", text);
    series_parts_unit(html, series, &scale);
}

void series_parts_cells(Sheet *sheet, const struct store_series *series)
{
    g_autofree char *url = series_parts_url(series);
    g_autoptr(GString) params = g_string_new(NULL);
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(series->params, i);
        g_string_append_printf(params, "%s%s %s", i > 0 ? ", " : "", param->name, param->value);
    }
    sheet_link(sheet, series->benchmark->name, url);
    sheet_raw(sheet, series->params_text, params->str);
    sheet_text(sheet, series->machine->name);
    sheet_text(sheet, series->metric);
    sheet_text(sheet, series->unit);
    sheet_text(sheet, better_name(series->better));
}
