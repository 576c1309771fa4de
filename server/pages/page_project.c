/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}: what was found lately, its benchmarks with where they stand, the commits that were
 * measured. ?q= finds, ?machine= chooses, ?open= unfolds a benchmark. A worker thread. */
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/pages/project_view.h"
#include "server/pages/share.h"
#include "server/pages/trend_data.h"
#include "server/routes.h"

#include <math.h>
#include <string.h>

static void write_empty(Html *html, const HttpRequest *request, const struct store_project *project)
{
    g_autofree char *origin = http_request_origin(request);
    g_autofree char *quoted = link_shell_word(project->name);
    g_autofree char *command =
        g_strdup_printf("breakeven-runner run --quick --project %s --server %s", quoted, origin);
    html_literal(html, "<section class=\"card notice\"><h2>No run of this project yet</h2><p>In "
                       "its repository, type</p>");
    layout_command(html, command);
    html_literal(html, "</section>");
}

#define MACHINES_MAX 8u /* that are named */

/* Where it is measured. */
static void write_machines(Html *html, const struct store_project *project)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < project->series->len; i++) {
        const struct store_machine *machine =
            ((const struct store_series *)project->series->pdata[i])->machine;
        if (!g_hash_table_add(seen, (gpointer)(gsize)machine) ||
            g_hash_table_size(seen) > MACHINES_MAX)
            continue;
        html_print(html, "%s", g_hash_table_size(seen) == 1 ? " · on " : ", ");
        layout_machine(html, machine);
    }
    if (g_hash_table_size(seen) > MACHINES_MAX)
        html_print(html, " and %u more", g_hash_table_size(seen) - MACHINES_MAX);
}

static void write_heading(Html *html, const struct project_view *view)
{
    const struct store_project *project = view->project;
    char runs[QUANTITY_TEXT_BYTES], series[QUANTITY_TEXT_BYTES];
    quantity_count(project->runs->len, runs);
    quantity_count(project->series->len, series);
    html_literal(html, "<div class=\"heading\"><h1>");
    html_text(html, project->name);
    html_print(html, "</h1><p class=\"muted\">%s %s · %s series · default branch %s", runs,
               project->runs->len == 1 ? "run" : "runs", series, project->default_branch);
    write_machines(html, project);
    html_literal(html, "</p>");
    project_pulse_write(html, view->pulse);
    html_literal(html, "</div>");
}

static void write_share(Html *html, const struct project_view *view)
{
    g_autofree char *page = link_project(view->project->name);
    g_autofree char *badge = share_badge_path(view->project->name, NULL);
    const struct share share = {.name = view->project->name, .page = page, .badge = badge};
    share_write(html, view->request, &share);
}

static bool write_parts(Html *html, struct project_view *view, GError **error)
{
    JudgedNote note;
    if (view->project->runs->len == 0) {
        write_empty(html, view->request, view->project);
        return true;
    }
    if (!judged_note_read(view->snapshot, view->project->series, &note, error))
        return false;
    g_autoptr(RecentRuns) recent = recent_runs_new(
        view->project, trend_branch_of(view->project, NULL), G_MAXUINT, RECENT_COMMITS);
    view->note = &note;
    view->recent = recent;
    if (!project_changes_write(html, view, error) || !project_renames_write(html, view, error) ||
        !project_table_write(html, view, error))
        return false;
    project_commits_write(html, view);
    write_share(html, view);
    return true;
}

/* What the address asks for; an empty value asks for nothing. */
static struct project_view view_of(HttpRequest *request, StoreSnapshot *snapshot,
                                   const struct store_project *project)
{
    struct project_view view = {.request = request, .snapshot = snapshot, .project = project};
    const char *machine = http_request_query(request, "machine");
    const char *words = http_request_query(request, "q");
    view.machine = machine && *machine ? store_machine_find(snapshot, machine) : NULL;
    view.unknown_machine = machine && *machine && !view.machine ? machine : NULL;
    view.words = words && words[strspn(words, " ")] ? words : NULL;
    return view;
}

static Html *render(HttpRequest *request, StoreSnapshot *snapshot,
                    const struct store_project *project, GError **error)
{
    struct project_view view = view_of(request, snapshot, project);
    g_autoptr(ProjectPulse) pulse = project_pulse_read(snapshot, project, error);
    if (!pulse)
        return NULL;
    view.pulse = pulse;
    g_autoptr(Html) html = html_new();
    const struct layout_crumb crumbs[] = {{project->name, NULL}};
    const struct layout layout = {.title = project->name,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .project = project->name,
                                  .room = "",
                                  .version = context_of(request)->version,
                                  .is_wide = true,
                                  .request = request};
    layout_begin(html, &layout);
    write_heading(html, &view);
    if (!write_parts(html, &view, error))
        return NULL;
    layout_end(html, &layout);
    return g_steal_pointer(&html);
}

static Sheet *render_sheet(HttpRequest *request, StoreSnapshot *snapshot,
                           const struct store_project *project, enum sheet_form form,
                           GError **error)
{
    struct project_view view = view_of(request, snapshot, project);
    g_autoptr(ProjectPulse) pulse = project_pulse_read(snapshot, project, error);
    JudgedNote note;
    if (!pulse || !judged_note_read(snapshot, project->series, &note, error))
        return NULL;
    g_autoptr(RecentRuns) recent =
        recent_runs_new(project, trend_branch_of(project, NULL), G_MAXUINT, RECENT_COMMITS);
    view.pulse = pulse;
    view.note = &note;
    view.recent = recent;
    g_autoptr(Sheet) sheet = sheet_new(request, form, project->name);
    sheet_csv_default(sheet, "benchmarks");
    sheet_fact(sheet, "project", NULL, form == SHEET_JSON ? project->name : NULL);
    sheet_fact(sheet, "default_branch", "Default branch", project->default_branch);
    sheet_fact_integer(sheet, "runs", "Runs", project->runs->len);
    sheet_fact_integer(sheet, "series", "Series", project->series->len);
    sheet_fact_ratio(sheet, "mean", "Mean of all levels, up is better",
                     pulse->n_values > 0 ? pulse->values[pulse->n_values - 1] - 1 : (double)NAN);
    sheet_fact_integer(sheet, "mean_commits", "Over so many commits", pulse->n_commits);
    sheet_fact_integer(sheet, "judged", "Series judged", note.n_judged);
    if (!project_changes_sheet(sheet, &view, error) || !project_table_sheet(sheet, &view, error))
        return NULL;
    return g_steal_pointer(&sheet);
}

void page_project(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    enum sheet_form form =
        project ? sheet_form_of(request, page_project_is_whole(request, snapshot)) : SHEET_HTML;
    if (!project || http_not_modified(request, store_version(snapshot, project), sheet_type(form)))
        return;
    g_autoptr(GError) error = NULL;
    Html *html = form == SHEET_HTML ? render(request, snapshot, project, &error) : NULL;
    Sheet *sheet =
        form == SHEET_HTML ? NULL : render_sheet(request, snapshot, project, form, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    sheet_respond(request, html, sheet, error);
}
