/* SPDX-License-Identifier: Apache-2.0
 * See demo_triage.h. A change is known by the subject of its first bad commit, or as a machine's.
 */
#include "server/demo/demo_triage.h"

#include "server/demo/demo_plan.h"

#include <string.h>

#define CHANGES_MAX 10000u

static const struct {
    const char *subject; /* the beginning of it; NULL: of moves of a machine */
    enum store_triage triage;
    const char *who, *note;
} said[] = {
    {NULL, STORE_TRIAGE_INFRA, "Pool maintainers", "the new kernel on lab-2"},
    {"btree: a node", STORE_TRIAGE_EXPECTED, "Storage maintainers", "what the change was made for"},
    {"arena: small blocks", STORE_TRIAGE_EXPECTED, "Storage maintainers",
     "what the change was made for"},
    {"regex: back references", STORE_TRIAGE_ACKNOWLEDGED, "Parser maintainers",
     "the price is to be paid only by patterns that need it"},
};

static bool is_said_of(guint which, const struct store_change *change,
                       const struct store_commit *bad)
{
    if (!said[which].subject)
        return change->kind == STORE_KIND_BOUNDARY;
    return change->kind != STORE_KIND_BOUNDARY && bad && bad->subject &&
           g_str_has_prefix(bad->subject, said[which].subject);
}

static struct store_triage_write *write_of(StoreSnapshot *snapshot, const GPtrArray *changes,
                                           guint which)
{
    struct store_triage_write *write = g_new0(struct store_triage_write, 1);
    *write = (struct store_triage_write){.change_ids = g_array_new(FALSE, FALSE, sizeof(int64_t)),
                                         .has_triage = true,
                                         .triage = said[which].triage,
                                         .note = g_strdup(said[which].note),
                                         .who = g_strdup(said[which].who)};
    for (guint i = 0; i < changes->len; i++) {
        const struct store_change *change = changes->pdata[i];
        const struct store_commit *bad = store_commit_by_id(snapshot, change->bad_commit_id);
        if (change->triage == STORE_TRIAGE_OPEN && is_said_of(which, change, bad))
            g_array_append_val(write->change_ids, change->id);
    }
    return write;
}

GPtrArray *demo_triage_writes(StoreSnapshot *snapshot, GError **error)
{
    const struct store_project *project = store_project_find(snapshot, DEMO_PROJECT);
    GPtrArray *writes = g_ptr_array_new();
    g_autoptr(GPtrArray) changes =
        project ? store_project_changes(snapshot, project->id, 0, CHANGES_MAX, error) : NULL;
    for (guint i = 0; changes && i < G_N_ELEMENTS(said); i++) {
        struct store_triage_write *write = write_of(snapshot, changes, i);
        if (write->change_ids->len > 0)
            g_ptr_array_add(writes, write);
        else
            store_triage_write_free(write);
    }
    if (project && !changes)
        g_clear_pointer(&writes, g_ptr_array_unref);
    return writes;
}
