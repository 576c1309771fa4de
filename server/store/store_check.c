/* SPDX-License-Identifier: Apache-2.0
 * See store_check.h. Loads a catalogue of its own and reads by it, without the threads of a Store;
 * what a server removes meanwhile is not missed. */
#include "server/store/store_check.h"
#include "server/store/sqlite_backup.h"
#include "server/store/sqlite_check.h"
#include "server/store/sqlite_load.h"
#include "server/store/store_internal.h"
#include "server/store/store_retention.h"
#include <string.h>

void store_check_free(StoreCheck *check)
{
    if (!check)
        return;
    g_ptr_array_unref(check->faults);
    g_free(check);
}

static void add_fault(StoreCheck *check, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void add_fault(StoreCheck *check, const char *format, ...)
{
    va_list arguments;
    if (check->faults->len >= SQLITE_FAULTS_MAX)
        return;
    va_start(arguments, format);
    g_ptr_array_add(check->faults, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

/* ---- Documents
 * ----------------------------------------------------------------------------------------------------
 */

/* The digest of the document after a print and a parse; NULL where it breaks the rules. */
static char *digest_again(const Run *document)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(Faults) faults = faults_new();
    run_print(document, text);
    g_autoptr(Run) again = run_parse(text->str, text->len, faults, NULL);
    return again ? run_digest(again) : NULL;
}

/* Retention may have come in between. */
static bool is_shortened(StoreSnapshot *snapshot, const struct store_run *run)
{
    SqliteReader *rows = store_snapshot_rows(snapshot, NULL);
    int64_t dropped_ms = 0;
    return run->samples_dropped ||
           (rows && sqlite_reader_dropped(rows, run->seq, &dropped_ms, NULL) && dropped_ms != 0);
}

static void check_points(StoreCheck *check, StoreSnapshot *snapshot, const struct store_run *run)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) points = store_run_points(snapshot, run->seq, &error);
    if (!points)
        add_fault(check, "run %s: its points: %s", run->id, error->message);
    else if (points->len == 0 && run->n_results > run->n_errors)
        add_fault(check, "run %s has results, and no points", run->id);
}

static void check_document(StoreCheck *check, StoreSnapshot *snapshot, const struct store_run *run)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *digest = store_run_digest(snapshot, run->seq, &error);
    g_autoptr(Run) document = digest ? store_run_document(snapshot, run->seq, &error) : NULL;
    if (g_error_matches(error, BREAKEVEN_ERROR, ERROR_OVERTAKEN))
        return; /* removed meanwhile; a run that lacks its document is asked for elsewhere */
    if (!document) {
        add_fault(check, "run %s: %s", run->id, error->message);
        return;
    }
    check->n_runs++;
    g_autofree char *found = digest_again(document);
    if (!found)
        add_fault(check, "run %s: its document breaks the rules of %s", run->id, RUN_SCHEMA);
    else if (is_shortened(snapshot, run))
        check->n_shortened++;
    else if (strcmp(found, digest) != 0)
        add_fault(check, "run %s: its document is not the one that was posted", run->id);
    if (document->results->len != run->n_results)
        add_fault(check, "run %s: %u results were counted, %u are there", run->id, run->n_results,
                  document->results->len);
    check_points(check, snapshot, run);
}

static void check_runs(StoreCheck *check, char *path)
{
    g_autoptr(GError) error = NULL;
    Store store = {.path = path, .catalogue = catalogue_new()};
    g_autoptr(StoreReader) reader = NULL;
    bool fine = sqlite_load(path, store.catalogue, &error);
    if (fine)
        reader = store_reader_new(&store, &error);
    g_autoptr(StoreSnapshot) snapshot = reader ? store_snapshot_begin(reader, &error) : NULL;
    if (!snapshot)
        add_fault(check, "what the server reads at its start cannot be read: %s", error->message);
    const GPtrArray *runs = store.catalogue->runs;
    for (guint i = 0; snapshot && i < runs->len; i++)
        check_document(check, snapshot, runs->pdata[i]);
    g_clear_pointer(&snapshot, store_snapshot_end);
    g_clear_pointer(&reader, store_reader_free);
    catalogue_free(store.catalogue);
}

/* ---- The whole
 * ----------------------------------------------------------------------------------------------------
 */

static bool check_all(StoreCheck *check, char *path, GError **error)
{
    if (!sqlite_check_structure(path, check->faults, error))
        return false;
    check->is_older = check->schema < sqlite_schema_newest();
    if (check->is_older)
        return true;
    if (!sqlite_check_tables(path, check->faults, error))
        return false;
    check_runs(check, path);
    return true;
}

StoreCheck *store_check(const char *url, GError **error)
{
    g_autofree char *path = store_path_of(url, error);
    if (!path)
        return NULL;
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "no store is at %s; give its --store",
                    path);
        return NULL;
    }
    g_autoptr(StoreCheck) check = g_new0(StoreCheck, 1);
    check->faults = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) cause = NULL;
    if (!sqlite_schema_of(path, &check->schema, &cause)) {
        /* A page that cannot be read is what was asked about. */
        if (!g_error_matches(cause, BREAKEVEN_ERROR, ERROR_INTERNAL)) {
            g_propagate_error(error, g_steal_pointer(&cause));
            return NULL;
        }
        add_fault(check, "%s", cause->message);
        return g_steal_pointer(&check);
    }
    if (check->schema > sqlite_schema_newest()) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNSUPPORTED,
                    "%s has schema %" G_GINT64_FORMAT ", this program knows up to %" G_GINT64_FORMAT
                    "; check it with the breakeven-server that wrote it",
                    path, (gint64)check->schema, (gint64)sqlite_schema_newest());
        return NULL;
    }
    if (check->schema < 0)
        add_fault(check, "it has schema %" G_GINT64_FORMAT ", which no breakeven-server writes",
                  (gint64)check->schema);
    return check_all(check, path, error) ? g_steal_pointer(&check) : NULL;
}
