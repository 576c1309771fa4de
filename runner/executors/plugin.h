/* SPDX-License-Identifier: Apache-2.0
 * Shared libraries behind the plug-in contract: loading one, and asking a child process what one
 * says of itself. It knows no table of executors. Main thread; plugin_describe forks, so no other
 * thread may run. */
#pragma once

#include "runner/executors/executors.h"

/* Loads the library and asks it for its table, which is checked: versions, sizes, the members that
 * must be there. ERROR_UNAVAILABLE, naming the path. It is never unloaded. */
const struct executor_ops *plugin_load(const char *path, GError **error);

/* One of the runner's own modules, lib/breakeven/executors/NAME.so beside the folder of this
 * program. `install` is what to do where it, or a library that it needs, is missing. */
const struct executor_ops *plugin_load_module(const char *name, const char *install,
                                              GError **error);

/* The table in plain data. False where the name or version is too long. */
bool plugin_facts(const struct executor_ops *ops, struct executor_facts *out, GError **error);

/* The same, loaded in a forked child: by `load`, or where that is NULL from the path `subject`. */
bool plugin_describe(const char *subject, const struct executor_ops *(*load)(GError **error),
                     struct executor_facts *out, GError **error);

/* False where a member that the table must have is missing, or a capability has no function. */
bool plugin_check_table(const struct executor_ops *ops, const char *origin, GError **error);

/* The optional members of a table whose size may be that of an older header: NULL where it ends
 * before them. */
#define PLUGIN_HAS(ops, member)                                                                    \
    ((ops)->size >= offsetof(struct executor_ops, member) + sizeof((ops)->member) && (ops)->member)
