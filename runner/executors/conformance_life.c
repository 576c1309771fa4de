/* SPDX-License-Identifier: Apache-2.0
 * Checks of an executor's life: its threads, its end, its errors, and what it does when it has
 * nothing to do. The main thread of a child. */
#include "runner/executors/conformance_check.h"
#include "runner/sample/clock.h"
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define THREADS         3u
#define REACH_MS        5000u /* for all threads to come to their tasks, on a busy machine */
#define SETTLE_STEP_MS  10u
#define SETTLE_STEPS    300u
#define QUIET_MS        500u /* for threads that spin before they sleep */
#define IDLE_MS         500u
#define IDLE_SWITCHES   10u       /* a poll each 50 ms */
#define IDLE_CPU_NS     50000000u /* a tenth of a CPU */
#define BURST_PER_PLACE 8u
#define LIVES           3u
#define NS_PER_MS       1000000u

static atomic_uint n_now, n_peak, n_ran, n_given_up;

static void note_arrival(void)
{
    unsigned now = atomic_fetch_add(&n_now, 1) + 1;
    unsigned peak = atomic_load(&n_peak);
    while (now > peak && !atomic_compare_exchange_weak(&n_peak, &peak, now)) {
    }
}

/* Stays until as many as there are threads are here at once. */
static void meet_others(void *argument)
{
    uint32_t threads = (uint32_t)(uintptr_t)argument;
    note_arrival();
    uint64_t end_ns = clock_wall_ns() + (uint64_t)REACH_MS * NS_PER_MS;
    while (atomic_load(&n_peak) < threads && !atomic_load(&n_given_up)) {
        if (clock_wall_ns() > end_ns) {
            atomic_store(&n_given_up, 1);
        }
        conformance_sleep_ms(1);
    }
    atomic_fetch_sub(&n_now, 1);
}

static void stay_a_while(void *argument)
{
    (void)argument;
    note_arrival();
    conformance_sleep_ms(2);
    atomic_fetch_sub(&n_now, 1);
    atomic_fetch_add(&n_ran, 1);
}

static void submit_meeting(void *context)
{
    struct conformance *conformance = context;
    uint32_t threads = conformance->threads;
    for (uint32_t i = 0; i < threads; i++) {
        if (!conformance_submit(conformance, meet_others, (void *)(uintptr_t)threads)) {
            return;
        }
    }
    if (!conformance_wait(conformance)) {
        return;
    }
    if (atomic_load(&n_given_up)) {
        conformance_fails(conformance, "%u long tasks at %u threads: at most %u ran at once",
                          threads, threads, atomic_load(&n_peak));
        return;
    }
    for (uint32_t i = 0; i < threads * BURST_PER_PLACE; i++) {
        if (!conformance_submit(conformance, stay_a_while, NULL)) {
            return;
        }
    }
    if (conformance_wait(conformance) && atomic_load(&n_peak) > threads) {
        conformance_fails(conformance, "at %u threads %u tasks ran at once", threads,
                          atomic_load(&n_peak));
    }
}

static void check_threads(struct conformance *conformance)
{
    if (conformance_create(conformance, THREADS) &&
        conformance_in_region(conformance, submit_meeting)) {
        conformance_destroy(conformance);
    }
}

static uint32_t count_threads(void)
{
    uint32_t n = 0;
    DIR *folder = opendir("/proc/self/task");
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        n += entry->d_name[0] != '.';
    }
    if (folder) {
        closedir(folder);
    }
    return n;
}

static void submit_some(void *context)
{
    struct conformance *conformance = context;
    for (uint32_t i = 0; i < conformance->threads * BURST_PER_PLACE; i++) {
        if (!conformance_submit(conformance, stay_a_while, NULL)) {
            return;
        }
    }
    conformance_wait(conformance);
}

/* Threads that are told to end need a while. */
static uint32_t settle_threads(uint32_t wanted)
{
    uint32_t n = count_threads();
    for (uint32_t step = 0; n > wanted && step < SETTLE_STEPS; step++) {
        conformance_sleep_ms(SETTLE_STEP_MS);
        n = count_threads();
    }
    return n;
}

static void *do_nothing(void *argument)
{
    return argument;
}

/* What a first thread brings with it (a sanitizer's own) is not the executor's. */
static uint32_t count_threads_before(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_nothing, NULL) == 0) {
        pthread_join(thread, NULL);
    }
    return count_threads();
}

static void check_ends(struct conformance *conformance)
{
    uint32_t before = count_threads_before();
    for (uint32_t life = 0; life < LIVES; life++) {
        if (!conformance_create(conformance, THREADS) ||
            !conformance_in_region(conformance, submit_some)) {
            return;
        }
        if (life % 2) { /* destroy alone must do, too */
            conformance->ops->destroy(conformance->self);
        } else {
            conformance_destroy(conformance);
        }
        uint32_t now = conformance_has(conformance, EXECUTOR_GLOBAL) ? 0 : settle_threads(before);
        uint32_t left = now > before ? now - before : 0;
        if (left) {
            conformance_fails(conformance,
                              "after destroy %u threads are left; end them, or declare "
                              "EXECUTOR_GLOBAL",
                              left);
            return;
        }
    }
}

#define DRAIN_TASKS (2 * BURST_PER_PLACE)

static void submit_only(void *context)
{
    struct conformance *conformance = context;
    for (uint32_t i = 0; i < DRAIN_TASKS; i++) {
        if (!conformance_submit(conformance, stay_a_while, NULL)) {
            return;
        }
    }
}

static void check_drain(struct conformance *conformance)
{
    const unsigned due = DRAIN_TASKS;
    if (!conformance_create(conformance, 2) || !conformance_in_region(conformance, submit_only)) {
        return;
    }
    int failure = conformance->ops->shutdown(conformance->self);
    unsigned ran = atomic_load(&n_ran);
    if (failure || ran != due) {
        conformance_fails(conformance, "shutdown returned %d when %u of %u tasks had run", failure,
                          ran, due);
    }
    conformance->ops->destroy(conformance->self);
}

static void check_errors(struct conformance *conformance)
{
    const struct executor_config none = {.size = sizeof none, .threads = 0};
    char message[256] = "";
    void *self = NULL;
    bool takes_threads = !(conformance->ops->capabilities & EXECUTOR_ELASTIC);
    int failure =
        takes_threads ? conformance->ops->create(&self, &none, message, sizeof message) : -EINVAL;
    if (failure >= 0 || (takes_threads && !*message)) {
        conformance_fails(conformance,
                          "create with 0 threads returned %d and the message \"%s\": it must be a "
                          "negative errno, with a message",
                          failure, message);
        return;
    }
    if (!conformance_create(conformance, 2)) {
        return;
    }
    failure = conformance->ops->shutdown(conformance->self);
    int late = conformance->ops->submit(conformance->self, stay_a_while, NULL);
    conformance_sleep_ms(SETTLE_STEP_MS);
    if (failure || late >= 0 || atomic_load(&n_ran)) {
        conformance_fails(conformance,
                          "shutdown returned %d, submit after it %d, and %u of its tasks ran: "
                          "it must be 0, a negative errno, and none",
                          failure, late, atomic_load(&n_ran));
    }
    conformance->ops->destroy(conformance->self);
}

static uint64_t own_cpu_ns(const struct rusage *usage)
{
    uint64_t us = (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000u +
                  (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
    return us * 1000u;
}

static void idle_after_work(void *context)
{
    struct conformance *conformance = context;
    struct rusage before, after;
    submit_some(conformance);
    conformance_sleep_ms(QUIET_MS);
    getrusage(RUSAGE_SELF, &before);
    conformance_sleep_ms(IDLE_MS);
    getrusage(RUSAGE_SELF, &after);
    /* Its own sleep is one. */
    long switches = after.ru_nvcsw - before.ru_nvcsw;
    uint64_t cpu_ns = own_cpu_ns(&after) - own_cpu_ns(&before);
    if (switches > (long)IDLE_SWITCHES || cpu_ns > IDLE_CPU_NS) {
        conformance_fails(conformance,
                          "without tasks it made %ld context switches and used %.1f ms of CPU in "
                          "%u ms; sleep, or declare EXECUTOR_SPINS",
                          switches, (double)cpu_ns / NS_PER_MS, IDLE_MS);
    }
}

static void check_idle(struct conformance *conformance)
{
    if (conformance_create(conformance, THREADS) &&
        conformance_in_region(conformance, idle_after_work)) {
        conformance_destroy(conformance);
    }
}

static atomic_uint n_bodies;
static pthread_t main_thread;

static void count_body(void *context)
{
    struct conformance *conformance = context;
    atomic_fetch_add(&n_bodies, 1);
    if (!pthread_equal(pthread_self(), main_thread)) {
        conformance_fails(conformance, "run_region called the body in another thread");
    }
    for (uint32_t i = 0; i < BURST_PER_PLACE; i++) {
        conformance_submit(conformance, stay_a_while, NULL);
    }
}

static void check_region(struct conformance *conformance)
{
    main_thread = pthread_self();
    for (unsigned due = 1; due <= LIVES; due++) {
        if (due == 1 && !conformance_create(conformance, 2)) {
            return;
        }
        if (!conformance_in_region(conformance, count_body)) {
            return;
        }
        unsigned ran = atomic_load(&n_ran);
        if (atomic_load(&n_bodies) != due || ran != due * BURST_PER_PLACE) {
            conformance_fails(conformance,
                              "%u regions called the body %u times, and left with %u of %u tasks "
                              "run",
                              due, atomic_load(&n_bodies), ran, due * BURST_PER_PLACE);
            return;
        }
    }
    conformance_destroy(conformance);
}

const struct conformance_check conformance_life_checks[] = {
    {"threads", "N long tasks reach N threads, and never more", 0,
     EXECUTOR_ELASTIC | EXECUTOR_NO_THREADS, check_threads},
    {"ends", "destroy leaves no thread, also without shutdown, again and again", 0, 0, check_ends},
    {"drain", "shutdown runs what is queued", 0, 0, check_drain},
    {"errors", "no threads, and a submit after shutdown, are refused", 0, EXECUTOR_NO_THREADS,
     check_errors},
    {"idle", "without tasks it sleeps", 0, EXECUTOR_SPINS | EXECUTOR_NO_THREADS, check_idle},
    {"region", "run_region calls the body once, in the main thread, and leaves no task",
     CONFORMANCE_NEEDS_REGION, 0, check_region},
    {NULL, NULL, 0, 0, NULL},
};
