/* SPDX-License-Identifier: Apache-2.0
 * See access.h. */
#include "server/http/access.h"
#include <glib.h>
#include <string.h>

/* ---- The page that sends it ---- */

static bool origin_is_own(const struct access_facts *facts)
{
    const char *scheme = facts->is_https ? "https://" : "http://";
    if (!facts->origin)
        return true;
    return facts->host && g_str_has_prefix(facts->origin, scheme) &&
           g_ascii_strcasecmp(facts->origin + strlen(scheme), facts->host) == 0;
}

/* A browser sends a cookie, and may send a Basic password, by itself to a form that another site's
 * page posts: with them the request must not come from such a page. */
bool access_page_is_own(const struct access_facts *facts)
{
    return origin_is_own(facts) &&
           (!facts->fetch_site || strcmp(facts->fetch_site, "same-origin") == 0 ||
            strcmp(facts->fetch_site, "none") == 0);
}

/* ---- The credential ---- */

/* The password of "Basic base64(user:password)", or NULL. The caller frees it. */
static char *basic_password(const char *text)
{
    gsize length = 0;
    g_autofree guchar *decoded = g_base64_decode(text, &length);
    const guchar *colon = decoded ? (const guchar *)memchr(decoded, ':', length) : NULL;
    if (!colon || memchr(decoded, '\0', length))
        return NULL;
    return g_strndup((const char *)colon + 1, length - (gsize)(colon + 1 - decoded));
}

/* The rest of the header after the scheme's name and spaces, or NULL where it is another scheme. */
static const char *after_scheme(const char *text, const char *scheme)
{
    size_t length = strlen(scheme);
    if (!text || g_ascii_strncasecmp(text, scheme, length) != 0 || text[length] != ' ')
        return NULL;
    return text + length + strspn(text + length, " ");
}

char *access_credential(const char *authorization, bool *out_is_basic)
{
    const char *bearer = after_scheme(authorization, "Bearer");
    const char *basic = after_scheme(authorization, "Basic");
    *out_is_basic = basic != NULL;
    return bearer ? g_strchomp(g_strdup(bearer)) : basic ? basic_password(basic) : NULL;
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
        return "this server listens on more than loopback, so that this needs a token: "
               "breakeven-server token create makes one";
    if (facts->proxied)
        return "writing without a token is not possible through a proxy (Forwarded, X-Forwarded-* "
               "or Via is set): breakeven-server token create makes one";
    if (!facts->peer_loopback)
        return "writing without a token is possible from this machine only";
    if (!facts->host || !access_host_is_loopback(facts->host, facts->port))
        return "writing without a token needs a Host that is a loopback name with this server's "
               "port, such as localhost:8080";
    if (!origin_is_own(facts))
        return "writing without a token is not possible from another origin's page";
    if (!access_page_is_own(facts))
        return "writing without a token is not possible from another site's page";
    return NULL;
}

/* ---- The decision ---- */

struct need {
    unsigned scope; /* enum principal_scope */
    const char *without, *lacking;
};

#define BEARER                                                                                     \
    "send a header Authorization: Bearer with a token that has it, or Basic with that as the "     \
    "password"

static const struct need needs[] = {
    [HTTP_OPEN] = {0, NULL, NULL},
    [HTTP_READ] = {PRINCIPAL_READ, "reading needs the scope read here: " BEARER,
                   "this needs the scope read, which this token has not"},
    [HTTP_SUBMIT] = {PRINCIPAL_SUBMIT, "this needs the scope submit: " BEARER,
                     "this needs the scope submit, which this token has not"},
    [HTTP_TRIAGE] = {PRINCIPAL_TRIAGE, "this needs the scope triage: " BEARER,
                     "this needs the scope triage, which this token has not"},
    [HTTP_ADMIN] = {PRINCIPAL_ADMIN, "this needs the scope admin: " BEARER,
                    "this needs the scope admin, which this token has not"},
};

static enum access_decision decide_for(const struct access_facts *facts, const struct need *need,
                                       const char **out_why)
{
    if (!(facts->principal->scopes & need->scope))
        *out_why = need->lacking;
    else if (facts->writes && facts->is_ambient && !access_page_is_own(facts))
        *out_why = "a browser's session or password writes from this server's own pages only, not "
                   "from another site's page";
    return *out_why ? ACCESS_FORBIDDEN : ACCESS_GRANTED;
}

enum access_decision access_decide(const struct access_facts *facts, const char **out_why)
{
    const struct need *need = &needs[facts->needs];
    *out_why = NULL;
    /* Another site's page would sign its visitor in as somebody else, or out. */
    if (facts->needs == HTTP_OPEN && facts->writes && !access_page_is_own(facts)) {
        *out_why = "signing in and out goes from this server's own pages only, not from another "
                   "site's page";
        return ACCESS_FORBIDDEN;
    }
    if (facts->needs == HTTP_OPEN || (facts->needs == HTTP_READ && facts->reads_open))
        return ACCESS_GRANTED;
    if (facts->principal)
        return decide_for(facts, need, out_why);
    if (!facts->tokens_exist) {
        *out_why = why_not_local(facts);
        return *out_why ? ACCESS_FORBIDDEN : ACCESS_GRANTED;
    }
    *out_why = facts->refused ? facts->refused : need->without;
    return ACCESS_UNAUTHORIZED;
}
