/* SPDX-License-Identifier: Apache-2.0
 * See http_peer.h. Knows no request and no libmicrohttpd; it makes no look-up of names. Any thread:
 * a list does not change after it was parsed. */
#include "server/http/http_peer.h"
#include <arpa/inet.h>
#include <string.h>

struct network {
    struct in6_addr address;
    guint bits; /* of 128 */
};

struct http_proxies {
    guint n;
    struct network networks[HTTP_PROXIES_MAX];
};

#define MAPPED_BITS 96u /* ::ffff:0:0/96 holds IPv4 */

static void map_ipv4(struct in_addr ipv4, struct in6_addr *out)
{
    memset(out, 0, sizeof *out);
    out->s6_addr[10] = out->s6_addr[11] = 0xff;
    memcpy(out->s6_addr + 12, &ipv4, sizeof ipv4);
}

static bool address_parse(const char *text, struct in6_addr *out, bool *out_ipv4)
{
    struct in_addr ipv4;
    *out_ipv4 = inet_pton(AF_INET, text, &ipv4) == 1;
    if (*out_ipv4)
        map_ipv4(ipv4, out);
    return *out_ipv4 || inet_pton(AF_INET6, text, out) == 1;
}

static bool network_parse(const char *text, struct network *out)
{
    g_auto(GStrv) parts = g_strsplit(text, "/", 3);
    guint64 bits = 0;
    bool ipv4;
    if (!parts[0] || !address_parse(parts[0], &out->address, &ipv4))
        return false;
    guint offset = ipv4 ? MAPPED_BITS : 0;
    out->bits = 128;
    if (!parts[1])
        return true;
    if (parts[2] || !g_ascii_string_to_unsigned(parts[1], 10, 0, 128 - offset, &bits, NULL))
        return false;
    out->bits = offset + (guint)bits;
    return true;
}

static bool network_holds(const struct network *network, const struct in6_addr *address)
{
    guint bytes = network->bits / 8, rest = network->bits % 8;
    if (memcmp(&network->address, address, bytes) != 0)
        return false;
    guint mask = 0xffu << (8 - rest) & 0xffu;
    return rest == 0 || ((network->address.s6_addr[bytes] ^ address->s6_addr[bytes]) & mask) == 0;
}

HttpProxies *http_proxies_parse(const char *list, GError **error)
{
    g_autoptr(HttpProxies) proxies = g_new0(HttpProxies, 1);
    g_auto(GStrv) parts = g_strsplit(*list ? list : " ", ",", -1); /* of nothing it makes none */
    for (char **part = parts; *part; part++) {
        if (proxies->n == HTTP_PROXIES_MAX) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "more than %u addresses",
                        HTTP_PROXIES_MAX);
            return NULL;
        }
        if (!network_parse(g_strstrip(*part), &proxies->networks[proxies->n++])) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "\"%s\" is no address; 10.0.0.7, 192.168.0.0/16 or 2001:db8::/32 would be "
                        "right, and several with commas",
                        *part);
            return NULL;
        }
    }
    return g_steal_pointer(&proxies);
}

void http_proxies_free(HttpProxies *proxies)
{
    g_free(proxies);
}

bool http_peer_of_socket(const struct sockaddr *address, struct in6_addr *out)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in ipv4;
        memcpy(&ipv4, address, sizeof ipv4);
        map_ipv4(ipv4.sin_addr, out);
        return true;
    }
    struct sockaddr_in6 ipv6 = {0};
    if (address->sa_family == AF_INET6)
        memcpy(&ipv6, address, sizeof ipv6);
    *out = ipv6.sin6_addr;
    return address->sa_family == AF_INET6;
}

bool http_proxies_contain(const HttpProxies *proxies, const struct in6_addr *address)
{
    for (guint i = 0; proxies && i < proxies->n; i++)
        if (network_holds(&proxies->networks[i], address))
            return true;
    return false;
}

void http_peer_print(const struct in6_addr *address, char out[HTTP_ADDRESS_BYTES])
{
    bool ipv4 = IN6_IS_ADDR_V4MAPPED(address);
    if (!inet_ntop(ipv4 ? AF_INET : AF_INET6, ipv4 ? address->s6_addr + 12 : address->s6_addr, out,
                   HTTP_ADDRESS_BYTES))
        g_strlcpy(out, "-", HTTP_ADDRESS_BYTES);
}

/* ---- What a proxy says ---- */

/* "192.0.2.1", "192.0.2.1:4711", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:4711". */
static bool node_parse(const char *node, struct in6_addr *out)
{
    const char *colon = strchr(node, ':');
    g_autofree char *bare = NULL;
    bool ipv4;
    if (*node == '[') {
        const char *end = strchr(node, ']');
        if (!end || (end[1] != '\0' && end[1] != ':'))
            return false;
        bare = g_strndup(node + 1, (gsize)(end - node - 1));
        return strchr(bare, ':') && address_parse(bare, out, &ipv4);
    }
    bare =
        colon && !strchr(colon + 1, ':') ? g_strndup(node, (gsize)(colon - node)) : g_strdup(node);
    return address_parse(bare, out, &ipv4);
}

/* The node of for= in an element of Forwarded ("for=192.0.2.1;proto=https", and quoted what has a
 * colon), or NULL. */
static char *forwarded_node(const char *element)
{
    g_auto(GStrv) pairs = g_strsplit(element, ";", 16);
    for (char **pair = pairs; *pair; pair++) {
        const char *text = g_strstrip(*pair);
        if (g_ascii_strncasecmp(text, "for=", 4) != 0)
            continue;
        gsize length = strlen(text += 4);
        bool quoted = length >= 2 && text[0] == '"' && text[length - 1] == '"';
        return quoted ? g_strndup(text + 1, length - 2) : g_strdup(text);
    }
    return NULL;
}

/* The last hops of a header, in its order. A comma inside quotes would cut a hop in two that no
 * address can be read from: then it is one that cannot be read. */
static GPtrArray *hops_split(const char *hops)
{
    GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
    const char *end = hops + strlen(hops);
    while (end >= hops && found->len < HTTP_HOPS_MAX) {
        const char *start = end;
        while (start > hops && start[-1] != ',')
            start--;
        g_ptr_array_insert(found, 0, g_strstrip(g_strndup(start, (gsize)(end - start))));
        if (start == hops)
            break;
        end = start - 1;
    }
    return found;
}

void http_peer_behind(const HttpProxies *proxies, enum http_proxy_header header, const char *hops,
                      struct in6_addr *inout)
{
    g_autoptr(GPtrArray) all = hops_split(hops);
    for (guint i = all->len; i > 0 && http_proxies_contain(proxies, inout); i--) {
        const char *hop = g_ptr_array_index(all, i - 1);
        g_autofree char *node =
            header == HTTP_PROXY_FORWARDED ? forwarded_node(hop) : g_strdup(hop);
        struct in6_addr said;
        if (!node || !node_parse(node, &said))
            return;
        *inout = said;
    }
}
