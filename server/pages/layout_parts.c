/* SPDX-License-Identifier: Apache-2.0
 * The parts that pages share, of layout.h: times, commits, values, paging. The request's thread. */
#include "server/pages/layout.h"
#include "server/pages/link.h"

#include "schema/timestamp.h"

#include <string.h>

void layout_time_s(Html *html, int64_t time_s)
{
    if (time_s == 0)
        return;
    g_autofree char *machine = timestamp_format_s(time_s);
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(time_s);
    g_autofree char *shown = time ? g_date_time_format(time, "%Y-%m-%d %H:%M") : NULL;
    html_literal(html, "<time");
    html_attr(html, "datetime", machine);
    html_literal(html, ">");
    html_text(html, shown ? shown : machine);
    html_literal(html, " UTC</time>");
}

void layout_time_ms(Html *html, int64_t time_ms)
{
    layout_time_s(html, time_ms / 1000);
}

void layout_option(Html *html, const char *value, const char *says, bool is_chosen)
{
    html_literal(html, "<option");
    html_attr(html, "value", value);
    html_print(html, "%s>%s</option>", is_chosen ? " selected" : "", says);
}

void layout_command(Html *html, const char *command)
{
    html_literal(html, "<pre class=\"command\" tabindex=\"0\"><code>");
    html_text(html, command);
    html_literal(html, "</code></pre>");
}

void layout_commit(Html *html, const struct store_commit *commit)
{
    g_autofree char *url = link_commit(commit->project->name, commit->sha);
    html_literal(html, "<a class=\"sha\"");
    html_url(html, "href", url);
    html_print(html, ">%.8s</a>", commit->sha);
}

void layout_machine(Html *html, const struct store_machine *machine)
{
    g_autofree char *url = link_machine(machine->name);
    html_literal(html, "<a");
    html_url(html, "href", url);
    html_literal(html, ">");
    html_text(html, machine->name);
    html_literal(html, "</a>");
}

void layout_subject(Html *html, const struct store_commit *commit)
{
    if (commit->subject)
        html_text(html, commit->subject);
    else
        html_literal(html, "<span class=\"none\">subject not known</span>");
}

void layout_value(Html *html, const struct layout_value *value, const struct quantity_scale *scale)
{
    char center[QUANTITY_TEXT_BYTES], low[QUANTITY_TEXT_BYTES], high[QUANTITY_TEXT_BYTES];
    quantity_format(value->center, scale, center);
    const char *bound = value->censored > 0 ? "> " : value->censored < 0 ? "< " : "";
    html_print(html, "<span class=\"value\">%s%s</span>", bound, center);
    if (value->has_interval) {
        quantity_format(value->low, scale, low);
        quantity_format(value->high, scale, high);
        html_print(html, " <span class=\"interval\">%s – %s</span>", low, high);
    }
    if (value->n > 0)
        html_print(html, " <span class=\"n\">n %" G_GINT64_FORMAT "</span>", (gint64)value->n);
}

struct layout_paging layout_paging_of(const HttpRequest *request, const char *name, guint n_rows,
                                      guint all_max)
{
    struct layout_paging paging = {.name = name, .n_rows = n_rows, .page = 1, .all_max = all_max};
    paging.n_pages = MAX(1, (n_rows + LAYOUT_PAGE_ROWS - 1) / LAYOUT_PAGE_ROWS);
    const char *asked = http_request_query(request, name);
    if (g_strcmp0(asked, "all") == 0 && n_rows <= all_max) {
        paging.page = 0;
        paging.end = n_rows;
        return paging;
    }
    guint64 page = asked ? g_ascii_strtoull(asked, NULL, 10) : 1;
    paging.page = (guint)CLAMP(page, 1, paging.n_pages);
    paging.first = (paging.page - 1) * LAYOUT_PAGE_ROWS;
    paging.end = MIN(n_rows, paging.first + LAYOUT_PAGE_ROWS);
    return paging;
}

static void write_page_link(Html *html, const HttpRequest *request, const char *name,
                            const char *page)
{
    g_autofree char *url = link_query(http_request_query_pairs(request), name, page);
    html_literal(html, "<a class=\"button\"");
    html_url(html, "href", url);
    html_literal(html, ">");
}

void layout_pager(Html *html, const HttpRequest *request, const struct layout_paging *paging,
                  const char *what)
{
    if (paging->n_pages <= 1)
        return;
    char total[QUANTITY_TEXT_BYTES], number[24];
    quantity_count(paging->n_rows, total);
    html_literal(html, "<nav class=\"pager\"");
    html_attr(html, "aria-label", what);
    html_print(html, "><span>%s %u–%u of %s</span>", what, paging->first + 1, paging->end, total);
    if (paging->page > 1) {
        g_snprintf(number, sizeof number, "%u", paging->page - 1);
        write_page_link(html, request, paging->name, number);
        html_literal(html, "← Previous</a>");
    }
    if (paging->page > 0 && paging->page < paging->n_pages) {
        g_snprintf(number, sizeof number, "%u", paging->page + 1);
        write_page_link(html, request, paging->name, number);
        html_literal(html, "Next →</a>");
    }
    if (paging->page == 0) {
        write_page_link(html, request, paging->name, NULL);
        html_literal(html, "In pages</a>");
    } else if (paging->n_rows <= paging->all_max) {
        write_page_link(html, request, paging->name, "all");
        html_literal(html, "Show all</a>");
    }
    html_literal(html, "</nav>");
}
