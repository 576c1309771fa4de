/* SPDX-License-Identifier: Apache-2.0
 * How many iterations make a sample last as long as wished. Pure: the caller runs the iterations
 * and tells how long they took. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CALIBRATE_ITERATIONS_MAX 1000000000u

/* One step: `iterations` took `wall_ns`. True when *out_next (1 to CALIBRATE_ITERATIONS_MAX) is the
 * answer, the nearest number of whole iterations that lasts `target_ns`; false when *out_next
 * should be tried first, because what was measured is too short to scale up: a tenth of the target
 * at least. Each step grows at least twofold and at most hundredfold. */
bool calibrate_step(uint64_t iterations, uint64_t wall_ns, uint64_t target_ns, uint64_t *out_next);
