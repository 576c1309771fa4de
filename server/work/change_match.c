/* SPDX-License-Identifier: Apache-2.0
 * See change_match.h. The work thread runs it. */
#include "server/work/change_match.h"

#include "server/work/change_expectation.h"

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
        list[i].in_reach = (list[i].index > 0 || match->first == 0) &&
                           (list[i].index < match->n_commits || match->is_open) &&
                           (match->first + list[i].index >= match->held_from ||
                            change->status == STORE_STATUS_CANDIDATE);
    }
    return list;
}

static bool same_way(const struct store_change *kept, const struct detector_change *found)
{
    return found->kind == DETECTOR_PINNED ||
           (kept->triage == STORE_TRIAGE_EXPECTED && !kept->in_advance) ||
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
           a->high == b->high && a->before == b->before && a->after == b->after && a->p == b->p &&
           a->by_rule == b->by_rule && a->never_news == b->never_news &&
           a->in_advance == b->in_advance && g_strcmp0(a->expectation, b->expectation) == 0;
}

static bool is_open(const struct store_change *change)
{
    return change->triage == STORE_TRIAGE_OPEN || change->triage == STORE_TRIAGE_ACKNOWLEDGED;
}

/* ---- What is told
 * ------------------------------------------------------------------------------------------------
 */

/* What its commit expects of a change that is not told yet; `kept` NULL: it is new. Nobody is asked
 * once people have spoken of it. */
static void weigh_expectation(const struct change_match *match, const struct store_change *kept,
                              struct store_change_write *write)
{
    struct store_change *now = &write->change;
    bool covers, is_undecided = !kept || (kept->told_ms == 0 && kept->triaged_ms == 0);
    if (now->status != STORE_STATUS_CONFIRMED || now->kind != STORE_KIND_CHANGE ||
        !(is_undecided || now->in_advance))
        return;
    char *text = change_expectation_find(match->snapshot, match->series, now, &covers);
    if (text) {
        g_free(now->expectation);
        now->expectation = text;
    }
    if (covers == now->in_advance)
        return;
    now->in_advance = covers;
    now->triage = covers ? STORE_TRIAGE_EXPECTED : STORE_TRIAGE_OPEN;
    write->sets_triage = true;
}

static bool is_muted(const struct change_match *match)
{
    return match->series->rule.muted;
}

/* True where nobody is to be told of it, whatever becomes of it. */
static bool is_quiet(const struct change_match *match, const struct store_change *now)
{
    return is_muted(match) || now->never_news || now->in_advance ||
           now->triage == STORE_TRIAGE_NOISE || now->kind == STORE_KIND_PINNED;
}

/* What is found while nobody is told is no news later either: not when a series is heard again, nor
 * when a rule that came later finds it in the past. */
static void note_quiet(const struct change_match *match, int64_t told_ms, struct store_change *now)
{
    if (now->status == STORE_STATUS_CONFIRMED && told_ms == 0 && !now->in_advance &&
        (is_muted(match) || match->by_rule))
        now->never_news = true;
}

static void update(const struct change_match *match, const struct store_change *kept,
                   struct store_change now, GArray *writes)
{
    bool turned = now.status != kept->status;
    if (kept->kind == STORE_KIND_BOUNDARY && now.kind == STORE_KIND_CHANGE)
        now.kind = kept->kind; /* that the machine moved is not the detector's to know */
    struct store_change_write write = {
        .action = STORE_CHANGE_UPDATE, .machine_id = match->series->machine->id, .change = now};
    write.change.id = kept->id;
    write.change.triage = kept->triage;
    write.change.by_rule =
        turned ? match->by_rule && now.status == STORE_STATUS_WITHDRAWN : kept->by_rule;
    write.change.never_news = kept->never_news;
    write.change.expectation = g_strdup(kept->expectation);
    write.change.in_advance = kept->in_advance;
    weigh_expectation(match, kept, &write);
    note_quiet(match, kept->told_ms, &write.change);
    bool quiet = is_quiet(match, &write.change);
    if (now.status == STORE_STATUS_CONFIRMED)
        write.tell = !quiet && kept->told_ms == 0;
    else if (now.status != STORE_STATUS_CANDIDATE)
        write.tell = !quiet && turned && kept->told_ms > 0;
    if (now.status == STORE_STATUS_REVERTED && turned && is_open(kept)) {
        write.sets_triage = true;
        write.change.triage = STORE_TRIAGE_FIXED;
    }
    if (write.tell || write.sets_triage || !is_same(kept, &write.change))
        g_array_append_val(writes, write);
    else
        g_free(write.change.expectation);
}

static void add(const struct change_match *match, const struct store_change *now, GArray *writes)
{
    if (now->status == STORE_STATUS_WITHDRAWN)
        return;
    struct store_change_write write = {
        .action = STORE_CHANGE_ADD, .machine_id = match->series->machine->id, .change = *now};
    weigh_expectation(match, NULL, &write);
    note_quiet(match, 0, &write.change);
    write.tell = now->status == STORE_STATUS_CONFIRMED && !is_quiet(match, &write.change);
    g_array_append_val(writes, write);
}

/* No place stands for it any more: a candidate that nobody spoke of and nobody was told of goes,
 * all else is withdrawn. */
static void withdraw(const struct change_match *match, const struct store_change *kept,
                     GArray *writes)
{
    struct store_change_write write = {.machine_id = match->series->machine->id, .change = *kept};
    write.change.note = write.change.who = NULL;
    write.change.expectation = g_strdup(kept->expectation);
    if (kept->status == STORE_STATUS_CANDIDATE && kept->triage == STORE_TRIAGE_OPEN &&
        kept->told_ms == 0) {
        write.action = STORE_CHANGE_DROP;
        g_array_append_val(writes, write);
    } else if (kept->status != STORE_STATUS_WITHDRAWN) {
        write.action = STORE_CHANGE_UPDATE;
        write.change.status = STORE_STATUS_WITHDRAWN;
        write.change.by_rule = match->by_rule;
        write.tell = kept->told_ms > 0 && !is_quiet(match, kept);
        g_array_append_val(writes, write);
    } else {
        g_free(write.change.expectation);
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
