/* SPDX-License-Identifier: Apache-2.0
 * DispatchPush, DispatchStart, DispatchReply: how long it takes to hand over a task, until it runs
 * in the background, and until its reply runs on the main thread. The same loop, and each tells one
 * of its times (dispatch_round.h). Tasks do no work. Main thread.
 *
 * pause_us: 0 pushes as soon as the reply is there, so all is hot; 300 and 10000 let threads and
 * caches go to sleep before each push; `first` is the one first push of a new process (and a new
 * executor, whose making is not timed), as a program meets it that needs a background thread once.
 * rate, in its place: pushes a second that are due whatever has become of those before.
 *
 * A sample is as many events as last about sample_ms, so the calibration is in the parameters: two
 * runs of a plan have the same number. A few events at the beginning of a process are dropped. */
#include "runner/benches/bench.h"
#include "runner/benches/dispatch_metrics.h"
#include "schema/error.h"
#include <stdlib.h>
#include <string.h>

#define PAUSE_US_MAX    1000000u
#define RATE_MAX        1000000u
#define EVENT_COST_US   10u /* of one without a pause, to begin with */
#define EVENTS_MIN      20u
#define EVENTS_MAX      100000u
#define SLOW_DIVISOR    5u /* fewer where each is a new thread */
#define WARM_UP_EVENTS  16u
#define WARM_UP_SLOW    2u /* with pauses of WARM_UP_LONG_US and more */
#define WARM_UP_LONG_US 1000u
#define NS_PER_US       1000u
#define NS_PER_S        1000000000u
#define US_PER_MS       1000u
#define US_PER_S        1000000u
#define FIRST           "first"

struct dispatch {
    struct session session;
    struct dispatch_round round;
    enum dispatch_column column;
    bool is_first; /* the first event of the process is all */
    uint64_t pause_us, rate;
};

static bool number_within(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    return g_ascii_string_to_unsigned(text, 10, min, max, out, NULL);
}

static bool allows_pause(const char *value)
{
    uint64_t pause_us;
    return g_str_equal(value, FIRST) || number_within(value, 0, PAUSE_US_MAX, &pause_us);
}

static bool allows_rate(const char *value)
{
    uint64_t rate;
    return number_within(value, 1, RATE_MAX, &rate);
}

static const struct bench_param dispatch_params[] = {
    {.name = "pause_us",
     .values = "0,300,10000,first",
     .allowed = "microseconds from 0 to 1000000, or first",
     .allows = allows_pause},
    {.name = "rate",
     .values = "",
     .is_alternative = true,
     .allowed = "pushes a second from 1 to 1000000, in place of pause_us",
     .allows = allows_rate},
    {0},
};

static enum dispatch_column column_of(const struct bench *bench)
{
    return bench == &bench_dispatch_push    ? DISPATCH_PUSH
           : bench == &bench_dispatch_start ? DISPATCH_START
                                            : DISPATCH_REPLY;
}

static void dispatch_teardown(void *state)
{
    struct dispatch *dispatch = state;
    session_close(&dispatch->session);
    main_queue_free(dispatch->round.queue);
    free(dispatch->round.events);
    g_free(dispatch);
}

static bool dispatch_setup(const struct bench *bench, void **out_state,
                           const struct bench_case *cell, GError **error)
{
    if (!bench_case_check(bench, cell, error)) {
        return false;
    }
    struct dispatch *dispatch = g_new0(struct dispatch, 1);
    const char *pause = bench_case_own(bench, cell, "pause_us");
    dispatch->column = column_of(bench);
    dispatch->is_first = g_str_equal(pause, FIRST);
    number_within(pause, 0, PAUSE_US_MAX, &dispatch->pause_us);
    number_within(bench_case_own(bench, cell, "rate"), 1, RATE_MAX, &dispatch->rate);
    dispatch->round.session = &dispatch->session;
    dispatch->round.events =
        aligned_alloc(DISPATCH_LINE_BYTES, EVENTS_MAX * sizeof *dispatch->round.events);
    if (!dispatch->round.events) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "no memory for the events");
    }
    if (!dispatch->round.events || !session_prepare(&dispatch->session, cell, error) ||
        !session_open(&dispatch->session, error)) {
        dispatch_teardown(dispatch);
        return false;
    }
    if (!(dispatch->session.ops->capabilities & EXECUTOR_MAIN)) {
        dispatch->round.queue = main_queue_new(EVENTS_MAX);
    }
    *out_state = dispatch;
    return true;
}

static size_t events_in(const struct dispatch *dispatch, uint32_t sample_ms)
{
    if (dispatch->is_first) {
        return 1;
    }
    uint64_t sample_us = (uint64_t)sample_ms * US_PER_MS;
    uint64_t n = dispatch->rate ? sample_us * dispatch->rate / US_PER_S
                                : sample_us / (dispatch->pause_us + EVENT_COST_US);
    if (dispatch->session.ops->capabilities & EXECUTOR_THREAD_PER_TASK && !dispatch->rate) {
        n /= SLOW_DIVISOR;
    }
    return (size_t)CLAMP(n, EVENTS_MIN, EVENTS_MAX);
}

static bool warm_up(struct dispatch *dispatch, GError **error)
{
    dispatch->round.pacing = (struct dispatch_pacing){.pause_ns = dispatch->pause_us * NS_PER_US};
    dispatch->round.n_events =
        dispatch->pause_us >= WARM_UP_LONG_US ? WARM_UP_SLOW : WARM_UP_EVENTS;
    return dispatch_round_run(&dispatch->round, error);
}

static char *facts_of(const struct dispatch *dispatch)
{
    return g_strdup_printf("{\"events_per_sample\":%zu,\"main_queue\":\"%s\"}",
                           dispatch->round.n_events,
                           dispatch->round.queue ? "harness" : "executor");
}

static bool dispatch_measure(void *state, const struct bench_request *request,
                             struct run_result *out, GError **error)
{
    struct dispatch *dispatch = state;
    if (dispatch->is_first && request->sample > 0) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_INVALID,
                            "pause_us first is one event of a new process: the plan's samples must "
                            "be 1, with more rounds for more events");
        return false;
    }
    if (!dispatch->is_first && request->sample == 0 && !warm_up(dispatch, error)) {
        return false;
    }
    dispatch->round.n_events = events_in(dispatch, request->sample_ms);
    dispatch->round.pacing = (struct dispatch_pacing){
        .pause_ns = dispatch->pause_us * NS_PER_US,
        .period_ns = dispatch->rate ? NS_PER_S / dispatch->rate : 0,
    };
    if (!dispatch_round_run(&dispatch->round, error)) {
        return false;
    }
    dispatch_metrics_add(dispatch->round.events, dispatch->round.n_events, dispatch->column, out);
    out->info_json = facts_of(dispatch);
    return true;
}

static bool push_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    return dispatch_setup(&bench_dispatch_push, out_state, cell, error);
}

static bool start_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    return dispatch_setup(&bench_dispatch_start, out_state, cell, error);
}

static bool reply_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    return dispatch_setup(&bench_dispatch_reply, out_state, cell, error);
}

#define DISPATCH(text, words, setup_function)                                                      \
    {                                                                                              \
        .name = text, .version = 1, .description = words, .executors = "direct,thread,fifo",       \
        .needs = EXECUTOR_REUSABLE, .takes_threads = true, .own_costs = true,                      \
        .params = dispatch_params, .setup = setup_function, .measure = dispatch_measure,           \
        .teardown = dispatch_teardown                                                              \
    }

const struct bench bench_dispatch_push =
    DISPATCH("DispatchPush", "latency until a task is handed over and push returns", push_setup);
const struct bench bench_dispatch_start = DISPATCH(
    "DispatchStart", "latency until a task that was pushed runs in the background", start_setup);
const struct bench bench_dispatch_reply =
    DISPATCH("DispatchReply", "latency until a task has run and its reply runs on the main thread",
             reply_setup);
