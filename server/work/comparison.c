/* SPDX-License-Identifier: Apache-2.0
 * See comparison.h. The thread of whoever compares. */
#include "server/work/comparison.h"

#include "server/work/comparison_base.h"
#include "server/work/comparison_side.h"
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
    g_array_unref(comparison->rows);
    g_array_unref(comparison->means);
    g_ptr_array_unref(comparison->warnings);
    g_free(comparison);
}

/* What all rows look at. */
struct sides {
    StoreSnapshot *snapshot;
    guint base_position, head_position;
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

/* The level that held at the base, from what is stored of the series. */
static struct comparison_value level_at_base(const struct sides *sides,
                                             const struct store_level *level)
{
    struct comparison_value closed;
    if (comparison_closed_level(sides->snapshot, level, sides->base_position, &closed))
        return closed;
    const struct store_change *next =
        find_change(sides, level->series_id, sides->base_position, G_MAXUINT, false);
    struct comparison_value value = {.noise = level->noise};
    if (next) {
        value.level = next->before;
        value.n = next->n_before;
    } else if (level->last_commit_id == sides->head_commit->id) {
        value =
            (struct comparison_value){false, level->base_level, level->base_noise, level->base_n};
    } else {
        value.level = level->level;
        value.n = level->n;
    }
    value.known = value.n > 0;
    return value;
}

static bool began_before(const struct sides *sides, const struct store_level *level)
{
    const struct store_commit *first = store_commit_by_id(sides->snapshot, level->first_commit_id);
    return first && first->position <= sides->base_position;
}

/* ---- Rows
 * ------------------------------------------------------------------------------------------------------
 */

static struct comparison_value value_of_point(const struct commit_point *point, double noise)
{
    return (struct comparison_value){
        .known = true, .level = point->center, .noise = noise, .n = point->n_runs};
}

static void fill_base(const struct sides *sides, struct comparison_row *row)
{
    struct store_level level;
    bool found = false;
    if (!store_series_level(sides->snapshot, row->series->id, &level, &found, NULL))
        found = false;
    row->is_judged = found;
    if (found) {
        row->judged_commits = level.n_commits;
        row->judged_ms = level.judged_ms;
        if (sides->base_is_judged && began_before(sides, &level))
            row->base = level_at_base(sides, &level);
    }
    const struct commit_point *point = g_hash_table_lookup(sides->base, row->series);
    if (!row->base.known && point)
        row->base = value_of_point(point, found && !sides->base_is_judged ? level.noise : 0);
}

static void fill_head(const struct sides *sides, struct comparison_row *row)
{
    const struct commit_point *point = g_hash_table_lookup(sides->head, row->series);
    if (!point)
        return;
    row->head = value_of_point(point, row->base.noise);
    row->disturbed = point->flagged || point->censored;
    const struct store_change *between =
        sides->head_is_judged
            ? find_change(sides, row->series->id, sides->base_position, sides->head_position, true)
            : NULL;
    if (!between)
        return;
    row->change_id = between->id;
    if (between->n_after > row->head.n && row->base.noise > 0) {
        row->head.level = between->after;
        row->head.n = between->n_after;
    }
}

static void add_row(const struct sides *sides, const struct store_series *series, GArray *rows)
{
    struct comparison_row row = {.series = series, .verdict = COMPARISON_NONE};
    fill_base(sides, &row);
    fill_head(sides, &row);
    row.has_result = row.base.known && row.head.known;
    if (!row.base.known)
        row.verdict = COMPARISON_NEW;
    else if (!row.head.known)
        row.verdict = COMPARISON_MISSING;
    g_array_append_val(rows, row);
}

static void add_rows(const struct sides *sides, const Comparison *comparison)
{
    const GPtrArray *all = comparison->project->series;
    for (guint i = 0; i < all->len; i++) {
        const struct store_series *series = all->pdata[i];
        bool is_measured = g_hash_table_contains(sides->base, series) ||
                           g_hash_table_contains(sides->head, series);
        if (is_measured && (!comparison->filter ||
                            store_filter_takes_series(sides->snapshot, comparison->filter, series)))
            add_row(sides, series, comparison->rows);
    }
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

/* ---- Means
 * -----------------------------------------------------------------------------------------------------
 */

static int compare_series(gconstpointer a, gconstpointer b)
{
    const struct comparison_row *left = a, *right = b;
    int order = strcmp(left->series->benchmark->name, right->series->benchmark->name);
    if (order == 0)
        order = strcmp(left->series->metric, right->series->metric);
    return order != 0 ? order : strcmp(left->series->unit, right->series->unit);
}

static void add_means(Comparison *comparison)
{
    double sum = 0;
    struct comparison_mean *mean = NULL;
    const struct comparison_row *before = NULL;
    g_array_sort(comparison->rows, compare_series);
    for (guint i = 0; i < comparison->rows->len; i++) {
        const struct comparison_row *row =
            &g_array_index(comparison->rows, struct comparison_row, i);
        if (!row->has_result || row->disturbed || !(row->base.level > 0) || !(row->head.level > 0))
            continue;
        if (!before || compare_series(before, row) != 0) {
            struct comparison_mean fresh = {.benchmark = row->series->benchmark,
                                            .metric = row->series->metric,
                                            .unit = row->series->unit,
                                            .better = row->series->better};
            g_array_append_val(comparison->means, fresh);
            mean = &g_array_index(comparison->means, struct comparison_mean,
                                  comparison->means->len - 1);
            sum = 0;
        }
        before = row;
        sum += log(row->head.level / row->base.level);
        mean->n++;
        mean->ratio = exp(sum / mean->n);
    }
}

/* ---- Warnings
 * --------------------------------------------------------------------------------------------------
 */

/* The environments in which a machine measured a side. */
struct environments {
    const char *first; /* digest of one of them; NULL: none is known */
    bool differ;       /* there are others */
    guint n_runs, n_unknown;
};

static void note_environments(const GPtrArray *runs, const struct store_machine *machine,
                              struct environments *found)
{
    for (guint i = 0; i < runs->len; i++) {
        const struct store_run *run = runs->pdata[i];
        if (run->machine != machine)
            continue;
        found->n_runs++;
        if (!run->environment_digest)
            found->n_unknown++;
        else if (!found->first)
            found->first = run->environment_digest;
        else if (strcmp(found->first, run->environment_digest) != 0)
            found->differ = true;
    }
}

static char *warning_of(const struct store_machine *machine, const GPtrArray *base_runs,
                        const GPtrArray *head_runs)
{
    struct environments both = {0};
    note_environments(base_runs, machine, &both);
    if (both.n_runs == 0)
        return g_strdup_printf("nothing was measured on %s up to the base: its series are new",
                               machine->name);
    note_environments(head_runs, machine, &both);
    if (both.differ)
        return g_strdup_printf("%s: base and head were measured in different environments; a "
                               "difference may be the machine's",
                               machine->name);
    if (both.n_unknown > 0)
        return g_strdup_printf("%s: %u of the %u runs do not tell their environment; whether base "
                               "and head were measured in the same one is not known",
                               machine->name, both.n_unknown, both.n_runs);
    return NULL;
}

static void warn(Comparison *comparison, const GPtrArray *base_runs, const GPtrArray *head_runs)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < head_runs->len; i++) {
        const struct store_run *head = head_runs->pdata[i];
        char *warning = g_hash_table_add(seen, head->machine)
                            ? warning_of(head->machine, base_runs, head_runs)
                            : NULL;
        if (warning)
            g_ptr_array_add(comparison->warnings, warning);
    }
    if (head_runs->len == 0)
        g_ptr_array_add(comparison->warnings,
                        g_strdup("the head was not measured: nothing was compared"));
}

/* Machines whose nearest measured commit is not the one that is named. */
static void warn_of_other_bases(Comparison *comparison, const GPtrArray *base_runs)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < base_runs->len; i++) {
        const struct store_run *run = base_runs->pdata[i];
        if (comparison->measured && run->commit != comparison->measured &&
            g_hash_table_add(seen, run->machine))
            g_ptr_array_add(comparison->warnings,
                            g_strdup_printf("%s: its base is %.12s, the nearest commit that was "
                                            "measured on it",
                                            run->machine->name, run->commit->sha));
    }
}

/* ---- The whole
 * -------------------------------------------------------------------------------------------------
 */

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

/* Compares with what held at `base_position`. Takes the base. */
static bool compare(StoreSnapshot *snapshot, Comparison *comparison, guint base_position,
                    struct comparison_base *base, const GPtrArray *head_runs, GError **error)
{
    const struct store_project *project = comparison->project;
    const char *branch = series_judge_branch(project);
    g_autoptr(GPtrArray) base_runs = g_steal_pointer(&base->runs);
    comparison->measured = base->measured;
    comparison->n_behind = base->n_behind;
    comparison->is_base_proven = base->is_proven;
    struct sides sides = {.snapshot = snapshot,
                          .base_position = base_position,
                          .head_position = comparison->head.commit->position,
                          .head_commit = comparison->head.commit,
                          .base_is_judged = base_runs->len == 0 || any_judged(base_runs, branch),
                          .head_is_judged = any_judged(head_runs, branch)};
    sides.base = comparison_points(snapshot, base_runs, error);
    sides.head = sides.base ? comparison_points(snapshot, head_runs, error) : NULL;
    bool fine = sides.head && read_changes(&sides, project, error);
    if (fine) {
        add_rows(&sides, comparison);
        judge(comparison->rows);
        add_means(comparison);
        g_array_sort(comparison->rows, compare_rows);
        for (guint i = 0; i < comparison->rows->len; i++)
            comparison->counts[g_array_index(comparison->rows, struct comparison_row, i).verdict]++;
        warn(comparison, base_runs, head_runs);
        warn_of_other_bases(comparison, base_runs);
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
    if (comparison->base.run || !merge || merge == base || merge == head)
        return base;
    comparison->merge_base = merge;
    return merge;
}

static GHashTable *wanted_machines(StoreSnapshot *snapshot, const char *name, GError **error)
{
    struct store_machine *machine = store_machine_find(snapshot, name);
    if (!machine) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "machine: no machine is called \"%s\"; GET /api/machines lists them", name);
        return NULL;
    }
    GHashTable *machines = g_hash_table_new(NULL, NULL);
    g_hash_table_add(machines, machine);
    return machines;
}

Comparison *comparison_new(StoreSnapshot *snapshot, const struct comparison_request *request,
                           GError **error)
{
    g_autoptr(Comparison) comparison = comparison_alloc(request->project);
    comparison->filter = request->filter;
    g_autoptr(GHashTable) wanted = NULL;
    if (!comparison_side_find(snapshot, request->project, "base", request->base, &comparison->base,
                              error) ||
        !comparison_side_find(snapshot, request->project, "head", request->head, &comparison->head,
                              error))
        return NULL;
    if (request->machine && !(wanted = wanted_machines(snapshot, request->machine, error)))
        return NULL;
    g_autoptr(GPtrArray) head_runs = comparison_head_runs(&comparison->head, wanted);
    g_autoptr(GHashTable) machines = machines_of(head_runs);
    const struct store_commit *with = compared_with(comparison);
    struct comparison_base base;
    if (comparison->base.run)
        base = (struct comparison_base){comparison_head_runs(&comparison->base, machines), with, 0,
                                        true};
    else
        comparison_base_find(with, machines, &base);
    return compare(snapshot, comparison, with->position, &base, head_runs, error)
               ? g_steal_pointer(&comparison)
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
    guint position = left ? left->position : MAX(run->commit->position, 1) - 1;
    return compare(snapshot, comparison, position, &base, head_runs, error)
               ? g_steal_pointer(&comparison)
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
