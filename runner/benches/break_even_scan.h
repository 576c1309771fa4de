/* SPDX-License-Identifier: Apache-2.0
 * The measuring of BreakEven: for a list of task costs, pass by pass, each in an order that is
 * shuffled anew:
 *
 *   work     a loop of plain calls of the task, per call
 *   burst    tasks submitted one by one, then wait_all: wall time per task
 *   push     one task submitted to threads that have nothing to do: until submit returns
 *   reply    … until wait_all returns
 *
 * The plain call is the very function that the executor gets, and is timed right before the burst
 * that it is compared with. Passes of one size have the same number of tasks, set by a first pass
 * that is not kept. Every task is counted. Main thread; the executor is open. */
#pragma once

#include "runner/benches/session.h"
#include "runner/measure/break_even.h"

#define BREAK_EVEN_SIZES_MAX BREAK_EVEN_POINTS_MAX

struct break_even_size {
    uint64_t task_cost;    /* steps */
    uint64_t calls, tasks; /* in one pass: plain calls, tasks of the burst */
    uint32_t replies;      /* in one pass: tasks that are waited for one by one */
    double work_ns[BREAK_EVEN_PASSES_MAX];
    double burst_ns[BREAK_EVEN_PASSES_MAX];
    double push_ns[BREAK_EVEN_PASSES_MAX];  /* median of the pass */
    double reply_ns[BREAK_EVEN_PASSES_MAX]; /* the same */
};

struct break_even_scan {
    struct session *session;
    struct break_even_size sizes[BREAK_EVEN_SIZES_MAX]; /* ascending by task_cost */
    size_t n_sizes;
    size_t n_passes;
    uint64_t random; /* state of the orders */
};

/* Adds a size, in its place; without effect where it is there already, or the list is full. */
void break_even_scan_add(struct break_even_scan *scan, uint64_t task_cost);

/* Measures all sizes that have not been measured: n_passes passes. False where the executor failed,
 * or lost or repeated a task. */
bool break_even_scan_run(struct break_even_scan *scan, GError **error);
