/* SPDX-License-Identifier: Apache-2.0
 * /api/changes: what moved, and what people say of it. A list by id, newest first; PATCH answers
 * from the writer thread. */
#include "server/api/api_body.h"
#include "server/api/api_filter.h"
#include "server/api/api_list.h"
#include "server/api/api_series.h"
#include "server/routes.h"
#include "server/work/change_groups.h"

#include "schema/document.h"
#include <jansson.h>
#include <string.h>

#define CHANGES_MAX    100000u /* of a project that are looked at */
#define SHA_DIGITS_MIN 7u
#define TEXT_BYTES_MAX 4096u

struct changes_query {
    struct store_filter filter;          /* of the series */
    const struct store_project *project; /* or NULL */
    GPtrArray *statuses, *triages, *commits;
    GHashTable *group_of; /* change id -> group id, both in place */
    GPtrArray *owned;     /* struct store_change *: what the items point to */
};

static void query_clear(struct changes_query *query)
{
    GPtrArray **const lists[] = {&query->statuses, &query->triages, &query->commits, &query->owned};
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
        g_clear_pointer(lists[i], g_ptr_array_unref);
    g_clear_pointer(&query->group_of, g_hash_table_unref);
    store_filter_clear(&query->filter);
}

static void free_query(gpointer query)
{
    query_clear((struct changes_query *)query);
    g_free(query);
}

/* ---- What is asked for
 * ---------------------------------------------------------------------------------------- */

static bool check_words(const struct changes_query *query, GError **error)
{
    enum store_change_status status;
    enum store_triage triage;
    for (guint i = 0; query->statuses && i < query->statuses->len; i++) {
        const char *word = g_ptr_array_index(query->statuses, i);
        if (!store_change_status_parse(word, &status)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "status: \"%s\" is none of candidate, confirmed, withdrawn, reverted",
                        word);
            return false;
        }
    }
    for (guint i = 0; query->triages && i < query->triages->len; i++) {
        const char *word = g_ptr_array_index(query->triages, i);
        if (!store_triage_parse(word, &triage)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "triage: \"%s\" is none of open, acknowledged, expected, noise, infra, "
                        "fixed",
                        word);
            return false;
        }
    }
    for (guint i = 0; query->commits && i < query->commits->len; i++) {
        const char *sha = g_ptr_array_index(query->commits, i);
        if (!api_filter_is_sha(sha, SHA_DIGITS_MIN)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "commit: \"%s\" is no commit; give %u to 64 hex digits of a sha", sha,
                        SHA_DIGITS_MIN);
            return false;
        }
    }
    return true;
}

static bool open_changes(struct api_list *list, int64_t *out_version, GError **error)
{
    struct changes_query *query = list->user;
    const char *name = http_request_query(list->request, "project");
    query->project = name ? store_project_find(list->snapshot, name) : NULL;
    if (name && !query->project) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "project: \"%s\" is not known; GET /api/projects lists them", name);
        return false;
    }
    *out_version = store_version(list->snapshot, query->project);
    return check_words(query, error);
}

static bool holds(const GPtrArray *words, const char *word)
{
    return !words ||
           g_ptr_array_find_with_equal_func((GPtrArray *)(guintptr)words, word, g_str_equal, NULL);
}

/* A commit is named by its sha or its first digits. */
static bool holds_commit(const GPtrArray *shas, const struct store_commit *commit)
{
    for (guint i = 0; shas && i < shas->len; i++)
        if (commit && g_ascii_strncasecmp(commit->sha, (const char *)shas->pdata[i],
                                          strlen((const char *)shas->pdata[i])) == 0)
            return true;
    return !shas;
}

static bool is_wanted(const struct api_list *list, const struct store_change *change)
{
    const struct changes_query *query = list->user;
    const struct store_series *series = store_series_by_id(list->snapshot, change->series_id);
    return series && holds(query->statuses, store_change_status_name(change->status)) &&
           holds(query->triages, store_triage_name(change->triage)) &&
           store_filter_takes_series(list->snapshot, &query->filter, series) &&
           holds_commit(query->commits, store_commit_by_id(list->snapshot, change->bad_commit_id));
}

/* ---- Collecting
 * -----------------------------------------------------------------------------------------------
 */

static void note_groups(struct changes_query *query, StoreSnapshot *snapshot,
                        const GPtrArray *changes)
{
    g_autoptr(GPtrArray) held = g_ptr_array_new();
    for (guint i = 0; i < changes->len; i++) {
        const struct store_change *change = changes->pdata[i];
        if (change->status != STORE_STATUS_WITHDRAWN)
            g_ptr_array_add(held, changes->pdata[i]);
    }
    g_autoptr(GPtrArray) groups = change_groups_build(snapshot, held);
    for (guint i = 0; i < groups->len; i++) {
        const struct change_group *group = groups->pdata[i];
        for (guint k = 0; k < group->changes->len; k++) {
            const struct store_change *change = group->changes->pdata[k];
            g_hash_table_insert(query->group_of, g_memdup2(&change->id, sizeof change->id),
                                g_memdup2(&group->id, sizeof group->id));
        }
    }
}

static void free_change(gpointer change)
{
    store_change_free(change);
}

static bool add_project(struct api_list *list, const struct store_project *project, GError **error)
{
    struct changes_query *query = list->user;
    g_autoptr(GPtrArray) changes =
        store_project_changes(list->snapshot, project->id, 0, CHANGES_MAX, error);
    if (!changes)
        return false;
    note_groups(query, list->snapshot, changes);
    while (changes->len > 0)
        g_ptr_array_add(query->owned, g_ptr_array_steal_index(changes, changes->len - 1));
    return true;
}

static gint compare_ids(gconstpointer a, gconstpointer b)
{
    const struct store_change *const *left = a, *const *right = b;
    return ((*left)->id < (*right)->id) - ((*left)->id > (*right)->id);
}

static bool collect(struct api_list *list, GError **error)
{
    struct changes_query *query = list->user;
    g_clear_pointer(&query->owned, g_ptr_array_unref);
    g_clear_pointer(&query->group_of, g_hash_table_unref);
    query->owned = g_ptr_array_new_with_free_func(free_change);
    query->group_of = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    const GPtrArray *projects = store_projects(list->snapshot);
    for (guint i = 0; i < projects->len; i++)
        if ((!query->project || query->project == projects->pdata[i]) &&
            !add_project(list, projects->pdata[i], error))
            return false;
    g_ptr_array_sort(query->owned, compare_ids);
    int64_t before = list->after ? g_ascii_strtoll(list->after[0], NULL, 10) : INT64_MAX;
    for (guint i = 0; i < query->owned->len && !list->has_more; i++) {
        struct store_change *change = query->owned->pdata[i];
        if (change->id >= before || !is_wanted(list, change))
            continue;
        list->has_more = list->items->len == list->limit;
        if (!list->has_more)
            g_ptr_array_add(list->items, change);
    }
    return true;
}

/* ---- Writing
 * --------------------------------------------------------------------------------------------------
 */

static const char *verdict_of(const struct store_series *series, const struct store_change *change)
{
    static const char *const words[] = {"regressed", NULL, "improved"};
    return words[change_direction(series, change) + 1];
}

static const char *sha_of(StoreSnapshot *snapshot, int64_t commit_id)
{
    const struct store_commit *commit = store_commit_by_id(snapshot, commit_id);
    return commit ? commit->sha : NULL;
}

static void write_figures(struct json_writer *writer, const struct store_change *change)
{
    json_writer_number(writer, "effect", change->effect);
    json_writer_number(writer, "low", change->low);
    json_writer_number(writer, "high", change->high);
    json_writer_number(writer, "before", change->before);
    json_writer_number(writer, "after", change->after);
    json_writer_number(writer, "p", change->p);
    json_writer_integer(writer, "n_before", change->n_before);
    json_writer_integer(writer, "n_after", change->n_after);
}

static void write_members(struct json_writer *writer, StoreSnapshot *snapshot,
                          const struct store_change *change, int64_t group_id)
{
    const struct store_series *series = store_series_by_id(snapshot, change->series_id);
    api_write_id(writer, "id", change->id);
    api_write_id(writer, "group", group_id);
    if (series)
        api_series_write(writer, "series", series);
    json_writer_string(writer, "verdict", series ? verdict_of(series, change) : NULL);
    json_writer_string(writer, "kind", store_change_kind_name(change->kind));
    json_writer_string(writer, "status", store_change_status_name(change->status));
    json_writer_string(writer, "last_good", sha_of(snapshot, change->good_commit_id));
    json_writer_string(writer, "first_bad", sha_of(snapshot, change->bad_commit_id));
    write_figures(writer, change);
    api_write_time_ms(writer, "found", change->found_ms);
    api_write_time_ms(writer, "told", change->told_ms);
    json_writer_string(writer, "triage", store_triage_name(change->triage));
    json_writer_string(writer, "note", change->note);
    json_writer_string(writer, "who", change->who);
    api_write_time_ms(writer, "triaged", change->triaged_ms);
    json_writer_bool(writer, "muted", series && series->rule.muted);
    json_writer_bool(writer, "by_rule", change->by_rule);
    json_writer_string(writer, "expectation", change->expectation);
    json_writer_bool(writer, "expected_in_advance", change->in_advance);
}

static bool row_json(struct api_list *list, gconstpointer item, struct json_writer *writer,
                     GError **error G_GNUC_UNUSED)
{
    const struct store_change *change = item;
    const struct changes_query *query = list->user;
    const int64_t *group = g_hash_table_lookup(query->group_of, &change->id);
    json_writer_object(writer, NULL);
    write_members(writer, list->snapshot, change, group ? *group : change->id);
    json_writer_end(writer);
    return true;
}

static bool row_csv(struct api_list *list, gconstpointer item, struct csv_writer *writer,
                    GError **error G_GNUC_UNUSED)
{
    const struct store_change *change = item;
    const struct changes_query *query = list->user;
    const struct store_series *series = store_series_by_id(list->snapshot, change->series_id);
    const int64_t *group = g_hash_table_lookup(query->group_of, &change->id);
    csv_writer_integer(writer, change->id);
    csv_writer_integer(writer, group ? *group : change->id);
    csv_writer_text(writer, series->project->name);
    csv_writer_text(writer, series->benchmark->name);
    csv_writer_text(writer, series->params_text);
    csv_writer_text(writer, series->machine->name);
    csv_writer_text(writer, series->metric);
    csv_writer_text(writer, verdict_of(series, change));
    csv_writer_text(writer, store_change_kind_name(change->kind));
    csv_writer_text(writer, store_change_status_name(change->status));
    csv_writer_text(writer, sha_of(list->snapshot, change->good_commit_id));
    csv_writer_text(writer, sha_of(list->snapshot, change->bad_commit_id));
    csv_writer_number(writer, change->effect);
    csv_writer_number(writer, change->low);
    csv_writer_number(writer, change->high);
    csv_writer_text(writer, store_triage_name(change->triage));
    csv_writer_end_row(writer);
    return true;
}

static void place(gconstpointer item, char *fields[API_LIST_FIELDS_MAX])
{
    fields[0] =
        g_strdup_printf("%" G_GINT64_FORMAT, (gint64)((const struct store_change *)item)->id);
}

void api_changes_list(HttpRequest *request)
{
    static const char *const columns[] = {"id",        "group",     "project", "bench", "params",
                                          "machine",   "metric",    "verdict", "kind",  "status",
                                          "last_good", "first_bad", "effect",  "low",   "high",
                                          "triage",    NULL};
    static const char *const members[] = {"id",          "group",
                                          "series",      "verdict",
                                          "kind",        "status",
                                          "last_good",   "first_bad",
                                          "effect",      "low",
                                          "high",        "before",
                                          "after",       "p",
                                          "n_before",    "n_after",
                                          "found",       "told",
                                          "triage",      "note",
                                          "who",         "triaged",
                                          "muted",       "by_rule",
                                          "expectation", "expected_in_advance",
                                          NULL};
    static const struct api_list_spec spec = {.gives_way = true,
                                              .plural = "changes",
                                              .n_cursor_fields = 1,
                                              .members = members,
                                              .columns = columns,
                                              .open = open_changes,
                                              .collect = collect,
                                              .write_json = row_json,
                                              .write_csv = row_csv,
                                              .place = place,
                                              .free_user = free_query};
    struct changes_query *query = g_new0(struct changes_query, 1);
    g_autoptr(GError) error = NULL;
    if (!api_filter_parse(request, &query->filter, &error)) {
        http_respond_error(request, error, NULL);
        free_query(query);
        return;
    }
    query->statuses = http_query_values(request, "status");
    query->triages = http_query_values(request, "triage");
    query->commits = http_query_values(request, "commit");
    api_list_serve(request, &spec, query);
}

/* ---- One change
 * -----------------------------------------------------------------------------------------------
 */

static void write_log(struct json_writer *writer, const GPtrArray *log)
{
    json_writer_array(writer, "log");
    for (guint i = 0; i < log->len; i++) {
        const struct store_change_entry *entry = log->pdata[i];
        json_writer_object(writer, NULL);
        api_write_time_ms(writer, "at", entry->at_ms);
        json_writer_string(writer, "who", entry->who);
        json_writer_string(writer, "triage", entry->triage);
        json_writer_string(writer, "status", entry->status);
        json_writer_string(writer, "note", entry->note);
        json_writer_end(writer);
    }
    json_writer_end(writer);
}

static int64_t id_of_path(const HttpRequest *request, GError **error)
{
    const char *text = http_request_segment(request, "change");
    guint64 id = 0;
    if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT64, &id, NULL))
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "no change has the id \"%s\"", text);
    return (int64_t)id;
}

static int64_t group_of(StoreSnapshot *snapshot, const struct store_change *change)
{
    struct changes_query query = {
        .group_of = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free)};
    g_autoptr(GPtrArray) changes =
        store_project_changes(snapshot, change->project_id, 0, CHANGES_MAX, NULL);
    if (changes)
        note_groups(&query, snapshot, changes);
    const int64_t *found = g_hash_table_lookup(query.group_of, &change->id);
    int64_t id = found ? *found : change->id;
    query_clear(&query);
    return id;
}

static GString *render(StoreSnapshot *snapshot, int64_t id, GError **error)
{
    struct store_change *change = store_change_by_id(snapshot, id, error);
    g_autoptr(GPtrArray) log = change ? store_change_log(snapshot, id, error) : NULL;
    GString *body = log ? g_string_new(NULL) : NULL;
    if (body) {
        struct json_writer writer = JSON_WRITER_INIT(body);
        json_writer_object(&writer, NULL);
        write_members(&writer, snapshot, change, group_of(snapshot, change));
        write_log(&writer, log);
        json_writer_end(&writer);
        g_string_append_c(body, '\n');
    }
    store_change_free(change);
    return body;
}

/* NULL with the error, or with none where the client has the answer already. */
static GString *answer(HttpRequest *request, StoreSnapshot *snapshot, GError **error)
{
    int64_t id = id_of_path(request, error);
    if (id == 0 || http_not_modified(request, store_version(snapshot, NULL), HTTP_JSON))
        return NULL;
    return render(snapshot, id, error);
}

void api_change_get(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    StoreSnapshot *snapshot = context_snapshot(request);
    if (!snapshot)
        return;
    GString *body = answer(request, snapshot, &error);
    store_snapshot_end(snapshot);
    if (body)
        http_respond(request, 200, HTTP_JSON, body);
    else if (error)
        http_respond_error(request, error, NULL);
}

/* ---- PATCH
 * ----------------------------------------------------------------------------------------------------
 */

static bool take_text(json_t *value, const char *name, char **out, Faults *faults)
{
    const char *text = json_string_value(value);
    g_autofree char *pointer = g_strconcat("/", name, NULL);
    if (json_is_null(value)) {
        *out = g_strdup("");
        return true;
    }
    if (!text || strlen(text) > TEXT_BYTES_MAX || json_string_length(value) != strlen(text)) {
        faults_add(faults, pointer, "must be null or a text of at most %u bytes", TEXT_BYTES_MAX);
        return false;
    }
    *out = g_strdup(text);
    return true;
}

static void take_member(const char *key, json_t *value, struct store_triage_write *write,
                        Faults *faults)
{
    if (strcmp(key, "triage") == 0) {
        const char *word = json_string_value(value);
        write->has_triage = word && store_triage_parse(word, &write->triage);
        if (!write->has_triage)
            faults_add(faults, "/triage",
                       "must be open, acknowledged, expected, noise, infra or fixed");
    } else if (strcmp(key, "note") == 0) {
        take_text(value, key, &write->note, faults);
    } else if (strcmp(key, "who") == 0) {
        take_text(value, key, &write->who, faults);
    } else {
        g_autofree char *pointer = g_strconcat("/", key, NULL);
        faults_add(faults, pointer, "is not known; give triage, note, who");
    }
}

static struct store_triage_write *parse_patch(HttpRequest *request, Faults *faults, GError **error)
{
    size_t length;
    const char *bytes = http_request_body(request, &length);
    json_t *root = document_load(bytes, length, error);
    if (!root)
        return NULL;
    struct store_triage_write *write = g_new0(struct store_triage_write, 1);
    const char *key;
    json_t *value;
    if (!json_is_object(root))
        faults_add(faults, "", "must be an object with triage, note, who");
    json_object_foreach(root, key, value) take_member(key, value, write, faults);
    if (faults->items->len == 0 && !write->has_triage && !write->note)
        faults_add(faults, "", "must say triage or note");
    json_decref(root);
    if (faults->items->len == 0)
        return write;
    store_triage_write_free(write);
    g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_INVALID, "the change was left as it is");
    return NULL;
}

static void patch_done(const struct store_receipt *receipt, void *user)
{
    HttpRequest *request = (HttpRequest *)user;
    if (api_body_refused(request, receipt))
        return;
    const char *id = http_request_segment(request, "change");
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_string(&writer, "id", id);
    api_write_taken(&writer, "url", api_write_address("/api/changes/", id, NULL));
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    http_respond(request, 200, HTTP_JSON, body);
    http_request_finish(request);
}

void api_change_patch(HttpRequest *request)
{
    if (!api_body_check_json(request))
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    int64_t id = id_of_path(request, &error);
    struct store_triage_write *write = error ? NULL : parse_patch(request, faults, &error);
    if (!write) {
        http_respond_error(request, error, faults);
        return;
    }
    write->change_ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_array_append_val(write->change_ids, id);
    char *said = write->who;
    write->who = http_request_signed(request, said);
    g_free(said);
    http_request_defer(request);
    store_put_triage(context_of(request)->store, write, patch_done, request);
}
