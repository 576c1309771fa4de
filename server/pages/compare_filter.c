/* SPDX-License-Identifier: Apache-2.0
 * Which rows of a comparison are shown, and the form that says so. The request's thread. */
#include "server/pages/compare_view.h"
#include "server/pages/layout.h"

#include "server/pages/link.h"
#include "server/pages/series_words.h"

#include <string.h>

static const struct {
    const char *word, *says;
} shows[] = {[COMPARE_SHOW_DIFFERENCES] = {"", "what differs"},
             [COMPARE_SHOW_REGRESSED] = {"regressed", "regressed"},
             [COMPARE_SHOW_IMPROVED] = {"improved", "improved"},
             [COMPARE_SHOW_UNSURE] = {"unsure", "unsure"},
             [COMPARE_SHOW_ALL] = {"all", "all"}};

enum compare_show compare_show_of(const char *word)
{
    for (guint i = 0; word && i < G_N_ELEMENTS(shows); i++) {
        if (strcmp(shows[i].word, word) == 0)
            return (enum compare_show)i;
    }
    return COMPARE_SHOW_DIFFERENCES;
}

const char *compare_show_word(enum compare_show show)
{
    return shows[show].word;
}

static bool is_one_kind(const struct compare_view *view)
{
    return view->show != COMPARE_SHOW_DIFFERENCES && view->show != COMPARE_SHOW_ALL;
}

bool compare_view_takes(const struct compare_view *view, const struct comparison_set_row *row,
                        guint verdicts)
{
    const struct comparison_row *lead = comparison_set_lead(row);
    guint own = 1u << lead->verdict;
    for (guint i = 0; i < COMPARISON_HEADS_MAX && is_one_kind(view); i++)
        own |= row->of[i] ? 1u << row->of[i]->verdict : 0;
    return own & verdicts && series_words_hold(lead->series, view->words);
}

guint compare_view_verdicts(const struct compare_view *view)
{
    switch (view->show) {
    case COMPARE_SHOW_REGRESSED:
        return 1u << COMPARISON_REGRESSED;
    case COMPARE_SHOW_IMPROVED:
        return 1u << COMPARISON_IMPROVED;
    case COMPARE_SHOW_UNSURE:
        return 1u << COMPARISON_UNSURE;
    case COMPARE_SHOW_DIFFERENCES:
    case COMPARE_SHOW_ALL:
        break;
    }
    return COMPARE_DIFFERENCES;
}

guint compare_view_count(const struct compare_view *view, guint verdicts)
{
    guint n = 0;
    for (guint i = 0; i < view->set->rows->len; i++) {
        const struct comparison_set_row *row =
            &g_array_index(view->set->rows, struct comparison_set_row, i);
        n += compare_view_takes(view, row, verdicts) ? 1 : 0;
    }
    return n;
}

char *compare_side_name(const struct comparison_side *side)
{
    g_autofree char *name = side->run      ? g_strdup(side->run->id)
                            : side->branch ? g_strdup(side->branch)
                                           : g_strndup(side->commit->sha, 8);
    if (side->is_machine)
        return g_strdup(side->machine->name);
    return side->machine ? g_strdup_printf("%s on %s", name, side->machine->name)
                         : g_steal_pointer(&name);
}

/* ---- The form -------------------------------------------------------------------------------- */

static void write_show(Html *html, const struct compare_view *view)
{
    html_literal(html, "<div class=\"field\"><label class=\"legend\" for=\"show\">Show</label>"
                       "<select id=\"show\" name=\"show\">");
    for (guint i = 0; i < G_N_ELEMENTS(shows); i++)
        layout_option(html, shows[i].word, shows[i].says, view->show == (enum compare_show)i);
    html_literal(html, "</select></div>");
}

static int compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names that the project's series have, each once, sorted: char *, borrowed. */
static GPtrArray *names_of(const struct store_project *project, bool of_machines)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *names = g_ptr_array_new();
    for (guint i = 0; i < project->series->len; i++) {
        const struct store_series *series = (const struct store_series *)project->series->pdata[i];
        char *name = of_machines ? series->machine->name : series->metric;
        if (g_hash_table_add(seen, name))
            g_ptr_array_add(names, name);
    }
    g_ptr_array_sort(names, compare_texts);
    return names;
}

static void write_names(Html *html, const char *name, const char *label, const GPtrArray *names,
                        const char *chosen)
{
    if (names->len < 2)
        return;
    html_print(html,
               "<div class=\"field\"><label class=\"legend\" for=\"%s\">%s</label><select "
               "id=\"%s\" name=\"%s\">",
               name, label, name, name);
    layout_option(html, "", "all", !chosen);
    for (guint i = 0; i < names->len; i++) {
        const char *text = (const char *)names->pdata[i];
        layout_option(html, text, text, g_strcmp0(chosen, text) == 0);
    }
    html_literal(html, "</select></div>");
}

void compare_filter_write(Html *html, const struct compare_view *view)
{
    const Comparison *comparison = view->set->of[0];
    g_autoptr(GPtrArray) machines = names_of(view->project, true);
    g_autoptr(GPtrArray) metrics = names_of(view->project, false);
    html_literal(html, "<form id=\"choose\" class=\"filter\" method=\"get\" role=\"search\">");
    write_show(html, view);
    html_literal(html, "<div class=\"field\"><label class=\"legend\" for=\"q\">Find</label><input "
                       "id=\"q\" name=\"q\" type=\"search\" autocomplete=\"off\" "
                       "spellcheck=\"false\" maxlength=\"200\" placeholder=\"name, "
                       "parameter=value\"");
    html_attr(html, "value", view->text ? view->text : "");
    html_literal(html, "></div>");
    if (!comparison->head.machine)
        write_names(html, "machine", "Machine", machines, view->machine);
    write_names(html, "metric", "Metric", metrics, view->metric);
    html_literal(html, "<button type=\"submit\">Show</button>");
    if (view->text || view->machine || view->metric || view->show != COMPARE_SHOW_DIFFERENCES) {
        html_literal(html, "<a class=\"button\"");
        html_url(html, "href", http_request_path(view->request));
        html_literal(html, ">All</a>");
    }
    html_literal(html, "</form>");
}
