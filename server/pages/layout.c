/* SPDX-License-Identifier: Apache-2.0
 * Head, crumbs and footer; the error page. The request's thread. */
#include "server/pages/layout.h"

#include "server/pages/layout_person.h"
#include "server/pages/link.h"
#include "web/web_assets.h"

#include <string.h>

#define CRUMBS_MAX 4u

static void write_head(Html *html, const struct layout *layout)
{
    html_literal(html, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                       "<meta name=\"color-scheme\" content=\"light dark\"><title>");
    if (layout->title) {
        html_text(html, layout->title);
        html_literal(html, " · ");
    }
    html_print(html, "Breakeven</title><link rel=\"stylesheet\" href=\"/assets/%s\">",
               web_style_name);
    html_print(html, "<link rel=\"icon\" type=\"image/svg+xml\" href=\"/assets/%s\">",
               web_icon_name);
    html_print(html, "<script defer src=\"/assets/%s\"></script></head>\n", web_script_name);
}

static void write_project_pages(Html *html, const struct layout *layout)
{
    static const struct {
        const char *room, *name;
    } pages[] = {{"", "Overview"},        {"/changes", "Changes"}, {"/matrix", "Matrix"},
                 {"/explore", "Explore"}, {"/compare", "Compare"}, {"/rules", "Rules"}};
    g_autofree char *project_url = link_project(layout->project);
    html_literal(html, "<nav class=\"pages\" aria-label=\"Of this project\">");
    for (guint i = 0; i < G_N_ELEMENTS(pages); i++) {
        g_autofree char *url = g_strconcat(project_url, pages[i].room, NULL);
        bool is_here = layout->room && strcmp(layout->room, pages[i].room) == 0;
        html_literal(html, "<a");
        html_url(html, "href", url);
        if (is_here)
            html_literal(html, " aria-current=\"true\"");
        html_print(html, ">%s</a>", pages[i].name);
    }
    html_literal(html, "</nav>");
}

static void write_crumbs(Html *html, const struct layout *layout)
{
    html_literal(html,
                 "<header class=\"top\"><a class=\"brand\" href=\"/\">"
                 "<svg width=\"22\" height=\"22\" viewBox=\"0 0 22 22\" aria-hidden=\"true\">"
                 "<path class=\"rise\" d=\"M2 18L20 4\"/><path class=\"flat\" d=\"M2 11H20\"/>"
                 "<circle cx=\"11\" cy=\"11\" r=\"3.2\"/></svg>Breakeven</a>");
    if (layout->n_crumbs > 0)
        html_literal(html, "<nav aria-label=\"Breadcrumb\"><ol class=\"crumbs\">");
    for (guint i = 0; i < layout->n_crumbs && i < CRUMBS_MAX; i++) {
        const struct layout_crumb *crumb = &layout->crumbs[i];
        html_literal(html, "<li>");
        if (crumb->url) {
            html_literal(html, "<a");
            html_url(html, "href", crumb->url);
            html_literal(html, ">");
        } else {
            html_literal(html, "<span aria-current=\"page\">");
        }
        html_text(html, crumb->text);
        if (crumb->url)
            html_literal(html, "</a></li>");
        else
            html_literal(html, "</span></li>");
    }
    if (layout->n_crumbs > 0)
        html_literal(html, "</ol></nav>");
    if (layout->project)
        write_project_pages(html, layout);
    layout_person(html);
    html_literal(html, "</header>\n");
}

void layout_begin(Html *html, const struct layout *layout)
{
    write_head(html, layout);
    html_literal(html, "<body><a class=\"skip\" href=\"#main\">Skip to content</a>\n");
    write_crumbs(html, layout);
    if (layout->is_wide)
        html_literal(html, "<main id=\"main\" class=\"wide\">\n");
    else
        html_literal(html, "<main id=\"main\">\n");
}

/* The same address with a suffix; the way it is asked for in says nothing there. */
char *layout_form_url(const HttpRequest *request, const char *suffix)
{
    g_autofree char *query = link_query(http_request_query_pairs(request), "as", NULL);
    const char *path = http_request_path(request);
    return g_strconcat(strcmp(path, "/") == 0 ? "/index" : path, suffix, query[1] ? query : "",
                       NULL);
}

static void write_forms(Html *html, const HttpRequest *request)
{
    static const char *const forms[][2] = {{".json", "JSON"}, {".csv", "CSV"}, {".md", "Markdown"}};
    html_literal(html,
                 "<nav class=\"forms\" aria-label=\"This page as\"><span>This page as</span>");
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        g_autofree char *url = layout_form_url(request, forms[i][0]);
        html_literal(html, "<a rel=\"alternate\"");
        html_url(html, "href", url);
        html_print(html, ">%s</a>", forms[i][1]);
    }
    html_literal(html, "</nav>");
}

void layout_end(Html *html, const struct layout *layout)
{
    html_literal(html, "</main>\n<footer>");
    if (layout->request)
        write_forms(html, layout->request);
    html_literal(html, "<span>Breakeven ");
    html_text(html, layout->version);
    html_literal(html, "</span><a href=\"/m\">Machines</a><a href=\"/status\">Status</a><a "
                       "href=\"/api.html\">API</a></footer></body></html>\n");
}

void layout_send(HttpRequest *request, Html *html)
{
    http_respond(request, 200, HTTP_HTML, layout_finish(request, html));
}

static void write_advice(Html *html, unsigned status)
{
    if (status == 404)
        html_literal(
            html, "<p>The address may be mistyped, or what it named was removed. "
                  "<a href=\"/\">All projects</a> are on the home page; a commit is found by its "
                  "sha, or by its first 7 digits or more.</p>");
    else if (status == 401 || status == 403)
        html_literal(html, "<p><a href=\"/sign-in\">Sign in</a> with a token that may do this, or "
                           "ask whoever runs this server for one. <a href=\"/\">All projects</a> "
                           "are on the home page.</p>");
    else if (status >= 500)
        html_literal(html, "<p>This is the server’s fault, not yours. Try again in a moment; if it "
                           "stays, give the request id below to whoever runs this server: it is in "
                           "the log.</p>");
    else
        html_literal(html, "<p><a href=\"/\">All projects</a> are on the home page.</p>");
}

void page_error(HttpRequest *request, unsigned status, const char *title, const char *detail,
                GString *out)
{
    const struct context *context = context_of(request);
    const struct layout layout = {.title = title, .version = context ? context->version : ""};
    Html *html = html_new();
    layout_begin(html, &layout);
    html_print(html, "<section class=\"card notice\"><p class=\"status\">%u</p><h1>", status);
    html_text(html, title);
    html_literal(html, "</h1><p>");
    html_text(html, detail);
    html_literal(html, "</p>");
    write_advice(html, status);
    html_literal(html, "<p class=\"muted\">Request <code>");
    html_text(html, http_request_id(request));
    html_literal(html, "</code></p></section>");
    layout_end(html, &layout);
    GString *text = layout_finish(request, html);
    g_string_append_len(out, text->str, (gssize)text->len);
    g_string_free(text, TRUE);
}
