/* SPDX-License-Identifier: Apache-2.0
 * The catalogue's structures and indexes (see catalogue.h). Knows no SQL and no rule of what may
 * change; the writer thread changes it, any thread reads it under the lock. */
#include "server/store/catalogue.h"
#include "server/store/catalogue_lines.h"
#include "server/store/catalogue_rules.h"
#include <string.h>

guint catalogue_key_hash(gconstpointer key)
{
    const struct catalogue_key *k = key;
    guint hash = (guint)k->kind * 31u + (guint)k->scope * 2654435761u + (guint)k->scope2 * 40503u;
    hash = hash * 33u + g_str_hash(k->name);
    return k->name2 ? hash * 33u + g_str_hash(k->name2) : hash;
}

gboolean catalogue_key_equal(gconstpointer a, gconstpointer b)
{
    const struct catalogue_key *x = a, *y = b;
    return x->kind == y->kind && x->scope == y->scope && x->scope2 == y->scope2 &&
           strcmp(x->name, y->name) == 0 && g_strcmp0(x->name2, y->name2) == 0;
}

static void free_project(gpointer project)
{
    catalogue_project_free(project);
}

static void free_machine(gpointer machine)
{
    catalogue_machine_free(machine);
}

static void free_benchmark(gpointer benchmark)
{
    catalogue_benchmark_free(benchmark);
}

static void free_series(gpointer series)
{
    if (series)
        catalogue_series_free(series);
}

static void free_commit(gpointer commit)
{
    if (commit)
        catalogue_commit_free(commit);
}

static void free_environment(gpointer environment)
{
    catalogue_environment_free(environment);
}

static void free_run(gpointer run)
{
    catalogue_run_free(run);
}

Catalogue *catalogue_new(void)
{
    Catalogue *catalogue = g_new0(Catalogue, 1);
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&catalogue->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    catalogue->projects = g_ptr_array_new_with_free_func(free_project);
    catalogue->machines = g_ptr_array_new();
    catalogue->all_machines = g_ptr_array_new_with_free_func(free_machine);
    catalogue->project_by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    catalogue->machine_by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    catalogue->machine_aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    catalogue->joined_by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    catalogue->series_by_id = g_ptr_array_new_with_free_func(free_series);
    catalogue->commits_by_id = g_ptr_array_new_with_free_func(free_commit);
    catalogue->benchmarks = g_ptr_array_new_with_free_func(free_benchmark);
    catalogue->runs = g_ptr_array_new_with_free_func(free_run);
    catalogue->removed = g_ptr_array_new_with_free_func(free_run);
    catalogue->run_by_id = g_hash_table_new(g_str_hash, g_str_equal);
    catalogue->environment_by_digest =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_environment);
    catalogue->series_by_identity =
        g_hash_table_new_full(catalogue_key_hash, catalogue_key_equal, g_free, NULL);
    catalogue->topology_by_digest = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    catalogue->case_by_params =
        g_hash_table_new_full(catalogue_key_hash, catalogue_key_equal, g_free, NULL);
    catalogue->texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return catalogue;
}

void catalogue_free(Catalogue *catalogue)
{
    if (!catalogue)
        return;
    g_hash_table_unref(catalogue->run_by_id);
    g_hash_table_unref(catalogue->series_by_identity);
    g_hash_table_unref(catalogue->case_by_params);
    g_hash_table_unref(catalogue->topology_by_digest);
    g_hash_table_unref(catalogue->project_by_name);
    g_hash_table_unref(catalogue->machine_by_name);
    g_hash_table_unref(catalogue->machine_aliases);
    g_hash_table_unref(catalogue->joined_by_key);
    g_ptr_array_unref(catalogue->runs);
    g_ptr_array_unref(catalogue->removed);
    g_ptr_array_unref(catalogue->series_by_id);
    g_ptr_array_unref(catalogue->commits_by_id);
    g_ptr_array_unref(catalogue->projects);
    g_ptr_array_unref(catalogue->benchmarks);
    g_ptr_array_unref(catalogue->machines);
    g_ptr_array_unref(catalogue->all_machines);
    g_hash_table_unref(catalogue->environment_by_digest);
    g_hash_table_unref(catalogue->texts);
    pthread_rwlock_destroy(&catalogue->lock);
    g_free(catalogue);
}

void catalogue_read_lock(Catalogue *catalogue)
{
    pthread_rwlock_rdlock(&catalogue->lock);
}

/* Under the lock nobody but paused snapshots can hold a run that was removed before. */
void catalogue_write_lock(Catalogue *catalogue)
{
    g_atomic_int_inc(&catalogue->n_writers);
    pthread_rwlock_wrlock(&catalogue->lock);
    if (g_atomic_int_get(&catalogue->n_paused) == 0)
        g_ptr_array_set_size(catalogue->removed, 0);
}

void catalogue_write_unlock(Catalogue *catalogue)
{
    pthread_rwlock_unlock(&catalogue->lock);
    g_atomic_int_add(&catalogue->n_writers, -1);
}

void catalogue_give_way(Catalogue *catalogue)
{
    if (g_atomic_int_get(&catalogue->n_writers) == 0)
        return;
    g_atomic_int_inc(&catalogue->n_paused);
    pthread_rwlock_unlock(&catalogue->lock);
    pthread_rwlock_rdlock(&catalogue->lock); /* writers first */
    g_atomic_int_add(&catalogue->n_paused, -1);
}

void catalogue_unlock(Catalogue *catalogue)
{
    pthread_rwlock_unlock(&catalogue->lock);
}

char *catalogue_text(Catalogue *catalogue, const char *text)
{
    if (!text)
        return NULL;
    char *kept = g_hash_table_lookup(catalogue->texts, text);
    if (!kept) {
        kept = g_strdup(text);
        g_hash_table_insert(catalogue->texts, kept, kept);
    }
    return kept;
}

/* ---- Adding
 * -------------------------------------------------------------------------------------------------------
 */

/* Both store_project and store_machine are kept by name; each gives its name by `name_of`. */
static void insert_by_name(GPtrArray *items, gpointer item, const char *(*name_of)(gconstpointer))
{
    guint low = 0, high = items->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (strcmp(name_of(items->pdata[middle]), name_of(item)) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    g_ptr_array_insert(items, (gint)low, item);
}

static const char *project_name(gconstpointer project)
{
    return ((const struct store_project *)project)->name;
}

static const char *machine_name(gconstpointer machine)
{
    return ((const struct store_machine *)machine)->name;
}

static const char *benchmark_name(gconstpointer benchmark)
{
    return ((const struct store_benchmark *)benchmark)->name;
}

/* Places `item` at index `id`, with holes where ids were given and taken back. */
static void place_by_id(GPtrArray *items, int64_t id, gpointer item)
{
    if (id >= items->len)
        g_ptr_array_set_size(items, (gint)id + 1);
    items->pdata[id] = item;
}

void catalogue_add_project(Catalogue *catalogue, struct catalogue_project *project)
{
    insert_by_name(catalogue->projects, project, project_name);
    g_hash_table_insert(catalogue->project_by_name, g_strdup(project->pub.name), project);
    catalogue->last.project = MAX(catalogue->last.project, project->pub.id);
}

void catalogue_add_machine(Catalogue *catalogue, struct store_machine *machine)
{
    insert_by_name(catalogue->machines, machine, machine_name);
    g_ptr_array_add(catalogue->all_machines, machine);
    g_hash_table_insert(catalogue->machine_by_name, g_strdup(machine->name), machine);
    catalogue->last.machine = MAX(catalogue->last.machine, machine->id);
}

void catalogue_add_benchmark(Catalogue *catalogue, struct store_benchmark *benchmark)
{
    struct catalogue_project *project = (struct catalogue_project *)benchmark->project;
    g_ptr_array_add(catalogue->benchmarks, benchmark);
    insert_by_name(project->pub.benchmarks, benchmark, benchmark_name);
    g_hash_table_insert(project->benchmark_by_name, g_strdup(benchmark->name), benchmark);
    catalogue->last.benchmark = MAX(catalogue->last.benchmark, benchmark->id);
}

static struct catalogue_key series_key(const struct store_series *series)
{
    return (struct catalogue_key){.scope = series->benchmark->id,
                                  .scope2 = series->machine->id,
                                  .name = series->params_text,
                                  .name2 = series->metric};
}

static void index_series(Catalogue *catalogue, struct catalogue_series *series)
{
    struct catalogue_key key = series_key(&series->pub);
    struct catalogue_series *first = g_hash_table_lookup(catalogue->series_by_identity, &key);
    for (struct catalogue_series *other = first; other; other = other->next_unit)
        if (other == series)
            return; /* the writer linked it while it was staged */
    if (first) {
        series->next_unit = first->next_unit;
        first->next_unit = series;
    } else {
        series->next_unit = NULL;
        g_hash_table_insert(catalogue->series_by_identity, g_memdup2(&key, sizeof key), series);
    }
}

void catalogue_add_series(Catalogue *catalogue, struct catalogue_series *series)
{
    place_by_id(catalogue->series_by_id, series->pub.id, series);
    g_ptr_array_add(series->pub.project->series, series);
    g_ptr_array_add(series->pub.benchmark->series, series);
    catalogue_rules_apply(series);
    index_series(catalogue, series);
    catalogue->last.series = MAX(catalogue->last.series, series->pub.id);
    catalogue->lines_moved = catalogue->lines_moved || line_is_affected(catalogue, series);
}

void catalogue_add_joined(Catalogue *catalogue, struct catalogue_series *series)
{
    place_by_id(catalogue->series_by_id, series->pub.id, series);
    g_hash_table_insert(catalogue->joined_by_key, line_series_key(&series->pub), series);
    catalogue->last.series = MAX(catalogue->last.series, series->pub.id);
}

void catalogue_add_commit(Catalogue *catalogue, struct catalogue_commit *commit)
{
    struct catalogue_project *project = (struct catalogue_project *)commit->pub.project;
    place_by_id(catalogue->commits_by_id, commit->pub.id, commit);
    g_hash_table_insert(project->commit_by_sha, commit->pub.sha, commit);
    g_tree_insert(project->commits_by_sha, commit->pub.sha, commit);
    catalogue->last.commit = MAX(catalogue->last.commit, commit->pub.id);
}

void catalogue_add_environment(Catalogue *catalogue, struct catalogue_environment *environment)
{
    g_hash_table_insert(catalogue->environment_by_digest, environment->digest, environment);
    catalogue->last.environment = MAX(catalogue->last.environment, environment->id);
}

void catalogue_add_topology(Catalogue *catalogue, const char *digest, int64_t id)
{
    g_hash_table_insert(catalogue->topology_by_digest, g_strdup(digest), g_memdup2(&id, sizeof id));
    catalogue->last.topology = MAX(catalogue->last.topology, id);
}

void catalogue_add_case(Catalogue *catalogue, struct catalogue_case *error_case)
{
    struct catalogue_project *project = (struct catalogue_project *)error_case->benchmark->project;
    struct catalogue_key key = {.scope = error_case->benchmark->id,
                                .name = error_case->params_text};
    g_ptr_array_add(project->cases, error_case);
    g_hash_table_insert(catalogue->case_by_params, g_memdup2(&key, sizeof key), error_case);
    catalogue->last.error_case = MAX(catalogue->last.error_case, error_case->id);
}

static const char *head_name(gconstpointer head)
{
    return ((const struct store_head *)head)->branch;
}

void catalogue_set_head(struct store_project *project, struct store_head *head)
{
    catalogue_drop_head(project, head->branch);
    insert_by_name(project->heads, head, head_name);
}

void catalogue_drop_head(struct store_project *project, const char *branch)
{
    guint index;
    const struct store_head *known = store_head_find(project, branch);
    if (known && g_ptr_array_find(project->heads, known, &index))
        g_ptr_array_remove_index(project->heads, index);
}

void catalogue_add_annotation(Catalogue *catalogue, struct store_project *project,
                              struct store_annotation *annotation)
{
    g_ptr_array_add(project->annotations, annotation);
    catalogue->last.annotation = MAX(catalogue->last.annotation, annotation->id);
}

/* The machine's facts come from its latest run. */
static void note_latest_run(struct store_machine *machine, const struct store_run *run)
{
    machine->last_seen_ms = MAX(machine->last_seen_ms, run->received_ms);
    if (run->environment_digest)
        machine->environment_digest = run->environment_digest;
}

/* After one of its runs is gone. */
static void refresh_machine(const Catalogue *catalogue, struct store_machine *machine)
{
    guint left = machine->n_runs;
    machine->last_seen_ms = 0;
    machine->environment_digest = NULL;
    for (guint i = catalogue->runs->len; i-- > 0 && left > 0 && !machine->environment_digest;) {
        const struct store_run *run = catalogue->runs->pdata[i];
        if (run->machine != machine)
            continue;
        left--;
        note_latest_run(machine, run);
    }
}

void catalogue_relist_machines(Catalogue *catalogue)
{
    const struct line_rules rules = {.catalogue = catalogue};
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < catalogue->all_machines->len; i++) {
        struct store_machine *machine = catalogue->all_machines->pdata[i];
        machine->n_runs = 0;
        machine->last_seen_ms = 0;
        machine->environment_digest = NULL;
    }
    for (guint i = 0; i < catalogue->runs->len; i++) {
        struct store_run *run = catalogue->runs->pdata[i];
        run->machine = line_machine(&rules, run->posted_machine);
        run->machine->n_runs++;
        note_latest_run(run->machine, run);
        g_hash_table_add(known, run->machine);
    }
    for (guint i = 0; i < catalogue->series_by_id->len; i++) {
        const struct catalogue_series *series = catalogue->series_by_id->pdata[i];
        if (series && !series->is_joined)
            g_hash_table_add(known, line_machine(&rules, series->pub.machine));
    }
    g_ptr_array_set_size(catalogue->machines, 0);
    for (guint i = 0; i < catalogue->all_machines->len; i++) {
        struct store_machine *machine = catalogue->all_machines->pdata[i];
        if (line_machine(&rules, machine) == machine && g_hash_table_contains(known, machine))
            insert_by_name(catalogue->machines, machine, machine_name);
    }
}

void catalogue_add_run(Catalogue *catalogue, struct store_run *run)
{
    const struct line_rules rules = {.catalogue = catalogue};
    run->machine = line_machine(&rules, run->posted_machine);
    g_ptr_array_add(catalogue->runs, run);
    g_ptr_array_add(run->project->runs, run);
    g_hash_table_insert(catalogue->run_by_id, run->id, run);
    run->commit->n_runs++;
    run->machine->n_runs++;
    note_latest_run(run->machine, run);
    catalogue->last.run = MAX(catalogue->last.run, run->seq);
}

guint catalogue_runs_position(const GPtrArray *runs, int64_t seq)
{
    guint low = 0, high = runs->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (((const struct store_run *)runs->pdata[middle])->seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The run, taken out. */
static struct store_run *steal_by_seq(GPtrArray *runs, const struct store_run *run)
{
    guint position = catalogue_runs_position(runs, run->seq);
    return position < runs->len && runs->pdata[position] == run
               ? g_ptr_array_steal_index(runs, position)
               : NULL;
}

void catalogue_remove_run(Catalogue *catalogue, struct store_run *run)
{
    struct store_machine *machine = run->machine;
    run->commit->n_runs--;
    machine->n_runs--;
    g_hash_table_remove(catalogue->run_by_id, run->id);
    steal_by_seq(run->project->runs, run);
    g_ptr_array_add(catalogue->removed, steal_by_seq(catalogue->runs, run));
    refresh_machine(catalogue, machine);
}

/* ---- Looking up
 * ---------------------------------------------------------------------------------------------------
 */

struct catalogue_series *catalogue_series_find(const Catalogue *catalogue,
                                               const struct catalogue_key *key)
{
    return g_hash_table_lookup(catalogue->series_by_identity, key);
}

struct store_series *catalogue_series_at(const Catalogue *catalogue, int64_t id)
{
    return id > 0 && id < catalogue->series_by_id->len ? catalogue->series_by_id->pdata[id] : NULL;
}

struct catalogue_commit *catalogue_commit_at(const Catalogue *catalogue, int64_t id)
{
    return id > 0 && id < catalogue->commits_by_id->len ? catalogue->commits_by_id->pdata[id]
                                                        : NULL;
}
