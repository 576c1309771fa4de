/* SPDX-License-Identifier: Apache-2.0
 * See environment_facts.h. Both lists of facts are sorted by name, and walked side by side. */
#include "server/pages/environment_facts.h"

#include <string.h>

GPtrArray *environment_facts_of(const GPtrArray *environments, const char *digest)
{
    for (guint i = 0; digest && i < environments->len; i++) {
        const struct store_environment *environment =
            (const struct store_environment *)environments->pdata[i];
        if (environment->facts_json && strcmp(environment->digest, digest) == 0)
            return run_params_parse(environment->facts_json);
    }
    return NULL;
}

static void write_fact(Html *html, const char *name, const char *before, const char *after)
{
    html_print(html, "<tr><th scope=\"row\">%s</th><td>", name);
    if (before)
        html_text(html, before);
    else
        html_literal(html, "<span class=\"none\">not told</span>");
    html_literal(html, "</td><td>");
    if (after)
        html_text(html, after);
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

guint environment_facts_differences(Html *html, const GPtrArray *before, const GPtrArray *after)
{
    guint n = 0;
    for (guint i = 0, k = 0; i < before->len || k < after->len;) {
        const struct run_param *left = param_at(before, i), *right = param_at(after, k);
        int order = compare_params(left, right);
        const struct run_param *named = order <= 0 ? left : right;
        const char *old = left && order <= 0 ? left->value : NULL;
        const char *now = right && order >= 0 ? right->value : NULL;
        if (named && g_strcmp0(old, now) != 0) {
            write_fact(html, named->name, old, now);
            n++;
        }
        i += order <= 0 ? 1 : 0;
        k += order >= 0 ? 1 : 0;
    }
    return n;
}
