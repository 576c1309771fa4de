/* SPDX-License-Identifier: Apache-2.0
 * Whether an executor keeps what runner/executor.h promises: a list of checks, each in a forked
 * child, so that a crash, a hang or a corrupted process is the result of one check. Judged after
 * settling: threads that end, and calls that come too late, are given time. No wall time is
 * asserted but that of hangs. Main thread of a process with one thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

enum conformance_state {
    CONFORMANCE_PASSED,
    CONFORMANCE_FAILED,
    CONFORMANCE_NOT_ASKED /* the executor does not declare what the check is about */
};

struct conformance_outcome {
    const char *check;   /* "exactly-once" */
    const char *promise; /* "each task runs exactly once" */
    enum conformance_state state;
    char *message; /* what is wrong; why it is not asked; NULL where it passed */
};

/* `name` as executor_resolve gives it. An array of struct conformance_outcome. NULL with an error
 * where the executor cannot be loaded. */
GArray *conformance_run(const char *name, guint timeout_ms, GError **error);
bool conformance_passed(const GArray *outcomes);
