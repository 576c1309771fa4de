/* SPDX-License-Identifier: Apache-2.0
 * What a benchmark is: one file here, one row of the table benches[]. It is run in a process of its
 * own, on its main thread. An iteration is the benchmark's unit of repetition; only the number of
 * iterations in a sample is calibrated. What is outside the timed region (making and destroying a
 * pool) happens inside `iterate`, between iterations, and is left out of the time that it returns.
 */
#pragma once

#include "runner/executor.h"
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define BENCH_EXECUTOR_MAX 256u
#define BENCH_THREADS_MAX  1024u
#define BENCH_PARAMS_MAX   4u
#define BENCH_VALUE_BYTES  32u

struct bench_case {
    char executor[BENCH_EXECUTOR_MAX]; /* "" where the benchmark takes none */
    uint32_t threads;                  /* 0 where the benchmark or the executor takes none */
    uint64_t task_cost;                /* shift-and-subtract steps of the workload */
    /* Where the threads may run: "" (anywhere), or as machine/placement.h has it. A parameter of
     * every benchmark, left out where it is "". */
    char placement[BENCH_VALUE_BYTES];
    /* Values of the benchmark's own `params`, in their order; "": left out. */
    char own[BENCH_PARAMS_MAX][BENCH_VALUE_BYTES];
};

/* A parameter that a benchmark has besides executor, threads and task_cost. */
struct bench_param {
    const char *name;    /* in results, plans and --param: "pause_us" */
    const char *values;  /* of the default matrix, comma-separated */
    bool is_alternative; /* stands in place of the parameter before it where a plan gives it values,
                            and is left out where none does */
    const char *allowed; /* for messages: "0 to 1000000, or first" */
    bool (*allows)(const char *value);
};

/* What one sample measured. Wall time is for rates, process CPU for cost; they are never mixed. */
struct bench_timing {
    uint64_t wall_ns; /* of the timed regions, summed */
    uint64_t cpu_ns;  /* process CPU over the same regions */
    uint64_t items;   /* tasks (or calls) that ran in them, counted by the tasks themselves */
    uint64_t iterations;
};

struct run_result; /* schema/run.h */

/* What `measure` is asked for. */
struct bench_request {
    uint32_t sample_ms; /* what a sample should last, as far as the benchmark can choose */
    uint32_t sample;    /* 0 for the first in this process */
};

struct bench {
    const char *name;
    uint32_t version; /* raise it when what is measured changes */
    const char *description;
    const char *executors; /* of the default matrix, comma-separated; "": takes none */
    bool only_those;       /* it runs on no other executor than these */
    uint64_t needs;        /* enum executor_capability that an executor must have, or-ed */
    uint64_t refuses;      /* and those that it must not */
    bool takes_threads;    /* where the executor does, too */
    bool own_costs;        /* it goes through task costs by itself, or its tasks do nothing: takes
                              no task_cost (it is 0) */
    const struct bench_param *params; /* ends with a row whose name is NULL; NULL: none */
    uint64_t (*items_per_iteration)(const struct bench_case *cell);
    /* False with an error where this case cannot be (an executor that is not there, threads 0).
     * Everything that lives across iterations. */
    bool (*setup)(void **out_state, const struct bench_case *cell, GError **error);
    /* Runs `iterations` and adds to *timing. False with an error where a task was lost, ran twice
     * or failed. */
    bool (*iterate)(void *state, uint64_t iterations, struct bench_timing *timing, GError **error);
    /* In place of `iterate` and items_per_iteration (both NULL) where a benchmark has metrics of
     * its own. Takes one sample: adds to `out`, which holds bench and parameters, metrics of any
     * kind (of METRIC_SAMPLES one value each), flags, what stands beside these values (one each),
     * and facts (info_json, a map). Every call gives the same names and units; calls and rounds are
     * put together by runner/result_merge.h. There is no warm-up and no calibration but its own;
     * the probe and what disturbed are recorded beside by the caller. */
    bool (*measure)(void *state, const struct bench_request *request, struct run_result *out,
                    GError **error);
    void (*teardown)(void *state);
};

extern const struct bench *const benches[]; /* NULL-terminated */
const struct bench *bench_find(const char *name);
char *bench_names(void); /* "WorkloadCost, …" for messages */

/* The rows. */
extern const struct bench bench_workload_cost, bench_serial_task_group, bench_thread_pool_spawn,
    bench_threaded_task_group, bench_dispatch_push, bench_dispatch_start, bench_dispatch_reply,
    bench_break_even, bench_fork_join, bench_nested, bench_multi_producer, bench_blocking,
    bench_mixed, bench_tick, bench_idle, bench_create_destroy;

/* Whether a case on an executor with these capabilities has the parameter `threads`. */
bool bench_takes_threads(const struct bench *bench, uint64_t capabilities);

/* "ThreadPoolSpawn/executor:fifo/threads:4/task_cost:1000" */
char *bench_case_name(const struct bench *bench, const struct bench_case *cell);
/* The value of a parameter of its own; "" where the case has none. */
const char *bench_case_own(const struct bench *bench, const struct bench_case *cell,
                           const char *name);
/* False with one line that names what is wrong and what would be right. */
bool bench_case_check(const struct bench *bench, const struct bench_case *cell, GError **error);
