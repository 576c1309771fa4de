/* SPDX-License-Identifier: Apache-2.0
 * See work.h. The thread sleeps until the store says that something was written, or until
 * somebody's time to wait is over. */
#include "server/work/work.h"

#include "server/analysis/level_shift.h"
#include "server/work/run_judge.h"
#include <pthread.h>
#include <time.h>

#define TRIES_MAX     3u /* of a run whose judging fails by itself: it must not hold up the others */
#define RETRY_SECONDS 5  /* after a failure: the store's disk may have room again */

struct waiter {
    int64_t run_seq;
    int64_t until_us; /* of the monotonic clock */
    work_waited_fn waited;
    void *user;
};

struct work {
    Store *store;
    void (*log)(const char *message, void *user);
    void *log_user;
    StoreReader *reader; /* the thread's */
    struct level_shift_table *table;
    VersionAhead *ahead; /* the thread's */
    Retention *retention;
    int64_t failing_seq; /* the run that failed last, and how often in a row; the thread's */
    guint n_tries;
    guint n_overtaken; /* in a row; the thread's */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Under the mutex. */
    bool look; /* something may wait in the store's queue */
    bool released, stopping;
    bool written, write_failed; /* of the judgement that is being written */
    GQueue waiters;             /* struct waiter * */
    struct work_status status;
};

static void say(Work *work, const char *what, const GError *error)
{
    pthread_mutex_lock(&work->mutex);
    work->status.failures++;
    pthread_mutex_unlock(&work->mutex);
    if (!work->log)
        return;
    g_autofree char *message = g_strdup_printf("%s: %s; it is tried again", what, error->message);
    work->log(message, work->log_user);
}

/* On the writer thread, after each transaction. */
static void on_queued(void *user)
{
    Work *work = user;
    pthread_mutex_lock(&work->mutex);
    work->look = true;
    pthread_cond_broadcast(&work->changed);
    pthread_mutex_unlock(&work->mutex);
}

/* ---- Who waits
 * ------------------------------------------------------------------------------------------------
 */

static bool is_judged(Work *work, int64_t run_seq)
{
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(work->reader, NULL);
    bool waiting = false;
    return snapshot && store_is_waiting(snapshot, run_seq, &waiting, NULL) && !waiting;
}

/* Takes out one whose time has come; `judged` is a run that was just judged, or 0. Under the mutex.
 */
static struct waiter *take_due(Work *work, int64_t judged)
{
    int64_t now_us = g_get_monotonic_time();
    for (GList *link = work->waiters.head; link; link = link->next) {
        struct waiter *waiter = link->data;
        if (work->released || waiter->until_us <= now_us || waiter->run_seq == judged) {
            g_queue_delete_link(&work->waiters, link);
            return waiter;
        }
    }
    return NULL;
}

static void call_due(Work *work, int64_t judged)
{
    for (;;) {
        pthread_mutex_lock(&work->mutex);
        struct waiter *waiter = take_due(work, judged);
        pthread_mutex_unlock(&work->mutex);
        if (!waiter)
            return;
        waiter->waited(work->reader, waiter->user);
        g_free(waiter);
    }
}

/* A run may have been judged between the question and the wait. */
static void call_judged(Work *work)
{
    pthread_mutex_lock(&work->mutex);
    g_autoptr(GArray) seqs = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (GList *link = work->waiters.head; link; link = link->next)
        g_array_append_val(seqs, ((struct waiter *)link->data)->run_seq);
    pthread_mutex_unlock(&work->mutex);
    for (guint i = 0; i < seqs->len; i++) {
        int64_t seq = g_array_index(seqs, int64_t, i);
        if (is_judged(work, seq))
            call_due(work, seq);
    }
}

void work_wait(Work *work, int64_t run_seq, int64_t timeout_ms, work_waited_fn waited, void *user)
{
    pthread_mutex_lock(&work->mutex);
    bool released = work->released;
    if (!released) {
        struct waiter *waiter = g_new(struct waiter, 1);
        *waiter =
            (struct waiter){run_seq, g_get_monotonic_time() + timeout_ms * 1000, waited, user};
        g_queue_push_tail(&work->waiters, waiter);
        work->look = true;
        pthread_cond_broadcast(&work->changed);
    }
    pthread_mutex_unlock(&work->mutex);
    if (released)
        waited(NULL, user);
}

void work_release(Work *work)
{
    pthread_mutex_lock(&work->mutex);
    work->released = true;
    pthread_cond_broadcast(&work->changed);
    pthread_mutex_unlock(&work->mutex);
}

/* ---- Judging
 * ---------------------------------------------------------------------------------------------------
 */

static void on_written(const struct store_receipt *receipt, void *user)
{
    Work *work = user;
    if (receipt->error)
        say(work, "what was found could not be written", receipt->error);
    pthread_mutex_lock(&work->mutex);
    work->written = true;
    work->write_failed = receipt->error != NULL;
    pthread_cond_broadcast(&work->changed);
    pthread_mutex_unlock(&work->mutex);
}

/* Takes the judgement. */
static bool write_judgement(Work *work, struct store_judgement *judgement)
{
    pthread_mutex_lock(&work->mutex);
    work->written = false;
    pthread_mutex_unlock(&work->mutex);
    store_put_judgement(work->store, judgement, on_written, work);
    pthread_mutex_lock(&work->mutex);
    while (!work->written)
        pthread_cond_wait(&work->changed, &work->mutex);
    bool fine = !work->write_failed;
    pthread_mutex_unlock(&work->mutex);
    return fine;
}

/* What comes next: series to judge anew before runs. Both empty: nothing waits. */
struct next {
    GArray *series;
    int64_t run_seq;
    int64_t received_ms; /* of that run */
};

#define SERIES_AT_ONCE 64u

static bool find_next(Work *work, struct next *next, GError **error)
{
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(work->reader, error);
    if (!snapshot)
        return false;
    next->series = store_rejudge_queue(snapshot, SERIES_AT_ONCE, error);
    g_autoptr(GArray) runs = next->series ? store_analysis_queue(snapshot, 1, error) : NULL;
    if (runs && runs->len > 0)
        next->run_seq = g_array_index(runs, int64_t, 0);
    const struct store_run *run = store_run_by_seq(snapshot, next->run_seq);
    next->received_ms = run ? run->received_ms : 0;
    return runs != NULL;
}

static bool judge(Work *work, const struct next *next, GError **error)
{
    struct run_judge with = {.reader = work->reader, .table = work->table, .ahead = work->ahead};
    bool is_run = next->series->len == 0;
    struct store_judgement *judgement = is_run ? run_judge_run(&with, next->run_seq, error)
                                               : run_judge_series(&with, next->series, error);
    if (!judgement || !write_judgement(work, judgement))
        return false;
    pthread_mutex_lock(&work->mutex);
    work->status.runs_judged += is_run;
    work->status.series_judged += with.n_series;
    work->status.commits_streamed += (gint64)with.n_commits;
    pthread_mutex_unlock(&work->mutex);
    if (is_run)
        call_due(work, next->run_seq);
    return true;
}

/* True where the run was taken from the queue without a judgement, since it fails again and again.
 */
static bool give_up(Work *work, int64_t run_seq, const GError *error)
{
    bool by_itself = error && !g_error_matches(error, BREAKEVEN_ERROR, ERROR_FULL) &&
                     !g_error_matches(error, BREAKEVEN_ERROR, ERROR_BUSY) &&
                     !g_error_matches(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE);
    work->n_tries = run_seq == work->failing_seq && by_itself ? work->n_tries + 1 : 1;
    work->failing_seq = run_seq;
    if (!by_itself || work->n_tries < TRIES_MAX)
        return false;
    struct store_judgement *judgement = store_judgement_new();
    judgement->run_seq = run_seq;
    if (work->log) {
        g_autofree char *message =
            g_strdup_printf("run number %" G_GINT64_FORMAT " is left unjudged after %u tries: %s",
                            run_seq, work->n_tries, error->message);
        work->log(message, work->log_user);
    }
    return write_judgement(work, judgement);
}

static void say_oldest(Work *work, int64_t received_ms)
{
    pthread_mutex_lock(&work->mutex);
    work->status.oldest_ms = received_ms;
    pthread_mutex_unlock(&work->mutex);
}

/* Whether something was removed while it was read, so that what is left is to be looked at. */
static bool look_again(Work *work, const GError *error)
{
    if (!error || !g_error_matches(error, BREAKEVEN_ERROR, ERROR_OVERTAKEN) ||
        work->n_overtaken == ERROR_OVERTAKEN_REPEATS) {
        work->n_overtaken = 0;
        return false;
    }
    g_usleep(ERROR_OVERTAKEN_WAIT_US(work->n_overtaken++));
    return true;
}

/* False where nothing waits, or where something failed. */
static bool step(Work *work, bool *out_failed)
{
    struct next next = {0};
    g_autoptr(GError) error = NULL;
    bool fine = find_next(work, &next, &error);
    bool any = fine && (next.series->len > 0 || next.run_seq > 0);
    if (fine)
        say_oldest(work, next.received_ms);
    bool judged = any && judge(work, &next, &error);
    bool is_run = any && next.series->len == 0;
    g_clear_pointer(&next.series, g_array_unref);
    if (look_again(work, error)) {
        *out_failed = false;
        return true;
    }
    if (is_run && !judged && give_up(work, next.run_seq, error))
        judged = true;
    else if (error)
        say(work, "a run could not be judged", error);
    *out_failed = !fine || any != judged;
    return judged;
}

/* Sleeps until there is something to do: at most until the first waiter's time. Under the mutex. */
static void doze(Work *work, bool failed)
{
    int64_t until_us = failed ? g_get_monotonic_time() + RETRY_SECONDS * G_USEC_PER_SEC : INT64_MAX;
    for (GList *link = work->waiters.head; link; link = link->next)
        until_us = MIN(until_us, ((const struct waiter *)link->data)->until_us);
    if (until_us == INT64_MAX) {
        pthread_cond_wait(&work->changed, &work->mutex);
        return;
    }
    struct timespec until = {.tv_sec = until_us / G_USEC_PER_SEC,
                             .tv_nsec = until_us % G_USEC_PER_SEC * 1000};
    pthread_cond_timedwait(&work->changed, &work->mutex, &until);
    work->look = work->look || failed;
}

static void *work_main(void *argument)
{
    Work *work = argument;
    bool stopping = false, more = true, failed = false;
    while (!stopping) {
        more = step(work, &failed);
        call_judged(work);
        call_due(work, 0);
        pthread_mutex_lock(&work->mutex);
        bool waiters = work->released && !g_queue_is_empty(&work->waiters);
        if (!more && !work->look && !work->stopping && !waiters)
            doze(work, failed);
        work->look = false;
        stopping = work->stopping && g_queue_is_empty(&work->waiters);
        pthread_mutex_unlock(&work->mutex);
    }
    return NULL;
}

/* ---- Life
 * -----------------------------------------------------------------------------------------------------
 */

static void work_free(Work *work)
{
    retention_stop(work->retention);
    store_reader_free(work->reader);
    pthread_cond_destroy(&work->changed);
    pthread_mutex_destroy(&work->mutex);
    version_ahead_free(work->ahead);
    g_free(work->table);
    g_free(work);
}

Work *work_start(const struct work_options *options, GError **error)
{
    StoreReader *reader = store_reader_new(options->store, error);
    if (!reader)
        return NULL;
    Work *work = g_new0(Work, 1);
    work->store = options->store;
    work->log = options->log;
    work->log_user = options->log_user;
    work->reader = reader;
    work->table = g_new(struct level_shift_table, 1);
    level_shift_prepare(work->table);
    work->ahead = version_ahead_new();
    g_queue_init(&work->waiters);
    pthread_mutex_init(&work->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&work->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    const struct retention_options retention = {options->store, options->log, options->log_user,
                                                NULL, NULL};
    work->retention = retention_start(&retention, error);
    if (!work->retention) {
        work_free(work);
        return NULL;
    }
    store_on_queued(options->store, on_queued, work);
    int code = pthread_create(&work->thread, NULL, work_main, work);
    if (code == 0)
        return work;
    store_on_queued(options->store, NULL, NULL);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "cannot start the work thread: %s",
                g_strerror(code));
    work_free(work);
    return NULL;
}

void work_stop(Work *work)
{
    if (!work)
        return;
    pthread_mutex_lock(&work->mutex);
    work->released = work->stopping = true;
    pthread_cond_broadcast(&work->changed);
    pthread_mutex_unlock(&work->mutex);
    pthread_join(work->thread, NULL);
    store_on_queued(work->store, NULL, NULL);
    work_free(work);
}

Retention *work_retention(Work *work)
{
    return work->retention;
}

void work_status(Work *work, struct work_status *out_status)
{
    pthread_mutex_lock(&work->mutex);
    *out_status = work->status;
    pthread_mutex_unlock(&work->mutex);
}
