/* SPDX-License-Identifier: Apache-2.0
 * The results of the commit page, with the plain difference to the nearest measured ancestor. No
 * verdict: whether a difference is more than noise is not said here. The request's thread. */
#include "server/pages/commit_view.h"

#include "server/pages/link.h"
#include "server/pages/series_parts.h"

#include <math.h>
#include <string.h>

#define RESULTS_ALL_MAX 20000u

struct metric_count {
    const struct store_series *metric;
    guint n_results;
};

static bool is_metric(const struct store_series *series, const struct store_series *metric)
{
    return strcmp(series->metric, metric->metric) == 0 && strcmp(series->unit, metric->unit) == 0;
}

static const struct commit_result *result_at(const GArray *results, guint i)
{
    return &g_array_index(results, struct commit_result, i);
}

/* At most RUN_METRICS_MAX names are counted; further ones are shown under "all". */
static GArray *count_metrics(const GArray *results)
{
    GArray *counts = g_array_new(FALSE, FALSE, sizeof(struct metric_count));
    for (guint i = 0; i < results->len; i++) {
        const struct store_series *series = result_at(results, i)->series;
        guint k = 0;
        while (k < counts->len &&
               !is_metric(series, g_array_index(counts, struct metric_count, k).metric))
            k++;
        if (k == counts->len && k < RUN_METRICS_MAX) {
            struct metric_count count = {.metric = series};
            g_array_append_val(counts, count);
        }
        if (k < counts->len)
            g_array_index(counts, struct metric_count, k).n_results++;
    }
    return counts;
}

/* What the address asks for ("all": NULL), else items_per_second where it is there, else real_time,
 * else the most frequent. */
static const struct store_series *choose_metric(const HttpRequest *request, const GArray *counts)
{
    const char *asked = http_request_query(request, "metric");
    if (g_strcmp0(asked, "all") == 0)
        return NULL;
    const char *const wished[] = {asked ? asked : "", "items_per_second", "real_time"};
    const struct metric_count *best = NULL;
    for (guint w = 0; w < G_N_ELEMENTS(wished); w++) {
        for (guint i = 0; i < counts->len; i++) {
            const struct metric_count *count = &g_array_index(counts, struct metric_count, i);
            if (strcmp(count->metric->metric, wished[w]) == 0)
                return count->metric;
            best = !best || count->n_results > best->n_results ? count : best;
        }
    }
    return best ? best->metric : NULL;
}

static void write_choice(Html *html, const char *metric, guint n_results, bool is_current)
{
    g_autofree char *url = link_query(NULL, "metric", metric);
    html_literal(html, "<a class=\"button\"");
    html_url(html, "href", url);
    if (is_current)
        html_literal(html, " aria-current=\"true\"");
    html_print(html, ">%s <span class=\"n\">%u</span></a>", metric, n_results);
}

static void write_choices(Html *html, const struct commit_view *view, const GArray *counts,
                          const struct store_series *metric)
{
    if (counts->len < 2)
        return;
    html_literal(html, "<nav class=\"choices\" aria-label=\"Metric\">");
    for (guint i = 0; i < counts->len; i++) {
        const struct metric_count *count = &g_array_index(counts, struct metric_count, i);
        write_choice(html, count->metric->metric, count->n_results, count->metric == metric);
    }
    write_choice(html, "all", view->results->results->len, metric == NULL);
    html_literal(html, "</nav>");
}

static struct layout_value shown_value(const struct commit_point *point)
{
    return (struct layout_value){point->center,       point->low,      point->high,
                                 point->has_interval, point->censored, point->n};
}

static void write_difference(Html *html, const struct commit_result *result)
{
    if (!result->base_commit) {
        html_literal(html, "<td class=\"num none\">no earlier value</td><td></td>");
        return;
    }
    html_literal(html, "<td class=\"num\">");
    if (result->base.center == 0 || result->base.censored != 0 || result->value.censored != 0) {
        html_literal(html, "<span class=\"none\">–</span>");
    } else {
        char text[QUANTITY_TEXT_BYTES];
        quantity_ratio((result->value.center - result->base.center) / fabs(result->base.center),
                       text);
        html_print(html, "<span class=\"value\">%s</span>", text);
    }
    html_literal(html, "</td><td>");
    layout_commit(html, result->base_commit);
    html_literal(html, "</td>");
}

/* Columns that would say the same in every row are left out. */
struct shown_columns {
    bool machine, metric;
};

static void write_row(Html *html, const struct commit_result *result,
                      const struct shown_columns *columns)
{
    struct quantity_scale scale =
        quantity_scale_for(result->series->unit, fabs(result->value.center));
    struct layout_value value = shown_value(&result->value);
    html_literal(html, "<tr>");
    series_parts_write(html, result->series, columns->machine);
    if (columns->metric)
        html_print(html, "<td>%s</td>", result->series->metric);
    html_literal(html, "<td class=\"num\">");
    layout_value(html, &value, &scale);
    html_literal(html, "</td><td class=\"unit\">");
    series_parts_unit(html, result->series, &scale);
    if (result->value.flagged)
        html_literal(html, " <span class=\"tag warn\">flagged</span>");
    html_literal(html, "</td>");
    write_difference(html, result);
    html_literal(html, "</tr>");
}

static GArray *filter_results(const GArray *results, const struct store_series *metric)
{
    GArray *kept = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < results->len; i++) {
        if (!metric || is_metric(result_at(results, i)->series, metric))
            g_array_append_val(kept, i);
    }
    return kept;
}

static bool has_many_machines(const GPtrArray *runs)
{
    for (guint i = 1; i < runs->len; i++) {
        if (((const struct store_run *)g_ptr_array_index(runs, i))->machine !=
            ((const struct store_run *)g_ptr_array_index(runs, 0))->machine)
            return true;
    }
    return false;
}

static void write_rows(Html *html, const struct commit_view *view, const GArray *kept,
                       const struct layout_paging *paging, bool with_metric)
{
    const struct shown_columns columns = {has_many_machines(view->results->runs), with_metric};
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                       "aria-label=\"Results\"><table><thead><tr>"
                       "<th scope=\"col\">Benchmark</th><th scope=\"col\">Parameters</th>");
    if (with_metric)
        html_literal(html, "<th scope=\"col\">Metric</th>");
    html_literal(html, "<th scope=\"col\" class=\"num\">Value</th><th scope=\"col\">Unit</th>"
                       "<th scope=\"col\" class=\"num\">Difference</th><th scope=\"col\">To "
                       "commit</th></tr></thead><tbody>");
    for (guint i = paging->first; i < paging->end; i++)
        write_row(html, result_at(view->results->results, g_array_index(kept, guint, i)), &columns);
    html_literal(html, "</tbody></table></div>");
}

void commit_table_write(Html *html, const struct commit_view *view)
{
    const GArray *results = view->results->results;
    if (results->len == 0)
        return;
    g_autoptr(GArray) counts = count_metrics(results);
    const struct store_series *metric = choose_metric(view->request, counts);
    g_autoptr(GArray) kept = filter_results(results, metric);
    struct layout_paging paging =
        layout_paging_of(view->request, "page", kept->len, RESULTS_ALL_MAX);
    html_literal(html, "<section class=\"card\"><h2>Results</h2><p class=\"muted\">Median of the "
                       "commit’s runs with its "
                       "95 % interval. The difference is to the nearest ancestor with a value of "
                       "the same series: a "
                       "difference, not a verdict.</p>");
    write_choices(html, view, counts, metric);
    write_rows(html, view, kept, &paging, metric == NULL);
    layout_pager(html, view->request, &paging, "Results");
    html_literal(html, "</section>");
}

void commit_errors_write(Html *html, const struct commit_view *view)
{
    if (view->errors->len == 0)
        return;
    struct layout_paging paging =
        layout_paging_of(view->request, "errors", view->errors->len, RESULTS_ALL_MAX);
    html_print(html, "<section class=\"card\"><h2>Errors <span class=\"n\">%u</span></h2>",
               view->errors->len);
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                       "aria-label=\"Errors\"><table><thead><tr>"
                       "<th scope=\"col\">Benchmark</th><th scope=\"col\">Parameters</th><th "
                       "scope=\"col\">What went "
                       "wrong</th></tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++) {
        const struct store_result_error *error =
            (const struct store_result_error *)g_ptr_array_index(view->errors, i);
        g_autoptr(GPtrArray) params = run_params_parse(error->params_text);
        html_print(html, "<tr><th scope=\"row\">%s</th><td class=\"params\">", error->bench);
        for (guint k = 0; params && k < params->len; k++) {
            const struct run_param *param = (const struct run_param *)g_ptr_array_index(params, k);
            html_print(html, "<span><i>%s</i> %s</span> ", param->name, param->value);
        }
        html_print(html, "</td><td class=\"message\">%s</td></tr>", error->message);
    }
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, view->request, &paging, "Errors");
    html_literal(html, "</section>");
}
