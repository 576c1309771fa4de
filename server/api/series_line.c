/* SPDX-License-Identifier: Apache-2.0
 * See series_line.h. The commits are resolved in memory; only the points are read from the store.
 */
#include "server/api/series_line.h"

#include "schema/timestamp.h"
#include "server/api/api_filter.h"
#include "server/store/store_branches.h"
#include <string.h>

#define BUCKETS_MAX      10000
#define SHA_DIGITS_MIN   7
#define EPOCH_DIGITS_MIN 12 /* 1973; shorter ones are more often the first digits of a sha */
#define EPOCH_DIGITS_MAX 14

/* ---- What is asked for
 * ----------------------------------------------------------------------------------------------
 */

static bool is_epoch_ms(const char *text)
{
    size_t length = strlen(text);
    return length >= EPOCH_DIGITS_MIN && length <= EPOCH_DIGITS_MAX &&
           strspn(text, "0123456789") == length;
}

static bool parse_bound(const HttpRequest *request, const char *name, struct line_bound *bound,
                        GError **error)
{
    const char *text = http_request_query(request, name);
    if (!text)
        return true;
    if (is_epoch_ms(text)) {
        bound->has_time = true;
        bound->time_ms = g_ascii_strtoll(text, NULL, 10);
    } else {
        bound->has_time = timestamp_parse_ms(text, &bound->time_ms, NULL);
    }
    if (api_filter_is_sha(text, SHA_DIGITS_MIN))
        bound->sha = g_ascii_strdown(text, -1);
    if (bound->sha || bound->has_time)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "%s: \"%s\" is neither a commit (%d to 64 hex digits of its sha) nor a time "
                "(2026-11-30T23:17:45Z, or milliseconds since 1970)",
                name, text, SHA_DIGITS_MIN);
    return false;
}

bool line_query_parse(const HttpRequest *request, struct line_query *query, GError **error)
{
    *query = (struct line_query){0};
    return api_filter_values(request, "branch", &query->branches, error) &&
           http_query_integer(request, "buckets", COMMIT_POINTS_BUCKETS_MIN, BUCKETS_MAX,
                              &query->n_buckets, error) &&
           parse_bound(request, "from", &query->from, error) &&
           parse_bound(request, "to", &query->to, error);
}

void line_query_clear(struct line_query *query)
{
    g_clear_pointer(&query->branches, g_ptr_array_unref);
    g_clear_pointer(&query->from.sha, g_free);
    g_clear_pointer(&query->to.sha, g_free);
}

/* Sets the position, or else the time, where the bound has one. */
static bool resolve_bound(const struct line_bound *bound, const char *name,
                          const struct store_project *project, guint *position, int64_t *time_ms,
                          GError **error)
{
    g_autoptr(GError) failure = NULL;
    const struct store_commit *commit =
        bound->sha ? store_commit_find(project, bound->sha, &failure) : NULL;
    if (commit) {
        *position = commit->position;
        return true;
    }
    if (bound->has_time)
        *time_ms = bound->time_ms;
    else if (failure)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "%s: %s", name, failure->message);
    return bound->has_time || !failure;
}

bool line_query_resolve(const struct line_query *query, const struct store_project *project,
                        struct line_range *out, GError **error)
{
    *out = (struct line_range){0, G_MAXUINT, G_MININT64, G_MAXINT64};
    if (!resolve_bound(&query->from, "from", project, &out->first, &out->from_ms, error) ||
        !resolve_bound(&query->to, "to", project, &out->last, &out->to_ms, error))
        return false;
    if (out->first <= out->last && out->from_ms <= out->to_ms)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "from: comes after to%s; exchange the two",
                out->first > out->last ? " in commit order" : "");
    return false;
}

/* ---- Its points
 * -----------------------------------------------------------------------------------------------------
 */

/* The default branch and those that are asked for. */
struct line_branches {
    StoreBranch main_line;
    GArray *wanted; /* StoreBranch; NULL: any */
};

static void open_branches(struct line_branches *branches, const struct store_project *project,
                          const GPtrArray *names)
{
    store_branch_open(&branches->main_line, project, project->default_branch);
    branches->wanted = names ? g_array_new(FALSE, FALSE, sizeof(StoreBranch)) : NULL;
    for (guint i = 0; names && i < names->len; i++) {
        StoreBranch branch;
        store_branch_open(&branch, project, (const char *)names->pdata[i]);
        g_array_append_val(branches->wanted, branch);
    }
}

static void clear_branches(struct line_branches *branches)
{
    store_branch_clear(&branches->main_line);
    for (guint i = 0; branches->wanted && i < branches->wanted->len; i++)
        store_branch_clear(&g_array_index(branches->wanted, StoreBranch, i));
    g_clear_pointer(&branches->wanted, g_array_unref);
}

/* A run that names no branch is also of the one under which its commit was told. */
static bool is_of(const GArray *wanted, const struct store_run *run)
{
    for (guint i = 0; wanted && i < wanted->len; i++) {
        const StoreBranch *branch = &g_array_index(wanted, StoreBranch, i);
        if (store_branch_has_run(branch, run) ||
            (!run->branch && g_strcmp0(run->commit->branch, branch->name) == 0))
            return true;
    }
    return !wanted;
}

/* What a point is called by: the default branch where its run is of it, and then only. NULL where
 * no other is known. */
static const char *branch_of(const StoreBranch *main_line, const struct store_run *run)
{
    const char *said = run->branch ? run->branch : run->commit->branch;
    if (store_branch_has_run(main_line, run))
        return main_line->name;
    return g_strcmp0(said, main_line->name) == 0 ? NULL : said;
}

static bool is_wanted(const struct line_branches *branches, const struct line_range *range,
                      const struct store_run *run)
{
    const struct store_commit *commit = run->commit;
    int64_t time_ms = commit->time_s * 1000;
    return commit->position >= range->first && commit->position <= range->last &&
           time_ms >= range->from_ms && time_ms <= range->to_ms && is_of(branches->wanted, run);
}

/* The points of the wanted runs, each with what its run says of it. */
static GArray *collect_inputs(StoreSnapshot *snapshot, const struct line_branches *branches,
                              const struct line_range *range, const GArray *points)
{
    GArray *inputs =
        g_array_sized_new(FALSE, FALSE, sizeof(struct commit_point_input), points->len);
    guint place = 0;
    for (guint i = 0; i < points->len; i++) {
        const struct store_point *point = &g_array_index(points, struct store_point, i);
        const struct store_run *run = store_run_from(snapshot, &place, point->run_seq);
        if (!run || !is_wanted(branches, range, run))
            continue;
        struct commit_point_input input = {.position = run->commit->position,
                                           .center = point->center,
                                           .low = point->low,
                                           .high = point->high,
                                           .has_interval = point->has_interval,
                                           .flagged = point->flagged,
                                           .dirty = run->dirty,
                                           .censored = point->censored,
                                           .n = point->n,
                                           .run_seq = point->run_seq,
                                           .branch = branch_of(&branches->main_line, run)};
        g_array_append_val(inputs, input);
    }
    return inputs;
}

GArray *series_line_read(StoreSnapshot *snapshot, const struct store_series *series,
                         const struct line_query *query, const struct line_range *range,
                         GError **error)
{
    g_autoptr(GArray) points = store_series_points(snapshot, series->id, error);
    if (!points)
        return NULL;
    struct line_branches branches;
    open_branches(&branches, series->project, query->branches);
    g_autoptr(GArray) inputs = collect_inputs(snapshot, &branches, range, points);
    clear_branches(&branches);
    GArray *line =
        commit_points_build((const struct commit_point_input *)(const void *)inputs->data,
                            inputs->len, series->project->default_branch);
    if (query->n_buckets == 0)
        return line;
    GArray *kept = commit_points_buckets(line, (guint)query->n_buckets);
    g_array_unref(line);
    return kept;
}
