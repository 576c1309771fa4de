/* SPDX-License-Identifier: Apache-2.0
 * See trend_changes.h. A change is marked at the first column that is not before its first bad
 * commit. The request's thread, inside its snapshot. */
#include "server/pages/trend_changes.h"

#include "server/work/change_groups.h"
#include "server/work/series_judge.h"

#include <string.h>

/* What a pass over one line's changes needs. */
struct pass {
    const TrendData *data;
    StoreSnapshot *snapshot;
    struct trend_line *line;
    guint cursor; /* the column at which the level at hand began */
};

/* What was withdrawn or is noise is drawn nowhere. */
static bool is_drawn(const struct store_change *change)
{
    return change->status != STORE_STATUS_WITHDRAWN && change->triage != STORE_TRIAGE_NOISE;
}

static const struct store_commit *commit_of(const TrendData *data, guint column)
{
    return g_array_index(data->columns, struct trend_column, column).commit;
}

/* The first column that is not before a position; the number of columns where there is none. */
static guint column_from(const TrendData *data, guint position)
{
    guint low = 0, high = data->columns->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (commit_of(data, middle)->position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Columns cursor <= i < end at `value`. */
static void add_level(struct pass *pass, guint end, double value)
{
    struct trend_level level = {pass->cursor, end, value};
    if (end > pass->cursor)
        g_array_append_val(pass->line->levels, level);
    pass->cursor = MAX(pass->cursor, end);
}

static void add_change(struct pass *pass, const struct store_change *change, guint position)
{
    guint column = column_from(pass->data, position);
    bool is_before = pass->data->columns->len == 0 || position < commit_of(pass->data, 0)->position;
    add_level(pass, column, change->before);
    if (is_before || column >= pass->data->columns->len)
        return;
    struct trend_mark mark = {.column = column,
                              .change_id = change->id,
                              .effect = change->effect,
                              .low = change->low,
                              .high = change->high,
                              .direction = change_direction(pass->line->series, change),
                              .status = change->status,
                              .triage = change->triage,
                              .is_boundary = change->kind == STORE_KIND_BOUNDARY};
    g_array_append_val(pass->line->marks, mark);
}

static guint position_of(StoreSnapshot *snapshot, const struct store_change *change)
{
    const struct store_commit *bad = store_commit_by_id(snapshot, change->bad_commit_id);
    return bad ? bad->position : G_MAXUINT;
}

GArray *trend_changes_positions(StoreSnapshot *snapshot, const struct trend_line *line,
                                GError **error)
{
    g_autoptr(GPtrArray) changes = store_series_changes(snapshot, line->series->id, error);
    if (!changes)
        return NULL;
    GArray *positions = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < changes->len; i++) {
        const struct store_change *change = (const struct store_change *)changes->pdata[i];
        guint position = position_of(snapshot, change);
        if (is_drawn(change) && position != G_MAXUINT)
            g_array_append_val(positions, position);
    }
    return positions;
}

static gint compare_positions(gconstpointer a, gconstpointer b, gpointer snapshot)
{
    const struct store_change *const *left = (const struct store_change *const *)a;
    const struct store_change *const *right = (const struct store_change *const *)b;
    guint left_at = position_of((StoreSnapshot *)snapshot, *left),
          right_at = position_of((StoreSnapshot *)snapshot, *right);
    return left_at < right_at ? -1 : left_at > right_at;
}

static bool read_line(const TrendData *data, StoreSnapshot *snapshot, struct trend_line *line,
                      GError **error)
{
    struct store_level level;
    bool found = false;
    if (!store_series_level(snapshot, line->series->id, &level, &found, error))
        return false;
    const struct store_commit *first =
        found ? store_commit_by_id(snapshot, level.first_commit_id) : NULL;
    const struct store_commit *last =
        found ? store_commit_by_id(snapshot, level.last_commit_id) : NULL;
    if (!first || !last)
        return true;
    g_autoptr(GPtrArray) changes = store_series_changes(snapshot, line->series->id, error);
    if (!changes)
        return false;
    g_ptr_array_sort_with_data(changes, compare_positions, snapshot);
    struct pass pass = {data, snapshot, line, column_from(data, first->position)};
    for (guint i = 0; i < changes->len; i++) {
        const struct store_change *change = (const struct store_change *)changes->pdata[i];
        guint position = position_of(snapshot, change);
        if (is_drawn(change) && position != G_MAXUINT)
            add_change(&pass, change, position);
    }
    if (level.n > 0)
        add_level(&pass, column_from(data, last->position + 1), level.level);
    return true;
}

bool trend_changes_read(TrendData *data, StoreSnapshot *snapshot,
                        const struct store_project *project, GError **error)
{
    g_autoptr(GPtrArray) series = g_ptr_array_new();
    data->is_judged_branch = g_strcmp0(data->branch, series_judge_branch(project)) == 0;
    for (guint i = 0; i < data->lines->len; i++) {
        struct trend_line *line = (struct trend_line *)data->lines->pdata[i];
        g_ptr_array_add(series, line->series);
        if (data->is_judged_branch && !read_line(data, snapshot, line, error))
            return false;
    }
    return judged_note_read(snapshot, series, &data->judged, error);
}
