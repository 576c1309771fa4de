/* SPDX-License-Identifier: Apache-2.0
 * The order of parameters. Pure. */
#include "server/api/param_order.h"

#include "schema/number.h"
#include <string.h>

int param_order_values(const char *left, const char *right)
{
    double left_number, right_number;
    bool left_is = number_parse(left, &left_number), right_is = number_parse(right, &right_number);
    if (left_is != right_is)
        return left_is ? -1 : 1;
    if (left_is && left_number < right_number)
        return -1;
    if (left_is && left_number > right_number)
        return 1;
    return strcmp(left, right);
}

int param_order_lists(const GPtrArray *left, const GPtrArray *right)
{
    for (guint i = 0; i < left->len && i < right->len; i++) {
        const struct run_param *a = (const struct run_param *)g_ptr_array_index(left, i);
        const struct run_param *b = (const struct run_param *)g_ptr_array_index(right, i);
        int by_name = strcmp(a->name, b->name);
        if (by_name != 0)
            return by_name;
        int by_value = param_order_values(a->value, b->value);
        if (by_value != 0)
            return by_value;
    }
    return (left->len > right->len) - (left->len < right->len);
}
