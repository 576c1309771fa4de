/* SPDX-License-Identifier: Apache-2.0
 * The two ends of a request: the client's address, and the origin under which it sees this server.
 * What a proxy says of either is taken from listed proxies only. Found once, by the event thread at
 * the end of the headers; read by whoever has the request. */
#include "server/http/http_internal.h"

struct values {
    const char *name;
    GString *joined;
};

static enum MHD_Result value_take(void *to, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    struct values *values = to;
    (void)kind;
    if (g_ascii_strcasecmp(name, values->name) != 0)
        return MHD_YES;
    if (values->joined->len > 0)
        g_string_append_c(values->joined, ',');
    g_string_append(values->joined, value ? value : "");
    return MHD_YES;
}

/* Whether the hop that the peer itself wrote, the last one, says that its client came by TLS. */
static bool proxy_says_https(const HttpRequest *request, const char *hops)
{
    if (request->server->options.proxy_header == HTTP_PROXY_X_FORWARDED_FOR) {
        const char *proto = http_request_header(request, "X-Forwarded-Proto");
        return proto && g_ascii_strcasecmp(proto, "https") == 0;
    }
    const char *comma = strrchr(hops, ',');
    g_auto(GStrv) pairs = g_strsplit(comma ? comma + 1 : hops, ";", 16);
    for (char **pair = pairs; *pair; pair++)
        if (g_ascii_strcasecmp(g_strstrip(*pair), "proto=https") == 0)
            return true;
    return false;
}

void http_request_locate(HttpRequest *request)
{
    const struct http_options *options = &request->server->options;
    if (!request->connection->peer_is_proxy)
        return;
    bool is_x = options->proxy_header == HTTP_PROXY_X_FORWARDED_FOR;
    g_autoptr(GString) hops = g_string_new(NULL);
    struct values values = {.name = is_x ? "X-Forwarded-For" : "Forwarded", .joined = hops};
    struct in6_addr address = request->connection->peer;
    MHD_get_connection_values(request->mhd, MHD_HEADER_KIND, value_take, &values);
    http_peer_behind(options->proxies, options->proxy_header, hops->str, &address);
    http_peer_print(&address, request->client);
    request->is_https = request->is_https || proxy_says_https(request, hops->str);
}

const char *http_request_client_address(const HttpRequest *request)
{
    return request->client;
}

bool http_request_is_https(const HttpRequest *request)
{
    return request->is_https;
}

static bool host_is_sound(const char *host)
{
    size_t length = strlen(host);
    return length > 0 && length < 256 &&
           strspn(host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:[]") ==
               length;
}

char *http_request_origin(const HttpRequest *request)
{
    const char *host = http_request_header(request, "Host");
    const char *scheme = request->is_https ? "https" : "http";
    const struct http_options *options = &request->server->options;
    if (host && host_is_sound(host))
        return g_strdup_printf("%s://%s", scheme, host);
    bool ipv6 = strchr(options->listen_host, ':') != NULL;
    return g_strdup_printf("%s://%s%s%s:%u", scheme, ipv6 ? "[" : "", options->listen_host,
                           ipv6 ? "]" : "", request->server->port);
}
