/* SPDX-License-Identifier: Apache-2.0
 * Placement: which CPUs are chosen on machines that are made up (hwloc's synthetic topologies), and
 * that this process really is where it was bound to. */
#include "runner/machine/placement.h"
#include "schema/error.h"
#include <hwloc.h>
#include <sched.h>
#include <string.h>

/* Two packages of two cores with two hardware threads each: PUs 0,1 | 2,3 || 4,5 | 6,7. */
#define TWO_PACKAGES "pack:2 core:2 pu:2"

static char *choose(const char *machine, const char *allowed_list, const char *placement,
                    uint32_t threads)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc(), set = hwloc_bitmap_alloc();
    g_assert_cmpint(hwloc_topology_init(&topology), ==, 0);
    g_assert_cmpint(hwloc_topology_set_synthetic(topology, machine), ==, 0);
    g_assert_cmpint(hwloc_topology_load(topology), ==, 0);
    hwloc_bitmap_list_sscanf(allowed, allowed_list);
    g_autoptr(GError) error = NULL;
    char text[256] = "";
    if (placement_choose(topology, allowed, placement, threads, set, &error)) {
        hwloc_bitmap_list_snprintf(text, sizeof text, set);
    } else {
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE);
    }
    hwloc_bitmap_free(allowed);
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
    return g_strdup(text);
}

static void test_choices(void)
{
    const struct {
        const char *allowed, *placement;
        uint32_t threads;
        const char *expected; /* "": refused */
    } cases[] = {
        {"0-7", "compact", 1, "0"},    {"0-7", "compact", 2, "0-1"},
        {"0-7", "compact", 3, "0-2"},  {"2-7", "compact", 2, "2-3"},
        {"0-7", "compact", 99, "0-7"}, {"0-7", "scatter", 1, "0"},
        {"0-7", "scatter", 2, "0,4"},  {"0-7", "scatter", 4, "0,2,4,6"},
        {"0-7", "scatter", 99, "0-7"}, {"0,1,4,5", "scatter", 2, "0,4"},
        {"6-7", "scatter", 2, "6-7"},  {"0-7", "pu:5", 4, "5"},
        {"0-3", "pu:5", 4, ""},        {"0-7", "pu:64", 1, ""},
        {"0-7", "compact", 0, "0"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *set =
            choose(TWO_PACKAGES, cases[i].allowed, cases[i].placement, cases[i].threads);
        g_assert_cmpstr(set, ==, cases[i].expected);
    }
}

static void test_words(void)
{
    const char *const good[] = {"", "compact", "scatter", "pu:0", "pu:65535"};
    const char *const bad[] = {
        "none", "Compact", "pu", "pu:", "pu:-1", "pu:x", "pu:65536", "core:0"};
    for (unsigned i = 0; i < G_N_ELEMENTS(good); i++) {
        g_assert_true(placement_check(good[i], NULL));
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(placement_check(bad[i], &error));
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
        g_assert_nonnull(strstr(error->message, "scatter"));
    }
}

/* The last CPU that this process may use: bound there, it runs there. */
static void test_really_bound(void)
{
    cpu_set_t before, after;
    g_assert_cmpint(sched_getaffinity(0, sizeof before, &before), ==, 0);
    int last = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        last = CPU_ISSET((size_t)cpu, &before) ? cpu : last;
    }
    g_autofree char *placement = g_strdup_printf("pu:%d", last);
    g_autofree char *number = g_strdup_printf("%d", last);
    g_autofree char *cpus = NULL;
    GError *error = NULL;
    g_assert_true(placement_apply("", 4, NULL, &error));
    g_assert_cmpint(sched_getaffinity(0, sizeof after, &after), ==, 0);
    g_assert_true(CPU_EQUAL(&before, &after));
    placement_apply(placement, 4, &cpus, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(cpus, ==, number);
    g_assert_cmpint(sched_getcpu(), ==, last);
    g_assert_cmpint(sched_getaffinity(0, sizeof after, &after), ==, 0);
    g_assert_cmpint(CPU_COUNT(&after), ==, 1);
    g_assert_false(placement_apply("pu:65535", 1, NULL, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE);
    g_clear_error(&error);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/placement/choices", test_choices);
    g_test_add_func("/placement/words", test_words);
    g_test_add_func("/placement/really-bound", test_really_bound);
    return g_test_run();
}
