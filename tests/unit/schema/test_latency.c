/* SPDX-License-Identifier: Apache-2.0
 * Counting how long things took: the bounds, what falls on and over them, the sum. */
#include "schema/latency.h"
#include <glib.h>

static void test_buckets(void)
{
    struct latency latency = {0};
    struct latency_counts counts;
    int64_t sum = 0, n = 0;
    for (int i = 0; i < LATENCY_BOUNDS; i++) {
        if (i > 0)
            g_assert_cmpint(latency_bounds_us[i], >, latency_bounds_us[i - 1]);
        latency_add(&latency, latency_bounds_us[i]);     /* included */
        latency_add(&latency, latency_bounds_us[i] + 1); /* the next one's */
        sum += 2 * latency_bounds_us[i] + 1;
    }
    latency_add(&latency, 0);
    latency_read(&latency, &counts);
    g_assert_cmpint(counts.counts[0], ==, 2);
    for (int i = 1; i < LATENCY_BOUNDS; i++)
        g_assert_cmpint(counts.counts[i], ==, 2);
    g_assert_cmpint(counts.counts[LATENCY_BOUNDS], ==, 1);
    for (int i = 0; i <= LATENCY_BOUNDS; i++)
        n += counts.counts[i];
    g_assert_cmpint(n, ==, 2 * LATENCY_BOUNDS + 1);
    g_assert_cmpint(counts.sum_us, ==, sum);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/schema/latency/buckets", test_buckets);
    return g_test_run();
}
