/* SPDX-License-Identifier: Apache-2.0
 * Names that stand for others: PUT of a benchmark, its parameters' values, or a machine; the rules
 * of a project, and what looks like a rename that nobody has told. Runs on the request's thread;
 * the answer to a PUT is given on the writer's. */
#include "server/api/api_body.h"
#include "server/api/api_projects.h"
#include "server/api/api_write.h"
#include "server/api/rename_body.h"
#include "server/context.h"
#include "server/routes.h"
#include "server/work/rename_suggestions.h"

/* ---- Renaming
 * --------------------------------------------------------------------------------------------------
 */

static void put_done(const struct store_receipt *receipt, void *user)
{
    HttpRequest *request = (HttpRequest *)user;
    if (api_body_refused(request, receipt))
        return;
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_string(&writer, "outcome",
                       receipt->outcome == STORE_UNCHANGED ? "unchanged" : "updated");
    json_writer_integer(&writer, "lines", receipt->n_series);
    api_write_strings(&writer, "warnings", receipt->warnings);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    http_respond(request, 200, HTTP_JSON, body);
    http_request_finish(request);
}

static void put(HttpRequest *request, const char *project, const char *name)
{
    if (!api_body_check_json(request))
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    size_t length;
    const char *bytes = http_request_body(request, &length);
    struct store_rename *rename = rename_body_parse(project, name, bytes, length, faults, &error);
    if (!rename) {
        http_respond_error(request, error, faults);
        return;
    }
    http_request_defer(request);
    store_put_rename(context_of(request)->store, rename, put_done, request);
}

void api_benchmark_put(HttpRequest *request)
{
    put(request, http_request_segment(request, "project"), http_request_segment(request, "bench"));
}

void api_machine_put(HttpRequest *request)
{
    put(request, NULL, http_request_segment(request, "machine"));
}

/* ---- The rules of a project
 * ------------------------------------------------------------------------------------------ */

static void write_rule(struct json_writer *writer, const struct store_name_rule *rule)
{
    json_writer_object(writer, NULL);
    json_writer_string(writer, "bench", rule->bench);
    json_writer_string(writer, "param", rule->param);
    if (rule->value)
        api_write_param_value(writer, "value", rule->value);
    else
        json_writer_null(writer, "value");
    if (rule->param)
        api_write_param_value(writer, "alias_of", rule->target);
    else
        json_writer_string(writer, "alias_of", rule->target);
    json_writer_end(writer);
}

static void write_suggestion(struct json_writer *writer, const struct store_project *project,
                             const struct rename_suggestion *suggestion)
{
    json_writer_object(writer, NULL);
    json_writer_string(writer, "bench", suggestion->old->name);
    json_writer_string(writer, "alias_of", suggestion->new->name);
    json_writer_number(writer, "likeness", suggestion->likeness);
    json_writer_integer(writer, "cases", suggestion->n_cases);
    if (suggestion->n_levels > 0)
        json_writer_number(writer, "level_ratio", suggestion->level_ratio);
    else
        json_writer_null(writer, "level_ratio");
    api_write_taken(writer, "put",
                    api_write_address("/api/projects/", project->name, "/benchmarks/",
                                      suggestion->old->name, NULL));
    json_writer_end(writer);
}

static GString *render(StoreSnapshot *snapshot, const struct store_project *project, GError **error)
{
    g_autoptr(GArray) suggestions = rename_suggestions_find(snapshot, project, error);
    if (!suggestions)
        return NULL;
    g_autoptr(GPtrArray) rules = store_name_rules(project);
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_array(&writer, "renames");
    for (guint i = 0; i < rules->len; i++)
        write_rule(&writer, (const struct store_name_rule *)g_ptr_array_index(rules, i));
    json_writer_end(&writer);
    json_writer_array(&writer, "suggestions");
    for (guint i = 0; i < suggestions->len; i++)
        write_suggestion(&writer, project,
                         &g_array_index(suggestions, struct rename_suggestion, i));
    json_writer_end(&writer);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    return body;
}

void api_renames_get(HttpRequest *request)
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
    GString *body = project ? render(snapshot, project, &error) : NULL;
    store_snapshot_end(snapshot);
    if (body)
        http_respond(request, 200, HTTP_JSON, body);
    else
        http_respond_error(request, error, NULL);
}
