/* SPDX-License-Identifier: Apache-2.0
 * The head of the commit page: what the commit is, what is before and after it, which runs measured
 * it. The request's thread. */
#include "server/pages/commit_view.h"

#include "server/pages/link.h"

#include <string.h>

/* A commit after this one whose first parent it is, else any child: what one expects behind "next".
 */
static const struct store_commit *next_of(const struct store_commit *commit)
{
    const GPtrArray *commits = commit->project->commits;
    const struct store_commit *child = NULL;
    for (guint i = commit->position + 1; i < commits->len; i++) {
        const struct store_commit *candidate =
            (const struct store_commit *)g_ptr_array_index(commits, i);
        for (guint k = 0; candidate->parents && candidate->parents[k]; k++) {
            if (candidate->parents[k] != commit)
                continue;
            if (k == 0)
                return candidate;
            child = child ? child : candidate;
        }
    }
    return child;
}

static const struct store_commit *previous_of(const struct store_commit *commit)
{
    return commit->parents ? commit->parents[0] : NULL;
}

static void write_neighbour(Html *html, const struct store_commit *neighbour, bool is_next)
{
    if (!neighbour)
        return;
    g_autofree char *url = link_commit(neighbour->project->name, neighbour->sha);
    html_literal(html, "<a class=\"button\"");
    html_url(html, "href", url);
    html_attr(html, "title", neighbour->subject ? neighbour->subject : neighbour->sha);
    html_print(html, ">%s<span class=\"sha\">%.8s</span>%s</a>", is_next ? "" : "← ",
               neighbour->sha, is_next ? " →" : "");
}

static void write_heading(Html *html, const struct store_commit *commit)
{
    html_literal(html, "<div class=\"heading\"><h1>");
    html_text(html, commit->subject ? commit->subject : "Commit without a known subject");
    html_literal(html, "</h1><nav class=\"neighbours\" aria-label=\"Previous and next commit\">");
    write_neighbour(html, previous_of(commit), false);
    write_neighbour(html, next_of(commit), true);
    html_literal(html, "</nav></div>");
}

static void write_parents(Html *html, const struct store_commit *commit)
{
    html_literal(html, "<div><dt>Parents</dt><dd>");
    if (!commit->parents)
        html_literal(html, "<span class=\"muted\">not known</span>");
    else if (!commit->parents[0])
        html_literal(html, "<span class=\"muted\">none: a root commit</span>");
    for (guint i = 0; commit->parents && commit->parents[i] && i < RUN_PARENTS_MAX; i++) {
        if (i > 0)
            html_literal(html, ", ");
        layout_commit(html, commit->parents[i]);
    }
    html_literal(html, "</dd></div>");
}

static void write_sha(Html *html, const struct store_commit *commit)
{
    g_autofree char *forge = link_forge(commit->project->commit_url_template, commit->sha);
    html_literal(html, "<div class=\"whole\"><dt>Commit</dt><dd><code class=\"sha\" id=\"sha\">");
    html_text(html, commit->sha);
    html_literal(
        html,
        "</code> <button type=\"button\" class=\"quiet\" data-copy=\"sha\" hidden>Copy</button>");
    if (forge) {
        html_literal(html, " <a rel=\"noopener noreferrer\"");
        html_url(html, "href", forge);
        html_literal(html, ">See the change</a>");
    }
    html_literal(html, "</dd></div>");
}

/* How it stands to the default branch; where nobody knows, under which branch it was first told. */
static void write_branch(Html *html, const struct store_commit *commit)
{
    const char *main_line = commit->project->default_branch;
    html_literal(html, "<div><dt>Branch</dt><dd>");
    if (commit->line == STORE_LINE_ON)
        html_text(html, main_line);
    else if (commit->line == STORE_LINE_OFF)
        html_print(html, "not of %s", main_line);
    else
        html_text(html, commit->branch ? commit->branch : "not known");
    if (commit->line == STORE_LINE_BEYOND && g_strcmp0(commit->branch, main_line) == 0)
        html_print(html, " <span class=\"tag\">after the known head of %s</span>", main_line);
    html_literal(html, "</dd></div>");
}

void commit_facts_write(Html *html, const struct commit_view *view)
{
    const struct store_commit *commit = view->commit;
    write_heading(html, commit);
    html_literal(
        html,
        "<section class=\"card\"><h2 class=\"visually-hidden\">Facts</h2><dl class=\"facts\">");
    write_sha(html, commit);
    html_literal(html, "<div><dt>Author</dt><dd>");
    html_text(html, commit->author ? commit->author : "not known");
    html_literal(html, "</dd></div><div><dt>Time</dt><dd>");
    layout_time_s(html, commit->time_s);
    if (commit->provisional)
        html_literal(html, " <span class=\"tag\">provisional: the run’s start, until the commit’s "
                           "facts are known</span>");
    html_literal(html, "</dd></div>");
    write_parents(html, commit);
    write_branch(html, commit);
    html_literal(html, "</dl></section>");
}

static void write_run(Html *html, const struct store_run *run)
{
    html_literal(html, "<tr><th scope=\"row\">");
    layout_machine(html, run->machine);
    html_literal(html, "</th><td>");
    html_text(html, run->reason);
    if (run->pull_request)
        html_print(html, " %s", run->pull_request);
    html_literal(html, "</td><td>");
    html_text(html, run->branch);
    html_literal(html, "</td><td class=\"when\">");
    layout_time_ms(html, run->started_ms);
    html_literal(html, "</td><td class=\"num\">");
    if (run->finished_ms > run->started_ms) {
        g_autofree char *took = quantity_text((double)(run->finished_ms - run->started_ms), "ms");
        html_text(html, took);
    }
    html_print(html, "</td><td class=\"num\">%u</td><td class=\"num\">%u</td><td>", run->n_results,
               run->n_errors);
    if (run->dirty)
        html_literal(html, "<span class=\"tag warn\">dirty tree</span> ");
    g_autoptr(GString) url = g_string_new("/api/runs/");
    http_append_encoded(url, run->id);
    html_literal(html, "<a");
    html_url(html, "href", url->str);
    html_literal(html, ">JSON</a></td></tr>");
}

static void write_unmeasured(Html *html, const struct commit_view *view)
{
    g_autofree char *origin = http_request_origin(view->request);
    g_autofree char *quoted = link_shell_word(view->commit->project->name);
    g_autofree char *command =
        g_strdup_printf("git checkout %s\nbreakeven-runner run --quick --project %s --server %s",
                        view->commit->sha, quoted, origin);
    html_literal(html, "<section class=\"card notice\"><h2>Not measured</h2><p>No run of this "
                       "commit has been sent. To "
                       "measure it, build it and type</p>");
    layout_command(html, command);
    html_literal(html, "</section>");
}

void commit_runs_write(Html *html, const struct commit_view *view)
{
    if (view->results->n_runs == 0) {
        write_unmeasured(html, view);
        return;
    }
    html_literal(html, "<section class=\"card\"><h2>Runs</h2>");
    if (view->results->n_runs > view->results->runs->len)
        html_print(html,
                   "<p class=\"warn\">The first %u of %u runs are shown and counted below.</p>",
                   view->results->runs->len, view->results->n_runs);
    html_literal(
        html,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Runs\"><table><thead><tr>"
        "<th scope=\"col\">Machine</th><th scope=\"col\">Reason</th><th scope=\"col\">Branch</th>"
        "<th scope=\"col\">Started</th><th scope=\"col\" class=\"num\">Took</th>"
        "<th scope=\"col\" class=\"num\">Results</th><th scope=\"col\" class=\"num\">Errors</th>"
        "<th scope=\"col\">Document</th></tr></thead><tbody>");
    for (guint i = 0; i < view->results->runs->len; i++)
        write_run(html, (const struct store_run *)g_ptr_array_index(view->results->runs, i));
    html_literal(html, "</tbody></table></div></section>");
}
