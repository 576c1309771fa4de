/* SPDX-License-Identifier: Apache-2.0
 * Measures a plan: in each round every cell once, in an order that is shuffled anew, so that a
 * drift of the machine falls on all cells alike. The iterations of a cell are calibrated in its
 * first round and stay. A cell that was disturbed is measured again, and its samples are marked, as
 * runner/disturbance.h says. A cell that fails keeps the samples that it has and its error, and is
 * not measured again. */
#pragma once

#include "runner/plan.h"

/* Measures one cell; cell_measure but in tests. */
typedef struct run_result *(*rounds_measure_fn)(const struct cell *cell,
                                                const struct cell_request *request,
                                                uint64_t *out_iterations, GError **error);

struct rounds_watch {
    rounds_measure_fn measure;
    bool (*stopped)(void); /* asked before each cell */
    double (*now_s)(void); /* monotonic */
    void (*cell_begins)(guint round, guint cell, const char *name, void *user);
    void (*round_done)(guint round, double round_s, void *user);
    void *user;
};

struct rounds_outcome {
    GPtrArray *results; /* struct run_result *, in the order of the plan's cells; owned */
    guint rounds;       /* that were finished */
    guint n_again;      /* cells that were measured again because they were disturbed */
    guint n_errors;     /* results that hold an error */
    bool stopped;       /* before the end: results are not to be used */
};

/* `seed` fixes the orders. A cell whose process could not even be started has that as its error:
 * what was measured before is kept. */
void rounds_run(const Plan *plan, uint64_t seed, const struct rounds_watch *watch,
                struct rounds_outcome *out_outcome);
void rounds_outcome_clear(struct rounds_outcome *outcome);

/* The order of a round: a permutation of 0 … n-1 that depends on seed and round only (Fisher–Yates,
 * SplitMix64). Pure. */
void rounds_order(uint64_t seed, guint round, guint *out_order, guint n);
