/* SPDX-License-Identifier: Apache-2.0
 * What is to be measured: the cells of the matrix and how often. A plan is a key file:
 *
 *   [plan]
 *   name = nightly         # goes into the context; letters, digits, . _ -
 *   rounds = 10            # 1 to 1000; with a time-budget: at least so many
 *   time-budget = 300      # seconds: further rounds while one more is likely to fit
 *   samples = 1            # of each cell in a round, 1 to 100 (1)
 *   sample-ms = 100        # what a sample should last, 1 to 60000 (100)
 *   retries = 1            # of a disturbed cell in a round, 0 to 10 (1)
 *   timeout = 60           # seconds after which a cell hangs, 1 to 3600 (60)
 *   cell-ms = 700          # what a cell takes in a round on two CPUs, all in all:
 *                          # its process, probe, warm-up and samples
 *
 *   [cells spawn]          # any number of groups; names are for messages
 *   bench = ThreadPoolSpawn
 *   executor = fifo        # default: the benchmark's own matrix
 *   executor = installed   # all of this machine that the benchmark takes
 *   threads = 1, 2, 4, 8   # default; left out where there are none
 *   task-cost = 1000       # default 1000, 10000, 100000
 *   pause_us = 0, first    # a benchmark's own parameters, by their names
 *   placement = compact    # default none; see machine/placement.h
 *
 * A group stands for every combination of its lists. An unknown group, key, benchmark or executor,
 * a value that cannot be and a cell that is there twice are faults of one line. Those
 * of plans/ are built in: quick, default, full, seeds. */
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
    guint retries;         /* of a disturbed cell in a round; see runner/disturbance.h */
    guint cell_ms;         /* that one cell is thought to take in a round; 0: not said */
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
/* quick, default, full or seeds. */
bool plan_is_built_in(const char *name);
Plan *plan_built_in(const char *name, const struct plan_filter *filter, GError **error);
/* For an A/A run: each cell twice, the second half in the order of the first, and none measured
 * again (pairs are of one round). ERROR_INVALID where that is too many. */
bool plan_double(Plan *plan, GError **error);
/* How long it is thought to take in seconds; 0 where it does not say. */
double plan_length_s(const Plan *plan);
void plan_free(Plan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Plan, plan_free)
