/* SPDX-License-Identifier: Apache-2.0
 * The executor `steal`: this project's stealing pool (runner/pool/steal_pool.h). Loading never
 * fails. */
#pragma once

#include "runner/executor.h"
#include <glib.h>

const struct executor_ops *steal_load(GError **error);
