/* SPDX-License-Identifier: Apache-2.0
 * The executors `performselector` and `nsthread`: GNUstep's performSelectorInBackground and
 * NSThread, from modules of their own names (gnustep_module.m). Loading fails with
 * ERROR_UNAVAILABLE where the library is not there. */
#pragma once

#include "runner/executor.h"
#include <glib.h>

#define GNUSTEP_INSTALL "apt install libgnustep-base1.28"

const struct executor_ops *gnustep_load_perform(GError **error);
const struct executor_ops *gnustep_load_detach(GError **error);
