/* SPDX-License-Identifier: Apache-2.0
 * See plain_sqlite.h. Knows the tables' columns; the store must not be open on the same file. */
#include "tests/bench/plain_sqlite.h"

#include "server/store/sqlite.h"
#include <string.h>

#define BLOB_BYTES 2610 /* of the packed results that the store writes for such a run */

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
    GQueue waiting; /* struct bench_client * */
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
    guint machine = bench_load_machine_of(number);
    g_autofree char *sha = bench_load_sha_of(number / 4);
    g_autofree char *digest = bench_load_make_digest(number);
    g_autofree char *id = g_strdup_printf("0194f0c1-0000-7000-8000-%012u", number);
    sqlite_bind(s[ADD_COMMIT], "iti", commit, sha, (int64_t)1700000000 + number / 4);
    must_run(plain, ADD_COMMIT);
    sqlite_bind(s[ADD_PARENT], "ii", commit, commit - 1);
    must_run(plain, ADD_PARENT);
    sqlite_bind(s[ADD_RUN], "itiii", seq, id, (int64_t)machine + 1, commit, (int64_t)1750000000000);
    must_run(plain, ADD_RUN);
    for (guint r = 0; r < BENCH_RESULTS; r++) {
        double center = 1163000.1 + number * 31 % 977 + r;
        sqlite_bind(s[ADD_POINT], "iiddd", (int64_t)machine * BENCH_RESULTS + r + 1, seq, center,
                    center - 1, center + 1);
        must_run(plain, ADD_POINT);
    }
    for (guint b = 0; b < BENCH_BENCHES; b++) {
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
        struct bench_client *batch[BENCH_BATCH_MAX];
        guint n = 0;
        pthread_mutex_lock(&plain->mutex);
        while (g_queue_is_empty(&plain->waiting) && !plain->closing)
            pthread_cond_wait(&plain->has_work, &plain->mutex);
        while (n < BENCH_BATCH_MAX && !g_queue_is_empty(&plain->waiting))
            batch[n++] = g_queue_pop_head(&plain->waiting);
        pthread_mutex_unlock(&plain->mutex);
        if (n == 0)
            return NULL;
        must_run(plain, BEGIN);
        for (guint i = 0; i < n; i++)
            insert_run(plain, bench_load_next_number());
        must_run(plain, SET_VERSION);
        must_run(plain, COMMIT);
        plain->transactions++;
        for (guint i = 0; i < n; i++)
            bench_load_client_done(batch[i]);
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
    struct bench_client *client = argument;
    struct plain *plain = client->peer;
    while (bench_load_now_seconds() < client->until) {
        pthread_mutex_lock(&plain->mutex);
        g_queue_push_tail(&plain->waiting, client);
        pthread_cond_signal(&plain->has_work);
        pthread_mutex_unlock(&plain->mutex);
        bench_load_client_wait(client);
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

struct bench_figures plain_sqlite_measure(const char *path, guint n_clients, double seconds)
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
    double cpu = bench_load_cpu_seconds(), wall = bench_load_now_seconds();
    guint posts = bench_load_run_clients(n_clients, &plain, post_to_plain, seconds);
    cpu = bench_load_cpu_seconds() - cpu;
    wall = bench_load_now_seconds() - wall;
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
    return (struct bench_figures){posts / wall, cpu / posts * 1e6,
                                  posts / (double)plain.transactions};
}
