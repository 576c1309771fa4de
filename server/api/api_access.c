/* SPDX-License-Identifier: Apache-2.0
 * See api_access.h. */
#include "server/api/api_access.h"

#include "server/context.h"
#include "server/routes.h"
#include "server/store/store_changes.h"
#include <string.h>

/* ---- Of one project ---- */

static const struct store_project *project_of_change(StoreSnapshot *snapshot, int64_t id)
{
    struct store_change *change = store_change_by_id(snapshot, id, NULL);
    const struct store_project *found = NULL;
    const GPtrArray *projects = store_projects(snapshot);
    for (guint i = 0; change && !found && i < projects->len; i++) {
        const struct store_project *project = projects->pdata[i];
        found = project->id == change->project_id ? project : NULL;
    }
    store_change_free(change);
    return found;
}

static const struct store_project *project_of_id(const HttpRequest *request,
                                                 StoreSnapshot *snapshot)
{
    const char *id = http_request_segment(request, "id");
    const char *series = http_request_segment(request, "series");
    const char *change = http_request_segment(request, "change");
    if (*id) {
        const struct store_run *run = store_run_find(snapshot, id);
        return run ? run->project : NULL;
    }
    if (*series) {
        const struct store_series *line =
            store_series_by_id(snapshot, g_ascii_strtoll(series, NULL, 10));
        return line ? line->project : NULL;
    }
    return project_of_change(snapshot, g_ascii_strtoll(change, NULL, 10));
}

static bool is_by_id(const HttpRequest *request)
{
    static const char *const names[] = {"id", "series", "change"};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
        if (*http_request_segment(request, names[i]))
            return true;
    return false;
}

/* What is addressed by an id that nothing has is for the handler to say. The log of writes is told
 * whose it is. */
static bool id_fits(HttpRequest *request, const Principal *principal, bool *out_fits)
{
    StoreSnapshot *snapshot = context_snapshot(request);
    if (!snapshot)
        return false;
    const struct store_project *project = project_of_id(request, snapshot);
    *out_fits = !project || principal_has_project(principal, project->name);
    if (project && *out_fits)
        http_request_note(request, project->name, NULL);
    store_snapshot_end(snapshot);
    return true;
}

/* Those who are bound to no project, or to none here. */
static bool let_in(HttpRequest *request)
{
    bool fits;
    return http_request_route(request)->access <= HTTP_READ || !is_by_id(request) ||
           id_fits(request, NULL, &fits);
}

/* /p/NAME.json is also the page of a project that is called so (pages/page_names.h). */
static bool whole_name_fits(const HttpRequest *request, const Principal *principal)
{
    static const char page[] = "/p/{project}";
    const char *pattern = http_request_pattern(request);
    if (!g_str_has_prefix(pattern, page) || pattern[sizeof page - 1] != '.')
        return false;
    g_autofree char *whole =
        g_strconcat(http_request_segment(request, "project"), pattern + sizeof page - 1, NULL);
    return principal_has_project(principal, whole);
}

/* Pages take any query, and the most of them look at no project in it. */
static bool is_by_query(const HttpRequest *request)
{
    const char *query = http_request_route(request)->query;
    g_auto(GStrv) names = g_strsplit(query ? query : "", " ", -1);
    return g_strv_contains((const char *const *)names, "project") ||
           g_strv_contains((const char *const *)names, "project+");
}

/* -1: the query names no project by which the route would hold itself. */
static int query_fits(const HttpRequest *request, const Principal *principal)
{
    const GPtrArray *pairs = http_request_query_pairs(request);
    int fits = -1;
    if (!is_by_query(request))
        return fits;
    for (guint i = 0; i < pairs->len; i++) {
        const struct http_pair *pair = pairs->pdata[i];
        if (strcmp(pair->name, "project") == 0)
            fits = fits != 0 && principal_has_project(principal, pair->value);
    }
    return fits;
}

/* Those that hold the project themselves: it is in the body, or they show only what is its. */
static bool checks_itself(const HttpRequest *request)
{
    static const http_handler handlers[] = {
        api_runs_post,     api_import_post,  api_codespeed_add_json,
        api_codespeed_add, api_lnt_submit,   api_tokens_list,
        api_tokens_post,   api_token_delete, api_audit_list,
        page_home,         page_tokens,      page_tokens_post,
        page_audit,        page_token_revoke};
    http_handler handler = http_request_route(request)->handler;
    for (gsize i = 0; i < G_N_ELEMENTS(handlers); i++)
        if (handlers[i] == handler)
            return true;
    return false;
}

static bool refuse(HttpRequest *request, const Principal *principal)
{
    http_respond_status(request, 403,
                        "this token is of project \"%s\" only, and this is not, or not only, of "
                        "it; lists take ?project=",
                        principal->project);
    return false;
}

bool api_access_authorize(HttpRequest *request)
{
    const Principal *principal = http_request_principal(request);
    enum http_access access = http_request_route(request)->access;
    const char *project = http_request_segment(request, "project");
    bool fits = false;
    if (!principal || !principal->project || access == HTTP_OPEN ||
        (access == HTTP_READ && http_request_reads_open(request)))
        return let_in(request);
    if (*project)
        return principal_has_project(principal, project) || whole_name_fits(request, principal) ||
               refuse(request, principal);
    int by_query = query_fits(request, principal);
    if (by_query >= 0)
        return by_query || refuse(request, principal);
    if (checks_itself(request))
        return true;
    if (is_by_id(request) && !id_fits(request, principal, &fits))
        return false;
    return fits || refuse(request, principal);
}

const char *api_access_list_project(const HttpRequest *request)
{
    const Principal *principal = http_request_principal(request);
    return principal && principal->project ? principal->project
                                           : http_request_query(request, "project");
}

bool api_access_list_open(struct api_list *list, int64_t *out_version, GError **error)
{
    const char *project = http_request_query(list->request, "project");
    *out_version = 0;
    if (!project || *project)
        return true;
    g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "project: is empty; a project's name would be right");
    return false;
}

/* ---- Bound to branches and machines ---- */

static bool forbid(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool forbid(GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_FORBIDDEN, message);
    return false;
}

bool api_access_check_branch(const HttpRequest *request, const char *branch, GError **error)
{
    const Principal *principal = http_request_principal(request);
    if (principal_has_branch(principal, branch))
        return true;
    g_autofree char *own = g_strjoinv(", ", principal->branches);
    return branch
               ? forbid(error, "this token writes as branch %s only, not as \"%s\"", own, branch)
               : forbid(error, "this token writes as branch %s only, and no branch is named", own);
}

static const char *default_branch(StoreSnapshot *snapshot, const char *project)
{
    const struct store_project *known = store_project_find(snapshot, project);
    return known ? known->default_branch : "main";
}

/* Whether a commit is another branch's than the one that is spoken for: of the default branch's
 * line, or first told under another name. */
static bool is_of_others(const struct store_commit *commit, const char *branch)
{
    return commit->line == STORE_LINE_ON || (commit->branch && strcmp(commit->branch, branch) != 0);
}

static bool has_facts(const struct run_commit *told)
{
    return told->parents || told->has_time || told->author || told->subject;
}

struct taking {
    const struct store_project *project; /* or NULL: nothing is known of it */
    const char *branch;
    guint n_trailers, n_facts;
};

static const struct store_commit *known_commit(const struct taking *taking, const char *sha)
{
    return taking->project ? store_commit_find(taking->project, sha, NULL) : NULL;
}

static void drop_trailers(struct taking *taking, struct run_commit *told)
{
    taking->n_trailers += told->trailers_json != NULL;
    g_clear_pointer(&told->trailers_json, g_free);
}

/* Leaves of a list what the branch's own commits are. */
static void take_history(struct taking *taking, GPtrArray *history)
{
    for (guint i = history->len; i-- > 0;) {
        struct run_commit *told = history->pdata[i];
        const struct store_commit *known = known_commit(taking, told->sha);
        drop_trailers(taking, told);
        told->is_bound = true;
        if (!known || !is_of_others(known, taking->branch))
            continue;
        taking->n_facts += has_facts(told);
        g_ptr_array_remove_index(history, i);
    }
}

static void warn(const struct taking *taking, GPtrArray *warnings)
{
    if (taking->n_trailers > 0)
        g_ptr_array_add(
            warnings, g_strdup_printf("trailers of %u commits were not taken: this token is bound "
                                      "to branch \"%s\"; what a commit expects of itself counts "
                                      "when the default branch's job tells of it",
                                      taking->n_trailers, taking->branch));
    if (taking->n_facts > 0)
        g_ptr_array_add(
            warnings, g_strdup_printf("facts of %u commits in history were not taken: they are of "
                                      "other branches than \"%s\", to which this token is bound",
                                      taking->n_facts, taking->branch));
}

static bool take_bound(StoreSnapshot *snapshot, Run *run, GPtrArray *warnings, GError **error)
{
    struct taking taking = {store_project_find(snapshot, run->project), run->branch, 0, 0};
    const struct store_commit *known = known_commit(&taking, run->commit.sha);
    if (strcmp(run->branch, default_branch(snapshot, run->project)) == 0)
        return true;
    if (known && is_of_others(known, run->branch))
        return forbid(error, "commit %.12s is of branch %s, and this token writes as \"%s\" only",
                      known->sha, known->branch ? known->branch : taking.project->default_branch,
                      run->branch);
    drop_trailers(&taking, &run->commit);
    run->commit.is_bound = true;
    take_history(&taking, run->history);
    warn(&taking, warnings);
    return true;
}

bool api_access_check_names(const HttpRequest *request, const char *project, const char *machine,
                            const char *branch, GError **error)
{
    const Principal *principal = http_request_principal(request);
    if (!principal_has_project(principal, project))
        return forbid(error, "this token is of project \"%s\" only, not of \"%s\"",
                      principal->project, project);
    if (!principal_has_machine(principal, machine)) {
        g_autofree char *own = g_strjoinv(", ", principal->machines);
        return forbid(error, "this token writes for machine %s only, not for \"%s\"", own, machine);
    }
    return api_access_check_branch(request, branch, error);
}

bool api_access_take_run(HttpRequest *request, StoreSnapshot *snapshot, Run *run,
                         GPtrArray *warnings, GError **error)
{
    const Principal *principal = http_request_principal(request);
    g_autofree char *detail = g_strdup_printf("run %s", run->id);
    http_request_note(request, run->project, detail);
    if (!api_access_check_names(request, run->project, run->machine, run->branch, error))
        return false;
    if (!principal || !principal->branches)
        return true;
    g_autoptr(StoreSnapshot) own =
        snapshot ? NULL : store_snapshot_begin((StoreReader *)http_request_thread(request), error);
    return (snapshot || own) && take_bound(snapshot ? snapshot : own, run, warnings, error);
}

bool api_access_take_commits(HttpRequest *request, const char *branch, GPtrArray *commits,
                             GPtrArray *warnings, GError **error)
{
    const Principal *principal = http_request_principal(request);
    const char *project = http_request_segment(request, "project");
    if (!api_access_check_branch(request, branch, error))
        return false;
    if (!principal || !principal->branches)
        return true;
    g_autoptr(StoreSnapshot) snapshot =
        store_snapshot_begin((StoreReader *)http_request_thread(request), error);
    if (!snapshot)
        return false;
    if (strcmp(branch, default_branch(snapshot, project)) == 0)
        return true;
    struct taking taking = {store_project_find(snapshot, project), branch, 0, 0};
    take_history(&taking, commits);
    warn(&taking, warnings);
    return true;
}
