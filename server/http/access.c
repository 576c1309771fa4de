/* SPDX-License-Identifier: Apache-2.0
 * See access.h. No token, nor any part of one, leaves this file. */
#include "server/http/access.h"
#include <glib.h>
#include <string.h>

void access_token_digest(const char *token, size_t length, unsigned char out[ACCESS_DIGEST_BYTES])
{
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    gsize digest_length = ACCESS_DIGEST_BYTES;
    g_checksum_update(checksum, (const guchar *)token, (gssize)length);
    g_checksum_get_digest(checksum, out, &digest_length);
}

static bool digests_equal(const unsigned char *a, const unsigned char *b)
{
    volatile unsigned char different = 0; /* so that the loop is not left at the first difference */
    for (int i = 0; i < ACCESS_DIGEST_BYTES; i++)
        different = (unsigned char)(different | (a[i] ^ b[i]));
    return different == 0;
}

static bool token_is_right(const struct access_facts *facts)
{
    static const char scheme[] = "Bearer ";
    const char *text = facts->authorization;
    unsigned char digest[ACCESS_DIGEST_BYTES];
    if (!text || g_ascii_strncasecmp(text, scheme, strlen(scheme)) != 0)
        return false;
    text += strlen(scheme);
    text += strspn(text, " ");
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    access_token_digest(text, length, digest);
    return length > 0 && digests_equal(digest, facts->token_digest);
}

/* Four decimal numbers of up to three digits, the first of them 127. */
static bool is_ipv4_loopback(const char *name)
{
    g_auto(GStrv) parts = g_strsplit(name, ".", 5);
    if (g_strv_length(parts) != 4 || strcmp(parts[0], "127") != 0)
        return false;
    for (int i = 0; i < 4; i++)
        if (!g_ascii_string_to_unsigned(parts[i], 10, 0, 255, NULL, NULL))
            return false;
    return true;
}

static bool name_is_loopback(const char *name)
{
    return g_ascii_strcasecmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0 ||
           is_ipv4_loopback(name);
}

bool access_host_is_loopback(const char *host, uint16_t port)
{
    const char *after_name = strchr(host, ']');
    const char *colon = strchr(after_name ? after_name : host, ':');
    g_autofree char *name = colon ? g_strndup(host, (gsize)(colon - host)) : g_strdup(host);
    guint64 number = 80;
    if (colon && !g_ascii_string_to_unsigned(colon + 1, 10, 1, 65535, &number, NULL))
        return false;
    return number == port && name_is_loopback(name);
}

static bool origin_is_own(const struct access_facts *facts)
{
    static const char scheme[] = "http://";
    if (!facts->origin)
        return true;
    return g_str_has_prefix(facts->origin, scheme) &&
           g_ascii_strcasecmp(facts->origin + strlen(scheme), facts->host) == 0;
}

static const char *why_not_local(const struct access_facts *facts)
{
    if (!facts->server_loopback)
        return "this server takes no writes: it listens on more than loopback and has no "
               "--write-token-file";
    if (facts->proxied)
        return "writing without a token is not possible through a proxy (Forwarded, X-Forwarded-* "
               "or Via is set): start the server with --write-token-file";
    if (!facts->peer_loopback)
        return "writing without a token is possible from this machine only";
    if (!facts->host || !access_host_is_loopback(facts->host, facts->port))
        return "writing without a token needs a Host that is a loopback name with this server's "
               "port, such as localhost:8080";
    if (!origin_is_own(facts))
        return "writing without a token is not possible from another origin's page";
    if (facts->fetch_site && strcmp(facts->fetch_site, "same-origin") != 0 &&
        strcmp(facts->fetch_site, "none") != 0)
        return "writing without a token is not possible from another site's page";
    return NULL;
}

enum access_decision access_decide(const struct access_facts *facts, const char **out_why)
{
    *out_why = NULL;
    if (!facts->token_digest) {
        *out_why = why_not_local(facts);
        return *out_why ? ACCESS_FORBIDDEN : ACCESS_GRANTED;
    }
    if (token_is_right(facts))
        return ACCESS_GRANTED;
    *out_why = facts->authorization
                   ? "the token in Authorization is not this server's write token"
                   : "writing needs a header Authorization: Bearer with this server's write token";
    return ACCESS_UNAUTHORIZED;
}
