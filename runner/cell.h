/* SPDX-License-Identifier: Apache-2.0
 * One cell measured in a process of its own: the parent's side (cell_measure) starts this program
 * again with CELL_ARGUMENT, the child's side (cell_child_main) measures and sends one framed,
 * checksummed result through a pipe. A child that crashes, hangs or sends rubbish is a result that
 * says so, never the end of the run. Children are killed as a group, and with their parent. */
#pragma once

#include "runner/benches/bench.h"
#include "schema/run.h"

#define CELL_ARGUMENT "--measure-cell"

struct cell {
    const struct bench *bench;
    struct bench_case values;
    /* Of another build of what is measured; NULL: this one's. Owned by nobody here. */
    const char *program; /* path of a breakeven-runner that measures the cell in place of this */
    const char *library; /* path of a library that is the executor `values` names */
};

struct cell_request {
    uint64_t
        iterations; /* in a sample; 0: calibrate to sample_ms and say how many in out_iterations */
    uint32_t samples;         /* to take in this process, after a warm-up that is dropped */
    uint32_t sample_ms;       /* what a sample should last, for calibration */
    uint32_t timeout_seconds; /* the watchdog's */
};

/* A result in the form of the run document: bench, params, metrics items_per_second, real_time,
 * cpu_time_per_item with `samples` samples each, and info (bench_version, library, oversubscribed,
 * samples_per_process); or its error. NULL only with a GError, where no process could be started.
 * Beside each sample are recorded, or not at all where one of them was not to be had:
 *
 * - handoff, fixed_loop (ns): the probe, see sample/probe.h
 * - reference (ns): a direct call of the same workload with the same task_cost
 * - foreign_cpu, steal (cpus), throttled (ms): what others took and a quota withheld meanwhile
 * - voluntary_switches, involuntary_switches, user_cpu, system_cpu (ms): of this process meanwhile,
 *   the benchmark's making and destroying of executors included; wakeups_per_task: a thread that
 *   went to sleep was woken, so voluntary switches over tasks
 * - peak_concurrency, inline_share, helped_share, threads_with_tasks, threads_created,
 *   tasks_per_thread_min, tasks_per_thread_max: of one iteration before the samples, in which each
 *   task records who runs it (benches/observe.h); the same for all samples of a process
 * (rounds.h adds `disturbed`, which judges these; see disturbance.h)
 * - iterations: that the sample took; not in info, where each calibration would mark the line */
struct run_result *cell_measure(const struct cell *cell, const struct cell_request *request,
                                uint64_t *out_iterations, GError **error);

/* main() of the child; argv[1] is CELL_ARGUMENT. */
int cell_child_main(int argc, char **argv);

/* The same with a table of one's own (NULL-terminated): a program that has other benchmarks than
 * benches[]. */
int cell_child_main_from(const struct bench *const *table, int argc, char **argv);

/* Kills the child that is running, if any: for signal handlers. */
void cell_interrupt(void);
