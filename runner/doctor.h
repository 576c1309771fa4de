/* SPDX-License-Identifier: Apache-2.0
 * Judges whether a machine is fit to measure on: each of its costs and facts is fine, or there is
 * something to do. Pure: numbers and facts in, lines out; the thresholds are here:
 *
 *   a reading of the clock   up to 100 ns       its step               up to 100 ns
 *   a null system call       up to 500 ns       a futex wake-up        same CPU 15 us, other 25 us
 *   cache-line hand-off      up to 400 ns       making a thread        up to 100 us
 *   load                     up to 0.3 a CPU    CPU pressure (10 s)    up to 1 %
 *
 * They are what an idle machine of the last ten years keeps, with room. */
#pragma once

#include "runner/sample/machine_costs.h"
#include <glib.h>
#include <jansson.h>

struct doctor_check {
    char *name;       /* "clock_cost", "governor" */
    char *value;      /* as read by people: "27 ns", "powersave", "not visible" */
    double number;    /* in `unit`; only with a unit */
    const char *unit; /* "ns", "%", …, or NULL */
    char *advice;     /* what to do; NULL: fine */
};

void doctor_check_free(struct doctor_check *check);

/* What is read at this moment. */
struct doctor_moment {
    bool has_load, has_pressure;
    double load_1min;
    double pressure_10s_percent;
};

/* /proc of this machine; `root` "" or, in tests, a folder that holds proc/. */
void doctor_read_moment(const char *root, struct doctor_moment *out);

/* `facts`: the environment of a run as JSON object. Array of struct doctor_check *. */
GPtrArray *doctor_judge(const struct machine_costs *costs, const json_t *facts,
                        const struct doctor_moment *moment);
