/* SPDX-License-Identifier: Apache-2.0
 * The executor `thread`: a thread for each task. Loading never fails. */
#pragma once

#include "runner/executor.h"
#include <glib.h>

const struct executor_ops *thread_load(GError **error);
