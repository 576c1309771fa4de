/* SPDX-License-Identifier: Apache-2.0
 * What the demonstration tells: its machines, its benchmarks, and where their levels were made to
 * move. Tables; a commit's index counts from 0 to DEMO_COMMITS - 1. Pure. */
#pragma once

#include "server/demo/synthetic_history.h"

#include <stdbool.h>

#define DEMO_PROJECT  "demo"
#define DEMO_COMMITS  400u
#define DEMO_MACHINES 3u

struct demo_machine {
    const char *name, *cpu;
    guint cores;
    const char *kernel, *new_kernel; /* the latter from commit `kernel_at` on; NULL: none */
    guint kernel_at;
    guint every;      /* measures each so manieth commit */
    guint miss_every; /* and of these leaves out one in so many, 0: none */
    guint end;        /* has been silent from this commit on */
    double time;      /* a duration here, against the table's */
    double deviation; /* likewise */
};
extern const struct demo_machine demo_machines[DEMO_MACHINES];

enum demo_params { DEMO_ALONE, DEMO_THREADS, DEMO_EXECUTORS, DEMO_BYTES, DEMO_FILES };

struct demo_bench {
    const char *name;
    enum demo_params params;
    double ns; /* of one item, one thread, or one byte */
    enum synthetic_noise noise;
    double deviation;
    guint first, end; /* measured at the commits first <= i < end; end 0: to the last */
};
extern const struct demo_bench demo_benches[];
extern const guint demo_n_benches;

#define DEMO_EVERYWHERE DEMO_MACHINES

/* The durations of some benchmarks move. */
struct demo_move {
    const char *benches; /* a prefix of their names, or several with | between */
    const char *param;   /* "executor=fifo": only cases with it; NULL: all */
    guint machine;       /* DEMO_EVERYWHERE: all */
    struct synthetic_move move;
};
extern const struct demo_move demo_moves[];
extern const guint demo_n_moves;

bool demo_move_takes(const struct demo_move *move, const char *bench);

/* What a commit says of itself. */
const char *demo_subject(guint commit);
const char *demo_author(guint commit);
