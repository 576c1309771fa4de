/* SPDX-License-Identifier: Apache-2.0
 * The store's life and its writer thread: a bounded queue, transactions of whatever is waiting,
 * receipts after COMMIT (see store.h). Must not know of SQL or of what a write means. Any thread
 * puts writes into the queue; the writer thread does the rest. */
#include "server/store/file_lock.h"
#include "server/store/sqlite_load.h"
#include "server/store/store_backup.h"
#include "server/store/store_internal.h"
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BATCH_RUNS_MAX          128u
#define BATCH_BYTES_MAX         (4 << 20)
#define QUEUE_BYTES_MAX_DEFAULT ((gint64)256 << 20)
#define RETRY_US                (5 * G_USEC_PER_SEC)
#define TALLY_RUNS              10000 /* runs after which the counts of series are written down */

void store_log(Store *store, const char *format, ...)
{
    if (!store->log)
        return;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    store->log(message, store->log_user);
}

/* ---- Receipts
 * -----------------------------------------------------------------------------------------------------
 */

void store_answer(struct store_write *write)
{
    write->receipt.error = write->error;
    write->receipt.warnings = write->warnings;
    if (write->error) {
        write->receipt.outcome = STORE_REFUSED;
        write->receipt.run_seq = 0;
        write->receipt.n_commits = 0;
        write->receipt.head = NULL;
        write->receipt.annotation_id = 0;
        write->receipt.access_id = 0;
    }
    if (write->done)
        write->done(&write->receipt, write->user);
    store_write_free(write);
}

static void count_and_answer(Store *store, GPtrArray *batch)
{
    gint64 stored = 0, refused = 0, bytes = 0;
    for (guint i = 0; i < batch->len; i++) {
        const struct store_write *write = batch->pdata[i];
        bytes += write->bytes;
        if (write->kind == WRITE_RUN && write->error)
            refused++;
        else if (write->kind == WRITE_RUN && write->receipt.outcome == STORE_CREATED)
            stored++;
        for (guint w = 0; !write->error && w < write->warnings->len; w++)
            store_log(store, "%s", (const char *)write->warnings->pdata[w]);
    }
    pthread_mutex_lock(&store->mutex);
    store->queued_bytes -= bytes;
    store->queued_writes -= batch->len;
    store->runs_stored += stored;
    store->runs_refused += refused;
    pthread_mutex_unlock(&store->mutex);
    for (guint i = 0; i < batch->len; i++)
        store_answer(batch->pdata[i]);
}

/* ---- A transaction
 * ------------------------------------------------------------------------------------------------
 */

/* Refuses all writes of the batch that are not refused already: nothing of the transaction was
 * stored. */
static void refuse_batch(Store *store, GPtrArray *batch, const GError *cause)
{
    store_log(store, "a transaction of %u writes failed: %s", batch->len, cause->message);
    for (guint i = 0; i < batch->len; i++) {
        struct store_write *write = batch->pdata[i];
        if (!write->error)
            write->error = g_error_copy(cause);
    }
}

/* How a transaction's writes are kept apart. Savepoints make SQLite copy each page that a write
 * changes, about an eighth of its whole cost, for a failure that hardly ever comes: so a
 * transaction first goes without, and if a write fails after it wrote something, all is taken back
 * and done again, each write in its savepoint. */
enum guard { GUARD_NONE, GUARD_SAVEPOINTS };
enum attempt { ATTEMPT_FINE, ATTEMPT_FAILED, ATTEMPT_AGAIN };

/* Judged before anything was written (store_write.h). */
static bool is_judgement(const GError *error)
{
    return g_error_matches(error, BREAKEVEN_ERROR, ERROR_CONFLICT) ||
           g_error_matches(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND);
}

/* ATTEMPT_FAILED: the whole transaction must be given up. */
static enum attempt perform_one(Store *store, struct store_write *write, enum guard guard,
                                GError **error)
{
    struct store_writer *writer = &store->writer;
    guint mark = writer->staging.changes->len;
    if (guard == GUARD_SAVEPOINTS && !sqlite_writer_savepoint(writer->rows, error))
        return ATTEMPT_FAILED;
    if (store_write_perform(writer, write, &write->error))
        return guard == GUARD_NONE || sqlite_writer_release(writer->rows, error) ? ATTEMPT_FINE
                                                                                 : ATTEMPT_FAILED;
    staging_undo(&writer->staging, mark);
    bool full = g_error_matches(write->error, BREAKEVEN_ERROR, ERROR_FULL);
    if (!full && guard == GUARD_SAVEPOINTS && sqlite_writer_undo_savepoint(writer->rows))
        return ATTEMPT_FINE;
    if (is_judgement(write->error))
        return ATTEMPT_FINE;
    g_propagate_error(error, g_error_copy(write->error));
    return full || guard == GUARD_SAVEPOINTS ? ATTEMPT_FAILED : ATTEMPT_AGAIN;
}

/* Larger than any before, and never one that this file's readers have seen with other content: a
 * file that was put back from a backup goes on counting where the clock is, not where the backup
 * was. */
static int64_t version_after(int64_t version)
{
    return MAX(version + 1, g_get_real_time());
}

static bool set_versions(Store *store, int64_t version, GError **error)
{
    g_autoptr(GPtrArray) touched = staging_touched(&store->writer.staging);
    for (guint i = 0; i < touched->len; i++) {
        const struct catalogue_project *project = touched->pdata[i];
        if (!sqlite_writer_set_version(store->writer.rows, &project->pub, version, error))
            return false;
    }
    return true;
}

/* Writes down the counts of series that grew since the last time, so that the next start need not
 * count them. */
static bool write_tallies(Store *store, GError **error)
{
    const Catalogue *catalogue = store->catalogue;
    for (guint i = 0; i < catalogue->series_by_id->len; i++) {
        const struct catalogue_series *series = catalogue->series_by_id->pdata[i];
        if (series && !series->is_joined && series->pub.last_run_seq > catalogue->tally_seq &&
            !sqlite_writer_set_tally(store->writer.rows, &series->pub, error))
            return false;
    }
    return sqlite_writer_set_tally_state(store->writer.rows, catalogue->last.run, error);
}

static void keep_tallies(Store *store, int64_t runs_since)
{
    if (store->catalogue->last.run - store->catalogue->tally_seq < runs_since)
        return;
    g_autoptr(GError) error = NULL;
    bool fine = sqlite_writer_begin(store->writer.rows, &error) && write_tallies(store, &error) &&
                sqlite_writer_commit(store->writer.rows, &error);
    if (fine)
        store->catalogue->tally_seq = store->catalogue->last.run;
    else
        store_log(store, "the counts of series were not written down: %s", error->message);
    sqlite_writer_rollback(store->writer.rows);
}

static enum attempt perform_all(Store *store, GPtrArray *batch, enum guard guard, GError **error)
{
    if (!sqlite_writer_begin(store->writer.rows, error))
        return ATTEMPT_FAILED;
    for (guint i = 0; i < batch->len; i++) {
        enum attempt attempt = perform_one(store, batch->pdata[i], guard, error);
        if (attempt != ATTEMPT_FINE)
            return attempt;
    }
    bool fine = set_versions(store, store->writer.version, error) &&
                sqlite_writer_commit(store->writer.rows, error);
    return fine ? ATTEMPT_FINE : ATTEMPT_FAILED;
}

/* Nothing of the transaction is left, neither in rows nor in memory. */
static void take_back(Store *store)
{
    sqlite_writer_rollback(store->writer.rows);
    staging_undo(&store->writer.staging, 0);
}

static bool perform_guarded(Store *store, GPtrArray *batch, GError **error)
{
    enum attempt attempt = perform_all(store, batch, GUARD_NONE, error);
    if (attempt == ATTEMPT_AGAIN && batch->len > 1) {
        take_back(store);
        g_clear_error(error);
        for (guint i = 0; i < batch->len; i++)
            store_write_reset(batch->pdata[i]);
        attempt = perform_all(store, batch, GUARD_SAVEPOINTS, error);
    }
    if (attempt != ATTEMPT_FINE)
        take_back(store);
    return attempt == ATTEMPT_FINE;
}

static void say_queued(Store *store)
{
    pthread_mutex_lock(&store->mutex);
    if (store->queued)
        store->queued(store->queued_user);
    pthread_mutex_unlock(&store->mutex);
}

/* Series came that are shown under other names: in a transaction that follows at once. */
static void move_lines(Store *store)
{
    g_autoptr(GError) error = NULL;
    if (!store->catalogue->lines_moved)
        return;
    store->writer.version = version_after(store->catalogue->version);
    bool fine = sqlite_writer_begin(store->writer.rows, &error) &&
                store_write_lines(&store->writer, &error) &&
                set_versions(store, store->writer.version, &error) &&
                sqlite_writer_commit(store->writer.rows, &error);
    if (fine) {
        store->catalogue->lines_moved = false;
        staging_apply(&store->writer.staging, store->writer.version);
    } else {
        store_log(store, "the lines of renamed series were not joined: %s", error->message);
        take_back(store);
    }
}

static void commit_batch(Store *store, GPtrArray *batch)
{
    g_autoptr(GError) error = NULL;
    gint64 began_us = g_get_monotonic_time();
    store->writer.version = version_after(store->catalogue->version);
    bool stored = perform_guarded(store, batch, &error);
    latency_add(&store->transactions, g_get_monotonic_time() - began_us);
    if (stored)
        staging_apply(&store->writer.staging, store->writer.version);
    else
        refuse_batch(store, batch, error);
    pthread_mutex_lock(&store->mutex);
    store->failed_us = stored ? 0 : g_get_monotonic_time();
    store->commits += stored;
    store->dirty = true;
    pthread_mutex_unlock(&store->mutex);
    move_lines(store);
    count_and_answer(store, batch);
    if (stored)
        say_queued(store);
    keep_tallies(store, TALLY_RUNS);
}

/* ---- The queue
 * ----------------------------------------------------------------------------------------------------
 */

/* Settings, deletions, heads and annotations look at or change what other writes of the same
 * transaction do, so each has one of its own. */
static bool goes_alone(const struct store_write *write)
{
    return write->kind == WRITE_PROJECT || write->kind == WRITE_DELETION ||
           write->kind == WRITE_RENAME || write->kind == WRITE_RETENTION ||
           write->kind == WRITE_DROPPED || write->kind == WRITE_HEAD ||
           write->kind == WRITE_ANNOTATION;
}

/* Takes what is waiting, in order, up to the limits. Under the mutex. */
static GPtrArray *take_batch(Store *store)
{
    GPtrArray *batch = g_ptr_array_new();
    gint64 bytes = 0;
    while (batch->len < BATCH_RUNS_MAX) {
        struct store_write *next = g_queue_peek_head(&store->waiting);
        if (!next ||
            (batch->len > 0 && (bytes + next->bytes > BATCH_BYTES_MAX || goes_alone(next))))
            break;
        g_ptr_array_add(batch, g_queue_pop_head(&store->waiting));
        bytes += next->bytes;
        if (goes_alone(next))
            break;
    }
    return batch;
}

static void *writer_main(void *argument)
{
    Store *store = argument;
    for (;;) {
        pthread_mutex_lock(&store->mutex);
        while (g_queue_is_empty(&store->waiting) && !store->closing)
            pthread_cond_wait(&store->has_work, &store->mutex);
        g_autoptr(GPtrArray) batch = take_batch(store);
        pthread_mutex_unlock(&store->mutex);
        if (batch->len == 0)
            return NULL;
        commit_batch(store, batch);
    }
}

void store_on_queued(Store *store, void (*queued)(void *user), void *user)
{
    pthread_mutex_lock(&store->mutex);
    store->queued_user = user;
    store->queued = queued;
    pthread_mutex_unlock(&store->mutex);
}

/* ---- Opening and closing
 * ------------------------------------------------------------------------------------------ */

/* The file's one name, whatever links lead to it, so that two servers cannot lock two names of it.
 */
char *store_path_of(const char *url, GError **error)
{
    static const char scheme[] = "sqlite:";
    if (!url || !g_str_has_prefix(url, scheme) || !url[strlen(scheme)]) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNSUPPORTED,
                    "the store %s is not of a kind that is known; give sqlite:PATH",
                    url ? url : "");
        return NULL;
    }
    const char *path = url + strlen(scheme);
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the store %s is a folder; give the path of a file in it", path);
        return NULL;
    }
    struct stat status;
    if (stat(path, &status) == 0 && status.st_nlink > 1) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the store %s has %u names (hard links), and two servers could open it under "
                    "two of them; copy it to a file of its own",
                    path, (unsigned)status.st_nlink);
        return NULL;
    }
    char *resolved = realpath(path, NULL);
    char *copy = g_strdup(resolved ? resolved : path);
    free(resolved);
    return copy;
}

static bool start_threads(Store *store, GError **error)
{
    int code = pthread_create(&store->writer_thread, NULL, writer_main, store);
    if (code == 0 && (code = pthread_create(&store->checkpoint_thread, NULL, sqlite_checkpoint_main,
                                            store)) != 0) {
        pthread_mutex_lock(&store->mutex);
        store->closing = true;
        pthread_cond_broadcast(&store->has_work);
        pthread_mutex_unlock(&store->mutex);
        pthread_join(store->writer_thread, NULL);
    }
    if (code != 0)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "cannot start the threads of the store: %s", g_strerror(code));
    return code == 0;
}

static void store_destroy(Store *store)
{
    if (store->writer.catalogue)
        staging_clear(&store->writer.staging);
    sqlite_branch_writer_free(store->writer.branches);
    sqlite_verdict_writer_free(store->writer.verdicts);
    sqlite_rename_writer_free(store->writer.renames);
    sqlite_retention_writer_free(store->writer.retentions);
    sqlite_access_writer_free(store->writer.accesses);
    sqlite_writer_free(store->writer.rows);
    catalogue_free(store->catalogue);
    if (store->lock_fd >= 0)
        close(store->lock_fd);
    pthread_cond_destroy(&store->has_work);
    pthread_cond_destroy(&store->has_checkpoint);
    pthread_mutex_destroy(&store->mutex);
    g_free(store->path);
    g_free(store);
}

/* The writer's connection changes an older schema. */
static bool open_rows(Store *store, GError **error)
{
    g_autofree char *copy = NULL;
    if (!store_keep_schema(store->path, &copy, error))
        return false;
    store->writer.rows = sqlite_writer_new(store->path, error);
    store_settle_schema(store->path, copy);
    if (store->writer.rows && copy)
        store_log(store, "%s had an older schema; as it was it is kept as %s", store->path, copy);
    return store->writer.rows != NULL;
}

static bool open_parts(Store *store, GError **error)
{
    store->lock_fd = file_lock_take(store->path, error);
    if (store->lock_fd < 0 || !open_rows(store, error))
        return false;
    store->writer.verdicts = sqlite_verdict_writer_new(sqlite_writer_db(store->writer.rows), error);
    if (!store->writer.verdicts)
        return false;
    store->writer.branches = sqlite_branch_writer_new(sqlite_writer_db(store->writer.rows), error);
    store->writer.renames = sqlite_rename_writer_new(sqlite_writer_db(store->writer.rows), error);
    store->writer.retentions =
        sqlite_retention_writer_new(sqlite_writer_db(store->writer.rows), error);
    store->writer.accesses = sqlite_access_writer_new(sqlite_writer_db(store->writer.rows), error);
    if (!store->writer.branches || !store->writer.renames || !store->writer.retentions ||
        !store->writer.accesses)
        return false;
    store->catalogue = catalogue_new();
    store->writer.catalogue = store->catalogue;
    staging_init(&store->writer.staging, store->catalogue);
    if (!sqlite_load(store->path, store->catalogue, error))
        return false;
    move_lines(store);
    return start_threads(store, error);
}

/* What goes wrong while the store is opened is about a file, whichever statement met it. */
static void name_file(const char *path, GError **error)
{
    if (error && *error && !strstr((*error)->message, path))
        g_prefix_error(error, "%s: ", path);
}

Store *store_open(const struct store_options *options, GError **error)
{
    g_autofree char *path = store_path_of(options->url, error);
    if (!path)
        return NULL;
    Store *store = g_new0(Store, 1);
    store->path = g_steal_pointer(&path);
    store->lock_fd = -1;
    store->log = options->log;
    store->log_user = options->log_user;
    store->queue_bytes_max =
        options->queue_bytes_max > 0 ? options->queue_bytes_max : QUEUE_BYTES_MAX_DEFAULT;
    g_queue_init(&store->waiting);
    pthread_mutex_init(&store->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&store->has_work, NULL);
    pthread_cond_init(&store->has_checkpoint, &attributes);
    pthread_condattr_destroy(&attributes);
    if (open_parts(store, error))
        return store;
    name_file(store->path, error);
    store_destroy(store);
    return NULL;
}

void store_close(Store *store)
{
    if (!store)
        return;
    pthread_mutex_lock(&store->mutex);
    store->closing = true;
    pthread_cond_broadcast(&store->has_work);
    pthread_mutex_unlock(&store->mutex);
    pthread_join(store->writer_thread, NULL);
    keep_tallies(store, 1);
    pthread_mutex_lock(&store->mutex);
    store->closing_checkpoint = store->dirty = true;
    pthread_cond_broadcast(&store->has_checkpoint);
    pthread_mutex_unlock(&store->mutex);
    pthread_join(store->checkpoint_thread, NULL);
    store_destroy(store);
}

/* ---- Watching
 * -----------------------------------------------------------------------------------------------------
 */

static gint64 file_bytes(const char *path, const char *suffix)
{
    g_autofree char *name = g_strconcat(path, suffix, NULL);
    struct stat status;
    return stat(name, &status) == 0 ? status.st_size : 0;
}

/* Since 1970 UTC; 0: there is none. */
static gint64 file_time(const char *path, const char *suffix)
{
    g_autofree char *name = g_strconcat(path, suffix, NULL);
    struct stat status;
    return stat(name, &status) == 0 ? (gint64)status.st_mtime : 0;
}

/* What this process may still write there. */
static gint64 disk_free_bytes(const char *path)
{
    struct statvfs status;
    return statvfs(path, &status) == 0 ? (gint64)(status.f_bavail * status.f_frsize) : 0;
}

void store_status(Store *store, struct store_status *out_status)
{
    *out_status = (struct store_status){.database_bytes = file_bytes(store->path, ""),
                                        .wal_bytes = file_bytes(store->path, "-wal"),
                                        .disk_free_bytes = disk_free_bytes(store->path),
                                        .backup_s = file_time(store->path, STORE_BACKUP_NOTE)};
    latency_read(&store->transactions, &out_status->transactions);
    pthread_mutex_lock(&store->mutex);
    out_status->can_write =
        store->failed_us == 0 || g_get_monotonic_time() - store->failed_us > RETRY_US;
    const struct store_write *first = g_queue_peek_head(&store->waiting);
    out_status->waited_us = first ? g_get_monotonic_time() - first->queued_us : 0;
    out_status->queued_writes = store->queued_writes;
    out_status->queued_bytes = store->queued_bytes;
    out_status->commits = store->commits;
    out_status->runs_stored = store->runs_stored;
    out_status->runs_refused = store->runs_refused;
    pthread_mutex_unlock(&store->mutex);
    Catalogue *catalogue = store->catalogue;
    catalogue_read_lock(catalogue);
    out_status->n_projects = catalogue->projects->len;
    out_status->n_machines = catalogue->machines->len;
    out_status->n_runs = catalogue->runs->len;
    for (guint i = 0; i < catalogue->projects->len; i++) {
        const struct store_project *project = catalogue->projects->pdata[i];
        out_status->n_series += project->series->len;
        out_status->n_commits += project->commits->len;
    }
    catalogue_unlock(catalogue);
}
