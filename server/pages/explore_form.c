/* SPDX-License-Identifier: Apache-2.0
 * A plain GET form: every choice of the explore page is a query parameter, so it works without
 * script; with it a change submits. The request's thread. */
#include "server/pages/explore_view.h"

#include "server/pages/series_choice.h"
#include "server/pages/trend_data.h"

#include <string.h>

#define BRANCHES_MAX 50u /* to choose by; others are reached by the address */

/* The branch that is shown first, then those of the latest runs. */
static GPtrArray *branches_of(const struct explore_view *view)
{
    const GPtrArray *runs = view->project->runs;
    GPtrArray *branches = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    const char *const first[] = {view->wanted.branch, trend_branch_of(view->project, NULL)};
    for (guint i = 0; i < G_N_ELEMENTS(first); i++)
        if (g_hash_table_add(seen, (gpointer)(gsize)first[i]))
            g_ptr_array_add(branches, (gpointer)(gsize)first[i]);
    for (guint i = runs->len; i > 0 && branches->len < BRANCHES_MAX; i--) {
        char *branch = ((const struct store_run *)runs->pdata[i - 1])->branch;
        if (branch && g_hash_table_add(seen, branch))
            g_ptr_array_add(branches, branch);
    }
    return branches;
}

static void write_names(Html *html, const struct explore_view *view, const char *name)
{
    bool is_overlay = strcmp(name, "overlay") == 0;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    if (is_overlay)
        g_ptr_array_add(names, (gpointer)(gsize) "");
    for (guint i = 0; i < view->data->names->len; i++)
        g_ptr_array_add(names, view->data->names->pdata[i]);
    if (is_overlay)
        series_choice_select(html, name, "Lines by", names, view->data->overlay, "nothing");
    else
        series_choice_select(html, name, "Charts by", names, view->data->by, "");
}

struct option {
    const char *value, *text;
};

static void write_options(Html *html, const char *name, const char *label,
                          const struct option *options, guint chosen)
{
    html_print(html, "<div class=\"field\"><label class=\"legend\" for=\"by-%s\">%s</label>", name,
               label);
    html_print(html, "<select id=\"by-%s\" name=\"%s\">", name, name);
    for (guint i = 0; options[i].value; i++)
        html_print(html, "<option value=\"%s\"%s>%s</option>", options[i].value,
                   i == chosen ? " selected" : "", options[i].text);
    html_literal(html, "</select></div>");
}

static void write_numbers(Html *html, const struct explore_view *view)
{
    static const struct option scales[] = {{"", "as measured"},
                                           {"first", "% of first"},
                                           {"reference", "% of reference"},
                                           {NULL, NULL}};
    static const struct option commits[] = {
        {"30", "30"}, {"60", "60"}, {"120", "120"}, {NULL, NULL}};
    static const struct option zero[] = {{"", "its data"}, {"1", "from zero"}, {NULL, NULL}};
    guint n = view->wanted.n_commits;
    write_options(html, "normalise", "Values", scales, view->wanted.normalise);
    write_options(html, "zero", "Axis", zero, view->from_zero ? 1 : 0);
    write_options(html, "commits", "Commits", commits, n == 30 ? 0 : n == 120 ? 2 : 1);
}

void explore_form_write(Html *html, const struct explore_view *view)
{
    static const char *const fields[] = {"by",        "overlay", "machine", "metric", "branch",
                                         "normalise", "zero",    "commits", "q",      NULL};
    const HttpRequest *request = view->request;
    g_autoptr(GPtrArray) machines = series_choice_machines(view->project);
    g_autoptr(GPtrArray) metrics = series_choice_metrics(view->project);
    g_autoptr(GPtrArray) branches = branches_of(view);
    series_choice_form_begin(html, request, "What is drawn", fields);
    write_names(html, view, "by");
    write_names(html, view, "overlay");
    series_choice_select(html, "machine", "Machine", machines,
                         view->machine ? view->machine->name : "", "all");
    series_choice_select(html, "metric", "Metric", metrics, http_request_query(request, "metric"),
                         "each benchmark’s first");
    series_choice_select(html, "branch", "Branch", branches, view->wanted.branch, "");
    write_numbers(html, view);
    series_choice_search(html, request);
    series_choice_form_end(html, request);
}
