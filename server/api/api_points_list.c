/* SPDX-License-Identifier: Apache-2.0
 * /api/points: the points of all series that a filter takes, as flat rows: series by series, each
 * in commit order. Runs on the request's thread. */
#include "server/api/api_filter.h"
#include "server/api/api_list.h"
#include "server/api/point_row.h"
#include "server/api/series_line.h"
#include "server/routes.h"
#include <string.h>

#define SERIES_MAX    1000u /* that are read for one answer */
#define LIMIT_DEFAULT 10000u
#define LIMIT_MAX     100000u

struct points_query {
    struct store_filter filter;
    struct line_query line;
    GArray *rows; /* struct point_row: of the page */
};

static void free_query(gpointer item)
{
    struct points_query *query = (struct points_query *)item;
    store_filter_clear(&query->filter);
    line_query_clear(&query->line);
    g_clear_pointer(&query->rows, g_array_unref);
    g_free(query);
}

static bool open_filter(struct api_list *list, int64_t *out_version, GError **error G_GNUC_UNUSED)
{
    const struct points_query *query = (const struct points_query *)list->user;
    *out_version = api_filter_version(list->snapshot, &query->filter);
    return true;
}

/* ---- Collecting
 * -----------------------------------------------------------------------------------------------------
 */

/* Whether a row of this series comes after the cursor's place. */
static bool is_after(const struct api_list *list, const struct store_series *series,
                     const struct store_commit *commit)
{
    int64_t id = list->after ? g_ascii_strtoll(list->after[0], NULL, 10) : 0;
    return series->id > id ||
           (series->id == id && api_list_compare_commit(commit, &list->after[1]) > 0);
}

/* Adds the series' rows until there is one more than the page takes. */
static bool add_series(struct api_list *list, const struct store_series *series,
                       const struct line_range *range, GError **error)
{
    struct points_query *query = (struct points_query *)list->user;
    g_autoptr(GArray) line = series_line_read(list->snapshot, series, &query->line, range, error);
    if (!line)
        return false;
    for (guint i = 0; i < line->len && query->rows->len <= list->limit; i++) {
        struct point_row row = {.series = series,
                                .point = g_array_index(line, struct commit_point, i)};
        row.commit = (const struct store_commit *)g_ptr_array_index(series->project->commits,
                                                                    row.point.position);
        if (is_after(list, series, row.commit))
            g_array_append_val(query->rows, row);
    }
    return true;
}

/* The range among the commits of each project that has wanted series; a project that lacks a commit
 * of the range has no rows, but one must have it. */
static GHashTable *resolve_ranges(const struct points_query *query, const GPtrArray *series,
                                  GError **error)
{
    g_autoptr(GHashTable) ranges = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_autoptr(GHashTable) tried = g_hash_table_new(NULL, NULL);
    g_autoptr(GError) first = NULL;
    for (guint i = 0; i < series->len; i++) {
        struct store_project *project =
            ((const struct store_series *)g_ptr_array_index(series, i))->project;
        struct line_range range;
        if (!g_hash_table_add(tried, project))
            continue;
        if (line_query_resolve(&query->line, project, &range, first ? NULL : &first))
            g_hash_table_insert(ranges, project, g_memdup2(&range, sizeof range));
    }
    if (g_hash_table_size(ranges) == 0 && first) {
        g_propagate_error(error, g_steal_pointer(&first));
        return NULL;
    }
    return g_steal_pointer(&ranges);
}

static bool add_all(struct api_list *list, const GPtrArray *series, GError **error)
{
    struct points_query *query = (struct points_query *)list->user;
    int64_t from_id = list->after ? g_ascii_strtoll(list->after[0], NULL, 10) : 0;
    g_autoptr(GHashTable) ranges = resolve_ranges(query, series, error);
    for (guint i = 0; ranges && i < series->len && query->rows->len <= list->limit; i++) {
        const struct store_series *one = (const struct store_series *)g_ptr_array_index(series, i);
        const struct line_range *range =
            (const struct line_range *)g_hash_table_lookup(ranges, one->project);
        if (range && one->id >= from_id && !add_series(list, one, range, error))
            return false;
    }
    return ranges != NULL;
}

static bool collect(struct api_list *list, GError **error)
{
    struct points_query *query = (struct points_query *)list->user;
    g_autoptr(GPtrArray) series = store_series_select(list->snapshot, &query->filter);
    if (series->len > SERIES_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "%u series have points here, and %u are read at most: say more of project, "
                    "bench, machine, metric and param.NAME",
                    series->len, SERIES_MAX);
        return false;
    }
    g_clear_pointer(&query->rows, g_array_unref);
    query->rows = g_array_new(FALSE, FALSE, sizeof(struct point_row));
    if (!add_all(list, series, error))
        return false;
    for (guint i = 0; i < query->rows->len; i++)
        g_ptr_array_add(list->items, &g_array_index(query->rows, struct point_row, i));
    return true;
}

/* ---- Writing
 * --------------------------------------------------------------------------------------------------------
 */

static bool row_json(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                     struct json_writer *writer, GError **error G_GNUC_UNUSED)
{
    point_row_write_json(writer, (const struct point_row *)item);
    return true;
}

static bool row_csv(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                    struct csv_writer *writer, GError **error G_GNUC_UNUSED)
{
    point_row_write_csv(writer, (const struct point_row *)item);
    return true;
}

static void place(gconstpointer item, char *fields[API_LIST_FIELDS_MAX])
{
    const struct point_row *row = (const struct point_row *)item;
    fields[0] = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)row->series->id);
    fields[1] = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)row->commit->key_s);
    fields[2] = g_strdup(row->commit->sha);
}

static bool parse_shape(const HttpRequest *request, GError **error)
{
    const char *shape = http_request_query(request, "shape");
    if (!shape || strcmp(shape, "rows") == 0)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "shape: \"%s\" is not known here; there is rows. The columns of one series are at "
                "/api/series/{series}/points",
                shape);
    return false;
}

void api_points_list(HttpRequest *request)
{
    static const struct api_list_spec spec = {.plural = "points",
                                              .n_cursor_fields = 3,
                                              .limit_default = LIMIT_DEFAULT,
                                              .limit_max = LIMIT_MAX,
                                              .members = point_row_names,
                                              .columns = point_row_names,
                                              .open = open_filter,
                                              .collect = collect,
                                              .write_json = row_json,
                                              .write_csv = row_csv,
                                              .place = place,
                                              .free_user = free_query};
    g_autoptr(GError) error = NULL;
    struct points_query *query = g_new0(struct points_query, 1);
    if (api_filter_parse(request, &query->filter, &error) && parse_shape(request, &error) &&
        line_query_parse(request, &query->line, &error)) {
        api_list_serve(request, &spec, query);
    } else {
        http_respond_error(request, error, NULL);
        free_query(query);
    }
}
