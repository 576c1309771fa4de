/* SPDX-License-Identifier: Apache-2.0
 * What looks like a rename that nobody has told, on the project's page: with the command that tells
 * it. A worker thread. */
#include "schema/number.h"
#include "server/pages/link.h"
#include "server/pages/project_view.h"
#include "server/work/rename_suggestions.h"

#define SHOWN_MAX 3u

/* The target's name as JSON in single quotes of a shell. */
static char *body_of(const char *target)
{
    g_autoptr(GString) json = g_string_new("{\"alias_of\":");
    json_append_string(json, target);
    g_string_append_c(json, '}');
    return link_shell_word(json->str);
}

static void write_command(Html *html, const struct project_view *view,
                          const struct rename_suggestion *suggestion)
{
    g_autofree char *origin = http_request_origin(view->request);
    g_autofree char *body = body_of(suggestion->new->name);
    g_autoptr(GString) address = g_string_new(origin);
    g_string_append(address, "/api/projects/");
    http_append_encoded(address, view->project->name);
    g_string_append(address, "/benchmarks/");
    http_append_encoded(address, suggestion->old->name);
    g_autofree char *quoted = link_shell_word(address->str);
    g_autofree char *command =
        g_strdup_printf("curl -X PUT -H 'Content-Type: application/json' -d %s %s", body, quoted);
    layout_command(html, command);
}

static void write_suggestion(Html *html, const struct project_view *view,
                             const struct rename_suggestion *suggestion)
{
    html_literal(html, "<p>");
    html_text(html, suggestion->old->name);
    html_literal(html, " is no longer measured, and ");
    html_text(html, suggestion->new->name);
    html_print(html,
               " came after it with the same %u case%s. If it is the same benchmark, its "
               "history goes on:</p>",
               suggestion->n_cases, suggestion->n_cases == 1 ? "" : "s");
    write_command(html, view, suggestion);
}

bool project_renames_write(Html *html, const struct project_view *view, GError **error)
{
    g_autoptr(GArray) suggestions = rename_suggestions_find(view->snapshot, view->project, error);
    if (!suggestions)
        return false;
    if (suggestions->len == 0)
        return true;
    html_literal(html, "<section class=\"card notice\" id=\"renames\"><h2>Renamed?</h2>");
    for (guint i = 0; i < suggestions->len && i < SHOWN_MAX; i++)
        write_suggestion(html, view, &g_array_index(suggestions, struct rename_suggestion, i));
    if (suggestions->len > SHOWN_MAX)
        html_print(html, "<p class=\"muted\">%u more: GET /api/projects/…/renames</p>",
                   suggestions->len - SHOWN_MAX);
    html_literal(html, "</section>");
    return true;
}
