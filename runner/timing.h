/* SPDX-License-Identifier: Apache-2.0
 * Timing a command as a whole, process by process: warm-ups, then executions until there are enough
 * of them and they have lasted long enough. Main thread.
 *
 * The metrics have the names and units of hyperfine's (schema/formats), so that a project may
 * change from one to the other: time (wall clock), user_time and system_time (the process and the
 * children that it waited for), all in ns, and memory (peak resident set, bytes). Beside each
 * sample is recorded what is beside those of cells (runner/cell.h), as far as a command has it:
 * handoff, fixed_loop (the probe before it), foreign_cpu, steal, throttled; and cpu_pressure: how
 * long some task of the machine waited for a CPU meanwhile (ms). */
#pragma once

#include "schema/run.h"

struct timing_request {
    const char *const *arguments; /* NULL-terminated; the first is the program */
    const char *bench;
    const GPtrArray *params; /* "NAME=VALUE" texts, checked; NULL: none */
    guint warmups;
    guint runs_min, runs_max; /* at least 1, at most RUN_SAMPLES_MAX */
    double seconds_min;       /* further ones until together they have lasted so long */
    guint timeout_seconds;    /* of one execution; 0: none */
    bool shows_output;
    bool (*stopped)(void);
    void (*begins)(guint run, guint warmups, void *user); /* run: from 1, warm-ups first */
    void *user;
};

/* A result with its samples, or with an error where an execution fails: it exits with another
 * status than 0, is killed or hangs. NULL with an error where it cannot be started, or without one
 * where it was stopped. */
struct run_result *timing_run(const struct timing_request *request, GError **error);

/* ---- What disturbs one execution of anything ---- */

enum timing_column {
    TIMING_HANDOFF,
    TIMING_FIXED_LOOP,
    TIMING_FOREIGN_CPU,
    TIMING_STEAL,
    TIMING_THROTTLED,
    TIMING_CPU_PRESSURE,
    TIMING_COLUMNS
};
extern const struct timing_column_name {
    const char *name, *unit;
} timing_columns[TIMING_COLUMNS];

struct timing_noise {
    bool has[TIMING_COLUMNS];
    double values[TIMING_COLUMNS];
};

struct child_request;
struct child_outcome;

/* Runs it once, with the probe before it and the readings around it. */
struct child_outcome *timing_execute(const struct child_request *request, struct timing_noise *out,
                                     GError **error);
