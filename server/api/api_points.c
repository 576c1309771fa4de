/* SPDX-License-Identifier: Apache-2.0
 * /api/series/{series}/points: the line, one point for each commit, as columns that are ready to
 * draw. Runs on the request's thread. The commits are resolved in memory; only the points are read
 * from the store. */
#include "server/analysis/commit_points.h"
#include "server/api/api_filter.h"
#include "server/api/api_series.h"
#include "server/context.h"
#include "server/routes.h"
#include "server/store/store_branches.h"
#include <string.h>

#define BUCKETS_MAX 10000

struct points_query {
    HttpRequest *request;
    StoreSnapshot *snapshot;
    const struct store_series *series;
    GPtrArray *branches; /* char *; NULL: any */
    GArray *of;          /* StoreBranch of each */
    guint first, last;   /* positions, inclusive */
    int64_t n_buckets;   /* 0: all points */
};

/* ---- The request
 * ----------------------------------------------------------------------------------------------------
 */

static const struct store_series *series_of_path(const HttpRequest *request,
                                                 StoreSnapshot *snapshot, GError **error)
{
    const char *text = http_request_segment(request, "series");
    char *end;
    gint64 id = g_ascii_strtoll(text, &end, 10);
    const struct store_series *series =
        g_ascii_isdigit(*text) && *end == '\0' ? store_series_by_id(snapshot, id) : NULL;
    if (!series)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "no series has the id \"%s\"; GET /api/series lists them", text);
    return series;
}

/* The position that a sha of the query names; `out` stays as it is where the parameter is absent.
 */
static bool resolve_position(const struct points_query *query, const char *name, guint *out,
                             GError **error)
{
    g_autoptr(GError) failure = NULL;
    const char *value = http_request_query(query->request, name);
    if (!value)
        return true;
    g_autofree char *sha = g_ascii_strdown(value, -1);
    const struct store_commit *commit = NULL;
    if (api_filter_is_sha(sha, 7))
        commit = store_commit_find(query->series->project, sha, &failure);
    if (commit) {
        *out = commit->position;
        return true;
    }
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "%s: %s", name,
                failure ? failure->message
                        : "is no commit; give 7 to 64 hex digits of a sha of the series' project");
    return false;
}

static bool parse_query(struct points_query *query, GError **error)
{
    query->first = 0;
    query->last = G_MAXUINT;
    query->n_buckets = 0;
    if (!http_query_integer(query->request, "buckets", COMMIT_POINTS_BUCKETS_MIN, BUCKETS_MAX,
                            &query->n_buckets, error) ||
        !resolve_position(query, "from", &query->first, error) ||
        !resolve_position(query, "to", &query->last, error))
        return false;
    if (query->first <= query->last)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "from: comes after to in commit order; exchange the two");
    return false;
}

/* ---- The points
 * -----------------------------------------------------------------------------------------------------
 */

static void open_branches(struct points_query *query)
{
    query->of = g_array_new(FALSE, FALSE, sizeof(StoreBranch));
    g_array_set_clear_func(query->of, (GDestroyNotify)store_branch_clear);
    for (guint i = 0; query->branches && i < query->branches->len; i++) {
        StoreBranch branch;
        store_branch_open(&branch, query->series->project, (const char *)query->branches->pdata[i]);
        g_array_append_val(query->of, branch);
    }
}

/* A run that names no branch is also of the one under which its commit was told. */
static bool is_of_branches(const struct points_query *query, const struct store_run *run)
{
    for (guint i = 0; i < query->of->len; i++) {
        const StoreBranch *branch = &g_array_index(query->of, StoreBranch, i);
        if (store_branch_has_run(branch, run) ||
            (!run->branch && g_strcmp0(run->commit->branch, branch->name) == 0))
            return true;
    }
    return !query->branches;
}

static bool is_wanted(const struct points_query *query, const struct store_run *run)
{
    guint position = run->commit->position;
    return position >= query->first && position <= query->last && is_of_branches(query, run);
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

/* The points of the wanted runs, each with what its run says of it. */
static GArray *collect_inputs(const struct points_query *query, const GArray *points)
{
    GArray *inputs =
        g_array_sized_new(FALSE, FALSE, sizeof(struct commit_point_input), points->len);
    const struct store_project *project = query->series->project;
    g_auto(StoreBranch) main_line;
    store_branch_open(&main_line, project, project->default_branch);
    for (guint i = 0; i < points->len; i++) {
        const struct store_point *point = &g_array_index(points, struct store_point, i);
        const struct store_run *run = store_run_by_seq(query->snapshot, point->run_seq);
        if (!run || !is_wanted(query, run))
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
                                           .branch = branch_of(&main_line, run)};
        g_array_append_val(inputs, input);
    }
    return inputs;
}

/* NULL: the store could not be read. Array of struct commit_point. */
static GArray *find_points(struct points_query *query, GError **error)
{
    g_autoptr(GArray) points = store_series_points(query->snapshot, query->series->id, error);
    if (!points)
        return NULL;
    open_branches(query);
    g_autoptr(GArray) inputs = collect_inputs(query, points);
    g_clear_pointer(&query->of, g_array_unref);
    GArray *line =
        commit_points_build((const struct commit_point_input *)(const void *)inputs->data,
                            inputs->len, query->series->project->default_branch);
    if (query->n_buckets == 0)
        return line;
    GArray *kept = commit_points_buckets(line, (guint)query->n_buckets);
    g_array_unref(line);
    return kept;
}

/* ---- The answer
 * -----------------------------------------------------------------------------------------------------
 */

/* A column: one value of each point. */
enum column {
    COLUMN_COMMITS,
    COLUMN_POSITIONS,
    COLUMN_TIMES,
    COLUMN_BRANCH,
    COLUMN_CENTER,
    COLUMN_LOW,
    COLUMN_HIGH,
    COLUMN_CENSORED,
    COLUMN_N,
    COLUMN_RUNS,
    COLUMN_FLAGGED,
    COLUMN_DIRTY,
    COLUMN_PROVISIONAL,
    N_COLUMNS
};

static const char *const column_names[N_COLUMNS + 1] = {[COLUMN_COMMITS] = "commits",
                                                        [COLUMN_POSITIONS] = "positions",
                                                        [COLUMN_TIMES] = "times_s",
                                                        [COLUMN_BRANCH] = "branch",
                                                        [COLUMN_CENTER] = "center",
                                                        [COLUMN_LOW] = "low",
                                                        [COLUMN_HIGH] = "high",
                                                        [COLUMN_CENSORED] = "censored",
                                                        [COLUMN_N] = "n",
                                                        [COLUMN_RUNS] = "runs",
                                                        [COLUMN_FLAGGED] = "flagged",
                                                        [COLUMN_DIRTY] = "dirty",
                                                        [COLUMN_PROVISIONAL] = "provisional",
                                                        [N_COLUMNS] = NULL};

/* In which direction a bound is beyond its value; null for a number. */
static const char *censored_name(int censored)
{
    return censored > 0 ? "above" : censored < 0 ? "below" : NULL;
}

static void write_optional(struct json_writer *writer, bool has_value, double value)
{
    if (has_value)
        json_writer_number(writer, NULL, value);
    else
        json_writer_null(writer, NULL);
}

static void write_value(struct json_writer *writer, enum column column,
                        const struct commit_point *point, const struct store_commit *commit)
{
    switch (column) {
    case COLUMN_COMMITS:
        json_writer_plain(writer, NULL, commit->sha, strlen(commit->sha));
        break;
    case COLUMN_POSITIONS:
        json_writer_integer(writer, NULL, point->position);
        break;
    case COLUMN_TIMES:
        json_writer_integer(writer, NULL, commit->time_s);
        break;
    case COLUMN_BRANCH:
        json_writer_string(writer, NULL, point->branch);
        break;
    case COLUMN_CENTER:
        json_writer_number(writer, NULL, point->center);
        break;
    case COLUMN_LOW:
        write_optional(writer, point->has_interval, point->low);
        break;
    case COLUMN_HIGH:
        write_optional(writer, point->has_interval, point->high);
        break;
    case COLUMN_CENSORED:
        json_writer_string(writer, NULL, censored_name(point->censored));
        break;
    case COLUMN_N:
        json_writer_integer(writer, NULL, point->n);
        break;
    case COLUMN_RUNS:
        json_writer_integer(writer, NULL, point->n_runs + point->n_runs_left_out);
        break;
    case COLUMN_FLAGGED:
        json_writer_bool(writer, NULL, point->flagged);
        break;
    case COLUMN_DIRTY:
        json_writer_bool(writer, NULL, point->dirty);
        break;
    case COLUMN_PROVISIONAL:
        json_writer_bool(writer, NULL, commit->provisional);
        break;
    case N_COLUMNS:
        break;
    }
}

static const struct store_commit *commit_at(const struct points_query *query, guint position)
{
    return (const struct store_commit *)g_ptr_array_index(query->series->project->commits,
                                                          position);
}

static void render_json(const struct points_query *query, const GArray *points, GString *body)
{
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    api_series_write(&writer, "series", query->series);
    for (guint column = 0; column < N_COLUMNS; column++) {
        json_writer_array(&writer, column_names[column]);
        for (guint i = 0; i < points->len; i++) {
            const struct commit_point *point = &g_array_index(points, struct commit_point, i);
            write_value(&writer, (enum column)column, point, commit_at(query, point->position));
        }
        json_writer_end(&writer);
    }
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
}

static void render_csv(const struct points_query *query, const GArray *points, GString *body)
{
    static const char *const columns[] = {"commit",  "position", "time",        "branch",  "center",
                                          "low",     "high",     "censored",    "n",       "runs",
                                          "flagged", "dirty",    "provisional", "subject", NULL};
    struct csv_writer writer = CSV_WRITER_INIT(body);
    csv_writer_header(&writer, columns);
    for (guint i = 0; i < points->len; i++) {
        const struct commit_point *point = &g_array_index(points, struct commit_point, i);
        const struct store_commit *commit = commit_at(query, point->position);
        csv_writer_text(&writer, commit->sha);
        csv_writer_integer(&writer, point->position);
        api_write_csv_time_s(&writer, true, commit->time_s);
        csv_writer_text(&writer, point->branch);
        csv_writer_number(&writer, point->center);
        if (point->has_interval) {
            csv_writer_number(&writer, point->low);
            csv_writer_number(&writer, point->high);
        } else {
            csv_writer_empty(&writer, 2);
        }
        csv_writer_text(&writer, censored_name(point->censored));
        csv_writer_integer(&writer, point->n);
        csv_writer_integer(&writer, point->n_runs + point->n_runs_left_out);
        csv_writer_bool(&writer, point->flagged);
        csv_writer_bool(&writer, point->dirty);
        csv_writer_bool(&writer, commit->provisional);
        csv_writer_text(&writer, commit->subject);
        csv_writer_end_row(&writer);
    }
}

/* NULL with the error, or with none where the client has the answer already. */
static GString *answer(struct points_query *query, bool is_csv, GError **error)
{
    query->series = series_of_path(query->request, query->snapshot, error);
    if (!query->series || !parse_query(query, error) ||
        http_not_modified(query->request, store_version(query->snapshot, query->series->project),
                          is_csv ? HTTP_CSV : HTTP_JSON))
        return NULL;
    g_autoptr(GArray) points = find_points(query, error);
    if (!points)
        return NULL;
    GString *body = g_string_sized_new(1024 + (gsize)points->len * 160);
    if (is_csv)
        render_csv(query, points, body);
    else
        render_json(query, points, body);
    return body;
}

void api_points_get(HttpRequest *request)
{
    bool is_csv = http_request_wants_csv(request);
    struct points_query query = {.request = request, .snapshot = context_snapshot(request)};
    if (!query.snapshot)
        return;
    g_autoptr(GError) error = NULL;
    query.branches = http_query_values(request, "branch");
    GString *body = answer(&query, is_csv, &error);
    store_snapshot_end(query.snapshot);
    if (body)
        http_respond(request, 200, is_csv ? HTTP_CSV : HTTP_JSON, body);
    else if (error)
        http_respond_error(request, error, NULL);
    if (query.branches)
        g_ptr_array_unref(query.branches);
}
