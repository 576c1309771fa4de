/* SPDX-License-Identifier: Apache-2.0
 * See comparison.h. The thread of whoever compares. */
#include "server/work/comparison.h"

#include "server/work/comparison_base.h"
#include "server/work/comparison_cells.h"
#include "server/work/comparison_means.h"
#include "server/work/comparison_side.h"
#include "server/work/comparison_warn.h"
#include "server/work/series_judge.h"
#include <math.h>
#include <string.h>

#define CHANGES_MAX 100000u /* of a project that are looked at */

const char *comparison_verdict_name(enum comparison_verdict verdict)
{
    static const char *const names[COMPARISON_VERDICTS] = {
        "regressed", "improved", "unsure", "new", "missing", "unchanged", "muted", NULL};
    return names[verdict];
}

void comparison_free(Comparison *comparison)
{
    if (!comparison)
        return;
    g_free(comparison->base.branch);
    g_free(comparison->head.branch);
    g_clear_pointer(&comparison->base_runs, g_ptr_array_unref);
    g_clear_pointer(&comparison->head_runs, g_ptr_array_unref);
    g_array_unref(comparison->rows);
    g_array_unref(comparison->means);
    g_ptr_array_unref(comparison->warnings);
    g_free(comparison);
}

/* A place in the history that stays where it is when older commits come to be known. */
struct place {
    const struct store_commit *commit;
    bool is_before; /* what held before it */
};

static guint position_of(const struct place *place)
{
    guint position = place->commit->position;
    return place->is_before && position > 0 ? position - 1 : position;
}

/* What all rows look at. */
struct sides {
    StoreSnapshot *snapshot;
    struct place base_at;
    bool is_across;
    GHashTable *base_cells, *head_cells; /* where is_across: the machines' series by their case */
    GArray *levels;                      /* struct store_level by series id */
    bool base_is_judged, head_is_judged; /* it is part of the judged history */
    const struct store_commit *head_commit;
    GHashTable *base, *head; /* struct commit_point * by series */
    GHashTable *changes;     /* GPtrArray of struct store_change * by series id */
    GPtrArray *owned_changes;
};

static void sides_clear(struct sides *sides)
{
    g_clear_pointer(&sides->base, g_hash_table_unref);
    g_clear_pointer(&sides->head, g_hash_table_unref);
    g_clear_pointer(&sides->levels, g_array_unref);
    g_clear_pointer(&sides->base_cells, g_hash_table_unref);
    g_clear_pointer(&sides->head_cells, g_hash_table_unref);
    g_clear_pointer(&sides->changes, g_hash_table_unref);
    g_clear_pointer(&sides->owned_changes, g_ptr_array_unref);
}

/* ---- Levels
 * ----------------------------------------------------------------------------------------------------
 */

static void free_list(gpointer list)
{
    g_ptr_array_unref(list);
}

static bool read_changes(struct sides *sides, const struct store_project *project, GError **error)
{
    sides->owned_changes =
        store_project_changes(sides->snapshot, project->id, 0, CHANGES_MAX, error);
    sides->changes = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_list);
    for (guint i = 0; sides->owned_changes && i < sides->owned_changes->len; i++) {
        struct store_change *change = sides->owned_changes->pdata[i];
        if (change->status != STORE_STATUS_CONFIRMED && change->status != STORE_STATUS_REVERTED)
            continue;
        GPtrArray *list = g_hash_table_lookup(sides->changes, &change->series_id);
        if (!list) {
            list = g_ptr_array_new();
            g_hash_table_insert(sides->changes, &change->series_id, list);
        }
        g_ptr_array_add(list, change);
    }
    return sides->owned_changes != NULL;
}

/* The change at the least (or, with `last`, the greatest) position in (after, until]. */
static const struct store_change *find_change(const struct sides *sides, int64_t series_id,
                                              guint after, guint until, bool last)
{
    const GPtrArray *list = g_hash_table_lookup(sides->changes, &series_id);
    const struct store_change *best = NULL;
    guint best_position = 0;
    for (guint i = 0; list && i < list->len; i++) {
        const struct store_change *change = list->pdata[i];
        const struct store_commit *bad = store_commit_by_id(sides->snapshot, change->bad_commit_id);
        if (!bad || bad->position <= after || bad->position > until)
            continue;
        if (!best || (bad->position > best_position) == last) {
            best = change;
            best_position = bad->position;
        }
    }
    return best;
}

/* The level that held at a position, from what is stored of the series. */
static struct comparison_value level_at(const struct sides *sides, const struct store_level *level,
                                        guint position)
{
    struct comparison_value closed;
    if (comparison_closed_level(sides->snapshot, level, position, &closed))
        return closed;
    const struct store_change *next =
        find_change(sides, level->series_id, position, G_MAXUINT, false);
    struct comparison_value value = {.noise = level->noise};
    if (next) {
        value.level = next->before;
        value.n = next->n_before;
    } else if (!sides->is_across && level->last_commit_id == sides->head_commit->id) {
        value =
            (struct comparison_value){false, level->base_level, level->base_noise, level->base_n};
    } else {
        value.level = level->level;
        value.n = level->n;
    }
    value.known = value.n > 0;
    return value;
}

static bool began_before(const struct sides *sides, const struct store_level *level, guint position)
{
    const struct store_commit *first = store_commit_by_id(sides->snapshot, level->first_commit_id);
    return first && first->position <= position;
}

/* ---- Rows
 * ------------------------------------------------------------------------------------------------------
 */

static struct comparison_value value_of_point(const struct commit_point *point, double noise)
{
    return (struct comparison_value){
        .known = true, .level = point->center, .noise = noise, .n = point->n_runs};
}

/* The stored level of a series, or NULL: it was never judged. */
static const struct store_level *find_level(const struct sides *sides,
                                            const struct store_series *series)
{
    guint low = 0, high = sides->levels->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(sides->levels, struct store_level, middle).series_id < series->id)
            low = middle + 1;
        else
            high = middle;
    }
    const struct store_level *level =
        low < sides->levels->len ? &g_array_index(sides->levels, struct store_level, low) : NULL;
    return level && level->series_id == series->id ? level : NULL;
}

static void fill_base(const struct sides *sides, struct comparison_row *row)
{
    guint position = position_of(&sides->base_at);
    const struct store_level *level = find_level(sides, row->base_series);
    row->is_judged = level != NULL;
    if (level) {
        row->judged_commits = level->n_commits;
        row->judged_ms = level->judged_ms;
        if (sides->base_is_judged && began_before(sides, level, position))
            row->base = level_at(sides, level, position);
    }
    const struct commit_point *point = g_hash_table_lookup(sides->base, row->base_series);
    if (!row->base.known && point)
        row->base = value_of_point(point, level && !sides->base_is_judged ? level->noise : 0);
}

/* Of another machine than the base's: what held there, with its own noise. */
static void fill_head_across(const struct sides *sides, struct comparison_row *row)
{
    guint position = sides->head_commit->position;
    const struct commit_point *point = g_hash_table_lookup(sides->head, row->series);
    if (!point)
        return;
    const struct store_level *level = find_level(sides, row->series);
    row->disturbed = point->flagged || point->censored;
    if (level && sides->head_is_judged && began_before(sides, level, position))
        row->head = level_at(sides, level, position);
    if (!row->head.known)
        row->head = value_of_point(point, level ? level->noise : 0);
}

static void fill_head(const struct sides *sides, struct comparison_row *row)
{
    const struct commit_point *point = g_hash_table_lookup(sides->head, row->series);
    if (!point)
        return;
    row->head = value_of_point(point, row->base.noise);
    row->disturbed = point->flagged || point->censored;
    const struct store_change *between =
        sides->head_is_judged ? find_change(sides, row->series->id, position_of(&sides->base_at),
                                            sides->head_commit->position, true)
                              : NULL;
    if (!between)
        return;
    row->change_id = between->id;
    if (between->n_after > row->head.n && row->base.noise > 0) {
        row->head.level = between->after;
        row->head.n = between->n_after;
    }
}

static void add_row(const struct sides *sides, const struct store_series *series,
                    const struct store_series *base_series, GArray *rows)
{
    struct comparison_row row = {
        .series = series, .base_series = base_series, .verdict = COMPARISON_NONE};
    if (base_series)
        fill_base(sides, &row);
    if (sides->is_across && series != base_series)
        fill_head_across(sides, &row);
    else if (!sides->is_across)
        fill_head(sides, &row);
    row.has_result = row.base.known && row.head.known;
    if (!row.base.known)
        row.verdict = COMPARISON_NEW;
    else if (!row.head.known)
        row.verdict = COMPARISON_MISSING;
    g_array_append_val(rows, row);
}

/* The series of the same case on the other machine, where that side has it. */
static const struct store_series *counterpart(GHashTable *cells, GHashTable *side,
                                              const struct store_series *series)
{
    const struct store_series *found = comparison_cells_find(cells, series);
    return found && g_hash_table_contains(side, found) ? found : NULL;
}

/* A case of the head's machine beside that of the base's, or one that the base alone has. */
static void add_row_across(const struct sides *sides, const struct store_series *series,
                           GArray *rows)
{
    if (g_hash_table_contains(sides->head, series))
        add_row(sides, series, counterpart(sides->base_cells, sides->base, series), rows);
    else if (!counterpart(sides->head_cells, sides->head, series))
        add_row(sides, series, series, rows);
}

static bool is_wanted(const struct sides *sides, const Comparison *comparison,
                      const struct store_series *series)
{
    return !comparison->filter ||
           store_filter_takes_series(sides->snapshot, comparison->filter, series);
}

/* Between two rows writers go first: the series are those that there are now. */
static bool add_rows(struct sides *sides, const Comparison *comparison, GError **error)
{
    g_autoptr(GPtrArray) all = comparison_cells_list(comparison->project, sides->head, sides->base);
    sides->levels = store_series_levels(sides->snapshot, all, error);
    if (!sides->levels)
        return false;
    for (guint i = 0; i < all->len; i++) {
        const struct store_series *series = all->pdata[i];
        if (!store_snapshot_give_way(sides->snapshot, error))
            return false;
        if (!is_wanted(sides, comparison, series))
            continue;
        if (sides->is_across)
            add_row_across(sides, series, comparison->rows);
        else
            add_row(sides, series, series, comparison->rows);
    }
    return true;
}

static enum comparison_verdict verdict_of(const struct comparison_row *row)
{
    static const enum comparison_verdict verdicts[] = {[VERDICT_UNCHANGED] = COMPARISON_UNCHANGED,
                                                       [VERDICT_IMPROVED] = COMPARISON_IMPROVED,
                                                       [VERDICT_REGRESSED] = COMPARISON_REGRESSED,
                                                       [VERDICT_MOVED] = COMPARISON_NONE,
                                                       [VERDICT_UNSURE] = COMPARISON_UNSURE};
    if (row->series->rule.muted)
        return COMPARISON_MUTED;
    if (row->series->better == BETTER_UNKNOWN)
        return COMPARISON_NONE;
    return row->disturbed ? COMPARISON_UNSURE : verdicts[row->result.verdict];
}

static bool is_judgeable(const struct comparison_row *row)
{
    return row->has_result && row->base.noise > 0;
}

double comparison_least_effect(const struct comparison_row *row)
{
    const struct rule_settings *rule = &row->series->rule;
    double level = row->base.known ? fabs(row->base.level) : 0;
    return fmax(rule->least_effect, level > 0 ? rule->least_effect_absolute / level : 0);
}

static struct verdict_input input_of(const struct comparison_row *row)
{
    const struct rule_settings *rule = &row->series->rule;
    enum better better = row->series->better;
    return (struct verdict_input){.base = {row->base.level, row->base.noise, row->base.n},
                                  .head = {row->head.level, row->head.noise, row->head.n},
                                  .least_effect_ratio = rule->least_effect,
                                  .least_effect_absolute = rule->least_effect_absolute,
                                  .better = better == BETTER_HIGHER  ? 1
                                            : better == BETTER_LOWER ? -1
                                                                     : 0};
}

static void leave_unsure(struct comparison_row *row)
{
    double base = row->base.level, size = fabs(base);
    row->result =
        (struct verdict_result){.verdict = VERDICT_UNSURE,
                                .effect = size > 0 ? (row->head.level - base) / size : (double)NAN,
                                .low = (double)NAN,
                                .high = (double)NAN,
                                .p = (double)NAN,
                                .detectable = (double)NAN};
    row->verdict = verdict_of(row);
}

/* Together: of those that are muted, and of those that are not. What nobody is told takes no share
 * of the differences that may be told wrongly. */
static void judge_rows(GArray *rows, bool muted)
{
    g_autoptr(GArray) inputs = g_array_new(FALSE, FALSE, sizeof(struct verdict_input));
    for (guint i = 0; i < rows->len; i++) {
        const struct comparison_row *row = &g_array_index(rows, struct comparison_row, i);
        struct verdict_input input = input_of(row);
        if (is_judgeable(row) && row->series->rule.muted == muted)
            g_array_append_val(inputs, input);
    }
    g_autofree struct verdict_result *results = g_new0(struct verdict_result, inputs->len + 1);
    verdict_judge((const struct verdict_input *)(const void *)inputs->data, inputs->len,
                  VERDICT_RATE_DEFAULT, results);
    for (guint i = 0, next = 0; i < rows->len; i++) {
        struct comparison_row *row = &g_array_index(rows, struct comparison_row, i);
        if (row->series->rule.muted != muted)
            continue;
        if (is_judgeable(row)) {
            row->result = results[next++];
            row->verdict = verdict_of(row);
        } else if (row->has_result) {
            leave_unsure(row);
        }
    }
}

static void judge(GArray *rows)
{
    judge_rows(rows, false);
    judge_rows(rows, true);
}

static double size_of(const struct comparison_row *row)
{
    return isfinite(row->result.effect) ? fabs(log1p(fmax(row->result.effect, -0.999))) : 0;
}

static int compare_rows(gconstpointer a, gconstpointer b)
{
    const struct comparison_row *left = a, *right = b;
    if (left->verdict != right->verdict)
        return left->verdict < right->verdict ? -1 : 1;
    double left_size = size_of(left), right_size = size_of(right);
    if (left_size != right_size)
        return left_size > right_size ? -1 : 1;
    return (left->series->id > right->series->id) - (left->series->id < right->series->id);
}

/* ---- The whole
 * -------------------------------------------------------------------------------------------------
 */

/* Of which machine alone a side tells; NULL: of all. */
static const struct store_machine *machine_of(const struct comparison_side *side)
{
    return side->machine ? side->machine : side->run ? side->run->machine : NULL;
}

static Comparison *comparison_alloc(const struct store_project *project)
{
    Comparison *comparison = g_new0(Comparison, 1);
    comparison->project = project;
    comparison->rows = g_array_new(FALSE, FALSE, sizeof(struct comparison_row));
    comparison->means = g_array_new(FALSE, FALSE, sizeof(struct comparison_mean));
    comparison->warnings = g_ptr_array_new_with_free_func(g_free);
    return comparison;
}

static bool any_judged(const GPtrArray *runs, const char *branch)
{
    for (guint i = 0; i < runs->len; i++)
        if (series_judge_takes(runs->pdata[i], branch))
            return true;
    return false;
}

/* Compares with what held at a place. Takes the base. */
static bool compare(StoreSnapshot *snapshot, Comparison *comparison, struct place base_at,
                    struct comparison_base *base, GPtrArray *head_runs, GError **error)
{
    const struct store_project *project = comparison->project;
    const char *branch = series_judge_branch(project);
    GPtrArray *base_runs = comparison->base_runs = g_steal_pointer(&base->runs);
    comparison->head_runs = g_ptr_array_ref(head_runs);
    comparison->measured = base->measured;
    comparison->n_behind = base->n_behind;
    comparison->is_base_proven = base->is_proven;
    struct sides sides = {.snapshot = snapshot,
                          .base_at = base_at,
                          .is_across = comparison->is_across,
                          .head_commit = comparison->head.commit,
                          .base_is_judged = base_runs->len == 0 || any_judged(base_runs, branch),
                          .head_is_judged = any_judged(head_runs, branch)};
    sides.base = comparison_points(snapshot, base_runs, error);
    sides.head = sides.base ? comparison_points(snapshot, head_runs, error) : NULL;
    if (comparison->is_across) {
        sides.base_cells = comparison_cells_new(project, machine_of(&comparison->base));
        sides.head_cells = comparison_cells_new(project, machine_of(&comparison->head));
    }
    bool fine =
        sides.head && read_changes(&sides, project, error) && add_rows(&sides, comparison, error);
    if (fine) {
        judge(comparison->rows);
        comparison_means_add(comparison);
        g_array_sort(comparison->rows, compare_rows);
        for (guint i = 0; i < comparison->rows->len; i++)
            comparison->counts[g_array_index(comparison->rows, struct comparison_row, i).verdict]++;
        comparison_warn(comparison, base_runs, head_runs);
    }
    sides_clear(&sides);
    return fine;
}

static GHashTable *machines_of(const GPtrArray *runs)
{
    GHashTable *machines = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < runs->len; i++)
        g_hash_table_add(machines, ((const struct store_run *)runs->pdata[i])->machine);
    return machines;
}

/* Where the base's history and the head's part. A head that the base holds already is compared with
 * the base itself. */
static const struct store_commit *compared_with(Comparison *comparison)
{
    const struct store_commit *base = comparison->base.commit, *head = comparison->head.commit;
    const struct store_commit *merge = comparison_merge_base(base, head);
    if (comparison->is_across || comparison->base.run || !merge || merge == base || merge == head)
        return base;
    comparison->merge_base = merge;
    return merge;
}

static GHashTable *set_of(const struct store_machine *machine)
{
    GHashTable *machines = g_hash_table_new(NULL, NULL);
    g_hash_table_add(machines, (gpointer)(guintptr)machine);
    return machines;
}

/* The sides, and whether they are of two machines. */
static bool find_sides(StoreSnapshot *snapshot, const struct comparison_request *request,
                       Comparison *comparison, GError **error)
{
    struct comparison_side *base = &comparison->base, *head = &comparison->head;
    if (!comparison_side_find(snapshot, request->project, "base", request->base, base, error) ||
        !comparison_side_find(snapshot, request->project, "head", request->head, head, error))
        return false;
    if (machine_of(base) && !machine_of(head))
        head->machine = machine_of(base);
    comparison->is_across =
        machine_of(base) && machine_of(head) && machine_of(base) != machine_of(head);
    comparison_sides_meet(base, head);
    return true;
}

/* Which machine the head is asked for; NULL: all, or the error is set. */
static const struct store_machine *wanted_machine(StoreSnapshot *snapshot, const char *name,
                                                  const Comparison *comparison, GError **error)
{
    const struct store_machine *named = machine_of(&comparison->head);
    const struct store_machine *machine = name ? store_machine_find(snapshot, name) : named;
    if (name && !machine) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "machine: no machine is called \"%s\"; GET /api/machines lists them", name);
    } else if (comparison->head.machine && machine != named) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "machine: \"%s\" is asked for, and the sides name \"%s\"", name, named->name);
        machine = NULL;
    }
    return machine;
}

Comparison *comparison_new(StoreSnapshot *snapshot, const struct comparison_request *request,
                           GError **error)
{
    g_autoptr(Comparison) comparison = comparison_alloc(request->project);
    comparison->filter = request->filter;
    if (!find_sides(snapshot, request, comparison, error))
        return NULL;
    GError *fault = NULL;
    const struct store_machine *machine =
        wanted_machine(snapshot, request->machine, comparison, &fault);
    if (fault) {
        g_propagate_error(error, fault);
        return NULL;
    }
    g_autoptr(GHashTable) wanted = machine ? set_of(machine) : NULL;
    g_autoptr(GPtrArray) head_runs = comparison_head_runs(&comparison->head, wanted);
    g_autoptr(GHashTable) machines =
        comparison->is_across ? set_of(machine_of(&comparison->base)) : machines_of(head_runs);
    const struct store_commit *with = compared_with(comparison);
    struct comparison_base base;
    if (comparison->base.run)
        base = (struct comparison_base){comparison_head_runs(&comparison->base, machines), with, 0,
                                        true};
    else
        comparison_base_find(with, machines, &base);
    struct place at = {with, false};
    return compare(snapshot, comparison, at, &base, head_runs, error) ? g_steal_pointer(&comparison)
                                                                      : NULL;
}

Comparison *comparison_of_run(StoreSnapshot *snapshot, const struct store_run *run, GError **error)
{
    g_autoptr(Comparison) comparison = comparison_alloc(run->project);
    comparison->head = (struct comparison_side){.run = run, .commit = run->commit};
    g_autoptr(GPtrArray) head_runs = comparison_head_runs(&comparison->head, NULL);
    g_autoptr(GHashTable) machines = machines_of(head_runs);
    bool is_judged = series_judge_takes(run, series_judge_branch(run->project));
    const struct store_commit *left = is_judged ? NULL : comparison_base_left_at(run);
    struct comparison_base base;
    if (left)
        comparison_base_find(left, machines, &base);
    else
        comparison_base_before(run, machines, &base);
    comparison->merge_base = left;
    comparison->base.commit = base.measured;
    struct place at = {left ? left : run->commit, left == NULL};
    return compare(snapshot, comparison, at, &base, head_runs, error) ? g_steal_pointer(&comparison)
                                                                      : NULL;
}

char *comparison_sentence(const Comparison *comparison)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < COMPARISON_NONE; i++) {
        if (comparison->counts[i] > 0)
            g_string_append_printf(text, "%s%u %s", text->len > 0 ? ", " : "",
                                   comparison->counts[i],
                                   comparison_verdict_name((enum comparison_verdict)i));
    }
    if (text->len == 0)
        g_string_append(text, "nothing to compare");
    if (comparison->counts[COMPARISON_REGRESSED] + comparison->counts[COMPARISON_IMPROVED] > 0) {
        const struct comparison_row *worst =
            &g_array_index(comparison->rows, struct comparison_row, 0);
        g_string_append_printf(text, "; most: %s %s %s by %+.1f %%", worst->series->benchmark->name,
                               worst->series->metric,
                               worst->verdict == COMPARISON_REGRESSED ? "regressed" : "improved",
                               100 * worst->result.effect);
    }
    g_autofree char *against = comparison_base_words(comparison);
    if (against)
        g_string_append_printf(text, "; %s", against);
    return g_string_free(text, FALSE);
}
