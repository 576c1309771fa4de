/* SPDX-License-Identifier: Apache-2.0
 * Google Benchmark's JSON to results. Three walks over the rows: those that were measured, then the
 * medians of what has no measured row, then what is left to warn of. It does not trust the tool:
 * every name is checked as if a stranger had typed it. Any thread. */
#include "schema/formats/google_benchmark.h"

#include "schema/document.h"
#include "schema/formats/google_benchmark_parts.h"
#include "schema/number.h"
#include "schema/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WARNINGS_MAX 50u

enum row_kind { ROW_MEASURED, ROW_AGGREGATE, ROW_COMPLEXITY };

struct row {
    json_t *json;
    size_t index;
    char *name;            /* of the benchmark, without an aggregate's suffix */
    const char *aggregate; /* "median", or NULL */
    enum row_kind kind;
};

/* A result that is being put together. */
struct group {
    struct run_result *result; /* owned by the run */
    GPtrArray *dropped;        /* char *: metrics that had a value which is no finite number */
    bool measured;             /* has a row of its own, not only aggregates */
};

struct import {
    Run *run;
    GPtrArray *warnings;
    guint n_warnings;
    Faults *faults;
    GArray *rows;      /* struct row */
    GPtrArray *groups; /* struct group * */
    json_t
        *by_key;   /* "bench\nparams" to index in groups: jansson's hash is seeded, GLib's is not */
    json_t *names; /* the set of all rows' names */
};

static void group_free(void *item)
{
    struct group *group = (struct group *)item;

    g_ptr_array_unref(group->dropped);
    g_free(group);
}

static void row_clear(void *item)
{
    struct row *row = (struct row *)item;

    g_free(row->name);
}

G_GNUC_PRINTF(2, 3)
static void warn(struct import *import, const char *format, ...)
{
    va_list arguments;

    if (import->n_warnings++ >= WARNINGS_MAX)
        return;
    va_start(arguments, format);
    g_ptr_array_add(import->warnings, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

static void fault(struct import *import, const struct row *row, const char *member,
                  const char *message)
{
    struct place top = {0};
    struct place list = {.up = &top, .key = "benchmarks"};
    struct place element = {.up = &list, .index = row->index};
    struct place place = {.up = &element, .key = member};

    document_fault((struct reading){.faults = import->faults, .place = &place}, "%s", message);
}

/* ---- Rows -------------------------------------------------------------------------- */

static const char *row_text(const struct row *row, const char *key)
{
    return json_string_value(json_object_get(row->json, key));
}

static bool names_hold(const struct import *import, const char *base, const char *suffix)
{
    g_autofree char *name = g_strconcat(base, suffix, NULL);

    return json_object_get(import->names, name) != NULL;
}

/* Files from before 2019 have no run_type: an aggregate shows only by its name, and it never comes
 * alone. */
static void guess_aggregate(const struct import *import, struct row *row, const char *name)
{
    static const char *const suffixes[] = {"_mean", "_median", "_stddev", "_cv"};

    for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *base = NULL;

        if (!g_str_has_suffix(name, suffixes[i]))
            continue;
        base = g_strndup(name, strlen(name) - strlen(suffixes[i]));
        if (!names_hold(import, base, "_mean") || !names_hold(import, base, "_stddev"))
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

static void row_add(struct import *import, json_t *json, size_t index)
{
    struct row row = {.json = json, .index = index};
    const char *run_type = json_string_value(json_object_get(json, "run_type"));
    const char *run_name = json_string_value(json_object_get(json, "run_name"));
    const char *name = json_string_value(json_object_get(json, "name"));

    if (!json_is_object(json) || !name) {
        fault(import, &row, "name", "is missing: every benchmark needs a name");
        return;
    }
    row.name = g_strdup(run_name ? run_name : name);
    row.aggregate = row_text(&row, "aggregate_name");
    if (row_is_complexity(&row)) {
        row.kind = ROW_COMPLEXITY;
    } else if (row.aggregate || g_strcmp0(run_type, "aggregate") == 0) {
        g_autofree char *suffix = g_strdup_printf("_%s", row.aggregate ? row.aggregate : "");

        row.kind = ROW_AGGREGATE;
        if (!run_name && g_str_has_suffix(row.name, suffix))
            row.name[strlen(row.name) - strlen(suffix)] = '\0';
    } else if (!run_type) {
        guess_aggregate(import, &row, name);
    }
    g_array_append_val(import->rows, row);
}

static void rows_read(struct import *import, json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(list, i), "name"));

        if (name)
            json_object_set_new(import->names, name, json_true());
    }
    for (size_t i = 0; i < json_array_size(list); i++)
        row_add(import, json_array_get(list, i), i);
}

/* ---- Groups: the rows of one result ------------------------------------------------ */

static bool check_name(struct import *import, const struct row *row, const char *what,
                       char *taken_problem)
{
    g_autofree char *problem = taken_problem;
    g_autofree char *message = NULL;

    if (!problem)
        return true;
    message = g_strdup_printf("%s in it %s", what, problem);
    fault(import, row, "name", message);
    return false;
}

static bool check_identity(struct import *import, const struct row *row,
                           const struct run_result *result)
{
    bool right =
        check_name(import, row, "the benchmark's name",
                   text_name_problem(result->bench, strlen(result->bench), RUN_BENCH_BYTES_MAX));

    if (result->params->len > RUN_PARAMS_MAX) {
        fault(import, row, "name", "has more than " G_STRINGIFY(RUN_PARAMS_MAX) " parameters");
        return false;
    }
    for (guint i = 0; i < result->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(result->params, i);

        right &=
            check_name(import, row, "the parameter's name",
                       text_name_problem(param->name, strlen(param->name), RUN_NAME_BYTES_MAX));
        right &=
            check_name(import, row, "the parameter's value",
                       text_value_problem(param->value, strlen(param->value), RUN_NAME_BYTES_MAX));
    }
    return right;
}

static struct group *group_find(struct import *import, const char *key)
{
    const json_t *index = json_object_get(import->by_key, key);

    return index
               ? (struct group *)g_ptr_array_index(import->groups, (guint)json_integer_value(index))
               : NULL;
}

/* The group of a row, made where it is new and `create`; NULL where there is none, or (with a
 * fault) where its name is not right. */
static struct group *group_of_row(struct import *import, const struct row *row, bool create)
{
    struct run_result *result = google_benchmark_name_split(row->name);
    g_autofree char *params = run_params_text(result->params);
    g_autofree char *key = g_strdup_printf("%s\n%s", result->bench, params);
    struct group *group = group_find(import, key);

    if (group || !create || !check_identity(import, row, result)) {
        run_result_free(result);
        return group;
    }
    if (import->groups->len >= RUN_RESULTS_MAX) {
        fault(import, row, "name",
              "is one result more than the " G_STRINGIFY(RUN_RESULTS_MAX) " that a run may hold");
        run_result_free(result);
        return NULL;
    }
    group = g_new0(struct group, 1);
    group->result = result;
    group->dropped = g_ptr_array_new_with_free_func(g_free);
    json_object_set_new(import->by_key, key, json_integer((json_int_t)import->groups->len));
    g_ptr_array_add(import->groups, group);
    g_ptr_array_add(import->run->results, result);
    return group;
}

/* ---- Metrics ----------------------------------------------------------------------- */

static const struct known_metric {
    const char *name, *unit;
    enum better better;
    bool is_time;
} known_metrics[] = {{"real_time", "ns", BETTER_LOWER, true},
                     {"cpu_time", "ns", BETTER_LOWER, true},
                     {"items_per_second", "items/s", BETTER_HIGHER, false},
                     {"bytes_per_second", "B/s", BETTER_HIGHER, false}};
static const struct known_metric any_counter = {NULL, "", BETTER_UNKNOWN, false};

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
                                         "aggregate_unit"};

static bool is_row_field(const char *key)
{
    for (size_t i = 0; i < G_N_ELEMENTS(row_fields); i++) {
        if (strcmp(key, row_fields[i]) == 0)
            return true;
    }
    return false;
}

static const struct known_metric *metric_kind(const char *key)
{
    for (size_t i = 0; i < G_N_ELEMENTS(known_metrics); i++) {
        if (strcmp(key, known_metrics[i].name) == 0)
            return &known_metrics[i];
    }
    return &any_counter;
}

/* Nanoseconds in the row's time unit; 0 with a fault where it is not known. */
static double row_time_factor(struct import *import, const struct row *row)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const char *unit = row_text(row, "time_unit");

    for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
        if (strcmp(unit ? unit : "ns", units[i].unit) == 0)
            return units[i].factor;
    }
    fault(import, row, "time_unit", "must be ns, us, ms or s");
    return 0;
}

static struct run_metric *metric_find(const struct run_result *result, const char *name,
                                      guint *out_index)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        struct run_metric *metric = (struct run_metric *)g_ptr_array_index(result->metrics, i);

        *out_index = i;
        if (strcmp(metric->name, name) == 0)
            return metric;
    }
    return NULL;
}

/* One sample that is no number makes the whole metric useless: which of its samples it was would be
 * lost. */
static void metric_drop(struct import *import, struct group *group, const struct row *row,
                        const char *key, const char *why)
{
    guint index = 0;

    if (metric_find(group->result, key, &index))
        g_ptr_array_remove_index(group->result->metrics, index);
    g_ptr_array_add(group->dropped, g_strdup(key));
    {
        g_autofree char *metric = text_excerpt(key);
        g_autofree char *name = text_excerpt(row->name);

        warn(import, "%s: metric %s is dropped: %s", name, metric, why);
    }
}

static void metric_add(struct import *import, struct group *group, const struct row *row,
                       const char *key, double value)
{
    const struct known_metric *kind = metric_kind(key);
    guint index = 0;
    struct run_metric *metric = metric_find(group->result, key, &index);

    if (!metric && group->result->metrics->len + group->dropped->len >= RUN_METRICS_MAX) {
        fault(
            import, row, key,
            "is one metric more than the " G_STRINGIFY(RUN_METRICS_MAX) " that a result may hold");
        return;
    }
    if (!metric) {
        g_autofree char *problem = text_name_problem(key, strlen(key), RUN_NAME_BYTES_MAX);

        if (problem) {
            metric_drop(import, group, row, key, problem);
            return;
        }
        metric = run_metric_new(key, kind->unit, kind->better);
        run_result_take_metric(group->result, metric);
    }
    if (metric->n_samples >= RUN_SAMPLES_MAX)
        fault(
            import, row, key,
            "is one sample more than the " G_STRINGIFY(RUN_SAMPLES_MAX) " that a metric may hold");
    else
        run_metric_add_sample(metric, value);
}

static void row_take_value(struct import *import, struct group *group, const struct row *row,
                           const char *key, json_t *value)
{
    double factor = metric_kind(key)->is_time ? row_time_factor(import, row) : 1;
    double number = json_number_value(value) * factor;

    if (g_ptr_array_find_with_equal_func(group->dropped, key, g_str_equal, NULL))
        return;
    if (json_is_integer(value) && llabs(json_integer_value(value)) > DOCUMENT_WHOLE_MAX)
        metric_drop(import, group, row, key,
                    "it is a whole number beyond 2^53, which would lose digits");
    else if (!json_is_number(value) || !isfinite(number))
        metric_drop(import, group, row, key, "it is not a finite number");
    else
        metric_add(import, group, row, key, number);
}

static void row_take_values(struct import *import, struct group *group, const struct row *row)
{
    const char *key;
    json_t *value;

    json_object_foreach(row->json, key, value)
    {
        if (!is_row_field(key) && group->dropped->len < RUN_METRICS_MAX)
            row_take_value(import, group, row, key, value);
    }
}

/* ---- Errors and labels ------------------------------------------------------------- */

static char *bounded(struct import *import, const struct row *row, const char *what,
                     const char *text)
{
    size_t bytes = text_prefix_bytes(text, RUN_TEXT_BYTES_MAX);
    g_autofree char *name = text_excerpt(row->name);

    if (text[bytes])
        warn(import, "%s: its %s is cut to %u bytes", name, what, RUN_TEXT_BYTES_MAX);
    return g_strndup(text, bytes);
}

/* True where the row reports that it was not measured. */
static bool row_take_error(struct import *import, struct group *group, const struct row *row)
{
    bool failed = json_is_true(json_object_get(row->json, "error_occurred"));
    bool skipped = json_is_true(json_object_get(row->json, "skipped"));
    const char *message = row_text(row, failed ? "error_message" : "skip_message");
    g_autofree char *text = NULL;

    if (!failed && !skipped)
        return false;
    text = g_strdup_printf(
        "%s%s", failed ? "" : "skipped: ", message && *message ? message : "without a message");
    if (!group->result->error)
        group->result->error = bounded(import, row, "error message", text);
    return true;
}

static void row_take_label(struct import *import, struct group *group, const struct row *row)
{
    const char *label = row_text(row, "label");
    g_autofree char *text = NULL;
    g_autofree char *name = text_excerpt(row->name);
    GString *info;

    if (!label || !*label)
        return;
    text = bounded(import, row, "label", label);
    info = g_string_new("{\"label\":");
    json_append_string(info, text);
    g_string_append_c(info, '}');
    if (!group->result->info_json)
        group->result->info_json = g_strdup(info->str);
    else if (strcmp(group->result->info_json, info->str) != 0)
        warn(import, "%s: its repetitions have different labels; the first is kept", name);
    g_string_free(info, TRUE);
}

/* ---- The three walks --------------------------------------------------------------- */

static void take_measured(struct import *import)
{
    for (guint i = 0; i < import->rows->len; i++) {
        const struct row *row = &g_array_index(import->rows, struct row, i);
        struct group *group = row->kind == ROW_MEASURED ? group_of_row(import, row, true) : NULL;

        if (!group)
            continue;
        group->measured = true;
        row_take_label(import, group, row);
        if (!row_take_error(import, group, row))
            row_take_values(import, group, row);
    }
}

static void take_medians(struct import *import)
{
    for (guint i = 0; i < import->rows->len; i++) {
        const struct row *row = &g_array_index(import->rows, struct row, i);
        struct group *group;

        if (row->kind != ROW_AGGREGATE || g_strcmp0(row->aggregate, "median") != 0)
            continue;
        group = group_of_row(import, row, true);
        if (!group || group->measured)
            continue;
        row_take_label(import, group, row);
        row_take_values(import, group, row);
    }
}

static void warn_of_the_rest(struct import *import)
{
    for (guint i = 0; i < import->rows->len; i++) {
        const struct row *row = &g_array_index(import->rows, struct row, i);
        g_autofree char *name = text_excerpt(row->name);

        if (row->kind == ROW_COMPLEXITY)
            warn(import, "%s: a fitted complexity (BigO, RMS) is not kept", name);
        else if (row->kind == ROW_AGGREGATE && !group_of_row(import, row, false))
            warn(import, "%s: has no median, its %s is not kept", name,
                 row->aggregate ? row->aggregate : "aggregate");
    }
    for (guint i = 0; i < import->groups->len; i++) {
        struct group *group = (struct group *)g_ptr_array_index(import->groups, i);

        if (group->result->metrics->len == 0 && !group->result->error)
            group->result->error =
                g_strdup(group->dropped->len ? "no metric of it is a finite number"
                                             : "the file holds no metric of it");
    }
    if (import->n_warnings > WARNINGS_MAX)
        g_ptr_array_add(import->warnings, g_strdup_printf("and %u further warnings",
                                                          import->n_warnings - WARNINGS_MAX));
}

static void import_rows(struct import *import, json_t *list)
{
    import->rows = g_array_new(FALSE, FALSE, sizeof(struct row));
    g_array_set_clear_func(import->rows, row_clear);
    import->groups = g_ptr_array_new_with_free_func(group_free);
    import->by_key = json_object();
    import->names = json_object();
    rows_read(import, list);
    take_measured(import);
    take_medians(import);
    warn_of_the_rest(import);
    json_decref(import->names);
    json_decref(import->by_key);
    g_ptr_array_unref(import->groups);
    g_array_unref(import->rows);
}

bool google_benchmark_parse(const char *bytes, size_t length, Run *run, GPtrArray *warnings,
                            Faults *faults, GError **error)
{
    struct import import = {.run = run, .warnings = warnings, .faults = faults};
    json_t *tree = google_benchmark_load(bytes, length, error);
    json_t *list = json_object_get(tree, "benchmarks");

    if (!tree)
        return false;
    if (json_is_array(list)) {
        google_benchmark_context_take(json_object_get(tree, "context"), run, warnings);
        import_rows(&import, list);
    } else {
        faults_add(faults, "/benchmarks",
                   "is not there as an array: this is not what Google Benchmark writes as JSON");
    }
    json_decref(tree);
    return document_conclude(faults, error);
}
