/* SPDX-License-Identifier: Apache-2.0
 * What a machine is: the facts that move results as its last run told them, its topology as a
 * picture, and how both came to be. The request's thread. */
#include "server/pages/environment_facts.h"
#include "server/pages/link.h"
#include "server/pages/machine_view.h"
#include "server/pages/topology_draw.h"

#include "schema/timestamp.h"

#include <string.h>

#define STRETCHES_MAX 50u /* environments over time that are shown, the newest */

/* ---- Now ------------------------------------------------------------------------------------- */

static void write_fact(Html *html, const struct run_param *fact)
{
    html_literal(html, "<div><dt>");
    html_text(html, fact->name);
    html_literal(html, "</dt><dd>");
    html_text(html, fact->value);
    html_literal(html, "</dd></div>");
}

static void write_since(Html *html, const struct machine_view *view)
{
    const GArray *stretches = view->history->stretches;
    if (stretches->len == 0)
        return;
    const struct machine_stretch *now =
        &g_array_index(stretches, struct machine_stretch, stretches->len - 1);
    html_literal(html, "<p class=\"muted\">As it is since ");
    layout_time_ms(html, machine_run_ms(now->first));
    html_print(html, ", for %u %s; environment <code>%.12s</code>.</p>", now->n_runs,
               now->n_runs == 1 ? "run" : "runs", now->first->environment_digest);
}

static void write_now(Html *html, const struct machine_view *view)
{
    g_autoptr(GPtrArray) facts =
        environment_facts_of(view->environments, view->history->environment_digest);
    html_literal(html, "<section class=\"card\" id=\"facts\"><h2>Facts</h2>");
    if (!facts || facts->len == 0) {
        html_literal(html, "<p class=\"muted\">Its runs tell nothing of it. The runner sends what "
                           "it finds by itself; other senders may put facts that move results into "
                           "<code>machine.environment</code>.</p></section>");
        return;
    }
    html_literal(html, "<dl class=\"facts\">");
    for (guint i = 0; i < facts->len; i++)
        write_fact(html, (const struct run_param *)facts->pdata[i]);
    html_literal(html, "</dl>");
    write_since(html, view);
    html_literal(html, "</section>");
}

/* ---- Topology -------------------------------------------------------------------------------- */

/* Of the current environment, else of the last one that came with any. */
static const struct store_environment *with_topology(const struct machine_view *view)
{
    const struct store_environment *found = NULL;
    for (guint i = view->environments->len; i > 0; i--) {
        const struct store_environment *one =
            (const struct store_environment *)view->environments->pdata[i - 1];
        bool is_now = g_strcmp0(one->digest, view->history->environment_digest) == 0;
        if (one->has_topology && is_now)
            return one;
        if (one->has_topology)
            found = one;
    }
    return found;
}

static void write_drawn(Html *html, const char *xml)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TopologyTree) tree = topology_tree_parse(xml, &error);
    if (!tree) {
        html_literal(html, "<p class=\"warn\">What was sent as its topology cannot be read: ");
        html_text(html, error->message);
        html_literal(html, "</p>");
        return;
    }
    g_autofree char *sentence = topology_tree_sentence(tree);
    html_literal(html, "<p>");
    html_text(html, sentence);
    html_literal(html, ".</p>");
    topology_draw_boxes(html, tree);
    html_literal(html, "<details class=\"fold\"><summary>The same in words</summary>"
                       "<pre class=\"command\" tabindex=\"0\"><code>");
    topology_draw_lines(html, tree);
    html_literal(html, "</code></pre></details>");
}

static bool write_topology(Html *html, const struct machine_view *view, GError **error)
{
    const struct store_environment *of = with_topology(view);
    if (!of)
        return true;
    GError *cause = NULL;
    g_autofree char *xml = store_topology(view->snapshot, of->digest, &cause);
    if (cause) {
        g_propagate_error(error, cause);
        return false;
    }
    html_literal(html, "<section class=\"card\" id=\"topology\"><h2>Topology</h2>");
    if (g_strcmp0(of->digest, view->history->environment_digest) != 0)
        html_literal(html, "<p class=\"muted\">Of an earlier environment: the current one came "
                           "without.</p>");
    if (xml)
        write_drawn(html, xml);
    html_literal(html, "</section>");
    return true;
}

bool machine_facts_write(Html *html, const struct machine_view *view, GError **error)
{
    write_now(html, view);
    return write_topology(html, view, error);
}

/* ---- Over time ------------------------------------------------------------------------------- */

static void write_run_link(Html *html, const struct store_run *run)
{
    layout_commit(html, run->commit);
    html_literal(html, " of ");
    g_autofree char *url = link_project(run->project->name);
    html_literal(html, "<a");
    html_url(html, "href", url);
    html_literal(html, ">");
    html_text(html, run->project->name);
    html_literal(html, "</a>");
}

static void write_change(Html *html, const struct machine_view *view,
                         const struct machine_stretch *before, const struct machine_stretch *after)
{
    g_autoptr(GPtrArray) old =
        environment_facts_of(view->environments, before->first->environment_digest);
    g_autoptr(GPtrArray) now =
        environment_facts_of(view->environments, after->first->environment_digest);
    if (!old || !now) {
        html_literal(html, "<p class=\"muted\">What changed cannot be told.</p>");
        return;
    }
    g_autofree char *time = timestamp_format_ms(machine_run_ms(after->first));
    html_print(html,
               "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"What changed "
               "at %s, %s\">",
               time, after->first->id);
    html_literal(html, "<table><thead><tr><th scope=\"col\">Fact</th><th "
                       "scope=\"col\">Before</th><th scope=\"col\">From then on</th></tr></thead>"
                       "<tbody>");
    if (environment_facts_differences(html, old, now) == 0)
        html_literal(html, "<tr><td colspan=\"3\">nothing that it tells by name</td></tr>");
    html_literal(html, "</tbody></table></div>");
}

static void write_stretch(Html *html, const struct machine_view *view, guint index)
{
    const struct machine_stretch *all =
        (const struct machine_stretch *)(const void *)view->history->stretches->data;
    const struct machine_stretch *stretch = &all[index];
    bool is_now = index + 1 == view->history->stretches->len;
    html_literal(html, "<li><h3>");
    layout_time_ms(html, machine_run_ms(stretch->first));
    if (is_now)
        html_literal(html, " to now");
    else
        html_literal(html, " to ");
    if (!is_now)
        layout_time_ms(html, machine_run_ms(stretch->last));
    html_print(html, "</h3><p>%u %s, from ", stretch->n_runs,
               stretch->n_runs == 1 ? "run" : "runs");
    write_run_link(html, stretch->first);
    html_print(html, " on; environment <code>%.12s</code>.</p>",
               stretch->first->environment_digest);
    if (index > 0)
        write_change(html, view, &all[index - 1], stretch);
    html_literal(html, "</li>");
}

void machine_environments_write(Html *html, const struct machine_view *view)
{
    guint n = view->history->stretches->len, first = n > STRETCHES_MAX ? n - STRETCHES_MAX : 0;
    if (n == 0)
        return;
    html_literal(html, "<section class=\"card\" id=\"environments\"><h2>Environments over "
                       "time</h2>");
    if (n == 1)
        html_literal(html, "<p class=\"muted\">It has been the same for all its runs.</p>");
    else
        html_print(html,
                   "<p class=\"muted\">It became another %u %s. Histories go on across that, "
                   "and are marked where it was.</p>",
                   n - 1, n == 2 ? "time" : "times");
    html_literal(html, "<ol class=\"stretches\">");
    for (guint i = n; i > first; i--)
        write_stretch(html, view, i - 1);
    html_literal(html, "</ol>");
    if (first > 0)
        html_print(html,
                   "<p class=\"muted\">%u older ones are not shown: GET "
                   "/api/machines/… tells all.</p>",
                   first);
    html_literal(html, "</section>");
}
