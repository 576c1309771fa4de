/* SPDX-License-Identifier: Apache-2.0
 * How fast the store takes runs, beside plain SQLite that writes the same rows to the same tables
 * with the same group commit, in the same process, one after the other on copies of the same file.
 * The plain side has no catalogue, no checks, no documents: it is what the disk and SQLite allow.
 * Wall time depends on the neighbours: believe the ratio and the CPU time. Usage: bench_store
 * [SECONDS [FOLDER]] */
#include "tests/bench/plain_sqlite.h"

#include <glib/gstdio.h>
#include <stdio.h>

#define READS 2000

static void *post_to_store(void *argument)
{
    struct bench_client *client = argument;
    while (bench_load_now_seconds() < client->until) {
        guint number = bench_load_next_number();
        store_put_run(client->peer, bench_load_make_run(number, bench_load_machine_of(number)),
                      bench_load_make_digest(number), bench_load_client_stored, client);
        bench_load_client_wait(client);
        client->posts++;
    }
    return NULL;
}

static struct bench_figures measure_store(const char *path, guint n_clients, double seconds)
{
    Store *store = bench_load_open(path);
    double cpu = bench_load_cpu_seconds(), wall = bench_load_now_seconds();
    guint posts = bench_load_run_clients(n_clients, store, post_to_store, seconds);
    cpu = bench_load_cpu_seconds() - cpu;
    wall = bench_load_now_seconds() - wall;
    struct store_status status;
    store_status(store, &status);
    store_close(store);
    return (struct bench_figures){posts / wall, cpu / posts * 1e6, posts / (double)status.commits};
}

/* What the clients of the store do and those of plain SQLite do not: making a run, and freeing it.
 */
static void measure_making(void)
{
    double cpu = bench_load_cpu_seconds();
    for (guint i = 0; i < READS; i++) {
        run_free(bench_load_make_run(i, i % BENCH_MACHINES));
        g_free(bench_load_make_digest(i));
    }
    printf("\nmaking and freeing a run, which is in the store's CPU: %.0f us\n",
           (bench_load_cpu_seconds() - cpu) / READS * 1e6);
}

static void measure_reads(const char *path)
{
    Store *store = bench_load_open(path);
    StoreReader *reader = store_reader_new(store, NULL);
    StoreSnapshot *snapshot = store_snapshot_begin(reader, NULL);
    const struct store_project *project = store_project_find(snapshot, "demo");
    const struct store_series *trend = project->series->pdata[project->series->len - 1];
    int64_t id = trend->id, sum = 0;
    printf("\none series of %u points of %u runs:", trend->n_points, project->runs->len);
    store_snapshot_end(snapshot);
    double cpu = bench_load_cpu_seconds();
    for (guint i = 0; i < READS; i++) {
        snapshot = store_snapshot_begin(reader, NULL);
        GArray *points = store_series_points(snapshot, id, NULL);
        sum += points->len;
        g_array_unref(points);
        store_snapshot_end(snapshot);
    }
    printf(" %.3f ms CPU a read (%" G_GINT64_FORMAT " points read)\n",
           (bench_load_cpu_seconds() - cpu) / READS * 1e3, sum);
    store_reader_free(reader);
    double start = bench_load_now_seconds();
    store_close(store);
    printf("closed in %.0f ms", (bench_load_now_seconds() - start) * 1e3);
    start = bench_load_now_seconds();
    store = bench_load_open(path);
    printf(", opened in %.0f ms\n", (bench_load_now_seconds() - start) * 1e3);
    store_close(store);
}

static void measure_clients(const char *base, guint n_clients, double seconds)
{
    /* Twice, in turns, so that a passing neighbour does not hit one side only. */
    struct bench_figures store = {0}, plain = {0};
    for (guint round = 0; round < 2; round++) {
        g_autofree char *store_path = bench_load_copy(base, "store.db");
        struct bench_figures figures = measure_store(store_path, n_clients, seconds / 2);
        bench_load_add(&store, &figures, 2);
        bench_load_remove(store_path);
        g_autofree char *plain_path = bench_load_copy(base, "plain.db");
        figures = plain_sqlite_measure(plain_path, n_clients, seconds / 2);
        bench_load_add(&plain, &figures, 2);
        bench_load_remove(plain_path);
    }
    bench_load_print_line(n_clients, &store, &plain);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? g_ascii_strtod(argv[1], NULL) : 6;
    g_autofree char *folder =
        argc > 2 ? g_strdup(argv[2]) : g_dir_make_tmp("bench-store-XXXXXX", NULL);
    g_autofree char *base = g_build_filename(folder, "base.db", NULL);
    bench_load_fill(base);
    bench_load_print_head("store");
    static const guint clients[] = {1, 8, 32};
    for (guint i = 0; i < G_N_ELEMENTS(clients); i++)
        measure_clients(base, clients[i], seconds);
    measure_making();
    measure_reads(base);
    bench_load_remove(base);
    if (argc <= 2)
        g_rmdir(folder);
    return 0;
}
