/* SPDX-License-Identifier: Apache-2.0
 * The run document from JSON to structure: results, their parameters, metrics and what was recorded
 * beside them. Any thread. */
#include "schema/run_parse.h"

#include "schema/number.h"
#include "schema/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- Numbers of a metric ----------------------------------------------------------- */

/* Reads an array of numbers; NULL (with faults) where it is none, is empty, or has more than
 * RUN_SAMPLES_MAX. */
static double *take_numbers(struct reading at, json_t *value, uint32_t *out_n)
{
    size_t n = json_array_size(value);
    guint found = at.faults->found;
    double *numbers;

    if (!json_is_array(value) || n < 1 || n > RUN_SAMPLES_MAX) {
        document_fault(at, "must be an array of 1 to %u numbers", RUN_SAMPLES_MAX);
        return NULL;
    }
    numbers = g_try_new(double, n);
    if (!numbers) {
        document_fault(at, "there is no memory for its %zu numbers now", n);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        struct place place = {.up = at.place, .index = i};

        document_number((struct reading){.faults = at.faults, .place = &place},
                        json_array_get(value, i), &numbers[i]);
    }
    if (found != at.faults->found) {
        g_free(numbers);
        return NULL;
    }
    *out_n = (uint32_t)n;
    return numbers;
}

static void take_samples(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct run_metric *metric = (struct run_metric *)member;

    (void)field;
    metric->kind = METRIC_SAMPLES;
    metric->samples = take_numbers(at, value, &metric->n_samples);
}

static void take_number(struct reading at, json_t *value, const struct field *field, void *member)
{
    (void)field;
    document_number(at, value, (double *)member);
}

/* ---- Summary ----------------------------------------------------------------------- */

static void take_low(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct run_metric *metric = (struct run_metric *)member;

    (void)field;
    metric->summary.has_low = document_number(at, value, &metric->summary.low);
}

static void take_high(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct run_metric *metric = (struct run_metric *)member;

    (void)field;
    metric->summary.has_high = document_number(at, value, &metric->summary.high);
}

static void take_n(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct run_metric *metric = (struct run_metric *)member;

    (void)field;
    metric->summary.has_n = document_whole(at, value, 1, &metric->summary.n);
}

static void take_kind(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct run_metric *metric = (struct run_metric *)member;
    g_autofree char *kind = NULL;

    document_take_choice(at, value, field, &kind);
    metric->summary.is_mean = g_strcmp0(kind, "mean") == 0;
}

static const char *const summary_kinds[] = {"median", "mean", NULL};
static const struct field summary_fields[] = {
    {"center", true, take_number, offsetof(struct run_metric, summary.center), 0, NULL},
    {"low", false, take_low, 0, 0, NULL},
    {"high", false, take_high, 0, 0, NULL},
    {"n", false, take_n, 0, 0, NULL},
    {"kind", false, take_kind, 0, 0, summary_kinds},
};
static const struct field_table summary_table = {"a summary", summary_fields,
                                                 G_N_ELEMENTS(summary_fields)};

static void take_summary(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct run_metric *metric = (struct run_metric *)member;
    guint found = at.faults->found;

    (void)field;
    metric->kind = METRIC_SUMMARY;
    document_read(at, value, &summary_table, metric);
    if (found != at.faults->found)
        return;
    if ((metric->summary.has_low && metric->summary.low > metric->summary.center) ||
        (metric->summary.has_high && metric->summary.high < metric->summary.center))
        document_fault(at, "must have low <= center <= high");
}

/* ---- Histogram --------------------------------------------------------------------- */

static void take_error_ratio(struct reading at, json_t *value, const struct field *field,
                             void *member)
{
    double *ratio = (double *)member;

    (void)field;
    if (document_number(at, value, ratio) && (*ratio < 0 || *ratio > 1))
        document_fault(at, "must be from 0 to 1: the width of a bucket divided by its value");
}

static bool take_bucket(struct reading at, json_t *value, struct run_bucket *bucket)
{
    struct place low = {.up = at.place, .index = 0}, high = {.up = at.place, .index = 1};
    struct place count = {.up = at.place, .index = 2};

    if (json_array_size(value) != 3) {
        document_fault(at, "must be an array [low, high, count]");
        return false;
    }
    if (!document_number((struct reading){at.faults, &low}, json_array_get(value, 0),
                         &bucket->low) ||
        !document_number((struct reading){at.faults, &high}, json_array_get(value, 1),
                         &bucket->high) ||
        !document_whole((struct reading){at.faults, &count}, json_array_get(value, 2), 1,
                        &bucket->count))
        return false;
    if (bucket->low < bucket->high)
        return true;
    document_fault(at, "must have low < high");
    return false;
}

struct buckets_reading {
    struct run_metric *metric;
    int64_t total;
};

static void take_next_bucket(struct reading at, const char *key, json_t *value, void *user)
{
    struct buckets_reading *reading = (struct buckets_reading *)user;
    struct run_metric *metric = reading->metric;
    struct run_bucket bucket = {0};

    (void)key;
    if (!take_bucket(at, value, &bucket))
        return;
    if (metric->histogram.n_buckets &&
        bucket.low < metric->histogram.buckets[metric->histogram.n_buckets - 1].high)
        document_fault(
            at, "begins below the end of the bucket before it: buckets ascend and do not overlap");
    if (bucket.count > DOCUMENT_WHOLE_MAX - reading->total) {
        document_fault(at, "brings the counts' sum beyond 2^53");
        return;
    }
    reading->total += bucket.count;
    metric->histogram.buckets[metric->histogram.n_buckets++] = bucket;
}

static void take_buckets(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct buckets_reading reading = {.metric = (struct run_metric *)member};
    size_t n = json_array_size(value);

    (void)field;
    if (!json_is_array(value) || n < 1 || n > RUN_BUCKETS_MAX) {
        document_fault(at, "must be an array of 1 to %u buckets [low, high, count]",
                       RUN_BUCKETS_MAX);
        return;
    }
    reading.metric->histogram.buckets = g_try_new(struct run_bucket, n);
    if (reading.metric->histogram.buckets)
        document_each_element(at, value, RUN_BUCKETS_MAX, take_next_bucket, &reading);
    else
        document_fault(at, "there is no memory for its %zu buckets now", n);
}

static const struct field histogram_fields[] = {
    {"error", true, take_error_ratio, offsetof(struct run_metric, histogram.error_ratio), 0, NULL},
    {"buckets", true, take_buckets, 0, 0, NULL},
};
static const struct field_table histogram_table = {"a histogram", histogram_fields,
                                                   G_N_ELEMENTS(histogram_fields)};

static void take_histogram(struct reading at, json_t *value, const struct field *field,
                           void *member)
{
    struct run_metric *metric = (struct run_metric *)member;

    (void)field;
    metric->kind = METRIC_HISTOGRAM;
    document_read(at, value, &histogram_table, metric);
}

/* ---- Censored ---------------------------------------------------------------------- */

static void take_above(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct run_metric *metric = (struct run_metric *)member;

    (void)field;
    metric->censored.above = document_number(at, value, &metric->censored.limit);
}

static void take_below(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct run_metric *metric = (struct run_metric *)member;

    (void)field;
    document_number(at, value, &metric->censored.limit);
}

static const struct field censored_fields[] = {
    {"above", false, take_above, 0, 0, NULL},
    {"below", false, take_below, 0, 0, NULL},
};
static const struct field_table censored_table = {"a censored metric", censored_fields,
                                                  G_N_ELEMENTS(censored_fields)};

static void take_censored(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct run_metric *metric = (struct run_metric *)member;

    (void)field;
    metric->kind = METRIC_CENSORED;
    if (document_read(at, value, &censored_table, metric) &&
        !json_object_get(value, "above") == !json_object_get(value, "below"))
        document_fault(at, "must have either `above` or `below`: the limit that was not reached");
}

/* ---- Metrics ----------------------------------------------------------------------- */

static void take_better(struct reading at, json_t *value, const struct field *field, void *member)
{
    enum better *better = (enum better *)member;
    g_autofree char *name = NULL;

    document_take_choice(at, value, field, &name);
    if (name)
        *better = strcmp(name, "higher") == 0 ? BETTER_HIGHER : BETTER_LOWER;
}

static const char *const directions[] = {"higher", "lower", NULL};
static const struct field metric_fields[] = {
    {"unit", false, document_take_unit, offsetof(struct run_metric, unit), RUN_NAME_BYTES_MAX,
     NULL},
    {"better", false, take_better, offsetof(struct run_metric, better), 0, directions},
    {"samples", false, take_samples, 0, 0, NULL},
    {"summary", false, take_summary, 0, 0, NULL},
    {"histogram", false, take_histogram, 0, 0, NULL},
    {"censored", false, take_censored, 0, 0, NULL},
};
static const struct field_table metric_table = {"a metric", metric_fields,
                                                G_N_ELEMENTS(metric_fields)};

static void take_metric(struct reading at, const char *key, json_t *value, void *user)
{
    struct run_result *result = (struct run_result *)user;
    struct run_metric *metric = run_metric_new(key, "", BETTER_UNKNOWN);
    int kinds = 0;

    if (document_read(at, value, &metric_table, metric)) {
        for (size_t i = 2; i < metric_table.n_fields; i++)
            kinds += json_object_get(value, metric_fields[i].name) != NULL;
        if (kinds != 1)
            document_fault(
                at, "must have exactly one of samples, summary, histogram, censored (it has %d)",
                kinds);
    }
    run_result_take_metric(result, metric);
}

static void take_metrics(struct reading at, json_t *value, const struct field *field, void *member)
{
    (void)field;
    document_each_member(at, value, RUN_METRICS_MAX, take_metric, member);
}

/* ---- Parameters, flags, beside ----------------------------------------------------- */

static void take_param(struct reading at, const char *key, json_t *value, void *user)
{
    struct run_result *result = (struct run_result *)user;
    g_autofree char *problem = NULL;
    double number;

    if (json_is_number(value)) {
        if (document_number(at, value, &number))
            run_result_add_param_number(result, key, number);
    } else if (json_is_boolean(value)) {
        run_result_add_param(result, key, json_is_true(value) ? "true" : "false");
    } else if (json_is_string(value)) {
        problem = text_value_problem(json_string_value(value), json_string_length(value),
                                     RUN_NAME_BYTES_MAX);
        if (problem)
            document_fault(at, "the value %s", problem);
        else
            run_result_add_param(result, key, json_string_value(value));
    } else {
        document_fault(at, "is %s, must be a string, a number or a boolean",
                       document_type_name(value));
    }
}

static void take_params(struct reading at, json_t *value, const struct field *field, void *member)
{
    (void)field;
    document_each_member(at, value, RUN_PARAMS_MAX, take_param, member);
}

static void take_flag(struct reading at, const char *key, json_t *value, void *user)
{
    static const struct field field = {.bytes_max = RUN_NAME_BYTES_MAX};
    struct run_result *result = (struct run_result *)user;
    g_autofree char *flag = NULL;

    (void)key;
    document_take_name(at, value, &field, &flag);
    if (flag && g_ptr_array_find_with_equal_func(result->flags, flag, g_str_equal, NULL))
        document_fault(at, "is there twice");
    else if (flag)
        run_result_add_flag(result, flag);
}

static void take_flags(struct reading at, json_t *value, const struct field *field, void *member)
{
    (void)field;
    document_each_element(at, value, RUN_FLAGS_MAX, take_flag, member);
}

static void take_values(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct run_beside *beside = (struct run_beside *)member;

    (void)field;
    beside->values = take_numbers(at, value, &beside->n_values);
}

static const struct field beside_fields[] = {
    {"unit", false, document_take_unit, offsetof(struct run_beside, unit), RUN_NAME_BYTES_MAX,
     NULL},
    {"values", true, take_values, 0, 0, NULL},
};
static const struct field_table beside_table = {"what is beside samples", beside_fields,
                                                G_N_ELEMENTS(beside_fields)};

static void take_beside_entry(struct reading at, const char *key, json_t *value, void *user)
{
    struct run_result *result = (struct run_result *)user;
    struct run_beside beside = {0};

    if (document_read(at, value, &beside_table, &beside) && beside.values)
        run_result_add_beside(result, key, beside.unit, beside.values, beside.n_values);
    g_free(beside.unit);
    g_free(beside.values);
}

static void take_beside(struct reading at, json_t *value, const struct field *field, void *member)
{
    (void)field;
    document_each_member(at, value, RUN_BESIDE_MAX, take_beside_entry, member);
}

/* Every metric that has samples must have as many as there are values beside them. */
static void check_beside(struct reading at, const struct run_result *result)
{
    struct place list = {.up = at.place, .key = "beside"};
    const struct run_metric *sampled = NULL;

    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric =
            (const struct run_metric *)g_ptr_array_index(result->metrics, i);

        if (metric->kind != METRIC_SAMPLES || !metric->samples)
            continue;
        if (!sampled)
            sampled = metric;
        else if (metric->n_samples != sampled->n_samples)
            document_fault((struct reading){at.faults, &list},
                           "cannot be beside `%s` (%u samples) and `%s` (%u samples)",
                           sampled->name, sampled->n_samples, metric->name, metric->n_samples);
    }
    for (guint i = 0; i < result->beside->len; i++) {
        const struct run_beside *beside =
            (const struct run_beside *)g_ptr_array_index(result->beside, i);
        struct place place = {.up = &list, .key = beside->name};

        if (!sampled)
            document_fault((struct reading){at.faults, &place},
                           "there are no samples that it could be beside");
        else if (beside->n_values != sampled->n_samples)
            document_fault((struct reading){at.faults, &place},
                           "has %u values, the metrics have %u samples", beside->n_values,
                           sampled->n_samples);
    }
}

/* ---- Results ----------------------------------------------------------------------- */

static const struct field result_fields[] = {
    {"bench", true, document_take_name, offsetof(struct run_result, bench), RUN_BENCH_BYTES_MAX,
     NULL},
    {"params", false, take_params, 0, 0, NULL},
    {"metrics", false, take_metrics, 0, 0, NULL},
    {"error", false, document_take_line, offsetof(struct run_result, error), RUN_TEXT_BYTES_MAX,
     NULL},
    {"info", false, document_take_scalars, offsetof(struct run_result, info_json), 0, NULL},
    {"flags", false, take_flags, 0, 0, NULL},
    {"beside", false, take_beside, 0, 0, NULL},
};
static const struct field_table result_table = {"a result", result_fields,
                                                G_N_ELEMENTS(result_fields)};

static void take_result(struct reading at, const char *key, json_t *value, void *user)
{
    GPtrArray *results = (GPtrArray *)user;
    struct run_result *result = run_result_new(NULL);
    guint found = at.faults->found;

    (void)key;
    g_ptr_array_add(results, result);
    if (!document_read(at, value, &result_table, result) || found != at.faults->found)
        return;
    if (result->metrics->len == 0 && !result->error)
        document_fault(at, "has neither metrics nor an error: it says nothing");
    if (result->beside->len)
        check_beside(at, result);
}

struct identity {
    char *text; /* bench, a zero byte's stand-in, params: what tells one result from another */
    guint index;
};

static int compare_identities(const void *a, const void *b)
{
    const struct identity *left = (const struct identity *)a;
    const struct identity *right = (const struct identity *)b;
    int order = strcmp(left->text, right->text);

    return order ? order : (left->index > right->index) - (left->index < right->index);
}

/* By sorting, not by hashing: a sender can make a hash table's keys collide, but not a sort slow.
 */
static void check_repeats(struct reading at, const GPtrArray *results)
{
    g_autofree struct identity *identities = g_try_new(struct identity, results->len + 1);
    GString *text = g_string_sized_new(128);

    for (guint i = 0; identities && i < results->len; i++) {
        const struct run_result *result = (const struct run_result *)g_ptr_array_index(results, i);

        g_string_assign(text, result->bench ? result->bench : "");
        g_string_append_c(text, '\n'); /* no name holds one */
        run_params_append(text, result->params);
        identities[i] = (struct identity){.text = g_strndup(text->str, text->len), .index = i};
    }
    g_string_free(text, TRUE);
    if (!identities)
        return;
    qsort(identities, results->len, sizeof *identities, compare_identities);
    for (guint i = 1; i < results->len; i++) {
        struct place place = {.up = at.place, .index = identities[i].index};
        const struct run_result *result =
            (const struct run_result *)g_ptr_array_index(results, identities[i].index);

        if (result->bench && strcmp(identities[i - 1].text, identities[i].text) == 0)
            document_fault((struct reading){at.faults, &place},
                           "has the same bench and params as result %u", identities[i - 1].index);
    }
    for (guint i = 0; i < results->len; i++)
        g_free(identities[i].text);
}

void run_take_results(struct reading at, json_t *value, const struct field *field, void *member)
{
    GPtrArray **slot = (GPtrArray **)member;

    (void)field;
    if (document_each_element(at, value, RUN_RESULTS_MAX, take_result, *slot))
        check_repeats(at, *slot);
}
