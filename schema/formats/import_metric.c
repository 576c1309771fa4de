/* SPDX-License-Identifier: Apache-2.0
 * Metrics of a foreign file: units and directions, samples, summaries, and what is no finite
 * number. Any thread. */
#include "schema/formats/import.h"
#include "schema/formats/metric_unit.h"
#include "schema/number.h"
#include "schema/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_dropped(const struct import_result *row, const char *name)
{
    return g_ptr_array_find_with_equal_func(row->dropped, name, g_str_equal, NULL);
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

static void metric_drop(Import *import, struct import_result *row, const char *name,
                        const char *why)
{
    g_autofree char *metric = text_excerpt(name);
    g_autofree char *bench = text_excerpt(row->result->bench);
    guint index = 0;

    if (is_dropped(row, name) || row->dropped->len >= RUN_METRICS_MAX)
        return;
    if (metric_find(row->result, name, &index))
        g_ptr_array_remove_index(row->result->metrics, index);
    g_ptr_array_add(row->dropped, g_strdup(name));
    import_warn(import, "%s: metric %s is dropped: %s", bench, metric, why);
}

static struct run_metric *metric_new(Import *import, struct import_result *row, const char *name,
                                     const char *unit, const struct import_metric *metric)
{
    enum better better = metric->better;
    g_autofree char *problem = text_name_problem(name, strlen(name), RUN_NAME_BYTES_MAX);
    struct run_metric *made;

    if (!problem)
        problem = text_value_problem(unit, strlen(unit), RUN_NAME_BYTES_MAX);
    if (problem) {
        metric_drop(import, row, name, problem);
        return NULL;
    }
    if (row->result->metrics->len + row->dropped->len >= RUN_METRICS_MAX) {
        import_fault(import, NULL, "has one metric more than the %u that a result may hold",
                     RUN_METRICS_MAX);
        return NULL;
    }
    if (better == BETTER_UNKNOWN && !metric->is_undirected)
        better = metric_unit_better(unit);
    made = run_metric_new(name, unit, better);
    run_result_take_metric(row->result, made);
    return made;
}

static void normalise_unit(const char *unit, struct metric_unit *out)
{
    g_autofree char *written = import_tidy(unit ? unit : "", METRIC_UNIT_BYTES_MAX);

    metric_unit_normalise(written, out);
}

/* The metric's name as it is kept, and its unit. */
static char *metric_name(const struct import_metric *metric, struct metric_unit *out_unit)
{
    normalise_unit(metric->unit, out_unit);
    return metric->name ? import_tidy(metric->name, RUN_NAME_BYTES_MAX)
                        : g_strdup(metric_unit_noun(out_unit->text));
}

/* The metric of the result, made where it is new; NULL where it is dropped or has another unit.
 * `*out_factor` brings the tool's values to its unit. */
static struct run_metric *metric_take(Import *import, struct import_result *row,
                                      const struct import_metric *metric, double *out_factor)
{
    struct metric_unit unit;
    g_autofree char *name = metric_name(metric, &unit);
    struct run_metric *found;
    guint index = 0;

    if (is_dropped(row, name))
        return NULL;
    *out_factor = unit.factor;
    found = metric_find(row->result, name, &index);
    if (!found)
        return metric_new(import, row, name, unit.text, metric);
    if (strcmp(found->unit, unit.text) == 0)
        return found;
    metric_drop(import, row, name, "its rows are of different units");
    return NULL;
}

enum better import_claim(Import *import, const struct import_result *row, const char *unit,
                         enum better claimed)
{
    struct metric_unit normal;
    g_autofree char *bench = text_excerpt(row->result->bench);

    normalise_unit(unit, &normal);
    if (claimed != BETTER_LOWER || metric_unit_better(normal.text) != BETTER_HIGHER)
        return claimed;
    import_warn(
        import,
        "%s: less of %s is said to be better; more of a rate is, so that is taken (a better "
        "in the request overrides it)",
        bench, normal.text);
    return BETTER_HIGHER;
}

static void sample_add(Import *import, struct run_metric *metric, double value)
{
    if (metric->n_samples >= RUN_SAMPLES_MAX)
        import_fault(import, NULL, "has one sample more than the %u that a metric may hold",
                     RUN_SAMPLES_MAX);
    else
        run_metric_add_sample(metric, value);
}

/* What was the only summary becomes the first sample. */
static void summary_to_sample(struct run_metric *metric)
{
    double center = metric->summary.center;

    memset(&metric->summary, 0, sizeof metric->summary);
    metric->kind = METRIC_SAMPLES;
    run_metric_add_sample(metric, center);
}

/* A metric that samples can be added to; NULL where it is dropped. */
static struct run_metric *sampled_take(Import *import, struct import_result *row,
                                       const struct import_metric *metric, double *out_factor)
{
    struct run_metric *found = metric_take(import, row, metric, out_factor);

    if (found && found->kind == METRIC_SUMMARY)
        summary_to_sample(found);
    return found;
}

/* False where that drops the metric, which is then gone. */
static bool number_add(Import *import, struct import_result *row, struct run_metric *metric,
                       double value)
{
    g_autofree char *name = NULL;

    if (isfinite(value)) {
        sample_add(import, metric, value);
        return true;
    }
    name = g_strdup(metric->name);
    metric_drop(import, row, name, "it is not a finite number");
    return false;
}

static bool json_add(Import *import, struct import_result *row, struct run_metric *metric,
                     double factor, const json_t *value)
{
    double number = IMPORT_NONE;
    g_autofree char *name = NULL;

    if (!json_is_integer(value) || llabs(json_integer_value(value)) <= DOCUMENT_WHOLE_MAX) {
        import_number(value, &number);
        return number_add(import, row, metric, number * factor);
    }
    name = g_strdup(metric->name);
    metric_drop(import, row, name, "it is a whole number beyond 2^53, which would lose digits");
    return false;
}

void import_sample(Import *import, struct import_result *row, const struct import_metric *metric,
                   double value)
{
    double factor = 1;
    struct run_metric *found = sampled_take(import, row, metric, &factor);

    if (found)
        number_add(import, row, found, value * factor);
}

void import_sample_json(Import *import, struct import_result *row,
                        const struct import_metric *metric, const json_t *value)
{
    import_sample_times(import, row, metric, value, 1);
}

void import_sample_times(Import *import, struct import_result *row,
                         const struct import_metric *metric, const json_t *value, int64_t n)
{
    double factor = 1;
    struct run_metric *found = n > 0 ? sampled_take(import, row, metric, &factor) : NULL;

    for (int64_t i = 0; found && i < n; i++) {
        if (!json_add(import, row, found, factor, value))
            return;
    }
}

void import_samples_json(Import *import, struct import_result *row,
                         const struct import_metric *metric, const json_t *values)
{
    double factor = 1;
    struct run_metric *found =
        json_array_size(values) ? sampled_take(import, row, metric, &factor) : NULL;

    for (size_t i = 0; found && i < json_array_size(values); i++) {
        if (!json_add(import, row, found, factor, json_array_get(values, i)))
            return;
    }
}

static void summary_fill(struct run_metric *metric, const struct import_summary *summary,
                         double factor)
{
    double low = summary->low * factor, high = summary->high * factor;

    metric->kind = METRIC_SUMMARY;
    metric->summary.center = summary->center * factor;
    metric->summary.is_mean = summary->is_mean;
    metric->summary.has_n = summary->n > 0 && summary->n <= DOCUMENT_WHOLE_MAX;
    metric->summary.n = summary->n;
    /* Bounds that do not hold the center are no bounds of it. */
    metric->summary.has_low = isfinite(low) && low <= metric->summary.center;
    metric->summary.low = low;
    metric->summary.has_high = isfinite(high) && high >= metric->summary.center;
    metric->summary.high = high;
}

void import_summary(Import *import, struct import_result *row, const struct import_metric *metric,
                    const struct import_summary *summary)
{
    double factor = 1;
    struct run_metric *found = metric_take(import, row, metric, &factor);

    if (!found)
        return;
    if (found->kind == METRIC_SUMMARY || found->n_samples > 0 ||
        !isfinite(summary->center * factor))
        import_sample(import, row, metric, summary->center);
    else
        summary_fill(found, summary, factor);
}

void import_beside(struct import_result *row, const char *name, const char *unit, double value)
{
    struct metric_unit normal;

    normalise_unit(unit, &normal);
    value *= normal.factor;
    if (!isfinite(value))
        return;
    for (guint i = 0; i < row->result->beside->len; i++) {
        struct run_beside *beside = (struct run_beside *)g_ptr_array_index(row->result->beside, i);

        if (strcmp(beside->name, name) != 0)
            continue;
        beside->values = g_renew(double, beside->values, beside->n_values + 1);
        beside->values[beside->n_values++] = value;
        return;
    }
    run_result_add_beside(row->result, name, normal.text, &value, 1);
}
