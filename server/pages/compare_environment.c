/* SPDX-License-Identifier: Apache-2.0
 * What differs between the environments in which the sides of a comparison were measured. The
 * request's thread. */
#include "server/pages/compare_view.h"

#include "server/pages/environment_facts.h"

#include <string.h>

/* The run that stands for the base beside one of the head: of the same machine, or of the other
 * one.
 */
static const struct store_run *base_of(const Comparison *comparison, const struct store_run *head)
{
    const GPtrArray *runs = comparison->base_runs;
    for (guint i = runs->len; i > 0; i--) {
        const struct store_run *run = (const struct store_run *)runs->pdata[i - 1];
        if (comparison->is_across || run->machine == head->machine)
            return run;
    }
    return NULL;
}

static bool differ(const struct store_run *base, const struct store_run *head)
{
    return base && base->environment_digest && head->environment_digest &&
           strcmp(base->environment_digest, head->environment_digest) != 0;
}

static GPtrArray *facts_of(StoreSnapshot *snapshot, const struct store_run *run, GError **error)
{
    g_autoptr(GPtrArray) environments = store_machine_environments(snapshot, run->machine, error);
    return environments ? environment_facts_of(environments, run->environment_digest) : NULL;
}

static bool write_table(Html *html, StoreSnapshot *snapshot, const struct store_run *base,
                        const struct store_run *head, GError **error)
{
    GError *fault = NULL;
    g_autoptr(GPtrArray) before = facts_of(snapshot, base, &fault);
    g_autoptr(GPtrArray) here = fault ? NULL : facts_of(snapshot, head, &fault);
    if (fault) {
        g_propagate_error(error, fault);
        return false;
    }
    if (base->machine == head->machine)
        html_print(html, "<h3>%s</h3>", head->machine->name);
    else
        html_print(html, "<h3>%s, %s</h3>", base->machine->name, head->machine->name);
    if (!before || !here) {
        html_literal(html, "<p class=\"muted\">Their facts cannot be told apart.</p>");
        return true;
    }
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    html_attr(html, "aria-label", head->machine->name);
    html_literal(html, "><table><thead><tr><th scope=\"col\">Fact</th><th scope=\"col\">Base</th>"
                       "<th scope=\"col\">Head</th></tr></thead><tbody>");
    environment_facts_differences(html, before, here);
    html_literal(html, "</tbody></table></div>");
    return true;
}

bool compare_environment_write(Html *html, const struct compare_view *view, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    guint n = 0;
    for (guint side = 0; side < view->set->n; side++) {
        const Comparison *comparison = view->set->of[side];
        for (guint i = comparison->head_runs->len; i > 0; i--) {
            const struct store_run *head =
                (const struct store_run *)comparison->head_runs->pdata[i - 1];
            const struct store_run *base = base_of(comparison, head);
            if (!differ(base, head) || !g_hash_table_add(seen, head->environment_digest))
                continue;
            if (n++ == 0)
                html_literal(html, "<details class=\"card fold\" id=\"environment\"><summary><h2>"
                                   "Environments differ</h2></summary>");
            if (!write_table(html, view->snapshot, base, head, error))
                return false;
        }
    }
    if (n > 0)
        html_literal(html, "</details>");
    return true;
}
