/* SPDX-License-Identifier: Apache-2.0
 * How long data is kept, through a snapshot (see store_retention.h). Any thread. */
#include "server/store/store_internal.h"

bool store_samples_dropped(StoreSnapshot *snapshot, int64_t run_seq, int64_t *out_ms,
                           GError **error)
{
    const struct store_run *run = store_run_by_seq(snapshot, run_seq);
    *out_ms = 0;
    if (!run || !run->samples_dropped)
        return true;
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    return rows && sqlite_reader_dropped(rows, run_seq, out_ms, error);
}

int64_t store_retention_version(StoreSnapshot *snapshot)
{
    return snapshot->catalogue->retention_version;
}
