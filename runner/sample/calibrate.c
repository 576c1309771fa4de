/* SPDX-License-Identifier: Apache-2.0
 * The calibration of a sample's length. Pure arithmetic; any thread. */
#include "runner/sample/calibrate.h"

#define SCALE_ENOUGH_RATIO 10u
#define GROWTH_MAX         100.0
#define GROWTH_MIN         2.0

bool calibrate_step(uint64_t iterations, uint64_t wall_ns, uint64_t target_ns, uint64_t *out_next)
{
    bool enough =
        wall_ns >= target_ns / SCALE_ENOUGH_RATIO || iterations >= CALIBRATE_ITERATIONS_MAX;
    double factor = wall_ns > 0 ? (double)target_ns / (double)wall_ns : GROWTH_MAX;
    if (!enough) {
        factor = factor > GROWTH_MAX ? GROWTH_MAX : factor;
        factor = factor < GROWTH_MIN ? GROWTH_MIN : factor;
    }
    double next = (double)iterations * factor + 0.5;
    if (next < 1) {
        next = 1;
    }
    *out_next = next > CALIBRATE_ITERATIONS_MAX ? CALIBRATE_ITERATIONS_MAX : (uint64_t)next;
    return enough;
}
