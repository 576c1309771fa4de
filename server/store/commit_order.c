/* SPDX-License-Identifier: Apache-2.0
 * The order of commits (see commit_order.h). Every walk keeps its own list and never recurses:
 * histories are chains of hundreds of thousands. Must not know of SQL, locks or the catalogue; the
 * writer thread runs it. */
#include "server/store/commit_order.h"
#include <string.h>

enum { MARK_NONE, MARK_IN, MARK_LEFT };

int commit_order_compare(const struct order_commit *a, const struct order_commit *b)
{
    if (a->key_s != b->key_s)
        return a->key_s < b->key_s ? -1 : 1;
    return strcmp(a->sha, b->sha);
}

static gint compare_pointers(gconstpointer a, gconstpointer b)
{
    const struct order_commit *const *left = a, *const *right = b;
    return commit_order_compare(*left, *right);
}

void commit_order_clear(struct order_commit *commit)
{
    g_clear_pointer(&commit->parents, g_free);
    g_clear_pointer(&commit->children, g_free);
    commit->n_parents = commit->n_children = commit->children_room = 0;
}

static void add_child(struct order_commit *parent, struct order_commit *child)
{
    if (parent->n_children == parent->children_room) {
        parent->children_room = MAX(1, parent->children_room * 2);
        parent->children = g_renew(struct order_commit *, parent->children, parent->children_room);
    }
    parent->children[parent->n_children++] = child;
}

static void remove_child(struct order_commit *parent, const struct order_commit *child)
{
    for (guint i = parent->n_children; i-- > 0;) {
        if (parent->children[i] == child) {
            parent->n_children--;
            memmove(parent->children + i, parent->children + i + 1,
                    /* NOLINTNEXTLINE(bugprone-sizeof-expression): of a pointer, as meant */
                    (parent->n_children - i) * sizeof parent->children[0]);
            return;
        }
    }
}

void commit_order_link(struct order_commit *commit, struct order_commit *const *parents,
                       guint n_parents)
{
    commit->parents_known = true;
    commit->parents = n_parents ? g_new(struct order_commit *, n_parents) : NULL;
    commit->n_parents = n_parents;
    for (guint i = 0; i < n_parents; i++) {
        commit->parents[i] = parents[i];
        add_child(parents[i], commit);
    }
}

void commit_order_add_parent(struct order_commit *commit, struct order_commit *parent)
{
    commit->parents = g_renew(struct order_commit *, commit->parents, commit->n_parents + 1);
    commit->parents[commit->n_parents++] = parent;
    add_child(parent, commit);
}

void commit_order_unlink(struct order_commit *commit)
{
    for (guint i = commit->n_parents; i-- > 0;)
        remove_child(commit->parents[i], commit);
    g_clear_pointer(&commit->parents, g_free);
    commit->n_parents = 0;
    commit->parents_known = false;
}

/* ---- Cycles
 * -------------------------------------------------------------------------------------------------------
 */

/* True where the keys show that `parent` is no descendant of `commit`: keys rise along every path
 * of propagated links, and a path through a link staged since then passes a commit whose key is at
 * least staged_key_min. */
static bool surely_older(const struct order_commit *parent, const struct order_commit *commit,
                         int64_t staged_key_min)
{
    if (parent->n_parents == 0)
        return true;
    return !parent->fresh && !commit->fresh && parent->key_s < commit->key_s &&
           parent->key_s < staged_key_min;
}

static bool may_close_cycle(const struct order_commit *commit, int64_t staged_key_min)
{
    if (commit->n_children == 0)
        return false;
    for (guint i = 0; i < commit->n_parents; i++)
        if (!surely_older(commit->parents[i], commit, staged_key_min))
            return true;
    return false;
}

static void mark_commit(GPtrArray *list, struct order_commit *commit)
{
    if (commit->mark != MARK_NONE)
        return;
    commit->mark = MARK_IN;
    commit->pending = 0;
    g_ptr_array_add(list, commit);
}

/* Extends `list`, whose members are marked, by all their descendants, and counts for each the
 * parents within the list. */
static void close_over_children(GPtrArray *list)
{
    for (guint i = 0; i < list->len; i++) {
        struct order_commit *commit = list->pdata[i];
        for (guint c = 0; c < commit->n_children; c++) {
            mark_commit(list, commit->children[c]);
            commit->children[c]->pending++;
        }
    }
}

static void unmark_all(GPtrArray *list)
{
    for (guint i = 0; i < list->len; i++)
        ((struct order_commit *)list->pdata[i])->mark = MARK_NONE;
}

/* Takes away, again and again, commits of `list` that have no parent left within it (or no child,
 * where `upwards`). Those that remain keep MARK_IN. */
static guint trim(GPtrArray *list, bool upwards)
{
    g_autoptr(GPtrArray) ready = g_ptr_array_new();
    guint left = 0;
    for (guint i = 0; i < list->len; i++) {
        struct order_commit *commit = list->pdata[i];
        if (commit->mark != MARK_IN)
            continue;
        left++;
        commit->pending = 0;
        struct order_commit **before = upwards ? commit->children : commit->parents;
        guint n_before = upwards ? commit->n_children : commit->n_parents;
        for (guint b = 0; b < n_before; b++)
            commit->pending += before[b]->mark == MARK_IN;
        if (commit->pending == 0)
            g_ptr_array_add(ready, commit);
    }
    while (ready->len > 0) {
        struct order_commit *commit = g_ptr_array_steal_index_fast(ready, ready->len - 1);
        commit->mark = MARK_LEFT;
        left--;
        struct order_commit **after = upwards ? commit->parents : commit->children;
        guint n_after = upwards ? commit->n_parents : commit->n_children;
        for (guint a = 0; a < n_after; a++)
            if (after[a]->mark == MARK_IN && --after[a]->pending == 0)
                g_ptr_array_add(ready, after[a]);
    }
    return left;
}

GPtrArray *commit_order_find_cycles(const GPtrArray *linked, int64_t staged_key_min)
{
    GPtrArray *found = g_ptr_array_new();
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    for (guint i = 0; i < linked->len; i++)
        if (may_close_cycle(linked->pdata[i], staged_key_min))
            mark_commit(list, linked->pdata[i]);
    if (list->len == 0)
        return found;
    close_over_children(list);
    if (trim(list, false) > 0 && trim(list, true) > 0)
        for (guint i = 0; i < linked->len; i++)
            if (((struct order_commit *)linked->pdata[i])->mark == MARK_IN)
                g_ptr_array_add(found, linked->pdata[i]);
    unmark_all(list);
    return found;
}

/* ---- Keys
 * ---------------------------------------------------------------------------------------------------------
 */

static int64_t effective_time(const struct order_commit *commit)
{
    if (commit->has_time)
        return commit->time_s;
    if (commit->has_borrowed)
        return commit->borrowed_s;
    int64_t earliest = INT64_MAX;
    for (guint i = 0; i < commit->n_children; i++)
        earliest = MIN(earliest, commit->children[i]->effective_s);
    return earliest == INT64_MAX ? 0 : earliest - 1;
}

static bool borrows_from_children(const struct order_commit *commit)
{
    return !commit->has_time && !commit->has_borrowed;
}

/* Effective times flow from children to parents that have none of their own. Sets `changed` where
 * one is new, and returns all whose key may have to follow. */
static GPtrArray *settle_times(const GPtrArray *dirty)
{
    GPtrArray *list = g_ptr_array_new();
    for (guint i = 0; i < dirty->len; i++)
        mark_commit(list, dirty->pdata[i]);
    for (guint i = 0; i < list->len; i++) {
        struct order_commit *commit = list->pdata[i];
        for (guint p = 0; p < commit->n_parents; p++) {
            struct order_commit *parent = commit->parents[p];
            if (parent->mark == MARK_IN || borrows_from_children(parent)) {
                mark_commit(list, parent);
                parent->pending++; /* children that must be settled first */
            }
        }
    }
    g_autoptr(GPtrArray) ready = g_ptr_array_new();
    for (guint i = 0; i < list->len; i++)
        if (((struct order_commit *)list->pdata[i])->pending == 0)
            g_ptr_array_add(ready, list->pdata[i]);
    while (ready->len > 0) {
        struct order_commit *commit = g_ptr_array_steal_index_fast(ready, ready->len - 1);
        int64_t now = effective_time(commit);
        commit->changed = commit->changed || commit->fresh || now != commit->effective_s;
        commit->effective_s = now;
        for (guint p = 0; p < commit->n_parents; p++)
            if (commit->parents[p]->mark == MARK_IN && --commit->parents[p]->pending == 0)
                g_ptr_array_add(ready, commit->parents[p]);
    }
    unmark_all(list);
    return list;
}

static void settle_key(struct order_commit *commit)
{
    int64_t key = commit->effective_s;
    for (guint p = 0; p < commit->n_parents; p++)
        key = MAX(key, commit->parents[p]->key_s + 1);
    commit->changed = commit->changed || key != commit->key_s;
    commit->key_s = key;
    commit->fresh = false;
}

GPtrArray *commit_order_propagate(const GPtrArray *dirty)
{
    g_autoptr(GPtrArray) settled = settle_times(dirty);
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    for (guint i = 0; i < settled->len; i++)
        mark_commit(list, settled->pdata[i]);
    close_over_children(list);

    g_autoptr(GPtrArray) ready = g_ptr_array_new();
    GPtrArray *changed = g_ptr_array_new();
    for (guint i = 0; i < list->len; i++)
        if (((struct order_commit *)list->pdata[i])->pending == 0)
            g_ptr_array_add(ready, list->pdata[i]);
    while (ready->len > 0) {
        struct order_commit *commit = g_ptr_array_steal_index_fast(ready, ready->len - 1);
        settle_key(commit);
        if (commit->changed)
            g_ptr_array_add(changed, commit);
        for (guint c = 0; c < commit->n_children; c++)
            if (--commit->children[c]->pending == 0)
                g_ptr_array_add(ready, commit->children[c]);
    }
    unmark_all(list);
    g_ptr_array_sort(changed, compare_pointers);
    return changed;
}
