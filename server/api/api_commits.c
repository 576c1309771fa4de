/* SPDX-License-Identifier: Apache-2.0
 * /api/projects/{project}/commits: the history, newest first in commit order, and the batch that
 * tells the server of more. Runs on the request's thread; the answer to a POST is given on the
 * writer's. */
#include "server/api/api_access.h"
#include "server/api/api_body.h"
#include "server/api/api_filter.h"
#include "server/api/api_list.h"
#include "server/api/api_projects.h"
#include "server/routes.h"

#include "schema/text.h"
#include <string.h>

/* ---- The list
 * ------------------------------------------------------------------------------------------------------
 */

#define SHA_DIGITS_MIN 7u

struct commits_query {
    GPtrArray *branches, *shas; /* char *; NULL: any */
    GHashTable *named;          /* struct store_commit * that `shas` name, or NULL */
    const struct store_project *project;
};

static bool open_project(struct api_list *list, int64_t *out_version, GError **error)
{
    struct commits_query *query = (struct commits_query *)list->user;
    query->project = api_project_of_path(list->request, list->snapshot, error);
    if (!query->project)
        return false;
    *out_version = store_version(list->snapshot, query->project);
    g_clear_pointer(&query->named, g_hash_table_unref);
    query->named = query->shas ? g_hash_table_new(NULL, NULL) : NULL;
    for (guint i = 0; query->shas && i < query->shas->len; i++) {
        g_autofree char *sha = g_ascii_strdown((const char *)query->shas->pdata[i], -1);
        if (!api_filter_is_sha(sha, SHA_DIGITS_MIN)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "sha: \"%s\" is no commit; give %u to 64 hex digits of a sha", sha,
                        SHA_DIGITS_MIN);
            return false;
        }
        g_hash_table_add(query->named, store_commit_find(query->project, sha, NULL));
    }
    return true;
}

/* How many commits come before the cursor's place: the next page starts with the last of them. */
static guint count_before(const struct api_list *list, const GPtrArray *commits)
{
    if (!list->after)
        return commits->len;
    guint start = 0, end = commits->len;
    while (start < end) {
        guint middle = start + (end - start) / 2;
        const struct store_commit *commit =
            (const struct store_commit *)g_ptr_array_index(commits, middle);
        if (api_list_compare_commit(commit, list->after) < 0)
            start = middle + 1;
        else
            end = middle;
    }
    return start;
}

static bool is_of_branch(const struct store_commit *commit, GPtrArray *branches)
{
    return !branches || (commit->branch && g_ptr_array_find_with_equal_func(
                                               branches, commit->branch, g_str_equal, NULL));
}

static bool collect(struct api_list *list, GError **error G_GNUC_UNUSED)
{
    const struct commits_query *query = (const struct commits_query *)list->user;
    const GPtrArray *commits = query->project->commits;
    for (guint i = count_before(list, commits); i > 0; i--) {
        struct store_commit *commit = (struct store_commit *)g_ptr_array_index(commits, i - 1);
        if (!is_of_branch(commit, query->branches) ||
            (query->named && !g_hash_table_contains(query->named, commit)))
            continue;
        if (list->items->len == list->limit) {
            list->has_more = true;
            break;
        }
        g_ptr_array_add(list->items, commit);
    }
    return true;
}

/* A provisional one borrows the time of a run or of a child, and has none where both are gone. */
static bool is_dated(const struct store_commit *commit)
{
    return commit->has_time || (commit->provisional && commit->time_s != 0);
}

static bool row_json(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                     struct json_writer *writer, GError **error G_GNUC_UNUSED)
{
    const struct store_commit *commit = (const struct store_commit *)item;
    json_writer_object(writer, NULL);
    json_writer_string(writer, "sha", commit->sha);
    if (commit->parents)
        json_writer_array(writer, "parents");
    else
        json_writer_null(writer, "parents");
    for (guint i = 0; commit->parents && commit->parents[i]; i++)
        json_writer_string(writer, NULL, commit->parents[i]->sha);
    if (commit->parents)
        json_writer_end(writer);
    api_write_time_s(writer, "time", is_dated(commit), commit->time_s);
    json_writer_string(writer, "author", commit->author);
    json_writer_string(writer, "subject", commit->subject);
    json_writer_raw(writer, "trailers", commit->trailers_json);
    json_writer_string(writer, "branch", commit->branch);
    if (commit->line == STORE_LINE_ON || commit->line == STORE_LINE_OFF)
        json_writer_bool(writer, "on_default_branch", commit->line == STORE_LINE_ON);
    else
        json_writer_null(writer, "on_default_branch");
    json_writer_bool(writer, "provisional", commit->provisional);
    json_writer_integer(writer, "runs", commit->n_runs);
    json_writer_integer(writer, "position", commit->position);
    api_write_taken(writer, "page",
                    api_write_address("/p/", commit->project->name, "/c/", commit->sha, NULL));
    json_writer_end(writer);
    return true;
}

static bool row_csv(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                    struct csv_writer *writer, GError **error G_GNUC_UNUSED)
{
    const struct store_commit *commit = (const struct store_commit *)item;
    g_autoptr(GString) parents = g_string_new(NULL);
    for (guint i = 0; commit->parents && commit->parents[i]; i++)
        g_string_append_printf(parents, "%s%s", i > 0 ? " " : "", commit->parents[i]->sha);
    csv_writer_text(writer, commit->sha);
    csv_writer_text(writer, parents->str);
    api_write_csv_time_s(writer, is_dated(commit), commit->time_s);
    csv_writer_text(writer, commit->author);
    csv_writer_text(writer, commit->subject);
    csv_writer_text(writer, commit->branch);
    csv_writer_bool(writer, commit->provisional);
    csv_writer_integer(writer, commit->n_runs);
    csv_writer_integer(writer, commit->position);
    csv_writer_end_row(writer);
    return true;
}

static void place(gconstpointer item, char *fields[API_LIST_FIELDS_MAX])
{
    const struct store_commit *commit = (const struct store_commit *)item;
    fields[0] = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)commit->key_s);
    fields[1] = g_strdup(commit->sha);
}

static void free_query(gpointer item)
{
    struct commits_query *query = (struct commits_query *)item;
    g_clear_pointer(&query->branches, g_ptr_array_unref);
    g_clear_pointer(&query->shas, g_ptr_array_unref);
    g_clear_pointer(&query->named, g_hash_table_unref);
    g_free(query);
}

void api_commits_list(HttpRequest *request)
{
    static const char *const columns[] = {"sha",    "parents",     "time", "author",   "subject",
                                          "branch", "provisional", "runs", "position", NULL};
    static const char *const members[] = {
        "sha",    "parents",           "time",        "author", "subject",  "trailers",
        "branch", "on_default_branch", "provisional", "runs",   "position", "page",
        NULL};
    static const struct api_list_spec spec = {.gives_way = true,
                                              .plural = "commits",
                                              .n_cursor_fields = 2,
                                              .members = members,
                                              .columns = columns,
                                              .open = open_project,
                                              .collect = collect,
                                              .write_json = row_json,
                                              .write_csv = row_csv,
                                              .place = place,
                                              .free_user = free_query};
    struct commits_query *query = g_new0(struct commits_query, 1);
    g_autoptr(GError) error = NULL;
    if (api_filter_values(request, "branch", &query->branches, &error) &&
        api_filter_values(request, "sha", &query->shas, &error)) {
        api_list_serve(request, &spec, query);
    } else {
        http_respond_error(request, error, NULL);
        free_query(query);
    }
}

/* ---- The batch
 * -----------------------------------------------------------------------------------------------------
 */

struct commits_post {
    HttpRequest *request;
    GPtrArray *warnings; /* char *: of what was not taken */
    guint n_received;
};

static void post_done(const struct store_receipt *receipt, void *user)
{
    g_autofree struct commits_post *post = (struct commits_post *)user;
    g_autoptr(GPtrArray) warnings = post->warnings;
    if (api_body_refused(post->request, receipt))
        return;
    for (guint i = 0; receipt->warnings && i < receipt->warnings->len; i++)
        g_ptr_array_add(warnings, g_strdup((const char *)receipt->warnings->pdata[i]));
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_integer(&writer, "received", post->n_received);
    json_writer_integer(&writer, "new", receipt->n_commits);
    api_write_strings(&writer, "warnings", warnings);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    http_respond(post->request, 200, HTTP_JSON, body);
    http_request_finish(post->request);
}

static bool check_address(const HttpRequest *request, GError **error)
{
    const char *branch = http_request_query(request, "branch");
    g_autofree char *problem =
        branch ? text_name_problem(branch, strlen(branch), RUN_NAME_BYTES_MAX) : NULL;
    if (problem)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "branch: %s", problem);
    return !problem && api_project_check_name(request, error);
}

void api_commits_post(HttpRequest *request)
{
    if (http_request_replayed(request) || !api_body_check_json(request))
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) commits = NULL;
    const char *said = http_request_query(request, "branch");
    if (check_address(request, &error)) {
        size_t length;
        const char *bytes = http_request_body(request, &length);
        commits = run_parse_commits(bytes, length, faults, &error);
    }
    guint n_received = commits ? commits->len : 0;
    if (!commits || !api_access_take_commits(request, said, commits, warnings, &error)) {
        http_respond_error(request, error, faults);
        return;
    }
    struct commits_post *post = g_new0(struct commits_post, 1);
    post->request = request;
    post->warnings = g_steal_pointer(&warnings);
    post->n_received = n_received;
    char *project = g_strdup(http_request_segment(request, "project"));
    char *branch = g_strdup(said);
    http_request_defer(request);
    store_put_commits(context_of(request)->store, project, branch, g_steal_pointer(&commits),
                      post_done, post);
}
