/* SPDX-License-Identifier: Apache-2.0
 * /api/compare and /api/runs/{id}/verdict: what a head says against a base. A verdict waits for the
 * analysis without holding a thread: the answer is deferred and given by the work thread. */
#include "server/api/api_filter.h"
#include "server/api/comparison_json.h"
#include "server/context.h"
#include "server/routes.h"
#include "server/work/comparison_set.h"

#define WAIT_SECONDS_MAX 300

/* ---- /api/compare
 * --------------------------------------------------------------------------------------------- */

static const char *need(const HttpRequest *request, const char *name, const char *what,
                        GError **error)
{
    const char *value = http_request_query(request, name);
    if (!value || !*value)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "%s: give %s", name, what);
    return value && *value ? value : NULL;
}

static const struct store_project *project_of(const HttpRequest *request, StoreSnapshot *snapshot,
                                              GError **error)
{
    const char *name = need(request, "project", "the project whose runs are compared", error);
    const struct store_project *project = name ? store_project_find(snapshot, name) : NULL;
    if (name && !project)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "project: \"%s\" is not known; GET /api/projects lists them", name);
    return project;
}

/* NULL with the error, or with none where the client has the answer already. */
static GString *compare(HttpRequest *request, const struct store_filter *filter,
                        StoreSnapshot *snapshot, GError **error)
{
    static const char what[] = "a run's id, a branch, or 7 digits or more of a sha";
    struct comparison_request wanted = {.project = project_of(request, snapshot, error),
                                        .filter = filter};
    if (!wanted.project || !(wanted.base = need(request, "base", what, error)) ||
        !(wanted.head = need(request, "head", what, error)) ||
        http_not_modified(request, store_version(snapshot, wanted.project), HTTP_JSON))
        return NULL;
    wanted.machine = http_request_query(request, "machine");
    g_autoptr(ComparisonSet) set =
        comparison_set_new(snapshot, &wanted, http_request_query(request, "also"), error);
    if (!set)
        return NULL;
    GString *body = g_string_sized_new(1024 + (gsize)set->rows->len * 600);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    comparison_json_write(&writer, set->of[0]);
    if (set->n > 1) {
        json_writer_object(&writer, "also");
        comparison_json_write(&writer, set->of[1]);
        json_writer_end(&writer);
    }
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    return body;
}

void api_compare(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    struct store_filter filter;
    StoreSnapshot *snapshot = NULL;
    GString *body = NULL;
    if (api_filter_parse(request, &filter, &error) &&
        (snapshot = store_snapshot_begin((StoreReader *)http_request_thread(request), &error)))
        body = compare(request, &filter, snapshot, &error);
    store_snapshot_end(snapshot);
    store_filter_clear(&filter);
    if (body)
        http_respond(request, 200, HTTP_JSON, body);
    else if (error)
        http_respond_error(request, error, NULL);
}

/* ---- A run's verdict
 * ------------------------------------------------------------------------------------------ */

static const struct store_run *find_run(const HttpRequest *request, StoreSnapshot *snapshot,
                                        GError **error)
{
    const char *id = http_request_segment(request, "id");
    const struct store_run *run = store_run_find(snapshot, id);
    if (!run)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "no run has the id \"%s\"; GET /api/runs lists them", id);
    return run;
}

/* NULL with the error, or with none where the client has the answer already. Not judged yet is not
 * the same as nothing found: then there is no comparison. */
static GString *verdict(HttpRequest *request, StoreSnapshot *snapshot, GError **error)
{
    const struct store_run *run = find_run(request, snapshot, error);
    bool waiting = true;
    if (!run || !store_is_waiting(snapshot, run->seq, &waiting, error) ||
        http_not_modified(request, store_version(snapshot, run->project), HTTP_JSON))
        return NULL;
    g_autoptr(Comparison) comparison = waiting ? NULL : comparison_of_run(snapshot, run, error);
    if (!waiting && !comparison)
        return NULL;
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_string(&writer, "run", run->id);
    json_writer_bool(&writer, "judged", !waiting);
    if (comparison)
        json_writer_object(&writer, "comparison");
    else
        json_writer_null(&writer, "comparison");
    if (comparison) {
        comparison_json_write(&writer, comparison);
        json_writer_end(&writer);
    }
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    return body;
}

static void answer(HttpRequest *request, StoreReader *reader)
{
    g_autoptr(GError) error = NULL;
    StoreSnapshot *snapshot = store_snapshot_begin(reader, &error);
    GString *body = snapshot ? verdict(request, snapshot, &error) : NULL;
    store_snapshot_end(snapshot);
    if (body)
        http_respond(request, 200, HTTP_JSON, body);
    else if (error)
        http_respond_error(request, error, NULL);
}

/* On the work thread, with its reader; or at once where the server is stopping. */
static void on_waited(StoreReader *reader, void *user)
{
    HttpRequest *request = (HttpRequest *)user;
    if (reader)
        answer(request, reader);
    else
        http_respond_status(request, 503, "the server is stopping; ask again in a moment");
    http_request_finish(request);
}

/* True where the run waits to be judged; *out_run_seq 0: there is no such run. */
static bool is_waiting(HttpRequest *request, StoreReader *reader, int64_t *out_run_seq)
{
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(reader, NULL);
    const struct store_run *run =
        snapshot ? store_run_find(snapshot, http_request_segment(request, "id")) : NULL;
    bool waiting = false;
    *out_run_seq = run ? run->seq : 0;
    return run && store_is_waiting(snapshot, run->seq, &waiting, NULL) && waiting;
}

void api_run_verdict(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    int64_t wait_seconds = 0, run_seq = 0;
    StoreReader *reader = (StoreReader *)http_request_thread(request);
    if (!http_query_integer(request, "wait", 0, WAIT_SECONDS_MAX, &wait_seconds, &error)) {
        http_respond_error(request, error, NULL);
        return;
    }
    if (wait_seconds == 0 || !is_waiting(request, reader, &run_seq)) {
        answer(request, reader);
        return;
    }
    http_request_defer(request);
    work_wait(context_of(request)->work, run_seq, wait_seconds * 1000, on_waited, request);
}
