/* SPDX-License-Identifier: Apache-2.0
 * Series and runs by filter. Runs that must hold certain results are found by meeting in the
 * middle: the catalogue says which is the next older run that fits in all else, an index of the
 * rows says which is the next older run with such a result; the older of the two answers moves the
 * other on, so that neither is walked where the other matches rarely. Any thread, within a
 * snapshot. */
#include "schema/number.h"
#include "schema/series_pattern.h"
#include "server/store/catalogue_lines.h"
#include "server/store/store_internal.h"
#include <string.h>

/* ---- Filters
 * ------------------------------------------------------------------------------------------------------
 */

static void clear_list(GPtrArray **list)
{
    g_clear_pointer(list, g_ptr_array_unref);
}

void store_filter_clear(struct store_filter *filter)
{
    GPtrArray **lists[] = {&filter->projects, &filter->benches, &filter->machines,
                           &filter->branches, &filter->reasons, &filter->metrics,
                           &filter->commits};
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
        clear_list(lists[i]);
    for (guint i = 0; filter->params && i < filter->params->len; i++) {
        struct store_param_filter *param = filter->params->pdata[i];
        g_free(param->name);
        g_clear_pointer(&param->values, g_ptr_array_unref);
        g_clear_pointer(&param->ranges, g_array_unref);
        g_free(param);
    }
    clear_list(&filter->params);
    filter->since_ms = filter->until_ms = 0;
}

static bool list_has(const GPtrArray *list, const char *text)
{
    if (!list)
        return true;
    for (guint i = 0; text && i < list->len; i++)
        if (strcmp(list->pdata[i], text) == 0)
            return true;
    return false;
}

static bool ranges_have(const GArray *ranges, const char *value)
{
    double number;
    if (!ranges || !number_parse(value, &number))
        return false;
    for (guint i = 0; i < ranges->len; i++) {
        const struct store_range *range = &g_array_index(ranges, struct store_range, i);
        if (number >= range->low && number <= range->high)
            return true;
    }
    return false;
}

/* The value of a parameter of a case: its own, or the project's default for it. */
static const char *param_value(const struct store_project *project, const char *bench,
                               const GPtrArray *params, const char *name)
{
    for (guint i = 0; params && i < params->len; i++) {
        const struct run_param *param = params->pdata[i];
        if (strcmp(param->name, name) == 0)
            return param->value;
    }
    ParamDefaults *defaults = ((const struct catalogue_project *)project)->defaults;
    return defaults ? param_defaults_value(defaults, bench, name) : NULL;
}

/* Values are asked for as they are shown, or by one that stands for it. */
static bool value_is_wanted(const struct store_benchmark *benchmark,
                            const struct store_param_filter *wanted, const char *value)
{
    const struct line_rules rules = {0};
    const char *shown = line_value(&rules, benchmark, wanted->name, value);
    for (guint i = 0; i < wanted->values->len; i++)
        if (strcmp(line_value(&rules, benchmark, wanted->name, wanted->values->pdata[i]), shown) ==
            0)
            return true;
    return false;
}

static bool params_match(const struct store_filter *filter, const struct store_benchmark *benchmark,
                         const GPtrArray *params)
{
    for (guint i = 0; filter->params && i < filter->params->len; i++) {
        const struct store_param_filter *wanted = filter->params->pdata[i];
        const char *value = param_value(benchmark->project, benchmark->name, params, wanted->name);
        if (!value ||
            !(value_is_wanted(benchmark, wanted, value) || ranges_have(wanted->ranges, value)))
            return false;
    }
    return true;
}

/* Benches are asked for by name or alias, else by pattern. */
static bool bench_matches(const struct store_filter *filter,
                          const struct store_benchmark *benchmark)
{
    if (!filter->benches)
        return true;
    for (guint i = 0; i < filter->benches->len; i++) {
        const char *asked = filter->benches->pdata[i];
        const struct store_benchmark *named = store_benchmark_find(benchmark->project, asked);
        if (named ? named == benchmark
                  : strchr(asked, '*') && series_pattern_glob(asked, benchmark->name))
            return true;
    }
    return false;
}

static bool machine_matches(StoreSnapshot *snapshot, const struct store_filter *filter,
                            const struct store_machine *machine)
{
    if (!filter->machines)
        return true;
    for (guint i = 0; i < filter->machines->len; i++)
        if (store_machine_find(snapshot, filter->machines->pdata[i]) == machine)
            return true;
    return false;
}

bool store_filter_takes_series(StoreSnapshot *snapshot, const struct store_filter *filter,
                               const struct store_series *series)
{
    return list_has(filter->projects, series->project->name) &&
           bench_matches(filter, series->benchmark) &&
           machine_matches(snapshot, filter, series->machine) &&
           list_has(filter->metrics, series->metric) &&
           params_match(filter, series->benchmark, series->params);
}

bool store_filter_takes_result(const struct store_filter *filter,
                               const struct store_project *project, const char *bench,
                               const GPtrArray *params)
{
    const struct store_benchmark *benchmark = store_benchmark_find(project, bench);
    return benchmark && bench_matches(filter, benchmark) && params_match(filter, benchmark, params);
}

/* ---- Series
 * -------------------------------------------------------------------------------------------------------
 */

static void select_of_benchmark(StoreSnapshot *snapshot, const struct store_filter *filter,
                                const struct store_benchmark *benchmark, GPtrArray *selected)
{
    for (guint i = 0; i < benchmark->series->len; i++) {
        struct store_series *series = benchmark->series->pdata[i];
        if (machine_matches(snapshot, filter, series->machine) &&
            list_has(filter->metrics, series->metric) &&
            params_match(filter, benchmark, series->params))
            g_ptr_array_add(selected, series);
    }
}

static gint compare_series(gconstpointer a, gconstpointer b)
{
    const struct store_series *const *left = a, *const *right = b;
    return (*left)->id < (*right)->id ? -1 : (*left)->id > (*right)->id;
}

GPtrArray *store_series_select(StoreSnapshot *snapshot, const struct store_filter *filter)
{
    GPtrArray *selected = g_ptr_array_new();
    const GPtrArray *projects = snapshot->catalogue->projects;
    for (guint p = 0; p < projects->len; p++) {
        const struct store_project *project = projects->pdata[p];
        if (!list_has(filter->projects, project->name))
            continue;
        for (guint b = 0; b < project->benchmarks->len; b++)
            if (bench_matches(filter, project->benchmarks->pdata[b]))
                select_of_benchmark(snapshot, filter, project->benchmarks->pdata[b], selected);
    }
    g_ptr_array_sort(selected, compare_series);
    return selected;
}

/* ---- Runs
 * ---------------------------------------------------------------------------------------------------------
 */

/* Runs that have a certain kind of result, newest first: `head` is the latest at or before what was
 * asked last. */
struct stream {
    enum sqlite_stream kind;
    int64_t id;
    int64_t head; /* INT64_MAX before the first question, 0 at the end */
};

struct selection {
    StoreSnapshot *snapshot;
    const struct store_filter *filter;
    const GPtrArray *runs;          /* of the one project that is asked for, or all */
    GHashTable *commits, *machines; /* wanted ones, or NULL for any */
    GArray *streams;                /* struct stream, or NULL where any result will do */
};

static void add_stream(struct selection *selection, enum sqlite_stream kind, int64_t id)
{
    struct stream stream = {.kind = kind, .id = id, .head = INT64_MAX};
    g_array_append_val(selection->streams, stream);
}

static void add_benchmark_streams(struct selection *selection)
{
    const GPtrArray *projects = selection->snapshot->catalogue->projects;
    for (guint p = 0; p < projects->len; p++) {
        const struct store_project *project = projects->pdata[p];
        if (!list_has(selection->filter->projects, project->name))
            continue;
        const struct line_rules rules = {0};
        GHashTableIter iterator;
        gpointer posted;
        g_hash_table_iter_init(&iterator,
                               ((const struct catalogue_project *)project)->benchmark_by_name);
        while (g_hash_table_iter_next(&iterator, NULL, &posted))
            if (bench_matches(selection->filter, line_benchmark(&rules, posted)))
                add_stream(selection, STREAM_BENCHMARK,
                           ((const struct store_benchmark *)posted)->id);
    }
}

/* Cases that ended in an error have no series; they match as long as no metric is asked for. */
static void add_case_streams(struct selection *selection)
{
    const struct store_filter *filter = selection->filter;
    const GPtrArray *projects = selection->snapshot->catalogue->projects;
    for (guint p = 0; p < projects->len; p++) {
        const struct catalogue_project *project = projects->pdata[p];
        if (!list_has(filter->projects, project->pub.name))
            continue;
        for (guint c = 0; c < project->cases->len; c++) {
            const struct line_rules rules = {0};
            const struct catalogue_case *error_case = project->cases->pdata[c];
            const struct store_benchmark *shown = line_benchmark(&rules, error_case->benchmark);
            if (bench_matches(filter, shown) && params_match(filter, shown, error_case->params))
                add_stream(selection, STREAM_CASE, error_case->id);
        }
    }
}

static void add_series_streams(struct selection *selection, const struct store_series *series)
{
    if (!series->parts)
        add_stream(selection, STREAM_SERIES, series->id);
    for (guint i = 0; series->parts && i < series->parts->len; i++)
        add_stream(selection, STREAM_SERIES,
                   ((const struct store_series *)series->parts->pdata[i])->id);
}

static void choose_streams(struct selection *selection)
{
    const struct store_filter *filter = selection->filter;
    if (!filter->benches && !filter->params && !filter->metrics)
        return;
    selection->streams = g_array_new(FALSE, FALSE, sizeof(struct stream));
    if (!filter->params && !filter->metrics) {
        add_benchmark_streams(selection);
        return;
    }
    g_autoptr(GPtrArray) series = store_series_select(selection->snapshot, filter);
    for (guint i = 0; i < series->len; i++)
        add_series_streams(selection, series->pdata[i]);
    if (!filter->metrics)
        add_case_streams(selection);
}

static bool run_matches(const struct selection *selection, const struct store_run *run)
{
    const struct store_filter *filter = selection->filter;
    return (!selection->commits || g_hash_table_contains(selection->commits, run->commit)) &&
           (!selection->machines || g_hash_table_contains(selection->machines, run->machine)) &&
           (filter->since_ms == 0 || run->started_ms >= filter->since_ms) &&
           (filter->until_ms == 0 || run->started_ms < filter->until_ms) &&
           list_has(filter->branches, run->branch) && list_has(filter->reasons, run->reason) &&
           list_has(filter->projects, run->project->name);
}

/* The latest matching run at an index below `end`; NULL for none. *end becomes its index. */
static struct store_run *next_in_memory(const struct selection *selection, guint *end)
{
    while (*end > 0) {
        struct store_run *run = selection->runs->pdata[--*end];
        if (run_matches(selection, run))
            return run;
    }
    return NULL;
}

/* The latest run at or before `seq` in any stream; 0 for none, -1 on failure. */
static int64_t next_in_streams(struct selection *selection, int64_t seq, GError **error)
{
    SqliteReader *rows = store_snapshot_rows(selection->snapshot, error);
    int64_t latest = 0;
    for (guint i = 0; rows && i < selection->streams->len; i++) {
        struct stream *stream = &g_array_index(selection->streams, struct stream, i);
        if (stream->head > seq &&
            !sqlite_reader_latest(rows, stream->kind, stream->id, seq, &stream->head, error))
            return -1;
        latest = MAX(latest, stream->head);
    }
    return rows ? latest : -1;
}

static void choose_runs(struct selection *selection)
{
    const struct store_filter *filter = selection->filter;
    selection->runs = selection->snapshot->catalogue->runs;
    if (filter->projects && filter->projects->len == 1) {
        const struct store_project *project =
            store_project_find(selection->snapshot, filter->projects->pdata[0]);
        static const GPtrArray none;
        selection->runs = project ? project->runs : &none;
    }
    if (filter->machines) {
        selection->machines = g_hash_table_new(NULL, NULL);
        for (guint i = 0; i < filter->machines->len; i++)
            g_hash_table_add(selection->machines,
                             store_machine_find(selection->snapshot, filter->machines->pdata[i]));
    }
    if (!filter->commits)
        return;
    selection->commits = g_hash_table_new(NULL, NULL);
    const GPtrArray *projects = selection->snapshot->catalogue->projects;
    for (guint p = 0; p < projects->len; p++)
        for (guint i = 0; i < filter->commits->len; i++)
            g_hash_table_add(
                selection->commits,
                g_hash_table_lookup(
                    ((const struct catalogue_project *)projects->pdata[p])->commit_by_sha,
                    filter->commits->pdata[i]));
}

static bool collect_runs(struct selection *selection, guint end, guint wanted, GPtrArray *found,
                         GError **error)
{
    while (found->len < wanted) {
        struct store_run *run = next_in_memory(selection, &end);
        if (!run)
            return true;
        if (selection->streams) {
            int64_t seq = next_in_streams(selection, run->seq, error);
            if (seq <= 0)
                return seq == 0;
            if (seq < run->seq) {
                end = MIN(end, catalogue_runs_position(selection->runs, seq + 1));
                continue;
            }
        }
        g_ptr_array_add(found, run);
    }
    return true;
}

GPtrArray *store_runs_select(StoreSnapshot *snapshot, const struct store_filter *filter,
                             int64_t before, guint limit, bool *out_more, GError **error)
{
    struct selection selection = {.snapshot = snapshot, .filter = filter};
    choose_runs(&selection);
    choose_streams(&selection);
    guint end = before > 0 ? catalogue_runs_position(selection.runs, before) : selection.runs->len;
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    bool fine = collect_runs(&selection, end, limit + 1, found, error);
    if (selection.streams)
        g_array_unref(selection.streams);
    g_clear_pointer(&selection.commits, g_hash_table_unref);
    g_clear_pointer(&selection.machines, g_hash_table_unref);
    *out_more = found->len > limit;
    if (*out_more)
        g_ptr_array_set_size(found, (gint)limit);
    return fine ? g_steal_pointer(&found) : NULL;
}
