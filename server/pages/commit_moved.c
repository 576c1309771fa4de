/* SPDX-License-Identifier: Apache-2.0
 * What moved at a commit, and what was not measured there though it was before. The request's
 * thread. */
#include "server/pages/commit_view.h"

#include "server/pages/chart_spark.h"
#include "server/pages/commit_verdict.h"
#include "server/pages/compare_table.h"
#include "server/pages/link.h"
#include "server/pages/series_parts.h"

#include <string.h>

#define ROWS_MAX    50u  /* of all machines together; the comparison shows all */
#define MISSING_MAX 200u /* benchmarks that are named */
#define NEIGHBOURS  30u  /* commits around, whose machines are expected here, too */

static const struct commit_verdict *verdict_at(const struct commit_view *view, guint i)
{
    return (const struct commit_verdict *)view->verdicts->pdata[i];
}

static bool is_moved(const struct comparison_row *row)
{
    return row->verdict == COMPARISON_REGRESSED || row->verdict == COMPARISON_IMPROVED;
}

/* ---- What moved ------------------------------------------------------------------------------ */

/* The branch's values around this commit. One that is not on the branch stands after what came
 * before it. */
static bool write_spark(Html *html, const struct commit_view *view,
                        const struct comparison_row *row, GError **error)
{
    double values[RECENT_COMMITS + 1];
    guint n = 0, n_before = 0, marked = G_MAXUINT;
    g_autoptr(GArray) points = recent_runs_points(view->recent, view->snapshot, row->series, error);
    if (!points)
        return false;
    for (guint i = 0; i < points->len && n < RECENT_COMMITS; i++) {
        const struct commit_point *point = &g_array_index(points, struct commit_point, i);
        marked = point->position == view->commit->position ? n : marked;
        n_before += point->position < view->commit->position ? 1 : 0;
        values[n++] = point->center;
    }
    if (marked == G_MAXUINT) {
        values[n_before] = row->head.level;
        n = n_before + 1;
    }
    const struct chart_spark spark = {values, n, "The values around this commit, which is marked",
                                      marked, NULL};
    chart_spark_write(html, &spark);
    return true;
}

static bool write_row(Html *html, const struct commit_view *view, const struct comparison_row *row,
                      GError **error)
{
    html_literal(html, "<tr>");
    series_parts_head(html, row->series);
    html_literal(html, "<td>");
    compare_table_tag(html, row->verdict);
    html_literal(html, "</td><td class=\"num\">");
    series_parts_effect(html, row->result.effect, row->result.low, row->result.high);
    html_literal(html, "</td><td class=\"trend\">");
    if (!write_spark(html, view, row, error))
        return false;
    html_literal(html, "</td><td class=\"num\">");
    series_parts_move(html, row->series, row->base.level, row->head.level);
    html_literal(html, "</td></tr>");
    return true;
}

static bool write_machine(Html *html, const struct commit_view *view,
                          const struct commit_verdict *verdict, guint *inout_left, GError **error)
{
    const GArray *rows = verdict->comparison ? verdict->comparison->rows : NULL;
    for (guint i = 0; rows && i<rows->len && * inout_left> 0; i++) {
        const struct comparison_row *row = &g_array_index(rows, struct comparison_row, i);
        if (!is_moved(row))
            continue;
        (*inout_left)--;
        if (!write_row(html, view, row, error))
            return false;
    }
    return true;
}

static guint count_moved(const struct commit_view *view, guint n_shown)
{
    guint n = 0;
    for (guint i = 0; i < n_shown; i++) {
        const Comparison *comparison = verdict_at(view, i)->comparison;
        if (comparison)
            n += comparison->counts[COMPARISON_REGRESSED] + comparison->counts[COMPARISON_IMPROVED];
    }
    return n;
}

bool commit_moved_write(Html *html, const struct commit_view *view, GError **error)
{
    guint n_machines = MIN(view->verdicts->len, COMMIT_VERDICTS_MAX), left = ROWS_MAX;
    guint n = count_moved(view, n_machines);
    if (n == 0)
        return true;
    html_print(html,
               "<section class=\"card\" id=\"moved\"><h2>What moved <span "
               "class=\"n\">%u</span></h2>",
               n);
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"What "
                       "moved\"><table class=\"compared stack\"><thead><tr><th "
                       "scope=\"col\">Series</th><th scope=\"col\">Verdict</th><th scope=\"col\" "
                       "class=\"num\">Effect, 95 %</th><th scope=\"col\">Trend</th><th "
                       "scope=\"col\" class=\"num\">Before → here</th></tr></thead><tbody>");
    for (guint i = 0; i < n_machines; i++) {
        if (!write_machine(html, view, verdict_at(view, i), &left, error))
            return false;
    }
    html_literal(html, "</tbody></table></div>");
    if (n > ROWS_MAX)
        html_print(html,
                   "<p class=\"muted\">The first %u are shown; the comparisons above show "
                   "all.</p>",
                   ROWS_MAX);
    html_literal(html, "</section>");
    return true;
}

/* ---- What was not measured ------------------------------------------------------------------- */

/* Machines that measured a commit nearby, and not this one: struct store_machine *. */
static GPtrArray *absent_machines(const struct commit_view *view)
{
    const GPtrArray *runs = view->commit->project->runs;
    g_autoptr(GHashTable) near = g_hash_table_new(NULL, NULL);
    guint here = view->commit->position;
    for (guint i = 0; i < runs->len; i++) {
        const struct store_run *run = (const struct store_run *)runs->pdata[i];
        guint there = run->commit->position;
        if ((there > here ? there - here : here - there) <= NEIGHBOURS)
            g_hash_table_add(near, run->machine);
    }
    for (guint i = 0; i < view->results->runs->len; i++)
        g_hash_table_remove(near,
                            ((const struct store_run *)view->results->runs->pdata[i])->machine);
    GPtrArray *absent = g_ptr_array_new();
    const GPtrArray *machines = store_machines(view->snapshot);
    for (guint i = 0; i < machines->len; i++) {
        if (g_hash_table_contains(near, machines->pdata[i]))
            g_ptr_array_add(absent, machines->pdata[i]);
    }
    return absent;
}

static void write_absent(Html *html, const struct commit_view *view,
                         const struct store_machine *machine)
{
    const struct store_run *before =
        recent_runs_before(view->recent, machine, view->commit->position);
    html_literal(html, "<li>");
    layout_machine(html, machine);
    html_literal(html, " has not measured this commit");
    if (before) {
        html_literal(html, "; the one before that it measured is ");
        layout_commit(html, before->commit);
    }
    html_literal(html, "</li>");
}

/* Rows are sorted by verdict, and within it by series, whose ids keep benchmarks together. */
static void write_missing(Html *html, const struct commit_verdict *verdict)
{
    const GArray *rows = verdict->comparison ? verdict->comparison->rows : NULL;
    g_autoptr(GHashTable) counts = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; rows && i < rows->len; i++) {
        const struct comparison_row *row = &g_array_index(rows, struct comparison_row, i);
        if (row->verdict != COMPARISON_MISSING)
            continue;
        struct store_benchmark *benchmark = row->series->benchmark;
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, benchmark));
        if (n == 0 && names->len < MISSING_MAX)
            g_ptr_array_add(names, benchmark);
        g_hash_table_insert(counts, benchmark, GUINT_TO_POINTER(n + 1));
    }
    for (guint i = 0; i < names->len; i++) {
        const struct store_benchmark *benchmark = (const struct store_benchmark *)names->pdata[i];
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, benchmark));
        g_autofree char *url = link_bench(benchmark->project->name, benchmark->name);
        html_literal(html, "<li><a");
        html_url(html, "href", url);
        html_print(html, ">%s</a> on ", benchmark->name);
        layout_machine(html, verdict->run->machine);
        html_print(html, ": %u series that %s measured before</li>", n, n == 1 ? "was" : "were");
    }
}

void commit_missing_write(Html *html, const struct commit_view *view)
{
    guint n_machines = MIN(view->verdicts->len, COMMIT_VERDICTS_MAX), n_missing = 0;
    g_autoptr(GPtrArray) absent = absent_machines(view);
    for (guint i = 0; i < n_machines; i++) {
        const Comparison *comparison = verdict_at(view, i)->comparison;
        n_missing += comparison ? comparison->counts[COMPARISON_MISSING] : 0;
    }
    if (view->results->n_runs == 0 || absent->len + n_missing == 0)
        return;
    html_literal(html, "<section class=\"card\" id=\"missing\"><h2>Not measured here</h2><ul "
                       "class=\"list\">");
    for (guint i = 0; i < absent->len; i++)
        write_absent(html, view, (const struct store_machine *)absent->pdata[i]);
    for (guint i = 0; i < n_machines; i++)
        write_missing(html, verdict_at(view, i));
    html_literal(html, "</ul></section>");
}
