/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}/changes/{change}: one change, what it rests on, what people said of it and when. A
 * worker thread. */
#include "server/pages/change_card.h"
#include "server/pages/changes_view.h"
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/pages/series_parts.h"
#include "server/pages/triage_form.h"
#include "server/routes.h"

#include "schema/timestamp.h"

struct view {
    const struct store_project *project;
    const struct store_series *series;
    const struct store_commit *good, *bad; /* good may be NULL */
    struct store_change *change;
    GPtrArray *log;
};

static void fact(Html *html, const char *name)
{
    html_print(html, "</dd></div><div><dt>%s</dt><dd>", name);
}

static void write_place(Html *html, const struct view *view)
{
    layout_commit(html, view->bad);
    html_literal(html, " ");
    layout_subject(html, view->bad);
    if (!view->good)
        return;
    g_autofree char *compare = link_compare(view->project->name, view->good->sha, view->bad->sha);
    html_literal(html, " · <a");
    html_url(html, "href", compare);
    html_literal(html, ">compare with ");
    html_print(html, "%.8s</a>", view->good->sha);
}

static void write_told(Html *html, const struct store_change *change)
{
    if (change->told_ms > 0)
        layout_time_ms(html, change->told_ms);
    else if (change->in_advance)
        html_literal(html, "never: its commit expects it");
    else if (change->never_news)
        html_literal(html, "never: it was found while muted, or by a rule that came later");
    else
        html_literal(html, "not told");
}

static void write_facts(Html *html, const struct view *view)
{
    const struct store_change *change = view->change;
    g_autofree char *trend = series_parts_url(view->series);
    html_literal(html, "<section class=\"card\"><dl class=\"facts\"><div><dt>Series</dt><dd><a");
    html_url(html, "href", trend);
    html_print(html, ">%s %s</a>", view->series->benchmark->name, view->series->metric);
    html_literal(html, "<span class=\"sub params\">");
    series_parts_params(html, view->series, true);
    html_literal(html, "</span>");
    fact(html, "Effect, 95 %");
    series_parts_effect(html, change->effect, change->low, change->high);
    fact(html, "Before → after");
    series_parts_move(html, view->series, change->before, change->after);
    fact(html, "Commits behind them");
    html_print(html, "%u, %u", change->n_before, change->n_after);
    fact(html, "Status");
    change_card_status(html, view->series, change);
    fact(html, "Triage");
    change_card_triage(html, change);
    fact(html, "Found");
    layout_time_ms(html, change->found_ms);
    fact(html, "Told");
    write_told(html, change);
    html_literal(html, "</dd></div><div class=\"whole\"><dt>First bad commit</dt><dd>");
    write_place(html, view);
    html_literal(html, "</dd></div></dl></section>");
}

/* Leads to the form of a rule for just this series. */
static void write_rule(Html *html, const struct store_series *series)
{
    g_autoptr(GString) params = g_string_new(NULL);
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(series->params, i);
        g_string_append_printf(params, "%s%s=%s", i > 0 ? ", " : "", param->name, param->value);
    }
    const char *const fields[][2] = {{"bench", series->benchmark->name},
                                     {"params", params->str},
                                     {"machine", series->machine->name},
                                     {"metric", series->metric}};
    g_autofree char *path = link_rules(series->project->name);
    g_autoptr(GString) url = g_string_new(path);
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
        g_string_append_printf(url, "%c%s=", i == 0 ? '?' : '&', fields[i][0]);
        http_append_encoded(url, fields[i][1]);
    }
    g_string_append(url, "#form");
    html_literal(html, "<p class=\"more\">Too loud, or the other way round? <a");
    html_url(html, "href", url->str);
    html_literal(html, ">Try a rule for this series</a></p>");
}

static Html *render(HttpRequest *request, const struct view *view)
{
    g_autofree char *project_url = link_project(view->project->name);
    g_autofree char *changes_url = link_changes(view->project->name);
    g_autofree char *name = g_strdup_printf("Change %" G_GINT64_FORMAT, (gint64)view->change->id);
    g_autofree char *title = g_strdup_printf("%s · %s", name, view->project->name);
    g_autofree char *back = g_strdup_printf("/%" G_GINT64_FORMAT, (gint64)view->change->id);
    const struct layout_crumb crumbs[] = {
        {view->project->name, project_url}, {"Changes", changes_url}, {name, NULL}};
    const struct layout layout = {.title = title,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .request = request,
                                  .project = view->project->name,
                                  .version = context_of(request)->version};
    g_autoptr(GPtrArray) changes = g_ptr_array_new();
    g_ptr_array_add(changes, view->change);
    const struct triage_form form = {
        .project = view->project->name, .changes = changes, .id = view->change->id, .back = back};
    Html *html = html_new();
    layout_begin(html, &layout);
    html_print(html, "<div class=\"heading\"><h1>%s</h1></div>", name);
    write_facts(html, view);
    html_literal(html, "<section class=\"card\"><h2>Say what it is</h2>");
    triage_form_write(html, &form);
    write_rule(html, view->series);
    html_literal(html, "</section><section class=\"card\" id=\"history\">");
    triage_form_log(html, view->log);
    html_literal(html, "</section>");
    layout_end(html, &layout);
    return html;
}

static Sheet *render_sheet(HttpRequest *request, StoreSnapshot *snapshot, const struct view *view)
{
    static const struct sheet_column columns[] = {
        {"time", "When", false},     {"who", "Who", false},   {"status", "Status", false},
        {"triage", "Triage", false}, {"note", "Note", false}, {0}};
    const struct store_change *change = view->change;
    g_autofree char *title = g_strdup_printf("Change %" G_GINT64_FORMAT " · %s", (gint64)change->id,
                                             view->project->name);
    g_autofree char *told = change->told_ms > 0 ? timestamp_format_ms(change->told_ms) : NULL;
    Sheet *sheet = sheet_new(request, sheet_form_of(request, false), title);
    sheet_fact_integer(sheet, "commits_before", "Commits behind the value before",
                       change->n_before);
    sheet_fact_integer(sheet, "commits_after", "Commits behind the value after", change->n_after);
    sheet_fact(sheet, "told", "Told", told);
    changes_sheet_one(sheet, snapshot, view->project, change);
    sheet_table(sheet, "history", "History", columns, SHEET_ROWS);
    for (guint i = 0; i < view->log->len; i++) {
        const struct store_change_entry *entry =
            (const struct store_change_entry *)view->log->pdata[i];
        sheet_time_ms(sheet, entry->at_ms);
        sheet_text(sheet, entry->who);
        sheet_text(sheet, entry->status);
        sheet_text(sheet, entry->triage);
        sheet_text(sheet, entry->note);
    }
    sheet_table_end(sheet);
    return sheet;
}

/* False: there is no such change of the project, or the store cannot be read. */
static bool view_read(HttpRequest *request, StoreSnapshot *snapshot, struct view *view,
                      GError **error)
{
    const char *text = http_request_segment(request, "change");
    guint64 id = 0;
    if (g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT64, &id, NULL))
        view->change = store_change_by_id(snapshot, (int64_t)id, error);
    else
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "No change has the id “%s”.", text);
    if (!view->change)
        return false;
    view->series = store_series_by_id(snapshot, view->change->series_id);
    view->bad = store_commit_by_id(snapshot, view->change->bad_commit_id);
    view->good = store_commit_by_id(snapshot, view->change->good_commit_id);
    if (view->change->project_id != view->project->id || !view->series || !view->bad) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "Project “%s” has no change with the id “%s”.", view->project->name, text);
        return false;
    }
    view->log = store_change_log(snapshot, view->change->id, error);
    return view->log != NULL;
}

void page_change(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    g_autoptr(GError) error = NULL;
    struct view view = {.project = snapshot ? page_find_project(request, snapshot) : NULL};
    enum sheet_form form = sheet_form_of(request, false);
    if (!view.project ||
        http_not_modified(request, store_version(snapshot, view.project), sheet_type(form)))
        return;
    bool fine = view_read(request, snapshot, &view, &error);
    Html *html = fine && form == SHEET_HTML ? render(request, &view) : NULL;
    Sheet *sheet = fine && form != SHEET_HTML ? render_sheet(request, snapshot, &view) : NULL;
    g_clear_pointer(&view.log, g_ptr_array_unref);
    store_change_free(view.change);
    store_snapshot_end(g_steal_pointer(&snapshot));
    sheet_respond(request, html, sheet, error);
}
