/* SPDX-License-Identifier: Apache-2.0
 * The executor `glib`: GLib's GThreadPool. Loading never fails. */
#pragma once

#include "runner/executor.h"
#include <glib.h>

const struct executor_ops *glib_load(GError **error);
