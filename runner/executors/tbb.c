/* SPDX-License-Identifier: Apache-2.0
 * The executor `tbb` as the runner sees it: a module in C++, loaded where its library is there.
 * Main thread. */
#include "runner/executors/tbb.h"
#include "runner/executors/plugin.h"

const struct executor_ops *tbb_load(GError **error)
{
    return plugin_load_module("tbb", TBB_INSTALL, error);
}
