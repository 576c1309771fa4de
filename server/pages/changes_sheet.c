/* SPDX-License-Identifier: Apache-2.0
 * The changes page in its other forms: a row a change, in the page's order. The request's thread.
 */
#include "server/pages/changes_view.h"

#include "server/pages/link.h"
#include "server/pages/series_parts.h"

static const struct sheet_column columns[] = {
    {"id", "Change", false},       {"group", NULL, false},
    SERIES_PARTS_COLUMNS,          {"direction", "Moved", false},
    {"effect", "Effect", true},    {"low", NULL, true},
    {"high", NULL, true},          {"before", "Before", true},
    {"after", "After", true},      {"first_bad", "First bad", false},
    {"subject", "Subject", false}, {"author", NULL, false},
    {"last_good", NULL, false},    {"kind", NULL, false},
    {"status", "Status", false},   {"triage", "Triage", false},
    {"who", "Owner", false},       {"note", "Note", false},
    {"found", NULL, false},        {0}};

/* `group`: an id, 0: it is not told. */
static void write_change(Sheet *sheet, StoreSnapshot *snapshot, const struct store_project *project,
                         const struct store_change *change, int64_t group)
{
    const struct store_series *series = store_series_by_id(snapshot, change->series_id);
    const struct store_commit *bad = store_commit_by_id(snapshot, change->bad_commit_id);
    const struct store_commit *good = store_commit_by_id(snapshot, change->good_commit_id);
    g_autofree char *url = link_change(project->name, change->id);
    g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)change->id);
    int direction = change_direction(series, change);
    sheet_link(sheet, id, url);
    sheet_id(sheet, group);
    series_parts_cells(sheet, series);
    sheet_text(sheet, direction < 0 ? "worse" : direction > 0 ? "better" : NULL);
    sheet_ratio(sheet, change->effect);
    sheet_ratio(sheet, change->low);
    sheet_ratio(sheet, change->high);
    sheet_number(sheet, change->before, series->unit);
    sheet_number(sheet, change->after, series->unit);
    sheet_commit(sheet, bad);
    sheet_text(sheet, bad ? bad->subject : NULL);
    sheet_text(sheet, bad ? bad->author : NULL);
    sheet_commit(sheet, good);
    sheet_text(sheet, store_change_kind_name(change->kind));
    sheet_text(sheet, store_change_status_name(change->status));
    sheet_text(sheet, store_triage_name(change->triage));
    sheet_text(sheet, change->who);
    sheet_text(sheet, change->note);
    sheet_time_ms(sheet, change->found_ms);
}

static void write_groups(Sheet *sheet, const struct inbox *inbox, const GPtrArray *groups)
{
    for (guint i = 0; i < groups->len; i++) {
        const struct change_group *group = (const struct change_group *)groups->pdata[i];
        for (guint k = 0; k < group->changes->len; k++)
            write_change(sheet, inbox->snapshot, inbox->project,
                         (const struct store_change *)group->changes->pdata[k], group->id);
    }
}

void changes_sheet_one(Sheet *sheet, StoreSnapshot *snapshot, const struct store_project *project,
                       const struct store_change *change)
{
    sheet_table(sheet, "changes", NULL, columns, 0);
    write_change(sheet, snapshot, project, change, 0);
    sheet_table_end(sheet);
}

Sheet *changes_sheet_new(const struct inbox *inbox, enum sheet_form form)
{
    g_autofree char *title = g_strdup_printf("Changes · %s", inbox->project->name);
    Sheet *sheet = sheet_new(inbox->request, form, title);
    sheet_fact_integer(sheet, "groups", "Groups", inbox->groups->len);
    sheet_fact_integer(sheet, "judged", "Series judged", inbox->note.n_judged);
    sheet_table(sheet, "changes", NULL, columns, SHEET_ROWS);
    write_groups(sheet, inbox, inbox->groups);
    write_groups(sheet, inbox, inbox->candidate_groups);
    sheet_table_end(sheet);
    return sheet;
}
