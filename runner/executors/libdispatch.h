/* SPDX-License-Identifier: Apache-2.0
 * The executors of Grand Central Dispatch: `libdispatch` (its global queue), `libdispatch-group`
 * (the same through a dispatch group) and `libdispatch-serial` (a serial queue). Loading fails with
 * ERROR_UNAVAILABLE where the library is not there: the environment's BREAKEVEN_LIBDISPATCH is its
 * path, else libdispatch.so is looked for as any library is. */
#pragma once

#include "runner/executor.h"
#include <glib.h>

#define LIBDISPATCH_VARIABLE "BREAKEVEN_LIBDISPATCH"
#define LIBDISPATCH_INSTALL                                                                        \
    "Debian 12 has no package: build swift-corelibs-libdispatch, and set " LIBDISPATCH_VARIABLE    \
    "=/path/to/libdispatch.so"

const struct executor_ops *libdispatch_load(GError **error);
const struct executor_ops *libdispatch_load_group(GError **error);
const struct executor_ops *libdispatch_load_serial(GError **error);
