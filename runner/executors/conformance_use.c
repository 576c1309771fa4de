/* SPDX-License-Identifier: Apache-2.0
 * Checks of what becomes of tasks: run once, waited for, handed over from where it is declared. The
 * main thread of a child; tasks in whatever thread the executor has, so what they write is atomic:
 * an executor under test may break any rule. */
#include "runner/executors/conformance_check.h"
#include <pthread.h>
#include <sched.h>

#define SETTLE_MS    50u
#define LONG_TASKS   8u
#define LONG_TASK_MS 20u
#define ROUNDS       3u
#define PRODUCERS    4u
#define NEST_WIDTH   10u
#define PUMP_MS      100
#define PUMPS_MAX    100u

static atomic_uint times[CONFORMANCE_TASKS_MAX];
static void *arguments[CONFORMANCE_TASKS_MAX];
static atomic_uint in_submit; /* the main thread is inside submit */
static atomic_uint n_inline, n_in_main;
static pthread_t main_thread;
static struct conformance *own; /* the one of this process */

static void count_once(void *argument)
{
    if (pthread_equal(pthread_self(), main_thread)) {
        atomic_fetch_add(atomic_load(&in_submit) ? &n_inline : &n_in_main, 1);
    }
    atomic_fetch_add((atomic_uint *)argument, 1);
}

static bool check_times(struct conformance *conformance, uint32_t n, uint32_t expected)
{
    for (uint32_t i = 0; i < n; i++) {
        unsigned ran = atomic_load(&times[i]);
        if (ran != expected) {
            return conformance_fails(conformance, "of %u tasks, number %u ran %u times, not %u", n,
                                     i, ran, expected);
        }
    }
    return true;
}

static void submit_rounds(void *context)
{
    struct conformance *conformance = context;
    uint32_t n = conformance_tasks(conformance);
    uint32_t rounds = conformance_has(conformance, EXECUTOR_REUSABLE) ? ROUNDS : 1;
    for (uint32_t round = 1; round <= rounds; round++) {
        for (uint32_t i = 0; i < n; i++) {
            atomic_store(&in_submit, 1);
            bool is_taken = conformance_submit(conformance, count_once, &times[i]);
            atomic_store(&in_submit, 0);
            if (!is_taken) {
                return;
            }
        }
        if (!conformance_wait(conformance) || !check_times(conformance, n, round)) {
            return;
        }
    }
    conformance_sleep_ms(SETTLE_MS);
    check_times(conformance, n, rounds);
}

static void check_exactly_once(struct conformance *conformance)
{
    if (conformance_create(conformance, 2) && conformance_in_region(conformance, submit_rounds)) {
        conformance_destroy(conformance);
        conformance_sleep_ms(SETTLE_MS);
        uint32_t rounds = conformance_has(conformance, EXECUTOR_REUSABLE) ? ROUNDS : 1;
        check_times(conformance, conformance_tasks(conformance), rounds);
    }
}

static void check_where(struct conformance *conformance)
{
    main_thread = pthread_self();
    if (!conformance_create(conformance, 2) || !conformance_in_region(conformance, submit_rounds)) {
        return;
    }
    unsigned in_main = atomic_load(&n_in_main), at_once = atomic_load(&n_inline);
    if (at_once &&
        !(conformance->ops->capabilities & (EXECUTOR_NO_THREADS | EXECUTOR_MAY_INLINE))) {
        conformance_fails(conformance, "submit ran %u tasks at once; declare EXECUTOR_MAY_INLINE",
                          at_once);
    }
    if (in_main && !conformance_has(conformance, EXECUTOR_CALLER_HELPS)) {
        conformance_fails(conformance,
                          "the main thread ran %u tasks; declare EXECUTOR_CALLER_HELPS", in_main);
    }
    conformance_destroy(conformance);
}

static void take_long(void *argument)
{
    conformance_sleep_ms(LONG_TASK_MS);
    atomic_fetch_add((atomic_uint *)argument, 1);
}

static void submit_long(void *context)
{
    struct conformance *conformance = context;
    for (uint32_t i = 0; i < LONG_TASKS; i++) {
        if (!conformance_submit(conformance, take_long, &times[0])) {
            return;
        }
    }
    if (conformance_wait(conformance)) {
        unsigned ran = atomic_load(&times[0]);
        if (ran != LONG_TASKS) {
            conformance_fails(conformance, "wait_all returned when %u of %u tasks had run", ran,
                              LONG_TASKS);
        }
    }
}

static void check_wait(struct conformance *conformance)
{
    if (conformance_create(conformance, 2) && conformance_in_region(conformance, submit_long)) {
        conformance_destroy(conformance);
    }
}

static void nest(void *argument)
{
    atomic_uint *counter = argument;
    atomic_uint *deeper = counter + 1;
    if (deeper - times < 3) {
        for (uint32_t i = 0; i < NEST_WIDTH; i++) {
            if (own->ops->submit(own->self, nest, deeper) != 0) {
                atomic_fetch_add(&times[3], 1);
            }
        }
        conformance_sleep_ms(1);
    }
    atomic_fetch_add(counter, 1);
}

static void submit_nested(void *context)
{
    struct conformance *conformance = context;
    const unsigned due[] = {NEST_WIDTH, NEST_WIDTH * NEST_WIDTH,
                            NEST_WIDTH * NEST_WIDTH * NEST_WIDTH};
    for (uint32_t i = 0; i < NEST_WIDTH; i++) {
        if (!conformance_submit(conformance, nest, &times[0])) {
            return;
        }
    }
    if (!conformance_wait(conformance)) {
        return;
    }
    if (atomic_load(&times[3])) {
        conformance_fails(conformance, "submit failed in %u tasks that submitted tasks",
                          atomic_load(&times[3]));
    }
    for (uint32_t depth = 0; depth < G_N_ELEMENTS(due); depth++) {
        unsigned ran = atomic_load(&times[depth]);
        if (ran != due[depth]) {
            conformance_fails(conformance,
                              "wait_all returned when %u of %u tasks submitted at depth %u had run",
                              ran, due[depth], depth);
        }
    }
}

static void check_nested(struct conformance *conformance)
{
    own = conformance;
    if (conformance_create(conformance, 2) && conformance_in_region(conformance, submit_nested)) {
        conformance_destroy(conformance);
    }
}

static void *produce(void *context)
{
    const uint32_t *first = context;
    uint32_t n = conformance_tasks(own) / PRODUCERS;
    for (uint32_t i = 0; i < n; i++) {
        if (own->ops->submit(own->self, count_once, &times[*first + i]) != 0) {
            return NULL;
        }
    }
    return context;
}

static void submit_from_threads(void *context)
{
    struct conformance *conformance = context;
    pthread_t threads[PRODUCERS];
    uint32_t first[PRODUCERS];
    uint32_t n = conformance_tasks(conformance) / PRODUCERS;
    bool is_good = true;
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        first[i] = i * n;
        if (pthread_create(&threads[i], NULL, produce, &first[i]) != 0) {
            conformance_fails(conformance, "no thread could be started to submit from");
            return;
        }
    }
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        is_good = is_good && result;
    }
    if (!is_good) {
        conformance_fails(conformance,
                          "submit failed in a thread that is neither main nor its own");
    } else if (conformance_wait(conformance)) {
        check_times(conformance, n * PRODUCERS, 1);
    }
}

static void check_any_thread(struct conformance *conformance)
{
    own = conformance;
    if (conformance_create(conformance, 2) &&
        conformance_in_region(conformance, submit_from_threads)) {
        conformance_destroy(conformance);
    }
}

static void submit_bulk(void *context)
{
    struct conformance *conformance = context;
    uint32_t n = conformance_tasks(conformance);
    for (uint32_t i = 0; i < n; i++) {
        arguments[i] = &times[i];
    }
    int failure = conformance->ops->submit_n(conformance->self, count_once, arguments, n);
    failure =
        failure ? failure : conformance->ops->submit_n(conformance->self, count_once, arguments, 0);
    if (failure) {
        conformance_fails(conformance, "submit_n returned %d", failure);
    } else if (conformance_wait(conformance)) {
        check_times(conformance, n, 1);
    }
}

static void check_bulk(struct conformance *conformance)
{
    if (conformance_create(conformance, 2) && conformance_in_region(conformance, submit_bulk)) {
        conformance_destroy(conformance);
    }
}

static void reply(void *argument)
{
    atomic_fetch_add(
        pthread_equal(pthread_self(), main_thread) ? (atomic_uint *)argument : &times[1], 1);
}

static void post_reply(void *argument)
{
    if (own->ops->post_main(own->self, reply, argument) != 0) {
        atomic_fetch_add(&times[2], 1);
    }
}

static void post_from_tasks(void *context)
{
    struct conformance *conformance = context;
    const unsigned due = LONG_TASKS;
    for (uint32_t i = 0; i < due; i++) {
        if (!conformance_submit(conformance, post_reply, &times[0])) {
            return;
        }
    }
    for (uint32_t i = 0; i < PUMPS_MAX && atomic_load(&times[0]) < due; i++) {
        int ran = conformance->ops->pump_main(conformance->self, PUMP_MS);
        if (ran < 0) {
            conformance_fails(conformance, "pump_main returned %d", ran);
            return;
        }
    }
    if (conformance_wait(conformance) && conformance->ops->pump_main(conformance->self, 0) > 0) {
        conformance_fails(conformance, "pump_main ran more than was posted");
    }
    if (atomic_load(&times[2]) || atomic_load(&times[1]) || atomic_load(&times[0]) != due) {
        conformance_fails(conformance,
                          "of %u tasks posted to the main thread, %u were refused, %u ran in "
                          "another thread and %u in the main thread",
                          due, atomic_load(&times[2]), atomic_load(&times[1]),
                          atomic_load(&times[0]));
    }
}

static void check_main(struct conformance *conformance)
{
    own = conformance;
    main_thread = pthread_self();
    if (conformance_create(conformance, 2) && conformance_in_region(conformance, post_from_tasks)) {
        conformance_destroy(conformance);
    }
}

const struct conformance_check conformance_use_checks[] = {
    {"exactly-once", "each task runs exactly once", 0, 0, check_exactly_once},
    {"wait", "wait_all returns when all tasks have run, not before", 0, 0, check_wait},
    {"where", "tasks run in the caller's thread only as declared", 0, 0, check_where},
    {"nested", "tasks submit tasks, and wait_all waits for those too", EXECUTOR_SUBMIT_WORKER, 0,
     check_nested},
    {"any-thread", "other threads submit", EXECUTOR_SUBMIT_ANY, 0, check_any_thread},
    {"bulk", "submit_n takes each task once", EXECUTOR_BULK, 0, check_bulk},
    {"main", "what is posted to the main thread runs there, once", EXECUTOR_MAIN, 0, check_main},
    {NULL, NULL, 0, 0, NULL},
};
