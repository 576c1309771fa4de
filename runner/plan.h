/* SPDX-License-Identifier: Apache-2.0
 * What is to be measured: the cells of the matrix and how often. A plan is a key file:
 *
 *   [plan]
 *   name = nightly            # goes into the run's context; letters, digits, . _ -
 *   rounds = 10               # rounds to measure, 1 to 1000; with time-budget: at least so many
 *   time-budget = 300         # optional, seconds: further rounds are begun while one more is
 * likely to fit samples = 1               # samples of each cell in a round, 1 to 100 (default 1)
 *   sample-ms = 100           # what a sample should last at least, 1 to 60000 (default 100)
 *   timeout = 60              # optional, seconds after which a cell counts as hanging, 1 to 3600
 * (default 60)
 *
 *   [cells spawn]             # any number of groups; the name is only for messages
 *   bench = ThreadPoolSpawn   # one or more, separated by commas
 *   executor = direct, fifo   # default: those of the benchmark's own matrix
 *   threads = 1, 2, 4, 8      # default 1, 2, 4, 8; left out for executors and benchmarks that take
 * none task-cost = 1000, 10000   # default 1000, 10000, 100000
 *
 *   pause_us = 0, 300, first  # and the like: a benchmark's own parameters, by their names
 *   placement = none, compact # default none; see machine/placement.h
 *
 * A group stands for every combination of its lists. An unknown group, key, benchmark or executor,
 * a value that cannot be and a cell that is there twice are faults of one line. plans/quick.plan
 * and plans/default.plan are built in. */
#pragma once

#include "runner/cell.h"

#define PLAN_CELLS_MAX  RUN_RESULTS_MAX
#define PLAN_ROUNDS_MAX 1000u

typedef struct plan {
    char *name;
    guint rounds;         /* at least */
    guint budget_seconds; /* 0: exactly `rounds` */
    guint samples;        /* of each cell in a round */
    guint sample_ms;
    guint timeout_seconds; /* of one cell in one round */
    GArray *cells;         /* struct cell */
} Plan;

/* What the command line asks for: lists of char *; NULL: any. Values of threads and task_cost that
 * the plan does not hold take the place of its own; a cell that has no such parameter does not
 * match. */
struct plan_filter {
    const GPtrArray *benches, *executors, *threads, *task_costs;
    const GPtrArray *params; /* "NAME=VALUE": placement, and the benchmarks' own parameters */
};

/* `origin` names the file in messages. ERROR_INVALID; ERROR_UNAVAILABLE where the filter names an
 * executor that is not installed. */
Plan *plan_parse(const char *text, gsize length, const char *origin,
                 const struct plan_filter *filter, GError **error);
Plan *plan_read_file(const char *path, const struct plan_filter *filter, GError **error);
/* "quick" or "default". */
Plan *plan_built_in(const char *name, const struct plan_filter *filter, GError **error);
void plan_free(Plan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Plan, plan_free)
