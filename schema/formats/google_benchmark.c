/* SPDX-License-Identifier: Apache-2.0
 * Google Benchmark's JSON to results. Three walks over the rows: those that were measured, then the
 * medians of what has no measured row, then what is left to warn of. Any thread. */
#include "schema/formats/google_benchmark.h"

#include "schema/formats/parsers.h"
#include "schema/text.h"

#include <string.h>

enum row_kind { ROW_MEASURED, ROW_AGGREGATE, ROW_COMPLEXITY };

struct row {
    json_t *json;
    size_t index;
    char *name;            /* of the benchmark, without an aggregate's suffix */
    const char *aggregate; /* "median", or NULL */
    enum row_kind kind;
};

struct reader {
    GArray *rows;     /* struct row */
    json_t *names;    /* the set of the names of rows without run_type */
    json_t *measured; /* the set of the names that have a row of their own, not only aggregates */
    const char *last_name; /* of the row before, whose repetition the next one mostly is */
    struct import_result *last;
};

static void row_clear(void *item)
{
    struct row *row = (struct row *)item;

    g_free(row->name);
}

/* ---- Rows -------------------------------------------------------------------------- */

static bool names_hold(const struct reader *reader, const char *base, const char *suffix)
{
    g_autofree char *name = g_strconcat(base, suffix, NULL);

    return json_object_get(reader->names, name) != NULL;
}

/* Files from before 2019 have no run_type: an aggregate shows only by its name, and it never comes
 * alone. */
static void guess_aggregate(const struct reader *reader, struct row *row, const char *name)
{
    static const char *const suffixes[] = {"_mean", "_median", "_stddev", "_cv"};

    for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *base = NULL;

        if (!g_str_has_suffix(name, suffixes[i]))
            continue;
        base = g_strndup(name, strlen(name) - strlen(suffixes[i]));
        if (!names_hold(reader, base, "_mean") || !names_hold(reader, base, "_stddev"))
            continue;
        row->kind = ROW_AGGREGATE;
        row->aggregate = suffixes[i] + 1;
        g_free(row->name);
        row->name = g_steal_pointer(&base);
        return;
    }
}

static bool row_is_complexity(const struct row *row)
{
    return json_object_get(row->json, "big_o") || json_object_get(row->json, "cpu_coefficient") ||
           (json_object_get(row->json, "rms") && !json_object_get(row->json, "real_time"));
}

static void row_classify(const struct reader *reader, struct row *row, const char *name)
{
    const char *run_type = import_text(row->json, "run_type");
    bool is_named_by_run = import_text(row->json, "run_name") != NULL;

    if (row_is_complexity(row)) {
        row->kind = ROW_COMPLEXITY;
    } else if (row->aggregate || g_strcmp0(run_type, "aggregate") == 0) {
        g_autofree char *suffix = g_strdup_printf("_%s", row->aggregate ? row->aggregate : "");

        row->kind = ROW_AGGREGATE;
        if (!is_named_by_run && g_str_has_suffix(row->name, suffix))
            row->name[strlen(row->name) - strlen(suffix)] = '\0';
    } else if (!run_type) {
        guess_aggregate(reader, row, name);
    }
}

static void row_add(Import *import, json_t *json, void *user)
{
    struct reader *reader = (struct reader *)user;
    struct row row = {.json = json, .index = import->at->index};
    const char *run_name = import_text(json, "run_name");
    const char *name = import_text(json, "name");

    if (!name) {
        import_fault(import, "name", "is missing: every benchmark needs a name");
        return;
    }
    row.name = g_strdup(run_name ? run_name : name);
    row.aggregate = import_text(json, "aggregate_name");
    row_classify(reader, &row, name);
    g_array_append_val(reader->rows, row);
}

static void name_add(Import *import, json_t *json, void *user)
{
    struct reader *reader = (struct reader *)user;
    const char *name = import_text(json, "name");

    (void)import;
    if (name && !json_object_get(json, "run_type"))
        json_object_set_new(reader->names, name, json_true());
}

static struct import_result *row_result(Import *import, struct reader *reader,
                                        const struct row *row)
{
    GPtrArray *params;
    g_autofree char *bench = NULL;

    if (reader->last && strcmp(reader->last_name, row->name) == 0)
        return reader->last;
    params = run_params_new();
    bench = google_benchmark_name_split(row->name, params);
    reader->last = import_result_take(import, bench, params);
    reader->last_name = row->name;
    return reader->last;
}

static bool row_has_result(Import *import, const struct row *row)
{
    g_autoptr(GPtrArray) params = run_params_new();
    g_autofree char *bench = google_benchmark_name_split(row->name, params);

    return import_result_find(import, bench, params) != NULL;
}

/* ---- Metrics ----------------------------------------------------------------------- */

static const struct import_metric known_metrics[] = {
    {"real_time", "ns", BETTER_LOWER, false},
    {"cpu_time", "ns", BETTER_LOWER, false},
    {"items_per_second", "items/s", BETTER_HIGHER, false},
    {"bytes_per_second", "B/s", BETTER_HIGHER, false}};

/* The library's own fields of a row that are no measurement. */
static const char *const row_fields[] = {"name",
                                         "family_index",
                                         "per_family_instance_index",
                                         "run_name",
                                         "run_type",
                                         "repetitions",
                                         "repetition_index",
                                         "threads",
                                         "iterations",
                                         "time_unit",
                                         "label",
                                         "error_occurred",
                                         "error_message",
                                         "skipped",
                                         "skip_message",
                                         "aggregate_name",
                                         "aggregate_unit",
                                         NULL};

/* The row's time unit; "ns" with a fault where it is none of the library's. */
static const char *row_time_unit(Import *import, const struct row *row)
{
    static const char *const units[] = {"ns", "us", "ms", "s", NULL};
    const char *unit = import_text(row->json, "time_unit");

    if (!unit || g_strv_contains(units, unit))
        return unit ? unit : "ns";
    import_fault(import, "time_unit", "must be ns, us, ms or s");
    return "ns";
}

static struct import_metric row_metric(Import *import, const struct row *row, const char *key)
{
    struct import_metric metric = {.name = key, .unit = "", .is_undirected = true};

    for (size_t i = 0; i < G_N_ELEMENTS(known_metrics); i++) {
        if (strcmp(key, known_metrics[i].name) == 0)
            metric = known_metrics[i];
    }
    if (strcmp(metric.unit, "ns") == 0)
        metric.unit = row_time_unit(import, row);
    return metric;
}

static void row_take_values(Import *import, struct import_result *result, const struct row *row)
{
    const char *key;
    json_t *value;

    json_object_foreach(row->json, key, value)
    {
        struct import_metric metric;

        if (g_strv_contains(row_fields, key))
            continue;
        metric = row_metric(import, row, key);
        import_sample_json(import, result, &metric, value);
    }
}

/* True where the row reports that it was not measured. */
static bool row_take_error(Import *import, struct import_result *result, const struct row *row)
{
    bool failed = json_is_true(json_object_get(row->json, "error_occurred"));
    bool skipped = json_is_true(json_object_get(row->json, "skipped"));
    const char *message = import_text(row->json, failed ? "error_message" : "skip_message");
    g_autofree char *text = NULL;

    if (!failed && !skipped)
        return false;
    text = g_strdup_printf(
        "%s%s", failed ? "" : "skipped: ", message && *message ? message : "without a message");
    import_error(import, result, text);
    return true;
}

/* ---- The three walks --------------------------------------------------------------- */

typedef void (*row_fn)(Import *import, struct reader *reader, const struct row *row);

/* Faults of a row name its place. */
static void each_row(Import *import, struct reader *reader, row_fn each)
{
    static const struct place top = {0};
    struct place list = {.up = &top, .key = "benchmarks"};

    for (guint i = 0; i < reader->rows->len; i++) {
        const struct row *row = &g_array_index(reader->rows, struct row, i);
        struct place place = {.up = &list, .index = row->index};

        import->at = &place;
        each(import, reader, row);
    }
    import->at = NULL;
}

static void take_measured(Import *import, struct reader *reader, const struct row *row)
{
    struct import_result *result =
        row->kind == ROW_MEASURED ? row_result(import, reader, row) : NULL;

    if (!result)
        return;
    if (!json_object_get(reader->measured, row->name))
        json_object_set_new(reader->measured, row->name, json_true());
    import_info(import, result, "label", json_object_get(row->json, "label"));
    if (!row_take_error(import, result, row))
        row_take_values(import, result, row);
}

static void take_median(Import *import, struct reader *reader, const struct row *row)
{
    struct import_result *result;

    if (row->kind != ROW_AGGREGATE || g_strcmp0(row->aggregate, "median") != 0 ||
        json_object_get(reader->measured, row->name))
        return;
    result = row_result(import, reader, row);
    if (!result)
        return;
    import_info(import, result, "label", json_object_get(row->json, "label"));
    row_take_values(import, result, row);
}

static void warn_of_the_rest(Import *import, struct reader *reader, const struct row *row)
{
    g_autofree char *name = text_excerpt(row->name);

    (void)reader;
    if (row->kind == ROW_COMPLEXITY)
        import_warn(import, "%s: a fitted complexity (BigO, RMS) is not kept", name);
    else if (row->kind == ROW_AGGREGATE && !row_has_result(import, row))
        import_warn(import, "%s: has no median, its %s is not kept", name,
                    row->aggregate ? row->aggregate : "aggregate");
}

bool google_benchmark_recognise(const struct format_input *input)
{
    json_t *list = json_object_get(input->json, "benchmarks");
    json_t *first = json_array_get(list, 0);

    if (!json_is_array(list) || (first && !import_text(first, "name")))
        return false;
    return json_is_object(json_object_get(input->json, "context")) ||
           json_object_get(first, "real_time") || json_object_get(first, "error_occurred");
}

static void take_context(Import *import, json_t *context)
{
    import_started(import, import_text(context, "date"));
    if (import_text(context, "date"))
        json_object_del(context, "date");
    import_context(import, "", context);
}

void google_benchmark_take(Import *import, const struct format_input *input)
{
    struct reader reader = {.names = json_object(), .measured = json_object()};

    reader.rows = g_array_new(FALSE, FALSE, sizeof(struct row));
    g_array_set_clear_func(reader.rows, row_clear);
    if (json_is_array(json_object_get(input->json, "benchmarks"))) {
        take_context(import, json_object_get(input->json, "context"));
        import_each_element(import, input->json, "benchmarks", name_add, &reader);
        import_each_element(import, input->json, "benchmarks", row_add, &reader);
        each_row(import, &reader, take_measured);
        each_row(import, &reader, take_median);
        each_row(import, &reader, warn_of_the_rest);
    } else {
        import_fault(import, "benchmarks",
                     "is not there as an array: this is not what Google Benchmark writes as JSON");
    }
    g_array_unref(reader.rows);
    json_decref(reader.measured);
    json_decref(reader.names);
}
