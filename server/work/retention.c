/* SPDX-License-Identifier: Apache-2.0
 * See retention.h. */
#include "server/work/retention.h"

#include "server/store/sample_blob.h"
#include <pthread.h>
#include <time.h>

#define PLAN_AT_ONCE   256u       /* runs that are planned before the data is looked at again */
#define DROPS_AT_ONCE  16u        /* documents of one transaction … */
#define DROP_BYTES_MAX (1u << 20) /* … and about their bytes */
#define PAUSE_US       20000      /* after each transaction */
#define LOOK_AGAIN_US  ((int64_t)3600 * G_USEC_PER_SEC)
#define LOOK_FAILED_US ((int64_t)60 * G_USEC_PER_SEC)
#define DAY_US         ((int64_t)86400 * G_USEC_PER_SEC)

struct retention {
    Store *store;
    struct retention_options options;
    StoreReader *reader; /* the thread's */
    /* The thread's: how far the wall clock was before the monotonic one at the latest look, and
     * until when of the latter nothing is removed. */
    int64_t clock_gap_us, held_until_us;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Under the mutex. */
    bool stopping, poked;
    bool written, write_failed; /* of the write that is waited for */
    guint n_changed;
    struct retention_status status;
};

static void say(Retention *retention, const char *what, const GError *error)
{
    pthread_mutex_lock(&retention->mutex);
    retention->status.failures++;
    pthread_mutex_unlock(&retention->mutex);
    if (!retention->options.log)
        return;
    g_autofree char *message =
        g_strdup_printf("%s: %s; it is tried again", what, error ? error->message : "no cause");
    retention->options.log(message, retention->options.log_user);
}

static int64_t now_ms(const Retention *retention)
{
    return retention->options.now_ms ? retention->options.now_ms(retention->options.now_user)
                                     : g_get_real_time() / 1000;
}

static bool is_stopping(Retention *retention)
{
    pthread_mutex_lock(&retention->mutex);
    bool stopping = retention->stopping;
    pthread_mutex_unlock(&retention->mutex);
    return stopping;
}

/* Sleeps until poked or stopped, at most so long. Under the mutex. */
static void doze(Retention *retention, int64_t for_us)
{
    int64_t until_us = g_get_monotonic_time() + for_us;
    struct timespec until = {.tv_sec = until_us / G_USEC_PER_SEC,
                             .tv_nsec = until_us % G_USEC_PER_SEC * 1000};
    pthread_cond_timedwait(&retention->changed, &retention->mutex, &until);
}

/* ---- Writes
 * ----------------------------------------------------------------------------------------------------
 */

static void on_written(const struct store_receipt *receipt, void *user)
{
    Retention *retention = user;
    bool is_gone =
        receipt->error && g_error_matches(receipt->error, BREAKEVEN_ERROR, ERROR_NOT_FOUND);
    if (receipt->error && !is_gone)
        say(retention, "what is kept too long could not be removed", receipt->error);
    pthread_mutex_lock(&retention->mutex);
    retention->written = true;
    retention->write_failed = receipt->error && !is_gone;
    retention->n_changed = receipt->outcome == STORE_DELETED ? 1 : receipt->n_series;
    pthread_cond_broadcast(&retention->changed);
    pthread_mutex_unlock(&retention->mutex);
}

static void begin_write(Retention *retention)
{
    pthread_mutex_lock(&retention->mutex);
    retention->written = false;
    pthread_mutex_unlock(&retention->mutex);
}

/* Waits for the write, counts what it did, and lets others write. False where it failed. */
static bool end_write(Retention *retention, gint64 *counter, guint n_done)
{
    pthread_mutex_lock(&retention->mutex);
    while (!retention->written)
        pthread_cond_wait(&retention->changed, &retention->mutex);
    bool fine = !retention->write_failed;
    if (counter)
        *counter += retention->n_changed;
    retention->status.waiting = MAX(retention->status.waiting - n_done, 0);
    if (fine && !retention->stopping)
        doze(retention, PAUSE_US);
    pthread_mutex_unlock(&retention->mutex);
    return fine;
}

/* ---- A project
 * -------------------------------------------------------------------------------------------------
 */

static bool delete_runs(Retention *retention, const struct retention_plan *plan)
{
    for (guint i = 0; i < plan->deletions->len && !is_stopping(retention); i++) {
        const struct retention_deletion *deletion = plan->deletions->pdata[i];
        begin_write(retention);
        store_expire_run(retention->store, g_strdup(deletion->id), deletion->keeps_verdicts,
                         on_written, retention);
        if (!end_write(retention, &retention->status.n_deleted, 1))
            return false;
    }
    return true;
}

/* In a snapshot of its own. NULL without an error: it is gone. */
static Run *read_document(Retention *retention, int64_t seq, GError **error)
{
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(retention->reader, error);
    bool is_there = snapshot && store_run_by_seq(snapshot, seq);
    return is_there ? store_run_document(snapshot, seq, error) : NULL;
}

/* The document without its samples; one that is gone is left out. */
static bool add_dropped(Retention *retention, int64_t seq, GArray *dropped, GError **error)
{
    g_autoptr(GError) failure = NULL;
    g_autoptr(Run) document = read_document(retention, seq, &failure);
    for (guint i = 0;
         i < ERROR_OVERTAKEN_REPEATS && g_error_matches(failure, BREAKEVEN_ERROR, ERROR_OVERTAKEN);
         i++) {
        g_usleep(ERROR_OVERTAKEN_WAIT_US(i));
        g_clear_error(&failure);
        document = read_document(retention, seq, &failure);
    }
    if (failure) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return false;
    }
    if (!document)
        return true;
    store_drop_samples(document);
    struct store_dropped item = {.run_seq = seq, .results = sample_blob_encode(document)};
    g_array_append_val(dropped, item);
    return true;
}

static bool drop_some(Retention *retention, const GArray *seqs, guint *inout_next, GError **error)
{
    GArray *dropped = g_array_new(FALSE, FALSE, sizeof(struct store_dropped));
    size_t bytes = 0;
    guint first = *inout_next;
    bool fine = true;
    while (fine && *inout_next < seqs->len && *inout_next - first < DROPS_AT_ONCE &&
           bytes < DROP_BYTES_MAX) {
        fine = add_dropped(retention, g_array_index(seqs, int64_t, *inout_next), dropped, error);
        ++*inout_next;
        if (fine && dropped->len > 0)
            bytes += g_array_index(dropped, struct store_dropped, dropped->len - 1).results->len;
    }
    if (!fine) {
        store_dropped_free(dropped);
        return false;
    }
    begin_write(retention);
    store_put_dropped(retention->store, dropped, on_written, retention);
    return end_write(retention, &retention->status.n_dropped, *inout_next - first);
}

static bool drop_samples(Retention *retention, const struct retention_plan *plan, GError **error)
{
    for (guint next = 0; next < plan->drops->len && !is_stopping(retention);)
        if (!drop_some(retention, plan->drops, &next, error))
            return false;
    return true;
}

/* NULL: the project is gone, has no rules, or the store cannot be read. */
static struct retention_plan *plan_of(Retention *retention, const char *name, GError **error)
{
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(retention->reader, error);
    const struct store_project *project = snapshot ? store_project_find(snapshot, name) : NULL;
    return project ? retention_plan_new(project, &project->retention.rules, now_ms(retention),
                                        PLAN_AT_ONCE)
                   : NULL;
}

static bool say_done(Retention *retention, const char *name)
{
    struct store_retention_write *write = g_new0(struct store_retention_write, 1);
    write->project = g_strdup(name);
    write->done_ms = now_ms(retention);
    begin_write(retention);
    store_put_retention(retention->store, write, on_written, retention);
    return end_write(retention, NULL, 0);
}

static bool work_off(Retention *retention, const char *name)
{
    g_autoptr(GError) error = NULL;
    while (!is_stopping(retention)) {
        g_autoptr(RetentionPlan) plan = plan_of(retention, name, &error);
        guint left = plan ? plan->n_deletions + plan->n_drops : 0;
        pthread_mutex_lock(&retention->mutex);
        retention->status.waiting = left;
        pthread_mutex_unlock(&retention->mutex);
        if (left == 0 && error)
            say(retention, "retention", error);
        if (left == 0)
            return !error && say_done(retention, name);
        if (!delete_runs(retention, plan) || !drop_samples(retention, plan, &error)) {
            if (error)
                say(retention, "retention", error);
            return false;
        }
    }
    return true;
}

/* ---- The thread
 * ------------------------------------------------------------------------------------------------
 */

static GPtrArray *projects_with_rules(Retention *retention)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(retention->reader, NULL);
    const GPtrArray *projects = snapshot ? store_projects(snapshot) : NULL;
    for (guint i = 0; projects && i < projects->len; i++) {
        const struct store_project *project = projects->pdata[i];
        const struct store_retention_rules *rules = &project->retention.rules;
        if (rules->branches_days > 0 || rules->samples_days > 0)
            g_ptr_array_add(names, g_strdup(project->name));
    }
    return names;
}

/* Since the machine started, what it slept included: after a night's suspend no clock was set. */
static int64_t boot_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

/* A wall clock that is ahead by more than a day makes everything old at once, whether it was set
 * while the server ran or was wrong before, and what is removed does not come back when the clock
 * is set right: it gets a day for that. */
static bool is_held(Retention *retention)
{
    int64_t now_us = boot_us(), gap_us = g_get_real_time() - now_us;
    int64_t leap_us = gap_us - retention->clock_gap_us;
    if (retention->options.now_ms)
        return false;
    retention->clock_gap_us = gap_us;
    if (leap_us > DAY_US) {
        retention->held_until_us = now_us + DAY_US;
        g_autofree char *message = g_strdup_printf(
            "the clock is %" G_GINT64_FORMAT " days ahead of what was stored last: nothing that is "
            "kept too long is removed for a day; set the clock right, or let it pass",
            leap_us / DAY_US);
        if (retention->options.log)
            retention->options.log(message, retention->options.log_user);
    }
    return now_us < retention->held_until_us;
}

/* The latest time that the store knows of, when a run was received or what is kept too long was
 * looked for: a clock that is right was there. Now, where it knows of none, or of later ones. */
static int64_t seen_us(Retention *retention)
{
    int64_t now_us = g_get_real_time(), latest_ms = 0;
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(retention->reader, NULL);
    const GPtrArray *machines = snapshot ? store_machines(snapshot) : NULL;
    const GPtrArray *projects = snapshot ? store_projects(snapshot) : NULL;
    for (guint i = 0; machines && i < machines->len; i++)
        latest_ms =
            MAX(latest_ms, ((const struct store_machine *)machines->pdata[i])->last_seen_ms);
    for (guint i = 0; projects && i < projects->len; i++)
        latest_ms =
            MAX(latest_ms, ((const struct store_project *)projects->pdata[i])->retention.done_ms);
    return latest_ms > 0 ? MIN(now_us, latest_ms * 1000) : now_us;
}

static bool pass(Retention *retention)
{
    if (is_held(retention))
        return true;
    g_autoptr(GPtrArray) names = projects_with_rules(retention);
    bool fine = true;
    for (guint i = 0; i < names->len && !is_stopping(retention); i++)
        fine = work_off(retention, names->pdata[i]) && fine;
    return fine;
}

static void *retention_main(void *argument)
{
    Retention *retention = argument;
    pthread_mutex_lock(&retention->mutex);
    while (!retention->stopping) {
        retention->poked = false;
        retention->status.is_running = true;
        pthread_mutex_unlock(&retention->mutex);
        bool fine = pass(retention);
        pthread_mutex_lock(&retention->mutex);
        retention->status.is_running = false;
        retention->status.passes++;
        pthread_cond_broadcast(&retention->changed);
        if (!retention->stopping && !retention->poked)
            doze(retention, fine ? LOOK_AGAIN_US : LOOK_FAILED_US);
    }
    pthread_mutex_unlock(&retention->mutex);
    return NULL;
}

static void retention_free(Retention *retention)
{
    store_reader_free(retention->reader);
    pthread_cond_destroy(&retention->changed);
    pthread_mutex_destroy(&retention->mutex);
    g_free(retention);
}

Retention *retention_start(const struct retention_options *options, GError **error)
{
    StoreReader *reader = store_reader_new(options->store, error);
    if (!reader)
        return NULL;
    Retention *retention = g_new0(Retention, 1);
    retention->store = options->store;
    retention->options = *options;
    retention->reader = reader;
    retention->clock_gap_us = seen_us(retention) - boot_us();
    pthread_mutex_init(&retention->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&retention->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    int code = pthread_create(&retention->thread, NULL, retention_main, retention);
    if (code == 0)
        return retention;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "cannot start the retention thread: %s",
                g_strerror(code));
    retention_free(retention);
    return NULL;
}

void retention_poke(Retention *retention)
{
    if (!retention)
        return;
    pthread_mutex_lock(&retention->mutex);
    retention->poked = true;
    pthread_cond_broadcast(&retention->changed);
    pthread_mutex_unlock(&retention->mutex);
}

void retention_stop(Retention *retention)
{
    if (!retention)
        return;
    pthread_mutex_lock(&retention->mutex);
    retention->stopping = true;
    pthread_cond_broadcast(&retention->changed);
    pthread_mutex_unlock(&retention->mutex);
    pthread_join(retention->thread, NULL);
    retention_free(retention);
}

void retention_status(Retention *retention, struct retention_status *out)
{
    pthread_mutex_lock(&retention->mutex);
    *out = retention->status;
    pthread_mutex_unlock(&retention->mutex);
}
