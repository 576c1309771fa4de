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
    g_test_add_func("/steal-schedule/helped/hammer", test_hammer_helped);
    g_test_add_func("/steal-schedule/helped/outside", test_outside_helped);
    g_test_add_func("/steal-schedule/helped/producers", test_producers_helped);
    g_test_add_func("/steal-schedule/helped/tree", test_tree_helped);
    g_test_add_func("/steal-schedule/helped/shutdown-race", test_shutdown_race_helped);
    return g_test_run();
}
