/* SPDX-License-Identifier: Apache-2.0
 * See explore_data.h. Series are grouped by a text of all that names them but the overlay; only
 * the charts of the page at hand are read. */
#include "server/pages/explore_data.h"

#include "schema/number.h"
#include "server/pages/chart.h"
#include "server/pages/recent_runs.h"
#include "server/pages/trend_data.h"

#include <math.h>
#include <string.h>

#define SCAN_FACTOR 4u /* a series with up to so many points a column is read whole */

static void line_free(gpointer data)
{
    struct explore_line *line = (struct explore_line *)data;
    g_array_unref(line->points);
    g_free(line);
}

static void chart_free(gpointer data)
{
    struct explore_chart *chart = (struct explore_chart *)data;
    g_ptr_array_unref(chart->series);
    g_ptr_array_unref(chart->lines);
    g_free(chart);
}

void explore_data_free(ExploreData *data)
{
    if (!data)
        return;
    g_ptr_array_unref(data->names);
    g_ptr_array_unref(data->charts);
    g_ptr_array_unref(data->commits);
    g_free(data);
}

const char *explore_value(const struct store_series *series, const char *name)
{
    if (strcmp(name, EXPLORE_BENCH) == 0)
        return series->benchmark->name;
    if (strcmp(name, EXPLORE_MACHINE) == 0)
        return series->machine->name;
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param = (const struct run_param *)series->params->pdata[i];
        if (strcmp(param->name, name) == 0)
            return param->value;
    }
    return "";
}

/* ---- What there is to choose ----------------------------------------------------------------- */

struct use {
    const char *name;
    guint n_series;
    GHashTable *values; /* const char *, each once */
};

static void use_free(gpointer data)
{
    struct use *use = (struct use *)data;
    g_hash_table_unref(use->values);
    g_free(use);
}

/* Lines that a chart can draw go first. */
static int compare_uses(gconstpointer a, gconstpointer b)
{
    const struct use *left = *(const struct use *const *)a;
    const struct use *right = *(const struct use *const *)b;
    guint n_left = g_hash_table_size(left->values), n_right = g_hash_table_size(right->values);
    bool fits_left = n_left <= EXPLORE_LINES_MAX, fits_right = n_right <= EXPLORE_LINES_MAX;
    if (fits_left != fits_right)
        return fits_left ? -1 : 1;
    if (n_left != n_right)
        return n_left > n_right ? -1 : 1;
    if (left->n_series != right->n_series)
        return left->n_series > right->n_series ? -1 : 1;
    return strcmp(left->name, right->name);
}

/* struct use *: parameters by how many values they have, then by how many series have them. */
static GPtrArray *uses_of(const GPtrArray *series)
{
    GPtrArray *uses = g_ptr_array_new_with_free_func(use_free);
    g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < series->len; i++) {
        const GPtrArray *params = ((const struct store_series *)series->pdata[i])->params;
        for (guint k = 0; k < params->len; k++) {
            const struct run_param *param = (const struct run_param *)params->pdata[k];
            struct use *use = (struct use *)g_hash_table_lookup(by_name, param->name);
            if (!use) {
                use = g_new0(struct use, 1);
                use->name = param->name;
                use->values = g_hash_table_new(g_str_hash, g_str_equal);
                g_ptr_array_add(uses, use);
                g_hash_table_insert(by_name, param->name, use);
            }
            use->n_series++;
            g_hash_table_add(use->values, param->value);
        }
    }
    g_ptr_array_sort(uses, compare_uses);
    return uses;
}

/* The first of `names` that is `asked`, or NULL. */
static const char *name_among(const GPtrArray *names, const char *asked)
{
    for (guint i = 0; asked && i < names->len; i++)
        if (strcmp((const char *)names->pdata[i], asked) == 0)
            return (const char *)names->pdata[i];
    return NULL;
}

static void choose_names(ExploreData *data, const GPtrArray *series,
                         const struct explore_request *request)
{
    g_autoptr(GPtrArray) uses = uses_of(series);
    g_ptr_array_add(data->names, g_strdup(EXPLORE_BENCH));
    g_ptr_array_add(data->names, g_strdup(EXPLORE_MACHINE));
    for (guint i = 0; i < uses->len && i < EXPLORE_NAMES_MAX; i++)
        g_ptr_array_add(data->names, g_strdup(((const struct use *)uses->pdata[i])->name));
    const char *by = name_among(data->names, request->by);
    const char *overlay = name_among(data->names, request->overlay);
    data->by = by ? by : EXPLORE_BENCH;
    if (overlay)
        data->overlay = overlay;
    else if (!request->overlay && data->names->len > 2)
        data->overlay = (const char *)data->names->pdata[2];
    else
        data->overlay = "";
}

/* ---- Charts ---------------------------------------------------------------------------------- */

/* Lengths keep apart what a text may hold. */
static void append_part(GString *key, const char *name, const char *value)
{
    g_string_append_printf(key, "%zu:%s%zu:%s", strlen(name), name, strlen(value), value);
}

static void chart_key(GString *key, const struct store_series *series, const char *overlay)
{
    g_string_truncate(key, 0);
    append_part(key, series->metric, series->unit);
    if (strcmp(overlay, EXPLORE_BENCH) != 0)
        append_part(key, EXPLORE_BENCH, series->benchmark->name);
    if (strcmp(overlay, EXPLORE_MACHINE) != 0)
        append_part(key, EXPLORE_MACHINE, series->machine->name);
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param = (const struct run_param *)series->params->pdata[i];
        if (strcmp(overlay, param->name) != 0)
            append_part(key, param->name, param->value);
    }
}

static int compare_values(const char *left, const char *right)
{
    double left_number, right_number;
    if (number_parse(left, &left_number) && number_parse(right, &right_number) &&
        (left_number < right_number || left_number > right_number))
        return left_number < right_number ? -1 : 1;
    return strcmp(left, right);
}

static int compare_charts(gconstpointer a, gconstpointer b)
{
    const struct explore_chart *left = *(const struct explore_chart *const *)a;
    const struct explore_chart *right = *(const struct explore_chart *const *)b;
    int order = compare_values(left->facet, right->facet);
    return order != 0 ? order : left->order < right->order ? -1 : left->order > right->order;
}

static void lay_charts(ExploreData *data, const GPtrArray *series)
{
    g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GString) key = g_string_new(NULL);
    for (guint i = 0; i < series->len; i++) {
        const struct store_series *one = (const struct store_series *)series->pdata[i];
        chart_key(key, one, data->overlay);
        struct explore_chart *chart = (struct explore_chart *)g_hash_table_lookup(by_key, key->str);
        if (!chart) {
            chart = g_new0(struct explore_chart, 1);
            chart->like = one;
            chart->facet = explore_value(one, data->by);
            chart->series = g_ptr_array_new();
            chart->lines = g_ptr_array_new_with_free_func(line_free);
            chart->order = data->charts->len;
            g_ptr_array_add(data->charts, chart);
            g_hash_table_insert(by_key, g_strdup(key->str), chart);
        }
        g_ptr_array_add(chart->series, series->pdata[i]);
    }
    g_ptr_array_sort(data->charts, compare_charts);
}

static void choose_page(ExploreData *data, guint page)
{
    guint n = data->charts->len;
    data->n_pages = MAX(1, (n + EXPLORE_CHARTS - 1) / EXPLORE_CHARTS);
    data->page = CLAMP(page, 1, data->n_pages);
    data->first = (data->page - 1) * EXPLORE_CHARTS;
    data->end = MIN(n, data->first + EXPLORE_CHARTS);
}

/* ---- Columns --------------------------------------------------------------------------------- */

struct columns {
    StoreSnapshot *snapshot;
    StoreBranch branch;
    guint *place_by_position; /* one more than the column; 0: none */
    GPtrArray *runs;          /* const struct store_run *: of the branch, at a column */
    guint n;
};

static void columns_clear(struct columns *columns)
{
    store_branch_clear(&columns->branch);
    g_free(columns->place_by_position);
    g_ptr_array_unref(columns->runs);
}

static GHashTable *machines_of(const GPtrArray *series)
{
    GHashTable *machines = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < series->len; i++)
        g_hash_table_add(machines, ((const struct store_series *)series->pdata[i])->machine);
    return machines;
}

static bool is_wanted(const struct columns *columns, const struct store_run *run,
                      GHashTable *machines)
{
    return g_hash_table_contains(machines, run->machine) &&
           store_branch_has_run(&columns->branch, run);
}

/* The newest `n_max` commits that a machine of the series has measured on the branch. */
static void columns_init(struct columns *columns, ExploreData *data,
                         const struct store_project *project, const GPtrArray *series, guint n_max)
{
    guint n_commits = project->commits->len, first = n_commits;
    g_autoptr(GHashTable) machines = machines_of(series);
    columns->place_by_position = g_new0(guint, n_commits + 1);
    columns->runs = g_ptr_array_new();
    for (guint i = 0; i < project->runs->len; i++) {
        const struct store_run *run = (const struct store_run *)project->runs->pdata[i];
        if (is_wanted(columns, run, machines))
            columns->place_by_position[run->commit->position] = 1;
    }
    for (; first > 0 && columns->n < n_max; first--)
        columns->n += columns->place_by_position[first - 1];
    memset(columns->place_by_position, 0, first * sizeof(guint));
    for (guint i = first; i < n_commits; i++) {
        if (!columns->place_by_position[i])
            continue;
        g_ptr_array_add(data->commits, project->commits->pdata[i]);
        columns->place_by_position[i] = data->commits->len;
    }
    for (guint i = 0; i < project->runs->len; i++) {
        const struct store_run *run = (const struct store_run *)project->runs->pdata[i];
        if (columns->place_by_position[run->commit->position] && is_wanted(columns, run, machines))
            g_ptr_array_add(columns->runs, project->runs->pdata[i]);
    }
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool read_whole(const struct columns *columns, const struct store_series *series,
                       GArray *inputs, GError **error)
{
    g_autoptr(GArray) points = store_series_points(columns->snapshot, series->id, error);
    for (guint i = 0; points && i < points->len; i++) {
        const struct store_point *point = &g_array_index(points, struct store_point, i);
        const struct store_run *run = store_run_by_seq(columns->snapshot, point->run_seq);
        if (!run || !columns->place_by_position[run->commit->position] ||
            !store_branch_has_run(&columns->branch, run))
            continue;
        struct commit_point_input input = trend_input_of(point, run);
        g_array_append_val(inputs, input);
    }
    return points != NULL;
}

static bool read_runs(const struct columns *columns, const struct store_series *series,
                      GArray *inputs, GError **error)
{
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct store_point));
    for (guint i = 0; i < columns->runs->len; i++) {
        const struct store_run *run = (const struct store_run *)columns->runs->pdata[i];
        guint before = points->len;
        if (run->machine != series->machine)
            continue;
        if (!store_series_point(columns->snapshot, series->id, run->seq, points, error))
            return false;
        if (points->len == before)
            continue;
        struct commit_point_input input =
            trend_input_of(&g_array_index(points, struct store_point, before), run);
        g_array_append_val(inputs, input);
    }
    return true;
}

/* What 100 % is: the first value, or the median of those before the newest. NaN: nothing. */
static double base_of(const GArray *values, enum explore_normalise normalise)
{
    const struct recent_reference reference = recent_reference_of(values);
    if (normalise == EXPLORE_TO_FIRST)
        return recent_first_base(values);
    return reference.n < RECENT_REFERENCE_MIN ? (double)NAN : reference.value;
}

static void fill_points(const struct columns *columns, struct explore_line *line,
                        const GArray *values, enum explore_normalise normalise)
{
    double base = normalise == EXPLORE_AS_MEASURED ? 100 : base_of(values, normalise);
    line->is_left_out = values->len > 0 && (!isfinite(base) || base == 0);
    for (guint i = 0; i < values->len && !line->is_left_out; i++) {
        const struct commit_point *value = &g_array_index(values, struct commit_point, i);
        struct explore_point point = {
            columns->place_by_position[value->position] - 1,
            normalise == EXPLORE_AS_MEASURED ? value->center : 100 * value->center / base};
        if (isfinite(point.value))
            g_array_append_val(line->points, point);
    }
}

static bool read_line(const struct columns *columns, struct explore_line *line,
                      enum explore_normalise normalise, GError **error)
{
    g_autoptr(GArray) inputs = g_array_new(FALSE, FALSE, sizeof(struct commit_point_input));
    bool is_short = line->series->n_points <= SCAN_FACTOR * columns->n;
    if (is_short ? !read_whole(columns, line->series, inputs, error)
                 : !read_runs(columns, line->series, inputs, error))
        return false;
    g_autoptr(GArray) values =
        commit_points_build((const struct commit_point_input *)(const void *)inputs->data,
                            inputs->len, columns->branch.name);
    fill_points(columns, line, values, normalise);
    return true;
}

static int compare_overlays(gconstpointer a, gconstpointer b)
{
    return compare_values(*(const char *const *)a, *(const char *const *)b);
}

/* The overlay's value -> one more than its place among all. */
static GHashTable *overlay_places(const GPtrArray *series, const char *overlay)
{
    GHashTable *places = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) values = g_ptr_array_new();
    for (guint i = 0; *overlay && i < series->len; i++) {
        const char *value = explore_value((const struct store_series *)series->pdata[i], overlay);
        if (g_hash_table_add(places, (gpointer)(gsize)value))
            g_ptr_array_add(values, (gpointer)(gsize)value);
    }
    g_ptr_array_sort(values, compare_overlays);
    for (guint i = 0; i < values->len; i++)
        g_hash_table_insert(places, values->pdata[i], GUINT_TO_POINTER(i + 1));
    return places;
}

static int compare_lines(gconstpointer a, gconstpointer b)
{
    const struct explore_line *left = *(const struct explore_line *const *)a;
    const struct explore_line *right = *(const struct explore_line *const *)b;
    int order = compare_values(left->name, right->name);
    return order != 0
               ? order
               : (left->series->id > right->series->id) - (left->series->id < right->series->id);
}

/* The first lines by the overlay's values. */
static void lay_lines(struct explore_chart *chart, const char *overlay, GHashTable *places)
{
    for (guint i = 0; i < chart->series->len; i++) {
        const struct store_series *series = (const struct store_series *)chart->series->pdata[i];
        struct explore_line *line = g_new0(struct explore_line, 1);
        line->series = series;
        line->name = *overlay ? explore_value(series, overlay) : "";
        guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, line->name));
        line->slot = place > 0 ? (place - 1) % CHART_SLOTS : 0;
        line->points = g_array_new(FALSE, FALSE, sizeof(struct explore_point));
        g_ptr_array_add(chart->lines, line);
    }
    g_ptr_array_sort(chart->lines, compare_lines);
    if (chart->lines->len > EXPLORE_LINES_MAX)
        g_ptr_array_set_size(chart->lines, (int)EXPLORE_LINES_MAX);
}

static bool read_charts(ExploreData *data, const struct columns *columns, const GPtrArray *series,
                        enum explore_normalise normalise, GError **error)
{
    g_autoptr(GHashTable) places = overlay_places(series, data->overlay);
    for (guint i = data->first; i < data->end; i++) {
        struct explore_chart *chart = (struct explore_chart *)data->charts->pdata[i];
        lay_lines(chart, data->overlay, places);
        for (guint k = 0; k < chart->lines->len; k++)
            if (!read_line(columns, (struct explore_line *)chart->lines->pdata[k], normalise,
                           error))
                return false;
    }
    return true;
}

ExploreData *explore_data_new(StoreSnapshot *snapshot, const struct store_project *project,
                              const GPtrArray *series, const struct explore_request *request,
                              GError **error)
{
    g_autoptr(ExploreData) data = g_new0(ExploreData, 1);
    data->names = g_ptr_array_new_with_free_func(g_free);
    data->charts = g_ptr_array_new_with_free_func(chart_free);
    data->commits = g_ptr_array_new();
    choose_names(data, series, request);
    lay_charts(data, series);
    choose_page(data, request->page);
    struct columns columns = {.snapshot = snapshot};
    store_branch_open(&columns.branch, project, request->branch);
    columns_init(&columns, data, project, series, request->n_commits);
    bool fine = read_charts(data, &columns, series, request->normalise, error);
    columns_clear(&columns);
    return fine ? g_steal_pointer(&data) : NULL;
}
