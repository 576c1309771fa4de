/* SPDX-License-Identifier: Apache-2.0
 * The takers of a document's single values: names, texts, choices, times, maps of scalars. Any
 * thread. */
#include "schema/document.h"

#include "schema/number.h"
#include "schema/text.h"
#include "schema/timestamp.h"

#include <stdlib.h>
#include <string.h>

#define MAP_ENTRIES_MAX     256u
#define MAP_VALUE_BYTES_MAX 4096u

static bool take_string(struct reading at, json_t *value)
{
    if (json_is_string(value))
        return true;
    document_fault(at, "is %s, must be a string", document_type_name(value));
    return false;
}

static void member_set(void *member, const char *text)
{
    char **slot = (char **)member;

    g_free(*slot);
    *slot = g_strdup(text);
}

void document_take_name(struct reading at, json_t *value, const struct field *field, void *member)
{
    g_autofree char *problem = NULL;

    if (!take_string(at, value))
        return;
    problem =
        text_name_problem(json_string_value(value), json_string_length(value), field->bytes_max);
    if (problem)
        document_fault(at, "the name %s", problem);
    else
        member_set(member, json_string_value(value));
}

void document_take_unit(struct reading at, json_t *value, const struct field *field, void *member)
{
    g_autofree char *problem = NULL;

    if (!take_string(at, value))
        return;
    problem =
        text_value_problem(json_string_value(value), json_string_length(value), field->bytes_max);
    if (problem)
        document_fault(at, "the unit %s", problem);
    else
        member_set(member, json_string_value(value));
}

void document_take_text(struct reading at, json_t *value, const struct field *field, void *member)
{
    if (!take_string(at, value))
        return;
    if (json_string_length(value) > field->bytes_max)
        document_fault(at, "is longer than %zu bytes (it has %zu)", field->bytes_max,
                       json_string_length(value));
    else
        member_set(member, json_string_value(value));
}

void document_take_line(struct reading at, json_t *value, const struct field *field, void *member)
{
    if (json_is_string(value) && json_string_length(value) == 0)
        document_fault(at, "is empty; leave the field out where there is nothing to say");
    else
        document_take_text(at, value, field, member);
}

void document_take_choice(struct reading at, json_t *value, const struct field *field, void *member)
{
    g_autofree char *excerpt = NULL;
    g_autoptr(GString) choices = NULL;

    if (!take_string(at, value))
        return;
    for (size_t i = 0; field->choices[i]; i++) {
        if (strcmp(field->choices[i], json_string_value(value)) == 0) {
            member_set(member, field->choices[i]);
            return;
        }
    }
    excerpt = text_excerpt(json_string_value(value));
    choices = g_string_new(NULL);
    for (size_t i = 0; field->choices[i]; i++)
        g_string_append_printf(choices, "%s%s", i ? ", " : "", field->choices[i]);
    document_fault(at, "is \"%s\", must be one of: %s", excerpt, choices->str);
}

void document_take_sha(struct reading at, json_t *value, const struct field *field, void *member)
{
    g_autofree char *excerpt = NULL;

    (void)field;
    if (!take_string(at, value))
        return;
    if (text_is_sha(json_string_value(value))) {
        member_set(member, json_string_value(value));
        return;
    }
    excerpt = text_excerpt(json_string_value(value));
    document_fault(at,
                   "is \"%s\", must be a full commit hash: 40 or 64 lower-case hex digits, as `git "
                   "rev-parse` prints it",
                   excerpt);
}

void document_take_bool(struct reading at, json_t *value, const struct field *field, void *member)
{
    bool *slot = (bool *)member;

    (void)field;
    if (json_is_boolean(value))
        *slot = json_is_true(value);
    else
        document_fault(at, "is %s, must be true or false", document_type_name(value));
}

void document_take_time_ms(struct reading at, json_t *value, const struct field *field,
                           void *member)
{
    int64_t *slot = (int64_t *)member;
    g_autoptr(GError) error = NULL;

    (void)field;
    if (take_string(at, value) && !timestamp_parse_ms(json_string_value(value), slot, &error))
        document_fault(at, "%s", error->message);
}

static int compare_keys(const void *a, const void *b)
{
    const char *const *left = (const char *const *)a;
    const char *const *right = (const char *const *)b;

    return strcmp(*left, *right);
}

GPtrArray *document_sorted_keys(json_t *object)
{
    GPtrArray *keys = g_ptr_array_sized_new((guint)json_object_size(object));

    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);

        g_ptr_array_add(keys, (gpointer)(guintptr)key);
    }
    if (keys->len)
        qsort(keys->pdata, keys->len, sizeof *keys->pdata, compare_keys);
    return keys;
}

bool document_append_scalar(GString *out, const json_t *value)
{
    if (json_is_string(value))
        json_append_string(out, json_string_value(value));
    else if (json_is_number(value))
        number_append(out, json_number_value(value));
    else if (json_is_boolean(value))
        g_string_append(out, json_is_true(value) ? "true" : "false");
    else
        return false;
    return true;
}

static void check_scalar(struct reading at, const char *key, json_t *value, void *user)
{
    double number;

    (void)key;
    (void)user;
    if (json_is_number(value))
        document_number(at, value, &number);
    else if (json_is_string(value) && json_string_length(value) > MAP_VALUE_BYTES_MAX)
        document_fault(at, "is longer than %u bytes (it has %zu)", MAP_VALUE_BYTES_MAX,
                       json_string_length(value));
    else if (!json_is_string(value) && !json_is_boolean(value))
        document_fault(at, "is %s, must be a string, a number or a boolean",
                       document_type_name(value));
}

/* An empty map says no more than an absent one: both are NULL. */
void document_take_scalars(struct reading at, json_t *value, const struct field *field,
                           void *member)
{
    g_autoptr(GPtrArray) keys = NULL;
    g_autoptr(GString) text = NULL;
    guint found = at.faults->found;

    (void)field;
    if (!document_each_member(at, value, MAP_ENTRIES_MAX, check_scalar, NULL) ||
        at.faults->found != found || json_object_size(value) == 0)
        return;
    keys = document_sorted_keys(value);
    text = g_string_sized_new(256);
    for (guint i = 0; i < keys->len; i++) {
        const char *key = (const char *)g_ptr_array_index(keys, i);

        g_string_append_c(text, i ? ',' : '{');
        json_append_string(text, key);
        g_string_append_c(text, ':');
        document_append_scalar(text, json_object_get(value, key));
    }
    g_string_append_c(text, '}');
    member_set(member, text->str);
}
