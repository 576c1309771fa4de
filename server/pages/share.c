/* SPDX-License-Identifier: Apache-2.0
 * See share.h. Names go into Markdown and HTML that somebody pastes elsewhere, so they are escaped
 * for that place first, and as text of this page then. */
#include "server/pages/share.h"

#include "server/pages/markdown.h"

char *share_badge_path(const char *project, const char *bench)
{
    g_autoptr(GString) path = g_string_new("/badge/");
    http_append_encoded(path, project);
    if (bench) {
        g_string_append_c(path, '/');
        http_append_encoded(path, bench);
    }
    g_string_append(path, ".svg");
    return g_string_free(g_steal_pointer(&path), FALSE);
}

/* "[![name](picture)](page)" */
static char *markdown_of(const struct share *share, const char *origin, const char *picture)
{
    g_autoptr(GString) text = g_string_new("[![");
    markdown_append_text(text, share->name);
    g_string_append(text, "](");
    markdown_append_address(text, origin, picture);
    g_string_append(text, ")](");
    markdown_append_address(text, origin, share->page);
    g_string_append_c(text, ')');
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static char *frame_of(const struct share *share, const char *origin)
{
    g_autofree char *address = g_strconcat(origin, share->embed, NULL);
    Html *html = html_new();
    html_literal(html, "<iframe");
    html_url(html, "src", address);
    html_attr(html, "title", share->name);
    html_literal(html, " width=\"100%\" height=\"440\" loading=\"lazy\"></iframe>");
    return g_string_free(html_finish(html), FALSE);
}

static void write_snippet(Html *html, const char *id, const char *what, const char *snippet)
{
    html_print(html,
               "<h3>%s <button type=\"button\" class=\"quiet\" data-copy=\"%s\" hidden>Copy"
               "</button></h3><pre class=\"command\" tabindex=\"0\"><code id=\"%s\">",
               what, id, id);
    html_text(html, snippet);
    html_literal(html, "</code></pre>");
}

void share_write(Html *html, const HttpRequest *request, const struct share *share)
{
    g_autofree char *origin = http_request_origin(request);
    html_literal(html, "<details class=\"card fold\" id=\"share\"><summary><h2>Share</h2></summary>"
                       "<p class=\"muted\">To paste into a README or a wiki; what is shown there "
                       "stays up to date.</p>");
    if (share->badge) {
        g_autofree char *text = markdown_of(share, origin, share->badge);
        write_snippet(html, "share-badge", "Badge, in Markdown", text);
    }
    if (share->picture) {
        g_autofree char *text = markdown_of(share, origin, share->picture);
        write_snippet(html, "share-picture", "Chart as a picture, in Markdown", text);
    }
    if (share->embed) {
        g_autofree char *text = frame_of(share, origin);
        write_snippet(html, "share-embed", "Chart as a frame, in HTML", text);
    }
    html_literal(html, "</details>");
}
