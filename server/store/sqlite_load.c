/* SPDX-License-Identifier: Apache-2.0
 * Loading the catalogue (see sqlite_load.h). Each table is one row of a list: its statement and
 * what takes a row. Rows that refer to what is not there are damage and end the start with a
 * message. Runs on the thread that opens the store. */
#include "server/store/sqlite_load.h"
#include "server/store/branch_line.h"
#include "server/store/catalogue_lines.h"
#include "server/store/sample_blob.h"
#include "server/store/sqlite.h"
#include <string.h>

const struct sqlite_statement sqlite_load_statements[] = {
    {"load projects",
     "SELECT id, name, default_branch, commit_url_template, rules, version FROM project", true},
    {"load defaults", "SELECT project_id, bench, param, value FROM param_default", true},
    {"load machines", "SELECT id, name FROM machine ORDER BY id", true},
    {"load machine aliases", "SELECT alias, machine_id FROM machine_alias", true},
    {"load benchmarks", "SELECT id, project_id, name FROM benchmark ORDER BY id", true},
    {"load benchmark aliases", "SELECT project_id, alias, benchmark_id FROM benchmark_alias", true},
    {"load value aliases", "SELECT project_id, bench, param, alias, value FROM param_value_alias",
     true},
    {"load topologies", "SELECT id, digest FROM topology", true},
    {"load environments", "SELECT id, digest, topology_id IS NOT NULL FROM environment", true},
    {"load commits",
     "SELECT id, project_id, sha, time_s, claimed_time_s, parents_known, author, subject, "
     "trailers, branch "
     "FROM \"commit\"",
     true},
    {"load parents",
     "SELECT commit_id, ordinal, parent_id FROM commit_parent ORDER BY commit_id, ordinal", true},
    {"load bound facts", "SELECT commit_id, facts FROM commit_bound_facts", true},
    {"load series",
     "SELECT s.id, s.benchmark_id, s.machine_id, s.params, s.spelling, s.metric, s.unit, s.better, "
     "t.n_points, t.last_run_seq FROM series AS s LEFT JOIN series_tally AS t ON t.series_id = "
     "s.id "
     "ORDER BY s.id",
     true},
    {"load joined series",
     "SELECT id, benchmark_id, machine_id, params, metric, unit FROM joined_series", true},
    {"load error cases", "SELECT id, benchmark_id, params FROM error_case", true},
    {"load runs",
     "SELECT seq, id, project_id, machine_id, commit_id, branch, reason, dirty, started_ms, "
     "finished_ms, "
     "received_ms, environment_id, n_results, n_errors, n_samples FROM run ORDER BY seq",
     true},
    {"load retention",
     "SELECT project_id, branches_days, branches_keep, samples_days, done_ms, n_deleted, n_dropped "
     "FROM retention",
     true},
    {"load dropped samples", "SELECT run_seq FROM dropped_samples", true},
    {"load runs of pull requests", "SELECT run_seq, pull_request, base FROM pull_request_run",
     true},
    {"load bound runs", "SELECT run_seq FROM bound_run", true},
    {"load heads",
     "SELECT project_id, branch, commit_id, coalesce(before_id, 0), move, moved_ms, who "
     "FROM branch_head",
     true},
    {"load annotations",
     "SELECT id, project_id, first_commit_id, last_commit_id, coalesce(benchmark_id, 0), "
     "coalesce(machine_id, 0), text, who, made_ms, removed_by, coalesce(removed_ms, 0) "
     "FROM annotation ORDER BY id",
     true},
    {"load last deleted run", "SELECT coalesce(max(run_seq), 0) FROM deleted_run", true},
    {"load state of tallies", "SELECT run_seq FROM tally_state WHERE id = 1", false},
    {"load directories since",
     "SELECT run_seq, series FROM run_samples "
     "WHERE run_seq > coalesce((SELECT run_seq FROM tally_state WHERE id = 1), 0) ORDER BY run_seq",
     false},
};
const guint sqlite_n_load_statements = G_N_ELEMENTS(sqlite_load_statements);

struct loader {
    Catalogue *catalogue;
    sqlite3 *db;
    GHashTable *projects, *machines, *benchmarks,
        *environments;  /* by id: pointers; only while loading */
    const char *damage; /* what is wrong, or NULL */
};

static gpointer by_id(GHashTable *table, int64_t id)
{
    return g_hash_table_lookup(table, &id);
}

static void keep(GHashTable *table, int64_t id, gpointer object)
{
    g_hash_table_insert(table, g_memdup2(&id, sizeof id), object);
}

static const char *text(sqlite3_stmt *row, int column)
{
    return (const char *)sqlite3_column_text(row, column);
}

static bool damaged(struct loader *loader, const char *what)
{
    loader->damage = what;
    return false;
}

/* ---- One function a table
 * ----------------------------------------------------------------------------------------- */

static bool take_rules(struct catalogue_project *project, const char *json)
{
    g_autoptr(Faults) faults = faults_new();
    if (!json)
        return true;
    project->pub.rules_json = g_strdup(json);
    project->pub.rules = rules_parse(json, strlen(json), faults, NULL);
    return project->pub.rules != NULL;
}

static bool take_project(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_project *project =
        catalogue_project_new(sqlite3_column_int64(row, 0), text(row, 1));
    g_free(project->pub.default_branch);
    project->pub.default_branch = g_strdup(text(row, 2));
    project->pub.commit_url_template = g_strdup(text(row, 3));
    project->pub.version = sqlite3_column_int64(row, 5);
    loader->catalogue->version = MAX(loader->catalogue->version, project->pub.version);
    catalogue_add_project(loader->catalogue, project); /* whose it is from here on */
    keep(loader->projects, project->pub.id, project);
    return take_rules(project, text(row, 4)) || damaged(loader, "rules that cannot be read");
}

static bool take_default(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_project *project = by_id(loader->projects, sqlite3_column_int64(row, 0));
    if (!project)
        return damaged(loader, "a parameter default of no project");
    if (!project->defaults)
        project->defaults = param_defaults_new();
    param_defaults_add(project->defaults, text(row, 1), text(row, 2), text(row, 3));
    return true;
}

static bool take_machine(struct loader *loader, sqlite3_stmt *row)
{
    struct store_machine *machine =
        catalogue_machine_new(sqlite3_column_int64(row, 0), text(row, 1));
    catalogue_add_machine(loader->catalogue, machine);
    keep(loader->machines, machine->id, machine);
    return true;
}

static bool take_machine_alias(struct loader *loader, sqlite3_stmt *row)
{
    struct store_machine *machine = by_id(loader->machines, sqlite3_column_int64(row, 1));
    if (!machine)
        return damaged(loader, "an alias of no machine");
    g_hash_table_insert(loader->catalogue->machine_aliases, g_strdup(text(row, 0)), machine);
    return true;
}

static bool take_benchmark(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_project *project = by_id(loader->projects, sqlite3_column_int64(row, 1));
    if (!project)
        return damaged(loader, "a benchmark of no project");
    struct store_benchmark *benchmark =
        catalogue_benchmark_new(sqlite3_column_int64(row, 0), &project->pub, text(row, 2));
    catalogue_add_benchmark(loader->catalogue, benchmark);
    keep(loader->benchmarks, benchmark->id, benchmark);
    return true;
}

static bool take_benchmark_alias(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_project *project = by_id(loader->projects, sqlite3_column_int64(row, 0));
    struct store_benchmark *benchmark = by_id(loader->benchmarks, sqlite3_column_int64(row, 2));
    if (!project || !benchmark)
        return damaged(loader, "an alias of no benchmark");
    g_hash_table_insert(project->benchmark_aliases, g_strdup(text(row, 1)), benchmark);
    return true;
}

static bool take_value_alias(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_project *project = by_id(loader->projects, sqlite3_column_int64(row, 0));
    if (!project)
        return damaged(loader, "an alias of a value of no project");
    g_hash_table_insert(project->value_aliases,
                        line_value_key(text(row, 1), text(row, 2), text(row, 3)),
                        g_strdup(text(row, 4)));
    return true;
}

static bool take_topology(struct loader *loader, sqlite3_stmt *row)
{
    catalogue_add_topology(loader->catalogue, text(row, 1), sqlite3_column_int64(row, 0));
    return true;
}

static bool take_environment(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_environment *environment =
        catalogue_environment_new(sqlite3_column_int64(row, 0), text(row, 1));
    environment->has_topology = sqlite3_column_int(row, 2);
    catalogue_add_environment(loader->catalogue, environment);
    keep(loader->environments, environment->id, environment);
    return true;
}

static char *take_text(sqlite3_stmt *row, int column, const char **out_writers)
{
    char *copy = g_strdup(text(row, column));
    *out_writers = copy;
    return copy;
}

static bool take_commit(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_project *project = by_id(loader->projects, sqlite3_column_int64(row, 1));
    if (!project)
        return damaged(loader, "a commit of no project");
    struct catalogue_commit *commit =
        catalogue_commit_new(sqlite3_column_int64(row, 0), &project->pub, text(row, 2));
    commit->stored = true;
    commit->order.has_time = sqlite3_column_type(row, 3) != SQLITE_NULL;
    commit->order.time_s = sqlite3_column_int64(row, 3);
    commit->has_claimed = sqlite3_column_type(row, 4) != SQLITE_NULL;
    commit->claimed_time_s = sqlite3_column_int64(row, 4);
    commit->order.parents_known = sqlite3_column_int(row, 5);
    commit->pub.has_time = commit->order.has_time;
    commit->pub.provisional = !commit->order.has_time;
    commit->told_time_s = commit->has_claimed ? commit->claimed_time_s : commit->order.time_s;
    commit->pub.author = take_text(row, 6, &commit->author);
    commit->pub.subject = take_text(row, 7, &commit->subject);
    commit->pub.trailers_json = take_text(row, 8, &commit->trailers_json);
    commit->pub.branch = take_text(row, 9, &commit->branch);
    catalogue_add_commit(loader->catalogue, commit);
    return true;
}

/* Edges come sorted by child, then ordinal: they are gathered in the child, and linked when all are
 * there. */
static bool take_parent(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_commit *child =
        catalogue_commit_at(loader->catalogue, sqlite3_column_int64(row, 0));
    struct catalogue_commit *parent =
        catalogue_commit_at(loader->catalogue, sqlite3_column_int64(row, 2));
    if (!child || !parent)
        return damaged(loader, "an edge between commits that are not there");
    commit_order_add_parent(&child->order, &parent->order);
    return true;
}

static bool take_bound_facts(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_commit *commit =
        catalogue_commit_at(loader->catalogue, sqlite3_column_int64(row, 0));
    if (!commit)
        return damaged(loader, "facts of no commit");
    commit->bound_facts = (guint)sqlite3_column_int64(row, 1);
    return true;
}

static bool take_series(struct loader *loader, sqlite3_stmt *row)
{
    struct store_benchmark *benchmark = by_id(loader->benchmarks, sqlite3_column_int64(row, 1));
    struct store_machine *machine = by_id(loader->machines, sqlite3_column_int64(row, 2));
    if (!benchmark || !machine)
        return damaged(loader, "a series of no benchmark or machine");
    struct catalogue_series *series =
        catalogue_series_new(sqlite3_column_int64(row, 0), benchmark, machine, text(row, 3));
    series->spelling = g_strdup(text(row, 4));
    series->pub.metric = g_strdup(text(row, 5));
    series->pub.unit = g_strdup(text(row, 6));
    int better = sqlite3_column_int(row, 7);
    series->better = series->pub.better = better == 1   ? BETTER_HIGHER
                                          : better == 2 ? BETTER_LOWER
                                                        : BETTER_UNKNOWN;
    series->pub.n_points = (guint)sqlite3_column_int64(row, 8);
    series->pub.last_run_seq = sqlite3_column_int64(row, 9);
    catalogue_add_series(loader->catalogue, series);
    return true;
}

static bool take_joined(struct loader *loader, sqlite3_stmt *row)
{
    struct store_benchmark *benchmark = by_id(loader->benchmarks, sqlite3_column_int64(row, 1));
    struct store_machine *machine = by_id(loader->machines, sqlite3_column_int64(row, 2));
    if (!benchmark || !machine)
        return damaged(loader, "a joined series of no benchmark or machine");
    struct line_names names = {.benchmark = benchmark,
                               .machine = machine,
                               .params_text = text(row, 3),
                               .metric = text(row, 4),
                               .unit = text(row, 5)};
    catalogue_add_joined(loader->catalogue, line_series_new(sqlite3_column_int64(row, 0), &names));
    return true;
}

static bool take_case(struct loader *loader, sqlite3_stmt *row)
{
    struct store_benchmark *benchmark = by_id(loader->benchmarks, sqlite3_column_int64(row, 1));
    if (!benchmark)
        return damaged(loader, "an error case of no benchmark");
    catalogue_add_case(loader->catalogue,
                       catalogue_case_new(sqlite3_column_int64(row, 0), benchmark, text(row, 2)));
    return true;
}

static bool take_run(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_project *project = by_id(loader->projects, sqlite3_column_int64(row, 2));
    struct store_machine *machine = by_id(loader->machines, sqlite3_column_int64(row, 3));
    struct catalogue_commit *commit =
        catalogue_commit_at(loader->catalogue, sqlite3_column_int64(row, 4));
    if (!project || !machine || !commit)
        return damaged(loader, "a run of no project, machine or commit");
    struct store_run *run = catalogue_run_new(sqlite3_column_int64(row, 0), text(row, 1));
    const struct catalogue_environment *environment =
        by_id(loader->environments, sqlite3_column_int64(row, 11));
    run->project = &project->pub;
    run->posted_machine = machine;
    run->commit = &commit->pub;
    run->branch = catalogue_text(loader->catalogue, text(row, 5));
    run->reason = catalogue_text(loader->catalogue, text(row, 6));
    run->dirty = sqlite3_column_int(row, 7);
    run->started_ms = sqlite3_column_int64(row, 8);
    run->finished_ms = sqlite3_column_int64(row, 9);
    run->received_ms = sqlite3_column_int64(row, 10);
    run->environment_digest = environment ? environment->digest : NULL;
    run->n_results = (guint)sqlite3_column_int64(row, 12);
    run->n_errors = (guint)sqlite3_column_int64(row, 13);
    run->n_samples = (uint64_t)sqlite3_column_int64(row, 14);
    int64_t start_s = run->started_ms / 1000;
    if (!commit->order.has_time &&
        (!commit->order.has_borrowed || start_s < commit->order.borrowed_s)) {
        commit->order.has_borrowed = true;
        commit->order.borrowed_s = start_s;
    }
    catalogue_add_run(loader->catalogue, run);
    return true;
}

static bool take_retention(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_project *project = by_id(loader->projects, sqlite3_column_int64(row, 0));
    if (!project)
        return damaged(loader, "a retention of no project");
    struct store_retention *retention = &project->pub.retention;
    int64_t *const numbers[] = {&retention->rules.branches_days, &retention->rules.branches_keep,
                                &retention->rules.samples_days,  &retention->done_ms,
                                &retention->n_deleted,           &retention->n_dropped};
    for (int i = 0; i < (int)G_N_ELEMENTS(numbers); i++)
        *numbers[i] = sqlite3_column_int64(row, i + 1);
    return true;
}

/* The run whose seq is in the first column; NULL: there is none. */
static struct store_run *run_of(const struct loader *loader, sqlite3_stmt *row)
{
    int64_t seq = sqlite3_column_int64(row, 0);
    const GPtrArray *runs = loader->catalogue->runs;
    guint position = catalogue_runs_position(runs, seq);
    struct store_run *run = position < runs->len ? runs->pdata[position] : NULL;
    return run && run->seq == seq ? run : NULL;
}

static bool take_dropped(struct loader *loader, sqlite3_stmt *row)
{
    struct store_run *run = run_of(loader, row);
    if (!run)
        return damaged(loader, "dropped samples of no run");
    run->samples_dropped = true;
    return true;
}

static bool take_bound_run(struct loader *loader, sqlite3_stmt *row)
{
    struct store_run *run = run_of(loader, row);
    if (!run)
        return damaged(loader, "a bound one's word of no run");
    run->is_bound = true;
    return true;
}

static bool take_pull_request(struct loader *loader, sqlite3_stmt *row)
{
    struct store_run *run = run_of(loader, row);
    if (!run)
        return damaged(loader, "a pull request of no run");
    run->pull_request = catalogue_text(loader->catalogue, text(row, 1));
    run->base = catalogue_text(loader->catalogue, text(row, 2));
    return true;
}

static struct store_commit *commit_by_id(const struct loader *loader, int64_t id)
{
    struct catalogue_commit *commit = catalogue_commit_at(loader->catalogue, id);
    return commit ? &commit->pub : NULL;
}

static bool take_head(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_project *project = by_id(loader->projects, sqlite3_column_int64(row, 0));
    struct store_commit *commit = commit_by_id(loader, sqlite3_column_int64(row, 2));
    enum store_head_move move;
    if (!project || !commit || !store_head_move_parse(text(row, 4), &move))
        return damaged(loader, "a head of no project or commit");
    struct store_head *head = g_new0(struct store_head, 1);
    *head = (struct store_head){.branch = g_strdup(text(row, 1)),
                                .commit = commit,
                                .before = commit_by_id(loader, sqlite3_column_int64(row, 3)),
                                .move = move,
                                .moved_ms = sqlite3_column_int64(row, 5),
                                .who = g_strdup(text(row, 6))};
    catalogue_set_head(&project->pub, head);
    return true;
}

static bool take_annotation(struct loader *loader, sqlite3_stmt *row)
{
    struct catalogue_project *project = by_id(loader->projects, sqlite3_column_int64(row, 1));
    struct store_commit *first = commit_by_id(loader, sqlite3_column_int64(row, 2));
    struct store_commit *last = commit_by_id(loader, sqlite3_column_int64(row, 3));
    if (!project || !first || !last)
        return damaged(loader, "an annotation of no project or commit");
    struct store_annotation *annotation = g_new0(struct store_annotation, 1);
    *annotation = (struct store_annotation){
        .id = sqlite3_column_int64(row, 0),
        .first = first,
        .last = last,
        .benchmark = by_id(loader->benchmarks, sqlite3_column_int64(row, 4)),
        .machine = by_id(loader->machines, sqlite3_column_int64(row, 5)),
        .text = g_strdup(text(row, 6)),
        .who = g_strdup(text(row, 7)),
        .made_ms = sqlite3_column_int64(row, 8),
        .removed_by = g_strdup(text(row, 9)),
        .removed_ms = sqlite3_column_int64(row, 10)};
    catalogue_add_annotation(loader->catalogue, &project->pub, annotation);
    return true;
}

static bool take_last_deleted(struct loader *loader, sqlite3_stmt *row)
{
    loader->catalogue->last.run = MAX(loader->catalogue->last.run, sqlite3_column_int64(row, 0));
    return true;
}

static bool take_tally_state(struct loader *loader, sqlite3_stmt *row)
{
    loader->catalogue->tally_seq = sqlite3_column_int64(row, 0);
    return true;
}

static bool take_directory(struct loader *loader, sqlite3_stmt *row)
{
    int64_t run_seq = sqlite3_column_int64(row, 0);
    const void *bytes = sqlite3_column_blob(row, 1);
    g_autoptr(GPtrArray) directory =
        bytes ? sample_directory_parse(bytes, (size_t)sqlite3_column_bytes(row, 1)) : NULL;
    if (!directory)
        return damaged(loader, "a directory of a run that cannot be read");
    for (guint i = 0; i < directory->len; i++) {
        const struct sample_directory_result *result = directory->pdata[i];
        for (guint m = 0; m < result->n_metrics; m++) {
            struct catalogue_series *series = (struct catalogue_series *)catalogue_series_at(
                loader->catalogue, result->series_ids[m]);
            if (!series)
                return damaged(loader, "a point of no series");
            if (series->staged_seq == run_seq)
                continue; /* two results of one case: one point */
            series->staged_seq = series->pub.last_run_seq = run_seq;
            series->pub.n_points++;
        }
    }
    return true;
}

/* ---- The list
 * -----------------------------------------------------------------------------------------------------
 */

static bool (*const takers[])(struct loader *, sqlite3_stmt *) = {
    take_project,     take_default,         take_machine,      take_machine_alias,
    take_benchmark,   take_benchmark_alias, take_value_alias,  take_topology,
    take_environment, take_commit,          take_parent,       take_bound_facts,
    take_series,      take_joined,          take_case,         take_run,
    take_retention,   take_dropped,         take_pull_request, take_bound_run,
    take_head,        take_annotation,      take_last_deleted, take_tally_state,
    take_directory,
};
G_STATIC_ASSERT(G_N_ELEMENTS(takers) == G_N_ELEMENTS(sqlite_load_statements));

static bool load_table(struct loader *loader, guint table, GError **error)
{
    g_autofree char *doing = g_strdup(sqlite_load_statements[table].name);
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(loader->db, sqlite_load_statements[table].sql, -1, &statement, NULL) !=
        SQLITE_OK)
        return sqlite_fail(loader->db, doing, error);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        if (!takers[table](loader, statement))
            break;
    bool fine = code == SQLITE_DONE;
    if (loader->damage)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "cannot %s: the store holds %s; restore a backup", doing, loader->damage);
    else if (!fine)
        sqlite_fail(loader->db, doing, error);
    sqlite3_finalize(statement);
    return fine;
}

/* What is derived from all rows: visible parents, commit order, the defaults' text. */
static void derive_project(Catalogue *catalogue, struct catalogue_project *project)
{
    g_autoptr(GPtrArray) dirty = g_ptr_array_new();
    for (guint i = 0; i < catalogue->commits_by_id->len; i++) {
        struct catalogue_commit *commit = catalogue->commits_by_id->pdata[i];
        if (!commit || commit->pub.project != &project->pub)
            continue;
        if (commit->order.parents_known)
            commit->pub.parents = catalogue_parents(&commit->order);
        g_ptr_array_add(dirty, &commit->order);
    }
    struct catalogue_splice splice = {0};
    catalogue_splice_prepare(&splice, project, dirty);
    catalogue_splice_apply(&splice);
    catalogue_splice_clear(&splice);
    branch_line_update(project, 0);
    if (project->defaults)
        project->pub.param_defaults_json = param_defaults_json(project->defaults);
}

bool sqlite_load(const char *path, Catalogue *catalogue, GError **error)
{
    struct loader loader = {.catalogue = catalogue,
                            .db = sqlite_connect(path, SQLITE_ROLE_READER, error)};
    if (!loader.db)
        return false;
    GHashTable **tables[] = {&loader.projects, &loader.machines, &loader.benchmarks,
                             &loader.environments};
    for (guint i = 0; i < G_N_ELEMENTS(tables); i++)
        *tables[i] = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    /* All of one moment, also where another process writes. */
    bool fine = sqlite_script(loader.db, "BEGIN", "begin to load the store", error);
    for (guint i = 0; fine && i < G_N_ELEMENTS(takers); i++)
        fine = load_table(&loader, i, error);
    for (guint i = 0; fine && i < catalogue->projects->len; i++)
        derive_project(catalogue, catalogue->projects->pdata[i]);
    if (fine)
        line_plan_restore(catalogue);
    if (!fine)
        g_prefix_error(error, "store %s: ", path);
    for (guint i = 0; i < G_N_ELEMENTS(tables); i++)
        g_hash_table_unref(*tables[i]);
    sqlite3_close(loader.db);
    return fine;
}
