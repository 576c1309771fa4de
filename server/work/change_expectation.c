/* SPDX-License-Identifier: Apache-2.0
 * See change_expectation.h. The thread of whoever asks. */
#include "server/work/change_expectation.h"

#include "schema/expectation.h"
#include "server/work/change_groups.h"
#include <math.h>

#define COMMITS_MAX 1000u /* of a range that are looked at, those nearest to its end */

struct search {
    struct series_names names;
    int direction;
    struct expectation *best;
};

static void weigh_commit(struct search *search, const struct store_commit *commit)
{
    g_autoptr(GPtrArray) list = expectations_parse(commit->trailers_json, NULL);
    for (guint i = 0; i < list->len; i++) {
        const struct expectation *one = list->pdata[i];
        if (one->direction != search->direction ||
            (search->best && search->best->effect >= one->effect) ||
            !series_pattern_fits(&one->pattern, &search->names))
            continue;
        expectation_free(search->best);
        search->best = expectation_parse(one->text, NULL);
    }
}

/* The commits of the range: those that the first bad one descends from, back to the last good one's
 * place in the order. Where no good one is known, the first bad one alone. */
static void walk(struct search *search, const struct store_commit *bad,
                 const struct store_commit *good)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) next = g_ptr_array_new();
    g_ptr_array_add(next, (gpointer)(guintptr)bad);
    for (guint i = 0; i < next->len && i < COMMITS_MAX; i++) {
        const struct store_commit *commit = next->pdata[i];
        weigh_commit(search, commit);
        for (guint p = 0; good && commit->parents && commit->parents[p]; p++) {
            struct store_commit *parent = commit->parents[p];
            if (parent->position > good->position && g_hash_table_add(seen, parent))
                g_ptr_array_add(next, parent);
        }
    }
}

/* The size of an effect, by the end of its interval that lies nearer to none. */
static double nearest_size(const struct store_change *change)
{
    if (change->low <= 0 && change->high >= 0)
        return 0;
    return fmin(fabs(change->low), fabs(change->high));
}

char *change_expectation_find(StoreSnapshot *snapshot, const struct store_series *series,
                              const struct store_change *change, bool *out_covers)
{
    const struct store_commit *bad = store_commit_by_id(snapshot, change->bad_commit_id);
    struct search search = {.names = store_series_names(series),
                            .direction = change_direction(series, change)};
    *out_covers = false;
    if (!bad || search.direction == 0)
        return NULL;
    walk(&search, bad, store_commit_by_id(snapshot, change->good_commit_id));
    if (!search.best)
        return NULL;
    *out_covers = nearest_size(change) <= search.best->effect;
    char *text = g_steal_pointer(&search.best->text);
    expectation_free(search.best);
    return text;
}
