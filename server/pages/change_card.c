/* SPDX-License-Identifier: Apache-2.0
 * See change_card.h. The request's thread. */
#include "server/pages/change_card.h"

#include "server/pages/link.h"
#include "server/pages/series_parts.h"
#include "server/pages/triage_form.h"

const char *change_card_word(int direction)
{
    return direction < 0 ? "▼ worse" : direction > 0 ? "▲ better" : "moved";
}

void change_card_status(Html *html, const struct store_series *series,
                        const struct store_change *change)
{
    html_print(html, "<span class=\"tag\">%s</span>", store_change_status_name(change->status));
    if (change->kind == STORE_KIND_BOUNDARY)
        html_literal(html, " <span class=\"tag\">boundary</span>");
    if (series && series->rule.muted)
        html_literal(html, " <span class=\"tag\">muted</span>");
    if (change->by_rule)
        html_literal(html, "<span class=\"sub\">by a rule, not by data</span>");
}

void change_card_triage(Html *html, const struct store_change *change)
{
    html_print(html, "<span class=\"tag\">%s</span>", store_triage_name(change->triage));
    if (change->who)
        html_print(html, " <span class=\"n\">%s</span>", change->who);
    if (change->note)
        html_print(html, "<span class=\"sub\">%s</span>", change->note);
    if (change->expectation)
        html_print(html, "<span class=\"sub\">%s <q>%s</q></span>",
                   change->in_advance    ? "as its commit expects:"
                   : change->told_ms > 0 ? "larger than its commit expects:"
                                         : "its commit expects",
                   change->expectation);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void write_number(Html *html, const struct store_series *series,
                         const struct store_change *change)
{
    g_autofree char *url = link_change(series->project->name, change->id);
    html_literal(html, "<td class=\"num\"><a");
    html_url(html, "href", url);
    html_print(html, ">%" G_GINT64_FORMAT "</a> ", (gint64)change->id);
    g_autofree char *chart =
        g_strdup_printf("/chart/series/%" G_GINT64_FORMAT ".svg", (gint64)series->id);
    html_literal(html, "<a class=\"opens\"");
    html_url(html, "href", chart);
    html_print(html, " aria-label=\"Chart of change %" G_GINT64_FORMAT "\">chart</a></td>",
               (gint64)change->id);
}

static void write_row(Html *html, StoreSnapshot *snapshot, const struct change_group *group,
                      const struct store_change *change)
{
    const struct store_series *series = store_series_by_id(snapshot, change->series_id);
    const struct store_commit *bad = store_commit_by_id(snapshot, change->bad_commit_id);
    html_print(html, "<tr id=\"change-%" G_GINT64_FORMAT "\"><td>", (gint64)change->id);
    triage_form_box(html, group->id, change);
    html_literal(html, "</td>");
    series_parts_head(html, series);
    html_literal(html, "<td class=\"num\">");
    series_parts_effect(html, change->effect, change->low, change->high);
    html_literal(html, "</td><td class=\"num\">");
    series_parts_move(html, series, change->before, change->after);
    html_print(html, "</td><td class=\"num n\" data-label=\"n\">%u, %u</td><td>", change->n_before,
               change->n_after);
    layout_commit(html, bad);
    html_literal(html, "</td><td>");
    change_card_status(html, series, change);
    html_literal(html, "</td><td class=\"said\">");
    change_card_triage(html, change);
    html_literal(html, "</td>");
    write_number(html, series, change);
    html_literal(html, "</tr>");
}

static void write_rows(Html *html, StoreSnapshot *snapshot, const struct change_group *group,
                       guint first, guint end)
{
    g_autofree char *label = g_strdup_printf("Changes of group %" G_GINT64_FORMAT ", from %u on",
                                             (gint64)group->id, first + 1);
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    html_attr(html, "aria-label", label);
    html_literal(
        html, "><table class=\"compared stack inbox\"><thead><tr><th scope=\"col\"><span "
              "class=\"visually-hidden\">Tick</span></th><th scope=\"col\">Series</th><th "
              "scope=\"col\" class=\"num\">Effect, 95 %</th><th scope=\"col\" class=\"num\">Before "
              "→ after</th><th scope=\"col\" class=\"num\">n</th><th scope=\"col\">First "
              "bad</th><th scope=\"col\">Status</th><th scope=\"col\">Triage</th><th scope=\"col\" "
              "class=\"num\">Change</th></tr></thead><tbody>");
    for (guint i = first; i < end; i++)
        write_row(html, snapshot, group, (const struct store_change *)group->changes->pdata[i]);
    html_literal(html, "</tbody></table></div>");
}

/* ---- The head of a group --------------------------------------------------------------------- */

static void write_title(Html *html, const struct change_group *group)
{
    char effect[QUANTITY_TEXT_BYTES];
    quantity_ratio(group->worst_effect, effect);
    html_literal(html, "<h2><span class=\"effect");
    if (group->direction != 0)
        html_print(html, " %s", group->direction < 0 ? "worse" : "better");
    html_print(html, "\">%s %s</span> ", change_card_word(group->direction), effect);
    if (group->is_boundary)
        html_print(html, "environment moved %u series", group->changes->len);
    else
        html_print(html, "%u series of %u %s", group->changes->len, group->n_cells,
                   group->n_cells == 1 ? "benchmark case" : "benchmark cases");
    html_literal(html, "</h2>");
}

static const struct store_commit *commit_at(const struct store_project *project, guint position)
{
    return position < project->commits->len
               ? (const struct store_commit *)project->commits->pdata[position]
               : NULL;
}

static void write_compare(Html *html, const struct store_commit *good,
                          const struct store_commit *bad)
{
    g_autofree char *url = link_compare(bad->project->name, good->sha, bad->sha);
    html_literal(html, " · <a");
    html_url(html, "href", url);
    html_literal(html, ">compare</a>");
}

/* One commit is named with its subject, several by where they begin and end. */
static void write_range(Html *html, const struct store_project *project,
                        const struct change_group *group)
{
    const struct store_commit *bad = commit_at(project, group->bad);
    const struct store_commit *good = group->from > 0 ? commit_at(project, group->from - 1) : NULL;
    if (!bad)
        return;
    html_literal(html, "<p class=\"muted\">");
    if (good && group->from < group->bad) {
        html_literal(html, "after ");
        layout_commit(html, good);
        html_print(html, ", within %u commits, by ", group->bad - group->from + 1);
    } else {
        html_literal(html, "at ");
    }
    layout_commit(html, bad);
    html_literal(html, " ");
    layout_subject(html, bad);
    if (bad->author)
        html_print(html, ", %s", bad->author);
    if (good)
        write_compare(html, good, bad);
    html_literal(html, "</p>");
}

/* Folded, so that a page of many groups stays short. */
static void write_form(Html *html, const struct store_project *project,
                       const struct change_group *group, const char *back)
{
    g_autofree char *place = g_strdup_printf("%s#group-%" G_GINT64_FORMAT, back, (gint64)group->id);
    const struct triage_form form = {
        .project = project->name, .changes = group->changes, .id = group->id, .back = place};
    html_literal(html, "<details class=\"fold say\"><summary>Say what it is</summary>");
    triage_form_write(html, &form);
    html_literal(html, "</details>");
}

void change_card_write(Html *html, StoreSnapshot *snapshot, const struct store_project *project,
                       const struct change_group *group, const char *back)
{
    guint n = group->changes->len, n_open = MIN(n, CHANGE_CARD_ROWS_OPEN);
    guint n_shown = MIN(n, CHANGE_CARD_ROWS_MAX);
    html_print(html, "<section class=\"card change-group\" id=\"group-%" G_GINT64_FORMAT "\">",
               (gint64)group->id);
    write_title(html, group);
    write_range(html, project, group);
    write_rows(html, snapshot, group, 0, n_open);
    if (n_shown > n_open) {
        html_print(html, "<details class=\"fold\"><summary>%u further series</summary>",
                   n - n_open);
        write_rows(html, snapshot, group, n_open, n_shown);
        html_literal(html, "</details>");
    }
    if (n > n_shown)
        html_print(html,
                   "<p class=\"muted\">The first %u are shown; GET /api/changes gives all.</p>",
                   n_shown);
    write_form(html, project, group, back);
    html_literal(html, "</section>");
}
