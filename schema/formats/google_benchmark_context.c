/* SPDX-License-Identifier: Apache-2.0
 * The context of a Google Benchmark file, flattened to scalars. Any thread. */
#include "schema/formats/google_benchmark_parts.h"

#include "schema/document.h"
#include "schema/number.h"
#include "schema/text.h"
#include "schema/timestamp.h"

#include <string.h>

#define LIST_ELEMENTS_MAX 64u

static void take_date(const char *date, Run *run, GPtrArray *warnings)
{
    g_autoptr(GError) error = NULL;

    if (!timestamp_parse_ms(date, &run->started_ms, &error))
        g_ptr_array_add(warnings,
                        g_strdup_printf("context: the date is not taken: %s", error->message));
}

/* {"type":"Unified","level":3,"size":33554432,"num_sharing":2} → "L3 Unified 33554432 B shared by
 * 2" */
static void append_cache(GString *out, json_t *cache)
{
    const char *type = json_string_value(json_object_get(cache, "type"));

    g_string_append_printf(out, "%sL%.0f %s ", out->len ? ", " : "",
                           json_number_value(json_object_get(cache, "level")), type ? type : "");
    number_append(out, json_number_value(json_object_get(cache, "size")));
    g_string_append(out, " B shared by ");
    number_append(out, json_number_value(json_object_get(cache, "num_sharing")));
}

/* A list of scalars or of caches as one text; NULL where it is neither. */
static char *list_text(json_t *list)
{
    g_autoptr(GString) out = g_string_new(NULL);

    if (!json_is_array(list) || json_array_size(list) > LIST_ELEMENTS_MAX)
        return NULL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *element = json_array_get(list, i);

        if (json_is_object(element)) {
            append_cache(out, element);
            continue;
        }
        if (i)
            g_string_append(out, ", ");
        if (json_is_string(element))
            g_string_append(out, json_string_value(element));
        else if (!document_append_scalar(out, element))
            return NULL;
    }
    return g_strndup(out->str, text_prefix_bytes(out->str, RUN_TEXT_BYTES_MAX));
}

/* The value as the run document takes it, or NULL. */
static json_t *flat_value(json_t *value)
{
    g_autofree char *list = list_text(value);
    g_autofree char *cut = NULL;

    if (list)
        return json_string(list);
    if (json_is_string(value)) {
        const char *text = json_string_value(value);

        cut = g_strndup(text, text_prefix_bytes(text, RUN_TEXT_BYTES_MAX));
        return json_string(cut);
    }
    if (json_is_integer(value)) {
        json_int_t whole = json_integer_value(value);

        if (whole > DOCUMENT_WHOLE_MAX || whole < -DOCUMENT_WHOLE_MAX)
            return json_sprintf("%" JSON_INTEGER_FORMAT, whole);
    }
    return json_is_number(value) || json_is_boolean(value) ? json_incref(value) : NULL;
}

void google_benchmark_context_take(json_t *context, Run *run, GPtrArray *warnings)
{
    static const struct place top = {0};
    g_autoptr(Faults) faults = faults_new();
    json_t *flat = json_object();
    const char *key;
    json_t *value;
    guint n_left_out = 0;

    json_object_foreach(context, key, value)
    {
        g_autofree char *problem = text_name_problem(key, strlen(key), RUN_NAME_BYTES_MAX);
        json_t *scalar;

        if (strcmp(key, "date") == 0 && json_is_string(value)) {
            take_date(json_string_value(value), run, warnings);
            continue;
        }
        scalar = problem || json_object_size(flat) >= RUN_MAP_MAX ? NULL : flat_value(value);
        if (scalar)
            json_object_set_new(flat, key, scalar);
        else
            n_left_out++;
    }
    document_take_scalars((struct reading){.faults = faults, .place = &top}, flat, NULL,
                          &run->context_json);
    json_decref(flat);
    if (n_left_out)
        g_ptr_array_add(
            warnings,
            g_strdup_printf(
                "context: %u entries are left out: no scalar, not a finite number, or a name "
                "that is not allowed",
                n_left_out));
}
