/* SPDX-License-Identifier: Apache-2.0
 * What a machine was used for, and when it was not: projects, last runs, silences. The request's
 * thread. */
#include "server/pages/link.h"
#include "server/pages/machine_view.h"

#include <math.h>
#include <string.h>

#define GAPS_MAX     50u /* the newest */
#define STRIP_WIDTH  1000.0
#define STRIP_CELLS  250u
#define MINUTE_MS    INT64_C(60000)
#define HOUR_MS      INT64_C(3600000)
#define DAYS_FROM_MS (72 * HOUR_MS)
#define HOURS_FROM   (2 * HOUR_MS)

void machine_duration_write(Html *html, int64_t ms)
{
    if (ms >= DAYS_FROM_MS)
        html_print(html, "%" G_GINT64_FORMAT " days", (gint64)(ms / (24 * HOUR_MS)));
    else if (ms >= HOURS_FROM)
        html_print(html, "%" G_GINT64_FORMAT " h", (gint64)(ms / HOUR_MS));
    else
        html_print(html, "%" G_GINT64_FORMAT " min", (gint64)(ms / MINUTE_MS));
}

/* ---- Projects -------------------------------------------------------------------------------- */

static void write_project(Html *html, const struct machine_project *one)
{
    char runs[QUANTITY_TEXT_BYTES];
    g_autofree char *url = link_project(one->project->name);
    quantity_count(one->n_runs, runs);
    html_literal(html, "<tr><th scope=\"row\"><a");
    html_url(html, "href", url);
    html_literal(html, ">");
    html_text(html, one->project->name);
    html_print(html, "</a></th><td class=\"num\">%s</td><td class=\"num\">", runs);
    if (one->interval_ms > 0)
        machine_duration_write(html, one->interval_ms);
    else
        html_literal(html, "<span class=\"none\">–</span>");
    html_literal(html, "</td><td class=\"when\">");
    layout_time_ms(html, machine_run_ms(one->last));
    html_literal(html, "</td><td>");
    layout_commit(html, one->last->commit);
    html_literal(html, "</td></tr>");
}

static void write_projects(Html *html, const struct machine_view *view)
{
    struct layout_paging paging =
        layout_paging_of(view->request, "projects", view->history->projects->len, 500);
    html_literal(html, "<section class=\"card\" id=\"projects\"><h2>What runs here</h2>"
                       "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                       "aria-label=\"Projects\"><table><thead><tr><th scope=\"col\">Project</th>"
                       "<th scope=\"col\" class=\"num\">Runs</th><th scope=\"col\" class=\"num\">"
                       "Usually every</th><th scope=\"col\">Last result</th><th "
                       "scope=\"col\">Commit</th></tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++)
        write_project(html, &g_array_index(view->history->projects, struct machine_project, i));
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, view->request, &paging, "Projects");
    html_literal(html, "</section>");
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void write_run(Html *html, const struct store_run *run)
{
    g_autoptr(GString) url = g_string_new("/api/runs/");
    http_append_encoded(url, run->id);
    html_literal(html, "<tr><th scope=\"row\">");
    layout_commit(html, run->commit);
    html_literal(html, "</th><td class=\"subject\">");
    layout_subject(html, run->commit);
    html_literal(html, "</td><td>");
    html_text(html, run->project->name);
    html_literal(html, "</td><td>");
    html_text(html, run->reason);
    html_literal(html, "</td><td class=\"when\">");
    layout_time_ms(html, run->started_ms);
    html_literal(html, "</td><td class=\"num\">");
    if (run->finished_ms > run->started_ms)
        machine_duration_write(html, run->finished_ms - run->started_ms);
    html_print(html, "</td><td class=\"num\">%u</td><td class=\"num\">%u</td><td><a",
               run->n_results, run->n_errors);
    html_url(html, "href", url->str);
    html_literal(html, ">JSON</a></td></tr>");
}

void machine_runs_write(Html *html, const struct machine_view *view)
{
    const GPtrArray *runs = view->history->runs;
    if (runs->len == 0) {
        html_literal(html, "<section class=\"card notice\"><h2>No run is kept</h2><p>What ran here "
                           "was removed, or is shown under another name.</p></section>");
        return;
    }
    write_projects(html, view);
    struct layout_paging paging = layout_paging_of(view->request, "runs", runs->len, 0);
    html_literal(html, "<section class=\"card\" id=\"runs\"><h2>Runs</h2><div class=\"scroll\" "
                       "tabindex=\"0\" role=\"region\" aria-label=\"Runs\"><table><thead><tr>"
                       "<th scope=\"col\">Commit</th><th scope=\"col\">Subject</th><th "
                       "scope=\"col\">Project</th><th scope=\"col\">Reason</th><th "
                       "scope=\"col\">Started</th><th scope=\"col\" class=\"num\">Took</th><th "
                       "scope=\"col\" class=\"num\">Results</th><th scope=\"col\" class=\"num\">"
                       "Errors</th><th scope=\"col\">Document</th></tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++)
        write_run(html, (const struct store_run *)runs->pdata[runs->len - 1 - i]);
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, view->request, &paging, "Runs");
    html_literal(html, "</section>");
}

/* ---- Silences -------------------------------------------------------------------------------- */

/* How many runs fall into each cell of the time from the first one to now. */
static void count_cells(const struct machine_view *view, guint cells[STRIP_CELLS])
{
    const GPtrArray *runs = view->history->runs;
    int64_t first_ms = machine_run_ms((const struct store_run *)runs->pdata[0]);
    int64_t span_ms = MAX(view->now_ms - first_ms, 1);
    for (guint i = 0; i < runs->len; i++) {
        int64_t at_ms = machine_run_ms((const struct store_run *)runs->pdata[i]) - first_ms;
        gint64 cell = (gint64)((double)at_ms / (double)span_ms * STRIP_CELLS);
        cells[CLAMP(cell, 0, (gint64)STRIP_CELLS - 1)]++;
    }
}

static double strip_x(const struct machine_view *view, int64_t ms)
{
    int64_t first_ms = machine_run_ms((const struct store_run *)view->history->runs->pdata[0]);
    int64_t span_ms = MAX(view->now_ms - first_ms, 1);
    return STRIP_WIDTH * CLAMP((double)(ms - first_ms) / (double)span_ms, 0, 1);
}

static void draw_gap(Html *html, const struct machine_view *view, const struct machine_gap *gap)
{
    double left = strip_x(view, machine_run_ms(gap->before));
    double right = gap->after ? strip_x(view, gap->after->started_ms) : STRIP_WIDTH;
    html_literal(html, "<rect class=\"silence\" fill=\"#8f4a00\" fill-opacity=\".25\" y=\"0\" "
                       "height=\"32\" x=\"");
    html_coordinate(html, left);
    html_literal(html, "\" width=\"");
    html_coordinate(html, MAX(right - left, 1));
    html_literal(html, "\"/>");
}

static void draw_strip(Html *html, const struct machine_view *view)
{
    guint cells[STRIP_CELLS] = {0}, most = 1;
    count_cells(view, cells);
    for (guint i = 0; i < STRIP_CELLS; i++)
        most = MAX(most, cells[i]);
    html_print(html,
               "<svg class=\"strip uptime\" viewBox=\"0 0 1000 32\" preserveAspectRatio=\"none\" "
               "role=\"img\" aria-label=\"Runs over time, and %u %s\">",
               view->history->gaps->len, view->history->gaps->len == 1 ? "silence" : "silences");
    for (guint i = 0; i < view->history->gaps->len; i++)
        draw_gap(html, view, &g_array_index(view->history->gaps, struct machine_gap, i));
    html_literal(html, "<path class=\"runs\" fill=\"#0072b2\" d=\"");
    for (guint i = 0; i < STRIP_CELLS; i++) {
        if (cells[i] == 0)
            continue;
        double width = STRIP_WIDTH / STRIP_CELLS, height = 8 + 24.0 * cells[i] / most;
        html_literal(html, "M");
        html_coordinate(html, width * i);
        html_literal(html, " 32v-");
        html_coordinate(html, height);
        html_literal(html, "h");
        html_coordinate(html, width * 0.8);
        html_literal(html, "V32Z");
    }
    html_literal(html, "\"/></svg>");
}

static void write_gap(Html *html, const struct machine_gap *gap)
{
    html_literal(html, "<tr><th scope=\"row\">");
    machine_duration_write(html, gap->ms);
    html_literal(html, "</th><td class=\"when\">");
    layout_time_ms(html, machine_run_ms(gap->before));
    html_literal(html, "</td><td class=\"when\">");
    if (gap->after)
        layout_time_ms(html, gap->after->started_ms);
    else
        html_literal(html, "<span class=\"tag warn\">it lasts</span>");
    html_literal(html, "</td><td>");
    layout_commit(html, gap->before->commit);
    if (gap->after) {
        html_literal(html, " → ");
        layout_commit(html, gap->after->commit);
    }
    html_literal(html, "</td></tr>");
}

static void write_gaps(Html *html, const GArray *gaps)
{
    guint first = gaps->len > GAPS_MAX ? gaps->len - GAPS_MAX : 0;
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                       "aria-label=\"Silences\"><table><thead><tr><th scope=\"col\">Silent "
                       "for</th><th scope=\"col\">From</th><th scope=\"col\">To</th><th "
                       "scope=\"col\">Commits</th></tr></thead><tbody>");
    for (guint i = gaps->len; i > first; i--)
        write_gap(html, &g_array_index(gaps, struct machine_gap, i - 1));
    html_literal(html, "</tbody></table></div>");
    if (first > 0)
        html_print(html, "<p class=\"muted\">%u older ones are not shown.</p>", first);
}

void machine_gaps_write(Html *html, const struct machine_view *view)
{
    const MachineHistory *history = view->history;
    if (history->runs->len == 0)
        return;
    html_literal(html, "<section class=\"card\" id=\"silences\"><h2>Silences</h2>");
    draw_strip(html, view);
    html_literal(html, "<p class=\"strip-ends\">");
    layout_time_ms(html, machine_run_ms((const struct store_run *)history->runs->pdata[0]));
    html_literal(html, "<span>now</span></p>");
    if (history->silence_ms == 0) {
        html_literal(html, "<p class=\"muted\">Too few runs to say what is usual here.</p>");
    } else {
        html_literal(html, "<p class=\"muted\">Usually a commit is measured every ");
        machine_duration_write(html, history->interval_ms);
        html_literal(html, "; longer than ");
        machine_duration_write(html, history->silence_ms);
        html_print(html, " without a run is a silence: %s.</p>",
                   history->gaps->len == 0 ? "there was none" : "those below");
    }
    if (history->gaps->len > 0)
        write_gaps(html, history->gaps);
    html_literal(html, "</section>");
}
