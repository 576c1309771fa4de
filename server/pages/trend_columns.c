/* SPDX-License-Identifier: Apache-2.0
 * See trend_columns.h. Linear in the project's commits and in the lines' points. */
#include "server/pages/trend_columns.h"

#include "server/pages/trend_changes.h"
#include "server/pages/trend_strip.h"

#define FLAG_LINE   1u /* of the branch */
#define FLAG_ASIDE  2u /* has a point of another branch's run */
#define FLAG_VALUE  4u
#define FLAG_CHANGE 8u
#define FLAG_KEPT   16u /* a column although not all are */

#define THINNED_BUCKETS_MIN 10u

/* One request's layout. Positions are of the project's commits, places of those that are flagged.
 */
struct laying {
    TrendData *data;
    const struct store_project *project;
    guint n_commits;
    guint8 *flags;    /* by position */
    guint *places;    /* by position: how many flagged ones are before it */
    guint first, end; /* positions that are drawn: first <= i < end */
    const struct store_commit *from, *to, *at, *with; /* that the address names, or NULL */
};

static struct store_commit *commit_at(const struct laying *laying, guint position)
{
    return (struct store_commit *)g_ptr_array_index(laying->project->commits, position);
}

static void flag_points(const TrendData *data, guint8 *flags)
{
    for (guint i = 0; i < data->lines->len; i++) {
        const struct trend_line *line =
            (const struct trend_line *)g_ptr_array_index(data->lines, i);
        for (guint k = 0; k < line->points->len; k++) {
            const struct trend_point *point = &g_array_index(line->points, struct trend_point, k);
            flags[point->column] |= (guint8)(FLAG_VALUE | (point->hollow ? FLAG_ASIDE : FLAG_LINE) |
                                             (point->environment_changed ? FLAG_CHANGE : 0));
        }
    }
}

/* The position of the oldest of the last `n` commits before `end` that are flagged. */
static guint first_position(const guint8 *flags, guint end, guint n)
{
    guint first = end, seen = 0;
    while (first > 0 && seen < n) {
        first--;
        seen += flags[first] != 0 ? 1 : 0;
    }
    return first;
}

/* What came before the first measurement is counted, not drawn: one commit alone then stands in the
 * middle of its chart. */
static guint skip_unmeasured(const struct laying *laying, guint first)
{
    guint measured = first;
    while (measured < laying->n_commits && !(laying->flags[measured] & FLAG_VALUE))
        measured++;
    return measured < laying->n_commits ? measured : first;
}

static const struct store_commit *find_commit(const struct store_project *project, const char *sha)
{
    return sha && *sha ? store_commit_find(project, sha, NULL) : NULL;
}

static void count_places(struct laying *laying)
{
    guint n = 0;
    for (guint i = 0; i < laying->n_commits; i++) {
        laying->places[i] = n;
        n += laying->flags[i] != 0 ? 1 : 0;
    }
    laying->places[laying->n_commits] = n;
    laying->data->n_places = n;
}

/* The newest commits with what is asked for, and all between, so that a step out of a range needs
 * no other page; of a long history what is asked for alone. */
static void find_bounds(struct laying *laying, bool all)
{
    const struct store_commit *from = laying->from, *to = laying->to;
    guint n_wanted = all ? G_MAXUINT : TREND_COLUMNS_DEFAULT;
    guint newest = first_position(laying->flags, laying->n_commits, n_wanted);
    guint wanted = newest;
    if (!all)
        newest = wanted = skip_unmeasured(laying, newest);
    if (from)
        wanted = from->position;
    else if (to && to->position < newest)
        wanted = first_position(laying->flags, to->position + 1, TREND_COLUMNS_DEFAULT);
    laying->first = MIN(newest, wanted);
    laying->end = laying->n_commits;
    bool is_long = laying->places[laying->end] - laying->places[laying->first] >
                   MAX(TREND_COLUMNS_CONTEXT, TREND_COLUMNS_DEFAULT);
    if ((from || to) && is_long) {
        laying->first = wanted;
        laying->end = to && to->position >= wanted ? to->position + 1 : laying->n_commits;
    }
}

/* ---- Thinning -------------------------------------------------------------------------------- */

static void keep_commit(struct laying *laying, const struct store_commit *commit)
{
    if (commit && laying->flags[commit->position])
        laying->flags[commit->position] |= FLAG_KEPT;
}

static const struct trend_point *point_of(const struct trend_line *line, guint index)
{
    return &g_array_index(line->points, struct trend_point, index);
}

static void keep_extremes(struct laying *laying, const struct trend_line *line, guint n_buckets)
{
    guint base = laying->places[laying->first], n = laying->places[laying->end] - base;
    const struct trend_point *low = NULL, *high = NULL;
    guint bucket = G_MAXUINT;
    for (guint k = 0; k < line->points->len; k++) {
        const struct trend_point *point = point_of(line, k);
        if (point->column < laying->first || point->column >= laying->end)
            continue;
        guint at = (guint)((guint64)(laying->places[point->column] - base) * n_buckets / MAX(n, 1));
        if (at != bucket && low) {
            laying->flags[low->column] |= FLAG_KEPT;
            laying->flags[high->column] |= FLAG_KEPT;
        }
        bool is_new = at != bucket;
        low = is_new || point->value.center < low->value.center ? point : low;
        high = is_new || point->value.center > high->value.center ? point : high;
        bucket = at;
    }
    if (low) {
        laying->flags[low->column] |= FLAG_KEPT;
        laying->flags[high->column] |= FLAG_KEPT;
    }
}

/* The ends, what the address names, and where something changed: it must be told exactly. */
static bool keep_marked(struct laying *laying, StoreSnapshot *snapshot, GError **error)
{
    guint last = laying->end;
    while (last > laying->first && !laying->flags[last - 1])
        last--;
    for (guint i = laying->first; i < laying->end; i++)
        if (laying->flags[i] & FLAG_CHANGE)
            laying->flags[i] |= FLAG_KEPT;
    if (last > laying->first)
        laying->flags[last - 1] |= FLAG_KEPT;
    const struct store_commit *const named[] = {laying->from, laying->to, laying->at, laying->with};
    for (guint i = 0; i < G_N_ELEMENTS(named); i++)
        keep_commit(laying, named[i]);
    for (guint i = 0; i < laying->data->lines->len; i++) {
        const struct trend_line *line = (const struct trend_line *)laying->data->lines->pdata[i];
        g_autoptr(GArray) positions = trend_changes_positions(snapshot, line, error);
        if (!positions)
            return false;
        for (guint k = 0; k < positions->len; k++)
            keep_commit(laying, commit_at(laying, g_array_index(positions, guint, k)));
    }
    return true;
}

static bool thin(struct laying *laying, StoreSnapshot *snapshot, GError **error)
{
    TrendData *data = laying->data;
    guint n_buckets =
        MAX(TREND_COLUMNS_THINNED / (2 * MAX(data->lines->len, 1)), THINNED_BUCKETS_MIN);
    data->is_thinned =
        laying->places[laying->end] - laying->places[laying->first] > TREND_COLUMNS_MAX;
    if (!data->is_thinned)
        return true;
    for (guint i = 0; i < data->lines->len; i++)
        keep_extremes(laying, (const struct trend_line *)data->lines->pdata[i], n_buckets);
    return keep_marked(laying, snapshot, error);
}

/* ---- Placing --------------------------------------------------------------------------------- */

static void lay_columns(struct laying *laying, guint *columns_by_position)
{
    TrendData *data = laying->data;
    data->n_older = laying->places[laying->first];
    data->n_newer = data->n_places - laying->places[laying->end];
    for (guint i = 0; i < laying->n_commits; i++) {
        guint8 flags = laying->flags[i];
        columns_by_position[i] = G_MAXUINT;
        bool is_drawn = flags && i >= laying->first && i < laying->end;
        if (!is_drawn || (data->is_thinned && !(flags & FLAG_KEPT)))
            continue;
        struct trend_column column = {.commit = commit_at(laying, i),
                                      .place = laying->places[i],
                                      .is_measured = (flags & FLAG_VALUE) != 0,
                                      .is_aside = !(flags & FLAG_LINE),
                                      .is_change = (flags & FLAG_CHANGE) != 0};
        columns_by_position[i] = data->columns->len;
        data->n_measured += column.is_measured ? 1 : 0;
        data->n_changes += column.is_change ? 1 : 0;
        g_array_append_val(data->columns, column);
    }
}

static void place_points(TrendData *data, const guint *columns_by_position)
{
    for (guint i = 0; i < data->lines->len; i++) {
        struct trend_line *line = (struct trend_line *)g_ptr_array_index(data->lines, i);
        guint n_kept = 0;
        for (guint k = 0; k < line->points->len; k++) {
            struct trend_point point = g_array_index(line->points, struct trend_point, k);
            point.column = columns_by_position[point.column];
            if (point.column != G_MAXUINT)
                g_array_index(line->points, struct trend_point, n_kept++) = point;
        }
        g_array_set_size(line->points, n_kept);
    }
}

/* A range may name commits that are no columns (of another branch): the next column inside it
 * counts. */
static void find_view(TrendData *data, const struct store_commit *from,
                      const struct store_commit *to)
{
    guint n = data->columns->len;
    data->view_end = n;
    while (from && data->view_first < n &&
           g_array_index(data->columns, struct trend_column, data->view_first).commit->position <
               from->position)
        data->view_first++;
    while (to && data->view_end > 0 &&
           g_array_index(data->columns, struct trend_column, data->view_end - 1).commit->position >
               to->position)
        data->view_end--;
    data->has_view = from || to;
    if (data->view_first >= data->view_end) {
        data->view_first = 0;
        data->view_end = n;
        data->has_view = false;
    }
}

bool trend_columns_lay(TrendData *data, StoreSnapshot *snapshot,
                       const struct store_project *project, const struct trend_request *request,
                       GError **error)
{
    struct laying laying = {.data = data,
                            .project = project,
                            .n_commits = project->commits->len,
                            .from = find_commit(project, request->from),
                            .to = find_commit(project, request->to),
                            .at = find_commit(project, request->at),
                            .with = find_commit(project, request->with)};
    g_autofree guint8 *flags = laying.flags = trend_branch_flags(project, data->branch);
    g_autofree guint *places = laying.places = g_new(guint, laying.n_commits + 1);
    flag_points(data, flags);
    count_places(&laying);
    find_bounds(&laying, request->all_columns);
    trend_strip_read(data, project, flags, places);
    if (!thin(&laying, snapshot, error))
        return false;
    g_autofree guint *columns_by_position = g_new(guint, laying.n_commits + 1);
    lay_columns(&laying, columns_by_position);
    place_points(data, columns_by_position);
    find_view(data, laying.from, laying.to);
    return true;
}
