/* SPDX-License-Identifier: Apache-2.0
 * The executor `openmp`: tasks of libgomp, GCC's OpenMP library. Loading fails with
 * ERROR_UNAVAILABLE where the library is not there. */
#pragma once

#include "runner/executor.h"
#include <glib.h>

#define OPENMP_INSTALL "apt install libgomp1"

const struct executor_ops *openmp_load(GError **error);
