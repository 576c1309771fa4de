/* SPDX-License-Identifier: Apache-2.0
 * The run documents of a project that does not exist, in the order in which its machines would have
 * sent them: 40 benchmarks on 3 machines over DEMO_COMMITS commits, with steps, a ramp, a revert, a
 * machine's new kernel, and noise of several kinds (demo_plan.h). The same options give the same
 * documents, byte for byte. Pure; one thread at a time. */
#pragma once

#include "schema/run.h"

struct demo_options {
    guint64 seed;
    int64_t end_s; /* the last commit lies an hour before it; seconds since 1970 UTC */
};

typedef struct demo_history DemoHistory;

DemoHistory *demo_history_new(const struct demo_options *options);
void demo_history_free(DemoHistory *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemoHistory, demo_history_free)

/* The next run, or NULL after the last one. The caller frees it. */
Run *demo_history_next(DemoHistory *history);

guint demo_history_n_runs(void);
