/* SPDX-License-Identifier: Apache-2.0
 * Questions to the rows of a store whose answers say that it is damaged. Any thread. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>

#define SQLITE_FAULTS_MAX 100 /* more are not looked for */

/* Whether the file's structure is sound: pages, indexes, what refers to what. A line of each fault
 * is added to `faults` (char *). False with an error where the file cannot be read at all. */
bool sqlite_check_structure(const char *path, GPtrArray *faults, GError **error);

/* The same for what tables say of each other, with the newest schema: queues, counts, documents. */
bool sqlite_check_tables(const char *path, GPtrArray *faults, GError **error);
