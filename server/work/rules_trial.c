/* SPDX-License-Identifier: Apache-2.0
 * See rules_trial.h. The thread of whoever asks. */
#include "server/work/rules_trial.h"

#include "server/analysis/level_shift.h"
#include "server/work/change_expectation.h"
#include "server/work/series_judge.h"
#include <math.h>

#define SERIES_AT_ONCE 256u /* that rules are resolved for while a writer may wait */

const char *rules_trial_what_name(enum rules_trial_what what)
{
    static const char *const names[] = {"added", "gone", "turned", "same"};
    return names[what];
}

void rules_trial_free(RulesTrial *trial)
{
    if (!trial)
        return;
    g_array_unref(trial->rows);
    g_array_unref(trial->series);
    g_free(trial);
}

struct trial {
    const struct rules_trial_request *request;
    RulesTrial *result;
    struct level_shift_table *table;
    guint values_left;
};

/* A series under one of the two lists of rules. */
struct side {
    struct rule_settings rule;
    enum better better;
    GArray *told; /* struct rules_trial_row: what it tells in the commits looked at */
};

/* ---- What one side tells
 * ---------------------------------------------------------------------------------------
 */

static int direction_of(enum better better, double effect)
{
    if (better == BETTER_UNKNOWN)
        return 0;
    return (effect > 0) == (better == BETTER_HIGHER) ? 1 : -1;
}

/* A change is told where it is news, nobody called it noise or fixed it there, and its commit does
 * not expect it. */
static void take_event(StoreSnapshot *snapshot, const struct store_series *series,
                       const GPtrArray *commits, const struct detector_event *event,
                       struct side *side)
{
    const struct detector_change *found = &event->change;
    const struct store_commit *bad = commits->pdata[found->told_at];
    struct store_change change = {
        .bad_commit_id = bad->id, .effect = found->effect, .low = found->low, .high = found->high};
    if (found->told_at > 0)
        change.good_commit_id =
            ((const struct store_commit *)commits->pdata[found->told_at - 1])->id;
    bool covers = false;
    g_free(change_expectation_find(snapshot, series, &change, &covers));
    if (covers)
        return;
    const struct store_commit *told = commits->pdata[found->raised_at];
    struct rules_trial_row row = {.series_id = series->id,
                                  .good_commit_id = change.good_commit_id,
                                  .bad_commit_id = bad->id,
                                  .told_commit_id = told->id,
                                  .index = (guint)found->told_at,
                                  .is_boundary = found->kind == DETECTOR_BOUNDARY,
                                  .effect = found->effect,
                                  .low = found->low,
                                  .high = found->high,
                                  .verdict_now = direction_of(side->better, found->effect)};
    g_array_append_val(side->told, row);
}

static void take_told(const struct trial *trial, StoreSnapshot *snapshot,
                      const struct store_series *series, const GPtrArray *commits,
                      const GArray *events, struct side *side)
{
    guint n_commits = series->project->commits->len;
    guint first = n_commits - MIN(n_commits, trial->request->commits);
    for (guint i = 0; i < events->len && !side->rule.muted; i++) {
        const struct detector_event *event = &g_array_index(events, struct detector_event, i);
        const struct store_commit *raised =
            event->change.raised_at < commits->len ? commits->pdata[event->change.raised_at] : NULL;
        if (event->news == DETECTOR_NEWS_CONFIRMED && event->change.kind != DETECTOR_PINNED &&
            raised && raised->position >= first)
            take_event(snapshot, series, commits, event, side);
    }
}

/* ---- Both sides beside each other
 * ------------------------------------------------------------------------------
 */

/* Two tell the same where their places are close and they go one way. */
static bool is_same(const struct rules_trial_row *a, const struct rules_trial_row *b)
{
    guint distance = a->index > b->index ? a->index - b->index : b->index - a->index;
    return distance <= DETECTOR_SAME_WITHIN && (a->effect > 0) == (b->effect > 0);
}

static void count(RulesTrial *result, struct rules_trial_series *series, struct rules_trial_row row,
                  enum rules_trial_what what)
{
    row.what = what;
    series->counts[what]++;
    result->counts[what]++;
    if (what != RULES_TRIAL_SAME)
        g_array_append_val(result->rows, row);
}

static void compare_sides(const struct store_series *line, struct side sides[2], RulesTrial *result)
{
    struct rules_trial_series series = {.series_id = line->id};
    for (guint i = 0; i < sides[1].told->len; i++) {
        struct rules_trial_row row = g_array_index(sides[1].told, struct rules_trial_row, i);
        guint k = 0;
        while (k < sides[0].told->len &&
               !is_same(&g_array_index(sides[0].told, struct rules_trial_row, k), &row))
            k++;
        row.verdict_then = row.verdict_now;
        if (k == sides[0].told->len) {
            row.verdict_now = direction_of(sides[0].better, row.effect);
            count(result, &series, row, RULES_TRIAL_ADDED);
            continue;
        }
        row.verdict_now = g_array_index(sides[0].told, struct rules_trial_row, k).verdict_now;
        g_array_remove_index(sides[0].told, k);
        count(result, &series, row,
              row.verdict_now == row.verdict_then ? RULES_TRIAL_SAME : RULES_TRIAL_TURNED);
    }
    for (guint k = 0; k < sides[0].told->len; k++) {
        struct rules_trial_row row = g_array_index(sides[0].told, struct rules_trial_row, k);
        row.verdict_then = direction_of(sides[1].better, row.effect);
        count(result, &series, row, RULES_TRIAL_GONE);
    }
    g_array_append_val(result->series, series);
}

/* ---- A series
 * --------------------------------------------------------------------------------------------------
 */

static struct detector_settings detector_of(const struct trial *trial, const struct side *side)
{
    return (struct detector_settings){.least_effect_ratio = side->rule.least_effect,
                                      .least_effect_absolute = side->rule.least_effect_absolute,
                                      .table = trial->table};
}

static bool try_series(struct trial *trial, StoreSnapshot *snapshot,
                       const struct store_series *series, struct side sides[2], GError **error)
{
    struct store_judgement *scratch = store_judgement_new();
    const struct series_judge judge = {.snapshot = snapshot, .judgement = scratch};
    g_autoptr(GPtrArray) commits = g_ptr_array_new();
    struct series_rehearsal rehearsals[2];
    for (guint i = 0; i < 2; i++)
        rehearsals[i] = (struct series_rehearsal){
            .settings = detector_of(trial, &sides[i]),
            .events = g_array_new(FALSE, FALSE, sizeof(struct detector_event))};
    bool fine = series_judge_rehearse(&judge, series, rehearsals, commits, error);
    for (guint i = 0; i < 2; i++) {
        sides[i].told = g_array_new(FALSE, FALSE, sizeof(struct rules_trial_row));
        if (fine)
            take_told(trial, snapshot, series, commits, rehearsals[i].events, &sides[i]);
        g_array_unref(rehearsals[i].events);
    }
    if (fine)
        compare_sides(series, sides, trial->result);
    for (guint i = 0; i < 2; i++)
        g_array_unref(sides[i].told);
    store_judgement_free(scratch);
    trial->values_left -= MIN(trial->values_left, commits->len);
    trial->result->n_tried++;
    return fine;
}

/* False where it is judged as before. The side tried takes its direction from its rule, or from
 * what the metric said of itself, which is what readers see where no present rule speaks of it. */
static bool sides_of(const struct trial *trial, const struct store_series *series,
                     struct side sides[2])
{
    const struct series_names names = store_series_names(series);
    sides[0] = (struct side){.rule = series->rule, .better = series->better};
    sides[1] = (struct side){.rule = rules_resolve(trial->request->rules, &names)};
    sides[1].better = sides[1].rule.has_better ? sides[1].rule.better : series->measured_better;
    return !rule_settings_equal(&sides[0].rule, &sides[1].rule) && series->n_points > 0;
}

/* The series with this id, in a snapshot of its own: writes need not wait for more than one. */
static bool try_id(struct trial *trial, StoreReader *reader, int64_t id, GError **error)
{
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(reader, error);
    if (!snapshot)
        return false;
    const struct store_series *series = store_series_by_id(snapshot, id);
    struct side sides[2];
    return !series || !sides_of(trial, series, sides) ||
           try_series(trial, snapshot, series, sides, error);
}

/* ---- The whole
 * -------------------------------------------------------------------------------------------------
 */

/* Looks at some series from `*inout_next` on, in a snapshot of their own. False with an error. */
static bool find_some(struct trial *trial, StoreReader *reader, guint *inout_next, GArray *ids,
                      GError **error)
{
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(reader, error);
    const struct store_project *project =
        snapshot ? store_project_find(snapshot, trial->request->project) : NULL;
    if (snapshot && !project)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "no project is named \"%s\"",
                    trial->request->project);
    if (!project)
        return false;
    guint n = project->series->len, end = MIN(n, *inout_next + SERIES_AT_ONCE);
    trial->result->commits = MIN(trial->request->commits, project->commits->len);
    for (guint i = *inout_next; i < end; i++) {
        const struct store_series *series = project->series->pdata[i];
        struct side sides[2];
        if (sides_of(trial, series, sides))
            g_array_append_val(ids, series->id);
    }
    *inout_next = end < n ? end : G_MAXUINT;
    return true;
}

/* Ids of the series that the rules judge otherwise. */
static GArray *find_touched(struct trial *trial, StoreReader *reader, GError **error)
{
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint next = 0; next != G_MAXUINT;)
        if (!find_some(trial, reader, &next, ids, error))
            return NULL;
    return g_steal_pointer(&ids);
}

static int compare_rows(gconstpointer a, gconstpointer b)
{
    const struct rules_trial_row *left = a, *right = b;
    double left_size = fabs(left->effect), right_size = fabs(right->effect);
    if (left->what != right->what)
        return left->what < right->what ? -1 : 1;
    if (left_size != right_size)
        return left_size > right_size ? -1 : 1;
    return (left->series_id > right->series_id) - (left->series_id < right->series_id);
}

static guint differences(const struct rules_trial_series *series)
{
    return series->counts[RULES_TRIAL_ADDED] + series->counts[RULES_TRIAL_GONE] +
           series->counts[RULES_TRIAL_TURNED];
}

static int compare_series(gconstpointer a, gconstpointer b)
{
    const struct rules_trial_series *left = a, *right = b;
    if (differences(left) != differences(right))
        return differences(left) > differences(right) ? -1 : 1;
    return (left->series_id > right->series_id) - (left->series_id < right->series_id);
}

RulesTrial *rules_trial_run(StoreReader *reader, const struct rules_trial_request *request,
                            GError **error)
{
    g_autoptr(RulesTrial) result = g_new0(RulesTrial, 1);
    result->rows = g_array_new(FALSE, FALSE, sizeof(struct rules_trial_row));
    result->series = g_array_new(FALSE, FALSE, sizeof(struct rules_trial_series));
    struct trial trial = {.request = request, .result = result, .values_left = request->values_max};
    g_autoptr(GArray) ids = find_touched(&trial, reader, error);
    if (!ids)
        return NULL;
    g_autofree struct level_shift_table *table = g_new(struct level_shift_table, 1);
    level_shift_prepare(table);
    trial.table = table;
    result->n_touched = ids->len;
    for (guint i = 0; i < ids->len && trial.values_left > 0; i++)
        if (!try_id(&trial, reader, g_array_index(ids, int64_t, i), error))
            return NULL;
    result->is_cut = result->n_tried < result->n_touched;
    g_array_sort(result->rows, compare_rows);
    g_array_sort(result->series, compare_series);
    if (result->rows->len > RULES_TRIAL_ROWS_MAX)
        g_array_set_size(result->rows, RULES_TRIAL_ROWS_MAX);
    return g_steal_pointer(&result);
}
