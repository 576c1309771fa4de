/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}/c/{sha}: what was measured at a commit. A short sha that names one commit leads to
 * the full address. A worker thread. */
#include "server/pages/commit_verdict.h"
#include "server/pages/commit_view.h"
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/pages/trend_data.h"
#include "server/routes.h"

#include <string.h>

/* All errors of the runs in one list; the lists they came in stay alive in `owners`. */
static GPtrArray *read_errors(StoreSnapshot *snapshot, const GPtrArray *runs, GPtrArray *owners,
                              GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    for (guint i = 0; i < runs->len; i++) {
        const struct store_run *run = (const struct store_run *)g_ptr_array_index(runs, i);
        if (run->n_errors == 0)
            continue;
        GPtrArray *errors = store_run_errors(snapshot, run->seq, error);
        if (!errors)
            return NULL;
        g_ptr_array_add(owners, errors);
        for (guint k = 0; k < errors->len; k++)
            g_ptr_array_add(all, g_ptr_array_index(errors, k));
    }
    return g_steal_pointer(&all);
}

static bool write_page(const HttpRequest *request, Html *html, const struct commit_view *view,
                       GError **error)
{
    const struct store_commit *commit = view->commit;
    g_autofree char *project_url = link_project(commit->project->name);
    g_autofree char *short_sha = g_strndup(commit->sha, 8);
    const struct layout_crumb crumbs[] = {{commit->project->name, project_url}, {short_sha, NULL}};
    g_autofree char *title = g_strdup_printf("%s · %s", short_sha, commit->project->name);
    const struct layout layout = {.title = title,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .project = commit->project->name,
                                  .version = context_of(request)->version,
                                  .request = request};
    layout_begin(html, &layout);
    commit_facts_write(html, view);
    commit_annotations_write(html, view);
    commit_verdict_write(html, view);
    if (!commit_moved_write(html, view, error) || !commit_environment_write(html, view, error))
        return false;
    commit_missing_write(html, view);
    commit_runs_write(html, view);
    commit_table_write(html, view);
    commit_errors_write(html, view);
    layout_end(html, &layout);
    return true;
}

struct rendered {
    Html *html;
    Sheet *sheet;
};

static bool render_view(const struct commit_view *view, enum sheet_form form, struct rendered *out,
                        GError **error)
{
    if (form != SHEET_HTML) {
        out->sheet = commit_sheet_new(view, form);
        return true;
    }
    g_autoptr(Html) html = html_new();
    if (!write_page(view->request, html, view, error))
        return false;
    out->html = g_steal_pointer(&html);
    return true;
}

/* One of both, or neither with the error. */
static bool render(HttpRequest *request, StoreSnapshot *snapshot, const struct store_commit *commit,
                   struct rendered *out, GError **error)
{
    g_autoptr(CommitResults) results = commit_results_new(snapshot, commit, error);
    g_autoptr(GPtrArray) owners = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    g_autoptr(GPtrArray) errors =
        results ? read_errors(snapshot, results->runs, owners, error) : NULL;
    g_autoptr(GPtrArray) verdicts =
        errors ? commit_verdicts_read(snapshot, results->runs, error) : NULL;
    if (!verdicts)
        return false;
    g_autoptr(RecentRuns) recent =
        recent_runs_new(commit->project, trend_branch_of(commit->project, NULL),
                        commit->position + COMMIT_AFTER, RECENT_COMMITS);
    const struct commit_view view = {request, snapshot, commit, results, errors, verdicts, recent};
    return render_view(&view, sheet_form_of(request, false), out, error);
}

/* NULL: the request has been answered, by an error or by the way to the full address. */
static const struct store_commit *find_commit(HttpRequest *request,
                                              const struct store_project *project)
{
    const char *sha = http_request_segment(request, "sha");
    g_autoptr(GError) error = NULL;
    const struct store_commit *commit = store_commit_find(project, sha, &error);
    if (!commit) {
        http_respond_error(request, error, NULL);
        return NULL;
    }
    if (strcmp(commit->sha, sha) == 0 || sheet_form_of(request, false) != SHEET_HTML)
        return commit;
    g_autofree char *path = link_commit(project->name, commit->sha);
    http_response_header(request, "Location", path);
    http_respond_empty(request, 302);
    return NULL;
}

void page_commit(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    const struct store_commit *commit = project ? find_commit(request, project) : NULL;
    if (!commit || http_not_modified(request, store_version(snapshot, project),
                                     sheet_type(sheet_form_of(request, false))))
        return;
    g_autoptr(GError) error = NULL;
    struct rendered rendered = {0};
    render(request, snapshot, commit, &rendered, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    sheet_respond(request, rendered.html, rendered.sheet, error);
}
