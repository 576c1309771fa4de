/* SPDX-License-Identifier: Apache-2.0
 * What a comparison of thousands of series costs, and what judging them after one push costs, reads
 * and writes included. Believe the CPU time; wall time depends on the neighbours.
 * Usage: bench_compare [COMMITS [FOLDER]] */
#include "server/work/comparison.h"
#include "server/work/work.h"

#include <glib/gstdio.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMPARED       3400u /* series */
#define JUDGED         5000u
#define COMMITS        200u
#define COMPARE_ROUNDS 5u

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check(const GError *error)
{
    if (!error)
        return;
    fprintf(stderr, "bench_compare: %s\n", error->message);
    exit(1);
}

/* ---- What is posted ---- */

static guint32 mix(guint32 bits)
{
    bits *= 2654435761u;
    bits ^= bits >> 15;
    bits *= 2246822519u;
    return bits ^ bits >> 13;
}

/* One in twenty series moves at the last commit but eight; the noise is about 1 %. */
static double value_of(guint series, guint commit, guint n_commits)
{
    double noise = 0.04 * ((mix(series * 7919u + commit) % 1000) / 1000.0 - 0.5);
    double level = series % 20 == 0 && commit + 8 >= n_commits ? 130 : 100;
    return level * (1 + noise);
}

static char *sha_of(guint number)
{
    g_autofree char *text = g_strdup_printf("commit %u", number);
    return g_compute_checksum_for_string(G_CHECKSUM_SHA1, text, -1);
}

static Run *make_run(guint commit, guint n_series, guint n_commits)
{
    Run *run = run_new();
    run->id = g_strdup_printf("run-%u", commit);
    run->project = g_strdup("bench");
    run->machine = g_strdup("box");
    run->branch = g_strdup("main");
    run->commit.sha = sha_of(commit);
    run->commit.has_time = true;
    run->commit.time_s = 1700000000 + commit;
    run->started_ms = 1750000000000;
    for (guint i = 0; i < n_series; i++) {
        struct run_result *result = run_result_new("Compared");
        run_result_add_param_number(result, "case", i);
        struct run_metric *metric = run_metric_new("real_time", "ns", BETTER_LOWER);
        run_metric_add_sample(metric, value_of(i, commit, n_commits));
        run_result_take_metric(result, metric);
        g_ptr_array_add(run->results, result);
    }
    return run;
}

/* ---- Waiting ---- */

struct wait {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool done;
    int64_t run_seq;
};

#define WAIT_INIT                                                                                  \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER                    \
    }

static void wake(struct wait *wait)
{
    pthread_mutex_lock(&wait->mutex);
    wait->done = true;
    pthread_cond_signal(&wait->changed);
    pthread_mutex_unlock(&wait->mutex);
}

static void sleep_until_woken(struct wait *wait)
{
    pthread_mutex_lock(&wait->mutex);
    while (!wait->done)
        pthread_cond_wait(&wait->changed, &wait->mutex);
    pthread_mutex_unlock(&wait->mutex);
}

static void on_stored(const struct store_receipt *receipt, void *user)
{
    struct wait *wait = user;
    check(receipt->error);
    wait->run_seq = receipt->run_seq;
    wake(wait);
}

static void on_judged(StoreReader *reader, void *user)
{
    (void)reader;
    wake(user);
}

static int64_t put(Store *store, Run *run)
{
    struct wait wait = WAIT_INIT;
    store_put_run(store, run, run_digest(run), on_stored, &wait);
    sleep_until_woken(&wait);
    return wait.run_seq;
}

static void await_judged(Work *work, int64_t run_seq)
{
    struct wait wait = WAIT_INIT;
    work_wait(work, run_seq, 600000, on_judged, &wait);
    sleep_until_woken(&wait);
}

static Work *start(Store *store)
{
    g_autoptr(GError) error = NULL;
    struct work_options options = {.store = store};
    Work *work = work_start(&options, &error);
    check(error);
    return work;
}

/* ---- Measuring ---- */

static void measure_push(Store *store, guint n_series, guint n_commits)
{
    int64_t seq = put(store, make_run(n_commits - 1, n_series, n_commits));
    double before = cpu_seconds();
    Work *work = start(store);
    await_judged(work, seq);
    double took = cpu_seconds() - before;
    work_stop(work);
    printf("judging %u series after one push, histories of %u commits: %.3f s CPU\n", n_series,
           n_commits, took);
}

static void measure_compare(Store *store, guint n_series, guint n_commits)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(StoreReader) reader = store_reader_new(store, &error);
    check(error);
    g_autofree char *base = sha_of(n_commits - 10), *head = sha_of(n_commits - 1);
    for (guint i = 0; i < COMPARE_ROUNDS; i++) {
        double before = cpu_seconds();
        StoreSnapshot *snapshot = store_snapshot_begin(reader, &error);
        check(error);
        struct comparison_request request = {
            .project = store_project_find(snapshot, "bench"), .base = base, .head = head};
        Comparison *comparison = comparison_new(snapshot, &request, &error);
        check(error);
        g_autofree char *sentence = comparison_sentence(comparison);
        comparison_free(comparison);
        store_snapshot_end(snapshot);
        printf("compare of %u series, histories of %u commits: %.1f ms CPU (%s)\n", n_series,
               n_commits, (cpu_seconds() - before) * 1e3, sentence);
    }
}

static void run_one(const char *path, guint n_series, guint n_commits, bool compares)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *url = g_strconcat("sqlite:", path, NULL);
    struct store_options options = {.url = url};
    Store *store = store_open(&options, &error);
    check(error);
    Work *work = start(store);
    int64_t seq = 0;
    for (guint i = 0; i + 1 < n_commits; i++)
        seq = put(store, make_run(i, n_series, n_commits));
    await_judged(work, seq);
    work_stop(work);
    measure_push(store, n_series, n_commits);
    if (compares)
        measure_compare(store, n_series, n_commits);
    store_close(store);
}

static void clear_folder(const char *folder)
{
    g_autoptr(GDir) entries = g_dir_open(folder, 0, NULL);
    for (const char *name; entries && (name = g_dir_read_name(entries));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
}

int main(int argc, char **argv)
{
    guint n_commits = argc > 1 ? (guint)CLAMP(atoi(argv[1]), 12, 100000) : COMMITS;
    g_autofree char *made =
        argc > 2 ? g_strdup(argv[2]) : g_dir_make_tmp("bench-compare-XXXXXX", NULL);
    g_autofree char *judged = g_build_filename(made, "judged.db", NULL);
    g_autofree char *compared = g_build_filename(made, "compared.db", NULL);
    run_one(compared, COMPARED, n_commits, true);
    run_one(judged, JUDGED, n_commits, false);
    if (argc <= 2) {
        clear_folder(made);
        g_rmdir(made);
    }
    return 0;
}
