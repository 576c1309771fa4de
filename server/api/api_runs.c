/* SPDX-License-Identifier: Apache-2.0
 * /api/runs: the list with its filters, one run, its removal. Runs on the request's thread; the
 * answer to a DELETE is given on the writer's. */
#include "server/api/api_body.h"
#include "server/api/api_filter.h"
#include "server/api/api_list.h"
#include "server/api/run_results.h"
#include "server/routes.h"
#include "server/store/store_retention.h"

struct runs_query {
    struct store_filter filter;
    bool with_results;
    struct run_results_query results;
};

/* ---- The list
 * ------------------------------------------------------------------------------------------------------
 */

static bool open_filter(struct api_list *list, int64_t *out_version, GError **error)
{
    struct runs_query *query = (struct runs_query *)list->user;
    *out_version = api_filter_version(list->snapshot, &query->filter);
    return api_filter_resolve_commits(list->request, list->snapshot, &query->filter, error);
}

static bool collect(struct api_list *list, GError **error)
{
    struct runs_query *query = (struct runs_query *)list->user;
    int64_t before = list->after ? g_ascii_strtoll(list->after[0], NULL, 10) : 0;
    GPtrArray *runs = store_runs_select(list->snapshot, &query->filter, before, list->limit,
                                        &list->has_more, error);
    if (!runs)
        return false;
    g_ptr_array_unref(list->items);
    list->items = runs;
    if (query->with_results) {
        run_results_query_clear(&query->results);
        query->results.snapshot = list->snapshot;
        query->results.filter = &query->filter;
        run_results_query_open(&query->results);
    }
    return true;
}

static void write_commit(struct json_writer *writer, const struct store_commit *commit)
{
    json_writer_object(writer, "commit");
    json_writer_string(writer, "sha", commit->sha);
    api_write_time_s(writer, "time", commit->has_time || commit->provisional, commit->time_s);
    json_writer_string(writer, "author", commit->author);
    json_writer_string(writer, "subject", commit->subject);
    json_writer_bool(writer, "provisional", commit->provisional);
    json_writer_end(writer);
}

static bool row_json(struct api_list *list, gconstpointer item, struct json_writer *writer,
                     GError **error)
{
    const struct runs_query *query = (const struct runs_query *)list->user;
    const struct store_run *run = (const struct store_run *)item;
    const char *project = run->project->name;
    json_writer_object(writer, NULL);
    json_writer_string(writer, "id", run->id);
    api_write_taken(writer, "url", api_write_address("/api/runs/", run->id, NULL));
    api_write_taken(writer, "page",
                    api_write_address("/p/", project, "/c/", run->commit->sha, NULL));
    json_writer_string(writer, "project", project);
    write_commit(writer, run->commit);
    json_writer_string(writer, "branch", run->branch);
    json_writer_bool(writer, "dirty", run->dirty);
    json_writer_string(writer, "machine", run->machine->name);
    json_writer_string(writer, "environment", run->environment_digest);
    json_writer_string(writer, "reason", run->reason);
    api_write_time_ms(writer, "started", run->started_ms);
    api_write_time_ms(writer, "finished", run->finished_ms);
    api_write_time_ms(writer, "received", run->received_ms);
    json_writer_object(writer, "counts");
    json_writer_integer(writer, "results", run->n_results);
    json_writer_integer(writer, "errors", run->n_errors);
    json_writer_integer(writer, "samples", (int64_t)run->n_samples);
    json_writer_end(writer);
    if (query->with_results) {
        g_autoptr(RunResults) results = run_results_load(&query->results, run, error);
        if (!results)
            return false;
        run_results_write_json(results, writer, "results");
    }
    json_writer_end(writer);
    return true;
}

/* The cells that a run's rows begin with. */
static void write_head_cells(struct csv_writer *writer, const struct store_run *run)
{
    csv_writer_text(writer, run->id);
    csv_writer_text(writer, run->project->name);
    csv_writer_text(writer, run->commit->sha);
    api_write_csv_time_s(writer, run->commit->has_time || run->commit->provisional,
                         run->commit->time_s);
    csv_writer_text(writer, run->branch);
    csv_writer_bool(writer, run->dirty);
    csv_writer_text(writer, run->machine->name);
    csv_writer_text(writer, run->reason);
    api_write_csv_time_ms(writer, run->started_ms);
    api_write_csv_time_ms(writer, run->received_ms);
}

static bool row_csv(struct api_list *list, gconstpointer item, struct csv_writer *writer,
                    GError **error)
{
    const struct runs_query *query = (const struct runs_query *)list->user;
    const struct store_run *run = (const struct store_run *)item;
    if (query->with_results) {
        g_autoptr(RunResults) results = run_results_load(&query->results, run, error);
        if (!results)
            return false;
        run_results_write_csv(results, writer, write_head_cells);
        return true;
    }
    write_head_cells(writer, run);
    csv_writer_integer(writer, run->n_results);
    csv_writer_integer(writer, run->n_errors);
    csv_writer_integer(writer, (int64_t)run->n_samples);
    csv_writer_end_row(writer);
    return true;
}

static void place(gconstpointer item, char *fields[API_LIST_FIELDS_MAX])
{
    fields[0] = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)((const struct store_run *)item)->seq);
}

#define HEAD_COLUMNS                                                                               \
    "run", "project", "commit", "commit_time", "branch", "dirty", "machine", "reason", "started",  \
        "received"

#define MEMBERS                                                                                    \
    "id", "url", "page", "project", "commit", "branch", "dirty", "machine", "environment",         \
        "reason", "started", "finished", "received", "counts"

static const char *const run_members[] = {MEMBERS, NULL};
static const char *const result_members[] = {MEMBERS, "results", NULL};
static const char *const run_columns[] = {HEAD_COLUMNS, "results", "errors", "samples", NULL};
static const char *const result_columns[] = {HEAD_COLUMNS, RUN_RESULTS_COLUMNS, NULL};

static bool parse_query(const HttpRequest *request, struct runs_query *query, GError **error)
{
    int64_t samples = 0;
    if (!api_filter_parse(request, &query->filter, error) ||
        !http_query_integer(request, "samples", 0, 1, &samples, error))
        return false;
    query->with_results = query->filter.benches || query->filter.params;
    query->results.with_samples = samples == 1;
    if (samples == 0 || query->with_results)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "samples: needs bench= or param.NAME=, which say whose; a whole run with all its "
                "samples is at /api/runs/{id}");
    return false;
}

static void free_query(gpointer item)
{
    struct runs_query *query = (struct runs_query *)item;
    run_results_query_clear(&query->results);
    store_filter_clear(&query->filter);
    g_free(query);
}

#define LIST_SPEC(which)                                                                           \
    {                                                                                              \
        .gives_way = true, .plural = "runs", .n_cursor_fields = 1, .members = which##_members,     \
        .columns = which##_columns, .open = open_filter, .collect = collect,                       \
        .write_json = row_json, .write_csv = row_csv, .place = place, .free_user = free_query      \
    }

void api_runs_list(HttpRequest *request)
{
    static const struct api_list_spec runs = LIST_SPEC(run), results = LIST_SPEC(result);
    struct runs_query *query = g_new0(struct runs_query, 1);
    g_autoptr(GError) error = NULL;
    if (parse_query(request, query, &error)) {
        api_list_serve(request, query->with_results ? &results : &runs, query);
    } else {
        http_respond_error(request, error, NULL);
        free_query(query);
    }
}

/* ---- One run
 * -------------------------------------------------------------------------------------------------------
 */

static void set_not_found(GError **error, const char *id)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                "no run has the id \"%s\"; GET /api/runs lists them", id);
}

/* NULL with the error, or with none where the client has the document already. */
static Run *document_of_path(HttpRequest *request, StoreSnapshot *snapshot, int64_t *out_dropped_ms,
                             GError **error)
{
    const char *id = http_request_segment(request, "id");
    const struct store_run *run = store_run_find(snapshot, id);
    if (!run) {
        set_not_found(error, id);
        return NULL;
    }
    g_autofree char *digest = store_run_digest(snapshot, run->seq, error);
    g_autofree char *content =
        digest && run->samples_dropped ? g_strconcat(digest, "-dropped", NULL) : g_strdup(digest);
    if (!content || http_not_modified_content(request, content, HTTP_JSON) ||
        !store_samples_dropped(snapshot, run->seq, out_dropped_ms, error))
        return NULL;
    return store_run_document(snapshot, run->seq, error);
}

/* Beside what was posted: that its samples are gone, and since when. */
static void say_dropped(GString *body, int64_t dropped_ms)
{
    struct json_writer writer = JSON_WRITER_INIT(body);
    g_string_truncate(body, body->len - 1); /* the brace that ends the document */
    g_string_append(body, ",\"samples_dropped\":");
    api_write_time_ms(&writer, NULL, dropped_ms);
    g_string_append_c(body, '}');
}

void api_run_get(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    StoreSnapshot *snapshot = context_snapshot(request);
    if (!snapshot)
        return;
    int64_t dropped_ms = 0;
    g_autoptr(Run) document = document_of_path(request, snapshot, &dropped_ms, &error);
    store_snapshot_end(snapshot);
    if (!document) {
        if (error)
            http_respond_error(request, error, NULL);
        return;
    }
    GString *body = g_string_sized_new(4096);
    run_print(document, body);
    if (dropped_ms > 0)
        say_dropped(body, dropped_ms);
    g_string_append_c(body, '\n');
    http_respond(request, 200, HTTP_JSON, body);
}

void api_run_delete(HttpRequest *request)
{
    char *id = g_strdup(http_request_segment(request, "id"));
    http_request_defer(request);
    store_delete_run(context_of(request)->store, id, api_body_deleted, request);
}
