/* SPDX-License-Identifier: Apache-2.0
 * What differs of the machines since their measurement before: the first thing to look at where
 * "everything moved". The request's thread. */
#include "server/pages/commit_view.h"

#include <string.h>

/* The facts behind a digest: struct run_param *, or NULL where they cannot be told. */
static GPtrArray *facts_of(const GPtrArray *environments, const char *digest)
{
    for (guint i = 0; digest && i < environments->len; i++) {
        const struct store_environment *environment =
            (const struct store_environment *)environments->pdata[i];
        if (environment->facts_json && strcmp(environment->digest, digest) == 0)
            return run_params_parse(environment->facts_json);
    }
    return NULL;
}

static void write_fact(Html *html, const char *name, const char *before, const char *here)
{
    html_print(html, "<tr><th scope=\"row\">%s</th><td>", name);
    if (before)
        html_text(html, before);
    else
        html_literal(html, "<span class=\"none\">not told</span>");
    html_literal(html, "</td><td>");
    if (here)
        html_text(html, here);
    else
        html_literal(html, "<span class=\"none\">not told</span>");
    html_literal(html, "</td></tr>");
}

static const struct run_param *param_at(const GPtrArray *params, guint i)
{
    return i < params->len ? (const struct run_param *)params->pdata[i] : NULL;
}

static int compare_params(const struct run_param *left, const struct run_param *right)
{
    if (!left || !right)
        return left ? -1 : 1;
    return strcmp(left->name, right->name);
}

/* Both lists are sorted by name. */
static void write_differences(Html *html, const GPtrArray *before, const GPtrArray *here)
{
    for (guint i = 0, k = 0; i < before->len || k < here->len;) {
        const struct run_param *left = param_at(before, i), *right = param_at(here, k);
        int order = compare_params(left, right);
        const struct run_param *named = order <= 0 ? left : right;
        const char *before_value = left && order <= 0 ? left->value : NULL;
        const char *here_value = right && order >= 0 ? right->value : NULL;
        if (named && g_strcmp0(before_value, here_value) != 0)
            write_fact(html, named->name, before_value, here_value);
        i += order <= 0 ? 1 : 0;
        k += order >= 0 ? 1 : 0;
    }
}

static void write_table(Html *html, const struct store_run *before, const struct store_run *here,
                        const GPtrArray *environments)
{
    g_autoptr(GPtrArray) left = facts_of(environments, before->environment_digest);
    g_autoptr(GPtrArray) right = facts_of(environments, here->environment_digest);
    html_print(html, "<p><b>%s</b> is not what it was at ", here->machine->name);
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
    write_differences(html, left, right);
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
