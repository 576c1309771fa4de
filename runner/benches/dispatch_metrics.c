/* SPDX-License-Identifier: Apache-2.0
 * Sorting events by where they ran, and counting them. Knows no executor. */
#include "runner/benches/dispatch_metrics.h"
#include "runner/measure/histogram.h"
#include <math.h>
#include <stdlib.h>

#define CPUS_MAX 4096

struct placed {
    Histogram *all, *same, *cross;
    size_t n_same;
    uint32_t pushed[CPUS_MAX], ran[CPUS_MAX];
    uint32_t pairs[DISPATCH_PAIR_CPUS_MAX][DISPATCH_PAIR_CPUS_MAX];
    int highest_cpu;
};

uint64_t dispatch_latency_ns(const struct dispatch_event *event, enum dispatch_column column)
{
    uint64_t end_ns = column == DISPATCH_PUSH    ? event->returned_ns
                      : column == DISPATCH_START ? event->started_ns
                                                 : event->replied_ns;
    return end_ns > event->due_ns ? end_ns - event->due_ns : 0;
}

static int cpu_within(int cpu)
{
    return cpu < 0 ? 0 : cpu % CPUS_MAX;
}

static void place(struct placed *placed, const struct dispatch_event *event, uint64_t latency_ns)
{
    int from = cpu_within(event->push_cpu), to = cpu_within(event->task_cpu);
    histogram_add(placed->all, latency_ns);
    histogram_add(from == to ? placed->same : placed->cross, latency_ns);
    placed->n_same += from == to;
    placed->pushed[from]++;
    placed->ran[to]++;
    placed->highest_cpu = MAX(placed->highest_cpu, MAX(from, to));
    if (from < (int)DISPATCH_PAIR_CPUS_MAX && to < (int)DISPATCH_PAIR_CPUS_MAX) {
        placed->pairs[from][to]++;
    }
}

static int compare_latencies(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void add_quantile(struct run_result *out, const char *name, const uint64_t *sorted, size_t n,
                         double q)
{
    double rank = ceil(q * (double)n);
    struct run_metric *metric = run_metric_new(name, "ns", BETTER_LOWER);
    run_metric_add_sample(metric, (double)sorted[rank < 1 ? 0 : (size_t)rank - 1]);
    run_result_take_metric(out, metric);
}

static void add_histogram(struct run_result *out, const char *name, const Histogram *histogram)
{
    struct run_metric *metric = histogram_to_metric(histogram, name, "ns", BETTER_LOWER);
    if (metric) {
        run_result_take_metric(out, metric);
    }
}

static double most_used(const uint32_t *counts)
{
    int most = 0;
    for (int cpu = 1; cpu < CPUS_MAX; cpu++) {
        most = counts[cpu] > counts[most] ? cpu : most;
    }
    return most;
}

static void add_cpus(struct run_result *out, const struct placed *placed)
{
    const double push_cpu = most_used(placed->pushed), task_cpu = most_used(placed->ran);
    run_result_add_beside(out, "push_cpu", "", &push_cpu, 1);
    run_result_add_beside(out, "task_cpu", "", &task_cpu, 1);
    long n_cpus = g_get_num_processors();
    if (placed->highest_cpu >= (int)DISPATCH_PAIR_CPUS_MAX || n_cpus > DISPATCH_PAIR_CPUS_MAX) {
        return;
    }
    for (long from = 0; from < n_cpus; from++) {
        for (long to = 0; to < n_cpus; to++) {
            g_autofree char *name = g_strdup_printf("cpu_%ld_to_%ld", from, to);
            const double n = placed->pairs[from][to];
            run_result_add_beside(out, name, "events", &n, 1);
        }
    }
}

void dispatch_metrics_add(const struct dispatch_event *events, size_t n_events,
                          enum dispatch_column column, struct run_result *out)
{
    g_autofree struct placed *placed = g_new0(struct placed, 1);
    g_autofree uint64_t *latencies = g_new(uint64_t, n_events);
    g_autoptr(Histogram) all = placed->all = histogram_new();
    g_autoptr(Histogram) same = placed->same = histogram_new();
    g_autoptr(Histogram) cross = placed->cross = histogram_new();
    for (size_t i = 0; i < n_events; i++) {
        latencies[i] = dispatch_latency_ns(&events[i], column);
        place(placed, &events[i], latencies[i]);
    }
    qsort(latencies, n_events, sizeof *latencies, compare_latencies);
    add_histogram(out, "latency", all);
    add_histogram(out, "latency_same_cpu", same);
    add_histogram(out, "latency_cross_cpu", cross);
    add_quantile(out, "latency_p50", latencies, n_events, 0.5);
    add_quantile(out, "latency_p99", latencies, n_events, 0.99);
    if (n_events >= DISPATCH_P999_EVENTS_MIN) {
        add_quantile(out, "latency_p999", latencies, n_events, 0.999);
    }
    struct run_metric *share = run_metric_new("same_cpu_ratio", "ratio", BETTER_UNKNOWN);
    run_metric_add_sample(share, (double)placed->n_same / (double)n_events);
    run_result_take_metric(out, share);
    add_cpus(out, placed);
}
