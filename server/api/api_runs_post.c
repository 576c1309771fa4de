/* SPDX-License-Identifier: Apache-2.0
 * POST /api/runs: takes one run, in our own document or a foreign format. Parsing and validating
 * run on the request's thread; the answer is given on the writer's, after the commit that holds the
 * run. */
#include "server/api/api_access.h"
#include "server/api/api_body.h"
#include "server/api/api_write.h"
#include "server/api/foreign_run.h"
#include "server/context.h"
#include "server/routes.h"
#include <string.h>

/* What the answer needs when the run itself has been given away. */
struct runs_post {
    HttpRequest *request;
    char *id, *project, *sha;
    guint n_results;
    uint64_t n_samples;
    GPtrArray *warnings; /* char *, of the format */
};

static void runs_post_free(struct runs_post *post)
{
    g_free(post->id);
    g_free(post->project);
    g_free(post->sha);
    g_ptr_array_unref(post->warnings);
    g_free(post);
}

static void write_answer(const struct runs_post *post, const struct store_receipt *receipt,
                         const char *address, GString *body)
{
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_string(&writer, "id", post->id);
    json_writer_string(&writer, "url", address);
    api_write_taken(&writer, "page",
                    api_write_address("/p/", post->project, "/c/", post->sha, NULL));
    json_writer_integer(&writer, "results", post->n_results);
    json_writer_integer(&writer, "samples", (int64_t)post->n_samples);
    json_writer_array(&writer, "warnings");
    for (guint i = 0; i < post->warnings->len; i++)
        json_writer_string(&writer, NULL, (const char *)g_ptr_array_index(post->warnings, i));
    for (guint i = 0; receipt->warnings && i < receipt->warnings->len; i++)
        json_writer_string(&writer, NULL, (const char *)g_ptr_array_index(receipt->warnings, i));
    json_writer_end(&writer);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
}

static void post_done(const struct store_receipt *receipt, void *user)
{
    struct runs_post *post = (struct runs_post *)user;
    if (!api_body_refused(post->request, receipt)) {
        g_autofree char *address = api_write_address("/api/runs/", post->id, NULL);
        GString *body = g_string_new(NULL);
        write_answer(post, receipt, address, body);
        http_response_header(post->request, "Location", address);
        http_respond(post->request, receipt->outcome == STORE_UNCHANGED ? 200 : 201, HTTP_JSON,
                     body);
        http_request_finish(post->request);
    }
    runs_post_free(post);
}

/* A document says its id itself: a header that says another one is a mistake in the client, and not
 * to be ignored. */
static bool check_idempotency_key(const HttpRequest *request, const Run *run, Faults *faults,
                                  GError **error)
{
    g_autofree char *key = http_request_idempotency_key(request);
    if (!key || strcmp(key, run->id) == 0)
        return true;
    faults_add(
        faults, "/id",
        "is \"%s\", but the header Idempotency-Key says \"%s\"; leave the header out, or send the "
        "document's id in it",
        run->id, key);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "The document's id and the header Idempotency-Key contradict each other");
    return false;
}

static Run *parse_document(HttpRequest *request, Faults *faults, GError **error)
{
    const GPtrArray *pairs = http_request_query_pairs(request);
    if (pairs->len > 0) {
        const struct http_pair *first = (const struct http_pair *)g_ptr_array_index(pairs, 0);
        g_set_error(
            error, BREAKEVEN_ERROR, ERROR_SYNTAX,
            "%s: belongs to a foreign format; name it with format=, or leave the parameter out: "
            "a document of %s says it itself",
            first->name, RUN_SCHEMA);
        return NULL;
    }
    size_t length;
    const char *bytes = http_request_body(request, &length);
    g_autoptr(Run) run = run_parse(bytes, length, faults, error);
    if (!run || !check_idempotency_key(request, run, faults, error))
        return NULL;
    return g_steal_pointer(&run);
}

/* NULL: the request has been answered. */
static Run *parse_foreign(HttpRequest *request, GPtrArray *warnings)
{
    const struct format *format = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    if (foreign_run_format(request, &format, &error)) {
        if (!foreign_run_check_type(request, format))
            return NULL;
        Run *run = foreign_run_parse(request, format, warnings, faults, &error);
        if (run)
            return run;
    }
    http_respond_error(request, error, faults);
    return NULL;
}

static Run *parse_ours(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    if (!api_body_check_json(request))
        return NULL;
    Run *run = parse_document(request, faults, &error);
    if (!run)
        http_respond_error(request, error, faults);
    return run;
}

void api_runs_post(HttpRequest *request)
{
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    bool is_foreign = http_request_query(request, "format") != NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(Run) run = is_foreign ? parse_foreign(request, warnings) : parse_ours(request);
    if (!run)
        return;
    if (!api_access_take_run(request, NULL, run, warnings, &error)) {
        http_respond_error(request, error, NULL);
        return;
    }
    struct runs_post *post = g_new0(struct runs_post, 1);
    post->request = request;
    post->id = g_strdup(run->id);
    post->project = g_strdup(run->project);
    post->sha = g_strdup(run->commit.sha);
    post->n_results = run->results->len;
    post->n_samples = run_count_samples(run);
    post->warnings = g_steal_pointer(&warnings);
    char *digest = run_digest(run);
    http_request_defer(request);
    store_put_run(context_of(request)->store, g_steal_pointer(&run), digest, post_done, post);
}
