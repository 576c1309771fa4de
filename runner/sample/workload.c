/* SPDX-License-Identifier: Apache-2.0
 * The workload's loop and its words, alone in a translation unit so that no caller can see into the
 * loop. Knows no benchmark; workload_run is called by any thread, on data that nobody writes. */
#include "runner/sample/workload.h"

#define MINSTD_MULTIPLIER 16807u
#define MINSTD_MODULUS    2147483647u
#define MINSTD_SEED       42u
#define MINSTD_RANGE      (MINSTD_MODULUS - 2u) /* values are 1 to MODULUS-1 */

static uint64_t minstd_next(uint32_t *state)
{
    *state = (uint32_t)((uint64_t)*state * MINSTD_MULTIPLIER % MINSTD_MODULUS);
    return *state - 1u;
}

/* Uniform over 0 to 4, by division and rejection, as libstdc++ does for a range below the engine's.
 */
static uint64_t uniform_top(uint32_t *state)
{
    const uint64_t values = UINT64_MAX / (MINSTD_RANGE + 1u) / (MINSTD_RANGE + 1u) + 1u;
    const uint64_t scaling = MINSTD_RANGE / values;
    uint64_t value;
    do {
        value = minstd_next(state);
    } while (value >= values * scaling);
    return value / scaling;
}

/* Uniform over 0 to `range`, from a high part drawn first and one more number of the engine; too
 * large ones are drawn again. */
static uint64_t uniform_composed(uint32_t *state, uint64_t range, uint64_t (*high)(uint32_t *state))
{
    uint64_t value, shifted;
    do {
        shifted = (MINSTD_RANGE + 1u) * high(state);
        value = shifted + minstd_next(state);
    } while (value > range || value < shifted);
    return value;
}

static uint64_t uniform_middle(uint32_t *state)
{
    return uniform_composed(state, UINT64_MAX / (MINSTD_RANGE + 1u), uniform_top);
}

void workload_init(struct workload *workload, uint64_t task_cost)
{
    uint32_t state = MINSTD_SEED;
    for (uint32_t i = 0; i < WORKLOAD_WORDS; i++) {
        workload->words[i] = uniform_composed(&state, UINT64_MAX, uniform_middle);
    }
    workload->passes = task_cost / WORKLOAD_WORDS;
}

__attribute__((noinline)) uint64_t workload_run(const struct workload *workload)
{
    uint64_t accumulator = 0;
    uint64_t pass = 0;
    while (pass < workload->passes) {
        for (uint32_t i = 0; i < WORKLOAD_WORDS; i++) {
            uint64_t word = workload->words[i];
            accumulator = (accumulator << (word & 63u)) - word;
        }
        pass++;
        /* No instruction; but the compiler may neither skip a pass nor know the count before the
         * loop has run. */
        __asm__ volatile("" : "+r"(accumulator), "+r"(pass));
    }
    return pass;
}
