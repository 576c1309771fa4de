/* SPDX-License-Identifier: Apache-2.0
 * The checkpoint thread: moves what the write-ahead log holds into the database file beside the
 * writer, so that no commit pays for it. PASSIVE never waits for anybody; TRUNCATE does, and is
 * used only when the log has grown and at the end. */
#include "server/store/sqlite.h"
#include "server/store/store_internal.h"
#include <time.h>

#define CHECKPOINT_PAUSE_MS 200
#define WAL_BYTES_MAX       (64 << 20)

/* Waits for the pause to pass or the end. True: there is something to do. */
static bool wait_for_work(Store *store, bool *out_last)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += CHECKPOINT_PAUSE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&store->mutex);
    int code = 0;
    while (code == 0 && !store->closing_checkpoint)
        code = pthread_cond_timedwait(&store->has_checkpoint, &store->mutex, &until);
    bool dirty = store->dirty;
    store->dirty = false;
    *out_last = store->closing_checkpoint;
    pthread_mutex_unlock(&store->mutex);
    return dirty || *out_last;
}

void *sqlite_checkpoint_main(void *argument)
{
    Store *store = argument;
    g_autoptr(GError) error = NULL;
    sqlite3 *db = sqlite_connect(store->path, SQLITE_ROLE_CHECKPOINTER, &error);
    if (!db)
        store_log(store, "the log of the store will not be checkpointed: %s", error->message);
    for (bool last = false; !last;) {
        if (!wait_for_work(store, &last) || !db)
            continue;
        struct store_status status;
        store_status(store, &status);
        bool truncate = last || status.wal_bytes > WAL_BYTES_MAX;
        int code = sqlite3_wal_checkpoint_v2(
            db, NULL, truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, NULL,
            NULL);
        if (code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED)
            store_log(store, "checkpoint of the store: %s", sqlite3_errmsg(db));
    }
    sqlite3_close(db);
    return NULL;
}
