/* SPDX-License-Identifier: Apache-2.0
 * Columns first need to know where other branches have points, so points are read before columns
 * are laid out. The request's thread, inside its snapshot. */
#include "server/pages/trend_data.h"

#include "server/pages/chart.h"
#include "server/pages/trend_annotations.h"
#include "server/pages/trend_changes.h"
#include "server/pages/trend_columns.h"
#include "server/pages/trend_norm.h"
#include "server/pages/trend_strip.h"

#include <string.h>

static void line_free(gpointer data)
{
    struct trend_line *line = (struct trend_line *)data;
    g_free(line->name);
    g_array_unref(line->points);
    g_array_unref(line->marks);
    g_array_unref(line->levels);
    g_free(line);
}

void trend_data_free(TrendData *data)
{
    if (!data)
        return;
    g_array_unref(data->columns);
    g_ptr_array_unref(data->lines);
    trend_strip_clear(&data->strip);
    g_array_unref(data->annotations);
    g_free(data);
}

/* ---- The branch
 * ----------------------------------------------------------------------------------------------------
 */

bool trend_branch_has(const char *branch, const struct store_run *run)
{
    bool is_default = strcmp(branch, run->project->default_branch) == 0;
    return store_run_is_of(run, branch, is_default,
                           is_default ? run->commit->line : STORE_LINE_UNKNOWN);
}

const char *trend_branch_of(const struct store_project *project, bool *out_is_fallback)
{
    const char *latest = NULL;
    if (out_is_fallback)
        *out_is_fallback = false;
    if (store_head_find(project, project->default_branch))
        return project->default_branch;
    for (guint i = project->runs->len; i > 0; i--) {
        const struct store_run *run =
            (const struct store_run *)g_ptr_array_index(project->runs, i - 1);
        if (trend_branch_has(project->default_branch, run))
            return project->default_branch;
        latest = latest ? latest : run->branch;
    }
    if (latest && out_is_fallback)
        *out_is_fallback = true;
    return latest ? latest : project->default_branch;
}

static struct store_commit *commit_at(const struct store_project *project, guint position)
{
    return (struct store_commit *)g_ptr_array_index(project->commits, position);
}

/* The head, or where none is known the newest commit that was told of the branch. */
static const struct store_commit *tip_of(const StoreBranch *branch)
{
    if (branch->head)
        return branch->head->commit;
    for (guint i = branch->project->commits->len; i > 0; i--)
        if (g_strcmp0(commit_at(branch->project, i - 1)->branch, branch->name) == 0)
            return commit_at(branch->project, i - 1);
    return NULL;
}

/* A first parent comes before its child in commit order, so one pass from the newest to the oldest
 * carries the flag down. */
guint8 *trend_branch_flags(const struct store_project *project, const char *name)
{
    guint n = project->commits->len;
    guint8 *flags = g_new0(guint8, n + 1);
    g_auto(StoreBranch) branch;
    store_branch_open(&branch, project, name);
    for (guint i = 0; i < project->runs->len; i++) {
        const struct store_run *run = (const struct store_run *)g_ptr_array_index(project->runs, i);
        if (run->commit->position < n && store_branch_has_run(&branch, run))
            flags[run->commit->position] = 1;
    }
    const struct store_commit *tip = tip_of(&branch);
    if (tip)
        flags[tip->position] = 1;
    for (guint i = n; i > 0; i--) {
        struct store_commit **parents = commit_at(project, i - 1)->parents;
        if (flags[i - 1] && parents && parents[0] && parents[0]->position < i - 1)
            flags[parents[0]->position] = 1;
    }
    return flags;
}

/* ---- Points
 * --------------------------------------------------------------------------------------------------------
 */

struct commit_point_input trend_input_of(const struct store_point *point,
                                         const struct store_run *run)
{
    return (struct commit_point_input){.position = run->commit->position,
                                       .center = point->center,
                                       .low = point->low,
                                       .high = point->high,
                                       .has_interval = point->has_interval,
                                       .flagged = point->flagged,
                                       .dirty = run->dirty,
                                       .censored = point->censored,
                                       .n = point->n,
                                       .run_seq = run->seq,
                                       .branch = run->branch};
}

/* The branch's runs to `on`, the others' to `off` (which may be NULL: left out). True where there
 * are others. */
static bool split_points(StoreSnapshot *snapshot, const GArray *points, const StoreBranch *branch,
                         GArray *on, GArray *off)
{
    bool has_others = false;
    for (guint i = 0; i < points->len; i++) {
        const struct store_point *point = &g_array_index(points, struct store_point, i);
        const struct store_run *run = store_run_by_seq(snapshot, point->run_seq);
        if (!run)
            continue;
        struct commit_point_input input = trend_input_of(point, run);
        bool is_on = store_branch_has_run(branch, run);
        has_others = has_others || !is_on;
        if (is_on)
            g_array_append_val(on, input);
        else if (off)
            g_array_append_val(off, input);
    }
    return has_others;
}

static GArray *build_points(const GArray *inputs, const char *branch)
{
    return commit_points_build((const struct commit_point_input *)(const void *)inputs->data,
                               inputs->len, branch);
}

GArray *trend_series_points(StoreSnapshot *snapshot, int64_t series_id, const char *branch,
                            GError **error)
{
    g_autoptr(GArray) points = store_series_points(snapshot, series_id, error);
    if (!points)
        return NULL;
    g_autoptr(GArray) on = g_array_new(FALSE, FALSE, sizeof(struct commit_point_input));
    const struct store_series *series = store_series_by_id(snapshot, series_id);
    if (series) {
        g_auto(StoreBranch) of;
        store_branch_open(&of, series->project, branch);
        split_points(snapshot, points, &of, on, NULL);
    }
    return build_points(on, branch);
}

/* ---- Lines
 * ---------------------------------------------------------------------------------------------------------
 */

/* Marks the points whose machine is no longer what it was at the line's point before. A run that
 * tells no environment says nothing of a change. */
static void mark_changes(StoreSnapshot *snapshot, struct trend_line *line)
{
    const char *before = NULL;
    for (guint i = 0; i < line->points->len; i++) {
        struct trend_point *point = &g_array_index(line->points, struct trend_point, i);
        const struct store_run *run = store_run_by_seq(snapshot, point->value.last_run_seq);
        if (point->hollow || !run || !run->environment_digest)
            continue;
        point->environment_changed = before && strcmp(before, run->environment_digest) != 0;
        before = run->environment_digest;
    }
}

/* Points with their commit's position in `column`, until the columns are laid out. */
static void append_points(struct trend_line *line, const GArray *inputs, const char *branch,
                          bool hollow)
{
    g_autoptr(GArray) values = build_points(inputs, branch);
    for (guint i = 0; i < values->len; i++) {
        struct trend_point point = {.value = g_array_index(values, struct commit_point, i),
                                    .hollow = hollow};
        point.column = point.value.position;
        g_array_append_val(line->points, point);
    }
}

static int compare_points(gconstpointer a, gconstpointer b)
{
    const struct trend_point *left = (const struct trend_point *)a;
    const struct trend_point *right = (const struct trend_point *)b;
    if (left->column != right->column)
        return left->column < right->column ? -1 : 1;
    return (int)left->hollow - (int)right->hollow;
}

static guint free_slot(const GPtrArray *lines, guint slot)
{
    guint32 taken = 0;
    for (guint i = 0; i < lines->len; i++)
        taken |= 1u << ((const struct trend_line *)g_ptr_array_index(lines, i))->slot;
    for (guint i = 0; i < CHART_SLOTS; i++) {
        if (!(taken & (1u << ((slot + i) % CHART_SLOTS))))
            return (slot + i) % CHART_SLOTS;
    }
    return slot;
}

static bool add_line(TrendData *data, StoreSnapshot *snapshot, const Selection *selection,
                     struct store_series *series, bool with_branches, GError **error)
{
    g_autoptr(GArray) points = store_series_points(snapshot, series->id, error);
    if (!points)
        return false;
    g_autoptr(GArray) on = g_array_new(FALSE, FALSE, sizeof(struct commit_point_input));
    g_autoptr(GArray) off = g_array_new(FALSE, FALSE, sizeof(struct commit_point_input));
    g_auto(StoreBranch) branch;
    store_branch_open(&branch, series->project, data->branch);
    if (split_points(snapshot, points, &branch, on, with_branches ? off : NULL))
        data->has_other_branches = true;
    struct trend_line *line = g_new0(struct trend_line, 1);
    line->series = series;
    line->name = selection_line_name(selection, series);
    line->slot = free_slot(data->lines, selection_series_slot(selection, series));
    line->base = 1;
    line->points = g_array_new(FALSE, FALSE, sizeof(struct trend_point));
    line->marks = g_array_new(FALSE, FALSE, sizeof(struct trend_mark));
    line->levels = g_array_new(FALSE, FALSE, sizeof(struct trend_level));
    append_points(line, on, data->branch, false);
    append_points(line, off, NULL, true);
    g_array_sort(line->points, compare_points);
    mark_changes(snapshot, line);
    g_ptr_array_add(data->lines, line);
    return true;
}

TrendData *trend_data_new(StoreSnapshot *snapshot, const struct store_project *project,
                          const Selection *selection, const struct trend_request *request,
                          GError **error)
{
    g_autoptr(TrendData) data = g_new0(TrendData, 1);
    data->columns = g_array_new(FALSE, FALSE, sizeof(struct trend_column));
    data->lines = g_ptr_array_new_with_free_func(line_free);
    data->annotations = g_array_new(FALSE, FALSE, sizeof(struct trend_annotation));
    trend_strip_init(&data->strip);
    data->branch =
        request->branch ? request->branch : trend_branch_of(project, &data->branch_is_fallback);
    for (guint i = 0; i < selection->series->len; i++) {
        struct store_series *series =
            (struct store_series *)g_ptr_array_index(selection->series, i);
        if (!add_line(data, snapshot, selection, series, request->with_branches, error))
            return NULL;
    }
    if (request->norm == TREND_NORM_REFERENCE)
        trend_norm_reference(data);
    if (!trend_columns_lay(data, snapshot, project, request, error))
        return NULL;
    if (request->norm == TREND_NORM_FIRST)
        trend_norm_first(data);
    trend_annotations_read(data, snapshot, project, selection);
    return trend_changes_read(data, snapshot, project, error) ? g_steal_pointer(&data) : NULL;
}
