/* SPDX-License-Identifier: Apache-2.0
 * The executor `fifo`: this project's own thread pool (runner/pool/). Loading never fails. */
#pragma once

#include "runner/executor.h"
#include <glib.h>

const struct executor_ops *fifo_load(GError **error);
