/* SPDX-License-Identifier: Apache-2.0
 * Addresses are built from encoded segments only, so that a name with a slash, a quote or a space
 * stays one segment. Pure; any thread. */
#include "server/pages/link.h"

#include "server/http/http.h"
#include "server/pages/html.h"

#include <stdbool.h>
#include <string.h>

char *link_project(const char *project)
{
    g_autoptr(GString) url = g_string_new("/p/");
    http_append_encoded(url, project);
    return g_string_free(g_steal_pointer(&url), FALSE);
}

static char *link_below(const char *project, const char *room, const char *name)
{
    g_autoptr(GString) url = g_string_new("/p/");
    http_append_encoded(url, project);
    g_string_append(url, room);
    http_append_encoded(url, name);
    return g_string_free(g_steal_pointer(&url), FALSE);
}

char *link_bench(const char *project, const char *bench)
{
    return link_below(project, "/b/", bench);
}

char *link_commit(const char *project, const char *sha)
{
    return link_below(project, "/c/", sha);
}

char *link_changes(const char *project)
{
    g_autofree char *path = link_project(project);
    return g_strconcat(path, "/changes", NULL);
}

char *link_change(const char *project, gint64 id)
{
    g_autofree char *path = link_changes(project);
    return g_strdup_printf("%s/%" G_GINT64_FORMAT, path, id);
}

char *link_rules(const char *project)
{
    g_autofree char *path = link_project(project);
    return g_strconcat(path, "/rules", NULL);
}

char *link_annotations(const char *project)
{
    g_autofree char *path = link_project(project);
    return g_strconcat(path, "/annotations", NULL);
}

char *link_machine(const char *machine)
{
    g_autoptr(GString) url = g_string_new("/m/");
    http_append_encoded(url, machine);
    return g_string_free(g_steal_pointer(&url), FALSE);
}

char *link_back(const char *path, const char *back)
{
    bool is_query = back && (back[0] == '?' || back[0] == '#') && html_url_is_safe(back);
    bool is_number = back && back[0] == '/' && back[1] && !back[1 + strspn(back + 1, "0123456789")];
    return g_strconcat(path, is_query || is_number ? back : "", NULL);
}

char *link_compare(const char *project, const char *base, const char *head)
{
    return link_compare_also(project, base, head, NULL);
}

char *link_compare_also(const char *project, const char *base, const char *head, const char *also)
{
    g_autofree char *path = link_project(project);
    g_autoptr(GString) url = g_string_new(path);
    g_string_append(url, "/compare/");
    http_append_encoded(url, base);
    g_string_append(url, "...");
    http_append_encoded(url, head);
    if (also) {
        g_string_append(url, "...");
        http_append_encoded(url, also);
    }
    return g_string_free(g_steal_pointer(&url), FALSE);
}

char *link_forge(const char *url_template, const char *sha)
{
    if (!url_template)
        return NULL;
    g_autoptr(GString) url = g_string_new(url_template);
    g_string_replace(url, "{sha}", sha, 0);
    gboolean is_external = g_ascii_strncasecmp(url->str, "http", 4) == 0;
    return is_external && html_url_is_safe(url->str) ? g_string_free(g_steal_pointer(&url), FALSE)
                                                     : NULL;
}

char *link_shell_word(const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/@+";
    bool is_plain = *text != '\0' && *text != '-' && text[strspn(text, plain)] == '\0';
    return is_plain ? g_strdup(text) : g_shell_quote(text);
}

static void append_pair(GString *url, const char *name, const char *value)
{
    if (url->len > 1)
        g_string_append_c(url, '&');
    http_append_encoded(url, name);
    g_string_append_c(url, '=');
    http_append_encoded(url, value);
}

char *link_query(const GPtrArray *pairs, const char *name, const char *value)
{
    g_autoptr(GString) url = g_string_new("?");
    for (guint i = 0; pairs && i < pairs->len; i++) {
        const struct http_pair *pair = (const struct http_pair *)g_ptr_array_index(pairs, i);
        if (strcmp(pair->name, name) != 0)
            append_pair(url, pair->name, pair->value);
    }
    if (value)
        append_pair(url, name, value);
    return g_string_free(g_steal_pointer(&url), FALSE);
}

char *link_range(const GPtrArray *pairs, const char *from, const char *to)
{
    static const char *const ranges[] = {"from", "to", "commits", "page", "y"};
    g_autoptr(GString) url = g_string_new("?");
    for (guint i = 0; pairs && i < pairs->len; i++) {
        const struct http_pair *pair = (const struct http_pair *)g_ptr_array_index(pairs, i);
        bool is_range = false;
        for (guint k = 0; k < G_N_ELEMENTS(ranges); k++)
            is_range = is_range || strcmp(pair->name, ranges[k]) == 0;
        if (!is_range)
            append_pair(url, pair->name, pair->value);
    }
    if (from)
        append_pair(url, "from", from);
    if (to)
        append_pair(url, "to", to);
    return g_string_free(g_steal_pointer(&url), FALSE);
}
