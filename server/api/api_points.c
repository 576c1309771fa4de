/* SPDX-License-Identifier: Apache-2.0
 * /api/series/{series}/points: the line, one point for each commit, as columns that are ready to
 * draw, or as rows. Runs on the request's thread. */
#include "server/api/api_list.h"
#include "server/api/api_series.h"
#include "server/api/point_row.h"
#include "server/api/series_line.h"
#include "server/routes.h"
#include "server/store/store_branches.h"
#include <string.h>

struct points_query {
    HttpRequest *request;
    StoreSnapshot *snapshot;
    enum http_format format;
    const struct store_series *series;
    struct line_query line;
    GPtrArray *fields; /* char *; NULL: all */
};

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

/* ---- The answer
 * -----------------------------------------------------------------------------------------------------
 */

/* A column: one value of each point. */
enum column {
    COLUMN_SERIES, /* what they are of: one value for all */
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
    COLUMN_ENVIRONMENT_CHANGES, /* one entry where it became another */
    N_COLUMNS
};

static const char *const column_names[N_COLUMNS + 1] = {[COLUMN_SERIES] = "series",
                                                        [COLUMN_COMMITS] = "commits",
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
                                                        [COLUMN_ENVIRONMENT_CHANGES] =
                                                            "environment_changes",
                                                        [N_COLUMNS] = NULL};

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
        json_writer_string(writer, NULL, point_row_censored(point->censored));
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
    case COLUMN_SERIES:
    case COLUMN_ENVIRONMENT_CHANGES:
    case N_COLUMNS:
        break;
    }
}

static const struct store_commit *commit_at(const struct points_query *query, guint position)
{
    return (const struct store_commit *)g_ptr_array_index(query->series->project->commits,
                                                          position);
}

static bool is_asked_for(const struct points_query *query, enum column column)
{
    return !query->fields ||
           g_ptr_array_find_with_equal_func(query->fields, column_names[column], g_str_equal, NULL);
}

/* Where the environment of a point's latest run is another than of the one before; points whose run
 * does not tell it are passed over. */
static void write_environment_changes(struct json_writer *writer, const struct points_query *query,
                                      const GArray *points)
{
    const char *before = NULL;
    json_writer_array(writer, column_names[COLUMN_ENVIRONMENT_CHANGES]);
    for (guint i = 0; i < points->len; i++) {
        const struct commit_point *point = &g_array_index(points, struct commit_point, i);
        const struct store_run *run = store_run_by_seq(query->snapshot, point->last_run_seq);
        const char *now = run ? run->environment_digest : NULL;
        if (now && before && strcmp(now, before) != 0) {
            json_writer_object(writer, NULL);
            json_writer_string(writer, "commit", commit_at(query, point->position)->sha);
            json_writer_integer(writer, "position", point->position);
            json_writer_string(writer, "before", before);
            json_writer_string(writer, "after", now);
            json_writer_end(writer);
        }
        before = now ? now : before;
    }
    json_writer_end(writer);
}

static void render_json(const struct points_query *query, const GArray *points, GString *body)
{
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    if (is_asked_for(query, COLUMN_SERIES))
        api_series_write(&writer, "series", query->series);
    for (guint column = COLUMN_SERIES + 1; column < COLUMN_ENVIRONMENT_CHANGES; column++) {
        if (!is_asked_for(query, (enum column)column))
            continue;
        json_writer_array(&writer, column_names[column]);
        for (guint i = 0; i < points->len; i++) {
            const struct commit_point *point = &g_array_index(points, struct commit_point, i);
            write_value(&writer, (enum column)column, point, commit_at(query, point->position));
        }
        json_writer_end(&writer);
    }
    if (is_asked_for(query, COLUMN_ENVIRONMENT_CHANGES))
        write_environment_changes(&writer, query, points);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
}

static void render_ndjson(const struct points_query *query, const GArray *points, GString *body)
{
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_only(&writer, query->fields, 1);
    for (guint i = 0; i < points->len; i++) {
        struct point_row row = {.series = query->series,
                                .point = g_array_index(points, struct commit_point, i)};
        row.commit = commit_at(query, row.point.position);
        point_row_write_json(&writer, &row);
        g_string_append_c(body, '\n');
    }
}

static const char *const csv_columns[] = {"commit",  "position", "time",        "branch",  "center",
                                          "low",     "high",     "censored",    "n",       "runs",
                                          "flagged", "dirty",    "provisional", "subject", NULL};

static void render_csv(const struct points_query *query, const GArray *points, GString *body)
{
    struct csv_writer writer = CSV_WRITER_INIT(body);
    csv_writer_only(&writer, csv_columns, query->fields);
    csv_writer_header(&writer, csv_columns);
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
        csv_writer_text(&writer, point_row_censored(point->censored));
        csv_writer_integer(&writer, point->n);
        csv_writer_integer(&writer, point->n_runs + point->n_runs_left_out);
        csv_writer_bool(&writer, point->flagged);
        csv_writer_bool(&writer, point->dirty);
        csv_writer_bool(&writer, commit->provisional);
        csv_writer_text(&writer, commit->subject);
        csv_writer_end_row(&writer);
    }
}

static GString *render(const struct points_query *query, const GArray *points)
{
    GString *body = g_string_sized_new(1024 + (gsize)points->len * 160);
    switch (query->format) {
    case HTTP_FORMAT_JSON:
        render_json(query, points, body);
        break;
    case HTTP_FORMAT_CSV:
        render_csv(query, points, body);
        break;
    case HTTP_FORMAT_NDJSON:
        render_ndjson(query, points, body);
        break;
    }
    return body;
}

static bool parse_query(struct points_query *query, GError **error)
{
    static const char *const *const names[] = {[HTTP_FORMAT_JSON] = column_names,
                                               [HTTP_FORMAT_CSV] = csv_columns,
                                               [HTTP_FORMAT_NDJSON] = point_row_names};
    return line_query_parse(query->request, &query->line, error) &&
           api_list_fields(query->request, names[query->format], &query->fields, error);
}

/* NULL with the error, or with none where the client has the answer already. */
static GString *answer(struct points_query *query, GError **error)
{
    struct line_range range;
    query->series = series_of_path(query->request, query->snapshot, error);
    if (!query->series || !parse_query(query, error) ||
        !line_query_resolve(&query->line, query->series->project, &range, error) ||
        http_answered(query->request, store_version(query->snapshot, query->series->project),
                      http_format_type(query->format)))
        return NULL;
    g_autoptr(GArray) points =
        series_line_read(query->snapshot, query->series, &query->line, &range, error);
    return points ? render(query, points) : NULL;
}

void api_points_get(HttpRequest *request)
{
    struct points_query query = {.request = request,
                                 .snapshot = context_snapshot(request),
                                 .format = http_request_format(request)};
    if (!query.snapshot)
        return;
    g_autoptr(GError) error = NULL;
    GString *body = answer(&query, &error);
    store_snapshot_end(query.snapshot);
    if (body)
        http_respond(request, 200, http_format_type(query.format), body);
    else if (error)
        http_respond_error(request, error, NULL);
    line_query_clear(&query.line);
    g_clear_pointer(&query.fields, g_ptr_array_unref);
}
