/* SPDX-License-Identifier: Apache-2.0
 * nanobench's JSON template: of each result every measurement (epoch), in seconds an iteration, and
 * the CPU's counters where it had any. Any thread. */
#include "schema/formats/parsers.h"

#include <string.h>

#define TITLE_DEFAULT "benchmark"

static const char *const counters[] = {"instructions", "cpucycles",          "contextswitches",
                                       "pagefaults",   "branchinstructions", "branchmisses"};

/* Of one measurement, for one unit of what is worked on. */
static void take_value(Import *import, struct import_result *result,
                       const struct import_metric *metric, json_t *measurement, double batch)
{
    const char *key = strcmp(metric->name, "time") == 0 ? "elapsed" : metric->name;
    double value;
    bool is_good = import_member_number(measurement, key, &value);

    import_sample(import, result, metric, is_good ? value / batch : IMPORT_NONE);
}

static void take_metric(Import *import, struct import_result *result,
                        const struct import_metric *metric, json_t *row)
{
    json_t *measurements = json_object_get(row, "measurements");
    double batch = 0;

    if (!import_member_number(row, "batch", &batch) || batch <= 0)
        batch = 1;
    for (size_t i = 0; i < json_array_size(measurements); i++)
        take_value(import, result, metric, json_array_get(measurements, i), batch);
}

/* Where the CPU's counters cannot be read, all of them are 0. */
static bool has_counter(json_t *row, const char *name)
{
    json_t *measurements = json_object_get(row, "measurements");

    for (size_t i = 0; i < json_array_size(measurements); i++) {
        double value;

        if (import_member_number(json_array_get(measurements, i), name, &value) && value != 0)
            return true;
    }
    return false;
}

static void take_measurements(Import *import, struct import_result *result, json_t *row)
{
    const char *counted = import_text(row, "unit");
    g_autofree char *tidy = import_tidy(counted && *counted ? counted : "op", 60);
    g_autofree char *per = g_strdup_printf("s/%s", tidy);
    const struct import_metric time = {"time", per, BETTER_LOWER, false};

    take_metric(import, result, &time, row);
    for (size_t i = 0; i < G_N_ELEMENTS(counters); i++) {
        const struct import_metric counter = {counters[i], "", BETTER_LOWER, false};

        if (has_counter(row, counters[i]))
            take_metric(import, result, &counter, row);
    }
}

static void take_row(Import *import, json_t *row, void *user)
{
    const char *name = import_text(row, "name");
    const char *title = import_text(row, "title");
    GPtrArray *params;
    g_autofree char *own = NULL, *bench = NULL;
    struct import_result *result;

    (void)user;
    if (!name) {
        import_fault(import, "name", "is missing: every result needs one");
        return;
    }
    params = run_params_new();
    import_params_json(params, json_object_get(row, "context"));
    own = import_split_name(name, params);
    bench = title && *title && strcmp(title, TITLE_DEFAULT) != 0
                ? g_strdup_printf("%s/%s", title, own)
                : g_strdup(own);
    result = import_result_take(import, bench, params);
    if (result)
        take_measurements(import, result, row);
}

bool nanobench_recognise(const struct format_input *input)
{
    json_t *first = json_array_get(json_object_get(input->json, "results"), 0);

    return json_object_get(first, "median(elapsed)") != NULL;
}

void nanobench_take(Import *import, const struct format_input *input)
{
    import_each_element(import, input->json, "results", take_row, NULL);
}
