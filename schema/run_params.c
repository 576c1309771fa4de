/* SPDX-License-Identifier: Apache-2.0
 * Parameters as canonical JSON text and back. Their text is their identity: it is a key in the
 * store and in memory. Reads only text that it has written, so it needs no JSON library. Pure; any
 * thread. */
#include "schema/number.h"
#include "schema/run.h"

#include <string.h>

bool run_param_is_bare(const char *value)
{
    char text[NUMBER_TEXT_BYTES];
    double number;

    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        return true;
    if (!number_parse(value, &number))
        return false;
    number_format(number, text);
    return strcmp(text, value) == 0;
}

void run_params_append(GString *out, const GPtrArray *params)
{
    g_string_append_c(out, '{');
    for (guint i = 0; i < params->len; i++) {
        const struct run_param *param = (const struct run_param *)g_ptr_array_index(params, i);

        if (i)
            g_string_append_c(out, ',');
        json_append_string(out, param->name);
        g_string_append_c(out, ':');
        if (run_param_is_bare(param->value))
            g_string_append(out, param->value);
        else
            json_append_string(out, param->value);
    }
    g_string_append_c(out, '}');
}

char *run_params_text(const GPtrArray *params)
{
    GString *text = g_string_sized_new(64);

    run_params_append(text, params);
    return g_string_free(text, FALSE);
}

/* The escapes that json_append_string writes. */
static bool escape_take(const char **text, GString *out)
{
    static const char names[] = "\"\\bfnrt", bytes[] = "\"\\\b\f\n\r\t";
    const char *name;

    if (**text == 'u') {
        int high = 0, low = 0;

        if (strncmp(*text, "u00", 3) != 0 || (high = g_ascii_xdigit_value((*text)[3])) < 0 ||
            (low = g_ascii_xdigit_value((*text)[4])) < 0)
            return false;
        g_string_append_c(out, (char)(high * 16 + low));
        *text += 5;
        return true;
    }
    name = **text ? strchr(names, **text) : NULL;
    if (!name)
        return false;
    g_string_append_c(out, bytes[name - names]);
    (*text)++;
    return true;
}

static bool string_take(const char **text, GString *out)
{
    g_string_truncate(out, 0);
    if (**text != '"')
        return false;
    (*text)++;
    while (**text && **text != '"') {
        if (**text != '\\') {
            g_string_append_c(out, *(*text)++);
            continue;
        }
        (*text)++;
        if (!escape_take(text, out))
            return false;
    }
    if (**text != '"')
        return false;
    (*text)++;
    return true;
}

static bool value_take(const char **text, GString *out)
{
    size_t length;

    if (**text == '"')
        return string_take(text, out);
    length = strcspn(*text, ",}");
    g_string_truncate(out, 0);
    g_string_append_len(out, *text, (gssize)length);
    *text += length;
    return run_param_is_bare(out->str);
}

GPtrArray *run_params_parse(const char *text)
{
    GPtrArray *params = run_params_new();
    g_autoptr(GString) name = g_string_new(NULL);
    g_autoptr(GString) value = g_string_new(NULL);
    bool right = *text == '{';

    text += right;
    while (right && *text != '}') {
        right = string_take(&text, name) && *text == ':';
        text += right;
        right = right && value_take(&text, value) && (*text == ',' || *text == '}');
        if (right)
            run_params_add(params, name->str, value->str);
        text += right && *text == ',';
    }
    if (right)
        return params;
    g_ptr_array_unref(params);
    return NULL;
}
