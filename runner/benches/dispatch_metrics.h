/* SPDX-License-Identifier: Apache-2.0
 * From events to what a result says of one of their three times. Pure.
 *
 * Metrics (ns, lower is better):
 *   latency                histogram of all events
 *   latency_same_cpu       of those whose task ran on the CPU that pushed it, and
 *   latency_cross_cpu      of the others: their medians differ tenfold where a wake-up of another
 * CPU is slow, and one median of both jumps with their shares latency_p50, _p99      of this
 * sample's events, for trends; _p999 where it has at least 10,000 and same_cpu_ratio, their share.
 * Which of the two histograms is there depends on where the kernel ran the tasks: one without
 * events is left out.
 *
 * Beside each sample: push_cpu and task_cpu, the CPU that pushed and ran most; and for up to
 * DISPATCH_PAIR_CPUS_MAX CPUs, cpu_A_to_B: events that were pushed on A and ran on B. */
#pragma once

#include "runner/benches/dispatch_round.h"
#include "schema/run.h"

#define DISPATCH_P999_EVENTS_MIN 10000u
#define DISPATCH_PAIR_CPUS_MAX   4u /* more would be more columns than are legible */

enum dispatch_column { DISPATCH_PUSH, DISPATCH_START, DISPATCH_REPLY };

uint64_t dispatch_latency_ns(const struct dispatch_event *event, enum dispatch_column column);

/* Adds metrics and what stands beside to `out`. n_events at least 1. */
void dispatch_metrics_add(const struct dispatch_event *events, size_t n_events,
                          enum dispatch_column column, struct run_result *out);
