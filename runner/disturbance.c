/* SPDX-License-Identifier: Apache-2.0
 * Reads what stands beside samples, and judges it. Main thread. */
#include "runner/disturbance.h"

#include "runner/executors/executors.h"
#include "runner/measure/median.h"
#include <string.h>

static const struct {
    unsigned reason;
    const char *name;
} reasons[] = {
    {DISTURBED_HANDOFF, "handoff"},
    {DISTURBED_FOREIGN_CPU, "foreign_cpu"},
    {DISTURBED_STEAL, "steal"},
    {DISTURBED_THROTTLED, "throttled"},
};

static const struct run_beside *find_beside(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->beside->len; i++) {
        const struct run_beside *beside = (const struct run_beside *)result->beside->pdata[i];
        if (strcmp(beside->name, name) == 0)
            return beside;
    }
    return NULL;
}

static const char *param_of(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->params->len; i++) {
        const struct run_param *param = (const struct run_param *)result->params->pdata[i];
        if (strcmp(param->name, name) == 0)
            return param->value;
    }
    return "";
}

/* Bound to other CPUs, the probe tells of other CPUs. */
static bool same_placement(const struct run_result *a, const struct run_result *b)
{
    const char *placement = param_of(a, "placement");
    return strcmp(placement, param_of(b, "placement")) == 0 &&
           (!*placement || strcmp(param_of(a, "threads"), param_of(b, "threads")) == 0);
}

double disturbance_usual_handoff(struct run_result *const *results, guint n_results,
                                 const struct run_result *like)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < n_results; i++) {
        const struct run_beside *handoff = results[i] && same_placement(results[i], like)
                                               ? find_beside(results[i], "handoff")
                                               : NULL;
        if (handoff)
            g_array_append_vals(all, handoff->values, handoff->n_values);
    }
    if (all->len < DISTURBANCE_HANDOFFS_MIN)
        return 0;
    return median_sorting((double *)(gpointer)all->data, all->len);
}

static bool exceeds(const struct run_result *result, const char *name, uint32_t at, double limit)
{
    const struct run_beside *beside = find_beside(result, name);
    return beside && at < beside->n_values && beside->values[at] > limit;
}

static bool left_its_class(const struct run_result *result, uint32_t at, double usual_ns)
{
    const struct run_beside *handoff = find_beside(result, "handoff");
    if (!handoff || at >= handoff->n_values || usual_ns <= 0)
        return false;
    double ratio = handoff->values[at] / usual_ns;
    return ratio > DISTURBANCE_HANDOFF_RATIO || ratio < 1 / DISTURBANCE_HANDOFF_RATIO;
}

static double foreign_limit(const struct run_result *result)
{
    struct executor_facts facts;
    const char *executor = param_of(result, "executor");
    bool makes_threads = *executor && executor_describe(executor, &facts, NULL) &&
                         (facts.capabilities & EXECUTOR_THREAD_PER_TASK);
    return makes_threads ? DISTURBANCE_FOREIGN_THREADS : DISTURBANCE_FOREIGN_CPUS;
}

unsigned disturbance_of_sample(const struct run_result *result, uint32_t at,
                               double usual_handoff_ns)
{
    unsigned found = 0;
    if (left_its_class(result, at, usual_handoff_ns))
        found |= DISTURBED_HANDOFF;
    if (exceeds(result, "foreign_cpu", at, foreign_limit(result)))
        found |= DISTURBED_FOREIGN_CPU;
    if (exceeds(result, "steal", at, DISTURBANCE_STEAL_CPUS))
        found |= DISTURBED_STEAL;
    if (exceeds(result, "throttled", at, 0))
        found |= DISTURBED_THROTTLED;
    return found;
}

static uint32_t samples_of(const struct run_result *result)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = (const struct run_metric *)result->metrics->pdata[i];
        if (metric->kind == METRIC_SAMPLES)
            return metric->n_samples;
    }
    return 0;
}

bool disturbance_in_last(const struct run_result *result, uint32_t n, double usual_handoff_ns)
{
    uint32_t n_samples = samples_of(result);
    for (uint32_t at = n_samples > n ? n_samples - n : 0; at < n_samples; at++)
        if (disturbance_of_sample(result, at, usual_handoff_ns))
            return true;
    return false;
}

static void add_flag_once(struct run_result *result, const char *flag)
{
    if (!g_ptr_array_find_with_equal_func(result->flags, flag, g_str_equal, NULL))
        run_result_add_flag(result, flag);
}

static void flag_result(struct run_result *result, const double *marks, uint32_t n)
{
    uint32_t counts[G_N_ELEMENTS(reasons)] = {0}, n_disturbed = 0;
    for (uint32_t at = 0; at < n; at++) {
        n_disturbed += marks[at] > 0;
        for (gsize r = 0; r < G_N_ELEMENTS(reasons); r++)
            counts[r] += ((unsigned)marks[at] & reasons[r].reason) != 0;
    }
    if (n_disturbed * 2 <= n)
        return;
    add_flag_once(result, DISTURBANCE_FLAG);
    for (gsize r = 0; r < G_N_ELEMENTS(reasons); r++)
        if (counts[r] * 2 > n_disturbed)
            add_flag_once(result, reasons[r].name);
}

static void mark_result(struct run_result *result, double usual_handoff_ns)
{
    uint32_t n = samples_of(result);
    if (n == 0 || result->beside->len == 0 || result->beside->len >= RUN_BESIDE_MAX)
        return; /* nothing tells of it */
    g_autofree double *marks = g_new(double, n);
    for (uint32_t at = 0; at < n; at++)
        marks[at] = disturbance_of_sample(result, at, usual_handoff_ns);
    run_result_add_beside(result, DISTURBANCE_BESIDE, "", marks, n);
    flag_result(result, marks, n);
}

void disturbance_mark(const GPtrArray *results)
{
    struct run_result *const *all = (struct run_result *const *)results->pdata;
    const struct run_result *known = NULL; /* most results share one placement */
    double usual_ns = 0;
    for (guint i = 0; i < results->len; i++) {
        if (!known || !same_placement(known, all[i]))
            usual_ns = disturbance_usual_handoff(all, results->len, all[i]);
        known = all[i];
        mark_result(all[i], usual_ns);
    }
}
