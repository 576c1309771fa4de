/* SPDX-License-Identifier: Apache-2.0
 * See oidc.h. The only file that knows librhonabwy: keys, and whether one of them made a signature.
 * The library is never let near the network or near keys that a token brings along. Trusts do not
 * change after the start; their keys do, under the lock. */
#include "server/access/oidc.h"
#include "server/access/oidc_token.h"
#include "server/access/oidc_trust.h"
#include <pthread.h>
#include <rhonabwy.h>
#include <string.h>
#include <sys/stat.h>

#define RSA_BITS_MIN 2048u
#define EC_BITS      256u

struct oidc_key {
    char *kid;
    jwk_t *jwk;
    bool is_rsa;
};

/* The keys of one issuer in one place; trusts with the same two share it. */
struct oidc_keys {
    char *issuer, *path;
    GPtrArray *keys; /* struct oidc_key *; under the lock */
};

struct oidc {
    GPtrArray *trusts; /* OidcTrust * */
    GPtrArray *keys;   /* struct oidc_keys * */
    pthread_mutex_t lock;
    gint64 reloaded_us; /* under the lock; 0: not since the start */
};

void oidc_identity_clear(struct oidc_identity *identity)
{
    g_free(identity->trust);
    g_free(identity->repository);
    g_free(identity->project);
    g_free(identity->branch);
    g_free(identity->subject);
    g_strfreev(identity->machines);
    *identity = (struct oidc_identity){0};
}

/* ---- Keys ---- */

static void key_free(gpointer item)
{
    struct oidc_key *key = item;
    g_free(key->kid);
    r_jwk_free(key->jwk);
    g_free(key);
}

static void keys_free(gpointer item)
{
    struct oidc_keys *keys = item;
    g_free(keys->issuer);
    g_free(keys->path);
    g_clear_pointer(&keys->keys, g_ptr_array_unref);
    g_free(keys);
}

static bool fail(GError **error, const char *path, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool fail(GError **error, const char *path, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "%s: %s", path, message);
    return false;
}

/* Whether a property is absent, or this. */
static bool may_be(jwk_t *jwk, const char *property, const char *value)
{
    const char *said = r_jwk_get_property_str(jwk, property);
    return !said || strcmp(said, value) == 0;
}

/* A key that can make RS256 or ES256 signatures of tokens; others of the issuer's are left out. */
static bool key_is_usable(jwk_t *jwk, bool *out_is_rsa)
{
    unsigned bits = 0;
    int type = r_jwk_key_type(jwk, &bits, R_FLAG_IGNORE_REMOTE);
    const char *kid = r_jwk_get_property_str(jwk, "kid");
    *out_is_rsa = (type & R_KEY_TYPE_RSA) != 0;
    if (!kid || !*kid || !may_be(jwk, "use", "sig") ||
        !may_be(jwk, "alg", *out_is_rsa ? "RS256" : "ES256"))
        return false;
    return *out_is_rsa ? bits >= RSA_BITS_MIN : (type & R_KEY_TYPE_EC) && bits == EC_BITS;
}

static bool key_is_secret(jwk_t *jwk)
{
    int type = r_jwk_key_type(jwk, NULL, R_FLAG_IGNORE_REMOTE);
    return (type & (R_KEY_TYPE_PRIVATE | R_KEY_TYPE_SYMMETRIC)) != 0;
}

static bool keys_take(GPtrArray *found, const char *path, jwks_t *set, GError **error)
{
    for (size_t i = 0; i < r_jwks_size(set); i++) {
        jwk_t *jwk = r_jwks_get_at(set, i);
        bool is_rsa = false, is_secret = key_is_secret(jwk), usable = key_is_usable(jwk, &is_rsa);
        if (is_secret || !usable || found->len == OIDC_KEYS_MAX) {
            r_jwk_free(jwk);
            if (is_secret)
                return fail(error, path,
                            "holds a private or symmetric key; the issuer's public "
                            "ones alone would be right");
            continue;
        }
        struct oidc_key *key = g_new0(struct oidc_key, 1);
        *key = (struct oidc_key){g_strdup(r_jwk_get_property_str(jwk, "kid")), jwk, is_rsa};
        g_ptr_array_add(found, key);
    }
    return true;
}

static bool keys_read_file(GPtrArray *found, const char *path, GError **error)
{
    struct stat facts;
    g_autofree char *text = NULL;
    g_autoptr(GError) reason = NULL;
    jwks_t *set = NULL;
    if (stat(path, &facts) == 0 && facts.st_size > (off_t)OIDC_KEYS_BYTES_MAX)
        return fail(error, path, "has over %u bytes; a JSON Web Key Set is shorter",
                    OIDC_KEYS_BYTES_MAX);
    if (!g_file_get_contents(path, &text, NULL, &reason))
        return fail(error, path, "cannot be read: %s", reason->message);
    /* It says of a set with a key that it does not know that the parameter was wrong, and takes the
     * others. */
    bool ok = r_jwks_init(&set) == RHN_OK &&
              (r_jwks_import_from_json_str(set, text) == RHN_OK || r_jwks_size(set) > 0);
    ok = ok ? keys_take(found, path, set, error)
            : fail(error, path,
                   "is no JSON Web Key Set; {\"keys\": [{\"kty\": \"RSA\", \"kid\": "
                   "…}]}, as the issuer's jwks_uri gives it, would be right");
    r_jwks_free(set);
    return ok;
}

static bool keys_read_folder(GPtrArray *found, const char *path, GError **error)
{
    g_autoptr(GError) reason = NULL;
    g_autoptr(GDir) folder = g_dir_open(path, 0, &reason);
    if (!folder)
        return fail(error, path, "cannot be read: %s", reason->message);
    for (const char *name; (name = g_dir_read_name(folder));) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        if (g_str_has_suffix(name, ".json") && !keys_read_file(found, file, error))
            return false;
    }
    return true;
}

static GPtrArray *keys_read(const char *path, GError **error)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(key_free);
    bool ok = g_file_test(path, G_FILE_TEST_IS_DIR) ? keys_read_folder(found, path, error)
                                                    : keys_read_file(found, path, error);
    if (!ok)
        return NULL;
    if (found->len == 0) {
        fail(error, path, "holds no key for RS256 (from %u bits on) or ES256 that has a name (kid)",
             RSA_BITS_MIN);
        return NULL;
    }
    return g_steal_pointer(&found);
}

bool oidc_reload(Oidc *oidc, GError **error)
{
    bool ok = true;
    for (guint i = 0; i < oidc->keys->len; i++) {
        struct oidc_keys *keys = g_ptr_array_index(oidc->keys, i);
        GPtrArray *found = keys_read(keys->path, ok ? error : NULL);
        ok = found && ok;
        if (!found)
            continue;
        pthread_mutex_lock(&oidc->lock);
        GPtrArray *old = keys->keys;
        keys->keys = found;
        pthread_mutex_unlock(&oidc->lock);
        g_ptr_array_unref(old);
    }
    return ok;
}

/* A copy of the key of that name and kind, the caller's; or NULL. */
static jwk_t *key_find(Oidc *oidc, const struct oidc_keys *keys, const OidcToken *token)
{
    jwk_t *found = NULL;
    pthread_mutex_lock(&oidc->lock);
    for (guint i = 0; i < keys->keys->len && !found; i++) {
        const struct oidc_key *key = g_ptr_array_index(keys->keys, i);
        if (key->is_rsa == token->is_rsa && strcmp(key->kid, token->kid) == 0)
            found = r_jwk_copy(key->jwk);
    }
    pthread_mutex_unlock(&oidc->lock);
    return found;
}

/* An issuer makes new keys now and then; its file may have them already. */
static bool keys_may_be_newer(Oidc *oidc)
{
    gint64 now_us = g_get_monotonic_time();
    pthread_mutex_lock(&oidc->lock);
    bool due = oidc->reloaded_us == 0 ||
               now_us - oidc->reloaded_us >= OIDC_RELOAD_SECONDS * G_USEC_PER_SEC;
    if (due)
        oidc->reloaded_us = now_us;
    pthread_mutex_unlock(&oidc->lock);
    return due && (oidc_reload(oidc, NULL) || true);
}

/* ---- The start ---- */

static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void library_init(void)
{
    r_global_init();
}

static struct oidc_keys *keys_of(const Oidc *oidc, const OidcTrust *trust)
{
    for (guint i = 0; i < oidc->keys->len; i++) {
        struct oidc_keys *keys = g_ptr_array_index(oidc->keys, i);
        if (strcmp(keys->issuer, trust->issuer) == 0 && strcmp(keys->path, trust->jwks) == 0)
            return keys;
    }
    return NULL;
}

static bool trust_add(Oidc *oidc, OidcTrust *trust, const char *path, GError **error)
{
    g_ptr_array_add(oidc->trusts, trust);
    if (oidc->trusts->len > OIDC_TRUSTS_MAX)
        return fail(error, path, "has more than %u groups [oidc NAME]", OIDC_TRUSTS_MAX);
    if (keys_of(oidc, trust))
        return true;
    GPtrArray *found = keys_read(trust->jwks, error);
    if (!found) {
        g_prefix_error(error, "%s: [oidc %s]: jwks: ", path, trust->name);
        return false;
    }
    struct oidc_keys *keys = g_new0(struct oidc_keys, 1);
    *keys = (struct oidc_keys){g_strdup(trust->issuer), g_strdup(trust->jwks), found};
    g_ptr_array_add(oidc->keys, keys);
    return true;
}

Oidc *oidc_new(GKeyFile *file, const char *path, GError **error)
{
    g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
    g_autoptr(Oidc) oidc = g_new0(Oidc, 1);
    pthread_mutex_init(&oidc->lock, NULL);
    pthread_once(&library_once, library_init);
    oidc->trusts = g_ptr_array_new_with_free_func((GDestroyNotify)oidc_trust_free);
    oidc->keys = g_ptr_array_new_with_free_func(keys_free);
    for (char **group = groups; *group; group++) {
        OidcTrust *trust;
        if (!oidc_is_group(*group))
            continue;
        if (!(trust = oidc_trust_read(file, path, *group, error)) ||
            !trust_add(oidc, trust, path, error))
            return NULL;
    }
    return oidc->trusts->len > 0 ? g_steal_pointer(&oidc) : NULL;
}

void oidc_free(Oidc *oidc)
{
    if (!oidc)
        return;
    g_ptr_array_unref(oidc->trusts);
    g_ptr_array_unref(oidc->keys);
    pthread_mutex_destroy(&oidc->lock);
    g_free(oidc);
}

/* ---- A token ---- */

static bool refuse(GError **error, const char *why)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAUTHORIZED, "the token in Authorization %s", why);
    return false;
}

static bool signature_is_right(jwk_t *key, const char *token, size_t length)
{
    jws_t *jws = NULL;
    bool right =
        r_jws_init(&jws) == RHN_OK &&
        r_jws_advanced_parsen(jws, token, length, R_PARSE_NONE, R_FLAG_IGNORE_REMOTE) == RHN_OK &&
        r_jws_verify_signature(jws, key, R_FLAG_IGNORE_REMOTE) == RHN_OK;
    r_jws_free(jws);
    return right;
}

enum signature { SIGNATURE_NO_ISSUER, SIGNATURE_NO_KEY, SIGNATURE_WRONG, SIGNATURE_RIGHT };

/* By which keys of the token's issuer it was signed. */
static enum signature signer_find(Oidc *oidc, const OidcToken *token, const char *text,
                                  size_t length, const struct oidc_keys **out)
{
    const char *issuer = json_string_value(json_object_get(token->claims, "iss"));
    enum signature best = SIGNATURE_NO_ISSUER;
    for (guint i = 0; i < oidc->keys->len; i++) {
        const struct oidc_keys *keys = g_ptr_array_index(oidc->keys, i);
        if (g_strcmp0(issuer, keys->issuer) != 0)
            continue;
        jwk_t *key = key_find(oidc, keys, token);
        enum signature this = !key                                    ? SIGNATURE_NO_KEY
                              : signature_is_right(key, text, length) ? SIGNATURE_RIGHT
                                                                      : SIGNATURE_WRONG;
        r_jwk_free(key);
        *out = keys;
        if (this == SIGNATURE_RIGHT)
            return this;
        best = MAX(best, this);
    }
    return best;
}

static bool trust_find(Oidc *oidc, const OidcToken *token, const struct oidc_keys *keys,
                       int64_t now_s, struct oidc_identity *out, GError **error)
{
    g_autoptr(GError) last = NULL;
    for (guint i = 0; i < oidc->trusts->len; i++) {
        const OidcTrust *trust = g_ptr_array_index(oidc->trusts, i);
        if (strcmp(trust->issuer, keys->issuer) != 0 || strcmp(trust->jwks, keys->path) != 0)
            continue;
        g_clear_error(&last);
        if (oidc_trust_admit(trust, token, now_s, out, &last))
            return true;
    }
    g_propagate_error(error, g_steal_pointer(&last));
    return false;
}

bool oidc_verify(Oidc *oidc, const char *token, size_t length, int64_t now_s,
                 struct oidc_identity *out, GError **error)
{
    g_auto(OidcToken) said = {0};
    const struct oidc_keys *keys = NULL;
    *out = (struct oidc_identity){0};
    if (!oidc_token_read(token, length, &said, error))
        return false;
    enum signature signature = signer_find(oidc, &said, token, length, &keys);
    if (signature == SIGNATURE_NO_KEY && keys_may_be_newer(oidc))
        signature = signer_find(oidc, &said, token, length, &keys);
    switch (signature) {
    case SIGNATURE_NO_ISSUER:
        return refuse(error, "is of an issuer that this server does not trust");
    case SIGNATURE_NO_KEY:
        return refuse(error, "is signed with a key that is none of its issuer's here");
    case SIGNATURE_WRONG:
        return refuse(error, "has a signature that is wrong");
    case SIGNATURE_RIGHT:
        break;
    }
    return trust_find(oidc, &said, keys, now_s, out, error);
}
