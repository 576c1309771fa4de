/* SPDX-License-Identifier: Apache-2.0
 * What the benchmarks of the store and of the server share: the runs that are posted, clients that
 * post them one after the other, clocks, and the file that everything starts from a copy of. For
 * benchmarks only: what fails ends the program. */
#pragma once

#include "schema/run.h"
#include "server/store/store.h"
#include <pthread.h>

enum {
    BENCH_RESULTS = 30,
    BENCH_SAMPLES = 10,
    BENCH_MACHINES = 34, /* so 1,020 series */
    BENCH_PREFILL_RUNS = 5000,
    BENCH_TREND_RUNS = 1000,
    BENCH_BATCH_MAX = 128,
    BENCH_CLIENTS_MAX = 32
};

extern const char *const bench_load_benches[];
enum { BENCH_BENCHES = 3 };

/* ---- Clocks ---- */

double bench_load_now_seconds(void); /* of a monotonic clock */
double bench_load_cpu_seconds(void); /* of this process, all threads, user and system */

/* ---- What is posted ---- */

guint bench_load_next_number(void); /* of the next run; any thread */
guint bench_load_machine_of(guint number);
char *bench_load_sha_of(guint number);
Run *bench_load_make_run(guint number, guint machine);
/* As unique as a digest; making the real one is the work of who posts. */
char *bench_load_make_digest(guint number);

/* ---- Clients ---- */

/* What a measurement says. */
struct bench_figures {
    double posts_per_s, cpu_us_per_post, posts_per_transaction;
};

/* One that posts, on a thread of its own. `peer` is whom it posts to, as its body knows it. */
struct bench_client {
    pthread_t thread;
    void *peer;
    double until; /* bench_load_now_seconds; at which it stops */
    guint posts;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool done;
};

void bench_load_client_done(struct bench_client *client); /* wakes the client that waits */
void bench_load_client_wait(struct bench_client *client);
/* A store_done_fn: the client is woken. */
void bench_load_client_stored(const struct store_receipt *receipt, void *user);

/* Runs n clients of this peer for so long; returns the sum of their posts. */
guint bench_load_run_clients(guint n, void *peer, void *(*body)(void *), double seconds);

/* One line of the table: a side beside plain SQLite. */
void bench_load_print_head(const char *side);
void bench_load_print_line(guint n_clients, const struct bench_figures *side,
                           const struct bench_figures *plain);
void bench_load_add(struct bench_figures *sum, const struct bench_figures *figures, guint n_rounds);

/* ---- Files ---- */

Store *bench_load_open(const char *path);
/* A file with points enough that writes spread over pages, and one series of BENCH_TREND_RUNS
 * points, each of a commit of its own: of the machine "trend". */
void bench_load_fill(const char *path);
char *bench_load_copy(const char *base, const char *name); /* beside it; returns the path */
void bench_load_remove(const char *path); /* with what SQLite and the store keep beside it */
