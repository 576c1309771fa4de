/* SPDX-License-Identifier: Apache-2.0
 * github-action-benchmark's custom array: name, unit, value, and perhaps a range. The array does
 * not say which way is better, the tool's name does (customBiggerIsBetter); so there is one format
 * for each, and one that goes by the unit. Any thread. */
#include "schema/formats/parsers.h"

#include <string.h>

/* "± 329", "+- 0.5", "±1.5%": the number, and whether it is a percentage. */
static bool parse_range(const char *text, double *out_value, bool *out_is_percent)
{
    char *end;

    if (g_str_has_prefix(text, "±"))
        text += strlen("±");
    else if (g_str_has_prefix(text, "+-") || g_str_has_prefix(text, "+/-"))
        text = strchr(text, '-') + 1;
    while (g_ascii_isspace(*text))
        text++;
    if (!g_ascii_isdigit(*text) && *text != '.')
        return false;
    *out_value = g_ascii_strtod(text, &end);
    *out_is_percent = *end == '%';
    end += *out_is_percent;
    while (g_ascii_isspace(*end))
        end++;
    return *end == '\0';
}

static void take_range(struct import_result *result, json_t *row, const char *unit)
{
    const char *text = import_text(row, "range");
    bool is_percent = false;
    double value = 0;

    if (text && parse_range(text, &value, &is_percent))
        import_beside(result, "range", is_percent ? "%" : unit, value);
}

static void take_row(Import *import, json_t *row, void *user)
{
    const enum better *claimed = (const enum better *)user;
    const char *name = import_text(row, "name");
    struct import_metric metric = {.unit = import_text(row, "unit")};
    struct import_result *result;

    if (!name) {
        import_fault(import, "name", "is missing: every entry needs a name");
        return;
    }
    result = import_result_take(import, name, NULL);
    if (!result)
        return;
    metric.better = import_claim(import, result, metric.unit, *claimed);
    import_sample_json(import, result, &metric, json_object_get(row, "value"));
    take_range(result, row, metric.unit);
}

static void take_all(Import *import, const struct format_input *input, enum better claimed)
{
    import_each_element(import, input->json, NULL, take_row, &claimed);
}

bool github_action_recognise(const struct format_input *input)
{
    json_t *first = json_array_get(input->json, 0);

    return import_text(first, "name") && import_text(first, "unit") &&
           json_object_get(first, "value");
}

void github_action_take(Import *import, const struct format_input *input)
{
    take_all(import, input, BETTER_UNKNOWN);
}

void github_action_bigger_take(Import *import, const struct format_input *input)
{
    take_all(import, input, BETTER_HIGHER);
}

void github_action_smaller_take(Import *import, const struct format_input *input)
{
    take_all(import, input, BETTER_LOWER);
}
