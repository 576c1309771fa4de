/* SPDX-License-Identifier: Apache-2.0
 * What hyperfine exports as JSON: one result a command, times in seconds. `times` and
 * `memory_usage_byte` are samples; `user` and `system` are means over the same runs. Any thread. */
#include "schema/formats/parsers.h"

static const struct import_metric time_metric = {"time", "s", BETTER_LOWER, false};
static const struct import_metric memory_metric = {"memory", "B", BETTER_LOWER, false};
static const struct import_metric user_metric = {"user_time", "s", BETTER_LOWER, false};
static const struct import_metric system_metric = {"system_time", "s", BETTER_LOWER, false};

static void take_mean(Import *import, struct import_result *result,
                      const struct import_metric *metric, json_t *row, const char *key)
{
    struct import_summary summary = {.low = IMPORT_NONE, .high = IMPORT_NONE, .is_mean = true};

    summary.n = (int64_t)json_array_size(json_object_get(row, "times"));
    if (import_member_number(row, key, &summary.center))
        import_summary(import, result, metric, &summary);
}

static void take_times(Import *import, struct import_result *result, json_t *row)
{
    json_t *times = json_object_get(row, "times");

    if (json_array_size(times) > 0)
        import_samples_json(import, result, &time_metric, times);
    else
        take_mean(import, result, &time_metric, row, "mean");
}

/* A command that failed was not measured, unless it always fails in the same way and was told to be
 * timed all the same (--ignore-failure). */
static void take_exit_codes(Import *import, struct import_result *result, json_t *row)
{
    json_t *codes = json_object_get(row, "exit_codes");
    json_t *first = json_array_get(codes, 0);
    size_t n_failed = 0, n_other = 0;
    g_autofree char *message = NULL;

    for (size_t i = 0; i < json_array_size(codes); i++) {
        json_t *code = json_array_get(codes, i);

        n_failed += json_integer_value(code) != 0 || json_is_null(code);
        n_other += !json_equal(code, first);
    }
    if (n_failed == 0)
        return;
    if (n_other == 0 && json_is_integer(first)) {
        import_info(import, result, "exit_code", first);
        return;
    }
    message =
        g_strdup_printf("%zu of %zu runs of the command failed", n_failed, json_array_size(codes));
    import_error(import, result, message);
}

static void take_row(Import *import, json_t *row, void *user)
{
    const char *command = import_text(row, "command");
    struct import_result *result;
    GPtrArray *params;

    (void)user;
    if (!command) {
        import_fault(import, "command", "is missing: every result needs the command it timed");
        return;
    }
    params = run_params_new();
    import_params_json(params, json_object_get(row, "parameters"));
    result = import_result_take(import, command, params);
    if (!result)
        return;
    take_times(import, result, row);
    import_samples_json(import, result, &memory_metric, json_object_get(row, "memory_usage_byte"));
    take_mean(import, result, &user_metric, row, "user");
    take_mean(import, result, &system_metric, row, "system");
    take_exit_codes(import, result, row);
}

bool hyperfine_recognise(const struct format_input *input)
{
    json_t *first = json_array_get(json_object_get(input->json, "results"), 0);

    return import_text(first, "command") &&
           (json_object_get(first, "mean") || json_object_get(first, "times"));
}

void hyperfine_take(Import *import, const struct format_input *input)
{
    import_each_element(import, input->json, "results", take_row, NULL);
}
