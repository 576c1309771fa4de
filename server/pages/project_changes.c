/* SPDX-License-Identifier: Apache-2.0
 * The last changes of the project page. The request's thread. */
#include "server/pages/project_view.h"

#include "server/pages/change_card.h"
#include "server/pages/link.h"
#include "server/work/change_groups.h"

#define CHANGES_MAX 2000u /* the last found that are looked at */
#define GROUPS_MAX  6u
#define NAMES_MAX   3u

void project_count_add(struct project_count *count, int direction)
{
    count->n_worse += direction < 0 ? 1 : 0;
    count->n_better += direction > 0 ? 1 : 0;
    count->n_other += direction == 0 ? 1 : 0;
}

void project_count_write(Html *html, const struct project_count *count)
{
    if (count && count->n_worse > 0)
        html_print(html, "<span class=\"tag worse\">▼ %u worse</span> ", count->n_worse);
    if (count && count->n_better > 0)
        html_print(html, "<span class=\"tag better\">▲ %u better</span> ", count->n_better);
    if (count && count->n_other > 0)
        html_print(html, "<span class=\"tag\">%u moved</span>", count->n_other);
}

/* ---- What is shown --------------------------------------------------------------------------- */

static bool is_shown(StoreSnapshot *snapshot, const struct store_change *change)
{
    const struct store_series *series = store_series_by_id(snapshot, change->series_id);
    bool is_held =
        change->status == STORE_STATUS_CONFIRMED || change->status == STORE_STATUS_REVERTED;
    return is_held && series && !series->rule.muted &&
           (change->triage == STORE_TRIAGE_OPEN || change->triage == STORE_TRIAGE_ACKNOWLEDGED);
}

static int compare_newest(gconstpointer a, gconstpointer b)
{
    const struct change_group *left = *(const struct change_group *const *)a;
    const struct change_group *right = *(const struct change_group *const *)b;
    if (left->last != right->last)
        return left->last > right->last ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

static GPtrArray *read_groups(const struct project_view *view, const GPtrArray *changes)
{
    g_autoptr(GPtrArray) shown = g_ptr_array_new();
    for (guint i = 0; i < changes->len; i++) {
        if (is_shown(view->snapshot, (const struct store_change *)changes->pdata[i]))
            g_ptr_array_add(shown, changes->pdata[i]);
    }
    GPtrArray *groups = change_groups_build(view->snapshot, shown);
    g_ptr_array_sort(groups, compare_newest);
    return groups;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* "JsonParse, CsvRead and 4 more benchmarks". */
static void write_names(Html *html, const struct project_view *view,
                        const struct change_group *group)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < group->changes->len; i++) {
        const struct store_change *change = (const struct store_change *)group->changes->pdata[i];
        const struct store_series *series = store_series_by_id(view->snapshot, change->series_id);
        if (!series || !g_hash_table_add(seen, series->benchmark))
            continue;
        guint n = g_hash_table_size(seen);
        if (n > NAMES_MAX)
            continue;
        g_autofree char *url = link_bench(view->project->name, series->benchmark->name);
        html_print(html, "%s<a", n > 1 ? ", " : "");
        html_url(html, "href", url);
        html_print(html, ">%s</a>", series->benchmark->name);
    }
    guint n = g_hash_table_size(seen);
    if (n > NAMES_MAX)
        html_print(html, " and %u more", n - NAMES_MAX);
    html_print(html, "<span class=\"sub\">%u series</span>", group->changes->len);
}

static void write_effect(Html *html, const struct change_group *group)
{
    char effect[QUANTITY_TEXT_BYTES];
    const char *word = change_card_word(group->direction);
    quantity_ratio(group->worst_effect, effect);
    html_literal(html, "<tr><th scope=\"row\"><span class=\"tag");
    if (group->direction != 0)
        html_print(html, " %s", group->direction < 0 ? "worse" : "better");
    html_print(html, "\">%s %s</span></th>", word, effect);
}

static const struct store_commit *first_bad(const struct project_view *view,
                                            const struct change_group *group)
{
    const GPtrArray *commits = view->project->commits;
    return group->bad < commits->len ? (const struct store_commit *)commits->pdata[group->bad]
                                     : NULL;
}

static void write_group(Html *html, const struct project_view *view,
                        const struct change_group *group)
{
    const struct store_commit *bad = first_bad(view, group);
    g_autofree char *changes = link_changes(view->project->name);
    g_autofree char *url =
        g_strdup_printf("%s#group-%" G_GINT64_FORMAT, changes, (gint64)group->id);
    write_effect(html, group);
    html_literal(html, "<td>");
    write_names(html, view, group);
    html_literal(html, "</td><td class=\"subject\">");
    if (bad) {
        layout_commit(html, bad);
        html_literal(html, " ");
        layout_subject(html, bad);
        html_literal(html, "<span class=\"sub\">");
        if (group->is_boundary)
            html_literal(html, "the machine’s environment changed here · ");
        layout_time_s(html, bad->time_s);
        html_literal(html, "</span>");
    }
    html_literal(html, "</td><td><a");
    html_url(html, "href", url);
    html_literal(html, ">details</a></td></tr>");
}

static void write_groups(Html *html, const struct project_view *view, const GPtrArray *groups)
{
    guint n_shown = MIN(groups->len, GROUPS_MAX);
    html_literal(html,
                 "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Last "
                 "changes\"><table class=\"stack\"><thead><tr><th scope=\"col\">Effect</th><th "
                 "scope=\"col\">Where</th><th scope=\"col\">Since commit</th><th "
                 "scope=\"col\">Details</th></tr></thead><tbody>");
    for (guint i = 0; i < n_shown; i++)
        write_group(html, view, (const struct change_group *)groups->pdata[i]);
    html_literal(html, "</tbody></table></div>");
    if (groups->len > n_shown) {
        g_autofree char *url = link_changes(view->project->name);
        html_literal(html, "<p class=\"more\"><a");
        html_url(html, "href", url);
        html_print(html, ">%u older ones wait, too</a></p>", groups->len - n_shown);
    }
}

bool project_changes_write(Html *html, const struct project_view *view, GError **error)
{
    g_autoptr(GPtrArray) changes =
        store_project_changes(view->snapshot, view->project->id, 0, CHANGES_MAX, error);
    if (!changes)
        return false;
    g_autoptr(GPtrArray) groups = read_groups(view, changes);
    html_literal(html, "<section class=\"card\" id=\"last-changes\"><h2>Last changes</h2>");
    if (groups->len > 0)
        write_groups(html, view, groups);
    else
        html_literal(html, "<p>No change waits for anybody.</p>");
    judged_note_write(html, view->note);
    html_literal(html, "</section>");
    return true;
}

/* ---- The other forms ------------------------------------------------------------------------- */

static const struct sheet_column columns[] = {
    {"group", NULL, false},        {"direction", "Moved", false},
    {"effect", "Effect", true},    {"benchmark", "Benchmark", false},
    {"series", "Series", true},    {"commit", "Since commit", false},
    {"subject", "Subject", false}, {"author", NULL, false},
    {"environment", NULL, false},  {0}};

static void write_group_cells(Sheet *sheet, const struct project_view *view,
                              const struct change_group *group)
{
    const struct store_change *worst = (const struct store_change *)group->changes->pdata[0];
    const struct store_series *series = store_series_by_id(view->snapshot, worst->series_id);
    const struct store_commit *bad = first_bad(view, group);
    g_autofree char *url = series ? link_bench(view->project->name, series->benchmark->name) : NULL;
    sheet_id(sheet, group->id);
    sheet_text(sheet, group->direction < 0 ? "worse" : group->direction > 0 ? "better" : NULL);
    sheet_ratio(sheet, group->worst_effect);
    sheet_link(sheet, series ? series->benchmark->name : NULL, url);
    sheet_integer(sheet, group->changes->len);
    sheet_commit(sheet, bad);
    sheet_text(sheet, bad ? bad->subject : NULL);
    sheet_text(sheet, bad ? bad->author : NULL);
    sheet_bool(sheet, group->is_boundary);
}

bool project_changes_sheet(Sheet *sheet, const struct project_view *view, GError **error)
{
    g_autoptr(GPtrArray) changes =
        store_project_changes(view->snapshot, view->project->id, 0, CHANGES_MAX, error);
    if (!changes)
        return false;
    g_autoptr(GPtrArray) groups = read_groups(view, changes);
    sheet_table(sheet, "changes", "Last changes", columns, SHEET_ROWS);
    for (guint i = 0; i < groups->len; i++)
        write_group_cells(sheet, view, (const struct change_group *)groups->pdata[i]);
    sheet_table_end(sheet);
    return true;
}
