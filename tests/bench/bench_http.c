/* SPDX-License-Identifier: Apache-2.0
 * How fast the whole product takes and gives: the real server as a process of its own, clients that
 * post real run documents over kept connections, beside plain SQLite doing the same inserts in
 * turns on copies of the same file (plain_sqlite.h); then reads. What the clients cost is no part
 * of the server's CPU, but it takes wall time from it: documents are made before the clock runs.
 * Wall time depends on the neighbours: believe the CPU time, and the ratio. Usage: bench_http
 * [SECONDS [FOLDER]] */
#include "tests/bench/http_talk.h"
#include "tests/bench/plain_sqlite.h"
#include "tests/bench/server_process.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS           3
#define READS            2000
#define PAGE_READS       300
#define POSTS_PER_S_MAX  4000 /* documents that are made ready */
#define WARM_UP_REQUESTS 20
#define FRESH_MS         INT64_C(90000000000000) /* later than any commit */

/* ---- Posts ---- */

struct document {
    char *headers;
    GString *body;
};

/* Whom the clients of a round post to. */
struct peer {
    const struct server_process *server;
    const GArray *documents; /* struct document */
    gint next_document;      /* atomic */
    pthread_mutex_t mutex;
    GArray *latencies_s; /* double; under the mutex */
};

static void free_document(gpointer item)
{
    struct document *document = item;
    g_free(document->headers);
    g_string_free(document->body, TRUE);
}

static GArray *make_documents(guint n)
{
    GArray *documents = g_array_sized_new(FALSE, FALSE, sizeof(struct document), n);
    g_array_set_clear_func(documents, free_document);
    for (guint i = 0; i < n; i++) {
        guint number = bench_load_next_number();
        g_autoptr(Run) run = bench_load_make_run(number, bench_load_machine_of(number));
        struct document document = {.body = g_string_new(NULL)};
        run_print(run, document.body);
        document.headers = g_strdup_printf("Content-Type: application/json\r\n"
                                           "Content-Length: %" G_GSIZE_FORMAT "\r\n",
                                           document.body->len);
        g_array_append_val(documents, document);
    }
    return documents;
}

static void *post_to_server(void *argument)
{
    struct bench_client *client = argument;
    struct peer *peer = client->peer;
    g_autoptr(GArray) latencies_s = g_array_new(FALSE, FALSE, sizeof(double));
    struct http_talk talk;
    http_talk_open(&talk, peer->server->port);
    for (double start = bench_load_now_seconds(); start < client->until;) {
        guint next = (guint)g_atomic_int_add(&peer->next_document, 1);
        if (next >= peer->documents->len)
            break;
        const struct document *document = &g_array_index(peer->documents, struct document, next);
        struct http_talk_request request = {"POST /api/runs", document->headers, document->body};
        http_talk_exchange(&talk, &request);
        if (talk.status != 201)
            g_error("post: %s", talk.received->str);
        double end = bench_load_now_seconds(), latency_s = end - start;
        g_array_append_val(latencies_s, latency_s);
        start = end;
        client->posts++;
    }
    http_talk_close(&talk);
    pthread_mutex_lock(&peer->mutex);
    g_array_append_vals(peer->latencies_s, latencies_s->data, latencies_s->len);
    pthread_mutex_unlock(&peer->mutex);
    return NULL;
}

static gint64 transactions_of(const struct server_process *server)
{
    return server_process_metric(server, "breakeven_store_transactions_total");
}

static struct bench_figures measure_server(const char *path, struct peer *peer, guint n_clients,
                                           double seconds)
{
    struct server_process server;
    server_process_start(&server, path);
    peer->server = &server;
    peer->next_document = 0;
    gint64 transactions = transactions_of(&server);
    double cpu = server_process_cpu_seconds(&server), wall = bench_load_now_seconds();
    guint posts = bench_load_run_clients(n_clients, peer, post_to_server, seconds);
    wall = bench_load_now_seconds() - wall;
    cpu = server_process_cpu_seconds(&server) - cpu;
    transactions = transactions_of(&server) - transactions;
    gint64 stored = server_process_metric(&server, "breakeven_store_runs_stored_total");
    if (stored != posts)
        g_error("%u posts were answered, and %" G_GINT64_FORMAT " are stored", posts, stored);
    server_process_stop(&server);
    return (struct bench_figures){posts / wall, cpu / posts * 1e6, posts / (double)transactions};
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double quantile_ms(GArray *seconds, double share)
{
    qsort(seconds->data, seconds->len, sizeof(double), compare_doubles);
    guint position = (guint)(share * (seconds->len - 1));
    return g_array_index(seconds, double, position) * 1e3;
}

static void measure_posts(const char *base, const GArray *documents, guint n_clients,
                          double seconds)
{
    struct bench_figures product = {0}, plain = {0};
    struct peer peer = {.documents = documents};
    peer.latencies_s = g_array_new(FALSE, FALSE, sizeof(double));
    pthread_mutex_init(&peer.mutex, NULL);
    /* In turns, so that a passing neighbour does not hit one side only. */
    for (guint round = 0; round < ROUNDS; round++) {
        g_autofree char *server_path = bench_load_copy(base, "server.db");
        struct bench_figures figures =
            measure_server(server_path, &peer, n_clients, seconds / ROUNDS);
        bench_load_add(&product, &figures, ROUNDS);
        bench_load_remove(server_path);
        g_autofree char *plain_path = bench_load_copy(base, "plain.db");
        figures = plain_sqlite_measure(plain_path, n_clients, seconds / ROUNDS);
        bench_load_add(&plain, &figures, ROUNDS);
        bench_load_remove(plain_path);
    }
    bench_load_print_line(n_clients, &product, &plain);
    printf("%7s latency p50 %.1f ms, p99 %.1f ms\n", "", quantile_ms(peer.latencies_s, 0.5),
           quantile_ms(peer.latencies_s, 0.99));
    fflush(stdout);
    pthread_mutex_destroy(&peer.mutex);
    g_array_unref(peer.latencies_s);
}

/* ---- Reads ---- */

/* What a GET costs; returns the ETag. A target that ends in "=" is given another number each time,
 * so that no answer was given before. */
static char *measure_get(const struct server_process *server, guint n, const char *target,
                         const char *headers)
{
    bool is_fresh = g_str_has_suffix(target, "=");
    g_autoptr(GArray) latencies_s = g_array_new(FALSE, FALSE, sizeof(double));
    struct http_talk talk;
    http_talk_open(&talk, server->port);
    for (guint i = 0; i < WARM_UP_REQUESTS; i++) {
        g_autofree char *fresh =
            is_fresh ? g_strdup_printf("%s%" G_GINT64_FORMAT, target, FRESH_MS - 1 - i) : NULL;
        http_talk_get(&talk, fresh ? fresh : target, headers);
    }
    if (talk.status != 200 && talk.status != 304)
        g_error("%s: %s", target, talk.received->str);
    double cpu = server_process_cpu_seconds(server);
    for (guint i = 0; i < n; i++) {
        g_autofree char *fresh =
            is_fresh ? g_strdup_printf("%s%" G_GINT64_FORMAT, target, FRESH_MS + i) : NULL;
        double start = bench_load_now_seconds();
        http_talk_get(&talk, fresh ? fresh : target, headers);
        double latency_s = bench_load_now_seconds() - start;
        g_array_append_val(latencies_s, latency_s);
    }
    cpu = server_process_cpu_seconds(server) - cpu;
    printf("%8.3f %8.3f %8.3f %9" G_GSIZE_FORMAT "  %u %s%s%s\n", cpu / n * 1e3,
           quantile_ms(latencies_s, 0.5), quantile_ms(latencies_s, 0.99),
           http_talk_body_bytes(&talk), talk.status, target, *headers ? "  " : "",
           strstr(headers, "gzip")    ? "gzip"
           : strstr(headers, "-None") ? "If-None-Match"
                                      : "");
    fflush(stdout);
    char *etag = http_talk_header(&talk, "ETag");
    http_talk_close(&talk);
    return etag;
}

static void measure_get_ways(const struct server_process *server, guint n, const char *target)
{
    g_autofree char *etag = measure_get(server, n, target, "");
    g_free(measure_get(server, n, target, "Accept-Encoding: gzip\r\n"));
    g_autofree char *condition = g_strdup_printf("If-None-Match: %s\r\n", etag);
    g_free(measure_get(server, n, target, condition));
}

/* "/api/series/ID/points" of the one long series. */
static char *find_points_target(const struct server_process *server)
{
    static const char key[] = "\"points_url\":\"";
    struct http_talk talk;
    http_talk_open(&talk, server->port);
    http_talk_get(&talk, "/api/series?machine=trend", "");
    const char *found = strstr(http_talk_body(&talk), key);
    if (!found)
        g_error("no series of the machine trend: %s", http_talk_body(&talk));
    found += strlen(key);
    char *target = g_strndup(found, strcspn(found, "\""));
    http_talk_close(&talk);
    return target;
}

static void measure_reads(const char *path)
{
    struct server_process server;
    server_process_start(&server, path);
    server_process_settle(&server);
    printf("\nserver CPU ms, p50 ms, p99 ms, body bytes of a GET over a kept connection, with %d "
           "runs stored;\nthe series of these points has %d\n",
           BENCH_PREFILL_RUNS + BENCH_TREND_RUNS, BENCH_TREND_RUNS);
    g_autofree char *points = find_points_target(&server);
    measure_get_ways(&server, READS, points);
    g_autofree char *fresh = g_strconcat(points, "?to=", NULL);
    g_free(measure_get(&server, READS, fresh, ""));
    g_free(measure_get(&server, READS, fresh, "Accept-Encoding: gzip\r\n"));
    measure_get_ways(&server, PAGE_READS, "/p/demo/b/SerialTaskGroup?machine=trend");
    measure_get_ways(&server, PAGE_READS, "/p/demo/b/ThreadPoolSpawn?machine=machine-1");
    measure_get_ways(&server, PAGE_READS, "/api/runs?bench=ThreadPoolSpawn");
    server_process_stop(&server);
}

/* What the server does with runs that it has not seen, before anything is measured. */
static void settle(const char *base)
{
    struct server_process server;
    server_process_start(&server, base);
    server_process_settle(&server);
    server_process_stop(&server);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? g_ascii_strtod(argv[1], NULL) : 9;
    g_autofree char *folder =
        argc > 2 ? g_strdup(argv[2]) : g_dir_make_tmp("bench-http-XXXXXX", NULL);
    g_autofree char *base = g_build_filename(folder, "base.db", NULL);
    bench_load_fill(base);
    settle(base);
    if (seconds > 0) {
        g_autoptr(GArray) documents =
            make_documents((guint)(POSTS_PER_S_MAX * seconds / ROUNDS) + 1);
        bench_load_print_head("server");
        static const guint clients[] = {1, 8, 32};
        for (guint i = 0; i < G_N_ELEMENTS(clients); i++)
            measure_posts(base, documents, clients[i], seconds);
    }
    measure_reads(base);
    bench_load_remove(base);
    if (argc <= 2)
        g_rmdir(folder);
    return 0;
}
