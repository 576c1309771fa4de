/* SPDX-License-Identifier: Apache-2.0
 * The harness's own main thread: a queue of tasks that the main thread runs, behind a mutex and a
 * condition variable, for executors that have no main thread of their own (no EXECUTOR_MAIN).
 * Latencies that go through it say so in their info ("main_queue": "harness"): what they tell of
 * the way back is this queue's, not the executor's.
 *
 * Threads: post by any; pump by the main thread. */
#pragma once

#include "runner/executor.h"
#include <glib.h>

typedef struct main_queue MainQueue;

/* For at most `capacity` tasks at a time: posting takes no memory. */
MainQueue *main_queue_new(size_t capacity);
void main_queue_free(MainQueue *queue);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MainQueue, main_queue_free)

/* 0, or -EAGAIN where it is full. */
int main_queue_post(MainQueue *queue, executor_task_fn task, void *argument);
/* Runs what is there; where nothing is, sleeps until something is, at most timeout_ms (0: does not
 * sleep). Returns how many tasks ran. */
int main_queue_pump(MainQueue *queue, int timeout_ms);
