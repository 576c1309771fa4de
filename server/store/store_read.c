/* SPDX-License-Identifier: Apache-2.0
 * Snapshots and what is read through them but lists by filter (those are in store_select.c). The
 * read transaction begins with the first question to the rows: it is at least as new as the
 * catalogue, and at most one transaction newer, since the writer cannot begin another before it has
 * updated the catalogue that this snapshot holds still. Runs that the catalogue does not know are
 * left out. Any thread. */
#include "server/store/catalogue_lines.h"
#include "server/store/commit_telling.h"
#include "server/store/sample_blob.h"
#include "server/store/store_internal.h"
#include <string.h>

StoreReader *store_reader_new(Store *store, GError **error)
{
    SqliteReader *rows = sqlite_reader_new(store->path, error);
    if (!rows)
        return NULL;
    SqliteVerdictReader *verdicts = sqlite_verdict_reader_new(sqlite_reader_db(rows), error);
    if (!verdicts) {
        sqlite_reader_free(rows);
        return NULL;
    }
    StoreReader *reader = g_new0(StoreReader, 1);
    *reader = (StoreReader){.store = store, .rows = rows, .verdicts = verdicts};
    sqlite_deadline_watch(&reader->deadline, sqlite_reader_db(rows));
    reader->accesses = sqlite_access_reader_new(sqlite_reader_db(rows), error);
    if (reader->accesses)
        return reader;
    store_reader_free(reader);
    return NULL;
}

void store_reader_limit(StoreReader *reader, int64_t max_us)
{
    reader->deadline.max_us = max_us;
}

void store_reader_free(StoreReader *reader)
{
    if (!reader)
        return;
    store_snapshot_end(reader->open);
    sqlite_verdict_reader_free(reader->verdicts);
    sqlite_access_reader_free(reader->accesses);
    sqlite_reader_free(reader->rows);
    g_free(reader);
}

StoreSnapshot *store_snapshot_begin(StoreReader *reader, GError **error)
{
    if (reader->open) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                            "a snapshot of this reader is open already");
        return NULL;
    }
    StoreSnapshot *snapshot = g_new0(StoreSnapshot, 1);
    snapshot->reader = reader;
    snapshot->catalogue = reader->store->catalogue;
    reader->open = snapshot;
    sqlite_deadline_begin(&reader->deadline);
    catalogue_read_lock(snapshot->catalogue);
    return snapshot;
}

void store_snapshot_end(StoreSnapshot *snapshot)
{
    if (!snapshot)
        return;
    catalogue_unlock(snapshot->catalogue);
    snapshot->reader->deadline.until_us = 0;
    if (snapshot->reading)
        sqlite_reader_end(snapshot->reader->rows);
    snapshot->reader->open = NULL;
    g_free(snapshot);
}

bool store_snapshot_give_way(StoreSnapshot *snapshot, GError **error)
{
    if (g_atomic_int_get(&snapshot->catalogue->n_writers) == 0)
        return true;
    if (!store_snapshot_rows(snapshot, error)) /* as old as what was found so far */
        return false;
    catalogue_give_way(snapshot->catalogue);
    return true;
}

SqliteReader *store_snapshot_rows(StoreSnapshot *snapshot, GError **error)
{
    if (snapshot->reading && !sqlite_deadline_check(&snapshot->reader->deadline, error))
        return NULL;
    if (!snapshot->reading && !sqlite_reader_begin(snapshot->reader->rows, error))
        return NULL;
    snapshot->reading = true;
    return snapshot->reader->rows;
}

/* ---- The catalogue
 * ------------------------------------------------------------------------------------------------
 */

int64_t store_version(StoreSnapshot *snapshot, const struct store_project *project)
{
    return project ? project->version : snapshot->catalogue->version;
}

const GPtrArray *store_projects(StoreSnapshot *snapshot)
{
    return snapshot->catalogue->projects;
}

const GPtrArray *store_machines(StoreSnapshot *snapshot)
{
    return snapshot->catalogue->machines;
}

struct store_project *store_project_find(StoreSnapshot *snapshot, const char *name)
{
    return g_hash_table_lookup(snapshot->catalogue->project_by_name, name);
}

struct store_machine *store_machine_find(StoreSnapshot *snapshot, const char *name)
{
    const struct line_rules rules = {.catalogue = snapshot->catalogue};
    struct store_machine *machine = g_hash_table_lookup(snapshot->catalogue->machine_by_name, name);
    if (!machine)
        machine = g_hash_table_lookup(snapshot->catalogue->machine_aliases, name);
    return machine ? line_machine(&rules, machine) : NULL;
}

struct store_benchmark *store_benchmark_find(const struct store_project *project, const char *name)
{
    const struct catalogue_project *of = (const struct catalogue_project *)project;
    const struct line_rules rules = {0};
    struct store_benchmark *benchmark = g_hash_table_lookup(of->benchmark_by_name, name);
    if (!benchmark)
        benchmark = g_hash_table_lookup(of->benchmark_aliases, name);
    return benchmark ? line_benchmark(&rules, benchmark) : NULL;
}

struct store_series *store_series_by_id(StoreSnapshot *snapshot, int64_t id)
{
    struct catalogue_series *series =
        (struct catalogue_series *)catalogue_series_at(snapshot->catalogue, id);
    return series && series->line ? &series->line->pub : NULL;
}

struct store_run *store_run_by_seq(StoreSnapshot *snapshot, int64_t seq)
{
    const GPtrArray *runs = snapshot->catalogue->runs;
    guint position = catalogue_runs_position(runs, seq);
    struct store_run *run = position < runs->len ? runs->pdata[position] : NULL;
    return run && run->seq == seq ? run : NULL;
}

static int64_t seq_at(const GPtrArray *runs, guint place)
{
    return place < runs->len ? ((const struct store_run *)runs->pdata[place])->seq : INT64_MAX;
}

/* Steps that double until one has gone too far, then halves. */
struct store_run *store_run_from(StoreSnapshot *snapshot, guint *place, int64_t seq)
{
    const GPtrArray *runs = snapshot->catalogue->runs;
    guint low = seq < seq_at(runs, *place) ? 0 : *place, step = 1;
    while (seq_at(runs, low + step) <= seq) {
        low += step;
        step *= 2;
    }
    for (step /= 2; step > 0; step /= 2)
        if (seq_at(runs, low + step) <= seq)
            low += step;
    *place = low;
    return seq_at(runs, low) == seq ? runs->pdata[low] : NULL;
}

struct store_run *store_run_find(StoreSnapshot *snapshot, const char *id)
{
    return g_hash_table_lookup(snapshot->catalogue->run_by_id, id);
}

#define SHORT_SHA_DIGITS_MIN 7u

struct store_commit *store_commit_find(const struct store_project *project, const char *sha,
                                       GError **error)
{
    struct store_commit *found =
        g_hash_table_lookup(((const struct catalogue_project *)project)->commit_by_sha, sha);
    if (found)
        return found;
    size_t digits = strlen(sha);
    bool is_short = digits >= SHORT_SHA_DIGITS_MIN && strspn(sha, "0123456789abcdef") == digits;
    GTree *sorted = ((const struct catalogue_project *)project)->commits_by_sha;
    GTreeNode *node = is_short ? g_tree_lower_bound(sorted, sha) : NULL;
    for (; node; node = g_tree_node_next(node)) {
        struct store_commit *commit = g_tree_node_value(node);
        if (strncmp(commit->sha, sha, digits) != 0)
            break;
        if (found) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_CONFLICT,
                        "%s names several commits of %s, among them %s and %s; give more digits",
                        sha, project->name, found->sha, commit->sha);
            return NULL;
        }
        found = commit;
    }
    if (!found)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "no commit of %s is known as %s; give a full sha, or at least %u digits of one "
                    "that the store knows",
                    project->name, sha, SHORT_SHA_DIGITS_MIN);
    return found;
}

/* ---- Rows
 * ---------------------------------------------------------------------------------------------------------
 */

static gint compare_points(gconstpointer a, gconstpointer b)
{
    const struct store_point *left = a, *right = b;
    return left->run_seq < right->run_seq ? -1 : left->run_seq > right->run_seq;
}

/* Those of all its parts by run; where a run holds two parts, the first one's counts. */
static bool joined_points(SqliteReader *rows, const struct store_series *series, GArray *points,
                          GError **error)
{
    for (guint i = 0; i < series->parts->len; i++)
        if (!sqlite_reader_points(rows, ((const struct store_series *)series->parts->pdata[i])->id,
                                  points, error))
            return false;
    g_array_sort(points, compare_points); /* stable */
    guint n = 0;
    for (guint i = 0; i < points->len; i++) {
        struct store_point point = g_array_index(points, struct store_point, i);
        point.series_id = series->id;
        if (n > 0 && g_array_index(points, struct store_point, n - 1).run_seq == point.run_seq)
            continue;
        g_array_index(points, struct store_point, n++) = point;
    }
    g_array_set_size(points, n);
    return true;
}

GArray *store_series_points(StoreSnapshot *snapshot, int64_t series_id, GError **error)
{
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    if (!rows)
        return NULL;
    const struct store_series *series = store_series_by_id(snapshot, series_id);
    g_autoptr(GArray) points =
        g_array_sized_new(FALSE, FALSE, sizeof(struct store_point), series ? series->n_points : 1);
    bool is_joined = series && series->parts;
    if (is_joined ? !joined_points(rows, series, points, error)
                  : !sqlite_reader_points(rows, series_id, points, error))
        return NULL;
    /* Points come by run: what this snapshot does not know yet is at the end. */
    const GPtrArray *runs = snapshot->catalogue->runs;
    int64_t last_known = runs->len ? ((struct store_run *)runs->pdata[runs->len - 1])->seq : 0;
    while (points->len > 0 &&
           g_array_index(points, struct store_point, points->len - 1).run_seq > last_known)
        g_array_set_size(points, points->len - 1);
    return g_steal_pointer(&points);
}

static GPtrArray *run_directory(StoreSnapshot *snapshot, int64_t run_seq, GError **error)
{
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    g_autoptr(GBytes) bytes = rows ? sqlite_reader_directory(rows, run_seq, error) : NULL;
    if (!bytes)
        return NULL;
    GPtrArray *directory =
        sample_directory_parse(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
    if (!directory)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "the directory of run number %" G_GINT64_FORMAT " is damaged", run_seq);
    return directory;
}

bool store_series_point(StoreSnapshot *snapshot, int64_t series_id, int64_t run_seq, GArray *points,
                        GError **error)
{
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    const struct store_series *series = store_series_by_id(snapshot, series_id);
    guint before = points->len, n_parts = series && series->parts ? series->parts->len : 0;
    if (!rows || n_parts == 0)
        return rows && sqlite_reader_point(rows, series_id, run_seq, points, error);
    for (guint i = 0; i < n_parts && points->len == before; i++) {
        const struct store_series *part = series->parts->pdata[i];
        if (!sqlite_reader_point(rows, part->id, run_seq, points, error))
            return false;
    }
    if (points->len > before)
        g_array_index(points, struct store_point, before).series_id = series->id;
    return true;
}

GArray *store_run_points(StoreSnapshot *snapshot, int64_t run_seq, GError **error)
{
    g_autoptr(GPtrArray) directory = run_directory(snapshot, run_seq, error);
    if (!directory)
        return NULL;
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct store_point));
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < directory->len; i++) {
        const struct sample_directory_result *result = directory->pdata[i];
        for (guint m = 0; m < result->n_metrics; m++) {
            struct store_series *series = store_series_by_id(snapshot, result->series_ids[m]);
            if (series && g_hash_table_add(seen, series) &&
                !store_series_point(snapshot, series->id, run_seq, points, error))
                return NULL;
        }
    }
    return g_steal_pointer(&points);
}

char *store_case_params(const struct store_project *project, const char *bench,
                        const GPtrArray *params)
{
    const struct line_rules rules = {0};
    const struct store_benchmark *benchmark =
        g_hash_table_lookup(((const struct catalogue_project *)project)->benchmark_by_name, bench);
    if (!benchmark)
        benchmark = store_benchmark_find(project, bench);
    return benchmark ? line_params_text(&rules, benchmark, params) : run_params_text(params);
}

/* An error under the names of its line. */
static void show_error(const struct store_project *project, struct store_result_error *failure)
{
    const struct store_benchmark *benchmark = store_benchmark_find(project, failure->bench);
    g_autoptr(GPtrArray) params = run_params_parse(failure->params_text);
    if (!benchmark || !params)
        return;
    char *shown = store_case_params(project, failure->bench, params);
    g_free(failure->params_text);
    failure->params_text = shown;
    g_free(failure->bench);
    failure->bench = g_strdup(benchmark->name);
}

GPtrArray *store_run_errors(StoreSnapshot *snapshot, int64_t run_seq, GError **error)
{
    const struct store_run *run = store_run_by_seq(snapshot, run_seq);
    if (run && run->n_errors == 0)
        return g_ptr_array_new();
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    GPtrArray *errors = rows ? sqlite_reader_errors(rows, run_seq, error) : NULL;
    for (guint i = 0; run && errors && i < errors->len; i++)
        show_error(run->project, errors->pdata[i]);
    return errors;
}

/* ---- The document
 * -------------------------------------------------------------------------------------------------
 */

/* A result with its names, from the directory. NULL: a series is not there. */
static struct run_result *named_result(StoreSnapshot *snapshot,
                                       const struct sample_directory_result *entry)
{
    const struct catalogue_series *first =
        entry->n_metrics > 0 ? (const struct catalogue_series *)catalogue_series_at(
                                   snapshot->catalogue, entry->series_ids[0])
                             : NULL;
    if (!first && (entry->n_metrics > 0 || !entry->bench))
        return NULL;
    const char *params_text = entry->bench      ? entry->params_text
                              : first->spelling ? first->spelling
                                                : first->pub.params_text;
    struct run_result *result =
        run_result_new(entry->bench ? entry->bench : first->pub.benchmark->name);
    GPtrArray *params = run_params_parse(params_text);
    if (params) {
        g_ptr_array_unref(result->params);
        result->params = params;
    }
    bool fine = params != NULL;
    for (guint m = 0; m < entry->n_metrics && fine; m++) {
        const struct store_series *series =
            catalogue_series_at(snapshot->catalogue, entry->series_ids[m]);
        fine = series != NULL;
        if (series)
            g_ptr_array_add(result->metrics,
                            run_metric_new(series->metric, series->unit, series->better));
    }
    if (!fine)
        g_clear_pointer(&result, run_result_free);
    return result;
}

static bool fill_results(StoreSnapshot *snapshot, const struct sqlite_document *document, Run *run)
{
    g_autoptr(GPtrArray) directory = sample_directory_parse(
        g_bytes_get_data(document->series, NULL), g_bytes_get_size(document->series));
    for (guint i = 0; directory && i < directory->len; i++) {
        struct run_result *result = named_result(snapshot, directory->pdata[i]);
        if (!result)
            return false;
        g_ptr_array_add(run->results, result);
    }
    return directory && sample_blob_decode(g_bytes_get_data(document->results, NULL),
                                           g_bytes_get_size(document->results), run->results);
}

static void fill_envelope(const struct store_run *stored, struct sqlite_document *document,
                          Run *run)
{
    run->id = g_strdup(stored->id);
    run->project = g_strdup(stored->project->name);
    run->machine = document->machine ? g_steal_pointer(&document->machine)
                                     : g_strdup(stored->posted_machine->name);
    run->branch = g_strdup(stored->branch);
    run->reason = g_strdup(stored->reason);
    run->dirty = stored->dirty;
    run->started_ms = stored->started_ms;
    run->finished_ms = stored->finished_ms;
    run->source_json = g_steal_pointer(&document->source);
    run->context_json = g_steal_pointer(&document->context);
    run->environment_json = g_steal_pointer(&document->environment);
    run->topology = g_steal_pointer(&document->topology);
}

char *store_run_digest(StoreSnapshot *snapshot, int64_t run_seq, GError **error)
{
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    return rows ? sqlite_reader_digest(rows, run_seq, error) : NULL;
}

Run *store_run_document(StoreSnapshot *snapshot, int64_t run_seq, GError **error)
{
    const struct store_run *stored = store_run_by_seq(snapshot, run_seq);
    if (!stored) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_OVERTAKEN,
                    "run number %" G_GINT64_FORMAT " was removed while it was being read", run_seq);
        return NULL;
    }
    struct sqlite_document document = {0};
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    if (!rows || !sqlite_reader_document(rows, run_seq, &document, error))
        return NULL;
    g_autoptr(Run) run = run_new();
    fill_envelope(stored, &document, run);
    bool fine = commit_telling_unpack(snapshot->catalogue, g_bytes_get_data(document.commits, NULL),
                                      g_bytes_get_size(document.commits), run) &&
                fill_results(snapshot, &document, run);
    sqlite_document_clear(&document);
    if (fine)
        return g_steal_pointer(&run);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                "what is stored of run %s is damaged; restore a backup", stored->id);
    return NULL;
}
