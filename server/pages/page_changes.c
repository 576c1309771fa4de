/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}/changes: what moved and waits for somebody, worst first; ?show=all adds what was
 * dealt with and what was withdrawn, and changes_view.h says what else may be asked for. A worker
 * thread. */
#include "server/pages/change_card.h"
#include "server/pages/changes_view.h"
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/routes.h"

#include <string.h>

#define CHANGES_MAX    100000u /* of a project that are looked at */
#define GROUPS_ALL_MAX 500u

static void inbox_clear(struct inbox *inbox)
{
    g_clear_pointer(&inbox->groups, g_ptr_array_unref);
    g_clear_pointer(&inbox->candidate_groups, g_ptr_array_unref);
    g_clear_pointer(&inbox->shown, g_ptr_array_unref);
    g_clear_pointer(&inbox->candidates, g_ptr_array_unref);
    g_clear_pointer(&inbox->changes, g_ptr_array_unref);
    changes_filter_clear(&inbox->filter);
}

/* A candidate is shown apart, for it may yet go; what people have dealt with or muted waits for
 * nobody. */
static bool is_waiting(const struct inbox *inbox, const struct store_change *change)
{
    const struct store_series *series = store_series_by_id(inbox->snapshot, change->series_id);
    return series && !series->rule.muted && change->status != STORE_STATUS_WITHDRAWN &&
           (change->triage == STORE_TRIAGE_OPEN || change->triage == STORE_TRIAGE_ACKNOWLEDGED);
}

/* Puts a change where it is shown, or nowhere. */
static void sort_in(struct inbox *inbox, struct store_change *change)
{
    const struct store_series *series = store_series_by_id(inbox->snapshot, change->series_id);
    bool is_candidate =
        change->status == STORE_STATUS_CANDIDATE && change->triage == STORE_TRIAGE_OPEN;
    if (!series || !(inbox->filter.show_all || is_waiting(inbox, change)))
        return;
    if (!changes_filter_takes(&inbox->filter, series, change))
        inbox->n_filtered++;
    else
        g_ptr_array_add(is_candidate ? inbox->candidates : inbox->shown, change);
}

static bool inbox_read(struct inbox *inbox, GError **error)
{
    inbox->changes =
        store_project_changes(inbox->snapshot, inbox->project->id, 0, CHANGES_MAX, error);
    if (!inbox->changes ||
        !judged_note_read(inbox->snapshot, inbox->project->series, &inbox->note, error))
        return false;
    inbox->shown = g_ptr_array_new();
    inbox->candidates = g_ptr_array_new();
    for (guint i = 0; i < inbox->changes->len; i++)
        sort_in(inbox, (struct store_change *)inbox->changes->pdata[i]);
    inbox->groups = change_groups_build(inbox->snapshot, inbox->shown);
    inbox->candidate_groups = change_groups_build(inbox->snapshot, inbox->candidates);
    return true;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_links(Html *html, const struct inbox *inbox)
{
    g_autofree char *rules = link_rules(inbox->project->name);
    g_autofree char *changes = link_changes(inbox->project->name);
    g_autofree char *feed = g_strconcat(changes, ".atom", NULL);
    html_literal(html, " · <a");
    html_url(html, "href", rules);
    html_literal(html, ">rules</a> · <a type=\"application/atom+xml\"");
    html_url(html, "href", feed);
    html_literal(html, ">feed</a>");
}

static void write_heading(Html *html, const struct inbox *inbox)
{
    guint n_hidden =
        inbox->changes->len - inbox->candidates->len - inbox->shown->len - inbox->n_filtered;
    const GPtrArray *pairs = http_request_query_pairs(inbox->request);
    g_autofree char *all = link_query(pairs, "show", "all");
    g_autofree char *fewer = link_query(pairs, "show", NULL);
    g_autofree char *path = link_changes(inbox->project->name);
    g_autofree char *here = g_strconcat(path, fewer[1] ? fewer : "", NULL);
    html_literal(html, "<div class=\"heading\"><h1>Changes</h1><p class=\"muted\">");
    html_print(html, "%u %s in %u %s", inbox->shown->len,
               inbox->shown->len == 1 ? "change" : "changes", inbox->groups->len,
               inbox->groups->len == 1 ? "group" : "groups");
    if (inbox->filter.show_all || n_hidden > 0) {
        html_literal(html, " · <a");
        html_url(html, "href", inbox->filter.show_all ? here : all);
        if (inbox->filter.show_all)
            html_literal(html, ">show only what waits</a>");
        else
            html_print(html, ">show the %u dealt with or withdrawn, too</a>", n_hidden);
    }
    write_links(html, inbox);
    html_literal(html, "</p></div>");
    changes_filter_write(html, inbox);
    if (inbox->n_filtered > 0)
        html_print(html, "<p class=\"muted\">%u further %s not asked for.</p>", inbox->n_filtered,
                   inbox->n_filtered == 1 ? "change is" : "changes are");
}

static void write_help(Html *html, const struct inbox *inbox)
{
    g_autofree char *origin = http_request_origin(inbox->request);
    const struct change_group *group = (const struct change_group *)inbox->groups->pdata[0];
    const struct store_change *worst = (const struct store_change *)group->changes->pdata[0];
    g_autofree char *command = g_strdup_printf(
        "curl -X PATCH -H 'Content-Type: application/json' \\\n"
        "  -d '{\"triage\":\"acknowledged\",\"who\":\"your name\",\"note\":\"why\"}' \\\n"
        "  %s/api/changes/%" G_GINT64_FORMAT,
        origin, (gint64)worst->id);
    html_literal(html, "<details class=\"card fold\"><summary><h2>How a script says what a change "
                       "is</h2></summary><p>By its number in the last column; triage is one of "
                       "open, acknowledged, expected (the new level is right: it is kept as a "
                       "boundary), noise (it is removed and does not come back), infra, "
                       "fixed.</p>");
    layout_command(html, command);
    html_literal(html, "</details>");
}

static void write_nothing(Html *html, const struct inbox *inbox)
{
    html_literal(html, "<section class=\"card notice\"><h2>");
    html_text(html, inbox->note.n_judged == 0 ? "Nothing was judged yet"
                    : inbox->n_filtered > 0   ? "No change is as asked for"
                    : inbox->filter.show_all  ? "No change was found"
                                              : "No change waits");
    html_literal(html, "</h2>");
    judged_note_write(html, &inbox->note);
    html_literal(html, "</section>");
}

static void write_candidates(Html *html, const struct inbox *inbox)
{
    guint n = inbox->candidate_groups->len, n_shown = MIN(n, LAYOUT_PAGE_ROWS);
    if (n == 0)
        return;
    g_autofree char *back = link_query(http_request_query_pairs(inbox->request), "", NULL);
    html_print(html,
               "<details class=\"fold\" id=\"candidates\"><summary><h2>Not sure yet: %u %s</h2> "
               "<span class=\"muted\">seen, but too new to be told</span></summary>",
               inbox->candidates->len, inbox->candidates->len == 1 ? "candidate" : "candidates");
    for (guint i = 0; i < n_shown; i++)
        change_card_write(html, inbox->snapshot, inbox->project,
                          (const struct change_group *)inbox->candidate_groups->pdata[i], back);
    if (n > n_shown)
        html_print(html, "<p class=\"muted\">%u of %u groups are shown.</p>", n_shown, n);
    html_literal(html, "</details>");
}

static void write_body(Html *html, const struct inbox *inbox)
{
    struct layout_paging paging =
        layout_paging_of(inbox->request, "page", inbox->groups->len, GROUPS_ALL_MAX);
    g_autofree char *back = link_query(http_request_query_pairs(inbox->request), "", NULL);
    write_heading(html, inbox);
    if (inbox->groups->len == 0)
        write_nothing(html, inbox);
    for (guint i = paging.first; i < paging.end; i++)
        change_card_write(html, inbox->snapshot, inbox->project,
                          (const struct change_group *)inbox->groups->pdata[i], back);
    layout_pager(html, inbox->request, &paging, "Groups");
    write_candidates(html, inbox);
    if (inbox->groups->len > 0) {
        write_help(html, inbox);
        judged_note_write(html, &inbox->note);
    }
}

static Html *render(const struct inbox *inbox)
{
    g_autofree char *project_url = link_project(inbox->project->name);
    const struct layout_crumb crumbs[] = {{inbox->project->name, project_url}, {"Changes", NULL}};
    g_autofree char *title = g_strdup_printf("Changes · %s", inbox->project->name);
    const struct layout layout = {.title = title,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .project = inbox->project->name,
                                  .room = "/changes",
                                  .version = context_of(inbox->request)->version,
                                  .is_wide = true,
                                  .request = inbox->request};
    Html *html = html_new();
    layout_begin(html, &layout);
    write_body(html, inbox);
    layout_end(html, &layout);
    return html;
}

void page_changes(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    enum sheet_form form = sheet_form_of(request, false);
    if (!project || http_not_modified(request, store_version(snapshot, project), sheet_type(form)))
        return;
    g_autoptr(GError) error = NULL;
    struct inbox inbox = {.request = request, .snapshot = snapshot, .project = project};
    changes_filter_read(request, &inbox.filter);
    bool fine = inbox_read(&inbox, &error);
    Html *html = fine && form == SHEET_HTML ? render(&inbox) : NULL;
    Sheet *sheet = fine && form != SHEET_HTML ? changes_sheet_new(&inbox, form) : NULL;
    inbox_clear(&inbox);
    store_snapshot_end(g_steal_pointer(&snapshot));
    sheet_respond(request, html, sheet, error);
}
