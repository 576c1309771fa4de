/* SPDX-License-Identifier: Apache-2.0
 * Parameters in the order that a person expects. */
#include "server/api/param_order.h"

static void test_values(void)
{
    static const char *const sorted[] = {"-3", "2", "10", "1e3", "true", "x", "x1"};
    for (guint i = 0; i < G_N_ELEMENTS(sorted); i++) {
        for (guint k = 0; k < G_N_ELEMENTS(sorted); k++) {
            int order = param_order_values(sorted[i], sorted[k]);
            g_assert_true(i < k ? order < 0 : i > k ? order > 0 : order == 0);
        }
    }
    g_assert_cmpint(param_order_values("1000", "1e3"), !=, 0); /* a total order of texts */
}

static void test_lists(void)
{
    static const char *const sorted[] = {"{}",
                                         "{\"a\":\"x\"}",
                                         "{\"executor\":\"fifo\",\"threads\":2}",
                                         "{\"executor\":\"fifo\",\"threads\":16}",
                                         "{\"executor\":\"fifo\",\"threads\":16,\"z\":1}",
                                         "{\"threads\":1}"};
    for (guint i = 0; i < G_N_ELEMENTS(sorted); i++) {
        g_autoptr(GPtrArray) left = run_params_parse(sorted[i]);
        for (guint k = 0; k < G_N_ELEMENTS(sorted); k++) {
            g_autoptr(GPtrArray) right = run_params_parse(sorted[k]);
            int order = param_order_lists(left, right);
            g_assert_true(i < k ? order < 0 : i > k ? order > 0 : order == 0);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/param_order/values", test_values);
    g_test_add_func("/param_order/lists", test_lists);
    return g_test_run();
}
