/* SPDX-License-Identifier: Apache-2.0
 * See version_ahead.h. */
#include "server/work/version_ahead.h"

#define RUNS_AT_ONCE 256u

struct version_ahead {
    GHashTable *by_series; /* of copies of the id */
    int64_t until_seq;
    GArray *last; /* of the run read last */
    int64_t last_seq;
};

static void free_versions(gpointer versions)
{
    g_array_unref(versions);
}

VersionAhead *version_ahead_new(void)
{
    VersionAhead *ahead = g_new0(VersionAhead, 1);
    ahead->by_series = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_versions);
    return ahead;
}

void version_ahead_free(VersionAhead *ahead)
{
    if (!ahead)
        return;
    g_hash_table_unref(ahead->by_series);
    g_clear_pointer(&ahead->last, g_array_unref);
    g_free(ahead);
}

static void note(VersionAhead *ahead, const struct store_series_version *version)
{
    GArray *known = g_hash_table_lookup(ahead->by_series, &version->series_id);
    if (!known) {
        known = g_array_new(FALSE, FALSE, sizeof *version);
        g_hash_table_insert(ahead->by_series,
                            g_memdup2(&version->series_id, sizeof version->series_id), known);
    }
    if (known->len == 0 ||
        g_array_index(known, struct store_series_version, known->len - 1).digest != version->digest)
        g_array_append_val(known, *version);
}

static bool read_run(VersionAhead *ahead, StoreReader *reader, int64_t run_seq, GError **error)
{
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(reader, error);
    if (!snapshot)
        return false;
    g_clear_pointer(&ahead->last, g_array_unref);
    ahead->last_seq = run_seq;
    ahead->last = store_run_versions(snapshot, run_seq, NULL); /* a damaged one is told of later */
    for (guint i = 0; ahead->last && i < ahead->last->len; i++)
        note(ahead, &g_array_index(ahead->last, struct store_series_version, i));
    return true;
}

/* Some that wait and are not read yet; *out_until: the run up to which there are no others. */
static GArray *find_waiting(const VersionAhead *ahead, StoreReader *reader, int64_t *out_until,
                            GError **error)
{
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(reader, error);
    GArray *runs = snapshot
                       ? store_analysis_queue_after(snapshot, ahead->until_seq, RUNS_AT_ONCE, error)
                       : NULL;
    if (runs && runs->len < RUNS_AT_ONCE)
        *out_until = store_latest_run_seq(snapshot);
    else if (runs)
        *out_until = g_array_index(runs, int64_t, runs->len - 1);
    return runs;
}

bool version_ahead_read(VersionAhead *ahead, StoreReader *reader, GError **error)
{
    for (bool more = true; more;) {
        int64_t until = 0;
        g_autoptr(GArray) runs = find_waiting(ahead, reader, &until, error);
        bool fine = runs != NULL;
        for (guint i = 0; fine && i < runs->len; i++)
            fine = read_run(ahead, reader, g_array_index(runs, int64_t, i), error);
        if (!fine)
            return false;
        ahead->until_seq = MAX(ahead->until_seq, until);
        more = runs->len == RUNS_AT_ONCE;
    }
    return true;
}

int64_t version_ahead_until(const VersionAhead *ahead)
{
    return ahead->until_seq;
}

GHashTable *version_ahead_table(const VersionAhead *ahead)
{
    return ahead->by_series;
}

GArray *version_ahead_of_run(const VersionAhead *ahead, StoreSnapshot *snapshot, int64_t run_seq,
                             GError **error)
{
    if (ahead->last && ahead->last_seq == run_seq)
        return g_array_ref(ahead->last);
    return store_run_versions(snapshot, run_seq, error);
}
