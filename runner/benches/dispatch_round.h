/* SPDX-License-Identifier: Apache-2.0
 * The loop behind DispatchPush, DispatchStart and DispatchReply: the main thread pushes an empty
 * task to an executor; the task notes when and on which CPU it starts and posts a reply to the main
 * thread; the main thread runs the reply. One event is one push with all its times:
 *
 *   push    before submit → submit has returned
 *   start   before submit → the task runs, in the background
 *   reply   before submit → the reply runs, on the main thread
 *
 * Closed loop: the next push comes when the reply is there and a pause, slept, has passed. Open
 * loop: pushes are due at fixed times, whatever has become of the ones before, and every time
 * counts from when its push was due: a push that had to wait behind a slow one is as late as a
 * caller would see it (no coordinated omission). The main thread sleeps until shortly before a push
 * is due while nothing is on its way, and looks for replies, awake, while something is.
 *
 * The reply goes through the executor's own main thread where it has one (EXECUTOR_MAIN), else
 * through main_queue.h. Reading the clock costs some 30 ns, which is in every figure. */
#pragma once

#include "runner/benches/main_queue.h"
#include "runner/benches/session.h"
#include <stdatomic.h>

struct dispatch_round;

#define DISPATCH_LINE_BYTES 64

/* What the two sides note stands in cache lines of their own: noting it must not be what is
 * measured. */
struct dispatch_event {
    _Alignas(DISPATCH_LINE_BYTES) struct dispatch_round *round;
    uint64_t due_ns; /* what counts as its beginning */
    uint64_t returned_ns, replied_ns;
    int push_cpu;
    unsigned replies;
    _Alignas(DISPATCH_LINE_BYTES) uint64_t started_ns;
    int task_cpu;
    unsigned starts;
};

struct dispatch_pacing {
    uint64_t pause_ns;  /* before each push; in the closed loop */
    uint64_t period_ns; /* between pushes that are due; 0: the closed loop */
};

struct dispatch_round {
    struct session *session; /* open */
    MainQueue *queue;        /* NULL: the executor has a main thread of its own */
    struct dispatch_pacing pacing;
    struct dispatch_event *events; /* n_events, aligned; the caller's */
    size_t n_events;
    size_t n_replied;        /* by the main thread */
    atomic_int post_failure; /* what post_main returned, once it failed */
};

/* Does all events. False where a task or a reply was lost, came twice, or did not come in
 * DISPATCH_PATIENCE_MS. */
#define DISPATCH_PATIENCE_MS 10000
bool dispatch_round_run(struct dispatch_round *round, GError **error);
