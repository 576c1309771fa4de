/* SPDX-License-Identifier: Apache-2.0
 * The executor `libuv`: libuv's uv_queue_work on its global pool. Loading fails with
 * ERROR_UNAVAILABLE where the library is not there. */
#pragma once

#include "runner/executor.h"
#include <glib.h>

#define LIBUV_INSTALL "apt install libuv1"

const struct executor_ops *libuv_load(GError **error);
