/* SPDX-License-Identifier: Apache-2.0
 * See oidc_token.h. Knows no key and no trust. */
#include "server/access/oidc_token.h"
#include "server/access/oidc.h"
#include <math.h>
#include <string.h>

#define KID_BYTES_MAX   256u
#define CLAIM_BYTES_MAX 1024u

static bool refuse(GError **error, const char *why)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAUTHORIZED, "the token in Authorization %s", why);
    return false;
}

/* Where the two points stand, or false. */
static bool points_find(const char *text, size_t length, size_t points[2])
{
    guint n = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.') {
            if (n == 2)
                return false;
            points[n++] = i;
        } else if (!g_ascii_isalnum(text[i]) && text[i] != '-' && text[i] != '_') {
            return false;
        }
    }
    return n == 2 && points[0] > 0 && points[1] > points[0] + 1 && length > points[1] + 1;
}

bool oidc_is_token(const char *token, size_t length)
{
    size_t points[2];
    return points_find(token, length, points);
}

/* The object that a part holds, or NULL. */
static json_t *part_read(const char *text, size_t length)
{
    g_autofree char *padded = g_malloc0(length + 4);
    if (length % 4 == 1)
        return NULL;
    for (size_t i = 0; i < length; i++)
        padded[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
    for (size_t i = length; i % 4 != 0; i++)
        padded[i] = '=';
    gsize n_bytes = 0;
    g_autofree guchar *bytes = g_base64_decode(padded, &n_bytes);
    json_t *value =
        bytes ? json_loadb((const char *)bytes, n_bytes, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (json_is_object(value))
        return value;
    json_decref(value);
    return NULL;
}

/* What would make the bytes mean something else, or name a key of the token's own. */
static bool header_is_plain(const json_t *header)
{
    static const char *const refused[] = {"crit", "b64", "zip", "enc", "jwk", "jku", "x5c", "x5u"};
    for (gsize i = 0; i < G_N_ELEMENTS(refused); i++)
        if (json_object_get(header, refused[i]))
            return false;
    return true;
}

static bool header_take(OidcToken *token, GError **error)
{
    const char *alg = json_string_value(json_object_get(token->header, "alg"));
    if (!alg || (strcmp(alg, "RS256") != 0 && strcmp(alg, "ES256") != 0))
        return refuse(error, "is not signed with RS256 or ES256");
    if (!header_is_plain(token->header))
        return refuse(error, "has a header that is not taken (one of crit, b64, zip, enc, jwk, "
                             "jku, x5c, x5u)");
    token->is_rsa = alg[0] == 'R';
    token->kid = json_string_value(json_object_get(token->header, "kid"));
    if (!token->kid || !*token->kid || strlen(token->kid) > KID_BYTES_MAX)
        return refuse(error, "does not name its key (kid)");
    return true;
}

bool oidc_token_read(const char *text, size_t length, OidcToken *out, GError **error)
{
    size_t points[2];
    *out = (OidcToken){0};
    if (length > OIDC_TOKEN_BYTES_MAX)
        return refuse(error, "is too long");
    if (!points_find(text, length, points))
        return refuse(error, "is not three parts of base64url");
    out->header = part_read(text, points[0]);
    if (!out->header)
        return refuse(error, "holds no JSON object where its header belongs");
    if (!header_take(out, error))
        return false;
    out->claims = part_read(text + points[0] + 1, points[1] - points[0] - 1);
    return out->claims || refuse(error, "holds no JSON object where its claims belong");
}

void oidc_token_clear(OidcToken *token)
{
    json_decref(token->header);
    json_decref(token->claims);
    *token = (OidcToken){0};
}

char *oidc_token_claim(const OidcToken *token, const char *name)
{
    const json_t *value = json_object_get(token->claims, name);
    if (json_is_integer(value))
        return g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_boolean(value))
        return g_strdup(json_is_true(value) ? "true" : "false");
    const char *text = json_string_value(value);
    return text && json_string_length(value) <= CLAIM_BYTES_MAX ? g_strdup(text) : NULL;
}

bool oidc_token_time(const OidcToken *token, const char *name, int64_t *out_s)
{
    const json_t *value = json_object_get(token->claims, name);
    double seconds = json_number_value(value);
    if (!json_is_number(value) || !isfinite(seconds) || seconds < 0 || seconds > 1e11)
        return false;
    *out_s = (int64_t)seconds;
    return true;
}

bool oidc_token_is_for(const OidcToken *token, const char *audience)
{
    const json_t *said = json_object_get(token->claims, "aud"), *one;
    size_t i;
    if (json_is_string(said))
        return strcmp(json_string_value(said), audience) == 0;
    json_array_foreach(said, i, one) if (json_is_string(one) &&
                                         strcmp(json_string_value(one), audience) == 0) return true;
    return false;
}
