/* SPDX-License-Identifier: Apache-2.0
 * /api/projects: the list, one project, and its settings. Runs on the request's thread; the answer
 * to a PUT is given on the writer's. */
#include "server/api/api_projects.h"

#include "server/api/api_body.h"
#include "server/api/api_list.h"
#include "server/api/project_settings.h"
#include "server/routes.h"

#include "schema/text.h"
#include <string.h>

struct store_project *api_project_of_path(const HttpRequest *request, StoreSnapshot *snapshot,
                                          GError **error)
{
    const char *name = http_request_segment(request, "project");
    struct store_project *project = store_project_find(snapshot, name);
    if (!project)
        g_set_error(
            error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
            "no project is named \"%s\"; GET /api/projects lists them, and the first run of "
            "a project makes it",
            name);
    return project;
}

bool api_project_check_name(const HttpRequest *request, GError **error)
{
    const char *name = http_request_segment(request, "project");
    g_autofree char *problem = text_name_problem(name, strlen(name), RUN_NAME_BYTES_MAX);
    if (problem)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "the project's name, in the address, %s",
                    problem);
    return !problem;
}

static void write_project(struct json_writer *writer, const struct store_project *project)
{
    json_writer_object(writer, NULL);
    json_writer_string(writer, "name", project->name);
    api_write_taken(writer, "url", api_write_address("/api/projects/", project->name, NULL));
    api_write_taken(writer, "page", api_write_address("/p/", project->name, NULL));
    json_writer_string(writer, "default_branch", project->default_branch);
    json_writer_string(writer, "commit_url_template", project->commit_url_template);
    json_writer_raw(writer, "param_defaults", project->param_defaults_json);
    json_writer_raw(writer, "rules", project->rules_json);
    json_writer_integer(writer, "commits", project->commits->len);
    json_writer_integer(writer, "runs", project->runs->len);
    json_writer_integer(writer, "benchmarks", project->benchmarks->len);
    json_writer_integer(writer, "series", project->series->len);
    json_writer_end(writer);
}

/* ---- The list
 * ------------------------------------------------------------------------------------------------------
 */

static const char *project_name(gconstpointer item)
{
    return ((const struct store_project *)item)->name;
}

static bool collect(struct api_list *list, GError **error G_GNUC_UNUSED)
{
    api_list_collect_by_name(list, store_projects(list->snapshot), project_name);
    return true;
}

static bool row_json(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                     struct json_writer *writer, GError **error G_GNUC_UNUSED)
{
    write_project(writer, (const struct store_project *)item);
    return true;
}

static bool row_csv(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                    struct csv_writer *writer, GError **error G_GNUC_UNUSED)
{
    const struct store_project *project = (const struct store_project *)item;
    csv_writer_text(writer, project->name);
    csv_writer_text(writer, project->default_branch);
    csv_writer_text(writer, project->commit_url_template);
    csv_writer_integer(writer, project->commits->len);
    csv_writer_integer(writer, project->runs->len);
    csv_writer_integer(writer, project->benchmarks->len);
    csv_writer_integer(writer, project->series->len);
    csv_writer_end_row(writer);
    return true;
}

static void place(gconstpointer item, char *fields[API_LIST_FIELDS_MAX])
{
    fields[0] = g_strdup(project_name(item));
}

void api_projects_list(HttpRequest *request)
{
    static const char *const columns[] = {
        "name", "default_branch", "commit_url_template", "commits", "runs", "benchmarks", "series",
        NULL};
    static const char *const members[] = {
        "name",           "url",   "page",    "default_branch", "commit_url_template",
        "param_defaults", "rules", "commits", "runs",           "benchmarks",
        "series",         NULL};
    static const struct api_list_spec spec = {.plural = "projects",
                                              .n_cursor_fields = 1,
                                              .members = members,
                                              .columns = columns,
                                              .collect = collect,
                                              .write_json = row_json,
                                              .write_csv = row_csv,
                                              .place = place};
    api_list_serve(request, &spec, NULL);
}

/* ---- One project
 * ---------------------------------------------------------------------------------------------------
 */

void api_project_get(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    StoreSnapshot *snapshot = context_snapshot(request);
    if (!snapshot)
        return;
    const struct store_project *project = api_project_of_path(request, snapshot, &error);
    if (!project || http_not_modified(request, store_version(snapshot, project), HTTP_JSON)) {
        store_snapshot_end(snapshot);
        if (!project)
            http_respond_error(request, error, NULL);
        return;
    }
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    write_project(&writer, project);
    g_string_append_c(body, '\n');
    store_snapshot_end(snapshot);
    http_respond(request, 200, HTTP_JSON, body);
}

static void put_done(const struct store_receipt *receipt, void *user)
{
    HttpRequest *request = (HttpRequest *)user;
    if (api_body_refused(request, receipt))
        return;
    const char *name = http_request_segment(request, "project");
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_string(&writer, "name", name);
    api_write_taken(&writer, "url", api_write_address("/api/projects/", name, NULL));
    api_write_taken(&writer, "page", api_write_address("/p/", name, NULL));
    json_writer_integer(&writer, "rejudged", receipt->n_series);
    api_write_strings(&writer, "warnings", receipt->warnings);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    http_respond(request, receipt->outcome == STORE_CREATED ? 201 : 200, HTTP_JSON, body);
    http_request_finish(request);
}

void api_project_put(HttpRequest *request)
{
    if (!api_body_check_json(request))
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    size_t length;
    const char *bytes = http_request_body(request, &length);
    struct store_project_settings *settings = NULL;
    if (api_project_check_name(request, &error))
        settings = project_settings_parse(http_request_segment(request, "project"), bytes, length,
                                          faults, &error);
    if (!settings) {
        http_respond_error(request, error, faults);
        return;
    }
    char *said = settings->who;
    settings->who = http_request_signed(request, said);
    g_free(said);
    http_request_defer(request);
    store_put_project(context_of(request)->store, settings, put_done, request);
}
