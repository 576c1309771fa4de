/* SPDX-License-Identifier: Apache-2.0
 * MultiProducer: several threads that are not the executor's submit at the same time, an equal part
 * of 10,000,000 / task_cost + 1 tasks each; what one lock costs where all meet. The producers live
 * across iterations and begin together; their waking is timed. Main thread, and the producers. */
#include "runner/benches/bench.h"
#include "runner/benches/observe.h"
#include "runner/benches/warm_round.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_PER_ITERATION 10000000u
#define PRODUCERS_MAX       64u

struct producer {
    struct multi_producer *all;
    uint32_t index;
    pthread_t thread;
    int failure;
};

struct multi_producer {
    struct warm_round round;
    pthread_barrier_t begin, end; /* of an iteration: the producers and the main thread */
    bool is_over;
    uint32_t n_producers;
    struct producer producers[PRODUCERS_MAX];
};

static uint32_t n_producers(const struct bench_case *cell)
{
    const char *value = bench_case_own(&bench_multi_producer, cell, "producers");
    return *value ? (uint32_t)strtoul(value, NULL, 10) : 1;
}

static bool allows_producers(const char *value)
{
    return g_ascii_string_to_unsigned(value, 10, 1, PRODUCERS_MAX, NULL, NULL);
}

static const struct bench_param multi_producer_params[] = {
    {.name = "producers",
     .values = "1,2,4",
     .allowed = "threads that submit, from 1 to 64",
     .allows = allows_producers},
    {0},
};

static uint64_t multi_producer_items(const struct bench_case *cell)
{
    uint64_t producers = n_producers(cell);
    uint64_t each = session_items(cell, STEPS_PER_ITERATION / cell->task_cost + 1) / producers;
    return (each > 0 ? each : 1) * producers;
}

static void *produce(void *argument)
{
    struct producer *producer = argument;
    struct multi_producer *all = producer->all;
    for (;;) {
        pthread_barrier_wait(&all->begin);
        if (all->is_over) {
            return NULL;
        }
        uint64_t each = all->round.n_tasks / all->n_producers;
        uint64_t first = each * producer->index;
        producer->failure = warm_round_submit(&all->round, first, first + each);
        pthread_barrier_wait(&all->end);
    }
}

static int submit_by_producers(struct warm_round *round, struct bench_timing *timing)
{
    struct multi_producer *all = round->own;
    int failure = 0;
    (void)timing;
    observe_foreign_threads(all->n_producers);
    pthread_barrier_wait(&all->begin);
    pthread_barrier_wait(&all->end);
    for (uint32_t i = 0; i < all->n_producers; i++) {
        failure = failure ? failure : all->producers[i].failure;
    }
    return failure;
}

/* A producer that cannot be started leaves the others at a barrier that is never full; the process
 * ends with its cell. */
static bool start_producers(struct multi_producer *all, GError **error)
{
    pthread_barrier_init(&all->begin, NULL, all->n_producers + 1);
    pthread_barrier_init(&all->end, NULL, all->n_producers + 1);
    for (uint32_t i = 0; i < all->n_producers; i++) {
        all->producers[i] = (struct producer){.all = all, .index = i};
        int failure = pthread_create(&all->producers[i].thread, NULL, produce, &all->producers[i]);
        if (failure) {
            return session_fail(all->round.session.ops, "starting a producer", -failure, error);
        }
    }
    return true;
}

static bool multi_producer_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    if (!bench_case_check(&bench_multi_producer, cell, error)) {
        return false;
    }
    struct multi_producer *all = g_new0(struct multi_producer, 1);
    all->n_producers = n_producers(cell);
    all->round.own = all;
    all->round.hand_over = submit_by_producers;
    if (!warm_round_open(&all->round, &bench_multi_producer, cell, multi_producer_items(cell),
                         error)) {
        g_free(all);
        return false;
    }
    *out_state = all;
    return start_producers(all, error);
}

static bool multi_producer_iterate(void *state, uint64_t iterations, struct bench_timing *timing,
                                   GError **error)
{
    struct multi_producer *all = state;
    return warm_round_iterate(&all->round, iterations, timing, error);
}

static void multi_producer_teardown(void *state)
{
    struct multi_producer *all = state;
    all->is_over = true;
    pthread_barrier_wait(&all->begin);
    for (uint32_t i = 0; i < all->n_producers; i++) {
        pthread_join(all->producers[i].thread, NULL);
    }
    pthread_barrier_destroy(&all->begin);
    pthread_barrier_destroy(&all->end);
    warm_round_close(&all->round);
    g_free(all);
}

const struct bench bench_multi_producer = {
    .name = "MultiProducer",
    .version = 1,
    .description = "several threads submit at the same time",
    .executors = "fifo",
    .needs = EXECUTOR_REUSABLE | EXECUTOR_SUBMIT_ANY,
    .refuses = EXECUTOR_NO_THREADS,
    .takes_threads = true,
    .params = multi_producer_params,
    .items_per_iteration = multi_producer_items,
    .setup = multi_producer_setup,
    .iterate = multi_producer_iterate,
    .teardown = multi_producer_teardown,
};
