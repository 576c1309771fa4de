/* SPDX-License-Identifier: Apache-2.0
 * See series_choice.h. */
#include "server/pages/series_choice.h"
#include "server/pages/layout.h"

#include "server/pages/link.h"
#include "server/pages/selection.h"
#include "server/pages/series_words.h"

#include <string.h>

#define PARAM_PREFIX "param."

/* ---- Which ----------------------------------------------------------------------------------- */

/* Whether a name of the address is asked for at all, and whether with this value. */
struct asked {
    bool any, hit;
};

static struct asked ask(const GPtrArray *pairs, const char *name, const char *value)
{
    struct asked asked = {false, false};
    for (guint i = 0; i < pairs->len; i++) {
        const struct http_pair *pair = (const struct http_pair *)pairs->pdata[i];
        if (strcmp(pair->name, name) != 0 || !*pair->value)
            continue;
        asked.any = true;
        asked.hit = asked.hit || strcmp(pair->value, value) == 0;
    }
    return asked;
}

static const char *param_of(const struct store_series *series, const char *name)
{
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param = (const struct run_param *)series->params->pdata[i];
        if (strcmp(param->name, name) == 0)
            return param->value;
    }
    return "";
}

/* The names of the parameters that are asked for, each once. */
static GPtrArray *params_asked(const GPtrArray *pairs)
{
    GPtrArray *names = g_ptr_array_new();
    for (guint i = 0; i < pairs->len; i++) {
        const char *name = ((const struct http_pair *)pairs->pdata[i])->name;
        if (g_str_has_prefix(name, PARAM_PREFIX) &&
            !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
            g_ptr_array_add(names, (gpointer)(gsize)name);
    }
    return names;
}

static bool takes_params(const GPtrArray *pairs, const GPtrArray *names,
                         const struct store_series *series)
{
    for (guint i = 0; i < names->len; i++) {
        const char *name = (const char *)names->pdata[i];
        struct asked asked = ask(pairs, name, param_of(series, name + strlen(PARAM_PREFIX)));
        if (asked.any && !asked.hit)
            return false;
    }
    return true;
}

static const struct store_series *preferred(const struct store_benchmark *benchmark)
{
    const struct store_series *best = NULL;
    for (guint i = 0; i < benchmark->series->len; i++) {
        const struct store_series *series =
            (const struct store_series *)benchmark->series->pdata[i];
        if (!best || selection_compare_metrics(series, best) < 0)
            best = series;
    }
    return best;
}

static int compare_ids(gconstpointer a, gconstpointer b)
{
    const struct store_series *left = *(const struct store_series *const *)a;
    const struct store_series *right = *(const struct store_series *const *)b;
    return left->id < right->id ? -1 : left->id > right->id;
}

static void take_of(GPtrArray *taken, const struct store_benchmark *benchmark,
                    const struct store_machine *machine, const char *metric)
{
    const struct store_series *like = preferred(benchmark);
    guint first = taken->len;
    for (guint i = 0; i < benchmark->series->len; i++) {
        struct store_series *series = (struct store_series *)benchmark->series->pdata[i];
        bool is_metric = metric ? strcmp(series->metric, metric) == 0
                                : selection_compare_metrics(series, like) == 0;
        if (is_metric && (!machine || series->machine == machine))
            g_ptr_array_add(taken, series);
    }
    if (taken->len > first + 1)
        qsort(&taken->pdata[first], taken->len - first, sizeof(gpointer), compare_ids);
}

GPtrArray *series_choice_read(const HttpRequest *request, const struct store_project *project,
                              const struct store_machine *machine)
{
    const GPtrArray *pairs = http_request_query_pairs(request);
    const char *metric = http_request_query(request, "metric");
    g_auto(GStrv) words = series_words_of(http_request_query(request, "q"));
    g_autoptr(GPtrArray) names = params_asked(pairs);
    g_autoptr(GPtrArray) taken = g_ptr_array_new();
    for (guint i = 0; i < project->benchmarks->len; i++) {
        const struct store_benchmark *benchmark =
            (const struct store_benchmark *)project->benchmarks->pdata[i];
        struct asked asked = ask(pairs, "bench", benchmark->name);
        if (asked.any == asked.hit)
            take_of(taken, benchmark, machine, metric && *metric ? metric : NULL);
    }
    GPtrArray *found = g_ptr_array_new();
    for (guint i = 0; i < taken->len; i++) {
        const struct store_series *series = (const struct store_series *)taken->pdata[i];
        if (takes_params(pairs, names, series) && series_words_hold(series, words))
            g_ptr_array_add(found, taken->pdata[i]);
    }
    return found;
}

const struct store_machine *series_choice_machine(const HttpRequest *request,
                                                  const struct store_project *project)
{
    const char *asked = http_request_query(request, "machine");
    const GPtrArray *runs = project->runs;
    if (asked && (!*asked || strcmp(asked, SERIES_CHOICE_ALL) == 0))
        return NULL;
    for (guint i = 0; asked && i < project->series->len; i++) {
        const struct store_series *series = (const struct store_series *)project->series->pdata[i];
        if (strcmp(series->machine->name, asked) == 0)
            return series->machine;
    }
    return runs->len > 0 ? ((const struct store_run *)runs->pdata[runs->len - 1])->machine : NULL;
}

/* ---- The form -------------------------------------------------------------------------------- */

static void write_hidden(Html *html, const struct http_pair *pair)
{
    html_literal(html, "<input type=\"hidden\"");
    html_attr(html, "name", pair->name);
    html_attr(html, "value", pair->value);
    html_literal(html, ">");
}

void series_choice_form_begin(Html *html, const HttpRequest *request, const char *label,
                              const char *const *fields)
{
    const GPtrArray *pairs = http_request_query_pairs(request);
    html_literal(html, "<form id=\"choose\" class=\"filter\" method=\"get\"");
    html_attr(html, "aria-label", label);
    html_literal(html, ">");
    for (guint i = 0; i < pairs->len; i++) {
        const struct http_pair *pair = (const struct http_pair *)pairs->pdata[i];
        if (strcmp(pair->name, "page") != 0 && !g_strv_contains(fields, pair->name))
            write_hidden(html, pair);
    }
}

void series_choice_select(Html *html, const char *name, const char *label, const GPtrArray *texts,
                          const char *chosen, const char *empty)
{
    html_print(html, "<div class=\"field\"><label class=\"legend\" for=\"by-%s\">%s</label>", name,
               label);
    html_print(html, "<select id=\"by-%s\" name=\"%s\">", name, name);
    for (guint i = 0; i < texts->len; i++) {
        const char *text = (const char *)texts->pdata[i];
        layout_option(html, text, *text ? text : empty, g_strcmp0(text, chosen) == 0);
    }
    html_literal(html, "</select></div>");
}

void series_choice_search(Html *html, const HttpRequest *request)
{
    const char *words = http_request_query(request, "q");
    html_literal(html, "<div class=\"field\"><label class=\"legend\" for=\"find\">Find</label>"
                       "<input type=\"search\" id=\"find\" name=\"q\" "
                       "placeholder=\"benchmark, threads=4, …\"");
    html_attr(html, "value", words ? words : "");
    html_literal(html, "></div>");
}

/* The address without this one of the pairs, on its first page. */
static char *link_without(const GPtrArray *pairs, const struct http_pair *without)
{
    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    for (guint i = 0; i < pairs->len; i++)
        if (pairs->pdata[i] != without)
            g_ptr_array_add(kept, pairs->pdata[i]);
    return link_query(kept, "page", NULL);
}

void series_choice_form_end(Html *html, const HttpRequest *request)
{
    const GPtrArray *pairs = http_request_query_pairs(request);
    html_literal(html, "<button type=\"submit\">Show</button>");
    for (guint i = 0; i < pairs->len; i++) {
        const struct http_pair *pair = (const struct http_pair *)pairs->pdata[i];
        bool is_param = g_str_has_prefix(pair->name, PARAM_PREFIX);
        if (!*pair->value || !(is_param || strcmp(pair->name, "bench") == 0))
            continue;
        const char *name = is_param ? pair->name + strlen(PARAM_PREFIX) : "benchmark";
        g_autofree char *url = link_without(pairs, pair);
        html_literal(html, "<a class=\"button\"");
        html_url(html, "href", url);
        html_print(html, " aria-label=\"Without %s %s\">%s %s ×</a>", name, pair->value, name,
                   pair->value);
    }
    html_literal(html, "</form>");
}

static int compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "" and the keys in order. */
static GPtrArray *texts_of(GHashTable *set)
{
    GPtrArray *texts = g_ptr_array_new();
    GHashTableIter iterator;
    gpointer key;
    g_hash_table_iter_init(&iterator, set);
    while (g_hash_table_iter_next(&iterator, &key, NULL))
        g_ptr_array_add(texts, key);
    g_ptr_array_sort(texts, compare_texts);
    g_ptr_array_insert(texts, 0, (gpointer)(gsize) "");
    return texts;
}

GPtrArray *series_choice_machines(const struct store_project *project)
{
    g_autoptr(GHashTable) set = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < project->series->len; i++)
        g_hash_table_add(set,
                         ((const struct store_series *)project->series->pdata[i])->machine->name);
    return texts_of(set);
}

GPtrArray *series_choice_metrics(const struct store_project *project)
{
    g_autoptr(GHashTable) set = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < project->series->len; i++)
        g_hash_table_add(set, ((const struct store_series *)project->series->pdata[i])->metric);
    return texts_of(set);
}
