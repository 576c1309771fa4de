/* SPDX-License-Identifier: Apache-2.0
 * The executors that the runner has: one file each, one row of this table. */
#pragma once

#include "runner/executor.h"
#include <glib.h>

struct executor_entry {
    const char *name;
    const char *description;
    const char *install;                      /* what to install where it is missing; NULL: always there */
    const struct executor_ops *(*load)(GError **error); /* ERROR_UNAVAILABLE with what to install */
};

extern const struct executor_entry executors[]; /* ends with a row whose name is NULL */
const struct executor_entry *executor_find(const char *name);
char *executor_names(void); /* "direct, fifo" for messages */
