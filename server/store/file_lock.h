/* SPDX-License-Identifier: Apache-2.0
 * One server per store: a lock on a file beside the store, held as long as the process lives. */
#pragma once

#include "schema/error.h"

/* Holds PATH.lock for this process. Its descriptor, to be closed at the end; -1 with ERROR_CONFLICT
 * where another server holds it, ERROR_UNAVAILABLE where it cannot be made. */
int file_lock_take(const char *path, GError **error);
