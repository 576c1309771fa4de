/* SPDX-License-Identifier: Apache-2.0
 * What disturbed a sample: time that others took from the CPUs, held-back time, context switches.
 * Read before and after; what the kernel does not tell is absent, never zero.
 *
 * Foreign CPU is the machine's busy time (/proc/stat, which counts in ticks of usually 10 ms, so
 * below a sample of 100 ms it is coarse) less the time of this process and of the children that it
 * waited for (getrusage). Threads that lived shorter than a tick are accounted late and can show as
 * foreign. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct noise_reading { /* own: of this process and the children that it waited for */
    uint64_t wall_ns;
    bool has_stat, has_throttled;
    double busy_s, steal_s;          /* of all CPUs */
    double own_user_s, own_system_s; /* CPU time of this process */
    double throttled_ms;
    int64_t voluntary, involuntary; /* context switches of this process */
};

struct noise {
    bool has_foreign, has_steal, has_throttled;
    double foreign_cpus; /* CPUs' worth of time, at least 0 */
    double steal_cpus;   /* taken by the hypervisor, where it says so */
    double throttled_ms; /* held back by the control groups' quota */
    double voluntary_switches, involuntary_switches;
    double user_cpu_ms, system_cpu_ms; /* of this process */
};

void noise_read(struct noise_reading *out);
void noise_between(const struct noise_reading *before, const struct noise_reading *after,
                   struct noise *out);

/* How long some task has been waiting for a CPU since the machine started, in ms
 * (/proc/pressure/cpu, which kernels before 4.20 or without CONFIG_PSI do not have: false). */
bool noise_read_pressure(double *out_ms);
bool noise_parse_pressure(const char *text, double *out_ms);

/* The first line of /proc/stat. False where it is not that. Busy is user, nice, system, irq and
 * softirq. */
bool noise_parse_stat(const char *text, uint64_t *out_busy_ticks, uint64_t *out_steal_ticks);
