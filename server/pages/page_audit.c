/* SPDX-License-Identifier: Apache-2.0
 * /audit: the log of writes, for admins, newest first. The request's thread. */
#include "server/pages/layout.h"
#include "server/pages/link.h"
#include "server/routes.h"

#include "server/store/store_access.h"

#define ROWS_SHOWN 100u

static void write_status(Html *html, const struct store_audit *row)
{
    if (row->status == 0)
        html_literal(html, "<span class=\"none\">not known: the server ended before</span>");
    else
        html_print(html, "<span class=\"tag\">%d</span>", row->status);
}

static void write_row(Html *html, const struct store_audit *row)
{
    html_literal(html, "<tr><th scope=\"row\">");
    layout_time_ms(html, row->at_ms);
    html_print(html, "</th><td>%s</td><td>%s</td><td>%s</td><td class=\"message\"><code>%s ",
               row->who ? row->who : "nobody said who", row->address ? row->address : "",
               row->project ? row->project : "", row->method);
    html_text(html, row->path);
    html_print(html, "</code> %s</td><td>", row->detail ? row->detail : "");
    write_status(html, row);
    html_print(html, "</td><td><code>%s</code></td></tr>", row->request_id);
}

static void write_table(Html *html, const GPtrArray *rows, guint n)
{
    html_literal(html,
                 "<section class=\"card\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                 "aria-label=\"Writes\"><table><thead><tr><th scope=\"col\">When</th><th "
                 "scope=\"col\">Who</th><th scope=\"col\">From</th><th scope=\"col\">Project</th>"
                 "<th scope=\"col\">What</th><th scope=\"col\">Outcome</th><th scope=\"col\">"
                 "Request</th></tr></thead><tbody>");
    for (guint i = 0; i < n; i++)
        write_row(html, rows->pdata[i]);
    html_literal(html, "</tbody></table></div></section>");
}

static void write_older(Html *html, const HttpRequest *request, const struct store_audit *last)
{
    g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)last->id);
    g_autofree char *url = link_query(http_request_query_pairs(request), "before", id);
    html_literal(html, "<nav class=\"pager\" aria-label=\"Older writes\"><a class=\"button\"");
    html_url(html, "href", url);
    html_literal(html, ">Older →</a></nav>");
}

void page_audit(HttpRequest *request)
{
    static const struct layout_crumb crumbs[] = {{"Writes", NULL}};
    const struct layout layout = {.title = "Writes",
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .version = context_of(request)->version,
                                  .is_wide = true};
    const Principal *principal = http_request_principal(request);
    const char *own = principal ? principal->project : NULL;
    const char *before = http_request_query(request, "before");
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) rows =
        store_audits((StoreReader *)http_request_thread(request),
                     own ? own : http_request_query(request, "project"),
                     before ? g_ascii_strtoll(before, NULL, 10) : 0, ROWS_SHOWN + 1, &error);
    if (!rows) {
        http_respond_error(request, error, NULL);
        return;
    }
    guint n = MIN(rows->len, ROWS_SHOWN);
    Html *html = html_new();
    layout_begin(html, &layout);
    html_literal(html, "<div class=\"heading\"><h1>Writes</h1><p class=\"muted\">Each write that "
                       "was asked for, the newest first. <a href=\"/api/audit.csv\">As CSV</a>"
                       "</p></div>");
    write_table(html, rows, n);
    if (rows->len > n)
        write_older(html, request, rows->pdata[n - 1]);
    layout_end(html, &layout);
    layout_send(request, html);
}
