/* SPDX-License-Identifier: Apache-2.0
 * Runs are read whole (a run's points lie together), summed up to one value a series by the rule of
 * every chart, and ancestors are walked until each series has its counterpart or the stated reach
 * ends. The request's thread. */
#include "server/pages/commit_results.h"

#include "server/pages/trend_data.h"

#include <string.h>

void commit_results_free(CommitResults *results)
{
    if (!results)
        return;
    g_ptr_array_unref(results->runs);
    g_array_unref(results->results);
    g_free(results);
}

static GPtrArray *runs_of(const struct store_commit *commit, guint *out_n_runs)
{
    GPtrArray *runs = g_ptr_array_new();
    const GPtrArray *all = commit->project->runs;
    *out_n_runs = 0;
    for (guint i = 0; i < all->len && *out_n_runs < commit->n_runs; i++) {
        struct store_run *run = (struct store_run *)g_ptr_array_index(all, i);
        if (run->commit != commit)
            continue;
        (*out_n_runs)++;
        if (runs->len < COMMIT_RUNS_MAX)
            g_ptr_array_add(runs, run);
    }
    return runs;
}

static bool add_run(StoreSnapshot *snapshot, const struct store_run *run,
                    GHashTable *inputs_by_series, GError **error)
{
    g_autoptr(GArray) points = store_run_points(snapshot, run->seq, error);
    if (!points)
        return false;
    for (guint i = 0; i < points->len; i++) {
        const struct store_point *point = &g_array_index(points, struct store_point, i);
        struct store_series *series = store_series_by_id(snapshot, point->series_id);
        if (!series)
            continue;
        GArray *inputs = (GArray *)g_hash_table_lookup(inputs_by_series, series);
        if (!inputs) {
            inputs = g_array_new(FALSE, FALSE, sizeof(struct commit_point_input));
            g_hash_table_insert(inputs_by_series, series, inputs);
        }
        struct commit_point_input input = trend_input_of(point, run);
        g_array_append_val(inputs, input);
    }
    return true;
}

/* struct store_series * to GArray * of its inputs at the commit; NULL on failure. */
static GHashTable *read_runs(StoreSnapshot *snapshot, const GPtrArray *runs, GError **error)
{
    g_autoptr(GHashTable) inputs =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    for (guint i = 0; i < runs->len; i++) {
        if (!add_run(snapshot, (const struct store_run *)g_ptr_array_index(runs, i), inputs, error))
            return NULL;
    }
    return g_steal_pointer(&inputs);
}

/* All inputs are of one commit, so exactly one point comes out. */
static struct commit_point point_of(const GArray *inputs)
{
    g_autoptr(GArray) points = commit_points_build(
        (const struct commit_point_input *)(const void *)inputs->data, inputs->len, NULL);
    return g_array_index(points, struct commit_point, 0);
}

static int compare_results(gconstpointer a, gconstpointer b)
{
    const struct store_series *left = ((const struct commit_result *)a)->series;
    const struct store_series *right = ((const struct commit_result *)b)->series;
    int order = strcmp(left->benchmark->name, right->benchmark->name);
    if (order == 0) /* series get their ids in the order in which a document names its cases, which
                       is the better reading order */
        order = left->id < right->id ? -1 : left->id > right->id;
    return order;
}

static guint fill_bases(GArray *results, GHashTable *inputs, const struct store_commit *ancestor)
{
    guint n_open = 0;
    for (guint i = 0; i < results->len; i++) {
        struct commit_result *result = &g_array_index(results, struct commit_result, i);
        if (result->base_commit)
            continue;
        const GArray *found = (const GArray *)g_hash_table_lookup(inputs, result->series);
        if (found) {
            result->base_commit = ancestor;
            result->base = point_of(found);
        } else {
            n_open++;
        }
    }
    return n_open;
}

static bool find_bases(StoreSnapshot *snapshot, const struct store_commit *commit, GArray *results,
                       GError **error)
{
    guint n_read = 0, n_open = results->len;
    const struct store_commit *ancestor = commit;
    for (guint step = 0; step < COMMIT_WALK_MAX && n_open > 0 && n_read < COMMIT_ANCESTORS_MAX;
         step++) {
        ancestor = ancestor->parents ? ancestor->parents[0] : NULL;
        if (!ancestor)
            break;
        if (ancestor->n_runs == 0)
            continue;
        guint n_runs;
        g_autoptr(GPtrArray) runs = runs_of(ancestor, &n_runs);
        g_autoptr(GHashTable) inputs = read_runs(snapshot, runs, error);
        if (!inputs)
            return false;
        n_open = fill_bases(results, inputs, ancestor);
        n_read++;
    }
    return true;
}

CommitResults *commit_results_new_alone(StoreSnapshot *snapshot, const struct store_commit *commit,
                                        GError **error)
{
    g_autoptr(CommitResults) found = g_new0(CommitResults, 1);
    found->runs = runs_of(commit, &found->n_runs);
    found->results = g_array_new(FALSE, TRUE, sizeof(struct commit_result));
    g_autoptr(GHashTable) inputs = read_runs(snapshot, found->runs, error);
    if (!inputs)
        return NULL;
    GHashTableIter iterator;
    gpointer series, values;
    g_hash_table_iter_init(&iterator, inputs);
    while (g_hash_table_iter_next(&iterator, &series, &values)) {
        struct commit_result result = {.series = (const struct store_series *)series,
                                       .value = point_of((const GArray *)values)};
        g_array_append_val(found->results, result);
    }
    g_array_sort(found->results, compare_results);
    return g_steal_pointer(&found);
}

CommitResults *commit_results_new(StoreSnapshot *snapshot, const struct store_commit *commit,
                                  GError **error)
{
    g_autoptr(CommitResults) found = commit_results_new_alone(snapshot, commit, error);
    if (!found || !find_bases(snapshot, commit, found->results, error))
        return NULL;
    return g_steal_pointer(&found);
}
