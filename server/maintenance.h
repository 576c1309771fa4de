/* SPDX-License-Identifier: Apache-2.0
 * The commands that look after a store: backup, restore, check. Each gives what is to be said on
 * stdout (the caller frees it), or NULL with an error. Prints nothing. The main thread. */
#pragma once

#include "server/config.h"

char *maintenance_backup(const Config *config, GError **error);
char *maintenance_restore(const Config *config, GError **error);

/* A line of each fault, and one of the whole; *out_is_whole: none was found. */
char *maintenance_check(const Config *config, bool *out_is_whole, GError **error);
