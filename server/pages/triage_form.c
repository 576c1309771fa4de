/* SPDX-License-Identifier: Apache-2.0
 * See triage_form.h. The request's thread. */
#include "server/pages/triage_form.h"
#include "server/pages/layout.h"

#include "server/pages/link.h"

static const struct {
    const char *word, *says;
} choices[] = {{"acknowledged", "acknowledged: seen"},
               {"expected", "expected: the new level is right"},
               {"noise", "noise: it is no change"},
               {"infra", "infra: the machine’s"},
               {"fixed", "fixed"},
               {"open", "open"},
               {"", "as it is, only a note"}};

static void write_choices(Html *html)
{
    html_literal(html, "<label class=\"field\"><span class=\"legend\">Triage</span><select "
                       "name=\"triage\">");
    for (guint i = 0; i < G_N_ELEMENTS(choices); i++)
        layout_option(html, choices[i].word, choices[i].says, false);
    html_literal(html, "</select></label>");
}

static void write_all(Html *html, const GPtrArray *changes)
{
    g_autoptr(GString) ids = g_string_new(NULL);
    for (guint i = 0; i < changes->len; i++)
        g_string_append_printf(ids, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "",
                               (gint64)((const struct store_change *)changes->pdata[i])->id);
    html_literal(html, "<input type=\"hidden\" name=\"all\"");
    html_attr(html, "value", ids->str);
    html_literal(html, ">");
}

void triage_form_write(Html *html, const struct triage_form *form)
{
    g_autofree char *action = link_changes(form->project);
    guint n = form->changes->len;
    html_print(html, "<form class=\"triage\" method=\"post\" id=\"triage-%" G_GINT64_FORMAT "\"",
               (gint64)form->id);
    html_url(html, "action", action);
    html_literal(html, ">");
    layout_form_token(html);
    write_all(html, form->changes);
    html_literal(html, "<input type=\"hidden\" name=\"back\"");
    html_attr(html, "value", form->back);
    html_literal(html, ">");
    write_choices(html);
    html_literal(html, "<label class=\"field wide\"><span class=\"legend\">Note</span><input "
                       "type=\"text\" name=\"note\" maxlength=\"4000\"></label>");
    layout_form_who(html, "Who");
    html_literal(html, "<span class=\"field buttons\">");
    if (n > 1)
        html_print(html,
                   "<button name=\"do\" value=\"ticked\">Say it of those ticked</button> <button "
                   "type=\"submit\" name=\"do\" value=\"all\">Say it of all %u</button>",
                   n);
    else
        html_literal(html, "<button type=\"submit\" name=\"do\" value=\"all\">Say it</button>");
    html_literal(html, "</span></form>");
}

void triage_form_box(Html *html, int64_t form_id, const struct store_change *change)
{
    html_print(html,
               "<input type=\"checkbox\" class=\"tick\" name=\"change\" value=\"%" G_GINT64_FORMAT
               "\" form=\"triage-%" G_GINT64_FORMAT "\" aria-label=\"Tick change %" G_GINT64_FORMAT
               "\">",
               (gint64)change->id, (gint64)form_id, (gint64)change->id);
}

static void write_entry(Html *html, const struct store_change_entry *entry)
{
    html_literal(html, "<tr><th scope=\"row\">");
    layout_time_ms(html, entry->at_ms);
    html_print(html, "</th><td>%s</td><td>",
               entry->who      ? entry->who
               : entry->status ? "the detector"
                               : "nobody said who");
    if (entry->status)
        html_print(html, "<span class=\"tag\">%s</span>", entry->status);
    if (entry->triage)
        html_print(html, "<span class=\"tag\">%s</span>", entry->triage);
    html_print(html, "</td><td class=\"message\">%s</td></tr>", entry->note ? entry->note : "");
}

void triage_form_log(Html *html, const GPtrArray *log)
{
    html_print(html, "<h2>History <span class=\"n\">%u</span></h2>", log->len);
    if (log->len == 0) {
        html_literal(html, "<p class=\"muted\">Nothing was said of it, and its status is the first "
                           "one it had.</p>");
        return;
    }
    html_literal(html,
                 "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"History\">"
                 "<table><thead><tr><th scope=\"col\">When</th><th scope=\"col\">Who</th><th "
                 "scope=\"col\">Status or triage</th><th scope=\"col\">Note</th></tr></thead>"
                 "<tbody>");
    for (guint i = 0; i < log->len; i++)
        write_entry(html, (const struct store_change_entry *)log->pdata[i]);
    html_literal(html, "</tbody></table></div>");
}
