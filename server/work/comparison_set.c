/* SPDX-License-Identifier: Apache-2.0
 * See comparison_set.h. The thread of whoever compares. */
#include "server/work/comparison_set.h"

#include <math.h>
#include <string.h>

void comparison_set_free(ComparisonSet *set)
{
    if (!set)
        return;
    for (guint i = 0; i < COMPARISON_HEADS_MAX; i++)
        comparison_free(set->of[i]);
    g_array_unref(set->rows);
    g_free(set);
}

const struct comparison_row *comparison_set_lead(const struct comparison_set_row *row)
{
    const struct comparison_row *first = row->of[0], *second = row->of[1];
    if (!first || !second)
        return first ? first : second;
    return second->verdict < first->verdict ? second : first;
}

/* What makes rows of two comparisons one case: the base's series, where there is one. */
static const struct store_series *case_of(const struct comparison_row *row)
{
    return row->base_series ? row->base_series : row->series;
}

static double size_of(const struct comparison_row *row)
{
    return row && isfinite(row->result.effect) ? fabs(log1p(fmax(row->result.effect, -0.999))) : 0;
}

static int compare_rows(gconstpointer a, gconstpointer b)
{
    const struct comparison_set_row *left = a, *right = b;
    const struct comparison_row *left_lead = comparison_set_lead(left);
    const struct comparison_row *right_lead = comparison_set_lead(right);
    if (left_lead->verdict != right_lead->verdict)
        return left_lead->verdict < right_lead->verdict ? -1 : 1;
    double left_size = fmax(size_of(left->of[0]), size_of(left->of[1]));
    double right_size = fmax(size_of(right->of[0]), size_of(right->of[1]));
    if (left_size != right_size)
        return left_size > right_size ? -1 : 1;
    int64_t left_id = left_lead->series->id, right_id = right_lead->series->id;
    return (left_id > right_id) - (left_id < right_id);
}

static void lay_rows(ComparisonSet *set)
{
    g_autoptr(GHashTable) places = g_hash_table_new(NULL, NULL);
    for (guint side = 0; side < set->n; side++) {
        const GArray *rows = set->of[side]->rows;
        for (guint i = 0; i < rows->len; i++) {
            const struct comparison_row *row = &g_array_index(rows, struct comparison_row, i);
            const struct store_series *same = case_of(row);
            guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, same));
            if (place == 0) {
                struct comparison_set_row fresh = {0};
                g_array_append_val(set->rows, fresh);
                place = set->rows->len;
                g_hash_table_insert(places, (gpointer)(guintptr)same, GUINT_TO_POINTER(place));
            }
            g_array_index(set->rows, struct comparison_set_row, place - 1).of[side] = row;
        }
    }
    if (set->n > 1) /* those of one comparison are in their order already */
        g_array_sort(set->rows, compare_rows);
}

/* The message names the side by the parameter that gave it. */
static void name_third(GError *error)
{
    if (error && g_str_has_prefix(error->message, "head: ")) {
        char *message = g_strconcat("also: ", error->message + strlen("head: "), NULL);
        g_free(error->message);
        error->message = message;
    }
}

ComparisonSet *comparison_set_new(StoreSnapshot *snapshot, const struct comparison_request *request,
                                  const char *also, GError **error)
{
    g_autoptr(ComparisonSet) set = g_new0(ComparisonSet, 1);
    set->rows = g_array_new(FALSE, FALSE, sizeof(struct comparison_set_row));
    struct comparison_request third = *request;
    third.head = also;
    set->n = also ? 2 : 1;
    for (guint i = 0; i < set->n; i++) {
        GError *fault = NULL;
        set->of[i] = comparison_new(snapshot, i == 0 ? request : &third, &fault);
        if (set->of[i])
            continue;
        if (i > 0)
            name_third(fault);
        g_propagate_error(error, fault);
        return NULL;
    }
    lay_rows(set);
    return g_steal_pointer(&set);
}
