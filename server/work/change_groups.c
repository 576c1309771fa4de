/* SPDX-License-Identifier: Apache-2.0
 * See change_groups.h. The thread of whoever asks. */
#include "server/work/change_groups.h"

#include <math.h>

struct item {
    struct store_change *change;
    const struct store_series *series;
    guint first, last;
    int direction;
};

void change_group_free(struct change_group *group)
{
    if (!group)
        return;
    g_ptr_array_unref(group->changes);
    g_free(group);
}

int change_direction(const struct store_series *series, const struct store_change *change)
{
    if (series->better == BETTER_UNKNOWN)
        return 0;
    return (change->effect > 0) == (series->better == BETTER_HIGHER) ? 1 : -1;
}

static GArray *lay_items(StoreSnapshot *snapshot, const GPtrArray *changes)
{
    GArray *items = g_array_new(FALSE, FALSE, sizeof(struct item));
    for (guint i = 0; i < changes->len; i++) {
        struct store_change *change = changes->pdata[i];
        const struct store_series *series = store_series_by_id(snapshot, change->series_id);
        const struct store_commit *bad = store_commit_by_id(snapshot, change->bad_commit_id);
        const struct store_commit *good = store_commit_by_id(snapshot, change->good_commit_id);
        if (!series || !bad)
            continue;
        struct item item = {change, series, good ? good->position + 1 : 0, bad->position,
                            change_direction(series, change)};
        item.first = MIN(item.first, item.last);
        g_array_append_val(items, item);
    }
    return items;
}

/* Of an environment's move, its machine; 0 of a change. */
static int64_t moved_machine(const struct item *item)
{
    return item->change->kind == STORE_KIND_BOUNDARY ? item->series->machine->id : 0;
}

/* Whether both may be one event, wherever they lie. */
static bool same_kind(const struct item *a, const struct item *b)
{
    int64_t machine = moved_machine(a);
    return machine == moved_machine(b) && (machine != 0 || a->direction == b->direction);
}

static int compare_items(gconstpointer a, gconstpointer b)
{
    const struct item *left = a, *right = b;
    int64_t left_machine = moved_machine(left), right_machine = moved_machine(right);
    if (left_machine != right_machine)
        return left_machine < right_machine ? -1 : 1;
    if (left_machine == 0 && left->direction != right->direction)
        return left->direction < right->direction ? -1 : 1;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    return (left->change->id > right->change->id) - (left->change->id < right->change->id);
}

static double size_of(double effect)
{
    return fabs(log1p(fmax(effect, -0.999)));
}

static gint compare_effects(gconstpointer a, gconstpointer b)
{
    const struct store_change *const *left = a, *const *right = b;
    double left_size = size_of((*left)->effect), right_size = size_of((*right)->effect);
    if (left_size != right_size)
        return left_size > right_size ? -1 : 1;
    return ((*left)->id > (*right)->id) - ((*left)->id < (*right)->id);
}

static void count_cells(StoreSnapshot *snapshot, struct change_group *group)
{
    g_autoptr(GHashTable) cells = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < group->changes->len; i++) {
        const struct store_change *change = group->changes->pdata[i];
        const struct store_series *series = store_series_by_id(snapshot, change->series_id);
        g_hash_table_add(cells, g_strdup_printf("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %s",
                                                series->benchmark->id, series->machine->id,
                                                series->params_text));
    }
    group->n_cells = g_hash_table_size(cells);
}

static void take(struct change_group *group, const struct item *item)
{
    g_ptr_array_add(group->changes, item->change);
    group->id = group->id == 0 ? item->change->id : MIN(group->id, item->change->id);
    group->first = MIN(group->first, item->first);
    group->last = MAX(group->last, item->last);
    group->from = MAX(group->from, item->first);
    group->bad = MIN(group->bad, item->last);
    group->is_boundary = group->is_boundary && item->change->kind == STORE_KIND_BOUNDARY;
    if (size_of(item->change->effect) > size_of(group->worst_effect)) {
        group->worst_effect = item->change->effect;
        group->direction = item->direction;
    }
}

static void free_group(gpointer group)
{
    change_group_free(group);
}

static gint compare_groups(gconstpointer a, gconstpointer b)
{
    const struct change_group *const *left = a, *const *right = b;
    if ((*left)->direction != (*right)->direction)
        return (*left)->direction < (*right)->direction ? -1 : 1;
    double left_size = size_of((*left)->worst_effect), right_size = size_of((*right)->worst_effect);
    if (left_size != right_size)
        return left_size > right_size ? -1 : 1;
    return ((*left)->id > (*right)->id) - ((*left)->id < (*right)->id);
}

GPtrArray *change_groups_build(StoreSnapshot *snapshot, const GPtrArray *changes)
{
    g_autoptr(GArray) items = lay_items(snapshot, changes);
    GPtrArray *groups = g_ptr_array_new_with_free_func(free_group);
    struct change_group *group = NULL;
    const struct item *before = NULL;
    g_array_sort(items, compare_items);
    for (guint i = 0; i < items->len; i++) {
        const struct item *item = &g_array_index(items, struct item, i);
        if (!before || !same_kind(before, item) || item->first > group->last) {
            group = g_new0(struct change_group, 1);
            *group = (struct change_group){.changes = g_ptr_array_new(),
                                           .first = item->first,
                                           .last = item->last,
                                           .from = item->first,
                                           .bad = item->last,
                                           .direction = item->direction,
                                           .is_boundary = true};
            g_ptr_array_add(groups, group);
        }
        take(group, item);
        before = item;
    }
    for (guint i = 0; i < groups->len; i++) {
        struct change_group *of = groups->pdata[i];
        of->from = MIN(of->from, of->bad); /* ranges that overlap in a chain, and not all at once */
        count_cells(snapshot, of);
        g_ptr_array_sort(of->changes, compare_effects);
    }
    g_ptr_array_sort(groups, compare_groups);
    return groups;
}
