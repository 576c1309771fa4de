/* SPDX-License-Identifier: Apache-2.0
 * What differs of the machines since their measurement before: the first thing to look at where
 * "everything moved". The request's thread. */
#include "server/pages/commit_view.h"

#include "server/pages/environment_facts.h"

#include <string.h>

static void write_table(Html *html, const struct store_run *before, const struct store_run *here,
                        const GPtrArray *environments)
{
    g_autoptr(GPtrArray) left = environment_facts_of(environments, before->environment_digest);
    g_autoptr(GPtrArray) right = environment_facts_of(environments, here->environment_digest);
    html_literal(html, "<p>");
    layout_machine(html, here->machine);
    html_literal(html, " is not what it was at ");
    layout_commit(html, before->commit);
    html_literal(html, ": a difference may be the machine’s.</p>");
    if (!left || !right) {
        html_literal(html, "<p class=\"muted\">Its facts cannot be told apart.</p>");
        return;
    }
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    html_attr(html, "aria-label", here->machine->name);
    html_literal(html, "><table><thead><tr><th scope=\"col\">Fact</th><th "
                       "scope=\"col\">Before</th><th scope=\"col\">Here</th></tr></thead><tbody>");
    environment_facts_differences(html, left, right);
    html_literal(html, "</tbody></table></div>");
}

static bool differs(const struct store_run *before, const struct store_run *here)
{
    return before && before->environment_digest && here->environment_digest &&
           strcmp(before->environment_digest, here->environment_digest) != 0;
}

bool commit_environment_write(Html *html, const struct commit_view *view, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    guint n_written = 0;
    for (guint i = view->results->runs->len; i > 0; i--) {
        const struct store_run *here = (const struct store_run *)view->results->runs->pdata[i - 1];
        const struct store_run *before =
            recent_runs_before(view->recent, here->machine, view->commit->position);
        if (!differs(before, here) || !g_hash_table_add(seen, here->machine))
            continue;
        g_autoptr(GPtrArray) environments =
            store_machine_environments(view->snapshot, here->machine, error);
        if (!environments)
            return false;
        if (n_written++ == 0)
            html_literal(html, "<section class=\"card warnings\" id=\"environment\"><h2>The "
                               "machine changed</h2>");
        write_table(html, before, here, environments);
    }
    if (n_written > 0)
        html_literal(html, "</section>");
    return true;
}
