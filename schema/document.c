/* SPDX-License-Identifier: Apache-2.0
 * JSON bytes to a tree, and the walk over a tree by tables of fields. Any thread. */
#include "schema/document.h"

#include "schema/document_memory.h"
#include "schema/text.h"

#include <stdarg.h>
#include <string.h>

#define KEY_BYTES_MAX 256u
#define PLACES_MAX    32

/* What jansson allocates for each, rounded up (2.14, 64 bit). A document of "[[],[]," takes 60
 * times its size as a tree: bounding the bytes of the text alone would leave the memory to the
 * sender. */
#define TREE_OBJECT_BYTES 256
#define TREE_MEMBER_BYTES 64
#define TREE_ARRAY_BYTES  128
#define TREE_VALUE_BYTES  40
#define TREE_BYTE_COST    TREE_OBJECT_BYTES /* at most, of a byte of text */

static uint64_t tree_bytes_estimate(const char *bytes, size_t length)
{
    static const uint16_t costs[256] = {['{'] = TREE_OBJECT_BYTES,
                                        [':'] = TREE_MEMBER_BYTES,
                                        ['['] = TREE_ARRAY_BYTES,
                                        [','] = TREE_VALUE_BYTES};
    uint64_t cost = 0;
    bool in_string = false;

    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];

        if (in_string && byte == '\\')
            i++;
        else if (byte == '"')
            in_string = !in_string;
        else if (!in_string)
            cost += costs[byte];
    }
    return cost;
}

json_t *document_load(const char *bytes, size_t length, GError **error)
{
    json_error_t problem;
    json_t *tree;
    g_autofree char *text = NULL;

    if (length > DOCUMENT_TREE_BYTES_MAX / TREE_BYTE_COST &&
        tree_bytes_estimate(bytes, length) > DOCUMENT_TREE_BYTES_MAX) {
        g_set_error(
            error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
            "the document holds too many values: they would take more than %" G_GUINT64_FORMAT
            " MiB of memory; send it in parts",
            DOCUMENT_TREE_BYTES_MAX >> 20);
        return NULL;
    }
    document_memory_enter();
    tree = json_loadb(bytes, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);
    if (!document_memory_leave(error)) {
        json_decref(tree);
        return NULL;
    }
    if (tree)
        return tree;
    if (json_error_code(&problem) == json_error_null_character ||
        json_error_code(&problem) == json_error_null_byte_in_key)
        text = g_strdup("\\u0000 is not allowed in a text"); /* jansson names a flag of its own */
    else
        text = g_utf8_make_valid(problem.text, -1);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "malformed JSON at line %d, column %d (byte offset %d): %s", problem.line,
                problem.column, problem.position, text);
    return NULL;
}

static void pointer_append_key(GString *out, const char *key)
{
    g_autofree char *excerpt = g_strndup(key, text_prefix_bytes(key, KEY_BYTES_MAX));

    for (const char *at = excerpt; *at; at++) {
        if (*at == '~')
            g_string_append(out, "~0");
        else if (*at == '/')
            g_string_append(out, "~1");
        else
            g_string_append_c(out, *at);
    }
}

static char *pointer_text(const struct place *place)
{
    const struct place *path[PLACES_MAX];
    GString *out = g_string_new(NULL);
    size_t depth = 0;

    for (; place && place->up && depth < PLACES_MAX; place = place->up)
        path[depth++] = place;
    while (depth > 0) {
        const struct place *step = path[--depth];

        g_string_append_c(out, '/');
        if (step->key)
            pointer_append_key(out, step->key);
        else
            g_string_append_printf(out, "%zu", step->index);
    }
    return g_string_free(out, FALSE);
}

void document_fault(struct reading at, const char *format, ...)
{
    g_autofree char *pointer = NULL;
    g_autofree char *message = NULL;
    va_list arguments;

    /* Further ones are counted only: a large document may hold millions. */
    if (at.faults->items->len >= FAULTS_MAX) {
        at.faults->found++;
        return;
    }
    pointer = pointer_text(at.place);
    va_start(arguments, format);
    message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    faults_add(at.faults, pointer, "%s", message);
}

bool document_conclude(const Faults *faults, GError **error)
{
    const struct fault *first;

    if (faults->found == 0)
        return true;
    first = (const struct fault *)g_ptr_array_index(faults->items, 0);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "the document has %u fault%s%s at %s: %s",
                faults->found, faults->found == 1 ? "" : "s",
                faults->found == 1 ? "," : ", the first",
                *first->pointer ? first->pointer : "its top", first->message);
    return false;
}

const char *document_type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
    default:
        return "null";
    }
}

static void fault_unknown(struct reading at, const struct field_table *table)
{
    g_autoptr(GString) known = g_string_new(NULL);

    for (size_t i = 0; i < table->n_fields; i++)
        g_string_append_printf(known, "%s%s", i ? ", " : "", table->fields[i].name);
    document_fault(at, "unknown field: %s has %s", table->what, known->str);
}

static size_t field_find(const struct field_table *table, const char *key)
{
    size_t i = 0;

    while (i < table->n_fields && strcmp(table->fields[i].name, key) != 0)
        i++;
    return i;
}

bool document_read(struct reading at, json_t *value, const struct field_table *table, void *target)
{
    uint32_t seen = 0;
    const char *key;
    json_t *member;

    if (!json_is_object(value)) {
        document_fault(at, "is %s, must be an object: %s", document_type_name(value), table->what);
        return false;
    }
    json_object_foreach(value, key, member)
    {
        struct place place = {.up = at.place, .key = key};
        struct reading here = {.faults = at.faults, .place = &place};
        size_t i = field_find(table, key);

        if (i == table->n_fields) {
            fault_unknown(here, table);
            continue;
        }
        seen |= UINT32_C(1) << i;
        table->fields[i].take(here, member, &table->fields[i],
                              (char *)target + table->fields[i].offset);
    }
    for (size_t i = 0; i < table->n_fields; i++) {
        struct place place = {.up = at.place, .key = table->fields[i].name};

        if (table->fields[i].required && !(seen & UINT32_C(1) << i))
            document_fault((struct reading){.faults = at.faults, .place = &place},
                           "is missing: %s needs it", table->what);
    }
    return true;
}

bool document_each_member(struct reading at, json_t *value, size_t n_max, document_each_fn each,
                          void *user)
{
    const char *key;
    json_t *member;

    if (!json_is_object(value)) {
        document_fault(at, "is %s, must be an object", document_type_name(value));
        return false;
    }
    if (json_object_size(value) > n_max) {
        document_fault(at, "has %zu entries, at most %zu are allowed", json_object_size(value),
                       n_max);
        return false;
    }
    json_object_foreach(value, key, member)
    {
        struct place place = {.up = at.place, .key = key};
        struct reading here = {.faults = at.faults, .place = &place};
        g_autofree char *problem = text_name_problem(key, strlen(key), KEY_BYTES_MAX);

        if (problem)
            document_fault(here, "the name %s", problem);
        else
            each(here, key, member, user);
    }
    return true;
}

bool document_each_element(struct reading at, json_t *value, size_t n_max, document_each_fn each,
                           void *user)
{
    size_t n = json_array_size(value);

    if (!json_is_array(value)) {
        document_fault(at, "is %s, must be an array", document_type_name(value));
        return false;
    }
    if (n > n_max) {
        document_fault(at, "has %zu elements, at most %zu are allowed", n, n_max);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        struct place place = {.up = at.place, .index = i};

        each((struct reading){.faults = at.faults, .place = &place}, NULL, json_array_get(value, i),
             user);
    }
    return true;
}

bool document_number(struct reading at, json_t *value, double *out_value)
{
    json_int_t whole;

    if (json_is_real(value)) {
        *out_value = json_real_value(value);
        return true;
    }
    if (!json_is_integer(value)) {
        document_fault(at, "is %s, must be a number", document_type_name(value));
        return false;
    }
    whole = json_integer_value(value);
    if (whole > DOCUMENT_WHOLE_MAX || whole < -DOCUMENT_WHOLE_MAX) {
        document_fault(
            at, "is a whole number beyond 2^53, which would lose digits; a string keeps them");
        return false;
    }
    *out_value = (double)whole;
    return true;
}

bool document_whole(struct reading at, json_t *value, int64_t minimum, int64_t *out_value)
{
    double number;

    if (!document_number(at, value, &number))
        return false;
    if (number < (double)minimum || number > (double)DOCUMENT_WHOLE_MAX ||
        number != (double)(int64_t)number) {
        document_fault(at, "must be a whole number from %" G_GINT64_FORMAT " to 2^53", minimum);
        return false;
    }
    *out_value = (int64_t)number;
    return true;
}
