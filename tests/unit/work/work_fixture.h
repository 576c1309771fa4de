/* SPDX-License-Identifier: Apache-2.0
 * What the tests of judging share: a store with its work thread, runs of one series, waiting until
 * nothing waits, and a look at what is kept. Included by one test program each. */
#pragma once

#include "server/work/work.h"
#include "tests/unit/store/store_fixture.h"

struct bench_work {
    struct fixture fixture;
    Work *work;
    guint n_runs;
};

static inline void work_log(const char *message, void *user G_GNUC_UNUSED)
{
    g_test_fail_printf("%s", message);
}

static inline void start(struct bench_work *at)
{
    g_autoptr(GError) error = NULL;
    struct work_options options = {.store = at->fixture.store, .log = work_log};
    at->work = work_start(&options, &error);
    g_assert_no_error(error);
}

static inline void begin(struct bench_work *at)
{
    *at = (struct bench_work){0};
    fixture_begin(&at->fixture);
    start(at);
}

static inline void end(struct bench_work *at)
{
    work_stop(at->work);
    fixture_end(&at->fixture);
}

static inline void restart(struct bench_work *at)
{
    work_stop(at->work);
    fixture_reopen(&at->fixture);
    start(at);
}

/* A value with the noise of its commit: deterministic, about 0.5 %. */
static inline double noisy(double level, guint commit)
{
    guint32 bits = commit * 2654435761u;
    bits ^= bits >> 15;
    bits *= 2246822519u;
    bits ^= bits >> 13;
    return level * (1 + 0.01 * ((bits % 1000) / 1000.0 - 0.5));
}

static inline Run *run_at(struct bench_work *at, guint commit, double value)
{
    g_autofree char *id = g_strdup_printf("run-%u", ++at->n_runs);
    Run *run = make_run(id, "A", commit);
    struct run_result *result = run->results->pdata[0];
    struct run_metric *metric = result->metrics->pdata[0];
    for (guint i = 0; i < metric->n_samples; i++)
        metric->samples[i] = value;
    return run;
}

/* ---- Waiting until nothing waits
 * --------------------------------------------------------------------------------- */

struct wait {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool done;
};

static inline void on_waited(StoreReader *reader G_GNUC_UNUSED, void *user)
{
    struct wait *wait = user;
    pthread_mutex_lock(&wait->mutex);
    wait->done = true;
    pthread_cond_signal(&wait->changed);
    pthread_mutex_unlock(&wait->mutex);
}

static inline void wait_for(struct bench_work *at, int64_t run_seq)
{
    struct wait wait = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    work_wait(at->work, run_seq, 60000, on_waited, &wait);
    pthread_mutex_lock(&wait.mutex);
    while (!wait.done)
        pthread_cond_wait(&wait.changed, &wait.mutex);
    pthread_mutex_unlock(&wait.mutex);
}

static inline bool is_idle(struct bench_work *at)
{
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autoptr(GArray) runs = store_analysis_queue(snapshot, 1, NULL);
    g_autoptr(GArray) series = store_rejudge_queue(snapshot, 1, NULL);
    return runs->len == 0 && series->len == 0;
}

static inline void settle(struct bench_work *at)
{
    while (!is_idle(at))
        g_usleep(1000);
}

static inline int64_t put(struct bench_work *at, Run *run)
{
    int64_t seq = must_put_run(at->fixture.store, run);
    wait_for(at, seq);
    return seq;
}

static inline void put_range(struct bench_work *at, guint first, guint end_commit, double level)
{
    for (guint commit = first; commit < end_commit; commit++)
        put(at, run_at(at, commit, noisy(level, commit)));
}

/* ---- What is kept
 * -----------------------------------------------------------------------------------------------
 */

struct seen {
    guint n, n_told; /* changes but candidates; rows in the outbox */
    struct store_change first;
    guint first_position;
    struct store_level level;
    bool has_level;
};

static inline struct seen look(struct bench_work *at)
{
    struct seen seen = {0};
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autoptr(GPtrArray) changes = store_series_changes(snapshot, 1, NULL);
    for (guint i = 0; i < changes->len; i++) {
        const struct store_change *change = changes->pdata[i];
        guint told = 0;
        g_assert_true(store_outbox_count(snapshot, change->id, &told, NULL));
        seen.n_told += told;
        if (change->status == STORE_STATUS_CANDIDATE)
            continue;
        if (seen.n++ == 0) {
            seen.first = *change;
            seen.first_position = store_commit_by_id(snapshot, change->bad_commit_id)->position;
        }
        seen.first.note = seen.first.who = NULL;
    }
    g_assert_true(store_series_level(snapshot, 1, &seen.level, &seen.has_level, NULL));
    return seen;
}
