/* SPDX-License-Identifier: Apache-2.0
 * The results of one run that match a filter. One thread at a time; reads the store through the
 * snapshot it is given. */
#include "server/api/run_results.h"

#include "schema/number.h"
#include "server/api/api_write.h"
#include "server/api/param_order.h"
#include "server/api/result_match.h"
#include <string.h>

struct entry {
    const struct store_point *point;
    const struct store_series *series; /* of the point */
    const struct run_metric *metric;   /* with its samples; NULL where not asked for */
    const char *info_json;             /* of its result; the same, or where it has none */
};

struct run_results {
    const struct store_run *run;
    GArray *points;    /* struct store_point, all of the run */
    GArray *entries;   /* struct entry, sorted: those of one result are side by side */
    GPtrArray *errors; /* struct store_result_error *, all of the run */
    GPtrArray *kept;   /* of these, the ones that match */
    Run *document;     /* or NULL */
};

void run_results_query_open(struct run_results_query *query)
{
    g_autoptr(GPtrArray) matching = store_series_select(query->snapshot, query->filter);
    query->series = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < matching->len; i++)
        g_hash_table_add(query->series, g_ptr_array_index(matching, i));
}

void run_results_query_clear(struct run_results_query *query)
{
    g_clear_pointer(&query->series, g_hash_table_unref);
}

void run_results_free(RunResults *results)
{
    if (!results)
        return;
    g_clear_pointer(&results->points, g_array_unref);
    g_clear_pointer(&results->entries, g_array_unref);
    g_clear_pointer(&results->errors, g_ptr_array_unref);
    g_clear_pointer(&results->kept, g_ptr_array_unref);
    g_clear_pointer(&results->document, run_free);
    g_free(results);
}

static int compare_results(const struct store_series *left, const struct store_series *right)
{
    int by_bench = strcmp(left->benchmark->name, right->benchmark->name);
    return by_bench != 0 ? by_bench : param_order_lists(left->params, right->params);
}

static int compare_entries(gconstpointer a, gconstpointer b)
{
    const struct store_series *left = ((const struct entry *)a)->series;
    const struct store_series *right = ((const struct entry *)b)->series;
    int by_result = compare_results(left, right);
    if (by_result != 0)
        return by_result;
    int by_metric = strcmp(left->metric, right->metric);
    return by_metric != 0 ? by_metric : strcmp(left->unit, right->unit);
}

static void keep_points(const struct run_results_query *query, RunResults *results)
{
    results->entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
    for (guint i = 0; i < results->points->len; i++) {
        const struct store_point *point = &g_array_index(results->points, struct store_point, i);
        struct store_series *series = store_series_by_id(query->snapshot, point->series_id);
        if (series && g_hash_table_contains(query->series, series)) {
            struct entry entry = {.point = point, .series = series};
            g_array_append_val(results->entries, entry);
        }
    }
    g_array_sort(results->entries, compare_entries);
}

static void keep_errors(const struct run_results_query *query, RunResults *results)
{
    results->kept = g_ptr_array_new();
    for (guint i = 0; i < results->errors->len; i++) {
        struct store_result_error *failure =
            (struct store_result_error *)g_ptr_array_index(results->errors, i);
        g_autoptr(GPtrArray) params = run_params_parse(failure->params_text);
        if (store_filter_takes_result(query->filter, results->run->project, failure->bench, params))
            g_ptr_array_add(results->kept, failure);
    }
}

static bool load_samples(const struct run_results_query *query, RunResults *results, GError **error)
{
    if (!query->with_samples || results->entries->len == 0)
        return true;
    results->document = store_run_document(query->snapshot, results->run->seq, error);
    if (!results->document)
        return false;
    g_autoptr(GHashTable) cases = result_match_cases(results->run->project, results->document);
    for (guint i = 0; i < results->entries->len; i++) {
        struct entry *entry = &g_array_index(results->entries, struct entry, i);
        const struct run_result *result = result_match_case(cases, entry->series);
        entry->metric = result_match_metric(cases, entry->series);
        entry->info_json = result ? result->info_json : NULL;
    }
    return true;
}

RunResults *run_results_load(const struct run_results_query *query, const struct store_run *run,
                             GError **error)
{
    g_autoptr(RunResults) results = g_new0(struct run_results, 1);
    results->run = run;
    results->points = store_run_points(query->snapshot, run->seq, error);
    if (!results->points)
        return NULL;
    results->errors = store_run_errors(query->snapshot, run->seq, error);
    if (!results->errors)
        return NULL;
    keep_points(query, results);
    keep_errors(query, results);
    if (!load_samples(query, results, error))
        return NULL;
    return g_steal_pointer(&results);
}

/* ---- Writing
 * --------------------------------------------------------------------------------------------------------
 */

static const char *error_of(const RunResults *results, const struct store_series *series)
{
    for (guint i = 0; i < results->kept->len; i++) {
        const struct store_result_error *failure =
            (const struct store_result_error *)g_ptr_array_index(results->kept, i);
        if (strcmp(failure->bench, series->benchmark->name) == 0 &&
            strcmp(failure->params_text, series->params_text) == 0)
            return failure->message;
    }
    return NULL;
}

/* True where an entry's result has this error: it is then shown there. */
static bool is_shown(const RunResults *results, const struct store_result_error *failure)
{
    for (guint i = 0; i < results->entries->len; i++) {
        const struct store_series *series = g_array_index(results->entries, struct entry, i).series;
        if (strcmp(failure->bench, series->benchmark->name) == 0 &&
            strcmp(failure->params_text, series->params_text) == 0)
            return true;
    }
    return false;
}

static void write_metric(struct json_writer *writer, const struct entry *entry)
{
    const struct store_point *point = entry->point;
    json_writer_key(writer, entry->series->metric);
    json_writer_object(writer, NULL);
    json_writer_string(writer, "unit", entry->series->unit);
    json_writer_string(writer, "better", better_name(entry->series->better));
    json_writer_number(writer, "center", point->center);
    if (point->has_interval) {
        json_writer_number(writer, "low", point->low);
        json_writer_number(writer, "high", point->high);
    } else {
        json_writer_null(writer, "low");
        json_writer_null(writer, "high");
    }
    json_writer_integer(writer, "n", point->n);
    if (point->censored != 0)
        json_writer_string(writer, "censored", point->censored > 0 ? "above" : "below");
    api_write_id(writer, "series", entry->series->id);
    if (entry->metric && entry->metric->kind == METRIC_SAMPLES) {
        json_writer_array(writer, "samples");
        for (uint32_t i = 0; i < entry->metric->n_samples; i++)
            json_writer_number(writer, NULL, entry->metric->samples[i]);
        json_writer_end(writer);
    }
    json_writer_end(writer);
}

/* Writes the result that starts at `start`; returns where the next one does. */
static guint write_result(const RunResults *results, struct json_writer *writer, guint start)
{
    const struct entry *entries = (const struct entry *)(const void *)results->entries->data;
    const struct store_series *first = entries[start].series;
    bool is_flagged = false;
    guint end = start;
    json_writer_object(writer, NULL);
    json_writer_string(writer, "bench", first->benchmark->name);
    json_writer_raw(writer, "params", first->params_text);
    json_writer_object(writer, "metrics");
    for (; end < results->entries->len && compare_results(entries[end].series, first) == 0; end++) {
        write_metric(writer, &entries[end]);
        is_flagged = is_flagged || entries[end].point->flagged;
    }
    json_writer_end(writer);
    if (entries[start].info_json)
        json_writer_raw(writer, "info", entries[start].info_json);
    json_writer_bool(writer, "flagged", is_flagged);
    json_writer_string(writer, "error", error_of(results, first));
    json_writer_end(writer);
    return end;
}

void run_results_write_json(const RunResults *results, struct json_writer *writer, const char *key)
{
    json_writer_array(writer, key);
    for (guint i = 0; i < results->entries->len;)
        i = write_result(results, writer, i);
    for (guint i = 0; i < results->kept->len; i++) {
        const struct store_result_error *failure =
            (const struct store_result_error *)g_ptr_array_index(results->kept, i);
        if (is_shown(results, failure))
            continue;
        json_writer_object(writer, NULL);
        json_writer_string(writer, "bench", failure->bench);
        json_writer_raw(writer, "params", failure->params_text);
        json_writer_raw(writer, "metrics", "{}");
        json_writer_bool(writer, "flagged", false);
        json_writer_string(writer, "error", failure->message);
        json_writer_end(writer);
    }
    json_writer_end(writer);
}

static void write_samples_cell(struct csv_writer *writer, const struct run_metric *metric)
{
    if (!metric || metric->kind != METRIC_SAMPLES) {
        csv_writer_empty(writer, 1);
        return;
    }
    g_autoptr(GString) cell = g_string_new(NULL);
    for (uint32_t i = 0; i < metric->n_samples; i++) {
        if (i > 0)
            g_string_append_c(cell, ';');
        number_append(cell, metric->samples[i]);
    }
    csv_writer_text(writer, cell->str);
}

static void write_metric_cells(const RunResults *results, struct csv_writer *writer,
                               const struct entry *entry)
{
    const struct store_point *point = entry->point;
    csv_writer_text(writer, entry->series->benchmark->name);
    csv_writer_text(writer, entry->series->params_text);
    csv_writer_text(writer, entry->series->metric);
    csv_writer_text(writer, entry->series->unit);
    csv_writer_text(writer, better_name(entry->series->better));
    csv_writer_number(writer, point->center);
    if (point->has_interval) {
        csv_writer_number(writer, point->low);
        csv_writer_number(writer, point->high);
    } else {
        csv_writer_empty(writer, 2);
    }
    csv_writer_integer(writer, point->n);
    csv_writer_text(writer, point->censored > 0 ? "above" : point->censored < 0 ? "below" : NULL);
    csv_writer_bool(writer, point->flagged);
    csv_writer_text(writer, error_of(results, entry->series));
    write_samples_cell(writer, entry->metric);
}

void run_results_write_csv(const RunResults *results, struct csv_writer *writer,
                           void (*head)(struct csv_writer *writer, const struct store_run *run))
{
    for (guint i = 0; i < results->entries->len; i++) {
        head(writer, results->run);
        write_metric_cells(results, writer, &g_array_index(results->entries, struct entry, i));
        csv_writer_end_row(writer);
    }
    for (guint i = 0; i < results->kept->len; i++) {
        const struct store_result_error *failure =
            (const struct store_result_error *)g_ptr_array_index(results->kept, i);
        if (is_shown(results, failure))
            continue;
        head(writer, results->run);
        csv_writer_text(writer, failure->bench);
        csv_writer_text(writer, failure->params_text);
        csv_writer_empty(writer, 9);
        csv_writer_text(writer, failure->message);
        csv_writer_empty(writer, 1);
        csv_writer_end_row(writer);
    }
}
