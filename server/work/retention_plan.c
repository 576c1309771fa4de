/* SPDX-License-Identifier: Apache-2.0
 * What is to be deleted and dropped (see retention.h). The thread of whoever asks. */
#include "server/work/retention.h"

#include "server/store/store_branches.h"
#include "server/work/series_judge.h"
#include <string.h>

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

static void free_deletion(gpointer item)
{
    struct retention_deletion *deletion = item;
    g_free(deletion->id);
    g_free(deletion);
}

void retention_plan_free(struct retention_plan *plan)
{
    if (!plan)
        return;
    g_ptr_array_unref(plan->deletions);
    g_array_unref(plan->drops);
    g_free(plan);
}

static bool is_older(const struct store_run *run, int64_t days, int64_t now_ms)
{
    return days > 0 && now_ms - run->received_ms > days * DAY_MS;
}

/* Whose runs are thinned together: its branch, or that it was of a pull request; NULL: none, since
 * its commit is of the judged branch, whatever the run calls itself. */
static const char *branch_beside(const struct store_run *run, const char *judged)
{
    bool is_default = strcmp(judged, run->project->default_branch) == 0;
    enum store_line line = is_default ? run->commit->line : STORE_LINE_UNKNOWN;
    bool is_request = store_run_is_of_pull_request(run);
    if (!is_request && store_run_is_of(run, judged, is_default, line))
        return NULL;
    return run->branch ? run->branch : is_request ? "pull-request" : "";
}

/* Counts one more of its branch and machine; true where enough newer ones are there. */
static bool is_surplus(GHashTable *kept, const struct store_run *run, const char *branch,
                       int64_t keep)
{
    char *key = g_strdup_printf("%" G_GINT64_FORMAT "\n%s", run->machine->id, branch);
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(kept, key));
    g_hash_table_replace(kept, key, GUINT_TO_POINTER(n + 1));
    return n >= keep;
}

static void note_age(struct retention_plan *plan, const struct store_run *run)
{
    plan->oldest_ms =
        plan->oldest_ms == 0 ? run->received_ms : MIN(plan->oldest_ms, run->received_ms);
    plan->newest_ms = MAX(plan->newest_ms, run->received_ms);
}

static void add_deletion(struct retention_plan *plan, const struct store_run *run,
                         const char *judged, guint limit)
{
    plan->n_deletions++;
    plan->samples_deleted += run->n_samples;
    note_age(plan, run);
    if (plan->deletions->len == limit)
        return;
    struct retention_deletion *deletion = g_new(struct retention_deletion, 1);
    *deletion = (struct retention_deletion){.id = g_strdup(run->id),
                                            .keeps_verdicts = !series_judge_takes(run, judged)};
    g_ptr_array_add(plan->deletions, deletion);
}

static void add_drop(struct retention_plan *plan, const struct store_run *run, guint limit)
{
    plan->n_drops++;
    plan->samples_dropped += run->n_samples;
    note_age(plan, run);
    if (plan->drops->len < limit)
        g_array_append_val(plan->drops, run->seq);
}

struct retention_plan *retention_plan_new(const struct store_project *project,
                                          const struct store_retention_rules *rules, int64_t now_ms,
                                          guint limit)
{
    struct retention_plan *plan = g_new0(struct retention_plan, 1);
    const char *judged = series_judge_branch(project);
    g_autoptr(GHashTable) kept = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    plan->deletions = g_ptr_array_new_with_free_func(free_deletion);
    plan->drops = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint i = project->runs->len; i-- > 0;) {
        const struct store_run *run = project->runs->pdata[i];
        const char *branch = branch_beside(run, judged);
        if (branch && is_surplus(kept, run, branch, rules->branches_keep) &&
            is_older(run, rules->branches_days, now_ms))
            add_deletion(plan, run, judged, limit);
        else if (!run->samples_dropped && run->n_samples > 0 &&
                 is_older(run, rules->samples_days, now_ms))
            add_drop(plan, run, limit);
    }
    return plan;
}
