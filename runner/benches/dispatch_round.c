/* SPDX-License-Identifier: Apache-2.0
 * Pushing, waiting and noting times. Knows no metric; runs in the main thread, tasks in the
 * executor's. */
#include "runner/benches/dispatch_round.h"
#include "runner/executors/plugin.h"
#include "runner/sample/clock.h"
#include "schema/error.h"
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#define NS_PER_S      1000000000u
#define NS_PER_MS     1000000u
#define PUMP_MS       100     /* then it is looked at whether all is well */
#define WAKE_EARLY_NS 100000u /* before a push is due: the kernel wakes some 60 us late */
#define FIRST_DUE_NS  1000000u

struct running {
    struct dispatch_round *round;
    GError *error;
};

static void note_reply(void *argument)
{
    struct dispatch_event *event = argument;
    event->replied_ns = clock_wall_ns();
    event->replies++;
    event->round->n_replied++;
}

static void note_start(void *argument)
{
    struct dispatch_event *event = argument;
    event->started_ns = clock_wall_ns();
    event->task_cpu = sched_getcpu();
    event->starts++;
    struct dispatch_round *round = event->round;
    int failure = round->queue
                      ? main_queue_post(round->queue, note_reply, event)
                      : round->session->ops->post_main(round->session->self, note_reply, event);
    if (failure) {
        atomic_store(&round->post_failure, failure);
    }
}

static int pump(struct dispatch_round *round, int timeout_ms)
{
    return round->queue ? main_queue_pump(round->queue, timeout_ms)
                        : round->session->ops->pump_main(round->session->self, timeout_ms);
}

/* Until `n` replies have come. */
static bool await_replies(struct dispatch_round *round, size_t n, GError **error)
{
    uint64_t deadline_ns = clock_wall_ns() + (uint64_t)DISPATCH_PATIENCE_MS * NS_PER_MS;
    while (round->n_replied < n) {
        int failure = pump(round, PUMP_MS);
        if (failure < 0) {
            return session_fail(round->session->ops, "pump_main", failure, error);
        }
        failure = atomic_load(&round->post_failure);
        if (failure) {
            return session_fail(round->session->ops, "post_main", failure, error);
        }
        if (round->n_replied < n && clock_wall_ns() > deadline_ns) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                        "executor %s: of %zu tasks, %zu came back to the main thread within %d ms",
                        round->session->ops->name, n, round->n_replied, DISPATCH_PATIENCE_MS);
            return false;
        }
    }
    return true;
}

static void sleep_until(uint64_t at_ns)
{
    const struct timespec at = {.tv_sec = (time_t)(at_ns / NS_PER_S),
                                .tv_nsec = (long)(at_ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) {
    }
}

static bool push(struct dispatch_round *round, struct dispatch_event *event, GError **error)
{
    const struct session *session = round->session;
    event->push_cpu = sched_getcpu();
    if (round->pacing.period_ns == 0) {
        event->due_ns = clock_wall_ns();
    }
    int failure = session->ops->submit(session->self, note_start, event);
    event->returned_ns = clock_wall_ns();
    if (failure) {
        return session_fail(session->ops, "submit", failure, error);
    }
    /* The only thread that could run the task is this one, when it waits. */
    if ((session->ops->capabilities & EXECUTOR_CALLER_HELPS) && session->config.threads == 1) {
        failure = session->ops->wait_all(session->self);
    }
    return !failure || session_fail(session->ops, "wait_all", failure, error);
}

static bool run_closed(struct dispatch_round *round, GError **error)
{
    for (size_t i = 0; i < round->n_events; i++) {
        if (round->pacing.pause_ns) {
            sleep_until(clock_wall_ns() + round->pacing.pause_ns);
        }
        if (!push(round, &round->events[i], error) || !await_replies(round, i + 1, error)) {
            return false;
        }
    }
    return true;
}

/* Serves replies until the push of number `i` is due. */
static bool serve_until(struct dispatch_round *round, size_t i, uint64_t due_ns, GError **error)
{
    for (uint64_t now_ns = clock_wall_ns(); now_ns < due_ns; now_ns = clock_wall_ns()) {
        uint64_t left_ns = due_ns - now_ns;
        if (round->n_replied == i && left_ns > WAKE_EARLY_NS) {
            sleep_until(due_ns - WAKE_EARLY_NS);
        } else if (round->n_replied < i) {
            int failure = pump(round, 0);
            if (failure < 0) {
                return session_fail(round->session->ops, "pump_main", failure, error);
            }
        }
    }
    return true;
}

static bool run_open(struct dispatch_round *round, GError **error)
{
    uint64_t due_ns = clock_wall_ns() + FIRST_DUE_NS;
    for (size_t i = 0; i < round->n_events; i++, due_ns += round->pacing.period_ns) {
        round->events[i].due_ns = due_ns;
        if (!serve_until(round, i, due_ns, error) || !push(round, &round->events[i], error)) {
            return false;
        }
    }
    return await_replies(round, round->n_events, error);
}

static void run_in_region(void *context)
{
    struct running *running = context;
    struct dispatch_round *round = running->round;
    bool done = round->pacing.period_ns ? run_open(round, &running->error)
                                        : run_closed(round, &running->error);
    /* Everything that was pushed has its reply, so nothing is waited for here; it is what makes the
     * tasks' notes this thread's. */
    int failure = done ? round->session->ops->wait_all(round->session->self) : 0;
    if (failure) {
        session_fail(round->session->ops, "wait_all", failure, &running->error);
    }
}

static bool check_events(const struct dispatch_round *round, GError **error)
{
    for (size_t i = 0; i < round->n_events; i++) {
        const struct dispatch_event *event = &round->events[i];
        if (event->starts != 1 || event->replies != 1) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                        "executor %s: task %zu ran %u times and was replied to %u times",
                        round->session->ops->name, i, event->starts, event->replies);
            return false;
        }
    }
    return true;
}

bool dispatch_round_run(struct dispatch_round *round, GError **error)
{
    struct running running = {.round = round};
    round->n_replied = 0;
    atomic_store(&round->post_failure, 0);
    /* Written here, so that no page of theirs is touched first while the clock runs. */
    memset(round->events, 0, round->n_events * sizeof *round->events);
    for (size_t i = 0; i < round->n_events; i++) {
        round->events[i].round = round;
    }
    bool done = session_run(round->session, run_in_region, &running, error);
    if (running.error) {
        if (done) {
            g_propagate_error(error, running.error);
        } else {
            g_error_free(running.error);
        }
        return false;
    }
    return done && check_events(round, error);
}
