/* SPDX-License-Identifier: Apache-2.0
 * The run as a structure: made, filled, freed. It does not judge what it is given (run_validate
 * does) and knows no JSON library. Plain data; one thread at a time. */
#include "schema/run.h"

#include "schema/number.h"

#include <string.h>

const char *better_name(enum better better)
{
    switch (better) {
    case BETTER_HIGHER:
        return "higher";
    case BETTER_LOWER:
        return "lower";
    case BETTER_UNKNOWN:
    default:
        return NULL;
    }
}

static void param_free(void *item)
{
    struct run_param *param = (struct run_param *)item;

    g_free(param->name);
    g_free(param->value);
    g_free(param);
}

static void beside_free(void *item)
{
    struct run_beside *beside = (struct run_beside *)item;

    g_free(beside->name);
    g_free(beside->unit);
    g_free(beside->values);
    g_free(beside);
}

static void metric_free(void *item)
{
    run_metric_free((struct run_metric *)item);
}

static void result_free(void *item)
{
    run_result_free((struct run_result *)item);
}

static void commit_free(void *item)
{
    run_commit_free((struct run_commit *)item);
}

GPtrArray *run_params_new(void)
{
    return g_ptr_array_new_with_free_func(param_free);
}

GPtrArray *run_commits_new(void)
{
    return g_ptr_array_new_with_free_func(commit_free);
}

Run *run_new(void)
{
    Run *run = g_new0(Run, 1);

    run->history = run_commits_new();
    run->results = g_ptr_array_new_with_free_func(result_free);
    return run;
}

void run_free(Run *run)
{
    if (!run)
        return;
    g_free(run->id);
    g_free(run->project);
    run_commit_clear(&run->commit);
    g_free(run->branch);
    g_free(run->source_json);
    g_ptr_array_unref(run->history);
    g_free(run->machine);
    g_free(run->environment_json);
    g_free(run->topology);
    g_free(run->reason);
    g_free(run->context_json);
    g_ptr_array_unref(run->results);
    g_free(run);
}

struct run_commit *run_commit_new(void)
{
    return g_new0(struct run_commit, 1);
}

void run_commit_clear(struct run_commit *commit)
{
    g_free(commit->sha);
    g_strfreev(commit->parents);
    g_free(commit->author);
    g_free(commit->subject);
    g_free(commit->trailers_json);
    memset(commit, 0, sizeof *commit);
}

void run_commit_free(struct run_commit *commit)
{
    if (!commit)
        return;
    run_commit_clear(commit);
    g_free(commit);
}

struct run_result *run_result_new(const char *bench)
{
    struct run_result *result = g_new0(struct run_result, 1);

    result->bench = g_strdup(bench);
    result->params = run_params_new();
    result->metrics = g_ptr_array_new_with_free_func(metric_free);
    result->flags = g_ptr_array_new_with_free_func(g_free);
    result->beside = g_ptr_array_new_with_free_func(beside_free);
    return result;
}

void run_result_free(struct run_result *result)
{
    if (!result)
        return;
    g_free(result->bench);
    g_ptr_array_unref(result->params);
    g_ptr_array_unref(result->metrics);
    g_free(result->error);
    g_free(result->info_json);
    g_ptr_array_unref(result->flags);
    g_ptr_array_unref(result->beside);
    g_free(result);
}

struct run_metric *run_metric_new(const char *name, const char *unit, enum better better)
{
    struct run_metric *metric = g_new0(struct run_metric, 1);

    metric->name = g_strdup(name);
    metric->unit = g_strdup(unit ? unit : "");
    metric->better = better;
    return metric;
}

void run_metric_free(struct run_metric *metric)
{
    if (!metric)
        return;
    g_free(metric->name);
    g_free(metric->unit);
    g_free(metric->samples);
    g_free(metric->histogram.buckets);
    g_free(metric);
}

void run_metric_add_sample(struct run_metric *metric, double value)
{
    uint32_t n = metric->n_samples;

    /* Room doubles at each power of two, so no capacity need be kept. */
    if ((n & (n - 1)) == 0)
        metric->samples = g_renew(double, metric->samples, n ? (gsize)n * 2 : 1);
    metric->samples[n] = value;
    metric->n_samples = n + 1;
}

/* Lists stay sorted by a name that each item begins with: every item's first member is a char
 * pointer. */
static const char *item_name(const void *item)
{
    const char *const *first = (const char *const *)item;

    return *first;
}

/* Documents mostly come sorted, so the search starts at the end. */
static void insert_sorted(GPtrArray *items, void *item, const char *name)
{
    guint at = items->len;

    while (at > 0 && strcmp(item_name(g_ptr_array_index(items, at - 1)), name) > 0)
        at--;
    g_ptr_array_insert(items, (gint)at, item);
}

void run_params_add(GPtrArray *params, const char *name, const char *value)
{
    struct run_param *param = g_new0(struct run_param, 1);

    param->name = g_strdup(name);
    param->value = g_strdup(value);
    insert_sorted(params, param, param->name);
}

void run_result_add_param(struct run_result *result, const char *name, const char *value)
{
    run_params_add(result->params, name, value);
}

void run_result_add_param_number(struct run_result *result, const char *name, double value)
{
    char text[NUMBER_TEXT_BYTES];

    number_format(value, text);
    run_params_add(result->params, name, text);
}

void run_result_take_metric(struct run_result *result, struct run_metric *metric)
{
    insert_sorted(result->metrics, metric, metric->name);
}

void run_result_add_flag(struct run_result *result, const char *flag)
{
    guint at = result->flags->len;

    while (at > 0 && strcmp((const char *)g_ptr_array_index(result->flags, at - 1), flag) > 0)
        at--;
    g_ptr_array_insert(result->flags, (gint)at, g_strdup(flag));
}

void run_result_add_beside(struct run_result *result, const char *name, const char *unit,
                           const double *values, uint32_t n_values)
{
    struct run_beside *beside = g_new0(struct run_beside, 1);

    beside->name = g_strdup(name);
    beside->unit = g_strdup(unit ? unit : "");
    beside->values = (double *)g_memdup2(values, n_values * sizeof *values);
    beside->n_values = n_values;
    insert_sorted(result->beside, beside, beside->name);
}

uint64_t run_count_samples(const Run *run)
{
    uint64_t n = 0;

    for (guint i = 0; i < run->results->len; i++) {
        const struct run_result *result =
            (const struct run_result *)g_ptr_array_index(run->results, i);

        for (guint j = 0; j < result->metrics->len; j++) {
            const struct run_metric *metric =
                (const struct run_metric *)g_ptr_array_index(result->metrics, j);

            n += metric->n_samples;
        }
    }
    return n;
}
