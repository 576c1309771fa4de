/* SPDX-License-Identifier: Apache-2.0
 * Pairs results and tells of them; it writes nothing itself. Pure; any thread. */
#include "runner/show/aa_table.h"

#include "runner/measure/paired.h"
#include "runner/show/table.h"
#include "schema/number.h"
#include <string.h>

#define PERCENT 100.0

/* The metric that a cell is compared by: the first of these that it has. */
static const char *const compared[] = {"items_per_second", "latency_p50", "real_time", NULL};

struct cell_pair {
    char *name;
    const char *metric;
    bool is_compared;
    struct paired paired;
    const char *error;
};

static const struct run_metric *samples_of(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = (const struct run_metric *)result->metrics->pdata[i];
        if (metric->kind == METRIC_SAMPLES && (!name || strcmp(metric->name, name) == 0))
            return metric;
    }
    return NULL;
}

static const struct run_metric *compared_metric(const struct run_result *result)
{
    const struct run_metric *metric = NULL;
    for (gsize i = 0; !metric && compared[i]; i++)
        metric = samples_of(result, compared[i]);
    return metric ? metric : samples_of(result, NULL);
}

static struct cell_pair pair_up(const struct run_result *a, const struct run_result *b)
{
    struct cell_pair pair = {.name = table_name(a), .error = a->error ? a->error : b->error};
    const struct run_metric *first = compared_metric(a);
    const struct run_metric *second = first ? samples_of(b, first->name) : NULL;
    if (pair.error || !first || !second)
        return pair;
    pair.metric = first->name;
    pair.is_compared = paired_compare(first->samples, second->samples,
                                      MIN(first->n_samples, second->n_samples), &pair.paired);
    return pair;
}

static void append_row(GString *out, const struct cell_pair *pair, int width)
{
    const struct paired *paired = &pair->paired;
    g_string_append_printf(out, "%-*s  ", width, pair->name);
    if (pair->error) {
        g_string_append_printf(out, "ERROR: %s\n", pair->error);
        return;
    }
    if (!pair->is_compared) {
        g_string_append_printf(out, "too few pairs: at least %u rounds are needed\n", PAIRED_MIN);
        return;
    }
    bool is_off = paired->low > 0 || paired->high < 0;
    g_string_append_printf(out, "%+8.1f %%  %+7.1f .. %+7.1f %%  %8.1f %%  %3u  %s%s\n",
                           PERCENT * paired->difference, PERCENT * paired->low,
                           PERCENT * paired->high, PERCENT * paired->resolves, paired->n,
                           pair->metric, is_off ? "  differs from itself" : "");
}

GString *aa_table_draw(const GPtrArray *results)
{
    GString *out = g_string_new(NULL);
    guint half = results->len / 2;
    gsize width = strlen("Cell");
    for (guint i = 0; i < half; i++) {
        g_autofree char *name = table_name((const struct run_result *)results->pdata[i]);
        width = MAX(width, strlen(name));
    }
    g_string_append_printf(out, "%-*s  %10s  %20s  %10s  %3s  %s\n", (int)width, "Cell",
                           "difference", "its 95 % interval", "resolves", "n", "metric");
    for (guint i = 0; i < half; i++) {
        struct cell_pair pair = pair_up((const struct run_result *)results->pdata[i],
                                        (const struct run_result *)results->pdata[half + i]);
        append_row(out, &pair, (int)width);
        g_free(pair.name);
    }
    g_string_append(
        out, "The same thing was measured twice in each round. Differences below \"resolves\" are "
             "not told apart from none in so many\nrounds on this machine as it is; twice the "
             "precision takes four times the rounds. One of twenty cells differs from itself\nby "
             "chance; more of them mean that something drifts: see breakeven-runner machine.\n");
    return out;
}

static void append_json(GString *out, const struct cell_pair *pair)
{
    g_string_append(out, "{\"cell\":");
    json_append_string(out, pair->name);
    if (pair->error || !pair->is_compared) {
        g_string_append(out, ",\"error\":");
        json_append_string(out, pair->error ? pair->error : "too few pairs");
    } else {
        const double numbers[] = {pair->paired.difference, pair->paired.low, pair->paired.high,
                                  pair->paired.resolves};
        const char *const names[] = {"difference", "low", "high", "resolves"};
        g_string_append(out, ",\"metric\":");
        json_append_string(out, pair->metric);
        g_string_append_printf(out, ",\"n\":%u", pair->paired.n);
        for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
            g_string_append_printf(out, ",\"%s\":", names[i]);
            number_append(out, numbers[i]);
        }
    }
    g_string_append_c(out, '}');
}

GString *aa_table_json(const GPtrArray *results)
{
    GString *out = g_string_new("{\"cells\":[");
    guint half = results->len / 2;
    for (guint i = 0; i < half; i++) {
        struct cell_pair pair = pair_up((const struct run_result *)results->pdata[i],
                                        (const struct run_result *)results->pdata[half + i]);
        g_string_append(out, i ? "," : "");
        append_json(out, &pair);
        g_free(pair.name);
    }
    g_string_append(out, "]}");
    return out;
}
