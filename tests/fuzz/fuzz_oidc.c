/* SPDX-License-Identifier: Apache-2.0
 * Fuzzing of CI tokens: whatever the bytes are, they are refused with words that are valid UTF-8,
 * since none is both signed and for this audience. As the claims of a token whose signature were
 * right they are refused, too, or give a branch that is a name. */
#include "schema/text.h"
#include "server/access/oidc.h"
#include "server/access/oidc_token.h"
#include "server/access/oidc_trust.h"
#include "tests/fuzz/fuzz.h"
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Public keys, whose private halves were thrown away. */
static const char keys[] =
    "{\"keys\":[{\"kty\":\"EC\",\"kid\":\"ec-1\",\"crv\":\"P-256\",\"use\":\"sig\",\"alg\":"
    "\"ES256\","
    "\"x\":\"LacamE_QH8Qgk8n_0sJJMw2mulhSi6oZXutOpCzmIFQ\",\"y\":"
    "\"9BgVPAoNHtFXXJmxLC7ziu40h68GZrcDYq5FQEEgAOU\"},"
    "{\"kty\":\"RSA\",\"kid\":\"rsa-1\",\"use\":\"sig\",\"alg\":\"RS256\",\"e\":\"AQAB\",\"n\":"
    "\""
    "n7shkddGfQJOyxblTp4b1utwxABCTU2IHWln6x2ikrc4BkWfH_d5kjKc0cIF-oAZ"
    "oRV50pYk1uzXTwhj9dV5hZfTEVE9DF6Y2QbjfolYmRsWFj9wgRSTXT5WbysA5aJF"
    "9X-3cxsYKvF7YsD9sZuUlQS3Fah67bW2qQxvhgrHWui-vPc2Q40uC8fZd67_fO9W"
    "Jkt3nFzQqnfuOxJFe40o4PpeW0Cs9J5nncCDKUSgscwMU7nXkiQvS2AjuYbXdQ9u"
    "ZC1fK8rSsosjTsBsXSrk-9qvrx-TuDnw_y1TU9ljp7uVUFCzIxpPJVLJLSmgV_dr"
    "4H7BFuR1ggdVjmw3gqwB7w\"}]}";

static GKeyFile *group_make(const char *jwks)
{
    GKeyFile *file = g_key_file_new();
    g_key_file_set_string(file, "oidc fuzz", "issuer", "https://i.example");
    g_key_file_set_string(file, "oidc fuzz", "audience", "a");
    g_key_file_set_string(file, "oidc fuzz", "jwks", jwks);
    g_key_file_set_string(file, "oidc fuzz", "project", "p");
    g_key_file_set_string(file, "oidc fuzz", "claim.repository_id", "1");
    g_key_file_set_string(file, "oidc fuzz", "branch", "main,v*");
    g_key_file_set_string(file, "oidc fuzz", "pull-requests", "on");
    return file;
}

static Oidc *oidc_make(OidcTrust **out_trust)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("breakeven-fuzz-XXXXXX", &path, NULL);
    check(fd >= 0 && write(fd, keys, sizeof keys - 1) == (ssize_t)sizeof keys - 1);
    close(fd);
    g_autoptr(GKeyFile) file = group_make(path);
    *out_trust = oidc_trust_read(file, "fuzz", "oidc fuzz", NULL);
    /* Kept inputs are signed; none is for this audience. */
    g_key_file_set_string(file, "oidc fuzz", "audience", "nobody");
    Oidc *oidc = oidc_new(file, "fuzz", NULL);
    check(oidc && *out_trust);
    g_unlink(path);
    return oidc;
}

/* Each claim that anything asks for; most inputs get this far only here. */
static void check_claims(const OidcToken *token)
{
    static const char *const names[] = {"sub", "ref", "head_ref", "exp", "aud", "repository_id"};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *text = oidc_token_claim(token, names[i]);
        int64_t time_s = 0;
        check(!text || g_utf8_validate(text, -1, NULL));
        check(!oidc_token_time(token, names[i], &time_s) || time_s >= 0);
    }
    oidc_token_is_for(token, "a");
}

/* The bytes as claims, beneath a header that is right. */
static void check_admission(const OidcTrust *trust, const uint8_t *data, size_t size)
{
    g_autofree char *part = g_base64_encode(data, size);
    part[strcspn(part, "=")] = '\0';
    g_autofree char *text =
        g_strconcat("eyJhbGciOiJFUzI1NiIsImtpZCI6ImVjLTEifQ.", part, ".AA", NULL);
    g_autoptr(GError) error = NULL;
    g_auto(OidcToken) token = {0};
    struct oidc_identity who;
    g_strdelimit(text, "+", '-');
    g_strdelimit(text, "/", '_');
    if (!oidc_token_read(text, strlen(text), &token, NULL))
        return;
    check_claims(&token);
    if (!oidc_trust_admit(trust, &token, 1800000000, &who, &error)) {
        check(error && g_utf8_validate(error->message, -1, NULL));
        return;
    }
    g_autofree char *problem = text_name_problem(who.branch, strlen(who.branch), 256);
    check(!problem && !g_str_has_suffix(who.branch, "*") && strcmp(who.repository, "1") == 0);
    check(!who.is_pull_request || strcmp(who.branch, "main") != 0);
    oidc_identity_clear(&who);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Oidc *oidc;
    static OidcTrust *trust;
    g_autoptr(GError) error = NULL;
    struct oidc_identity who;
    oidc = oidc ? oidc : oidc_make(&trust);
    check(!oidc_verify(oidc, (const char *)data, size, 1800000000, &who, &error));
    check(error && g_utf8_validate(error->message, -1, NULL));
    check_admission(trust, data, size);
    return 0;
}
