/* SPDX-License-Identifier: Apache-2.0
 * /api/projects/{project}/annotations: what people say of commits, newest first. Reading runs on
 * the request's thread; writes are answered on the writer's. */
#include "server/api/api_body.h"
#include "server/api/api_filter.h"
#include "server/api/api_list.h"
#include "server/api/api_projects.h"
#include "server/routes.h"

#include "schema/text.h"
#include "server/store/store_branches.h"
#include <string.h>

/* ---- The list
 * ------------------------------------------------------------------------------------------------------
 */

struct annotations_query {
    GPtrArray *benches, *machines, *commits; /* char *; NULL: any */
    GPtrArray *positions;                    /* struct store_commit *, of commits */
    int64_t removed;                         /* 1: those, too */
    const struct store_project *project;
};

static const struct store_commit *find_commit(const struct store_project *project, const char *what,
                                              const char *text, int code, GError **error)
{
    g_autoptr(GError) failure = NULL;
    g_autofree char *sha = g_ascii_strdown(text, -1);
    const struct store_commit *commit =
        api_filter_is_sha(sha, 7) ? store_commit_find(project, sha, &failure) : NULL;
    if (!commit)
        g_set_error(error, BREAKEVEN_ERROR, code, "%s: %s", what,
                    failure ? failure->message : "is no commit; give 7 to 64 hex digits of a sha");
    return commit;
}

static bool open_annotations(struct api_list *list, int64_t *out_version, GError **error)
{
    struct annotations_query *query = (struct annotations_query *)list->user;
    query->project = api_project_of_path(list->request, list->snapshot, error);
    if (!query->project ||
        !http_query_integer(list->request, "removed", 0, 1, &query->removed, error))
        return false;
    g_clear_pointer(&query->positions, g_ptr_array_unref);
    query->positions = query->commits ? g_ptr_array_new() : NULL;
    for (guint i = 0; query->commits && i < query->commits->len; i++) {
        const char *text = (const char *)g_ptr_array_index(query->commits, i);
        const struct store_commit *commit =
            find_commit(query->project, "commit", text, ERROR_SYNTAX, error);
        if (!commit)
            return false;
        g_ptr_array_add(query->positions, (gpointer)(guintptr)commit);
    }
    *out_version = store_version(list->snapshot, query->project);
    return true;
}

/* Benchmarks and machines are asked for by any of their names. */
static bool is_of_bench(const struct annotations_query *query,
                        const struct store_annotation *annotation)
{
    const struct store_benchmark *benchmark = store_annotation_benchmark(annotation);
    for (guint i = 0; benchmark && query->benches && i < query->benches->len; i++)
        if (store_benchmark_find(query->project, (const char *)query->benches->pdata[i]) ==
            benchmark)
            return true;
    return !benchmark || !query->benches;
}

static bool is_of_machine(StoreSnapshot *snapshot, const struct annotations_query *query,
                          const struct store_annotation *annotation)
{
    const struct store_machine *machine = store_annotation_machine(snapshot, annotation);
    for (guint i = 0; machine && query->machines && i < query->machines->len; i++)
        if (store_machine_find(snapshot, (const char *)query->machines->pdata[i]) == machine)
            return true;
    return !machine || !query->machines;
}

static bool covers(const struct store_annotation *annotation, const GPtrArray *commits)
{
    guint low = MIN(annotation->first->position, annotation->last->position);
    guint high = MAX(annotation->first->position, annotation->last->position);
    for (guint i = 0; commits && i < commits->len; i++) {
        const struct store_commit *commit = (const struct store_commit *)commits->pdata[i];
        if (commit->position >= low && commit->position <= high)
            return true;
    }
    return !commits;
}

/* What is said of all benchmarks is said of each, and so with machines. */
static bool is_wanted(StoreSnapshot *snapshot, const struct annotations_query *query,
                      const struct store_annotation *annotation)
{
    return (query->removed == 1 || annotation->removed_ms == 0) && is_of_bench(query, annotation) &&
           is_of_machine(snapshot, query, annotation) && covers(annotation, query->positions);
}

static bool collect(struct api_list *list, GError **error G_GNUC_UNUSED)
{
    const struct annotations_query *query = (const struct annotations_query *)list->user;
    const GPtrArray *annotations = query->project->annotations;
    int64_t before = list->after ? g_ascii_strtoll(list->after[0], NULL, 10) : INT64_MAX;
    for (guint i = annotations->len; i > 0 && !list->has_more; i--) {
        struct store_annotation *annotation =
            (struct store_annotation *)g_ptr_array_index(annotations, i - 1);
        if (annotation->id >= before || !is_wanted(list->snapshot, query, annotation))
            continue;
        list->has_more = list->items->len == list->limit;
        if (!list->has_more)
            g_ptr_array_add(list->items, annotation);
    }
    return true;
}

static bool row_json(struct api_list *list, gconstpointer item, struct json_writer *writer,
                     GError **error G_GNUC_UNUSED)
{
    const struct annotations_query *query = (const struct annotations_query *)list->user;
    const struct store_annotation *annotation = (const struct store_annotation *)item;
    const struct store_benchmark *benchmark = store_annotation_benchmark(annotation);
    const struct store_machine *machine = store_annotation_machine(list->snapshot, annotation);
    g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)annotation->id);
    json_writer_object(writer, NULL);
    json_writer_string(writer, "id", id);
    api_write_taken(
        writer, "url",
        api_write_address("/api/projects/", query->project->name, "/annotations/", id, NULL));
    json_writer_string(writer, "commit", annotation->first->sha);
    json_writer_string(writer, "to", annotation->last->sha);
    json_writer_string(writer, "bench", benchmark ? benchmark->name : NULL);
    json_writer_string(writer, "machine", machine ? machine->name : NULL);
    json_writer_string(writer, "text", annotation->text);
    json_writer_string(writer, "who", annotation->who);
    api_write_time_ms(writer, "made", annotation->made_ms);
    json_writer_string(writer, "removed_by", annotation->removed_by);
    api_write_time_ms(writer, "removed", annotation->removed_ms);
    json_writer_end(writer);
    return true;
}

static bool row_csv(struct api_list *list, gconstpointer item, struct csv_writer *writer,
                    GError **error G_GNUC_UNUSED)
{
    const struct store_annotation *annotation = (const struct store_annotation *)item;
    const struct store_benchmark *benchmark = store_annotation_benchmark(annotation);
    const struct store_machine *machine = store_annotation_machine(list->snapshot, annotation);
    csv_writer_integer(writer, annotation->id);
    csv_writer_text(writer, annotation->first->sha);
    csv_writer_text(writer, annotation->last->sha);
    csv_writer_text(writer, benchmark ? benchmark->name : NULL);
    csv_writer_text(writer, machine ? machine->name : NULL);
    csv_writer_text(writer, annotation->text);
    csv_writer_text(writer, annotation->who);
    api_write_csv_time_ms(writer, annotation->made_ms);
    csv_writer_text(writer, annotation->removed_by);
    api_write_csv_time_ms(writer, annotation->removed_ms);
    csv_writer_end_row(writer);
    return true;
}

static void place(gconstpointer item, char *fields[API_LIST_FIELDS_MAX])
{
    fields[0] =
        g_strdup_printf("%" G_GINT64_FORMAT, (gint64)((const struct store_annotation *)item)->id);
}

static void free_query(gpointer item)
{
    struct annotations_query *query = (struct annotations_query *)item;
    GPtrArray **const lists[] = {&query->benches, &query->machines, &query->commits,
                                 &query->positions};
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
        g_clear_pointer(lists[i], g_ptr_array_unref);
    g_free(query);
}

void api_annotations_list(HttpRequest *request)
{
    static const char *const columns[] = {"id",         "commit",  "to",  "bench",
                                          "machine",    "text",    "who", "made",
                                          "removed_by", "removed", NULL};
    static const char *const members[] = {"id",    "url",        "commit",  "to",
                                          "bench", "machine",    "text",    "who",
                                          "made",  "removed_by", "removed", NULL};
    static const struct api_list_spec spec = {.plural = "annotations",
                                              .n_cursor_fields = 1,
                                              .members = members,
                                              .free_user = free_query,
                                              .columns = columns,
                                              .open = open_annotations,
                                              .collect = collect,
                                              .write_json = row_json,
                                              .write_csv = row_csv,
                                              .place = place};
    struct annotations_query *query = g_new0(struct annotations_query, 1);
    g_autoptr(GError) error = NULL;
    if (api_filter_values(request, "bench", &query->benches, &error) &&
        api_filter_values(request, "machine", &query->machines, &error) &&
        api_filter_values(request, "commit", &query->commits, &error)) {
        api_list_serve(request, &spec, query);
    } else {
        http_respond_error(request, error, NULL);
        free_query(query);
    }
}

/* ---- Making and removing
 * -------------------------------------------------------------------------------------------
 */

static struct store_annotation_write *parse_body(HttpRequest *request, Faults *faults,
                                                 GError **error)
{
    static const struct field fields[] = {
        {"bench", false, document_take_name, offsetof(struct store_annotation_write, bench),
         RUN_BENCH_BYTES_MAX, NULL},
        {"commit", true, document_take_name, offsetof(struct store_annotation_write, first),
         RUN_NAME_BYTES_MAX, NULL},
        {"machine", false, document_take_name, offsetof(struct store_annotation_write, machine),
         RUN_NAME_BYTES_MAX, NULL},
        {"text", true, document_take_name, offsetof(struct store_annotation_write, text),
         STORE_ANNOTATION_BYTES_MAX, NULL},
        {"to", false, document_take_name, offsetof(struct store_annotation_write, last),
         RUN_NAME_BYTES_MAX, NULL},
        {"who", false, document_take_name, offsetof(struct store_annotation_write, who),
         RUN_NAME_BYTES_MAX, NULL},
    };
    static const struct field_table table = {"an annotation", fields, G_N_ELEMENTS(fields)};
    struct store_annotation_write *write = g_new0(struct store_annotation_write, 1);
    if (api_body_read(request, &table, write, faults, error))
        return write;
    store_annotation_write_free(write);
    return NULL;
}

/* Replaces a sha's first digits by the whole of it. */
static bool spell_commit(const struct store_project *project, const char *what, char **text,
                         Faults *faults)
{
    g_autoptr(GError) failure = NULL;
    const struct store_commit *commit = find_commit(project, what, *text, ERROR_INVALID, &failure);
    if (!commit) {
        g_autofree char *pointer = g_strconcat("/", what, NULL);
        faults_add(faults, pointer, "%s", failure->message + strlen(what) + 2);
        return false;
    }
    g_free(*text);
    *text = g_strdup(commit->sha);
    return true;
}

static bool spell_commits(HttpRequest *request, struct store_annotation_write *write,
                          Faults *faults, GError **error)
{
    g_autoptr(StoreSnapshot) snapshot =
        store_snapshot_begin((StoreReader *)http_request_thread(request), error);
    const struct store_project *project =
        snapshot ? api_project_of_path(request, snapshot, error) : NULL;
    if (!project)
        return false;
    if (!write->last)
        write->last = g_strdup(write->first);
    spell_commit(project, "commit", &write->first, faults);
    spell_commit(project, "to", &write->last, faults);
    return document_conclude(faults, error);
}

static void post_done(const struct store_receipt *receipt, void *user)
{
    HttpRequest *request = (HttpRequest *)user;
    if (api_body_refused(request, receipt))
        return;
    g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)receipt->annotation_id);
    g_autofree char *address = api_write_address(
        "/api/projects/", http_request_segment(request, "project"), "/annotations/", id, NULL);
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_string(&writer, "id", id);
    json_writer_string(&writer, "url", address);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    http_response_header(request, "Location", address);
    http_respond(request, 201, HTTP_JSON, body);
    http_request_finish(request);
}

void api_annotations_post(HttpRequest *request)
{
    if (http_request_replayed(request) || !api_body_check_json(request))
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    struct store_annotation_write *write = parse_body(request, faults, &error);
    if (!write || !spell_commits(request, write, faults, &error)) {
        store_annotation_write_free(write);
        http_respond_error(request, error, faults);
        return;
    }
    write->project = g_strdup(http_request_segment(request, "project"));
    char *said = write->who;
    write->who = http_request_signed(request, said);
    g_free(said);
    http_request_defer(request);
    store_put_annotation(context_of(request)->store, write, post_done, request);
}

void api_annotation_delete(HttpRequest *request)
{
    const char *text = http_request_segment(request, "annotation");
    const char *who = http_request_query(request, "who");
    guint64 id = 0;
    g_autofree char *problem = who ? text_name_problem(who, strlen(who), RUN_NAME_BYTES_MAX) : NULL;
    if (problem) {
        http_respond_status(request, 400, "who: %s", problem);
        return;
    }
    if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT64, &id, NULL)) {
        http_respond_status(request, 404, "no annotation has the id \"%s\"", text);
        return;
    }
    struct store_annotation_write *write = g_new0(struct store_annotation_write, 1);
    write->project = g_strdup(http_request_segment(request, "project"));
    write->id = (int64_t)id;
    write->who = http_request_signed(request, who);
    http_request_defer(request);
    store_put_annotation(context_of(request)->store, write, api_body_deleted, request);
}
