/* SPDX-License-Identifier: Apache-2.0
 * See verdict_row.h. Any thread. */
#include "runner/show/verdict_row.h"

#include <string.h>

const char *verdict_row_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "-";
}

/* Where the effect stands: with what was measured again, or in the row itself. */
static const json_t *effect_holder(const json_t *row)
{
    const json_t *confirm = json_object_get(row, "confirm");
    return json_is_number(json_object_get(confirm, "effect")) ? confirm : row;
}

static char *percent(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? g_strdup_printf("%+.1f %%", 100 * json_number_value(value))
                                 : g_strdup("-");
}

char *verdict_row_effect(const json_t *row)
{
    return percent(effect_holder(row), "effect");
}

char *verdict_row_interval(const json_t *row)
{
    const json_t *holder = effect_holder(row);
    g_autofree char *low = percent(holder, "low"), *high = percent(holder, "high");
    return strcmp(low, "-") == 0 ? g_strdup("-") : g_strdup_printf("%s .. %s", low, high);
}

char *verdict_row_case(const json_t *row)
{
    GString *name = g_string_new(NULL);
    json_t *params = json_object_get(row, "params"), *value;
    const char *key;
    json_object_foreach(params, key, value)
    {
        g_autofree char *text = json_is_string(value)
                                    ? g_strdup(json_string_value(value))
                                    : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        g_string_append_printf(name, "%s%s:%s", name->len ? "/" : "", key, text ? text : "-");
    }
    return g_string_free(name, FALSE);
}

char *verdict_row_name(const json_t *row)
{
    g_autofree char *params = verdict_row_case(row);
    return g_strdup_printf("%s%s%s on %s", verdict_row_text(row, "bench"), *params ? "/" : "",
                           params, verdict_row_text(row, "machine"));
}

char *verdict_row_verdict(const json_t *row)
{
    const char *decision =
        json_string_value(json_object_get(json_object_get(row, "confirm"), "decision"));
    const json_t *more = json_object_get(row, "runs_more");
    if (decision)
        return g_strdup_printf("%s, %s", verdict_row_text(row, "verdict"), decision);
    if (json_is_integer(more))
        return g_strdup_printf("unsure, %" JSON_INTEGER_FORMAT " %s more", json_integer_value(more),
                               json_integer_value(more) == 1 ? "run" : "runs");
    return g_strdup(verdict_row_text(row, "verdict"));
}

char *verdict_row_p(const json_t *row)
{
    const json_t *p = json_object_get(row, "p");
    return json_is_number(p) ? g_strdup_printf("%.2g", json_number_value(p)) : g_strdup("-");
}

bool verdict_row_is_listed(const json_t *row)
{
    return strcmp(verdict_row_text(row, "verdict"), "unchanged") != 0 &&
           !json_is_null(json_object_get(row, "verdict"));
}

bool verdict_row_fails(const json_t *row)
{
    return json_is_true(json_object_get(row, "fails"));
}
