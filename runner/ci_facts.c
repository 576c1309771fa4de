/* SPDX-License-Identifier: Apache-2.0
 * See ci_facts.h. Reads files; main thread. */
#include "runner/ci_facts.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX ((gsize)32 << 20) /* GitHub's events have up to 25 MB */
#define FACT_BYTES_MAX 4096u

struct ci_facts {
    ci_lookup_fn lookup;
    json_t *event;          /* or NULL */
    GHashTable *parameters; /* name → value */
};

static char *read_file(const char *path, gsize *out_length)
{
    struct stat facts;
    char *text = NULL;
    if (!path || stat(path, &facts) != 0 || !S_ISREG(facts.st_mode) ||
        (guint64)facts.st_size > FILE_BYTES_MAX)
        return NULL;
    return g_file_get_contents(path, &text, out_length, NULL) ? text : NULL;
}

static json_t *read_event(ci_lookup_fn lookup)
{
    gsize length = 0;
    g_autofree char *text = read_file(lookup("GITHUB_EVENT_PATH"), &length);
    return text ? json_loadb(text, length, 0, NULL) : NULL;
}

/* Java's properties: the text up to `end` without its backslashes; \uXXXX is a character. */
static char *unescape(const char *text, const char *end)
{
    GString *out = g_string_new(NULL);
    while (text < end) {
        if (*text != '\\' || text + 1 >= end) {
            g_string_append_c(out, *text++);
        } else if (text[1] == 'u' && end - text >= 6) {
            g_autofree char *digits = g_strndup(text + 2, 4);
            g_string_append_unichar(out, (gunichar)g_ascii_strtoull(digits, NULL, 16));
            text += 6;
        } else {
            g_string_append_c(out, text[1]);
            text += 2;
        }
    }
    return g_string_free(out, FALSE);
}

static void take_parameter(GHashTable *parameters, const char *line)
{
    const char *name = line + strspn(line, " \t\f"), *end = name;
    while (*end && !strchr("=: \t", *end))
        end += *end == '\\' && end[1] ? 2 : 1;
    if (*name == '#' || *name == '!' || end == name)
        return;
    const char *value = end + strspn(end, " \t");
    value += *value == '=' || *value == ':';
    value += strspn(value, " \t");
    g_hash_table_insert(parameters, unescape(name, end), unescape(value, value + strlen(value)));
}

static void read_parameters(GHashTable *parameters, const char *path)
{
    gsize length = 0;
    g_autofree char *text = read_file(path, &length);
    g_auto(GStrv) lines = g_strsplit_set(text ? text : "", "\r\n", -1);
    for (char **line = lines; *line; line++)
        take_parameter(parameters, *line);
}

CiFacts *ci_facts_new(ci_lookup_fn lookup)
{
    CiFacts *facts = g_new0(CiFacts, 1);
    facts->lookup = lookup;
    facts->event = read_event(lookup);
    facts->parameters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    read_parameters(facts->parameters, lookup("TEAMCITY_BUILD_PROPERTIES_FILE"));
    g_autofree char *more = ci_facts_get(facts, "teamcity.configuration.properties.file");
    read_parameters(facts->parameters, more);
    return facts;
}

void ci_facts_free(CiFacts *facts)
{
    if (!facts)
        return;
    json_decref(facts->event);
    g_hash_table_unref(facts->parameters);
    g_free(facts);
}

static char *event_get(const CiFacts *facts, const char *pointer)
{
    const json_t *at = facts->event;
    g_auto(GStrv) keys = g_strsplit(pointer + 1, "/", -1);
    for (char **key = keys; *key; key++)
        at = json_object_get(at, *key);
    if (json_is_integer(at))
        return g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(at));
    return g_strdup(json_string_value(at));
}

static bool is_said(const char *value)
{
    return value && *value && strcmp(value, "false") != 0 && strlen(value) <= FACT_BYTES_MAX &&
           g_utf8_validate(value, -1, NULL);
}

char *ci_facts_get(const CiFacts *facts, const char *name)
{
    g_autofree char *value = *name == '/' ? event_get(facts, name)
                             : strchr(name, '.')
                                 ? g_strdup(g_hash_table_lookup(facts->parameters, name))
                                 : g_strdup(facts->lookup(name));
    return is_said(value) ? g_steal_pointer(&value) : NULL;
}
