/* SPDX-License-Identifier: Apache-2.0
 * Snapshots and what is read through them but lists by filter (those are in store_select.c). The
 * read transaction begins with the first question to the rows: it is at least as new as the
 * catalogue, and at most one transaction newer, since the writer cannot begin another before it has
 * updated the catalogue that this snapshot holds still. Runs that the catalogue does not know are
 * left out. Any thread. */
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
    return reader;
}

void store_reader_free(StoreReader *reader)
{
    if (!reader)
        return;
    store_snapshot_end(reader->open);
    sqlite_verdict_reader_free(reader->verdicts);
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
    catalogue_read_lock(snapshot->catalogue);
    return snapshot;
}

void store_snapshot_end(StoreSnapshot *snapshot)
{
    if (!snapshot)
        return;
    catalogue_unlock(snapshot->catalogue);
    if (snapshot->reading)
        sqlite_reader_end(snapshot->reader->rows);
    snapshot->reader->open = NULL;
    g_free(snapshot);
}

SqliteReader *store_snapshot_rows(StoreSnapshot *snapshot, GError **error)
{
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
    return g_hash_table_lookup(snapshot->catalogue->machine_by_name, name);
}

struct store_benchmark *store_benchmark_find(const struct store_project *project, const char *name)
{
    return g_hash_table_lookup(((const struct catalogue_project *)project)->benchmark_by_name,
                               name);
}

struct store_series *store_series_by_id(StoreSnapshot *snapshot, int64_t id)
{
    return catalogue_series_at(snapshot->catalogue, id);
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
    bool is_hex = strspn(sha, "0123456789abcdef") == digits;
    for (guint i = 0; is_hex && digits >= SHORT_SHA_DIGITS_MIN && i < project->commits->len; i++) {
        struct store_commit *commit = project->commits->pdata[i];
        if (strncmp(commit->sha, sha, digits) != 0)
            continue;
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

GArray *store_series_points(StoreSnapshot *snapshot, int64_t series_id, GError **error)
{
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    if (!rows)
        return NULL;
    const struct store_series *series = store_series_by_id(snapshot, series_id);
    g_autoptr(GArray) points =
        g_array_sized_new(FALSE, FALSE, sizeof(struct store_point), series ? series->n_points : 1);
    if (!sqlite_reader_points(rows, series_id, points, error))
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
                !sqlite_reader_point(snapshot->reader->rows, series->id, run_seq, points, error))
                return NULL;
        }
    }
    return g_steal_pointer(&points);
}

GPtrArray *store_run_errors(StoreSnapshot *snapshot, int64_t run_seq, GError **error)
{
    const struct store_run *run = store_run_by_seq(snapshot, run_seq);
    if (run && run->n_errors == 0)
        return g_ptr_array_new();
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    return rows ? sqlite_reader_errors(rows, run_seq, error) : NULL;
}

/* ---- The document
 * -------------------------------------------------------------------------------------------------
 */

/* A result with its names, from the directory. NULL: a series is not there. */
static struct run_result *named_result(StoreSnapshot *snapshot,
                                       const struct sample_directory_result *entry)
{
    const struct catalogue_series *first =
        entry->n_metrics > 0
            ? (const struct catalogue_series *)store_series_by_id(snapshot, entry->series_ids[0])
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
        const struct store_series *series = store_series_by_id(snapshot, entry->series_ids[m]);
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
    run->machine =
        document->machine ? g_steal_pointer(&document->machine) : g_strdup(stored->machine->name);
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
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "run number %" G_GINT64_FORMAT " is not there", run_seq);
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

/* ---- Machines
 * -----------------------------------------------------------------------------------------------------
 */

static void free_environment(gpointer item)
{
    struct store_environment *environment = item;
    g_free(environment->digest);
    g_free(environment->facts_json);
    g_free(environment);
}

static gint compare_last_seen(gconstpointer a, gconstpointer b)
{
    const struct store_environment *const *left = a, *const *right = b;
    return (*left)->last_seen_ms == (*right)->last_seen_ms
               ? 0
               : ((*left)->last_seen_ms > (*right)->last_seen_ms ? -1 : 1);
}

static void note_environment(GHashTable *by_digest, GPtrArray *list, const struct store_run *run)
{
    struct store_environment *environment = g_hash_table_lookup(by_digest, run->environment_digest);
    if (!environment) {
        environment = g_new0(struct store_environment, 1);
        environment->digest = g_strdup(run->environment_digest);
        environment->first_seen_ms = run->received_ms;
        g_hash_table_insert(by_digest, environment->digest, environment);
        g_ptr_array_add(list, environment);
    }
    environment->first_seen_ms = MIN(environment->first_seen_ms, run->received_ms);
    environment->last_seen_ms = MAX(environment->last_seen_ms, run->received_ms);
}

GPtrArray *store_machine_environments(StoreSnapshot *snapshot, const struct store_machine *machine,
                                      GError **error)
{
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    if (!rows)
        return NULL;
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(free_environment);
    g_autoptr(GHashTable) by_digest = g_hash_table_new(g_str_hash, g_str_equal);
    const GPtrArray *runs = snapshot->catalogue->runs;
    for (guint i = 0; i < runs->len; i++) {
        const struct store_run *run = runs->pdata[i];
        if (run->machine == machine && run->environment_digest)
            note_environment(by_digest, list, run);
    }
    for (guint i = 0; i < list->len; i++) {
        struct store_environment *environment = list->pdata[i];
        GError *cause = NULL;
        environment->facts_json = sqlite_reader_environment(rows, environment->digest,
                                                            &environment->has_topology, &cause);
        if (cause) {
            g_propagate_error(error, cause);
            return NULL;
        }
    }
    g_ptr_array_sort(list, compare_last_seen);
    return g_steal_pointer(&list);
}

char *store_topology(StoreSnapshot *snapshot, const char *environment_digest, GError **error)
{
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    return rows ? sqlite_reader_topology(rows, environment_digest, error) : NULL;
}
