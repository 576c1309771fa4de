/* SPDX-License-Identifier: Apache-2.0
 * The stealing pool with its schedule disturbed: this program compiles the pool's sources itself,
 * and at each STEAL_POINT, between two steps whose order matters, a thread now and then gives its
 * CPU away or sleeps. A wake-up that is lost hangs, which SIGALRM ends; a task that is lost or
 * repeated fails a count. */
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static void steal_disturb(void);
#define STEAL_POINT() steal_disturb()

/* Not the library's objects: these. */
#include "runner/pool/steal_overflow.c"
#include "runner/pool/steal_park.c"
#include "runner/pool/steal_pool.c"
#include "runner/pool/steal_worker.c"

#include "sanitized.h"
#include "steal_load.h"

#define SCALE   (IS_SANITIZED ? 4u : 1u)
#define SECONDS 100u

static unsigned yield_in, sleep_in; /* one of so many; set before threads start */

static void steal_disturb(void)
{
    static _Thread_local uint64_t state;
    if (state == 0) {
        state = (uint64_t)(uintptr_t)&state | 1;
    }
    state = state * 6364136223846793005u + 1442695040888963407u;
    unsigned chance = (unsigned)(state >> 40);
    if (chance % sleep_in == 0) {
        usleep(chance / sleep_in % 60);
    } else if (chance % yield_in == 0) {
        sched_yield();
    }
}

static void disturb(unsigned yields, unsigned sleeps)
{
    yield_in = yields;
    sleep_in = sleeps;
}

static void test_hammer(void)
{
    disturb(4, 64);
    steal_load_hammer(1, 6000 / SCALE, SECONDS);
    steal_load_hammer(2, 6000 / SCALE, SECONDS);
    steal_load_hammer(5, 6000 / SCALE, SECONDS);
}

static void test_outside(void)
{
    disturb(64, 2048);
    steal_load_outside(1, 100000 / SCALE, SECONDS);
    steal_load_outside(3, 200000 / SCALE, SECONDS);
}

static void test_producers(void)
{
    disturb(32, 1024);
    steal_load_producers(3, 4, 25000 / SCALE, SECONDS);
}

static void test_tree(void)
{
    disturb(32, 1024);
    steal_load_tree(4, 200000 / SCALE, FALSE, SECONDS);
    steal_load_tree(3, 100000 / SCALE, TRUE, SECONDS);
}

static void test_shutdown_race(void)
{
    disturb(8, 128);
    steal_load_shutdown_race(2, 100 / SCALE, SECONDS);
}

/* A ring whose producer takes back while others take: each task goes to one of them, also where the
 * producer finds that they were faster. */
#define BACK_ROUNDS (20000u / SCALE)
#define BACK_PUSHES 160u /* a few more than must be there: consumers are often faster */
#define BACK_TASKS  16u
#define BACK_TAKERS 2u

static atomic_bool has_pushed_all;

static void run_taken(const struct steal_task *tasks, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        tasks[i].function(tasks[i].argument);
    }
}

static void *take_from_ring(void *ring)
{
    struct steal_task tasks[STEAL_RING_TAKE_MAX];
    bool is_last;
    do {
        is_last = atomic_load(&has_pushed_all);
        unsigned n = steal_ring_take(ring, tasks, STEAL_RING_TAKE_MAX, 2);
        run_taken(tasks, n);
        is_last = is_last && n == 0;
    } while (!is_last);
    return NULL;
}

static void push_and_take_back(struct steal_ring *ring, unsigned *fast, unsigned *slow)
{
    struct steal_task tasks[BACK_TASKS];
    uint32_t number = 0;
    for (unsigned round = 0; round < BACK_ROUNDS; round++) {
        for (unsigned i = 0; i < BACK_PUSHES && number < STEAL_LOAD_TASKS_MAX; i++, number++) {
            struct steal_task task = {steal_load_task, steal_load_number(number)};
            while (!steal_ring_push(ring, task)) {
                sched_yield();
            }
        }
        while (steal_ring_may_take_back(ring, BACK_TASKS)) {
            bool has_taken = steal_ring_take_back(ring, tasks, BACK_TASKS);
            run_taken(tasks, has_taken ? BACK_TASKS : 0);
            ++*(has_taken ? fast : slow);
        }
    }
    atomic_store(&has_pushed_all, true);
}

static void test_take_back(void)
{
    static struct steal_ring ring;
    pthread_t takers[BACK_TAKERS];
    unsigned fast = 0, slow = 0;
    disturb(16, 256);
    ring.slots = calloc(STEAL_RING_TASKS, sizeof *ring.slots);
    steal_load_begin(SECONDS);
    for (unsigned i = 0; i < BACK_TAKERS; i++) {
        pthread_create(&takers[i], NULL, take_from_ring, &ring);
    }
    push_and_take_back(&ring, &fast, &slow);
    for (unsigned i = 0; i < BACK_TAKERS; i++) {
        pthread_join(takers[i], NULL);
    }
    steal_load_end(MIN(BACK_ROUNDS * BACK_PUSHES, STEAL_LOAD_TASKS_MAX));
    g_assert_cmpuint(fast, >, 0);
    g_assert_cmpuint(slow, >, 0);
    free(ring.slots);
}

#define BOTH(name)                                                                                 \
    static void name##_helped(void)                                                                \
    {                                                                                              \
        steal_load_helps = true;                                                                   \
        name();                                                                                    \
        steal_load_helps = false;                                                                  \
    }
BOTH(test_hammer)
BOTH(test_outside)
BOTH(test_producers)
BOTH(test_tree)
BOTH(test_shutdown_race)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/steal-schedule/hammer", test_hammer);
    g_test_add_func("/steal-schedule/outside", test_outside);
    g_test_add_func("/steal-schedule/producers", test_producers);
    g_test_add_func("/steal-schedule/tree", test_tree);
    g_test_add_func("/steal-schedule/shutdown-race", test_shutdown_race);
    g_test_add_func("/steal-schedule/take-back", test_take_back);
    g_test_add_func("/steal-schedule/helped/hammer", test_hammer_helped);
    g_test_add_func("/steal-schedule/helped/outside", test_outside_helped);
    g_test_add_func("/steal-schedule/helped/producers", test_producers_helped);
    g_test_add_func("/steal-schedule/helped/tree", test_tree_helped);
    g_test_add_func("/steal-schedule/helped/shutdown-race", test_shutdown_race_helped);
    return g_test_run();
}
