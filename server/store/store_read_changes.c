/* SPDX-License-Identifier: Apache-2.0
 * Reading what was found in the histories, through a snapshot (see store_changes.h). Any thread. */
#include "server/store/sample_blob.h"
#include "server/store/store_internal.h"
#include <string.h>

static SqliteVerdictReader *rows_of(StoreSnapshot *snapshot, GError **error)
{
    return store_snapshot_rows(snapshot, error) ? snapshot->reader->verdicts : NULL;
}

GArray *store_analysis_queue(StoreSnapshot *snapshot, guint limit, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_queue(rows, limit, error) : NULL;
}

GArray *store_rejudge_queue(StoreSnapshot *snapshot, guint limit, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_rejudge(rows, limit, error) : NULL;
}

GArray *store_analysis_queue_after(StoreSnapshot *snapshot, int64_t seq, guint limit,
                                   GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_queue_after(rows, seq, limit, error) : NULL;
}

int64_t store_latest_run_seq(StoreSnapshot *snapshot)
{
    const GPtrArray *runs = snapshot->catalogue->runs;
    return runs->len > 0 ? ((const struct store_run *)runs->pdata[runs->len - 1])->seq : 0;
}

bool store_is_waiting(StoreSnapshot *snapshot, int64_t run_seq, bool *out, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows && sqlite_verdict_is_waiting(rows, run_seq, out, error);
}

bool store_series_level(StoreSnapshot *snapshot, int64_t series_id, struct store_level *out,
                        bool *out_found, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows && sqlite_verdict_level(rows, series_id, out, out_found, error);
}

#define LEVELS_GAP 16 /* ids between two series that are read with them, and not needed */

static int64_t id_at(const GPtrArray *series, guint i)
{
    return ((const struct store_series *)series->pdata[i])->id;
}

GArray *store_series_levels(StoreSnapshot *snapshot, const GPtrArray *series, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    g_autoptr(GArray) levels = g_array_new(FALSE, FALSE, sizeof(struct store_level));
    for (guint first = 0, end; rows && first < series->len; first = end) {
        end = first + 1;
        while (end < series->len && id_at(series, end) - id_at(series, end - 1) <= LEVELS_GAP)
            end++;
        if (!sqlite_verdict_levels(rows, id_at(series, first), id_at(series, end - 1), levels,
                                   error))
            return NULL;
    }
    return rows ? g_steal_pointer(&levels) : NULL;
}

struct store_state *store_series_state(StoreSnapshot *snapshot, int64_t series_id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_state(rows, series_id, error) : NULL;
}

GPtrArray *store_series_checkpoints(StoreSnapshot *snapshot, int64_t series_id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_checkpoints(rows, series_id, error) : NULL;
}

GArray *store_series_versions(StoreSnapshot *snapshot, int64_t series_id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_versions(rows, series_id, error) : NULL;
}

GArray *store_series_segments(StoreSnapshot *snapshot, int64_t series_id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_segments(rows, series_id, error) : NULL;
}

GPtrArray *store_series_changes(StoreSnapshot *snapshot, int64_t series_id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_series_changes(rows, series_id, error) : NULL;
}

/* False of one whose line is shown as part of another now. */
static bool is_shown(StoreSnapshot *snapshot, int64_t series_id)
{
    const struct store_series *series = store_series_by_id(snapshot, series_id);
    return series && series->id == series_id;
}

/* Moves those that are shown over; returns the id of the last one, 0 where there was none. */
static int64_t take_shown(StoreSnapshot *snapshot, GPtrArray *from, GPtrArray *to)
{
    int64_t last = 0;
    for (guint i = 0; i < from->len; i++) {
        struct store_change *change = from->pdata[i];
        last = change->id;
        if (is_shown(snapshot, change->series_id))
            g_ptr_array_add(to, g_steal_pointer(&from->pdata[i]));
    }
    return last;
}

static void free_change(gpointer change)
{
    store_change_free(change);
}

GPtrArray *store_project_changes(StoreSnapshot *snapshot, int64_t project_id, int64_t before,
                                 guint limit, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    g_autoptr(GPtrArray) shown = g_ptr_array_new_with_free_func(free_change);
    while (rows && shown->len < limit) {
        guint wanted = limit - shown->len;
        g_autoptr(GPtrArray) page =
            sqlite_verdict_project_changes(rows, project_id, before, wanted, error);
        if (!page)
            return NULL;
        bool is_last = page->len < wanted;
        before = take_shown(snapshot, page, shown);
        if (is_last)
            break;
    }
    return rows ? g_steal_pointer(&shown) : NULL;
}

GArray *store_project_moves(StoreSnapshot *snapshot, int64_t project_id, guint limit,
                            GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    GArray *moves = rows ? sqlite_verdict_project_moves(rows, project_id, limit, error) : NULL;
    guint n = 0;
    for (guint i = 0; moves && i < moves->len; i++) {
        struct store_move move = g_array_index(moves, struct store_move, i);
        if (is_shown(snapshot, move.series_id))
            g_array_index(moves, struct store_move, n++) = move;
    }
    return moves ? g_array_set_size(moves, n) : NULL;
}

bool store_levels_sum(StoreSnapshot *snapshot, int64_t first, int64_t last,
                      struct store_levels_sum *inout, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows && sqlite_verdict_sum_levels(rows, first, last, inout, error);
}

struct store_change *store_change_by_id(StoreSnapshot *snapshot, int64_t id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    struct store_change *change = rows ? sqlite_verdict_read_change(rows, id, error) : NULL;
    if (!change || is_shown(snapshot, change->series_id))
        return change;
    g_autoptr(GArray) twins = sqlite_verdict_twins(rows, id, NULL);
    for (guint i = 0; twins && i < twins->len; i++) {
        struct store_change *twin =
            sqlite_verdict_read_change(rows, g_array_index(twins, int64_t, i), NULL);
        if (twin && is_shown(snapshot, twin->series_id)) {
            store_change_free(change);
            return twin;
        }
        store_change_free(twin);
    }
    return change;
}

GPtrArray *store_change_log(StoreSnapshot *snapshot, int64_t id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_read_log(rows, id, error) : NULL;
}

bool store_outbox_count(StoreSnapshot *snapshot, int64_t change_id, guint *out, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows && sqlite_verdict_outbox_count(rows, change_id, out, error);
}

GPtrArray *store_project_news(StoreSnapshot *snapshot, const struct store_page *page,
                              GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_news(rows, page, error) : NULL;
}

GPtrArray *store_rule_log(StoreSnapshot *snapshot, const struct store_page *page, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_rule_log(rows, page, error) : NULL;
}

bool store_is_rule_rejudge(StoreSnapshot *snapshot, int64_t series_id, bool *out, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows && sqlite_verdict_is_rule_rejudge(rows, series_id, out, error);
}

int64_t store_rules_version(StoreSnapshot *snapshot)
{
    return snapshot->catalogue->rules_version;
}

/* ---- What was measured
 * ----------------------------------------------------------------------------------------- */

/* The end of a value in canonical JSON text of a flat map. */
static const char *value_end(const char *value)
{
    if (*value != '"')
        return value + strcspn(value, ",}");
    const char *at = value + 1;
    while (*at && *at != '"')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return at;
}

/* Mixes a fact's value into the digest (FNV-1a, Fowler, Noll & Vo). The text is canonical: sorted
 * keys, no spaces, so a key follows `{` or `,`. */
static uint64_t mix_fact(uint64_t digest, const char *info, const char *quoted_key)
{
    for (const char *at = strstr(info, quoted_key); at; at = strstr(at + 1, quoted_key)) {
        if (at == info || (at[-1] != '{' && at[-1] != ','))
            continue;
        const char *value = at + strlen(quoted_key), *end = value_end(value);
        for (; value < end; value++)
            digest = (digest ^ (guint8)*value) * 1099511628211u;
        return (digest ^ 0x100u) * 1099511628211u;
    }
    return digest;
}

static int64_t version_digest(const char *info)
{
    const uint64_t basis = 14695981039346656037u;
    uint64_t digest = mix_fact(basis, info, "\"bench_version\":");
    digest = mix_fact(digest, info, "\"library\":");
    return digest == basis ? 0 : (int64_t)(digest & INT64_MAX);
}

static void append_versions(StoreSnapshot *snapshot, const struct sample_directory_result *entry,
                            int64_t run_seq, const char *info, GArray *versions)
{
    int64_t digest = info ? version_digest(info) : 0;
    for (guint m = 0; digest != 0 && m < entry->n_metrics; m++) {
        const struct store_series *series = store_series_by_id(snapshot, entry->series_ids[m]);
        struct store_series_version version = {series ? series->id : 0, run_seq, digest};
        if (series)
            g_array_append_val(versions, version);
    }
}

GArray *store_run_versions(StoreSnapshot *snapshot, int64_t run_seq, GError **error)
{
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    g_autoptr(GBytes) bytes = rows ? sqlite_reader_directory(rows, run_seq, error) : NULL;
    g_autoptr(Run) run = bytes ? store_run_document(snapshot, run_seq, error) : NULL;
    if (!run)
        return NULL;
    g_autoptr(GPtrArray) directory =
        sample_directory_parse(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
    GArray *versions = g_array_new(FALSE, FALSE, sizeof(struct store_series_version));
    for (guint i = 0; directory && i < directory->len && i < run->results->len; i++) {
        const struct run_result *result = run->results->pdata[i];
        append_versions(snapshot, directory->pdata[i], run_seq, result->info_json, versions);
    }
    return versions;
}

struct store_commit *store_commit_by_id(StoreSnapshot *snapshot, int64_t id)
{
    struct catalogue_commit *commit = catalogue_commit_at(snapshot->catalogue, id);
    return commit ? &commit->pub : NULL;
}
