/* SPDX-License-Identifier: Apache-2.0
 * See timing.h. */
#include "runner/timing.h"

#include "runner/child_process.h"
#include "runner/sample/noise.h"
#include "runner/sample/probe.h"
#include <string.h>

#define NS_PER_S 1e9

const struct timing_column_name timing_columns[TIMING_COLUMNS] = {
    [TIMING_HANDOFF] = {"handoff", "ns"},           [TIMING_FIXED_LOOP] = {"fixed_loop", "ns"},
    [TIMING_FOREIGN_CPU] = {"foreign_cpu", "cpus"}, [TIMING_STEAL] = {"steal", "cpus"},
    [TIMING_THROTTLED] = {"throttled", "ms"},       [TIMING_CPU_PRESSURE] = {"cpu_pressure", "ms"},
};

enum { TIME, USER_TIME, SYSTEM_TIME, MEMORY, METRICS };

static const struct {
    const char *name, *unit;
} metrics[METRICS] = {
    [TIME] = {"time", "ns"},
    [USER_TIME] = {"user_time", "ns"},
    [SYSTEM_TIME] = {"system_time", "ns"},
    [MEMORY] = {"memory", "B"},
};

struct timing {
    const struct timing_request *request;
    struct run_metric *metrics[METRICS];
    GArray
        *beside[TIMING_COLUMNS]; /* double; shorter than the samples where one was not to be had */
    double total_s;
};

static void put(struct timing_noise *noise, enum timing_column column, bool has, double value)
{
    noise->has[column] = has;
    noise->values[column] = value;
}

ChildOutcome *timing_execute(const struct child_request *request, struct timing_noise *out,
                             GError **error)
{
    struct probe probe;
    struct noise_reading before, after;
    struct noise noise;
    double pressure_before_ms = 0, pressure_after_ms = 0;
    probe_take(&probe);
    bool has_pressure = noise_read_pressure(&pressure_before_ms);
    noise_read(&before);
    ChildOutcome *outcome = child_run(request, error);
    noise_read(&after);
    has_pressure = noise_read_pressure(&pressure_after_ms) && has_pressure;
    noise_between(&before, &after, &noise);
    put(out, TIMING_HANDOFF, probe.has_handoff, probe.handoff_ns);
    put(out, TIMING_FIXED_LOOP, true, probe.fixed_loop_ns);
    put(out, TIMING_FOREIGN_CPU, noise.has_foreign, noise.foreign_cpus);
    put(out, TIMING_STEAL, noise.has_steal, noise.steal_cpus);
    put(out, TIMING_THROTTLED, noise.has_throttled, noise.throttled_ms);
    put(out, TIMING_CPU_PRESSURE, has_pressure, pressure_after_ms - pressure_before_ms);
    return outcome;
}

static void keep(struct timing *timing, const ChildOutcome *outcome,
                 const struct timing_noise *noise)
{
    const uint64_t values[METRICS] = {
        [TIME] = outcome->wall_ns,
        [USER_TIME] = outcome->user_ns,
        [SYSTEM_TIME] = outcome->system_ns,
        [MEMORY] = outcome->peak_rss_bytes,
    };
    for (int m = 0; m < METRICS; m++)
        run_metric_add_sample(timing->metrics[m], (double)values[m]);
    for (int c = 0; c < TIMING_COLUMNS; c++)
        if (noise->has[c])
            g_array_append_val(timing->beside[c], noise->values[c]);
    timing->total_s += (double)outcome->wall_ns / NS_PER_S;
}

/* NULL where the execution is one to keep. */
static char *failure_of(const struct timing_request *request, const ChildOutcome *outcome,
                        guint run)
{
    g_autofree char *end = child_describe_end(outcome, request->timeout_seconds);
    g_autofree char *tail = child_tail_line(outcome);
    if (!end)
        return NULL;
    return g_strdup_printf("execution %u %s%s%s", run, end, *tail ? "; it said: " : "", tail);
}

static bool wants_more(const struct timing *timing, guint done)
{
    const struct timing_request *request = timing->request;
    return done < request->runs_min ||
           (done < request->runs_max && timing->total_s < request->seconds_min);
}

/* *out_failure is set where an execution failed. False with an error, or where it was stopped. */
static bool execute_all(struct timing *timing, char **out_failure, GError **error)
{
    const struct timing_request *request = timing->request;
    const struct child_request child = {
        .arguments = request->arguments,
        .out = request->shows_output ? CHILD_PASS : CHILD_DROP,
        .err = request->shows_output ? CHILD_PASS : CHILD_TAIL,
        .timeout_seconds = request->timeout_seconds,
    };
    for (guint run = 1; run <= request->warmups || wants_more(timing, run - 1 - request->warmups);
         run++) {
        struct timing_noise noise;
        request->begins(run, request->warmups, request->user);
        g_autoptr(ChildOutcome) outcome = timing_execute(&child, &noise, error);
        if (!outcome || request->stopped())
            return false;
        *out_failure = failure_of(request, outcome, run);
        if (*out_failure)
            return true;
        if (run > request->warmups)
            keep(timing, outcome, &noise);
    }
    return true;
}

static void add_params(struct run_result *result, const GPtrArray *params)
{
    for (guint i = 0; params && i < params->len; i++) {
        g_auto(GStrv) parts = g_strsplit((const char *)params->pdata[i], "=", 2);
        run_result_add_param(result, parts[0], parts[1]);
    }
}

static struct run_result *make_result(struct timing *timing, char *failure)
{
    struct run_result *result = run_result_new(timing->request->bench);
    add_params(result, timing->request->params);
    if (failure) {
        result->error = failure;
        return result;
    }
    guint n = timing->metrics[TIME]->n_samples;
    for (int m = 0; m < METRICS; m++)
        run_result_take_metric(result, g_steal_pointer(&timing->metrics[m]));
    for (int c = 0; c < TIMING_COLUMNS; c++)
        if (timing->beside[c]->len == n)
            run_result_add_beside(result, timing_columns[c].name, timing_columns[c].unit,
                                  (const double *)(const void *)timing->beside[c]->data, n);
    return result;
}

struct run_result *timing_run(const struct timing_request *request, GError **error)
{
    struct timing timing = {.request = request};
    char *failure = NULL;
    for (int m = 0; m < METRICS; m++)
        timing.metrics[m] = run_metric_new(metrics[m].name, metrics[m].unit, BETTER_LOWER);
    for (int c = 0; c < TIMING_COLUMNS; c++)
        timing.beside[c] = g_array_new(FALSE, FALSE, sizeof(double));
    bool is_done = execute_all(&timing, &failure, error);
    struct run_result *result = is_done ? make_result(&timing, failure) : NULL;
    for (int m = 0; m < METRICS; m++)
        if (timing.metrics[m])
            run_metric_free(timing.metrics[m]);
    for (int c = 0; c < TIMING_COLUMNS; c++)
        g_array_unref(timing.beside[c]);
    return result;
}
