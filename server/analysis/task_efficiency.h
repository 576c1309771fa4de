/* SPDX-License-Identifier: Apache-2.0
 * How well an executor uses its cores, by how much work a task holds: the points of such a curve
 * and where it crosses a threshold. Pure: numbers in, numbers out. Any thread.
 *
 * With w the time of one plain call of the task, R the tasks a second that were done, and cores =
 * min(threads, CPUs that can be used):
 *
 *   efficiency  = work done / ideal = R * w / cores    1: as many plain calls as there are cores
 *   speed-up    = R * w                                1: no more than one plain call: break-even
 *   granularity = cores / R                            elapsed time * cores / tasks, so overhead
 *                                                      is in it
 *
 * METG(50 %), the minimum effective task granularity, is Task Bench's (Slaughter et al., Task
 * Bench: A parameterized benchmark for evaluating parallel runtime performance, SC 2020): the
 * granularity at which the efficiency is 50 %. Since efficiency = w / granularity, it is the work
 * at the crossing divided by the threshold. Break-even is the crossing of 1 / cores.
 *
 * Where efficiency does not rise steadily, the crossing is the one above which each measured cost
 * reaches the threshold (as in runner/measure/break_even.h). Between two costs the logarithm of the
 * efficiency is taken to be linear over the logarithm of the work, so the answer lies on the line
 * that a log-log picture draws. */
#pragma once

#include <glib.h>
#include <stdbool.h>

struct efficiency_point {
    double task_cost;  /* steps of work in a task, above 0 */
    double work_ns;    /* w */
    double efficiency; /* as above, not negative */
};

/* False where it cannot be said: a rate or cost that is not above 0, or not finite. `reference` is
 * the tasks a second of one plain call. */
bool efficiency_point_make(double task_cost, double rate, double reference, double cores,
                           struct efficiency_point *out);

enum efficiency_reach {
    EFFICIENCY_BELOW, /* reached at every cost: the crossing is below the smallest */
    EFFICIENCY_AT,
    EFFICIENCY_BEYOND /* not reached at the largest cost */
};

struct efficiency_crossing {
    enum efficiency_reach reach;
    double task_cost, work_ns; /* of the crossing; else of that end of what was measured */
};

/* `points` in ascending order of cost, at least one; threshold above 0. */
struct efficiency_crossing efficiency_crossing_of(const struct efficiency_point *points, guint n,
                                                  double threshold);
