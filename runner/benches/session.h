/* SPDX-License-Identifier: Apache-2.0
 * One executor in the hands of a benchmark: made, used inside its region where it has one, ended;
 * with its failures as errors that name it. It knows no benchmark. Main thread; the process is one
 * that measures (executors_load_here). */
#pragma once

#include "runner/benches/bench.h"

/* A burst to an executor that makes a thread for each task holds no more tasks than this: it takes
 * tens of microseconds for each. Such results say so in their info. */
#define SESSION_SLOW_TASKS_MAX 2000u

struct session {
    const struct executor_ops *ops;
    struct executor_config config;
    void *self;
    bool is_open, is_shut;
};

/* Loads the executor of the case; makes nothing yet. */
bool session_prepare(struct session *session, const struct bench_case *cell, GError **error);
bool session_open(struct session *session, GError **error);
/* Calls body(context) once, inside the executor's region where it has one. */
bool session_run(struct session *session, void (*body)(void *context), void *context,
                 GError **error);
bool session_has_region(const struct session *session);
bool session_shutdown(struct session *session, GError **error);
void session_close(struct session *session); /* destroys it, where it is open */

/* "executor tbb: submit failed: …". Returns false. `failure` is what the function returned. */
bool session_fail(const struct executor_ops *ops, const char *what, int failure, GError **error);

/* `items`, or fewer where the case's executor makes a thread for each task. */
uint64_t session_items(const struct bench_case *cell, uint64_t items);
