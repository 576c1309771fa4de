/* SPDX-License-Identifier: Apache-2.0
 * The yardstick: plain SQLite that writes the rows of such runs to the same tables as the store
 * does, with the same group commit and a checkpoint thread. It has no catalogue, no checks, no
 * documents: it is what the disk and SQLite allow. */
#pragma once

#include "tests/bench/bench_load.h"

/* Lets n clients insert runs for so long into the file at `path`. */
struct bench_figures plain_sqlite_measure(const char *path, guint n_clients, double seconds);
