/* SPDX-License-Identifier: Apache-2.0
 * Facets are counted, and values found again, with hash tables, so the cost is series times
 * facets, of which there are at most SELECTION_FACETS_MAX, whatever runs bring: one parameter with
 * 20,000 values, or 20,000 parameters. The request's thread, inside its snapshot. */
#include "server/pages/selection.h"

#include "server/pages/chart.h"

#include "schema/number.h"

#include <stdlib.h>
#include <string.h>

static void facet_free(gpointer data)
{
    struct facet *facet = (struct facet *)data;
    g_free(facet->name);
    g_free(facet->query_name);
    g_hash_table_unref(facet->index);
    g_array_unref(facet->values);
    g_free(facet);
}

void selection_free(Selection *selection)
{
    if (!selection)
        return;
    g_ptr_array_unref(selection->metrics);
    g_ptr_array_unref(selection->facets);
    g_ptr_array_unref(selection->series);
    g_free(selection);
}

const char *selection_series_value(const struct facet *facet, const struct store_series *series)
{
    if (strcmp(facet->query_name, "machine") == 0)
        return series->machine->name;
    guint low = 0, high = series->params->len; /* sorted by name */
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const struct run_param *param = (const struct run_param *)series->params->pdata[middle];
        int order = strcmp(param->name, facet->name);
        if (order == 0)
            return param->value;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return "";
}

/* ---- The metric
 * ----------------------------------------------------------------------------------------------------
 */

static gboolean is_same_metric(const struct store_series *a, const struct store_series *b)
{
    return strcmp(a->metric, b->metric) == 0 && strcmp(a->unit, b->unit) == 0;
}

static int metric_rank(const struct store_series *series)
{
    static const char *const ranked[] = {"items_per_second", "real_time", "bytes_per_second"};
    int rank = 0;
    while (rank < (int)G_N_ELEMENTS(ranked) && strcmp(series->metric, ranked[rank]) != 0)
        rank++;
    return rank;
}

int selection_compare_metrics(const struct store_series *a, const struct store_series *b)
{
    if (metric_rank(a) != metric_rank(b))
        return metric_rank(a) - metric_rank(b);
    int by_name = strcmp(a->metric, b->metric);
    return by_name != 0 ? by_name : strcmp(a->unit, b->unit);
}

static int compare_metrics(gconstpointer a, gconstpointer b)
{
    return selection_compare_metrics(*(const struct store_series *const *)a,
                                     *(const struct store_series *const *)b);
}

static guint hash_metric(gconstpointer key)
{
    const struct store_series *series = (const struct store_series *)key;
    return g_str_hash(series->metric) ^ (g_str_hash(series->unit) * 31u);
}

static gboolean equal_metric(gconstpointer a, gconstpointer b)
{
    return is_same_metric((const struct store_series *)a, (const struct store_series *)b);
}

static GPtrArray *collect_metrics(const struct store_benchmark *benchmark)
{
    GPtrArray *metrics = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(hash_metric, equal_metric);
    for (guint i = 0; i < benchmark->series->len; i++) {
        if (g_hash_table_add(seen, g_ptr_array_index(benchmark->series, i)))
            g_ptr_array_add(metrics, g_ptr_array_index(benchmark->series, i));
    }
    g_ptr_array_sort(metrics, compare_metrics);
    return metrics;
}

/* Whether the metric at this place, which may be outside, has that name. */
static bool has_name_at(const GPtrArray *metrics, guint place, const char *name)
{
    return place < metrics->len &&
           strcmp(((const struct store_series *)metrics->pdata[place])->metric, name) == 0;
}

/* Metrics are sorted, so those of one name are neighbours. */
char *selection_metric_key(const Selection *selection, const struct store_series *metric)
{
    const GPtrArray *metrics = selection->metrics;
    const gpointer *found = (const gpointer *)bsearch(&metric, metrics->pdata, metrics->len,
                                                      sizeof(gpointer), compare_metrics);
    guint place = found ? (guint)(found - metrics->pdata) : metrics->len;
    if (found && ((place > 0 && has_name_at(metrics, place - 1, metric->metric)) ||
                  has_name_at(metrics, place + 1, metric->metric)))
        return g_strdup_printf("%s|%s", metric->metric, metric->unit);
    return g_strdup(metric->metric);
}

static const struct store_series *choose_metric(const Selection *selection, const GPtrArray *pairs)
{
    for (guint k = 0; pairs && k < pairs->len; k++) {
        const struct http_pair *pair = (const struct http_pair *)g_ptr_array_index(pairs, k);
        for (guint i = 0; strcmp(pair->name, "metric") == 0 && i < selection->metrics->len; i++) {
            const struct store_series *metric =
                (const struct store_series *)g_ptr_array_index(selection->metrics, i);
            if (!g_str_has_prefix(pair->value, metric->metric))
                continue;
            g_autofree char *key = selection_metric_key(selection, metric);
            if (strcmp(key, pair->value) == 0 || strcmp(metric->metric, pair->value) == 0)
                return metric;
        }
    }
    return selection->metrics->len > 0
               ? (const struct store_series *)g_ptr_array_index(selection->metrics, 0)
               : NULL;
}

/* ---- The facets
 * ----------------------------------------------------------------------------------------------------
 */

static int compare_values(gconstpointer a, gconstpointer b)
{
    const char *left = ((const struct facet_value *)a)->text;
    const char *right = ((const struct facet_value *)b)->text;
    double left_number, right_number;
    if (number_parse(left, &left_number) && number_parse(right, &right_number) &&
        (left_number < right_number || left_number > right_number))
        return left_number < right_number ? -1 : 1;
    return strcmp(left, right);
}

static struct facet_value *facet_value_at(const struct facet *facet, guint i)
{
    return &g_array_index(facet->values, struct facet_value, i);
}

static struct facet_value *facet_find(const struct facet *facet, const char *text)
{
    guint place = GPOINTER_TO_UINT(g_hash_table_lookup(facet->index, text));
    return place > 0 ? facet_value_at(facet, place - 1) : NULL;
}

static void facet_index(struct facet *facet, const char *text, guint place)
{
    g_hash_table_insert(facet->index, (gpointer)(gsize)text, GUINT_TO_POINTER(place + 1));
}

/* The values' texts stay owned by the catalogue. */
static void facet_count(struct facet *facet, const GPtrArray *candidates)
{
    for (guint i = 0; i < candidates->len; i++) {
        const char *text = selection_series_value(
            facet, (const struct store_series *)g_ptr_array_index(candidates, i));
        struct facet_value *found = facet_find(facet, text);
        if (found) {
            found->n_series++;
            continue;
        }
        struct facet_value value = {.text = text, .n_series = 1};
        facet_index(facet, text, facet->values->len);
        g_array_append_val(facet->values, value);
    }
    g_array_sort(facet->values, compare_values);
    for (guint i = 0; i < facet->values->len; i++)
        facet_index(facet, facet_value_at(facet, i)->text, i);
}

static struct facet *facet_new(const char *name, const char *query_name)
{
    struct facet *facet = g_new0(struct facet, 1);
    facet->name = g_strdup(name);
    facet->query_name = g_strdup(query_name);
    facet->values = g_array_new(FALSE, FALSE, sizeof(struct facet_value));
    facet->index = g_hash_table_new(g_str_hash, g_str_equal);
    return facet;
}

static int compare_facet_names(gconstpointer a, gconstpointer b)
{
    return strcmp((*(const struct facet *const *)a)->name, (*(const struct facet *const *)b)->name);
}

#define PARAM_NAMES_MAX                                                                            \
    1024u /* that are counted: a benchmark with more has no use for them here                      \
           */

/* How many series have a parameter. */
struct param_use {
    const char *name;
    guint n_series;
};

static int compare_uses(gconstpointer a, gconstpointer b)
{
    const struct param_use *left = (const struct param_use *)a;
    const struct param_use *right = (const struct param_use *)b;
    if (left->n_series != right->n_series)
        return left->n_series > right->n_series ? -1 : 1;
    return strcmp(left->name, right->name);
}

/* The parameters' names, the commonest first: struct param_use. */
static GArray *count_params(const GPtrArray *candidates)
{
    g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal);
    GArray *uses = g_array_new(FALSE, FALSE, sizeof(struct param_use));
    for (guint i = 0; i < candidates->len; i++) {
        const GPtrArray *params = ((const struct store_series *)candidates->pdata[i])->params;
        for (guint k = 0; k < params->len; k++) {
            struct param_use use = {.name = ((const struct run_param *)params->pdata[k])->name};
            guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, use.name));
            if (place == 0 && uses->len == PARAM_NAMES_MAX)
                continue;
            if (place == 0) {
                g_array_append_val(uses, use);
                place = uses->len;
                g_hash_table_insert(places, (gpointer)(gsize)use.name, GUINT_TO_POINTER(place));
            }
            g_array_index(uses, struct param_use, place - 1).n_series++;
        }
    }
    g_array_sort(uses, compare_uses);
    return uses;
}

static GPtrArray *collect_facets(const GPtrArray *candidates)
{
    g_autoptr(GArray) uses = count_params(candidates);
    GPtrArray *facets = g_ptr_array_new_with_free_func(facet_free);
    for (guint i = 0; i < uses->len && i < SELECTION_FACETS_MAX; i++) {
        const char *name = g_array_index(uses, struct param_use, i).name;
        g_autofree char *query_name = g_strdup_printf("param.%s", name);
        g_ptr_array_add(facets, facet_new(name, query_name));
    }
    g_ptr_array_sort(facets, compare_facet_names);
    g_ptr_array_insert(facets, 0, facet_new("machine", "machine"));
    for (guint i = 0; i < facets->len; i++)
        facet_count((struct facet *)g_ptr_array_index(facets, i), candidates);
    return facets;
}

/* A value that no series has leaves the facet explicit with nothing chosen for it: an empty answer,
 * not another one. */
static void facet_choose_explicit(struct facet *facet, const GPtrArray *pairs)
{
    for (guint k = 0; pairs && k < pairs->len; k++) {
        const struct http_pair *pair = (const struct http_pair *)g_ptr_array_index(pairs, k);
        if (strcmp(pair->name, facet->query_name) != 0)
            continue;
        facet->is_explicit = true;
        struct facet_value *value = facet_find(facet, pair->value);
        if (value)
            value->is_chosen = true;
    }
}

static bool facet_has_chosen(const struct facet *facet, const struct store_series *series)
{
    const struct facet_value *value = facet_find(facet, selection_series_value(facet, series));
    return value && value->is_chosen;
}

static GPtrArray *keep_chosen(const struct facet *facet, const GPtrArray *candidates)
{
    GPtrArray *kept = g_ptr_array_new();
    for (guint i = 0; i < candidates->len; i++) {
        gpointer series = g_ptr_array_index(candidates, i);
        if (facet_has_chosen(facet, (const struct store_series *)series))
            g_ptr_array_add(kept, series);
    }
    return kept;
}

/* ---- What the address leaves open
 * ---------------------------------------------------------------------------------- */

static guint count_present_values(const struct facet *facet)
{
    guint n_present = 0;
    for (guint i = 0; i < facet->values->len; i++)
        n_present += *facet_value_at(facet, i)->text != '\0' ? 1 : 0;
    return n_present;
}

/* Machines are not spread by themselves: they are compared on request. Of two with as many values,
 * `threads` goes first. */
static struct facet *find_lines_facet(const Selection *selection)
{
    struct facet *lines = NULL;
    for (guint i = 1; i < selection->facets->len; i++) {
        struct facet *facet = (struct facet *)g_ptr_array_index(selection->facets, i);
        if (facet->is_explicit)
            continue;
        guint n = count_present_values(facet), most = lines ? count_present_values(lines) : 0;
        if (!lines || n > most || (n == most && strcmp(facet->name, "threads") == 0))
            lines = facet;
    }
    return lines;
}

/* Of several the first in the facet's order. */
static void facet_choose_largest(struct facet *facet, const GPtrArray *candidates)
{
    g_autofree guint *counts = g_new0(guint, facet->values->len + 1);
    guint largest = 0;
    for (guint i = 0; i < candidates->len; i++) {
        const struct store_series *series =
            (const struct store_series *)g_ptr_array_index(candidates, i);
        counts[facet_find(facet, selection_series_value(facet, series)) -
               facet_value_at(facet, 0)]++;
    }
    for (guint i = 1; i < facet->values->len; i++)
        largest = counts[i] > counts[largest] ? i : largest;
    if (facet->values->len > 0 && counts[largest] > 0)
        facet_value_at(facet, largest)->is_chosen = true;
}

/* The machine that was heard last, so that the page opens on what is alive. */
static void facet_choose_latest_machine(struct facet *facet, const GPtrArray *candidates)
{
    const struct store_series *latest = NULL;
    for (guint i = 0; i < candidates->len; i++) {
        const struct store_series *series =
            (const struct store_series *)g_ptr_array_index(candidates, i);
        if (!latest || series->last_run_seq > latest->last_run_seq)
            latest = series;
    }
    struct facet_value *value = latest ? facet_find(facet, latest->machine->name) : NULL;
    if (value)
        value->is_chosen = true;
}

static void facet_choose_all(struct facet *facet)
{
    for (guint i = 0; i < facet->values->len; i++)
        facet_value_at(facet, i)->is_chosen = true;
}

/* One facet may miss its choice: its value is what one click away leads to. */
static void mark_reachable(const Selection *selection, const struct store_series *series)
{
    struct facet *missed = NULL;
    for (guint i = 0; i < selection->facets->len; i++) {
        struct facet *facet = (struct facet *)g_ptr_array_index(selection->facets, i);
        if (facet_has_chosen(facet, series))
            continue;
        if (missed)
            return;
        missed = facet;
    }
    for (guint i = 0; i < selection->facets->len; i++) {
        struct facet *facet = (struct facet *)g_ptr_array_index(selection->facets, i);
        struct facet_value *value = facet_find(facet, selection_series_value(facet, series));
        if (value && (!missed || facet == missed))
            value->is_reachable = true;
    }
}

/* Explicit facets narrow first, so that the defaults are chosen among what is left. */
static GPtrArray *narrow_explicit(const Selection *selection, GPtrArray *candidates)
{
    for (guint i = 0; i < selection->facets->len; i++) {
        const struct facet *facet = (const struct facet *)g_ptr_array_index(selection->facets, i);
        if (!facet->is_explicit)
            continue;
        GPtrArray *kept = keep_chosen(facet, candidates);
        g_ptr_array_unref(candidates);
        candidates = kept;
    }
    return candidates;
}

static GPtrArray *choose_defaults(const Selection *selection, GPtrArray *candidates)
{
    struct facet *lines = find_lines_facet(selection);
    if (lines)
        facet_choose_all(lines);
    for (guint i = 0; i < selection->facets->len; i++) {
        struct facet *facet = (struct facet *)g_ptr_array_index(selection->facets, i);
        if (facet->is_explicit || facet == lines)
            continue;
        if (i == 0)
            facet_choose_latest_machine(facet, candidates);
        else
            facet_choose_largest(facet, candidates);
        GPtrArray *kept = keep_chosen(facet, candidates);
        g_ptr_array_unref(candidates);
        candidates = kept;
    }
    return candidates;
}

/* A series with the places of its values among their facets': looked up once, not for each
 * comparison of a sort. */
struct ranked {
    struct store_series *series;
    guint n_places, places[SELECTION_FACETS_MAX + 1];
};

static int compare_ranked(gconstpointer a, gconstpointer b)
{
    const struct ranked *left = (const struct ranked *)a, *right = (const struct ranked *)b;
    for (guint i = 0; i < left->n_places; i++)
        if (left->places[i] != right->places[i])
            return left->places[i] < right->places[i] ? -1 : 1;
    return left->series->id < right->series->id ? -1 : left->series->id > right->series->id;
}

static void sort_series(const Selection *selection, GPtrArray *candidates)
{
    g_autoptr(GArray) order =
        g_array_sized_new(FALSE, FALSE, sizeof(struct ranked), candidates->len);
    for (guint i = 0; i < candidates->len; i++) {
        struct ranked ranked = {.series = (struct store_series *)candidates->pdata[i],
                                .n_places = selection->facets->len};
        for (guint k = 0; k < ranked.n_places; k++) {
            const struct facet *facet = (const struct facet *)selection->facets->pdata[k];
            const struct facet_value *value =
                facet_find(facet, selection_series_value(facet, ranked.series));
            ranked.places[k] = (guint)(value - facet_value_at(facet, 0));
        }
        g_array_append_val(order, ranked);
    }
    g_array_sort(order, compare_ranked);
    for (guint i = 0; i < candidates->len; i++)
        candidates->pdata[i] = g_array_index(order, struct ranked, i).series;
}

Selection *selection_new(const struct store_benchmark *benchmark, const GPtrArray *pairs)
{
    Selection *selection = g_new0(Selection, 1);
    selection->metrics = collect_metrics(benchmark);
    selection->metric = choose_metric(selection, pairs);
    GPtrArray *candidates = g_ptr_array_new();
    for (guint i = 0; i < benchmark->series->len; i++) {
        gpointer series = g_ptr_array_index(benchmark->series, i);
        if (is_same_metric((const struct store_series *)series, selection->metric))
            g_ptr_array_add(candidates, series);
    }
    selection->facets = collect_facets(candidates);
    for (guint i = 0; i < selection->facets->len; i++)
        facet_choose_explicit((struct facet *)g_ptr_array_index(selection->facets, i), pairs);
    candidates = choose_defaults(selection, narrow_explicit(selection, candidates));
    for (guint i = 0; i < benchmark->series->len; i++) {
        const struct store_series *series =
            (const struct store_series *)g_ptr_array_index(benchmark->series, i);
        if (is_same_metric(series, selection->metric))
            mark_reachable(selection, series);
    }
    sort_series(selection, candidates);
    selection->n_series_chosen = candidates->len;
    if (candidates->len > SELECTION_LINES_MAX)
        g_ptr_array_set_size(candidates, (int)SELECTION_LINES_MAX);
    selection->series = candidates;
    return selection;
}
