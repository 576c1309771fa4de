/* SPDX-License-Identifier: Apache-2.0
 * Whether a store is whole: its structure, what its tables say of each other, and each run's
 * document, which is put together, printed, read again and held against the digest of what was
 * posted. Also beside a server that writes. Any thread. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct store_check {
    int64_t schema;
    guint n_runs;      /* whose documents were read */
    guint n_shortened; /* of them, those whose samples retention dropped: they have no digest */
    bool is_older;     /* an older schema: only the structure was looked at */
    GPtrArray *faults; /* char *, at most a hundred or so; empty: the store is whole */
} StoreCheck;

void store_check_free(StoreCheck *check);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreCheck, store_check_free)

/* NULL with an error where there is nothing that could be checked: no such file (ERROR_NOT_FOUND),
 * another program's (ERROR_INVALID), a newer schema (ERROR_UNSUPPORTED). */
StoreCheck *store_check(const char *url, GError **error);
