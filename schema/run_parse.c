/* SPDX-License-Identifier: Apache-2.0
 * The run document from JSON to structure: the envelope. What a field may hold is said in the
 * tables; the few rules that tie fields together stand below them. Results are in
 * run_parse_result.c. Any thread. */
#include "schema/run_parse.h"

#include "schema/number.h"
#include "schema/text.h"

#include <string.h>

#define ID_BYTES_MAX       128u
#define TRAILER_VALUES_MAX 64u

/* ---- Commits ----------------------------------------------------------------------- */

static void take_commit_time(struct reading at, json_t *value, const struct field *field,
                             void *member)
{
    struct run_commit *commit = (struct run_commit *)member;
    guint found = at.faults->found;
    int64_t time_ms = 0;

    document_take_time_ms(at, value, field, &time_ms);
    commit->has_time = found == at.faults->found;
    commit->time_s = time_ms / 1000;
}

static void take_parent(struct reading at, const char *key, json_t *value, void *user)
{
    GPtrArray *parents = (GPtrArray *)user;
    char *sha = NULL;

    (void)key;
    document_take_sha(at, value, NULL, &sha);
    for (guint i = 0; sha && i < parents->len; i++) {
        if (strcmp(sha, (const char *)g_ptr_array_index(parents, i)) == 0) {
            document_fault(at, "is the same parent as number %u", i);
            g_clear_pointer(&sha, g_free);
        }
    }
    if (sha)
        g_ptr_array_add(parents, sha);
}

static void take_parents(struct reading at, json_t *value, const struct field *field, void *member)
{
    GPtrArray *parents = g_ptr_array_new_with_free_func(g_free);
    char ***slot = (char ***)member;

    (void)field;
    document_each_element(at, value, RUN_PARENTS_MAX, take_parent, parents);
    g_ptr_array_add(parents, NULL);
    g_strfreev(*slot);
    *slot = (char **)g_ptr_array_free(parents, FALSE);
}

static void take_trailer_value(struct reading at, const char *key, json_t *value, void *user)
{
    GString *text = (GString *)user;
    static const struct field field = {.bytes_max = RUN_TEXT_BYTES_MAX};
    g_autofree char *line = NULL;

    (void)key;
    document_take_text(at, value, &field, &line);
    if (!line)
        return;
    if (text->str[text->len - 1] != '[')
        g_string_append_c(text, ',');
    json_append_string(text, line);
}

static void check_trailer(struct reading at, const char *key, json_t *value, void *user)
{
    g_autoptr(GString) text = g_string_new("[");

    (void)key;
    (void)user;
    if (document_each_element(at, value, TRAILER_VALUES_MAX, take_trailer_value, text) &&
        json_array_size(value) == 0)
        document_fault(at, "is empty; leave the trailer out where it has no value");
}

static void take_trailers(struct reading at, json_t *value, const struct field *field, void *member)
{
    char **slot = (char **)member;
    guint found = at.faults->found;
    g_autoptr(GPtrArray) keys = NULL;
    GString *text;

    (void)field;
    if (!document_each_member(at, value, RUN_MAP_MAX, check_trailer, NULL) ||
        found != at.faults->found || json_object_size(value) == 0)
        return;
    keys = document_sorted_keys(value);
    text = g_string_new("{");
    for (guint i = 0; i < keys->len; i++) {
        const char *key = (const char *)g_ptr_array_index(keys, i);

        if (i)
            g_string_append_c(text, ',');
        json_append_string(text, key);
        g_string_append(text, ":[");
        document_each_element(at, json_object_get(value, key), TRAILER_VALUES_MAX,
                              take_trailer_value, text);
        g_string_append_c(text, ']');
    }
    g_string_append_c(text, '}');
    g_free(*slot);
    *slot = g_string_free(text, FALSE);
}

static const struct field commit_fields[] = {
    {"sha", true, document_take_sha, offsetof(struct run_commit, sha), 0, NULL},
    {"parents", false, take_parents, offsetof(struct run_commit, parents), 0, NULL},
    {"time", false, take_commit_time, 0, 0, NULL},
    {"author", false, document_take_text, offsetof(struct run_commit, author), RUN_NAME_BYTES_MAX,
     NULL},
    {"subject", false, document_take_text, offsetof(struct run_commit, subject), RUN_TEXT_BYTES_MAX,
     NULL},
    {"trailers", false, take_trailers, offsetof(struct run_commit, trailers_json), 0, NULL},
};
static const struct field_table commit_table = {"a commit", commit_fields,
                                                G_N_ELEMENTS(commit_fields)};

static void take_commit(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct run_commit *commit = (struct run_commit *)member;

    (void)field;
    document_read(at, value, &commit_table, commit);
    if (commit->sha && commit->parents &&
        g_strv_contains((const char *const *)(gconstpointer)commit->parents, commit->sha))
        document_fault(at, "has itself as a parent");
}

static void take_history_entry(struct reading at, const char *key, json_t *value, void *user)
{
    GPtrArray *history = (GPtrArray *)user;
    struct run_commit *commit = run_commit_new();

    (void)key;
    take_commit(at, value, NULL, commit);
    g_ptr_array_add(history, commit);
}

static void take_history(struct reading at, json_t *value, const struct field *field, void *member)
{
    GPtrArray **slot = (GPtrArray **)member;

    (void)field;
    document_each_element(at, value, RUN_HISTORY_MAX, take_history_entry, *slot);
}

/* ---- Where a run comes from -------------------------------------------------------- */

struct source {
    char *base, *ci, *pull_request, *url;
};

static void take_url(struct reading at, json_t *value, const struct field *field, void *member)
{
    const char *url = json_string_value(value);

    if (url && !g_str_has_prefix(url, "https://") && !g_str_has_prefix(url, "http://"))
        document_fault(at, "must begin with https:// or http://");
    else
        document_take_name(at, value, field, member);
}

static const struct field source_fields[] = {
    {"base", false, document_take_sha, offsetof(struct source, base), 0, NULL},
    {"ci", false, document_take_name, offsetof(struct source, ci), RUN_NAME_BYTES_MAX, NULL},
    {"pull_request", false, document_take_name, offsetof(struct source, pull_request),
     RUN_NAME_BYTES_MAX, NULL},
    {"url", false, take_url, offsetof(struct source, url), RUN_TEXT_BYTES_MAX, NULL},
};
static const struct field_table source_table = {"a source", source_fields,
                                                G_N_ELEMENTS(source_fields)};

static void take_source(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct source source = {0};
    char **slot = (char **)member;
    g_autoptr(GString) text = g_string_new(NULL);

    (void)field;
    document_read(at, value, &source_table, &source);
    for (size_t i = 0; i < source_table.n_fields; i++) { /* the table is sorted by name */
        char **part = (char **)(gpointer)((char *)&source + source_fields[i].offset);

        if (!*part)
            continue;
        g_string_append_printf(text, "%s\"%s\":", text->len ? "," : "{", source_fields[i].name);
        json_append_string(text, *part);
        g_free(*part);
    }
    if (!text->len)
        return;
    g_free(*slot);
    *slot = g_strdup_printf("%s}", text->str);
}

/* ---- The envelope ------------------------------------------------------------------ */

static void take_schema(struct reading at, json_t *value, const struct field *field, void *member)
{
    const char *name = json_string_value(value);
    g_autofree char *excerpt = name ? text_excerpt(name) : NULL;

    (void)field;
    (void)member;
    if (!name)
        document_fault(at, "must be the string \"" RUN_SCHEMA "\"");
    else if (strcmp(name, RUN_SCHEMA) != 0)
        document_fault(at, "is \"%s\", must be \"" RUN_SCHEMA "\"", excerpt);
}

static void take_id(struct reading at, json_t *value, const struct field *field, void *member)
{
    const char *id = json_string_value(value);
    size_t n =
        id ? strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-") : 0;

    if (n == 0 || n > field->bytes_max || id[n] != '\0' || strcmp(id, ".") == 0 ||
        strcmp(id, "..") == 0)
        document_fault(
            at,
            "must be 1 to %zu of the characters A-Z a-z 0-9 . _ : - (and neither \".\" nor \"..\")",
            field->bytes_max);
    else
        document_take_text(at, value, field, member);
}

static const struct field machine_fields[] = {
    {"name", true, document_take_name, offsetof(struct run, machine), RUN_NAME_BYTES_MAX, NULL},
    {"environment", false, document_take_scalars, offsetof(struct run, environment_json), 0, NULL},
    {"topology", false, document_take_line, offsetof(struct run, topology), RUN_TOPOLOGY_BYTES_MAX,
     NULL},
};
static const struct field_table machine_table = {"a machine", machine_fields,
                                                 G_N_ELEMENTS(machine_fields)};

static void take_machine(struct reading at, json_t *value, const struct field *field, void *member)
{
    (void)field;
    document_read(at, value, &machine_table, member);
}

static const char *const reasons[] = {"merge",    "nightly", "manual",  "pull-request",
                                      "backfill", "bisect",  "confirm", NULL};

static const struct field run_fields[] = {
    {"schema", true, take_schema, 0, 0, NULL},
    {"id", true, take_id, offsetof(struct run, id), ID_BYTES_MAX, NULL},
    {"project", true, document_take_name, offsetof(struct run, project), RUN_NAME_BYTES_MAX, NULL},
    {"commit", true, take_commit, offsetof(struct run, commit), 0, NULL},
    {"branch", false, document_take_name, offsetof(struct run, branch), RUN_NAME_BYTES_MAX, NULL},
    {"dirty", false, document_take_bool, offsetof(struct run, dirty), 0, NULL},
    {"source", false, take_source, offsetof(struct run, source_json), 0, NULL},
    {"history", false, take_history, offsetof(struct run, history), 0, NULL},
    {"machine", true, take_machine, 0, 0, NULL},
    {"reason", false, document_take_choice, offsetof(struct run, reason), 0, reasons},
    {"started", true, document_take_time_ms, offsetof(struct run, started_ms), 0, NULL},
    {"finished", false, document_take_time_ms, offsetof(struct run, finished_ms), 0, NULL},
    {"context", false, document_take_scalars, offsetof(struct run, context_json), 0, NULL},
    {"results", true, run_take_results, offsetof(struct run, results), 0, NULL},
};
static const struct field_table run_table = {"a run", run_fields, G_N_ELEMENTS(run_fields)};

static void check_order_of_times(struct reading at, const Run *run)
{
    struct place place = {.up = at.place, .key = "finished"};

    if (run->finished_ms && run->finished_ms < run->started_ms)
        document_fault((struct reading){.faults = at.faults, .place = &place},
                       "is before `started`");
}

static bool size_allowed(size_t length, GError **error)
{
    if (length <= RUN_BODY_BYTES_MAX)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                "the document has %zu bytes, at most %u are allowed", length, RUN_BODY_BYTES_MAX);
    return false;
}

Run *run_parse(const char *bytes, size_t length, Faults *faults, GError **error)
{
    static const struct place top = {0};
    struct reading at = {.faults = faults, .place = &top};
    g_autoptr(Run) run = NULL;
    json_t *tree = size_allowed(length, error) ? document_load(bytes, length, error) : NULL;

    if (!tree)
        return NULL;
    run = run_new();
    if (document_read(at, tree, &run_table, run))
        check_order_of_times(at, run);
    json_decref(tree);
    return document_conclude(faults, error) ? g_steal_pointer(&run) : NULL;
}

bool run_validate(const Run *run, Faults *faults, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(Run) again = NULL;

    run_print(run, text);
    again = run_parse(text->str, text->len, faults, error);
    return again != NULL;
}

struct commit_list {
    GPtrArray *commits;
};

static const struct field commit_list_fields[] = {
    {"commits", true, take_history, offsetof(struct commit_list, commits), 0, NULL},
};
static const struct field_table commit_list_table = {"a list of commits", commit_list_fields,
                                                     G_N_ELEMENTS(commit_list_fields)};

GPtrArray *run_parse_commits(const char *bytes, size_t length, Faults *faults, GError **error)
{
    static const struct place top = {0};
    struct reading at = {.faults = faults, .place = &top};
    json_t *tree = size_allowed(length, error) ? document_load(bytes, length, error) : NULL;
    struct commit_list list = {0};

    if (!tree)
        return NULL;
    list.commits = run_commits_new();
    document_read(at, tree, &commit_list_table, &list);
    json_decref(tree);
    if (document_conclude(faults, error))
        return list.commits;
    g_ptr_array_unref(list.commits);
    return NULL;
}
