/* SPDX-License-Identifier: Apache-2.0
 * The executor `tbb`: oneTBB's task_group in a task_arena, from the module tbb.so (tbb_module.cc).
 * Loading fails with ERROR_UNAVAILABLE where the library is not there. */
#pragma once

#include "runner/executor.h"
#include <glib.h>

#define TBB_INSTALL "apt install libtbb12"

const struct executor_ops *tbb_load(GError **error);
