/* SPDX-License-Identifier: Apache-2.0
 * See compare_sides.h. */
#include "server/pages/compare_sides.h"
#include "server/pages/layout.h"

#include "server/pages/link.h"
#include "server/store/store_branches.h"

#define COMMITS_MAX  30u /* measured ones that are offered */
#define BRANCHES_MAX 50u

/* Branches, newest first by their last run, each once. */
static void write_branches(Html *html, const struct store_project *project)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = project->runs->len; i > 0 && g_hash_table_size(seen) < BRANCHES_MAX; i--) {
        const struct store_run *run = (const struct store_run *)project->runs->pdata[i - 1];
        if (run->branch && g_hash_table_add(seen, run->branch))
            layout_option(html, run->branch, "branch", false);
    }
}

static void write_machines(Html *html, StoreSnapshot *snapshot, const struct store_project *project)
{
    g_autoptr(GHashTable) used = g_hash_table_new(NULL, NULL);
    const GPtrArray *machines = store_machines(snapshot);
    for (guint i = 0; i < project->runs->len; i++)
        g_hash_table_add(used, ((const struct store_run *)project->runs->pdata[i])->machine);
    for (guint i = 0; i < machines->len; i++) {
        if (g_hash_table_contains(used, machines->pdata[i]))
            layout_option(html, ((const struct store_machine *)machines->pdata[i])->name, "machine",
                          false);
    }
}

static void write_commits(Html *html, const struct store_project *project)
{
    guint n = 0;
    for (guint i = project->commits->len; i > 0 && n < COMMITS_MAX; i--) {
        const struct store_commit *commit =
            (const struct store_commit *)project->commits->pdata[i - 1];
        g_autofree char *sha = g_strndup(commit->sha, 12);
        if (commit->n_runs == 0)
            continue;
        layout_option(html, sha, commit->subject ? commit->subject : "commit", false);
        n++;
    }
}

static void write_field(Html *html, const char *name, const char *label, const char *value)
{
    html_print(html,
               "<label class=\"field\"><span class=\"legend\">%s</span><input type=\"text\" "
               "name=\"%s\" list=\"sides\" maxlength=\"400\" autocomplete=\"off\" "
               "spellcheck=\"false\"",
               label, name);
    html_attr(html, "value", value ? value : "");
    html_literal(html, "></label>");
}

void compare_sides_write(Html *html, StoreSnapshot *snapshot, const struct store_project *project,
                         const char *const sides[3])
{
    g_autofree char *path = link_project(project->name);
    g_autofree char *action = g_strconcat(path, "/compare", NULL);
    html_literal(html, "<form class=\"fields sides\" method=\"get\"");
    html_url(html, "action", action);
    html_literal(html, ">");
    write_field(html, "base", "Base", sides[0]);
    write_field(html, "head", "Head", sides[1]);
    write_field(html, "also", "And, if you like", sides[2]);
    html_literal(html, "<span class=\"field buttons\"><button type=\"submit\">Compare</button>"
                       "</span><datalist id=\"sides\">");
    write_branches(html, project);
    write_machines(html, snapshot, project);
    write_commits(html, project);
    html_literal(html, "</datalist></form><p class=\"hint\">Each a branch, a commit (7 digits or "
                       "more), a run, a machine, or main@machine: what one machine measured of "
                       "it.</p>");
}
