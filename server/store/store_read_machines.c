/* SPDX-License-Identifier: Apache-2.0
 * Machines and what they were, through a snapshot (see store.h). Any thread. */
#include "server/store/store_internal.h"
#include <string.h>

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

static void add_change(GArray *changes, guint limit, const struct store_environment_change *change)
{
    if (changes->len == limit)
        g_array_remove_index(changes, 0);
    g_array_append_val(changes, *change);
}

GArray *store_machine_changes(StoreSnapshot *snapshot, const struct store_machine *machine,
                              guint limit)
{
    GArray *changes = g_array_new(FALSE, FALSE, sizeof(struct store_environment_change));
    const GPtrArray *runs = snapshot->catalogue->runs;
    const char *before = NULL;
    for (guint i = 0; i < runs->len; i++) {
        const struct store_run *run = runs->pdata[i];
        if (run->machine != machine || !run->environment_digest)
            continue;
        const struct store_environment_change change = {run, before, run->environment_digest};
        if (before && strcmp(before, run->environment_digest) != 0)
            add_change(changes, limit, &change);
        before = run->environment_digest;
    }
    return changes;
}
