/* SPDX-License-Identifier: Apache-2.0
 * /api/projects/{project}/branches: where branches point. Heads move, forwards or by force, and go.
 * Reading runs on the request's thread; writes are answered on the writer's. */
#include "server/api/api_access.h"
#include "server/api/api_body.h"
#include "server/api/api_list.h"
#include "server/api/api_projects.h"
#include "server/routes.h"

#include "schema/text.h"
#include "server/store/store_branches.h"
#include <string.h>

static void write_members(struct json_writer *writer, const char *project,
                          const struct store_head *head)
{
    json_writer_string(writer, "branch", head->branch);
    api_write_taken(writer, "url",
                    api_write_address("/api/projects/", project, "/branches/", head->branch, NULL));
    json_writer_string(writer, "head", head->commit->sha);
    json_writer_string(writer, "before", head->before ? head->before->sha : NULL);
    json_writer_string(writer, "move", store_head_move_name(head->move));
    api_write_time_ms(writer, "moved", head->moved_ms);
    json_writer_string(writer, "who", head->who);
    api_write_taken(writer, "page",
                    api_write_address("/p/", project, "/c/", head->commit->sha, NULL));
}

static bool is_default(const struct store_project *project, const struct store_head *head)
{
    return strcmp(project->default_branch, head->branch) == 0;
}

/* ---- The list
 * ------------------------------------------------------------------------------------------------------
 */

static bool open_project(struct api_list *list, int64_t *out_version, GError **error)
{
    const struct store_project **project = (const struct store_project **)list->user;
    *project = api_project_of_path(list->request, list->snapshot, error);
    if (!*project)
        return false;
    *out_version = store_version(list->snapshot, *project);
    return true;
}

static const char *head_name(gconstpointer item)
{
    return ((const struct store_head *)item)->branch;
}

static bool collect(struct api_list *list, GError **error G_GNUC_UNUSED)
{
    const struct store_project *const *project = (const struct store_project *const *)list->user;
    api_list_collect_by_name(list, (*project)->heads, head_name);
    return true;
}

static bool row_json(struct api_list *list, gconstpointer item, struct json_writer *writer,
                     GError **error G_GNUC_UNUSED)
{
    const struct store_project *const *project = (const struct store_project *const *)list->user;
    const struct store_head *head = (const struct store_head *)item;
    json_writer_object(writer, NULL);
    write_members(writer, (*project)->name, head);
    json_writer_bool(writer, "default", is_default(*project, head));
    json_writer_end(writer);
    return true;
}

static bool row_csv(struct api_list *list, gconstpointer item, struct csv_writer *writer,
                    GError **error G_GNUC_UNUSED)
{
    const struct store_project *const *project = (const struct store_project *const *)list->user;
    const struct store_head *head = (const struct store_head *)item;
    csv_writer_text(writer, head->branch);
    csv_writer_text(writer, head->commit->sha);
    csv_writer_text(writer, head->before ? head->before->sha : NULL);
    csv_writer_text(writer, store_head_move_name(head->move));
    api_write_csv_time_ms(writer, head->moved_ms);
    csv_writer_text(writer, head->who);
    csv_writer_bool(writer, is_default(*project, head));
    csv_writer_end_row(writer);
    return true;
}

static void place(gconstpointer item, char *fields[API_LIST_FIELDS_MAX])
{
    fields[0] = g_strdup(head_name(item));
}

void api_branches_list(HttpRequest *request)
{
    static const char *const columns[] = {"branch", "head", "before",  "move",
                                          "moved",  "who",  "default", NULL};
    static const char *const members[] = {"branch", "url", "head", "before",  "move",
                                          "moved",  "who", "page", "default", NULL};
    static const struct api_list_spec spec = {.plural = "branches",
                                              .n_cursor_fields = 1,
                                              .members = members,
                                              .free_user = g_free,
                                              .columns = columns,
                                              .open = open_project,
                                              .collect = collect,
                                              .write_json = row_json,
                                              .write_csv = row_csv,
                                              .place = place};
    api_list_serve(request, &spec, g_new0(const struct store_project *, 1));
}

/* ---- One branch
 * ----------------------------------------------------------------------------------------------------
 */

/* NULL with the error, or with none where the client has the answer already. */
static GString *render(HttpRequest *request, StoreSnapshot *snapshot, GError **error)
{
    const struct store_project *project = api_project_of_path(request, snapshot, error);
    if (!project)
        return NULL;
    const char *branch = http_request_segment(request, "branch");
    const struct store_head *head = store_head_find(project, branch);
    if (!head) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "no head of a branch \"%s\" is known; GET /api/projects/%s/branches lists "
                    "them, and PUT here makes one",
                    branch, project->name);
        return NULL;
    }
    if (http_not_modified(request, store_version(snapshot, project), HTTP_JSON))
        return NULL;
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    write_members(&writer, project->name, head);
    json_writer_bool(&writer, "default", is_default(project, head));
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    return body;
}

void api_branch_get(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    StoreSnapshot *snapshot = context_snapshot(request);
    if (!snapshot)
        return;
    GString *body = render(request, snapshot, &error);
    store_snapshot_end(snapshot);
    if (body)
        http_respond(request, 200, HTTP_JSON, body);
    else if (error)
        http_respond_error(request, error, NULL);
}

/* ---- Moving and removing
 * -------------------------------------------------------------------------------------------
 */

/* On the writer thread: the head is the store's, as it is now. */
static void put_done(const struct store_receipt *receipt, void *user)
{
    HttpRequest *request = (HttpRequest *)user;
    if (api_body_refused(request, receipt))
        return;
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    write_members(&writer, http_request_segment(request, "project"), receipt->head);
    json_writer_bool(&writer, "changed", receipt->outcome != STORE_UNCHANGED);
    api_write_strings(&writer, "warnings", receipt->warnings);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    http_respond(request, receipt->outcome == STORE_CREATED ? 201 : 200, HTTP_JSON, body);
    http_request_finish(request);
}

static bool check_address(const HttpRequest *request, GError **error)
{
    const char *branch = http_request_segment(request, "branch");
    g_autofree char *problem = text_name_problem(branch, strlen(branch), RUN_NAME_BYTES_MAX);
    if (problem)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "the branch's name, in the address, %s",
                    problem);
    return !problem && api_project_check_name(request, error);
}

static struct store_head_write *parse_head(HttpRequest *request, Faults *faults, GError **error)
{
    static const struct field fields[] = {
        {"at_least", false, document_take_bool, offsetof(struct store_head_write, at_least), 0,
         NULL},
        {"head", true, document_take_sha, offsetof(struct store_head_write, sha), 0, NULL},
        {"who", false, document_take_name, offsetof(struct store_head_write, who),
         RUN_NAME_BYTES_MAX, NULL},
    };
    static const struct field_table table = {"a branch", fields, G_N_ELEMENTS(fields)};
    struct store_head_write *write = g_new0(struct store_head_write, 1);
    if (api_body_read(request, &table, write, faults, error))
        return write;
    store_head_write_free(write);
    return NULL;
}

void api_branch_put(HttpRequest *request)
{
    if (!api_body_check_json(request))
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    struct store_head_write *write =
        check_address(request, &error) &&
                api_access_check_branch(request, http_request_segment(request, "branch"), &error)
            ? parse_head(request, faults, &error)
            : NULL;
    if (!write) {
        http_respond_error(request, error, faults);
        return;
    }
    write->project = g_strdup(http_request_segment(request, "project"));
    write->branch = g_strdup(http_request_segment(request, "branch"));
    char *said = write->who;
    write->who = http_request_signed(request, said);
    g_free(said);
    http_request_defer(request);
    store_put_head(context_of(request)->store, write, put_done, request);
}

void api_branch_delete(HttpRequest *request)
{
    struct store_head_write *write = g_new0(struct store_head_write, 1);
    write->project = g_strdup(http_request_segment(request, "project"));
    write->branch = g_strdup(http_request_segment(request, "branch"));
    http_request_defer(request);
    store_put_head(context_of(request)->store, write, api_body_deleted, request);
}
