/* SPDX-License-Identifier: Apache-2.0
 * Who ran the tasks of a pass: threads, how many at once, how many tasks each, how many in the main
 * thread. Recording costs tens of nanoseconds for each task, so it is done in a pass of its own,
 * never in a timed one: bench_task_function gives the recording task only while observing.
 *
 * Threads: begin, end, waiting, note by the main thread; the task by any. */
#pragma once

#include "runner/executor.h"
#include <stdbool.h>
#include <stdint.h>

struct observed {
    uint64_t tasks;
    uint32_t peak_concurrency;   /* tasks at once */
    uint32_t threads_with_tasks; /* that ran any, the main thread included */
    uint32_t threads_created;    /* that were there or ran a task, but for the main thread */
    uint64_t tasks_per_thread_min, tasks_per_thread_max; /* of those that ran any */
    double inline_share; /* of tasks that submit ran at once in the main thread */
    double helped_share; /* of tasks that the main thread ran while it waited */
};

void observe_begin(void); /* the calling thread is the main thread */
struct observed observe_end(void);
bool observe_is_on(void);
/* While the main thread waits, what it runs is help, not inline. */
void observe_waiting(bool is_waiting);
/* Counts the threads that are alive, where observing: called while the executor is. */
void observe_note_threads(void);

/* So many threads that are alive are the benchmark's. */
void observe_foreign_threads(uint32_t threads);

void observe_task_enter(void);
void observe_task_leave(void);
