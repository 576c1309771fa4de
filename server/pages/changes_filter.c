/* SPDX-License-Identifier: Apache-2.0
 * Which changes the inbox shows: what the address asks for, and the form that writes it there. */
#include "server/pages/changes_view.h"

#include "server/pages/layout.h"
#include "server/pages/link.h"
#include "server/pages/series_words.h"

#include <string.h>

static const char *given(const HttpRequest *request, const char *name)
{
    const char *value = http_request_query(request, name);
    return value && *value ? value : NULL;
}

void changes_filter_read(const HttpRequest *request, struct changes_filter *out)
{
    const char *moved = given(request, "moved"), *triage = given(request, "triage");
    *out = (struct changes_filter){.show_all =
                                       g_strcmp0(http_request_query(request, "show"), "all") == 0,
                                   .direction = g_strcmp0(moved, "worse") == 0    ? -1
                                                : g_strcmp0(moved, "better") == 0 ? 1
                                                                                  : 0,
                                   .text = given(request, "q"),
                                   .machine = given(request, "machine"),
                                   .who = given(request, "who")};
    out->words = series_words_of(out->text);
    out->has_triage = triage && store_triage_parse(triage, &out->triage);
}

void changes_filter_clear(struct changes_filter *filter)
{
    g_clear_pointer(&filter->words, g_strfreev);
}

bool changes_filter_is_set(const struct changes_filter *filter)
{
    return filter->direction != 0 || filter->words || filter->machine || filter->who ||
           filter->has_triage;
}

bool changes_filter_takes(const struct changes_filter *filter, const struct store_series *series,
                          const struct store_change *change)
{
    return (filter->direction == 0 || filter->direction == change_direction(series, change)) &&
           (!filter->machine || strcmp(filter->machine, series->machine->name) == 0) &&
           (!filter->who || g_strcmp0(filter->who, change->who) == 0) &&
           (!filter->has_triage || filter->triage == change->triage) &&
           series_words_hold(series, filter->words);
}

/* ---- The form -------------------------------------------------------------------------------- */

static void open_select(Html *html, const char *name, const char *label)
{
    html_print(html,
               "<div class=\"field\"><label class=\"legend\" for=\"%s\">%s</label><select "
               "id=\"%s\" name=\"%s\">",
               name, label, name, name);
}

static void write_moved(Html *html, const struct changes_filter *filter)
{
    open_select(html, "moved", "Moved");
    layout_option(html, "", "either way", filter->direction == 0);
    layout_option(html, "worse", "worse", filter->direction < 0);
    layout_option(html, "better", "better", filter->direction > 0);
    html_literal(html, "</select></div>");
}

static void write_triage(Html *html, const struct changes_filter *filter)
{
    open_select(html, "triage", "Triage");
    layout_option(html, "", "any", !filter->has_triage);
    for (int i = STORE_TRIAGE_OPEN; i <= STORE_TRIAGE_FIXED; i++) {
        const char *word = store_triage_name((enum store_triage)i);
        layout_option(html, word, word,
                      filter->has_triage && filter->triage == (enum store_triage)i);
    }
    html_literal(html, "</select></div>");
}

static int compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What the project's changes have for a name, each once, sorted: char *, borrowed. */
static GPtrArray *names_of(const struct inbox *inbox, bool of_machines)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *names = g_ptr_array_new();
    for (guint i = 0; i < inbox->changes->len; i++) {
        const struct store_change *change = (const struct store_change *)inbox->changes->pdata[i];
        const struct store_series *series = store_series_by_id(inbox->snapshot, change->series_id);
        char *name = of_machines ? (series ? series->machine->name : NULL) : change->who;
        if (name && g_hash_table_add(seen, name))
            g_ptr_array_add(names, name);
    }
    g_ptr_array_sort(names, compare_texts);
    return names;
}

static void write_names(Html *html, const char *name, const char *label, const GPtrArray *names,
                        const char *chosen)
{
    if (names->len == 0 || (names->len == 1 && !chosen))
        return;
    open_select(html, name, label);
    layout_option(html, "", "all", !chosen);
    for (guint i = 0; i < names->len; i++) {
        const char *text = (const char *)names->pdata[i];
        layout_option(html, text, text, g_strcmp0(chosen, text) == 0);
    }
    html_literal(html, "</select></div>");
}

void changes_filter_write(Html *html, const struct inbox *inbox)
{
    const struct changes_filter *filter = &inbox->filter;
    g_autoptr(GPtrArray) machines = names_of(inbox, true), people = names_of(inbox, false);
    if (inbox->changes->len == 0)
        return;
    html_literal(html, "<form id=\"choose\" class=\"filter\" method=\"get\" role=\"search\"><div "
                       "class=\"field\"><label class=\"legend\" for=\"q\">Find</label><input "
                       "id=\"q\" name=\"q\" type=\"search\" autocomplete=\"off\" "
                       "spellcheck=\"false\" maxlength=\"200\" placeholder=\"name, "
                       "parameter=value, metric\"");
    html_attr(html, "value", filter->text ? filter->text : "");
    html_literal(html, "></div>");
    write_moved(html, filter);
    write_triage(html, filter);
    write_names(html, "machine", "Machine", machines, filter->machine);
    write_names(html, "who", "Owner", people, filter->who);
    if (filter->show_all)
        html_literal(html, "<input type=\"hidden\" name=\"show\" value=\"all\">");
    html_literal(html, "<button type=\"submit\">Show</button>");
    if (changes_filter_is_set(filter)) {
        g_autofree char *url = link_changes(inbox->project->name);
        html_literal(html, "<a class=\"button\"");
        html_url(html, "href", url);
        html_literal(html, ">All</a>");
    }
    html_literal(html, "</form>");
}
