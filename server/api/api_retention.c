/* SPDX-License-Identifier: Apache-2.0
 * /api/projects/{project}/retention: how long data is kept, what that would do, and what it did.
 * Runs on the request's thread; the answer to a PUT is given on the writer's. */
#include "schema/document.h"
#include "server/api/api_body.h"
#include "server/api/api_projects.h"
#include "server/api/api_write.h"
#include "server/context.h"
#include "server/routes.h"
#include "server/work/retention.h"
#include <string.h>

#define BODY_BYTES_MAX (4u << 10)
#define SHOWN_MAX      20u /* runs that a trial names */

/* ---- The rules as JSON
 * -----------------------------------------------------------------------------------------
 */

static void write_rules(struct json_writer *writer, const struct store_retention_rules *rules)
{
    json_writer_object(writer, "rules");
    json_writer_object(writer, "branches");
    if (rules->branches_days > 0)
        json_writer_integer(writer, "after_days", rules->branches_days);
    else
        json_writer_null(writer, "after_days");
    json_writer_integer(writer, "keep", rules->branches_keep);
    json_writer_end(writer);
    json_writer_object(writer, "samples");
    if (rules->samples_days > 0)
        json_writer_integer(writer, "after_days", rules->samples_days);
    else
        json_writer_null(writer, "after_days");
    json_writer_end(writer);
    json_writer_end(writer);
}

static void take_whole(struct reading at, json_t *value, int64_t minimum, int64_t maximum,
                       int64_t *out)
{
    int64_t number;
    if (json_is_null(value) && minimum > 0)
        *out = 0;
    else if (document_whole(at, value, minimum, &number) && number > maximum)
        document_fault(at, "is %" G_GINT64_FORMAT "; up to %" G_GINT64_FORMAT " is taken", number,
                       maximum);
    else if (at.faults->found == 0)
        *out = number;
}

struct part {
    struct store_retention_rules *rules;
    bool is_branches;
};

static void take_member(struct reading at, const char *key, json_t *value, void *user)
{
    const struct part *part = (const struct part *)user;
    if (strcmp(key, "after_days") == 0)
        take_whole(at, value, 1, STORE_RETENTION_DAYS_MAX,
                   part->is_branches ? &part->rules->branches_days : &part->rules->samples_days);
    else if (strcmp(key, "keep") == 0 && part->is_branches)
        take_whole(at, value, 0, STORE_RETENTION_KEEP_MAX, &part->rules->branches_keep);
    else
        document_fault(at, "is not known; give %s",
                       part->is_branches ? "after_days and keep" : "after_days");
}

static void take_part(struct reading at, const char *key, json_t *value, void *user)
{
    struct part part = {.rules = (struct store_retention_rules *)user,
                        .is_branches = strcmp(key, "branches") == 0};
    if (part.is_branches || strcmp(key, "samples") == 0)
        document_each_member(at, value, 2, take_member, &part);
    else
        document_fault(at, "is not known; give branches and samples: "
                           "{\"branches\":{\"after_days\":90,\"keep\":1},"
                           "\"samples\":{\"after_days\":365}}");
}

/* What the body does not name is kept for ever. */
static bool parse_rules(HttpRequest *request, struct store_retention_rules *rules, Faults *faults,
                        GError **error)
{
    size_t length;
    const char *bytes = http_request_body(request, &length);
    *rules = (struct store_retention_rules){.branches_keep = 1};
    if (length > BODY_BYTES_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                    "the rules have %zu bytes; up to %u are taken", length, BODY_BYTES_MAX);
        return false;
    }
    json_t *root = document_load(bytes, length, error);
    if (!root)
        return false;
    const struct place whole = {0};
    document_each_member((struct reading){.faults = faults, .place = &whole}, root, 2, take_part,
                         rules);
    json_decref(root);
    return document_conclude(faults, error);
}

/* False: the request has been answered with what is wrong. */
static bool take_rules(HttpRequest *request, struct store_retention_rules *rules)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    if (!api_body_check_json(request))
        return false;
    bool fine = parse_rules(request, rules, faults, &error);
    if (!fine)
        http_respond_error(request, error, faults);
    return fine;
}

/* ---- Looking
 * ---------------------------------------------------------------------------------------------------
 */

void api_retention_get(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    StoreSnapshot *snapshot = context_snapshot(request);
    if (!snapshot)
        return;
    const struct store_project *project = api_project_of_path(request, snapshot, &error);
    if (project && http_not_modified(request, store_version(snapshot, project), HTTP_JSON)) {
        store_snapshot_end(snapshot);
        return;
    }
    GString *body = project ? g_string_new(NULL) : NULL;
    if (body) {
        const struct store_retention *retention = &project->retention;
        struct json_writer writer = JSON_WRITER_INIT(body);
        json_writer_object(&writer, NULL);
        write_rules(&writer, &retention->rules);
        json_writer_object(&writer, "done");
        api_write_time_ms(&writer, "last", retention->done_ms);
        json_writer_integer(&writer, "runs_deleted", retention->n_deleted);
        json_writer_integer(&writer, "samples_dropped_of_runs", retention->n_dropped);
        json_writer_end(&writer);
        json_writer_end(&writer);
        g_string_append_c(body, '\n');
    }
    store_snapshot_end(snapshot);
    if (body)
        http_respond(request, 200, HTTP_JSON, body);
    else
        http_respond_error(request, error, NULL);
}

/* ---- Trying
 * ----------------------------------------------------------------------------------------------------
 */

static void write_plan(struct json_writer *writer, StoreSnapshot *snapshot,
                       const struct retention_plan *plan)
{
    json_writer_object(writer, "would_delete");
    json_writer_integer(writer, "runs", plan->n_deletions);
    json_writer_integer(writer, "samples", (int64_t)plan->samples_deleted);
    json_writer_array(writer, "some");
    for (guint i = 0; i < plan->deletions->len; i++)
        json_writer_string(writer, NULL,
                           ((const struct retention_deletion *)plan->deletions->pdata[i])->id);
    json_writer_end(writer);
    json_writer_end(writer);
    json_writer_object(writer, "would_drop_samples_of");
    json_writer_integer(writer, "runs", plan->n_drops);
    json_writer_integer(writer, "samples", (int64_t)plan->samples_dropped);
    json_writer_array(writer, "some");
    for (guint i = 0; i < plan->drops->len; i++) {
        const struct store_run *run =
            store_run_by_seq(snapshot, g_array_index(plan->drops, int64_t, i));
        if (run)
            json_writer_string(writer, NULL, run->id);
    }
    json_writer_end(writer);
    json_writer_end(writer);
    api_write_time_ms(writer, "oldest_received", plan->oldest_ms);
    api_write_time_ms(writer, "newest_received", plan->newest_ms);
}

void api_retention_try(HttpRequest *request)
{
    struct store_retention_rules rules;
    g_autoptr(GError) error = NULL;
    if (!take_rules(request, &rules))
        return;
    StoreSnapshot *snapshot = context_snapshot(request);
    if (!snapshot)
        return;
    const struct store_project *project = api_project_of_path(request, snapshot, &error);
    GString *body = project ? g_string_new(NULL) : NULL;
    if (body) {
        g_autoptr(RetentionPlan) plan =
            retention_plan_new(project, &rules, g_get_real_time() / 1000, SHOWN_MAX);
        struct json_writer writer = JSON_WRITER_INIT(body);
        json_writer_object(&writer, NULL);
        write_rules(&writer, &rules);
        write_plan(&writer, snapshot, plan);
        json_writer_end(&writer);
        g_string_append_c(body, '\n');
    }
    store_snapshot_end(snapshot);
    if (body)
        http_respond(request, 200, HTTP_JSON, body);
    else
        http_respond_error(request, error, NULL);
}

/* ---- Setting
 * ---------------------------------------------------------------------------------------------------
 */

static void put_done(const struct store_receipt *receipt, void *user)
{
    HttpRequest *request = (HttpRequest *)user;
    if (api_body_refused(request, receipt))
        return;
    retention_poke(work_retention(context_of(request)->work));
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    api_write_taken(&writer, "url",
                    api_write_address("/api/projects/", http_request_segment(request, "project"),
                                      "/retention", NULL));
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    http_respond(request, 200, HTTP_JSON, body);
    http_request_finish(request);
}

void api_retention_put(HttpRequest *request)
{
    struct store_retention_rules rules;
    if (!take_rules(request, &rules))
        return;
    struct store_retention_write *write = g_new0(struct store_retention_write, 1);
    write->project = g_strdup(http_request_segment(request, "project"));
    write->has_rules = true;
    write->rules = rules;
    http_request_defer(request);
    store_put_retention(context_of(request)->store, write, put_done, request);
}
