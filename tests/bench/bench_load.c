/* SPDX-License-Identifier: Apache-2.0
 * See bench_load.h. Knows the store, neither SQLite nor HTTP. */
#include "tests/bench/bench_load.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <sys/resource.h>

#define TREND_NUMBER (1u << 22) /* far beyond the numbers of runs that are posted */

const char *const bench_load_benches[] = {"SerialTaskGroup", "ThreadPoolSpawn",
                                          "ThreadedTaskGroup"};

/* ---- Clocks ---- */

double bench_load_cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

double bench_load_now_seconds(void)
{
    gint64 us = g_get_monotonic_time();
    return (double)us / 1e6;
}

/* ---- What is posted ---- */

static gint next_number; /* atomic */

guint bench_load_next_number(void)
{
    return (guint)g_atomic_int_add(&next_number, 1);
}

guint bench_load_machine_of(guint number)
{
    return number * 7919 % BENCH_MACHINES;
}

char *bench_load_sha_of(guint number)
{
    return g_strdup_printf("%040x", number + 1);
}

/* With all its digits, as what is measured has: they cost time to read and to write. */
static double sample_of(guint number, guint sample)
{
    return (1163000.1 + number * 31 % 977 + sample) / 3;
}

Run *bench_load_make_run(guint number, guint machine)
{
    Run *run = run_new();
    run->id = g_strdup_printf("0194f0c1-0000-7000-8000-%012u", number);
    run->project = g_strdup("demo");
    run->machine = g_strdup_printf("machine-%u", machine);
    run->commit.sha = bench_load_sha_of(number / 4);
    run->commit.parents = g_new0(char *, 2);
    run->commit.parents[0] = number >= 4 ? bench_load_sha_of(number / 4 - 1) : NULL;
    run->commit.has_time = true;
    run->commit.time_s = 1700000000 + number / 4;
    run->branch = g_strdup("main");
    run->reason = g_strdup("merge");
    run->started_ms = 1750000000000 + number;
    for (guint r = 0; r < BENCH_RESULTS; r++) {
        struct run_result *result = run_result_new(bench_load_benches[r / 10]);
        run_result_add_param(result, "executor", "fifo");
        run_result_add_param_number(result, "task_cost", 1000);
        run_result_add_param_number(result, "threads", r % 10 + 1);
        struct run_metric *metric = run_metric_new("items_per_second", "items/s", BETTER_HIGHER);
        for (guint s = 0; s < BENCH_SAMPLES; s++)
            run_metric_add_sample(metric, sample_of(number, s));
        run_result_take_metric(result, metric);
        g_ptr_array_add(run->results, result);
    }
    return run;
}

char *bench_load_make_digest(guint number)
{
    return g_strdup_printf("%064x", number);
}

/* ---- Clients ---- */

void bench_load_client_done(struct bench_client *client)
{
    pthread_mutex_lock(&client->mutex);
    client->done = true;
    pthread_cond_signal(&client->changed);
    pthread_mutex_unlock(&client->mutex);
}

void bench_load_client_wait(struct bench_client *client)
{
    pthread_mutex_lock(&client->mutex);
    while (!client->done)
        pthread_cond_wait(&client->changed, &client->mutex);
    client->done = false;
    pthread_mutex_unlock(&client->mutex);
}

void bench_load_client_stored(const struct store_receipt *receipt, void *user)
{
    if (receipt->error)
        g_error("post: %s", receipt->error->message);
    bench_load_client_done(user);
}

guint bench_load_run_clients(guint n, void *peer, void *(*body)(void *), double seconds)
{
    struct bench_client clients[BENCH_CLIENTS_MAX] = {0};
    guint posts = 0;
    double until = bench_load_now_seconds() + seconds;
    for (guint i = 0; i < n; i++) {
        clients[i].peer = peer;
        clients[i].until = until;
        pthread_mutex_init(&clients[i].mutex, NULL);
        pthread_cond_init(&clients[i].changed, NULL);
        pthread_create(&clients[i].thread, NULL, body, &clients[i]);
    }
    for (guint i = 0; i < n; i++) {
        pthread_join(clients[i].thread, NULL);
        pthread_mutex_destroy(&clients[i].mutex);
        pthread_cond_destroy(&clients[i].changed);
        posts += clients[i].posts;
    }
    return posts;
}

void bench_load_print_head(const char *side)
{
    printf("%d results x %d samples a post, %d series, %d runs before\n", BENCH_RESULTS,
           BENCH_SAMPLES, BENCH_MACHINES * BENCH_RESULTS, BENCH_PREFILL_RUNS);
    printf("clients %6s posts/s  CPU us/post  /commit  plain posts/s  CPU us/post /commit    "
           "ratio\n",
           side);
}

void bench_load_print_line(guint n_clients, const struct bench_figures *side,
                           const struct bench_figures *plain)
{
    printf("%7u %12.0f %10.0f %8.1f %12.0f %10.0f %8.1f %8.2f\n", n_clients, side->posts_per_s,
           side->cpu_us_per_post, side->posts_per_transaction, plain->posts_per_s,
           plain->cpu_us_per_post, plain->posts_per_transaction,
           side->posts_per_s / plain->posts_per_s);
    fflush(stdout);
}

void bench_load_add(struct bench_figures *sum, const struct bench_figures *figures, guint n_rounds)
{
    sum->posts_per_s += figures->posts_per_s / n_rounds;
    sum->cpu_us_per_post += figures->cpu_us_per_post / n_rounds;
    sum->posts_per_transaction += figures->posts_per_transaction / n_rounds;
}

/* ---- Files ---- */

Store *bench_load_open(const char *path)
{
    g_autofree char *url = g_strconcat("sqlite:", path, NULL);
    struct store_options options = {.url = url};
    g_autoptr(GError) error = NULL;
    Store *store = store_open(&options, &error);
    if (!store)
        g_error("%s", error->message);
    return store;
}

void bench_load_fill(const char *path)
{
    Store *store = bench_load_open(path);
    struct bench_client client = {0};
    pthread_mutex_init(&client.mutex, NULL);
    pthread_cond_init(&client.changed, NULL);
    for (guint i = 0; i < BENCH_PREFILL_RUNS; i++) {
        guint number = bench_load_next_number();
        store_put_run(store, bench_load_make_run(number, number % BENCH_MACHINES),
                      bench_load_make_digest(number), bench_load_client_stored, &client);
        if (i % BENCH_BATCH_MAX == BENCH_BATCH_MAX - 1)
            bench_load_client_wait(&client);
    }
    for (guint i = 0; i < BENCH_TREND_RUNS; i++) {
        guint number = TREND_NUMBER + 4 * i; /* a commit of its own for each */
        Run *run = bench_load_make_run(number, 0);
        g_ptr_array_set_size(run->results, 1);
        g_free(run->machine);
        run->machine = g_strdup("trend");
        store_put_run(store, run, bench_load_make_digest(number), bench_load_client_stored,
                      &client);
    }
    store_close(store); /* waits for all of them */
    pthread_cond_destroy(&client.changed);
    pthread_mutex_destroy(&client.mutex);
}

char *bench_load_copy(const char *base, const char *name)
{
    g_autofree char *folder = g_path_get_dirname(base);
    g_autofree char *bytes = NULL;
    gsize length;
    char *path = g_build_filename(folder, name, NULL);
    g_autoptr(GError) error = NULL;
    if (!g_file_get_contents(base, &bytes, &length, &error) ||
        !g_file_set_contents(path, bytes, (gssize)length, &error))
        g_error("%s", error->message);
    return path;
}

void bench_load_remove(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *name = g_strconcat(path, suffixes[i], NULL);
        g_unlink(name);
    }
}
