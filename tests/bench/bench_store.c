/* SPDX-License-Identifier: Apache-2.0
 * How fast the store takes runs, beside plain SQLite that writes the same rows to the same tables
 * with the same group commit, in the same process, one after the other on copies of the same file.
 * The plain side has no catalogue, no checks, no documents: it is what the disk and SQLite allow.
 * Wall time depends on the neighbours: believe the ratio and the CPU time. Usage: bench_store
 * [SECONDS [FOLDER]] */
#include "server/store/sqlite.h"
#include "server/store/store.h"
#include <glib/gstdio.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum {
    RESULTS = 30,
    SAMPLES = 10,
    MACHINES = 34, /* so 1,020 series */
    PREFILL_RUNS = 5000,
    TREND_RUNS = 1000,
    READS = 2000,
    BATCH_MAX = 128,
    CLIENTS_MAX = 32,
    BLOB_BYTES = 2610 /* of the packed results that the store writes for such a run */
};

static const char *const benches[] = {"SerialTaskGroup", "ThreadPoolSpawn", "ThreadedTaskGroup"};

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double now_seconds(void)
{
    gint64 us = g_get_monotonic_time();
    return (double)us / 1e6;
}

struct figures {
    double posts_per_s, cpu_us_per_post, posts_per_transaction;
};

/* ---- What is posted
 * -----------------------------------------------------------------------------------------------
 */

static gint next_post; /* atomic: the number of the next run */

static char *sha_of(guint number)
{
    return g_strdup_printf("%040x", number + 1);
}

static Run *make_run(guint number, guint machine)
{
    Run *run = run_new();
    run->id = g_strdup_printf("0194f0c1-0000-7000-8000-%012u", number);
    run->project = g_strdup("demo");
    run->machine = g_strdup_printf("machine-%u", machine);
    run->commit.sha = sha_of(number / 4);
    run->commit.parents = g_new0(char *, 2);
    run->commit.parents[0] = number >= 4 ? sha_of(number / 4 - 1) : NULL;
    run->commit.has_time = true;
    run->commit.time_s = 1700000000 + number / 4;
    run->branch = g_strdup("main");
    run->reason = g_strdup("merge");
    run->started_ms = 1750000000000 + number;
    for (guint r = 0; r < RESULTS; r++) {
        struct run_result *result = run_result_new(benches[r / 10]);
        run_result_add_param(result, "executor", "fifo");
        run_result_add_param_number(result, "task_cost", 1000);
        run_result_add_param_number(result, "threads", r % 10 + 1);
        struct run_metric *metric = run_metric_new("items_per_second", "items/s", BETTER_HIGHER);
        for (guint s = 0; s < SAMPLES; s++)
            run_metric_add_sample(metric, 1163000.1 + number * 31 % 977 + s);
        run_result_take_metric(result, metric);
        g_ptr_array_add(run->results, result);
    }
    return run;
}

/* As unique as a digest; making the real one is the work of who posts. */
static char *make_digest(guint number)
{
    return g_strdup_printf("%064x", number);
}

/* ---- The store
 * ----------------------------------------------------------------------------------------------------
 */

struct client {
    pthread_t thread;
    Store *store;
    struct plain *plain;
    double until;
    guint posts;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool done;
};

static void client_done(struct client *client)
{
    pthread_mutex_lock(&client->mutex);
    client->done = true;
    pthread_cond_signal(&client->changed);
    pthread_mutex_unlock(&client->mutex);
}

static void client_wait(struct client *client)
{
    pthread_mutex_lock(&client->mutex);
    while (!client->done)
        pthread_cond_wait(&client->changed, &client->mutex);
    client->done = false;
    pthread_mutex_unlock(&client->mutex);
}

static void stored(const struct store_receipt *receipt, void *user)
{
    if (receipt->error)
        g_error("post: %s", receipt->error->message);
    client_done(user);
}

static void *post_to_store(void *argument)
{
    struct client *client = argument;
    while (now_seconds() < client->until) {
        guint number = (guint)g_atomic_int_add(&next_post, 1);
        store_put_run(client->store, make_run(number, number * 7919 % MACHINES),
                      make_digest(number), stored, client);
        client_wait(client);
        client->posts++;
    }
    return NULL;
}

/* Runs the clients, each on a thread, for so long; returns the sum of their posts. */
static guint run_clients(struct client *clients, guint n, void *(*body)(void *), double seconds)
{
    guint posts = 0;
    double until = now_seconds() + seconds;
    for (guint i = 0; i < n; i++) {
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

static Store *must_open(const char *path)
{
    g_autofree char *url = g_strconcat("sqlite:", path, NULL);
    struct store_options options = {.url = url};
    g_autoptr(GError) error = NULL;
    Store *store = store_open(&options, &error);
    if (!store)
        g_error("%s", error->message);
    return store;
}

static struct figures measure_store(const char *path, guint n_clients, double seconds)
{
    Store *store = must_open(path);
    struct client clients[CLIENTS_MAX] = {0};
    for (guint i = 0; i < n_clients; i++)
        clients[i].store = store;
    double cpu = cpu_seconds(), wall = now_seconds();
    guint posts = run_clients(clients, n_clients, post_to_store, seconds);
    cpu = cpu_seconds() - cpu;
    wall = now_seconds() - wall;
    struct store_status status;
    store_status(store, &status);
    store_close(store);
    return (struct figures){posts / wall, cpu / posts * 1e6, posts / (double)status.commits};
}

/* ---- Plain SQLite
 * -------------------------------------------------------------------------------------------------
 */

enum {
    BEGIN,
    COMMIT,
    ADD_COMMIT,
    ADD_PARENT,
    ADD_RUN,
    ADD_POINT,
    ADD_BENCHMARK,
    ADD_SAMPLES,
    SET_VERSION,
    PLAIN
};
static const struct sqlite_statement plain_statements[PLAIN] = {
    [BEGIN] = {"begin", "BEGIN IMMEDIATE", false},
    [COMMIT] = {"commit", "COMMIT", false},
    [ADD_COMMIT] =
        {"commit row",
         "INSERT OR IGNORE INTO \"commit\" (id, project_id, sha, time_s, parents_known, branch) "
         "VALUES (?1, 1, ?2, ?3, 1, 'main')",
         false},
    [ADD_PARENT] = {"parent", "INSERT OR IGNORE INTO commit_parent VALUES (?1, 0, ?2)", false},
    [ADD_RUN] = {"run",
                 "INSERT INTO run (seq, id, project_id, machine_id, commit_id, branch, reason, "
                 "dirty, started_ms, "
                 "received_ms, n_results, n_errors, n_samples) "
                 "VALUES (?1, ?2, 1, ?3, ?4, 'main', 'merge', 0, ?5, ?5, 30, 0, 300)",
                 false},
    [ADD_POINT] = {"point", "INSERT INTO point VALUES (?1, ?2, ?3, ?4, ?5, 10, 0, 0)", false},
    [ADD_BENCHMARK] = {"benchmark", "INSERT INTO benchmark_run VALUES (?1, ?2)", false},
    [ADD_SAMPLES] = {"samples",
                     "INSERT INTO run_samples (run_seq, digest, series, commits, results) VALUES "
                     "(?1, ?2, ?3, ?4, ?5)",
                     false},
    [SET_VERSION] = {"version", "UPDATE project SET version = version + 1 WHERE id = 1", false},
};

struct plain {
    sqlite3 *db, *checkpointer;
    sqlite3_stmt **statements;
    pthread_t writer, checkpoints;
    pthread_mutex_t mutex;
    pthread_cond_t has_work;
    GQueue waiting; /* struct client * */
    bool closing;
    guint transactions;
    GByteArray *series, *commits, *results; /* of the sizes that the store writes */
};

static void must_run(struct plain *plain, guint statement)
{
    g_autoptr(GError) error = NULL;
    if (!sqlite_run(plain->statements[statement], &error))
        g_error("%s: %s", plain_statements[statement].name, error->message);
}

static void insert_run(struct plain *plain, guint number)
{
    sqlite3_stmt **s = plain->statements;
    int64_t seq = 1000000 + (int64_t)number, commit = 1000000 + (int64_t)number / 4;
    guint machine = number * 7919 % MACHINES;
    g_autofree char *sha = sha_of(number / 4);
    g_autofree char *digest = make_digest(number);
    g_autofree char *id = g_strdup_printf("0194f0c1-0000-7000-8000-%012u", number);
    sqlite_bind(s[ADD_COMMIT], "iti", commit, sha, (int64_t)1700000000 + number / 4);
    must_run(plain, ADD_COMMIT);
    sqlite_bind(s[ADD_PARENT], "ii", commit, commit - 1);
    must_run(plain, ADD_PARENT);
    sqlite_bind(s[ADD_RUN], "itiii", seq, id, (int64_t)machine + 1, commit, (int64_t)1750000000000);
    must_run(plain, ADD_RUN);
    for (guint r = 0; r < RESULTS; r++) {
        double center = 1163000.1 + number * 31 % 977 + r;
        sqlite_bind(s[ADD_POINT], "iiddd", (int64_t)machine * RESULTS + r + 1, seq, center,
                    center - 1, center + 1);
        must_run(plain, ADD_POINT);
    }
    for (guint b = 0; b < G_N_ELEMENTS(benches); b++) {
        sqlite_bind(s[ADD_BENCHMARK], "ii", (int64_t)b + 1, seq);
        must_run(plain, ADD_BENCHMARK);
    }
    sqlite_bind(s[ADD_SAMPLES], "itbbb", seq, digest, plain->series, plain->commits,
                plain->results);
    must_run(plain, ADD_SAMPLES);
}

static void *plain_writer(void *argument)
{
    struct plain *plain = argument;
    for (;;) {
        struct client *batch[BATCH_MAX];
        guint n = 0;
        pthread_mutex_lock(&plain->mutex);
        while (g_queue_is_empty(&plain->waiting) && !plain->closing)
            pthread_cond_wait(&plain->has_work, &plain->mutex);
        while (n < BATCH_MAX && !g_queue_is_empty(&plain->waiting))
            batch[n++] = g_queue_pop_head(&plain->waiting);
        pthread_mutex_unlock(&plain->mutex);
        if (n == 0)
            return NULL;
        must_run(plain, BEGIN);
        for (guint i = 0; i < n; i++)
            insert_run(plain, (guint)g_atomic_int_add(&next_post, 1));
        must_run(plain, SET_VERSION);
        must_run(plain, COMMIT);
        plain->transactions++;
        for (guint i = 0; i < n; i++)
            client_done(batch[i]);
    }
}

static void *plain_checkpoints(void *argument)
{
    struct plain *plain = argument;
    for (bool last = false; !last;) {
        g_usleep(200000);
        sqlite3_wal_checkpoint_v2(plain->checkpointer, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
        pthread_mutex_lock(&plain->mutex);
        last = plain->closing;
        pthread_mutex_unlock(&plain->mutex);
    }
    return NULL;
}

static void *post_to_plain(void *argument)
{
    struct client *client = argument;
    struct plain *plain = client->plain;
    while (now_seconds() < client->until) {
        pthread_mutex_lock(&plain->mutex);
        g_queue_push_tail(&plain->waiting, client);
        pthread_cond_signal(&plain->has_work);
        pthread_mutex_unlock(&plain->mutex);
        client_wait(client);
        client->posts++;
    }
    return NULL;
}

static GByteArray *bytes_of(guint length)
{
    GByteArray *bytes = g_byte_array_new();
    g_byte_array_set_size(bytes, length);
    memset(bytes->data, 7, length);
    return bytes;
}

static struct figures measure_plain(const char *path, guint n_clients, double seconds)
{
    g_autoptr(GError) error = NULL;
    struct plain plain = {
        .series = bytes_of(62), .commits = bytes_of(4), .results = bytes_of(BLOB_BYTES)};
    plain.db = sqlite_connect(path, SQLITE_ROLE_WRITER, &error);
    plain.checkpointer = sqlite_connect(path, SQLITE_ROLE_CHECKPOINTER, &error);
    plain.statements = sqlite_prepare_all(plain.db, plain_statements, PLAIN, &error);
    if (!plain.statements || !plain.checkpointer)
        g_error("%s", error->message);
    pthread_mutex_init(&plain.mutex, NULL);
    pthread_cond_init(&plain.has_work, NULL);
    pthread_create(&plain.writer, NULL, plain_writer, &plain);
    pthread_create(&plain.checkpoints, NULL, plain_checkpoints, &plain);
    struct client clients[CLIENTS_MAX] = {0};
    for (guint i = 0; i < n_clients; i++)
        clients[i].plain = &plain;
    double cpu = cpu_seconds(), wall = now_seconds();
    guint posts = run_clients(clients, n_clients, post_to_plain, seconds);
    cpu = cpu_seconds() - cpu;
    wall = now_seconds() - wall;
    pthread_mutex_lock(&plain.mutex);
    plain.closing = true;
    pthread_cond_broadcast(&plain.has_work);
    pthread_mutex_unlock(&plain.mutex);
    pthread_join(plain.writer, NULL);
    pthread_join(plain.checkpoints, NULL);
    sqlite_finalize_all(plain.statements, PLAIN);
    sqlite3_close(plain.db);
    sqlite3_close(plain.checkpointer);
    g_byte_array_unref(plain.series);
    g_byte_array_unref(plain.commits);
    g_byte_array_unref(plain.results);
    return (struct figures){posts / wall, cpu / posts * 1e6, posts / (double)plain.transactions};
}

/* ---- Files, reads, the table
 * -------------------------------------------------------------------------------------- */

/* A file with points enough that writes spread over pages, and one series of TREND_RUNS points. */
static void fill(const char *path)
{
    Store *store = must_open(path);
    struct client client = {.store = store};
    pthread_mutex_init(&client.mutex, NULL);
    pthread_cond_init(&client.changed, NULL);
    for (guint i = 0; i < PREFILL_RUNS; i++) {
        guint number = (guint)g_atomic_int_add(&next_post, 1);
        store_put_run(store, make_run(number, number % MACHINES), make_digest(number), stored,
                      &client);
        if (i % BATCH_MAX == BATCH_MAX - 1)
            client_wait(&client);
    }
    for (guint i = 0; i < TREND_RUNS; i++) {
        guint number = (guint)g_atomic_int_add(&next_post, 1);
        Run *run = make_run(number, 0);
        g_ptr_array_set_size(run->results, 1);
        g_free(run->machine);
        run->machine = g_strdup("trend");
        store_put_run(store, run, make_digest(number), stored, &client);
    }
    store_close(store); /* waits for all of them */
}

static char *copy_of(const char *base, const char *name)
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

static void remove_store(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *name = g_strconcat(path, suffixes[i], NULL);
        g_unlink(name);
    }
}

/* What the clients of the store do and those of plain SQLite do not: making a run, and freeing it.
 */
static void measure_making(void)
{
    double cpu = cpu_seconds();
    for (guint i = 0; i < READS; i++) {
        run_free(make_run(i, i % MACHINES));
        g_free(make_digest(i));
    }
    printf("\nmaking and freeing a run, which is in the store's CPU: %.0f us\n",
           (cpu_seconds() - cpu) / READS * 1e6);
}

static void measure_reads(const char *path)
{
    Store *store = must_open(path);
    StoreReader *reader = store_reader_new(store, NULL);
    StoreSnapshot *snapshot = store_snapshot_begin(reader, NULL);
    const struct store_project *project = store_project_find(snapshot, "demo");
    const struct store_series *trend = project->series->pdata[project->series->len - 1];
    int64_t id = trend->id, sum = 0;
    printf("\none series of %u points of %u runs:", trend->n_points, project->runs->len);
    store_snapshot_end(snapshot);
    double cpu = cpu_seconds();
    for (guint i = 0; i < READS; i++) {
        snapshot = store_snapshot_begin(reader, NULL);
        GArray *points = store_series_points(snapshot, id, NULL);
        sum += points->len;
        g_array_unref(points);
        store_snapshot_end(snapshot);
    }
    printf(" %.3f ms CPU a read (%" G_GINT64_FORMAT " points read)\n",
           (cpu_seconds() - cpu) / READS * 1e3, sum);
    store_reader_free(reader);
    double start = now_seconds();
    store_close(store);
    printf("closed in %.0f ms", (now_seconds() - start) * 1e3);
    start = now_seconds();
    store = must_open(path);
    printf(", opened in %.0f ms\n", (now_seconds() - start) * 1e3);
    store_close(store);
}

static void measure_clients(const char *base, guint n_clients, double seconds)
{
    /* Twice, in turns, so that a passing neighbour does not hit one side only. */
    struct figures store = {0}, plain = {0};
    for (guint round = 0; round < 2; round++) {
        g_autofree char *store_path = copy_of(base, "store.db");
        struct figures figures = measure_store(store_path, n_clients, seconds / 2);
        store.posts_per_s += figures.posts_per_s / 2;
        store.cpu_us_per_post += figures.cpu_us_per_post / 2;
        store.posts_per_transaction += figures.posts_per_transaction / 2;
        remove_store(store_path);
        g_autofree char *plain_path = copy_of(base, "plain.db");
        figures = measure_plain(plain_path, n_clients, seconds / 2);
        plain.posts_per_s += figures.posts_per_s / 2;
        plain.cpu_us_per_post += figures.cpu_us_per_post / 2;
        plain.posts_per_transaction += figures.posts_per_transaction / 2;
        remove_store(plain_path);
    }
    printf("%7u %12.0f %10.0f %8.1f %12.0f %10.0f %8.1f %8.2f\n", n_clients, store.posts_per_s,
           store.cpu_us_per_post, store.posts_per_transaction, plain.posts_per_s,
           plain.cpu_us_per_post, plain.posts_per_transaction,
           store.posts_per_s / plain.posts_per_s);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? g_ascii_strtod(argv[1], NULL) : 6;
    g_autofree char *folder =
        argc > 2 ? g_strdup(argv[2]) : g_dir_make_tmp("bench-store-XXXXXX", NULL);
    g_autofree char *base = g_build_filename(folder, "base.db", NULL);
    fill(base);
    printf("%d results x %d samples a post, %d series, %d runs before\n", RESULTS, SAMPLES,
           MACHINES * RESULTS, PREFILL_RUNS);
    printf("clients  store posts/s  CPU us/post  /commit  plain posts/s  CPU us/post /commit    "
           "ratio\n");
    static const guint clients[] = {1, 8, 32};
    for (guint i = 0; i < G_N_ELEMENTS(clients); i++)
        measure_clients(base, clients[i], seconds);
    measure_making();
    measure_reads(base);
    remove_store(base);
    if (argc <= 2)
        g_rmdir(folder);
    return 0;
}
