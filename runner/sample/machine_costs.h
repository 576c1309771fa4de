/* SPDX-License-Identifier: Apache-2.0
 * What the machine's own primitives cost: most figures of a pool are made of these. Medians, in
 * about half a second. Knows no benchmark. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_COSTS_CPUS_MAX  8u /* of which pairs are looked at */
#define MACHINE_COSTS_PAIRS_MAX 28u

struct machine_pair {
    size_t first_cpu, second_cpu;
    bool has_handoff; /* false where one of the two did not come to run in time */
    double handoff_ns;
};

struct machine_costs {
    double clock_cost_ns;       /* of one reading of CLOCK_MONOTONIC */
    double clock_resolution_ns; /* the smallest step between readings */
    double process_clock_cost_ns;
    double null_syscall_ns; /* getppid, which does nothing */
    struct machine_pair pairs[MACHINE_COSTS_PAIRS_MAX];
    size_t n_pairs;
    size_t n_cpus; /* this process may use; pairs are of the first MACHINE_COSTS_CPUS_MAX */
    /* From before the futex wake call until the woken thread, pinned, runs. */
    bool has_wake_same_cpu, has_wake_cross_cpu;
    double wake_same_cpu_ns, wake_cross_cpu_ns;
    bool has_thread;
    double thread_create_ns; /* pthread_create until it runs */
};

/* Runs in the main thread, which it pins for a moment. */
void machine_costs_measure(struct machine_costs *out);
