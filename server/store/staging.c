/* SPDX-License-Identifier: Apache-2.0
 * The writer's view of a transaction that is not committed yet: finding and adding (see staging.h;
 * undoing and applying are in staging_apply.c). The writer thread runs it, without a lock: nobody
 * else changes the catalogue. */
#include "server/store/staging.h"
#include <string.h>

void staging_init(struct staging *staging, Catalogue *catalogue)
{
    staging->catalogue = catalogue;
    staging->changes = g_ptr_array_new();
    staging->found = g_hash_table_new_full(catalogue_key_hash, catalogue_key_equal, g_free, NULL);
    staging->key_min = INT64_MAX;
}

void staging_clear(struct staging *staging)
{
    staging_undo(staging, 0);
    g_clear_pointer(&staging->changes, g_ptr_array_unref);
    g_clear_pointer(&staging->found, g_hash_table_unref);
}

static struct staging_change *add_change(struct staging *staging, enum staging_kind kind,
                                         struct catalogue_project *project, void *object)
{
    struct staging_change *change = g_new0(struct staging_change, 1);
    change->kind = kind;
    change->project = project;
    change->object = object;
    g_ptr_array_add(staging->changes, change);
    return change;
}

/* The texts of `key` must live as long as the object. */
static void add_found(struct staging *staging, struct staging_change *change,
                      const struct catalogue_key *key)
{
    change->key = g_memdup2(key, sizeof *key);
    g_hash_table_insert(staging->found, change->key, change->object);
}

static void *find(const struct staging *staging, enum staging_kind kind, int64_t scope,
                  const char *name)
{
    struct catalogue_key key = {.kind = (int)kind, .scope = scope, .name = name};
    return g_hash_table_lookup(staging->found, &key);
}

/* ---- Finding
 * ------------------------------------------------------------------------------------------------------
 */

struct catalogue_project *staging_find_project(const struct staging *staging, const char *name)
{
    struct catalogue_project *project =
        g_hash_table_lookup(staging->catalogue->project_by_name, name);
    return project ? project : find(staging, STAGED_PROJECT, 0, name);
}

struct store_machine *staging_find_machine(const struct staging *staging, const char *name)
{
    struct store_machine *machine = g_hash_table_lookup(staging->catalogue->machine_by_name, name);
    return machine ? machine : find(staging, STAGED_MACHINE, 0, name);
}

struct store_benchmark *staging_find_benchmark(const struct staging *staging,
                                               const struct catalogue_project *project,
                                               const char *name)
{
    struct store_benchmark *benchmark = g_hash_table_lookup(project->benchmark_by_name, name);
    return benchmark ? benchmark : find(staging, STAGED_BENCHMARK, project->pub.id, name);
}

struct catalogue_series *staging_find_series(const struct staging *staging,
                                             const struct store_benchmark *benchmark,
                                             const struct store_machine *machine,
                                             const char *params_text, const char *metric)
{
    struct catalogue_key key = {
        .scope = benchmark->id, .scope2 = machine->id, .name = params_text, .name2 = metric};
    struct catalogue_series *series = catalogue_series_find(staging->catalogue, &key);
    if (series)
        return series;
    key.kind = STAGED_SERIES;
    return g_hash_table_lookup(staging->found, &key);
}

struct catalogue_commit *staging_find_commit(const struct staging *staging,
                                             const struct catalogue_project *project,
                                             const char *sha)
{
    struct catalogue_commit *commit = g_hash_table_lookup(project->commit_by_sha, sha);
    return commit ? commit : find(staging, STAGED_COMMIT, project->pub.id, sha);
}

struct catalogue_environment *staging_find_environment(const struct staging *staging,
                                                       const char *digest)
{
    struct catalogue_environment *environment =
        g_hash_table_lookup(staging->catalogue->environment_by_digest, digest);
    return environment ? environment : find(staging, STAGED_ENVIRONMENT, 0, digest);
}

int64_t staging_find_topology(const struct staging *staging, const char *digest)
{
    const int64_t *id = g_hash_table_lookup(staging->catalogue->topology_by_digest, digest);
    const struct catalogue_environment *staged =
        id ? NULL : find(staging, STAGED_TOPOLOGY, 0, digest);
    return id ? *id : staged ? staged->id : 0;
}

struct catalogue_case *staging_find_case(const struct staging *staging,
                                         const struct store_benchmark *benchmark,
                                         const char *params_text)
{
    struct catalogue_key key = {.scope = benchmark->id, .name = params_text};
    struct catalogue_case *error_case =
        g_hash_table_lookup(staging->catalogue->case_by_params, &key);
    return error_case ? error_case : find(staging, STAGED_CASE, benchmark->id, params_text);
}

struct store_run *staging_find_run(const struct staging *staging, const char *id)
{
    struct store_run *run = g_hash_table_lookup(staging->catalogue->run_by_id, id);
    return run ? run : find(staging, STAGED_RUN, 0, id);
}

/* ---- Adding
 * -------------------------------------------------------------------------------------------------------
 */

static void stage_named(struct staging *staging, enum staging_kind kind, int64_t scope,
                        struct catalogue_project *project, void *object, const char *name)
{
    struct catalogue_key key = {.kind = (int)kind, .scope = scope, .name = name};
    add_found(staging, add_change(staging, kind, project, object), &key);
}

struct catalogue_project *staging_add_project(struct staging *staging, const char *name)
{
    struct catalogue_project *project =
        catalogue_project_new(++staging->catalogue->last.project, name);
    stage_named(staging, STAGED_PROJECT, 0, project, project, project->pub.name);
    return project;
}

struct store_machine *staging_add_machine(struct staging *staging, const char *name)
{
    struct store_machine *machine = catalogue_machine_new(++staging->catalogue->last.machine, name);
    stage_named(staging, STAGED_MACHINE, 0, NULL, machine, machine->name);
    return machine;
}

struct store_benchmark *staging_add_benchmark(struct staging *staging,
                                              struct catalogue_project *project, const char *name)
{
    struct store_benchmark *benchmark =
        catalogue_benchmark_new(++staging->catalogue->last.benchmark, &project->pub, name);
    stage_named(staging, STAGED_BENCHMARK, project->pub.id, project, benchmark, benchmark->name);
    return benchmark;
}

struct catalogue_series *staging_add_series(struct staging *staging,
                                            struct store_benchmark *benchmark,
                                            struct store_machine *machine, const char *params_text,
                                            const struct run_metric *metric)
{
    struct catalogue_series *series =
        catalogue_series_new(++staging->catalogue->last.series, benchmark, machine, params_text);
    series->pub.metric = g_strdup(metric->name);
    series->pub.unit = g_strdup(metric->unit);
    series->pub.better = series->better = metric->better;
    struct staging_change *change =
        add_change(staging, STAGED_SERIES, (struct catalogue_project *)benchmark->project, series);
    struct catalogue_series *first =
        staging_find_series(staging, benchmark, machine, params_text, metric->name);
    if (first) {
        series->next_unit = first->next_unit;
        first->next_unit = series;
        return series;
    }
    struct catalogue_key key = {.kind = STAGED_SERIES,
                                .scope = benchmark->id,
                                .scope2 = machine->id,
                                .name = series->pub.params_text,
                                .name2 = series->pub.metric};
    add_found(staging, change, &key);
    return series;
}

struct catalogue_commit *staging_add_commit(struct staging *staging,
                                            struct catalogue_project *project, const char *sha)
{
    struct catalogue_commit *commit =
        catalogue_commit_new(++staging->catalogue->last.commit, &project->pub, sha);
    stage_named(staging, STAGED_COMMIT, project->pub.id, project, commit, commit->pub.sha);
    return commit;
}

struct catalogue_environment *staging_add_environment(struct staging *staging, const char *digest)
{
    struct catalogue_environment *environment =
        catalogue_environment_new(++staging->catalogue->last.environment, digest);
    stage_named(staging, STAGED_ENVIRONMENT, 0, NULL, environment, environment->digest);
    return environment;
}

int64_t staging_add_topology(struct staging *staging, const char *digest)
{
    /* A topology is an id and a digest, as an environment is. */
    struct catalogue_environment *topology =
        catalogue_environment_new(++staging->catalogue->last.topology, digest);
    stage_named(staging, STAGED_TOPOLOGY, 0, NULL, topology, topology->digest);
    return topology->id;
}

struct catalogue_case *staging_add_case(struct staging *staging, struct store_benchmark *benchmark,
                                        const char *params_text)
{
    struct catalogue_case *error_case =
        catalogue_case_new(++staging->catalogue->last.error_case, benchmark, params_text);
    stage_named(staging, STAGED_CASE, benchmark->id, NULL, error_case, error_case->params_text);
    return error_case;
}

struct store_run *staging_add_run(struct staging *staging, const char *id,
                                  struct catalogue_project *project, GPtrArray *series)
{
    struct store_run *run = catalogue_run_new(++staging->catalogue->last.run, id);
    run->project = &project->pub;
    struct staging_change *change = add_change(staging, STAGED_RUN, project, run);
    struct catalogue_key key = {.kind = STAGED_RUN, .name = run->id};
    add_found(staging, change, &key);
    change->series = g_ptr_array_ref(series);
    return run;
}

struct store_annotation *staging_add_annotation(struct staging *staging,
                                                struct catalogue_project *project,
                                                const struct store_annotation *annotation)
{
    struct store_annotation *copy = g_memdup2(annotation, sizeof *annotation);
    copy->id = ++staging->catalogue->last.annotation;
    add_change(staging, STAGED_ANNOTATION, project, copy);
    return copy;
}

/* ---- Changing
 * -----------------------------------------------------------------------------------------------------
 */

void staging_set_better(struct staging *staging, struct catalogue_series *series,
                        enum better better)
{
    add_change(staging, STAGED_BETTER, (struct catalogue_project *)series->pub.project, series);
    series->better = better;
}

void staging_set_topology(struct staging *staging, struct catalogue_environment *environment)
{
    add_change(staging, STAGED_ENVIRONMENT_TOPOLOGY, NULL, environment);
}

void staging_set_borrowed(struct staging *staging, struct catalogue_commit *commit, bool has,
                          int64_t borrowed_s)
{
    struct staging_change *change = add_change(
        staging, STAGED_BORROWED, (struct catalogue_project *)commit->pub.project, commit);
    change->had_borrowed = commit->order.has_borrowed;
    change->borrowed_s = commit->order.borrowed_s;
    commit->order.has_borrowed = has;
    commit->order.borrowed_s = borrowed_s;
}

void staging_lend_start(struct staging *staging, struct catalogue_commit *commit, int64_t start_s)
{
    if (!commit->order.has_borrowed || start_s < commit->order.borrowed_s)
        staging_set_borrowed(staging, commit, true, start_s);
}

void staging_note_facts(struct staging *staging, struct catalogue_commit *commit, guint facts,
                        guint bound_before)
{
    struct staging_change *change =
        add_change(staging, STAGED_FACTS, (struct catalogue_project *)commit->pub.project, commit);
    change->facts = facts;
    change->bound_before = bound_before;
    if ((facts & FACT_PARENTS) && !commit->order.fresh)
        staging->key_min = MIN(staging->key_min, commit->order.key_s);
}

void staging_drop_facts(struct staging *staging, struct catalogue_commit *commit, guint facts)
{
    struct staging_change *change = add_change(
        staging, STAGED_FACTS_GONE, (struct catalogue_project *)commit->pub.project, commit);
    struct order_commit *order = &commit->order;
    struct staging_gone *gone = g_new0(struct staging_gone, 1);
    change->facts = facts;
    change->bound_before = commit->bound_facts;
    change->gone = gone;
    commit->bound_facts &= ~facts;
    if (facts & FACT_PARENTS) {
        gone->parents = g_ptr_array_new();
        for (guint i = 0; i < order->n_parents; i++)
            g_ptr_array_add(gone->parents, order->parents[i]);
        commit_order_unlink(order);
    }
    if (facts & FACT_TIME) {
        gone->time_s = order->time_s;
        gone->claimed_time_s = commit->claimed_time_s;
        gone->has_claimed = commit->has_claimed;
        order->has_time = commit->has_claimed = false;
    }
    if (facts & FACT_AUTHOR)
        gone->author = g_steal_pointer(&commit->author);
    if (facts & FACT_SUBJECT)
        gone->subject = g_steal_pointer(&commit->subject);
    if (facts & FACT_BRANCH)
        gone->branch = g_steal_pointer(&commit->branch);
}

void staging_set_project(struct staging *staging, struct catalogue_project *project,
                         struct staging_settings *settings)
{
    add_change(staging, STAGED_SETTINGS, project, project)->settings = settings;
}

void staging_rename(struct staging *staging, struct staging_rename *rename)
{
    add_change(staging, STAGED_RENAME, rename->project, rename)->rename = rename;
}

void staging_set_retention(struct staging *staging, struct catalogue_project *project,
                           const struct store_retention *retention)
{
    add_change(staging, STAGED_RETENTION, project, project)->retention = *retention;
}

void staging_drop_samples(struct staging *staging, struct store_run *run)
{
    add_change(staging, STAGED_DROPPED, (struct catalogue_project *)run->project, run);
}

void staging_touch(struct staging *staging, int64_t project_id)
{
    const GPtrArray *projects = staging->catalogue->projects;
    for (guint i = 0; i < projects->len; i++) {
        struct catalogue_project *project = projects->pdata[i];
        if (project->pub.id == project_id)
            add_change(staging, STAGED_TOUCH, project, NULL);
    }
}

void staging_delete_run(struct staging *staging, struct store_run *run, GPtrArray *series,
                        GArray *last_seqs)
{
    struct staging_change *change =
        add_change(staging, STAGED_DELETION, (struct catalogue_project *)run->project, run);
    change->series = g_ptr_array_ref(series);
    change->last_seqs = g_array_ref(last_seqs);
}

void staging_set_head(struct staging *staging, struct catalogue_project *project,
                      struct store_head *head)
{
    add_change(staging, STAGED_HEAD, project, head);
}

void staging_drop_head(struct staging *staging, struct catalogue_project *project,
                       const struct store_head *head)
{
    add_change(staging, STAGED_HEAD_GONE, project, (gpointer)(guintptr)head);
}

void staging_remove_annotation(struct staging *staging, struct catalogue_project *project,
                               const struct store_annotation *annotation, const char *who,
                               int64_t removed_ms)
{
    struct staging_change *change =
        add_change(staging, STAGED_ANNOTATION_GONE, project, (gpointer)(guintptr)annotation);
    change->who = g_strdup(who);
    change->at_ms = removed_ms;
}
