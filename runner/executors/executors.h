/* SPDX-License-Identifier: Apache-2.0
 * The executors that the runner has: one file each, one row of this table; and those that a user
 * brings as a shared library (see runner/executor.h), which get their name from the library.
 *
 * A foreign library is loaded only where a case is measured: executor_describe loads it in a forked
 * child and keeps what it said, so that a library that crashes or hangs when it is loaded is an
 * error of one line. A process that measures calls executors_load_here first; then describing is
 * loading. Main thread. */
#pragma once

#include "runner/executor.h"
#include <glib.h>
#include <stdbool.h>

#define EXECUTOR_NAME_BYTES_MAX 64u
#define EXECUTOR_LIBRARIES_MAX  64u

struct executor_entry {
    const char *name;
    const char *description;
    const char *install; /* what to do where it is missing; NULL: it is always there */
    const struct executor_ops *(*load)(GError **error); /* ERROR_UNAVAILABLE with what to install */
};

struct executor_facts {
    char name[EXECUTOR_NAME_BYTES_MAX + 1];
    char version[128];
    uint64_t capabilities;
    bool has_region; /* run_region is there */
};

extern const struct executor_entry executors[]; /* ends with a row whose name is NULL */
const struct executor_entry *executor_find(const char *name); /* in the table only */
char *executor_names(void);                                   /* "direct, fifo" for messages */

/* Text that holds a slash is the path of a library, which is added here under the name that it
 * gives itself; any other is a name. Returns the name, which lives as long as the process. NULL:
 * ERROR_NOT_FOUND (no such name), ERROR_UNAVAILABLE (the library cannot be loaded, is none, or its
 * name cannot be taken). */
const char *executor_resolve(const char *text, GError **error);

/* The path of the library that was resolved to `name`; "" where it is of the table. */
const char *executor_library(const char *name);

/* Of a name that is in the table or was resolved. */
bool executor_describe(const char *name, struct executor_facts *out, GError **error);
/* Loads it in this process. */
const struct executor_ops *executor_load(const char *name, GError **error);

void executors_load_here(void);
