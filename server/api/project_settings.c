/* SPDX-License-Identifier: Apache-2.0
 * The body of PUT /api/projects/{project}. Pure; any thread. The JSON library bounds its own depth
 * (2,048 levels), and what is kept of it here is printed again with sorted keys, so that two bodies
 * that mean the same are stored as the same text. */
#include "server/api/project_settings.h"

#include "schema/rules_parse.h"
#include "schema/text.h"
#include "server/api/api_write.h"
#include <string.h>

#define DUMP_FLAGS (JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(17))

#define DEFAULT_BRANCH "main" /* as store.h says of a project that nobody told otherwise */

static void check_text(const char *pointer, const json_t *value, const char **out, Faults *faults)
{
    if (!json_is_string(value)) {
        faults_add(faults, pointer, "is not a string");
        return;
    }
    const char *text = json_string_value(value);
    g_autofree char *problem =
        text_name_problem(text, json_string_length(value), RUN_NAME_BYTES_MAX);
    if (problem)
        faults_add(faults, pointer, "%s", problem);
    *out = text;
}

/* A link that a page shows: only http and https, so that no template becomes a script. */
static void check_url_template(const json_t *value, const char **out, Faults *faults)
{
    static const char pointer[] = "/commit_url_template";
    const char *text = json_string_value(value);
    if (!text) {
        faults_add(faults, pointer, "is not a string");
        return;
    }
    bool is_web = g_str_has_prefix(text, "https://") || g_str_has_prefix(text, "http://");
    const char *host = is_web ? strstr(text, "://") + 3 : "";
    if (*host == '\0' || *host == '/')
        faults_add(faults, pointer, "is not a http:// or https:// address");
    if (!strstr(text, "{sha}"))
        faults_add(
            faults, pointer,
            "does not hold {sha}, where the commit goes: https://example.org/p/commit/{sha}");
    if (strlen(text) > PROJECT_SETTINGS_URL_MAX)
        faults_add(faults, pointer, "has %zu bytes; up to %u are taken", strlen(text),
                   PROJECT_SETTINGS_URL_MAX);
    for (const char *rest = text; *rest; rest++) {
        if ((guchar)*rest <= ' ' || strchr("\"<>\\^`|\x7f", *rest)) {
            faults_add(faults, pointer, "holds a character that no address may (at byte %zd)",
                       rest - text);
            return;
        }
    }
    *out = text;
}

static char *pointer_of(const char *base, const char *name)
{
    GString *pointer = g_string_new(base);
    g_string_append_c(pointer, '/');
    for (const char *rest = name; *rest; rest++) {
        if (*rest == '~')
            g_string_append(pointer, "~0");
        else if (*rest == '/')
            g_string_append(pointer, "~1");
        else
            g_string_append_c(pointer, *rest);
    }
    return g_string_free(pointer, FALSE);
}

static void write_default(struct json_writer *writer, const char *pointer, const json_t *value,
                          Faults *faults)
{
    if (json_is_string(value))
        json_writer_string(writer, NULL, json_string_value(value));
    else if (json_is_number(value))
        json_writer_number(writer, NULL, json_number_value(value));
    else if (json_is_boolean(value))
        json_writer_bool(writer, NULL, json_is_true(value));
    else
        faults_add(faults, pointer, "is no parameter value; give a string, number or boolean");
}

static void write_bench_defaults(struct json_writer *writer, const char *pointer,
                                 const json_t *params, Faults *faults)
{
    const char *name;
    const json_t *value;
    json_writer_object(writer, NULL);
    json_object_foreach((json_t *)(uintptr_t)params, name, value)
    {
        g_autofree char *at = pointer_of(pointer, name);
        g_autofree char *problem = text_name_problem(name, strlen(name), RUN_NAME_BYTES_MAX);
        if (problem)
            faults_add(faults, at, "the parameter's name %s", problem);
        json_writer_key(writer, name);
        write_default(writer, at, value, faults);
    }
    json_writer_end(writer);
}

/* {"bench":{"param":value}} */
static char *check_param_defaults(const json_t *value, Faults *faults)
{
    static const char pointer[] = "/param_defaults";
    const char *bench;
    const json_t *params;
    if (!json_is_object(value)) {
        faults_add(faults, pointer, "is not an object of benchmarks: {\"Bench\":{\"param\":1}}");
        return NULL;
    }
    g_autoptr(GString) text = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(text);
    json_writer_object(&writer, NULL);
    json_object_foreach((json_t *)(uintptr_t)value, bench, params)
    {
        g_autofree char *at = pointer_of(pointer, bench);
        g_autofree char *problem = text_name_problem(bench, strlen(bench), RUN_BENCH_BYTES_MAX);
        if (problem)
            faults_add(faults, at, "the benchmark's name %s", problem);
        if (!json_is_object(params)) {
            faults_add(faults, at, "is not an object of parameters: {\"param\":1}");
            continue;
        }
        json_writer_key(&writer, bench);
        write_bench_defaults(&writer, at, params, faults);
    }
    json_writer_end(&writer);
    json_t *sorted = faults->found == 0 ? json_loads(text->str, 0, NULL) : NULL;
    char *dump = sorted ? json_dumps(sorted, DUMP_FLAGS) : NULL;
    json_decref(sorted);
    char *taken = g_strdup(dump);
    free(dump);
    return taken;
}

static GPtrArray *check_rules(json_t *value, Faults *faults)
{
    static const struct place top = {0};
    const struct place place = {.up = &top, .key = "rules"};
    return rules_read((struct reading){faults, &place}, value);
}

/* Of those who save rules: kept in their log. */
static void check_line(const char *pointer, const json_t *value, char **out, Faults *faults)
{
    const char *text = json_string_value(value);
    if (!json_is_null(value) && (!text || strlen(text) > RULES_NOTE_BYTES_MAX))
        faults_add(faults, pointer, "must be null or a text of at most %u bytes",
                   RULES_NOTE_BYTES_MAX);
    else
        *out = g_strdup(text);
}

static void check_member(struct store_project_settings *settings, const char *name, json_t *value,
                         Faults *faults)
{
    const char *text = "";
    g_autofree char *pointer = pointer_of("", name);
    bool is_given = !json_is_null(value); /* null: "", which is none */
    if (strcmp(name, "default_branch") == 0) {
        text = DEFAULT_BRANCH;
        if (is_given)
            check_text(pointer, value, &text, faults);
        settings->default_branch = g_strdup(text);
    } else if (strcmp(name, "commit_url_template") == 0) {
        if (is_given)
            check_url_template(value, &text, faults);
        settings->commit_url_template = g_strdup(text);
    } else if (strcmp(name, "param_defaults") == 0) {
        settings->param_defaults_json =
            is_given ? check_param_defaults(value, faults) : g_strdup("");
    } else if (strcmp(name, "rules") == 0) {
        settings->rules = is_given ? check_rules(value, faults) : rules_new();
    } else if (strcmp(name, "who") == 0) {
        check_line(pointer, value, &settings->who, faults);
    } else if (strcmp(name, "note") == 0) {
        check_line(pointer, value, &settings->note, faults);
    } else {
        faults_add(faults, pointer,
                   "is not a field of a project; it has default_branch, commit_url_template, "
                   "param_defaults, rules (with who and note for their log)");
    }
}

static json_t *load(const char *bytes, size_t length, GError **error)
{
    if (length > PROJECT_SETTINGS_BYTES_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                    "the settings of a project have %zu bytes; up to %u are taken", length,
                    PROJECT_SETTINGS_BYTES_MAX);
        return NULL;
    }
    return document_load(bytes, length, error);
}

struct store_project_settings *project_settings_parse(const char *name, const char *bytes,
                                                      size_t length, Faults *faults, GError **error)
{
    json_t *root = load(bytes, length, error);
    const char *member;
    json_t *value;
    if (!root)
        return NULL;
    struct store_project_settings *settings = g_new0(struct store_project_settings, 1);
    settings->name = g_strdup(name);
    if (!json_is_object(root))
        faults_add(faults, "", "is not an object: {\"default_branch\":\"main\"}");
    json_object_foreach(root, member, value)
    {
        check_member(settings, member, value, faults);
    }
    json_decref(root);
    if (document_conclude(faults, error))
        return settings;
    store_project_settings_free(settings);
    return NULL;
}
