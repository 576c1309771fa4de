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

static bool origin_is_own(const struct access_facts *facts)
{
    static const char scheme[] = "http://";
    if (!facts->origin)
        return true;
    return facts->host && g_str_has_prefix(facts->origin, scheme) &&
           g_ascii_strcasecmp(facts->origin + strlen(scheme), facts->host) == 0;
}

/* A browser may send a Basic password by itself to a form that another site's page posts: with it
 * the request must not come from such a page. */
static bool page_is_own(const struct access_facts *facts)
{
    return origin_is_own(facts) &&
           (!facts->fetch_site || strcmp(facts->fetch_site, "same-origin") == 0 ||
            strcmp(facts->fetch_site, "none") == 0);
}

/* The password of "Basic base64(user:password)", or NULL. The caller frees it. */
static char *basic_password(const char *text, gsize *out_length)
{
    gsize length = 0;
    g_autofree guchar *decoded = g_base64_decode(text, &length);
    const guchar *colon = decoded ? (const guchar *)memchr(decoded, ':', length) : NULL;
    if (!colon)
        return NULL;
    *out_length = length - (gsize)(colon + 1 - decoded);
    return g_memdup2(colon + 1, *out_length);
}

/* The rest of the header after the scheme's name and spaces, or NULL where it is another scheme. */
static const char *after_scheme(const char *text, const char *scheme)
{
    size_t length = strlen(scheme);
    if (!text || g_ascii_strncasecmp(text, scheme, length) != 0 || text[length] != ' ')
        return NULL;
    return text + length + strspn(text + length, " ");
}

static bool token_equals(const struct access_facts *facts, const char *token, size_t length)
{
    unsigned char digest[ACCESS_DIGEST_BYTES];
    access_token_digest(token, length, digest);
    return length > 0 && digests_equal(digest, facts->token_digest);
}

static bool token_is_right(const struct access_facts *facts)
{
    const char *bearer = after_scheme(facts->authorization, "Bearer");
    const char *basic = after_scheme(facts->authorization, "Basic");
    if (bearer) {
        size_t length = strlen(bearer);
        while (length > 0 && bearer[length - 1] == ' ')
            length--;
        return token_equals(facts, bearer, length);
    }
    if (!basic || !page_is_own(facts))
        return false;
    gsize length = 0;
    g_autofree char *password = basic_password(basic, &length);
    return password && token_equals(facts, password, length);
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
    if (!page_is_own(facts))
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
    *out_why = facts->authorization ? "the token in Authorization is not this server's write token"
                                    : "writing needs a header Authorization: Bearer with this "
                                      "server's write token, or Basic "
                                      "with it as the password";
    return ACCESS_UNAUTHORIZED;
}
