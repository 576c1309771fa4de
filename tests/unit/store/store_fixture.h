/* SPDX-License-Identifier: Apache-2.0
 * What the store's tests share: a store on a real file in a folder of its own, writes that wait for
 * their receipt, runs made of little. Included by one test program each. */
#pragma once

#include "server/store/store.h"
#include <glib/gstdio.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    char *folder, *path, *url;
    Store *store;
    GString *log;
    pthread_mutex_t log_mutex;
};

static inline void fixture_log(const char *message, void *user)
{
    struct fixture *fixture = user;
    pthread_mutex_lock(&fixture->log_mutex);
    g_string_append_printf(fixture->log, "%s\n", message);
    pthread_mutex_unlock(&fixture->log_mutex);
}

static inline Store *fixture_try_open(struct fixture *fixture, GError **error)
{
    struct store_options options = {.url = fixture->url, .log = fixture_log, .log_user = fixture};
    return store_open(&options, error);
}

static inline void fixture_open(struct fixture *fixture)
{
    g_autoptr(GError) error = NULL;
    fixture->store = fixture_try_open(fixture, &error);
    g_assert_no_error(error);
}

static inline void fixture_reopen(struct fixture *fixture)
{
    store_close(fixture->store);
    fixture_open(fixture);
}

static inline void fixture_begin(struct fixture *fixture)
{
    fixture->folder = g_dir_make_tmp("breakeven-store-XXXXXX", NULL);
    g_assert_nonnull(fixture->folder);
    fixture->path = g_build_filename(fixture->folder, "test.db", NULL);
    fixture->url = g_strconcat("sqlite:", fixture->path, NULL);
    fixture->log = g_string_new(NULL);
    pthread_mutex_init(&fixture->log_mutex, NULL);
    fixture_open(fixture);
}

static inline void fixture_end(struct fixture *fixture)
{
    store_close(fixture->store);
    GDir *folder = g_dir_open(fixture->folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(folder));) {
        g_autofree char *path = g_build_filename(fixture->folder, name, NULL);
        g_unlink(path);
    }
    g_dir_close(folder);
    g_rmdir(fixture->folder);
    g_free(fixture->folder);
    g_free(fixture->path);
    g_free(fixture->url);
    g_string_free(fixture->log, TRUE);
    pthread_mutex_destroy(&fixture->log_mutex);
}

/* ---- Writes that wait
 * --------------------------------------------------------------------------------------------- */

struct outcome {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool done;
    enum store_outcome outcome;
    int64_t run_seq;
    guint n_commits;
    int code; /* of the error, or -1 */
    char *message, *warnings;
};

static inline void outcome_init(struct outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    pthread_mutex_init(&outcome->mutex, NULL);
    pthread_cond_init(&outcome->changed, NULL);
}

static inline void outcome_clear(struct outcome *outcome)
{
    g_free(outcome->message);
    g_free(outcome->warnings);
    pthread_mutex_destroy(&outcome->mutex);
    pthread_cond_destroy(&outcome->changed);
}

static inline void outcome_done(const struct store_receipt *receipt, void *user)
{
    struct outcome *outcome = user;
    GString *warnings = g_string_new(NULL);
    for (guint i = 0; i < receipt->warnings->len; i++)
        g_string_append_printf(warnings, "%s\n", (const char *)receipt->warnings->pdata[i]);
    pthread_mutex_lock(&outcome->mutex);
    outcome->outcome = receipt->outcome;
    outcome->run_seq = receipt->run_seq;
    outcome->n_commits = receipt->n_commits;
    outcome->code = receipt->error ? receipt->error->code : -1;
    outcome->message = g_strdup(receipt->error ? receipt->error->message : "");
    outcome->warnings = g_string_free(warnings, FALSE);
    outcome->done = true;
    pthread_cond_broadcast(&outcome->changed);
    pthread_mutex_unlock(&outcome->mutex);
}

static inline void outcome_wait(struct outcome *outcome)
{
    pthread_mutex_lock(&outcome->mutex);
    while (!outcome->done)
        pthread_cond_wait(&outcome->changed, &outcome->mutex);
    pthread_mutex_unlock(&outcome->mutex);
}

/* Takes the run. */
static inline void put_run(Store *store, Run *run, struct outcome *outcome)
{
    outcome_init(outcome);
    store_put_run(store, run, run_digest(run), outcome_done, outcome);
    outcome_wait(outcome);
}

static inline int64_t must_put_run(Store *store, Run *run)
{
    struct outcome outcome;
    put_run(store, run, &outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    g_assert_cmpint(outcome.outcome, ==, STORE_CREATED);
    int64_t seq = outcome.run_seq;
    outcome_clear(&outcome);
    return seq;
}

static inline void put_commits(Store *store, const char *project, GPtrArray *commits,
                               struct outcome *outcome)
{
    outcome_init(outcome);
    store_put_commits(store, g_strdup(project), NULL, commits, outcome_done, outcome);
    outcome_wait(outcome);
}

static inline void delete_run(Store *store, const char *id, struct outcome *outcome)
{
    outcome_init(outcome);
    store_delete_run(store, g_strdup(id), outcome_done, outcome);
    outcome_wait(outcome);
}

/* ---- Runs
 * ---------------------------------------------------------------------------------------------------------
 */

static inline Run *parse_run(const char *json)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    Run *run = run_parse(json, strlen(json), faults, &error);
    for (guint i = 0; i < faults->items->len; i++) {
        const struct fault *fault = faults->items->pdata[i];
        g_test_message("%s: %s", fault->pointer, fault->message);
    }
    g_assert_no_error(error);
    return run;
}

static inline char *sha_of(guint number)
{
    g_autofree char *text = g_strdup_printf("commit %u", number);
    return g_compute_checksum_for_string(G_CHECKSUM_SHA1, text, -1);
}

/* A run of one result with six samples at the commit of that number. */
static inline Run *make_run(const char *id, const char *bench, guint commit)
{
    Run *run = run_new();
    run->id = g_strdup(id);
    run->project = g_strdup("demo");
    run->machine = g_strdup("box");
    run->commit.sha = sha_of(commit);
    run->commit.has_time = true;
    run->commit.time_s = 1700000000 + commit;
    run->branch = g_strdup("main");
    run->started_ms = 1750000000000;
    struct run_result *result = run_result_new(bench);
    run_result_add_param(result, "executor", "fifo");
    struct run_metric *metric = run_metric_new("real_time", "ns", BETTER_LOWER);
    for (guint i = 0; i < 6; i++)
        run_metric_add_sample(metric, 100.5 + i + commit);
    run_result_take_metric(result, metric);
    g_ptr_array_add(run->results, result);
    return run;
}

static inline char *print_run(const Run *run)
{
    GString *text = g_string_new(NULL);
    run_print(run, text);
    return g_string_free(text, FALSE);
}

static inline StoreReader *must_read(Store *store)
{
    g_autoptr(GError) error = NULL;
    StoreReader *reader = store_reader_new(store, &error);
    g_assert_no_error(error);
    return reader;
}

static inline StoreSnapshot *must_begin(StoreReader *reader)
{
    g_autoptr(GError) error = NULL;
    StoreSnapshot *snapshot = store_snapshot_begin(reader, &error);
    g_assert_no_error(error);
    return snapshot;
}

static inline char *stored_document(Store *store, int64_t seq)
{
    g_autoptr(StoreReader) reader = must_read(store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autoptr(GError) error = NULL;
    g_autoptr(Run) run = store_run_document(snapshot, seq, &error);
    g_assert_no_error(error);
    return print_run(run);
}
