/* SPDX-License-Identifier: Apache-2.0
 * What the files of the store share of a Store. */
#pragma once

#include "server/store/sqlite_deadline.h"
#include "server/store/sqlite_read.h"
#include "server/store/store_write.h"

struct store {
    char *path;
    int lock_fd;
    void (*log)(const char *message, void *user);
    void *log_user;
    Catalogue *catalogue;
    struct store_writer writer; /* the writer thread's */
    pthread_t writer_thread, checkpoint_thread;

    /* Under `mutex`: the queue. */
    pthread_mutex_t mutex;
    pthread_cond_t has_work; /* the writer waits for writes or the end */
    pthread_cond_t
        has_checkpoint; /* the checkpoint thread waits for the end, or for time to pass */
    GQueue waiting;     /* struct store_write * */
    gint64 queued_bytes, queue_bytes_max;
    guint queued_writes;        /* waiting and in the transaction at hand */
    void (*queued)(void *user); /* called under the mutex */
    void *queued_user;
    bool closing, closing_checkpoint;
    bool dirty;       /* something was committed since the latest checkpoint */
    gint64 failed_us; /* monotonic time of the last write that failed; 0: the last one worked */
    gint64 commits, runs_stored, runs_refused;
    struct latency transactions; /* counted by the writer, atomically */
};

struct store_reader {
    Store *store;
    SqliteReader *rows;
    SqliteVerdictReader *verdicts;
    struct sqlite_deadline deadline;
    SqliteAccessReader *accesses;
    StoreSnapshot *open; /* at most one at a time */
};

struct store_snapshot {
    StoreReader *reader;
    Catalogue *catalogue;
    bool reading; /* rows: the read transaction begins with the first question */
};

/* The path of sqlite:PATH, the file's one name whatever links lead to it; the caller frees it. NULL
 * with an error where it can be no store's. */
char *store_path_of(const char *url, GError **error);

#define STORE_BACKUP_NOTE                                                                          \
    ".backed-up" /* a file beside the store: its time is the last backup's                         \
                  */

void store_log(Store *store, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Tells what became of a write, and frees it. */
void store_answer(struct store_write *write);

/* The snapshot's connection, its read transaction begun; NULL on failure. */
SqliteReader *store_snapshot_rows(StoreSnapshot *snapshot, GError **error);

/* The checkpoint thread's body; `argument` is the Store. */
void *sqlite_checkpoint_main(void *argument);
