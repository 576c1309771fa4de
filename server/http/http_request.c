/* SPDX-License-Identifier: Apache-2.0
 * One request: its life, and what handlers ask of it. Nothing here waits or sends. A request
 * belongs to one thread at a time; its reference count is there for the moment in which a worker
 * returns from a handler whose request another thread has finished already. */
#include "server/http/access.h"
#include "server/http/http_internal.h"
#include <stdio.h>

/* The target without the scheme and authority of its absolute form, which servers must take. */
static const char *target_path(const char *target)
{
    size_t scheme = g_ascii_strncasecmp(target, "http://", 7) == 0    ? 7
                    : g_ascii_strncasecmp(target, "https://", 8) == 0 ? 8
                                                                      : 0;
    if (scheme == 0)
        return target;
    const char *slash = strchr(target + scheme, '/');
    return slash ? slash : "/";
}

HttpRequest *http_request_new(struct http_connection *connection, struct MHD_Connection *mhd,
                              const char *target)
{
    HttpServer *server = connection->loop->server;
    HttpRequest *request = g_new0(HttpRequest, 1);
    const char *path = target_path(target);
    size_t path_length = strcspn(path, "?");
    atomic_init(&request->references, 1);
    atomic_init(&request->phase, 0);
    request->server = server;
    request->connection = connection;
    request->mhd = mhd;
    request->started_us = g_get_monotonic_time();
    http_peer_print(&connection->peer, request->client);
    request->is_https = server->options.tls != NULL;
    request->path = g_strndup(path, path_length);
    request->query = g_strdup(path[path_length] == '?' ? path + path_length + 1 : "");
    request->answer.headers = g_ptr_array_new_with_free_func((GDestroyNotify)http_pair_free);
    snprintf(request->id, sizeof request->id, "%s-%llx", server->id_prefix,
             atomic_fetch_add(&server->next_id, 1));
    return request;
}

void http_request_ref(HttpRequest *request)
{
    atomic_fetch_add(&request->references, 1);
}

void http_request_unref(HttpRequest *request)
{
    if (atomic_fetch_sub(&request->references, 1) != 1)
        return;
    http_once_keep(request);
    http_body_clear(request);
    http_clients_leave(request);
    http_response_clear(request);
    http_match_free(request->match);
    http_principal_clear(request);
    if (request->pairs)
        g_ptr_array_unref(request->pairs);
    g_free(request->method);
    g_free(request->path);
    g_free(request->query);
    g_free(request);
}

const char *http_request_method(const HttpRequest *request)
{
    return request->method ? request->method : "-";
}

const char *http_request_path(const HttpRequest *request)
{
    return request->path;
}

const char *http_request_pattern(const HttpRequest *request)
{
    return request->match && request->match->route ? request->match->route->pattern : "";
}

const char *http_request_query_string(const HttpRequest *request)
{
    return request->query;
}

const char *http_request_segment(const HttpRequest *request, const char *name)
{
    for (guint i = 0; request->match && i < request->match->n_values; i++)
        if (strcmp(request->match->names[i], name) == 0)
            return request->match->values[i];
    return "";
}

const char *http_request_header(const HttpRequest *request, const char *name)
{
    return MHD_lookup_connection_value(request->mhd, MHD_HEADER_KIND, name);
}

const GPtrArray *http_request_query_pairs(const HttpRequest *request)
{
    return request->pairs;
}

const char *http_request_body(const HttpRequest *request, size_t *out_length)
{
    *out_length = request->body.length;
    return request->body.bytes ? request->body.bytes : "";
}

const char *http_request_id(const HttpRequest *request)
{
    return request->id;
}

void *http_request_app(const HttpRequest *request)
{
    return request->server->options.app;
}

void *http_request_thread(const HttpRequest *request)
{
    return request->app_thread;
}

char *http_request_media_type(const HttpRequest *request)
{
    const char *type = http_request_header(request, "Content-Type");
    if (!type)
        return g_strdup("");
    g_autofree char *bare = g_strndup(type, strcspn(type, ";"));
    g_autofree char *valid = g_utf8_make_valid(g_strstrip(bare), -1);
    return g_ascii_strdown(valid, -1);
}

/* The q of a media type that Accept names literally, in thousandths; -1 where it does not. */
static int accept_quality(char *const *ranges, const char *type)
{
    for (; *ranges; ranges++) {
        g_auto(GStrv) parts = g_strsplit(*ranges, ";", 8);
        double q = 1;
        if (!parts[0] || g_ascii_strcasecmp(g_strstrip(parts[0]), type) != 0)
            continue;
        for (char **part = parts + 1; *part; part++)
            if (g_str_has_prefix(g_strstrip(*part), "q="))
                q = g_ascii_strtod(*part + 2, NULL);
        return q >= 0 && q <= 1 ? (int)(q * 1000) : 0;
    }
    return -1;
}

static bool path_names(const HttpRequest *request, const char *suffix)
{
    return g_str_has_suffix(request->path, suffix) && request->match && request->match->route &&
           g_str_has_suffix(request->match->route->pattern, suffix);
}

enum http_format http_request_format(const HttpRequest *request)
{
    static const struct {
        enum http_format format;
        const char *type;
    } taken[] = {{HTTP_FORMAT_CSV, "text/csv"},
                 {HTTP_FORMAT_NDJSON, "application/x-ndjson"},
                 {HTTP_FORMAT_JSON, "application/json"}};
    const char *accept = http_request_header(request, "Accept");
    enum http_format best = HTTP_FORMAT_JSON;
    int best_quality = 0;
    if (path_names(request, ".csv"))
        return HTTP_FORMAT_CSV;
    if (path_names(request, ".ndjson"))
        return HTTP_FORMAT_NDJSON;
    if (!accept)
        return HTTP_FORMAT_JSON;
    g_auto(GStrv) ranges = g_strsplit(accept, ",", 64);
    for (gsize i = 0; i < G_N_ELEMENTS(taken); i++) {
        int quality = accept_quality(ranges, taken[i].type);
        if (quality > best_quality) {
            best = taken[i].format;
            best_quality = quality;
        }
    }
    return best;
}

const char *http_format_type(enum http_format format)
{
    switch (format) {
    case HTTP_FORMAT_CSV:
        return HTTP_CSV;
    case HTTP_FORMAT_NDJSON:
        return HTTP_NDJSON;
    case HTTP_FORMAT_JSON:
        break;
    }
    return HTTP_JSON;
}
