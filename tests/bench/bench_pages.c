/* SPDX-License-Identifier: Apache-2.0
 * What the server's CPU spends on each page of a store with a million points, against the page's
 * budget: the real program, one request after the other, nothing in a browser's cache. The file is
 * made through the store's own interface and judged by the server before anything is measured.
 * Usage: bench_pages [SERIES [COMMITS [FILE]]]; a FILE that is there already is measured as it is,
 * and a new one is kept. */
#include "server/demo/synthetic_history.h"
#include "tests/bench/bench_load.h"
#include "tests/bench/http_talk.h"
#include "tests/bench/server_process.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERIES   3000u
#define COMMITS  334u
#define MACHINES 3u
#define CASES    20u /* of a benchmark */
#define WARM_UPS 3u
#define ROUNDS   40u

#define WAITING_MAX 32 /* runs on their way to the store */
#define WAIT_US     500

struct plan {
    guint n_series, n_commits; /* a machine has n_series / MACHINES */
};

/* ---- The file -------------------------------------------------------------------------------- */

static char *sha_of(guint commit)
{
    g_autofree char *text = g_strdup_printf("page commit %u", commit);
    return g_compute_checksum_for_string(G_CHECKSUM_SHA1, text, -1);
}

/* One in twenty series gets slower somewhere, one in thirty faster; the noise is 1 %. */
static double value_of(guint series, guint commit, guint n_commits)
{
    guint64 state = (guint64)series * 1000003 + commit;
    guint at = n_commits / 4 + series * 7 % (n_commits / 2);
    double level = commit < at ? 100 : series % 20 == 0 ? 112 : series % 30 == 7 ? 91 : 100;
    return level * (1 + series % 11) * exp(0.01 * synthetic_normal(&state));
}

static struct run_result *make_result(const struct plan *plan, guint series, guint commit)
{
    g_autofree char *bench = g_strdup_printf("Bench%03u", series / MACHINES / CASES);
    struct run_result *result = run_result_new(bench);
    run_result_add_param_number(result, "threads", 1 << (series / MACHINES % 4));
    run_result_add_param_number(result, "size", series / MACHINES % CASES / 4);
    struct run_metric *metric = run_metric_new("real_time", "ns", BETTER_LOWER);
    run_metric_add_sample(metric, value_of(series, commit, plan->n_commits));
    run_result_take_metric(result, metric);
    return result;
}

static Run *make_run(const struct plan *plan, guint commit, guint machine)
{
    Run *run = run_new();
    run->id = g_strdup_printf("page-%u-%u", commit, machine);
    run->project = g_strdup("bench");
    run->machine = g_strdup_printf("box-%u", machine);
    run->branch = g_strdup("main");
    run->commit.sha = sha_of(commit);
    run->commit.parents = g_new0(char *, 2);
    run->commit.parents[0] = commit > 0 ? sha_of(commit - 1) : NULL;
    run->commit.has_time = true;
    run->commit.time_s = 1700000000 + 3600 * (gint64)commit;
    run->commit.subject = g_strdup_printf("change number %u", commit);
    run->started_ms = (run->commit.time_s + 600) * 1000;
    for (guint series = machine; series < plan->n_series; series += MACHINES)
        g_ptr_array_add(run->results, make_result(plan, series, commit));
    return run;
}

static void on_stored(const struct store_receipt *receipt, void *user)
{
    if (receipt->error)
        g_error("cannot store a run: %s", receipt->error->message);
    g_atomic_int_add((gint *)user, -1);
}

static void fill(const char *path, const struct plan *plan)
{
    Store *store = bench_load_open(path);
    gint n_waiting = 0;
    for (guint commit = 0; commit < plan->n_commits; commit++) {
        for (guint machine = 0; machine < MACHINES; machine++) {
            Run *run = make_run(plan, commit, machine);
            g_atomic_int_inc(&n_waiting);
            store_put_run(store, run, run_digest(run), on_stored, &n_waiting);
            while (g_atomic_int_get(&n_waiting) > WAITING_MAX)
                g_usleep(WAIT_US);
        }
    }
    store_close(store); /* waits for all of them */
}

/* ---- Measuring ------------------------------------------------------------------------------- */

struct page {
    const char *name;
    char *target;
    double budget_ms;
};

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}
static void measure(const struct server_process *server, struct http_talk *talk,
                    const struct page *page)
{
    double ms[ROUNDS];
    for (guint i = 0; i < WARM_UPS; i++)
        http_talk_get(talk, page->target, "Accept-Encoding: gzip\r\n");
    for (guint i = 0; i < ROUNDS; i++) {
        double before = server_process_cpu_seconds(server);
        http_talk_get(talk, page->target, "Accept-Encoding: gzip\r\n");
        ms[i] = (server_process_cpu_seconds(server) - before) * 1e3;
    }
    if (talk->status != 200)
        g_error("%s: answered %u", page->target, talk->status);
    qsort(ms, ROUNDS, sizeof ms[0], compare_doubles);
    double p95 = ms[(ROUNDS * 95 + 99) / 100 - 1];
    gsize bytes = http_talk_body_bytes(talk);
    printf("%-22s %9.1f %9.1f %9.0f %7.2f %9.1f%s\n", page->name, ms[ROUNDS / 2], p95,
           page->budget_ms, p95 / page->budget_ms, (double)bytes / 1000,
           p95 > page->budget_ms ? "  over" : "");
    fflush(stdout);
}

static void measure_all(const struct server_process *server, const struct plan *plan)
{
    g_autofree char *base = sha_of(plan->n_commits / 4), *head = sha_of(plan->n_commits - 1);
    struct page pages[] = {
        {"home", g_strdup("/"), 15},
        {"project", g_strdup("/p/bench"), 40},
        {"project, unfolded", g_strdup("/p/bench?open=Bench007"), 40},
        {"project, found", g_strdup("/p/bench?q=size%3D3+threads%3D4"), 40},
        {"trend", g_strdup("/p/bench/b/Bench007"), 30},
        {"commit", g_strdup_printf("/p/bench/c/%s", head), 150},
        {"compare", g_strdup_printf("/p/bench/compare/%s...%s", base, head), 150},
        {"changes", g_strdup("/p/bench/changes"), 30},
        {"matrix", g_strdup("/p/bench/matrix"), 150},
        {"matrix, commits", g_strdup("/p/bench/matrix?view=commits&commits=60"), 60},
        {"matrix, machines", g_strdup("/p/bench/matrix?view=machines"), 60},
        {"explore", g_strdup("/p/bench/explore"), 60},
        {"explore, machines", g_strdup("/p/bench/explore?overlay=machine&commits=120"), 60},
        {"machines", g_strdup("/m"), 15},
        {"machine", g_strdup("/m/box-1"), 40},
        {"status", g_strdup("/status"), 15},
        {"badge", g_strdup("/badge/bench.svg"), 3},
        {"badge, benchmark", g_strdup("/badge/bench/Bench007.svg"), 3},
        {"embed", g_strdup("/embed/p/bench/b/Bench007"), 30},
    };
    struct http_talk talk;
    http_talk_open(&talk, server->port);
    printf("page                   median ms    p95 ms    budget   ratio  kB sent\n");
    for (guint i = 0; i < G_N_ELEMENTS(pages); i++) {
        measure(server, &talk, &pages[i]);
        g_free(pages[i].target);
    }
    http_talk_close(&talk);
}

int main(int argc, char **argv)
{
    const struct plan plan = {argc > 1 ? (guint)CLAMP(atoi(argv[1]), 60, 100000) : SERIES,
                              argc > 2 ? (guint)CLAMP(atoi(argv[2]), 40, 100000) : COMMITS};
    g_autofree char *folder = argc > 3 ? NULL : g_dir_make_tmp("bench-pages-XXXXXX", NULL);
    g_autofree char *path =
        argc > 3 ? g_strdup(argv[3]) : g_build_filename(folder, "pages.db", NULL);
    double before = bench_load_now_seconds();
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        fill(path, &plan);
    printf("%u series x %u commits: %u points, made in %.0f s", plan.n_series, plan.n_commits,
           plan.n_series * plan.n_commits, bench_load_now_seconds() - before);
    fflush(stdout);
    struct server_process server;
    before = bench_load_now_seconds();
    server_process_start(&server, path);
    server_process_settle(&server);
    printf(", judged in %.0f s\n", bench_load_now_seconds() - before);
    measure_all(&server, &plan);
    server_process_stop(&server);
    if (folder) {
        bench_load_remove(path);
        g_rmdir(folder);
    }
    return 0;
}
