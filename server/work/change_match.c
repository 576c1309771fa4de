/* SPDX-License-Identifier: Apache-2.0
 * See change_match.h. The work thread runs it. */
#include "server/work/change_match.h"

#include <math.h>

/* Index in `commits` of the first one at or after a position. */
static guint index_of_position(const struct change_match *match, guint position)
{
    guint low = 0, high = match->n_commits;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (match->commits[middle]->position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct kept {
    struct store_change *change;
    guint index;
    bool in_reach; /* not before the commits at hand */
    bool matched;
};

static struct kept *lay_kept(const struct change_match *match)
{
    struct kept *list = g_new0(struct kept, match->kept->len + 1);
    for (guint i = 0; i < match->kept->len; i++) {
        struct store_change *change = match->kept->pdata[i];
        const struct store_commit *commit =
            match->commit_of(match->snapshot, change->bad_commit_id);
        list[i].change = change;
        if (!commit || match->n_commits == 0)
            continue;
        list[i].index = index_of_position(match, commit->position);
        /* The very first commit of a tail cannot be a place: what lies there is settled. */
        list[i].in_reach = list[i].index > 0 || match->first == 0;
    }
    return list;
}

static bool same_way(const struct store_change *kept, const struct detector_change *found)
{
    return found->kind == DETECTOR_PINNED || kept->triage == STORE_TRIAGE_EXPECTED ||
           (kept->effect > 0) == (found->effect > 0);
}

static struct kept *find_kept(const struct change_match *match, struct kept *list,
                              const struct detector_change *found, guint reach)
{
    struct kept *best = NULL;
    guint at = (guint)(found->at - match->first), best_distance = reach + 1;
    for (guint i = 0; i < match->kept->len; i++) {
        guint distance = list[i].index > at ? list[i].index - at : at - list[i].index;
        if (!list[i].matched && list[i].in_reach && distance < best_distance &&
            same_way(list[i].change, found)) {
            best = &list[i];
            best_distance = distance;
        }
    }
    return best;
}

static struct store_change describe(const struct change_match *match,
                                    const struct detector_change *found)
{
    static const enum store_change_status statuses[] = {
        [DETECTOR_CANDIDATE] = STORE_STATUS_CANDIDATE,
        [DETECTOR_CONFIRMED] = STORE_STATUS_CONFIRMED,
        [DETECTOR_WITHDRAWN] = STORE_STATUS_WITHDRAWN,
        [DETECTOR_REVERTED] = STORE_STATUS_REVERTED};
    static const enum store_change_kind kinds[] = {[DETECTOR_CHANGE] = STORE_KIND_CHANGE,
                                                   [DETECTOR_BOUNDARY] = STORE_KIND_BOUNDARY,
                                                   [DETECTOR_PINNED] = STORE_KIND_PINNED};
    guint at = (guint)(found->at - match->first);
    return (struct store_change){.project_id = match->series->project->id,
                                 .series_id = match->series->id,
                                 .good_commit_id = at > 0 ? match->commits[at - 1]->id : 0,
                                 .bad_commit_id = match->commits[at]->id,
                                 .kind = kinds[found->kind],
                                 .status = statuses[found->status],
                                 .effect = found->effect,
                                 .low = found->low,
                                 .high = found->high,
                                 .before = found->before,
                                 .after = found->after,
                                 .p = found->p,
                                 .n_before = found->n_before,
                                 .n_after = found->n_after};
}

static bool is_same(const struct store_change *a, const struct store_change *b)
{
    return a->bad_commit_id == b->bad_commit_id && a->good_commit_id == b->good_commit_id &&
           a->kind == b->kind && a->status == b->status && a->n_before == b->n_before &&
           a->n_after == b->n_after && a->effect == b->effect && a->low == b->low &&
           a->high == b->high && a->before == b->before && a->after == b->after && a->p == b->p;
}

static bool is_open(const struct store_change *change)
{
    return change->triage == STORE_TRIAGE_OPEN || change->triage == STORE_TRIAGE_ACKNOWLEDGED;
}

static void update(const struct change_match *match, const struct store_change *kept,
                   struct store_change now, GArray *writes)
{
    now.id = kept->id;
    bool muted = kept->triage == STORE_TRIAGE_NOISE || now.kind == STORE_KIND_PINNED;
    bool turned = now.status != kept->status;
    struct store_change_write write = {
        .action = STORE_CHANGE_UPDATE, .machine_id = match->series->machine->id, .change = now};
    if (now.status == STORE_STATUS_CONFIRMED)
        write.tell = !muted && kept->told_ms == 0;
    else if (now.status != STORE_STATUS_CANDIDATE)
        write.tell = !muted && turned && kept->told_ms > 0;
    write.set_fixed = now.status == STORE_STATUS_REVERTED && turned && is_open(kept);
    if (write.tell || write.set_fixed || !is_same(kept, &now))
        g_array_append_val(writes, write);
}

static void add(const struct change_match *match, const struct store_change *now, GArray *writes)
{
    if (now->status == STORE_STATUS_WITHDRAWN)
        return;
    struct store_change_write write = {.action = STORE_CHANGE_ADD,
                                       .machine_id = match->series->machine->id,
                                       .change = *now,
                                       .tell = now->status == STORE_STATUS_CONFIRMED &&
                                               now->kind != STORE_KIND_PINNED};
    g_array_append_val(writes, write);
}

/* No place stands for it any more: a candidate that nobody spoke of goes, all else is withdrawn. */
static void withdraw(const struct change_match *match, const struct store_change *kept,
                     GArray *writes)
{
    struct store_change_write write = {.machine_id = match->series->machine->id, .change = *kept};
    write.change.note = write.change.who = NULL;
    if (kept->status == STORE_STATUS_CANDIDATE && kept->triage == STORE_TRIAGE_OPEN) {
        write.action = STORE_CHANGE_DROP;
        g_array_append_val(writes, write);
    } else if (kept->status != STORE_STATUS_WITHDRAWN) {
        write.action = STORE_CHANGE_UPDATE;
        write.change.status = STORE_STATUS_WITHDRAWN;
        write.tell = kept->told_ms > 0 && kept->triage != STORE_TRIAGE_NOISE;
        g_array_append_val(writes, write);
    }
}

/* Near ones first, so that a neighbour does not take another's identity. */
static const guint reaches[] = {0, DETECTOR_SAME_WITHIN, DETECTOR_ONE_WITHIN};

void change_match_run(const struct change_match *match, GArray *writes)
{
    g_autofree struct kept *list = lay_kept(match);
    g_autofree struct kept **of_found = g_new0(struct kept *, match->found->len + 1);
    for (guint r = 0; r < G_N_ELEMENTS(reaches); r++) {
        for (guint i = 0; i < match->found->len; i++) {
            if (of_found[i])
                continue;
            of_found[i] = find_kept(
                match, list, &g_array_index(match->found, struct detector_change, i), reaches[r]);
            if (of_found[i])
                of_found[i]->matched = true;
        }
    }
    for (guint i = 0; i < match->found->len; i++) {
        struct store_change now =
            describe(match, &g_array_index(match->found, struct detector_change, i));
        if (of_found[i])
            update(match, of_found[i]->change, now, writes);
        else
            add(match, &now, writes);
    }
    for (guint i = 0; i < match->kept->len; i++)
        if (list[i].in_reach && !list[i].matched)
            withdraw(match, list[i].change, writes);
}
