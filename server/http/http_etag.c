/* SPDX-License-Identifier: Apache-2.0
 * Entity tags: what a client has already needs not be made again. A tag is strong and differs by
 * content coding: "…" as it is, "…-gz" when gzipped, "…-br" as brotli. If-None-Match is compared
 * weakly (RFC 9110, 13.1.2), with each tag that this client could be sent. */
#include "server/http/http_internal.h"

/* The opaque part of the tag at *at, and its length; moves *at behind it. NULL: no further tag. */
static const char *tag_next(const char **at, size_t *out_length)
{
    const char *text = *at + strspn(*at, " \t,");
    if (g_str_has_prefix(text, "W/"))
        text += 2;
    if (*text != '"')
        return NULL;
    const char *end = strchr(text + 1, '"');
    if (!end)
        return NULL;
    *out_length = (size_t)(end - text - 1);
    *at = end + 1;
    return text + 1;
}

bool http_etag_matches(const char *if_none_match, const char *tag)
{
    const char *at = if_none_match, *text;
    size_t length;
    if (strcmp(at + strspn(at, " \t"), "*") == 0)
        return true;
    while ((text = tag_next(&at, &length)))
        if (length == strlen(tag) && memcmp(text, tag, length) == 0)
            return true;
    return false;
}

static char *etag_make(const HttpRequest *request, const char *content, const char *content_type)
{
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    const char *build = request->server->options.build_id;
    const char *parts[] = {build ? build : "", content, request->path, request->query,
                           content_type};
    for (gsize i = 0; i < G_N_ELEMENTS(parts);
         i++) /* with its NUL, so that no two lists run together */
        g_checksum_update(checksum, (const guchar *)parts[i], (gssize)strlen(parts[i]) + 1);
    g_autoptr(GString) who = g_string_new(NULL);
    http_principal_vary(request, content_type, who);
    g_checksum_update(checksum, (const guchar *)who->str, (gssize)who->len);
    return g_strndup(g_checksum_get_string(checksum), 32);
}

bool http_not_modified(HttpRequest *request, int64_t version, const char *content_type)
{
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, version);
    return http_not_modified_content(request, number, content_type);
}

bool http_not_modified_content(HttpRequest *request, const char *content, const char *content_type)
{
    struct http_answer *answer = &request->answer;
    const char *wanted = http_request_header(request, "If-None-Match");
    const char *method = http_request_method(request);
    if (request->match && request->match->route && request->match->route->cache == HTTP_NO_STORE)
        return false; /* what no cache keeps has no tag, and is never given again */
    g_free(answer->etag);
    answer->etag = etag_make(request, content, content_type);
    if (!wanted || answer->given || (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0))
        return false;
    const char *takes = http_request_header(request, "Accept-Encoding");
    const bool is_taken[] = {true, http_gzip_accepted(takes), http_brotli_accepted(takes)};
    for (int coding = HTTP_CODING_BROTLI; coding >= HTTP_CODING_IDENTITY; coding--) {
        g_autofree char *tag = http_etag_opaque(answer->etag, (enum http_coding)coding);
        if (!is_taken[coding] || !http_etag_matches(wanted, tag))
            continue;
        answer->given = true;
        answer->status = 304;
        answer->coding = (enum http_coding)coding;
        return true;
    }
    return false;
}

char *http_etag_opaque(const char *etag, enum http_coding coding)
{
    static const char *const suffixes[] = {"", "-gz", "-br"};
    return g_strconcat(etag, suffixes[coding], NULL);
}

char *http_etag_value(const struct http_answer *answer)
{
    g_autofree char *tag = http_etag_opaque(answer->etag, answer->coding);
    return g_strdup_printf("\"%s\"", tag);
}
