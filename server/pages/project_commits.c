/* SPDX-License-Identifier: Apache-2.0
 * The measured commits of the project page. The request's thread. */
#include "server/pages/project_view.h"

#include "server/pages/link.h"

#define COMMITS_ALL_MAX 5000u

static GPtrArray *measured_commits(const struct store_project *project)
{
    GPtrArray *measured = g_ptr_array_new();
    for (guint i = project->commits->len; i > 0; i--) {
        struct store_commit *commit =
            (struct store_commit *)g_ptr_array_index(project->commits, i - 1);
        if (commit->n_runs > 0)
            g_ptr_array_add(measured, commit);
    }
    return measured;
}

/* struct project_count * by the position of the commit, owned. */
static GHashTable *count_moves(const struct project_view *view)
{
    GHashTable *counts = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    for (guint i = 0; i < view->pulse->moves->len; i++) {
        const struct store_move *move = &g_array_index(view->pulse->moves, struct store_move, i);
        const struct store_commit *bad = store_commit_by_id(view->snapshot, move->bad_commit_id);
        if (!bad)
            continue;
        gpointer key = GUINT_TO_POINTER(bad->position + 1);
        struct project_count *count = (struct project_count *)g_hash_table_lookup(counts, key);
        if (!count) {
            count = g_new0(struct project_count, 1);
            g_hash_table_insert(counts, key, count);
        }
        project_count_add(count, project_pulse_direction(view->snapshot, move));
    }
    return counts;
}

static void write_commit(Html *html, const struct store_commit *commit,
                         const struct project_count *count)
{
    html_literal(html, "<tr><th scope=\"row\">");
    layout_commit(html, commit);
    html_literal(html, "</th><td class=\"subject\">");
    layout_subject(html, commit);
    html_literal(html, "</td><td class=\"author\">");
    html_text(html, commit->author);
    html_literal(html, "</td><td>");
    project_count_write(html, count);
    html_print(html, "</td><td class=\"num\">%u</td><td class=\"when\">", commit->n_runs);
    layout_time_s(html, commit->time_s);
    html_literal(html, "</td></tr>");
}

void project_commits_write(Html *html, const struct project_view *view)
{
    g_autoptr(GPtrArray) measured = measured_commits(view->project);
    g_autoptr(GHashTable) counts = count_moves(view);
    struct layout_paging paging =
        layout_paging_of(view->request, "commits", measured->len, COMMITS_ALL_MAX);
    html_literal(html, "<section class=\"card\" id=\"commits\"><h2>Measured commits</h2>");
    html_print(html, "<p class=\"muted\">%u of the %u commits known, newest first.</p>",
               measured->len, view->project->commits->len);
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Measured "
                       "commits\"><table class=\"stack\">"
                       "<thead><tr><th scope=\"col\">Commit</th><th scope=\"col\">Subject</th>"
                       "<th scope=\"col\">Author</th><th scope=\"col\">Found here</th><th "
                       "scope=\"col\" class=\"num\">Runs</th>"
                       "<th scope=\"col\">Time</th></tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++) {
        const struct store_commit *commit =
            (const struct store_commit *)g_ptr_array_index(measured, i);
        write_commit(html, commit,
                     (const struct project_count *)g_hash_table_lookup(
                         counts, GUINT_TO_POINTER(commit->position + 1)));
    }
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, view->request, &paging, "Commits");
    html_literal(html, "</section>");
}
