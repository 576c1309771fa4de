/* SPDX-License-Identifier: Apache-2.0
 * The messages of cargo-criterion (--message-format=json): one object a line. Each measured value
 * is the total of its iterations. Any thread. */
#include "schema/formats/parsers.h"

#include "schema/text.h"

#include <string.h>

#define COMPLETE "benchmark-complete"

static void take_samples(Import *import, struct import_result *result, json_t *message)
{
    json_t *values = json_object_get(message, "measured_values");
    json_t *counts = json_object_get(message, "iteration_count");
    struct import_metric metric = {.unit = import_text(message, "unit")};

    if (json_array_size(values) != json_array_size(counts)) {
        import_fault(import, NULL, "has %zu measured_values for %zu iteration_count",
                     json_array_size(values), json_array_size(counts));
        return;
    }
    for (size_t i = 0; i < json_array_size(values); i++) {
        double value = 0, count = 0;
        bool is_good = import_number(json_array_get(values, i), &value) &&
                       import_number(json_array_get(counts, i), &count) && count > 0;

        import_sample(import, result, &metric, is_good ? value / count : IMPORT_NONE);
    }
}

/* How much one iteration works on, from which a rate follows: a fact, not a measurement. */
static void take_throughput(Import *import, struct import_result *result, json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *throughput = json_array_get(list, i);
        const char *unit = import_text(throughput, "unit");
        g_autofree char *key = g_strdup_printf("%s_per_iteration", unit ? unit : "items");

        import_info(import, result, key, json_object_get(throughput, "per_iteration"));
    }
}

static void take_message(Import *import, json_t *message)
{
    const char *id = import_text(message, "id");
    GPtrArray *params;
    g_autofree char *bench = NULL;
    struct import_result *result;

    if (!id) {
        import_fault(import, NULL, "has no id: every " COMPLETE " message needs one");
        return;
    }
    params = run_params_new();
    bench = import_split_name(id, params);
    result = import_result_take(import, bench, params);
    if (!result)
        return;
    take_samples(import, result, message);
    take_throughput(import, result, json_object_get(message, "throughput"));
}

/* What a line is that is no message: cargo's own, or a program's output. */
static void take_line(Import *import, const char *line)
{
    g_autoptr(GError) error = NULL;
    json_t *message = *line == '{' ? document_load(line, strlen(line), &error) : NULL;

    if (*line == '{' && !message)
        import_fault(import, NULL, "%s", error->message);
    else if (g_strcmp0(import_text(message, "reason"), COMPLETE) == 0)
        take_message(import, message);
    json_decref(message);
}

bool criterion_recognise(const struct format_input *input)
{
    const char *reason = import_text(input->json, "reason");

    if (input->json)
        return reason && strcmp(reason, COMPLETE) == 0;
    return strstr(input->bytes, "\"reason\":\"" COMPLETE "\"") != NULL;
}

void criterion_take(Import *import, const struct format_input *input)
{
    const char *cursor = input->bytes;

    for (char *line; (line = format_input_line(&cursor)); g_free(line)) {
        import->line++;
        take_line(import, line);
    }
    import->line = 0;
    if (import->rows->len == 0)
        import_fault(import, NULL, "holds no " COMPLETE " message");
}
