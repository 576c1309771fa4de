/* SPDX-License-Identifier: Apache-2.0
 * The executor `direct`: runs each task at once, in submit. Never fails. */
#pragma once

#include "runner/executor.h"
#include <glib.h>

const struct executor_ops *direct_load(GError **error);
