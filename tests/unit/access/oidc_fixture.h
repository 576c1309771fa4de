/* SPDX-License-Identifier: Apache-2.0
 * What the tests of CI tokens share: an issuer with keys of its own, made anew for each run, whose
 * public halves lie in a file as its jwks_uri would give them, and tokens that it signs. */
#pragma once

#include "server/access/oidc.h"
#include <glib/gstdio.h>
#include <jansson.h>
#include <rhonabwy.h>
#include <string.h>

#define NOW        INT64_C(1800000000)
#define ISSUER     "https://issuer.example"
#define AUDIENCE   "https://bench.example.org"
#define REPOSITORY "123456789"

struct issuer {
    char *folder, *path; /* of the public keys */
    jwk_t *rsa, *rsa_public, *ec, *ec_public;
};

static inline void key_make(int type, unsigned bits, const char *kid, jwk_t **out,
                            jwk_t **out_public)
{
    g_assert_cmpint(r_jwk_init(out), ==, RHN_OK);
    g_assert_cmpint(r_jwk_init(out_public), ==, RHN_OK);
    g_assert_cmpint(r_jwk_generate_key_pair(*out, *out_public, type, bits, kid), ==, RHN_OK);
}

/* A file {"keys": […]} of keys; NULL-terminated. */
static inline void keys_write(const char *path, jwk_t *const *keys)
{
    GString *text = g_string_new("{\"keys\":[");
    for (jwk_t *const *key = keys; *key; key++) {
        char *one = r_jwk_export_to_json_str(*key, 0);
        g_string_append_printf(text, "%s%s", key == keys ? "" : ",", one);
        r_free(one);
    }
    g_string_append(text, "]}");
    g_assert_true(g_file_set_contents(path, text->str, (gssize)text->len, NULL));
    g_string_free(text, TRUE);
}

static inline void issuer_start(struct issuer *issuer)
{
    r_global_init();
    issuer->folder = g_dir_make_tmp("breakeven-oidc-XXXXXX", NULL);
    issuer->path = g_build_filename(issuer->folder, "keys.json", NULL);
    key_make(R_KEY_TYPE_RSA, 2048, "rsa-1", &issuer->rsa, &issuer->rsa_public);
    key_make(R_KEY_TYPE_EC, 256, "ec-1", &issuer->ec, &issuer->ec_public);
    keys_write(issuer->path, (jwk_t *[]){issuer->rsa_public, issuer->ec_public, NULL});
}

static inline void issuer_stop(struct issuer *issuer)
{
    g_unlink(issuer->path);
    g_rmdir(issuer->folder);
    r_jwk_free(issuer->rsa);
    r_jwk_free(issuer->rsa_public);
    r_jwk_free(issuer->ec);
    r_jwk_free(issuer->ec_public);
    g_free(issuer->folder);
    g_free(issuer->path);
}

/* The key file's group, with more lines at its end. */
static inline char *group_text(const struct issuer *issuer, const char *more)
{
    return g_strdup_printf("[oidc ci]\nissuer=" ISSUER "\naudience=" AUDIENCE
                           "\njwks=%s\nproject=mine\nclaim.repository_id=" REPOSITORY "\n%s",
                           issuer->path, more);
}

static inline Oidc *oidc_of_text(const char *text, GError **error)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_assert_true(g_key_file_load_from_data(file, text, strlen(text), G_KEY_FILE_NONE, NULL));
    return oidc_new(file, "server.conf", error);
}

static inline Oidc *oidc_start(const struct issuer *issuer, const char *more)
{
    g_autofree char *text = group_text(issuer, more);
    g_autoptr(GError) error = NULL;
    Oidc *oidc = oidc_of_text(text, &error);
    g_assert_no_error(error);
    g_assert_nonnull(oidc);
    return oidc;
}

/* Members of `text` replace those of `into`; null takes one away. */
static inline void json_change(json_t *into, const char *text)
{
    json_t *changes = json_loads(text, 0, NULL), *value;
    const char *name;
    g_assert_true(json_is_object(changes));
    json_object_foreach(changes, name, value)
    {
        if (json_is_null(value))
            json_object_del(into, name);
        else
            json_object_set(into, name, value);
    }
    json_decref(changes);
}

/* As GitHub writes them for a push to main. */
static inline json_t *claims_make(const char *changes)
{
    json_t *claims = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:I}", "iss", ISSUER, "aud",
                               AUDIENCE, "sub", "repo:me/mine:ref:refs/heads/main", "repository_id",
                               REPOSITORY, "ref", "refs/heads/main", "ref_type", "branch",
                               "event_name", "push", "iat", (json_int_t)(NOW - 10), "nbf",
                               (json_int_t)(NOW - 10), "exp", (json_int_t)(NOW + 290));
    json_change(claims, changes);
    return claims;
}

static inline char *base64url(const void *bytes, gsize length)
{
    char *text = g_base64_encode(bytes, length);
    for (char *at = text; *at; at++)
        *at = *at == '+' ? '-' : *at == '/' ? '_' : *at == '=' ? '\0' : *at;
    return text;
}

static inline char *json_part(const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    char *part = base64url(text, strlen(text));
    free(text);
    return part;
}

/* A token that `key` signs by the rules; `header` and `claims` are changes. */
static inline char *token_make(jwk_t *key, bool is_rsa, const char *header, const char *claims)
{
    json_t *all = claims_make(claims);
    json_t *head = json_pack("{s:s,s:s}", "typ", "JWT", "kid", is_rsa ? "rsa-1" : "ec-1");
    char *payload = json_dumps(all, JSON_COMPACT);
    jws_t *jws = NULL;
    json_change(head, header);
    const json_t *alg = json_object_get(head, "alg");
    g_assert_cmpint(r_jws_init(&jws), ==, RHN_OK);
    g_assert_cmpint(r_jws_set_full_header_json_t(jws, head), ==, RHN_OK);
    g_assert_cmpint(r_jws_set_alg(jws, alg      ? r_str_to_jwa_alg(json_string_value(alg))
                                       : is_rsa ? R_JWA_ALG_RS256
                                                : R_JWA_ALG_ES256),
                    ==, RHN_OK);
    g_assert_cmpint(r_jws_set_payload(jws, (const unsigned char *)payload, strlen(payload)), ==,
                    RHN_OK);
    jwk_t *nameless = r_jwk_copy(key); /* else its name goes where the header has none */
    r_jwk_delete_property_str(nameless, "kid");
    char *token = r_jws_serialize(jws, nameless, 0);
    r_jwk_free(nameless);
    g_assert_nonnull(token);
    char *copy = g_strdup(token);
    r_free(token);
    free(payload);
    r_jws_free(jws);
    json_decref(head);
    json_decref(all);
    return copy;
}

static inline void assert_taken(Oidc *oidc, const char *token, struct oidc_identity *out)
{
    g_autoptr(GError) error = NULL;
    bool taken = oidc_verify(oidc, token, strlen(token), NOW, out, &error);
    g_assert_no_error(error);
    g_assert_true(taken);
}

/* Refused, with words that hold nothing of the token. */
static inline void assert_refused(Oidc *oidc, const char *token, const char *says)
{
    g_autoptr(GError) error = NULL;
    struct oidc_identity identity;
    g_assert_false(oidc_verify(oidc, token, strlen(token), NOW, &identity, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAUTHORIZED);
    if (!strstr(error->message, says))
        g_error("\"%s\" does not say \"%s\"", error->message, says);
    g_assert_null(identity.project);
}
