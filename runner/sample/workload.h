/* SPDX-License-Identifier: Apache-2.0
 * The work of a task: that of Apache Arrow's thread pool benchmark: 32 words of 64 bits,
 * folded by acc = (acc << (word mod 64)) - word in one chain in which each step needs the one
 * before; a pass is all 32 words, and a task_cost of n is n/32 passes (1000 is 31 passes, 992
 * steps). It touches 256 bytes and writes nothing.
 *
 * The result of a pass cannot prove that the passes before it ran, because the shifts push out what
 * was there. So passes are counted in the loop itself; sample/tally.h adds them up. */
#pragma once

#include <stdint.h>

#define WORKLOAD_WORDS         32u
#define WORKLOAD_TASK_COST_MIN 32u         /* one pass: less would be no work at all */
#define WORKLOAD_TASK_COST_MAX 1000000000u /* about a second */

struct workload {
    uint64_t words[WORKLOAD_WORDS];
    uint64_t passes; /* in a task */
};

/* Fills the words with what a std::default_random_engine (libstdc++: minstd_rand0) seeded 42 gives
 * to a std::uniform_int_distribution over all 64 bits (libstdc++ 12): the very words of Arrow's
 * benchmark on Linux. */
void workload_init(struct workload *workload, uint64_t task_cost);

/* One task's work: the function that every benchmark and the reference call. Returns the passes
 * that it ran. Never inlined. */
uint64_t workload_run(const struct workload *workload);
