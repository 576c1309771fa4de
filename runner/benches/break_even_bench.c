/* SPDX-License-Identifier: Apache-2.0
 * BreakEven: how much work a task must hold before handing it to this executor pays: for the caller
 * alone, for who waits for the reply, for N threads against a plain call, and METG(50 %). What
 * these are: measure/break_even.h; what is timed: break_even_scan.h. Main thread.
 *
 * Sizes are no work at all and 32 steps of the workload times powers of two, up to about a
 * millisecond; then three more between the two sizes that each answer lies between. A sample is one
 * such scan: its length is that of its passes, of which there are more where sample_ms is larger.
 * Beside each answer stands its interval within the sample. */
#include "runner/benches/bench.h"
#include "runner/benches/break_even_scan.h"
#include "runner/machine/cpus.h"
#include "runner/sample/workload.h"
#include "schema/run.h"
#include <math.h>

#define STEPS_FIRST    WORKLOAD_WORDS
#define POWERS         16u /* 32 … 1048576 steps */
#define REFINED        3u  /* sizes between two */
#define MS_PER_PASS    20u /* of sample_ms */
#define PASSES_MIN     7u
#define PASSES_MAX     31u
#define ORDERS_SEED    42u
#define RESAMPLES_SEED 4711u

enum question { CALLER, REPLY, THROUGHPUT, METG, QUESTIONS };

static const struct {
    const char *name, *low, *high; /* the metric, and its interval beside it */
    double threshold;
    double work_share; /* the answer times this is the work at it: see measure/break_even.h */
} questions[QUESTIONS] = {
    [CALLER] = {"caller_break_even", "caller_low", "caller_high", 0.5, 1},
    [REPLY] = {"reply_break_even", "reply_low", "reply_high", 0.5, 1},
    [THROUGHPUT] = {"throughput_break_even", "throughput_low", "throughput_high", 1, 1},
    [METG] = {"metg_50", "metg_50_low", "metg_50_high", 0.5, 0.5},
};

struct break_even_state {
    struct session session;
    struct break_even_scan scan;
    struct break_even_point points[BREAK_EVEN_POINTS_MAX];
    uint32_t cores;
};

static double efficiency_of(const struct break_even_state *state, enum question question,
                            const struct break_even_size *size, size_t pass)
{
    double work_ns = size->work_ns[pass];
    switch (question) {
    case CALLER:
        return work_ns / (work_ns + size->push_ns[pass]);
    case REPLY:
        return work_ns / size->reply_ns[pass];
    case THROUGHPUT:
        return work_ns / size->burst_ns[pass];
    case METG:
    case QUESTIONS:
        break;
    }
    return work_ns / (size->burst_ns[pass] * state->cores);
}

static struct break_even_curve curve_of(struct break_even_state *state, enum question question)
{
    const struct break_even_scan *scan = &state->scan;
    for (size_t i = 0; i < scan->n_sizes; i++) {
        for (size_t pass = 0; pass < scan->n_passes; pass++) {
            state->points[i].work_ns[pass] = scan->sizes[i].work_ns[pass];
            state->points[i].efficiency[pass] =
                efficiency_of(state, question, &scan->sizes[i], pass);
        }
    }
    return (struct break_even_curve){
        .points = state->points, .n_points = scan->n_sizes, .n_passes = scan->n_passes};
}

/* Sizes between the two that each answer lies between. */
static void refine(struct break_even_state *state)
{
    struct break_even answers[QUESTIONS];
    uint64_t below[QUESTIONS], above[QUESTIONS];
    for (enum question question = CALLER; question < QUESTIONS; question++) {
        struct break_even_curve curve = curve_of(state, question);
        struct break_even *answer = &answers[question];
        break_even_solve(&curve, questions[question].threshold, answer);
        if (answer->kind == BREAK_EVEN_FOUND) {
            below[question] = state->scan.sizes[answer->fails].task_cost;
            above[question] = state->scan.sizes[answer->fails + 1].task_cost;
        }
    }
    for (enum question question = CALLER; question < QUESTIONS; question++) {
        if (answers[question].kind != BREAK_EVEN_FOUND || below[question] == 0) {
            continue; /* between no work and one pass of the workload there is nothing */
        }
        double ratio = (double)above[question] / (double)below[question];
        for (unsigned i = 1; i <= REFINED; i++) {
            double steps = (double)below[question] * pow(ratio, (double)i / (REFINED + 1));
            uint64_t passes = (uint64_t)(steps / STEPS_FIRST + 0.5);
            break_even_scan_add(&state->scan, passes * STEPS_FIRST);
        }
    }
}

static void add_metric(struct break_even_state *state, enum question question,
                       struct run_result *out)
{
    struct break_even_curve curve = curve_of(state, question);
    struct break_even answer;
    struct break_even_interval interval;
    double scale = 1 / questions[question].work_share;
    break_even_solve(&curve, questions[question].threshold, &answer);
    break_even_bootstrap(&curve, questions[question].threshold, RESAMPLES_SEED, &interval);
    struct run_metric *metric = run_metric_new(questions[question].name, "ns", BETTER_LOWER);
    if (answer.kind == BREAK_EVEN_FOUND) {
        const double low_ns = interval.low_ns * scale, high_ns = interval.high_ns * scale;
        run_metric_add_sample(metric, answer.work_ns * scale);
        run_result_add_beside(out, questions[question].low, "ns", &low_ns, 1);
        run_result_add_beside(out, questions[question].high, "ns", &high_ns, 1);
    } else {
        metric->kind = METRIC_CENSORED;
        metric->censored.above = answer.kind == BREAK_EVEN_ABOVE;
        metric->censored.limit = answer.work_ns * scale;
    }
    run_result_take_metric(out, metric);
    if (answer.non_monotone && interval.non_monotone_share >= BREAK_EVEN_NON_MONOTONE_SHARE &&
        !g_ptr_array_find_with_equal_func(out->flags, "non_monotone", g_str_equal, NULL)) {
        run_result_add_flag(out, "non_monotone");
    }
}

/* Where no answer is a number there is nothing that an interval could stand beside. */
static void drop_lonely_beside(struct run_result *out)
{
    for (guint i = 0; i < out->metrics->len; i++) {
        const struct run_metric *metric = g_ptr_array_index(out->metrics, i);
        if (metric->kind == METRIC_SAMPLES) {
            return;
        }
    }
    g_ptr_array_set_size(out->beside, 0);
}

static bool break_even_measure(void *data, const struct bench_request *request,
                               struct run_result *out, GError **error)
{
    struct break_even_state *state = data;
    struct break_even_scan *scan = &state->scan;
    scan->n_sizes = 0;
    scan->n_passes = CLAMP(request->sample_ms / MS_PER_PASS, PASSES_MIN, PASSES_MAX);
    scan->random = ORDERS_SEED + request->sample;
    break_even_scan_add(scan, 0);
    for (unsigned power = 0; power < POWERS; power++) {
        break_even_scan_add(scan, (uint64_t)STEPS_FIRST << power);
    }
    if (!break_even_scan_run(scan, error)) {
        return false;
    }
    refine(state);
    if (!break_even_scan_run(scan, error)) {
        return false;
    }
    for (enum question question = CALLER; question < QUESTIONS; question++) {
        add_metric(state, question, out);
    }
    drop_lonely_beside(out);
    out->info_json = g_strdup_printf("{\"cores\":%u,\"passes\":%zu}", state->cores, scan->n_passes);
    return true;
}

static void break_even_teardown(void *data)
{
    struct break_even_state *state = data;
    session_close(&state->session);
    g_free(state);
}

static bool break_even_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    if (!bench_case_check(&bench_break_even, cell, error)) {
        return false;
    }
    struct break_even_state *state = g_new0(struct break_even_state, 1);
    struct cpus cpus;
    cpus_read("", &cpus);
    state->cores = cell->threads ? MIN(cell->threads, cpus.effective) : cpus.effective;
    state->scan.session = &state->session;
    if (!session_prepare(&state->session, cell, error) || !session_open(&state->session, error)) {
        break_even_teardown(state);
        return false;
    }
    *out_state = state;
    return true;
}

const struct bench bench_break_even = {
    .name = "BreakEven",
    .version = 1,
    .description = "the work a task must hold before handing it over pays",
    .executors = "fifo,steal",
    .needs = EXECUTOR_REUSABLE,
    .refuses = EXECUTOR_NO_THREADS,
    .takes_threads = true,
    .own_costs = true,
    .setup = break_even_setup,
    .measure = break_even_measure,
    .teardown = break_even_teardown,
};
