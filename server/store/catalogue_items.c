/* SPDX-License-Identifier: Apache-2.0
 * Making and freeing what the catalogue holds, and splicing commits into a project's order. Part of
 * catalogue.h; the writer thread runs it, splices are prepared without the lock and applied under
 * it. */
#include "server/store/catalogue.h"
#include <string.h>

static gint compare_shas(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

struct catalogue_project *catalogue_project_new(int64_t id, const char *name)
{
    struct catalogue_project *project = g_new0(struct catalogue_project, 1);
    project->pub.id = id;
    project->pub.name = g_strdup(name);
    project->pub.default_branch = g_strdup("main");
    project->pub.commits = g_ptr_array_new();
    project->pub.runs = g_ptr_array_new();
    project->pub.benchmarks = g_ptr_array_new();
    project->pub.series = g_ptr_array_new();
    project->pub.heads = g_ptr_array_new_with_free_func((GDestroyNotify)store_head_free);
    project->pub.annotations =
        g_ptr_array_new_with_free_func((GDestroyNotify)store_annotation_free);
    project->commit_by_sha = g_hash_table_new(g_str_hash, g_str_equal);
    project->commits_by_sha = g_tree_new(compare_shas);
    project->benchmark_by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    project->benchmark_aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    project->value_aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    project->cases = g_ptr_array_new_with_free_func((GDestroyNotify)catalogue_case_free);
    return project;
}

void catalogue_project_free(struct catalogue_project *project)
{
    g_free(project->pub.name);
    g_free(project->pub.default_branch);
    g_free(project->pub.commit_url_template);
    g_free(project->pub.param_defaults_json);
    g_free(project->pub.rules_json);
    g_clear_pointer(&project->pub.rules, g_ptr_array_unref);
    g_ptr_array_unref(project->pub.commits);
    g_ptr_array_unref(project->pub.runs);
    g_ptr_array_unref(project->pub.benchmarks);
    g_ptr_array_unref(project->pub.series);
    g_ptr_array_unref(project->pub.heads);
    g_ptr_array_unref(project->pub.annotations);
    g_hash_table_unref(project->commit_by_sha);
    g_tree_unref(project->commits_by_sha);
    g_hash_table_unref(project->benchmark_by_name);
    g_hash_table_unref(project->benchmark_aliases);
    g_hash_table_unref(project->value_aliases);
    g_ptr_array_unref(project->cases);
    g_clear_pointer(&project->defaults, g_hash_table_unref);
    g_free(project);
}

struct store_machine *catalogue_machine_new(int64_t id, const char *name)
{
    struct store_machine *machine = g_new0(struct store_machine, 1);
    machine->id = id;
    machine->name = g_strdup(name);
    return machine;
}

void catalogue_machine_free(struct store_machine *machine)
{
    g_free(machine->name);
    g_free(machine);
}

struct store_benchmark *catalogue_benchmark_new(int64_t id, struct store_project *project,
                                                const char *name)
{
    struct store_benchmark *benchmark = g_new0(struct store_benchmark, 1);
    benchmark->id = id;
    benchmark->name = g_strdup(name);
    benchmark->project = project;
    benchmark->series = g_ptr_array_new();
    return benchmark;
}

void catalogue_benchmark_free(struct store_benchmark *benchmark)
{
    g_free(benchmark->name);
    g_ptr_array_unref(benchmark->series);
    g_free(benchmark);
}

struct catalogue_commit *catalogue_commit_new(int64_t id, struct store_project *project,
                                              const char *sha)
{
    struct catalogue_commit *commit = g_new0(struct catalogue_commit, 1);
    commit->pub.id = id;
    commit->pub.project = project;
    commit->pub.sha = g_strdup(sha);
    commit->pub.provisional = true;
    commit->order.sha = commit->pub.sha;
    commit->order.fresh = true;
    return commit;
}

void catalogue_commit_free(struct catalogue_commit *commit)
{
    g_free(commit->pub.sha);
    g_free(commit->pub.parents);
    g_free(commit->pub.author);
    g_free(commit->pub.subject);
    g_free(commit->pub.trailers_json);
    g_free(commit->pub.branch);
    commit_order_clear(&commit->order);
    g_free(commit);
}

struct catalogue_series *catalogue_series_new(int64_t id, struct store_benchmark *benchmark,
                                              struct store_machine *machine,
                                              const char *params_text)
{
    struct catalogue_series *series = g_new0(struct catalogue_series, 1);
    series->pub.id = id;
    series->pub.project = benchmark->project;
    series->pub.benchmark = benchmark;
    series->pub.machine = machine;
    series->pub.params_text = g_strdup(params_text);
    series->pub.params = run_params_parse(params_text);
    series->line = series;
    return series;
}

void catalogue_series_free(struct catalogue_series *series)
{
    g_free(series->pub.params_text);
    g_clear_pointer(&series->pub.params, g_ptr_array_unref);
    g_clear_pointer(&series->pub.parts, g_ptr_array_unref);
    g_free(series->pub.metric);
    g_free(series->pub.unit);
    g_free(series->spelling);
    g_free(series);
}

struct catalogue_case *catalogue_case_new(int64_t id, struct store_benchmark *benchmark,
                                          const char *params_text)
{
    struct catalogue_case *error_case = g_new0(struct catalogue_case, 1);
    error_case->id = id;
    error_case->benchmark = benchmark;
    error_case->params_text = g_strdup(params_text);
    error_case->params = run_params_parse(params_text);
    return error_case;
}

void catalogue_case_free(struct catalogue_case *error_case)
{
    g_free(error_case->params_text);
    g_clear_pointer(&error_case->params, g_ptr_array_unref);
    g_free(error_case);
}

struct catalogue_environment *catalogue_environment_new(int64_t id, const char *digest)
{
    struct catalogue_environment *environment = g_new0(struct catalogue_environment, 1);
    environment->id = id;
    environment->digest = g_strdup(digest);
    return environment;
}

void catalogue_environment_free(struct catalogue_environment *environment)
{
    g_free(environment->digest);
    g_free(environment);
}

struct store_run *catalogue_run_new(int64_t seq, const char *id)
{
    struct store_run *run = g_new0(struct store_run, 1);
    run->seq = seq;
    run->id = g_strdup(id);
    return run;
}

void catalogue_run_free(struct store_run *run)
{
    g_free(run->id);
    g_free(run);
}

struct store_commit **catalogue_parents(const struct order_commit *order)
{
    struct store_commit **parents = g_new(struct store_commit *, order->n_parents + 1);
    for (guint i = 0; i < order->n_parents; i++)
        parents[i] = &catalogue_commit_of(order->parents[i])->pub;
    parents[order->n_parents] = NULL;
    return parents;
}

/* ---- Splicing
 * -----------------------------------------------------------------------------------------------------
 */

static struct catalogue_commit *commit_at(const GPtrArray *commits, guint position)
{
    return commits->pdata[position];
}

/* Before which of the commits, as they stand, a key belongs. */
static guint position_of_key(const GPtrArray *commits, const struct order_commit *order)
{
    guint low = 0, high = commits->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const struct store_commit *commit = commits->pdata[middle];
        bool before = commit->key_s != order->key_s ? commit->key_s < order->key_s
                                                    : strcmp(commit->sha, order->sha) < 0;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_placed(const GPtrArray *commits, const struct catalogue_commit *commit)
{
    return commit->pub.position < commits->len &&
           commits->pdata[commit->pub.position] == (gconstpointer)commit;
}

void catalogue_splice_prepare(struct catalogue_splice *splice, struct catalogue_project *project,
                              const GPtrArray *dirty)
{
    const GPtrArray *commits = project->pub.commits;
    splice->project = project;
    splice->changed = commit_order_propagate(dirty);
    splice->first = commits->len;
    for (guint i = 0; i < splice->changed->len; i++) {
        const struct catalogue_commit *commit = catalogue_commit_of(splice->changed->pdata[i]);
        if (is_placed(commits, commit))
            splice->first = MIN(splice->first, commit->pub.position);
    }
    if (splice->changed->len > 0)
        splice->first = MIN(splice->first, position_of_key(commits, splice->changed->pdata[0]));
    splice->tail = g_ptr_array_sized_new(commits->len - splice->first + splice->changed->len);
    guint next = 0;
    for (guint i = splice->first; i < commits->len; i++) {
        struct catalogue_commit *stays = commit_at(commits, i);
        if (stays->order.changed)
            continue;
        for (; next < splice->changed->len &&
               commit_order_compare(splice->changed->pdata[next], &stays->order) < 0;
             next++)
            g_ptr_array_add(splice->tail, catalogue_commit_of(splice->changed->pdata[next]));
        g_ptr_array_add(splice->tail, stays);
    }
    for (; next < splice->changed->len; next++)
        g_ptr_array_add(splice->tail, catalogue_commit_of(splice->changed->pdata[next]));
}

void catalogue_splice_apply(struct catalogue_splice *splice)
{
    GPtrArray *commits = splice->project->pub.commits;
    for (guint i = 0; i < splice->changed->len; i++) {
        struct order_commit *order = splice->changed->pdata[i];
        struct catalogue_commit *commit = catalogue_commit_of(order);
        commit->pub.key_s = order->key_s;
        commit->pub.time_s = order->effective_s;
        order->changed = false;
    }
    g_ptr_array_set_size(commits, (gint)splice->first);
    for (guint i = 0; i < splice->tail->len; i++) {
        struct store_commit *commit = splice->tail->pdata[i];
        commit->position = commits->len;
        g_ptr_array_add(commits, commit);
    }
}

void catalogue_splice_clear(struct catalogue_splice *splice)
{
    g_clear_pointer(&splice->changed, g_ptr_array_unref);
    g_clear_pointer(&splice->tail, g_ptr_array_unref);
}
