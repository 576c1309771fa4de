/* SPDX-License-Identifier: Apache-2.0
 * The parameters of a case besides executor, threads and task_cost: placement, which every
 * benchmark has, and those that a benchmark brings itself. A group of a plan gives lists of values,
 * the command line gives others in their place, else the benchmark's own matrix holds; together
 * they are combinations, one after the other. Pure; main thread. */
#pragma once

#include "runner/benches/bench.h"
#include "runner/plan_file.h"

#define PLAN_PARAMS_MAX (1u + BENCH_PARAMS_MAX) /* placement is the first */

typedef struct plan_params {
    const struct bench *bench;
    GStrv lists[PLAN_PARAMS_MAX]; /* NULL: left out */
    guint at[PLAN_PARAMS_MAX];
    bool is_done;
} PlanParams;

/* The keys that a group of cells may have for them: "placement", "pause_us", … of all benchmarks;
 * NULL-terminated, free with g_free. */
const char **plan_params_keys(void);

/* `assignments`: of the command line, "NAME=VALUE" texts, or NULL. Where one names a parameter that
 * the benchmark does not have, there are no combinations. The values are not looked at yet. */
bool plan_params_begin(PlanParams *params, const struct bench *bench, const PlanFile *file,
                       const char *group, const GPtrArray *assignments, GError **error);
/* Writes the next combination into `out`; false behind the last. */
bool plan_params_next(PlanParams *params, struct bench_case *out);
void plan_params_clear(PlanParams *params);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PlanParams, plan_params_clear)

/* Whether the case has what "NAME=VALUE" says. */
bool plan_params_match(const struct bench *bench, const struct bench_case *cell,
                       const char *assignment);
/* False where the text is not NAME=VALUE with a parameter's name that some benchmark has. */
bool plan_params_check(const char *assignment, GError **error);
