/* SPDX-License-Identifier: Apache-2.0
 * Tokens of CI jobs: those that are taken and who they say it is, and each way in which one is
 * refused. Signatures and keys are real ones. */
#include "tests/unit/access/oidc_fixture.h"

static struct issuer issuer;

static void test_taken(void)
{
    g_autoptr(Oidc) oidc = oidc_start(&issuer, "");
    for (int is_rsa = 0; is_rsa < 2; is_rsa++) {
        struct oidc_identity who;
        g_autofree char *token = token_make(is_rsa ? issuer.rsa : issuer.ec, is_rsa, "{}", "{}");
        assert_taken(oidc, token, &who);
        g_assert_cmpstr(who.trust, ==, "ci");
        g_assert_cmpstr(who.project, ==, "mine");
        g_assert_cmpstr(who.branch, ==, "main");
        g_assert_cmpstr(who.repository, ==, REPOSITORY);
        g_assert_cmpstr(who.subject, ==, "ci: repo:me/mine:ref:refs/heads/main");
        g_assert_false(who.is_pull_request || who.may_read);
        g_assert_null(who.machines);
        g_assert_cmpint(who.expires_s, ==, NOW + 290);
        oidc_identity_clear(&who);
    }
}

/* What one of several audiences, GitLab's words, numbers for texts and a clock that is a little
 * wrong have in common: nothing is wrong with them. */
static void test_taken_otherwise(void)
{
    static const struct {
        const char *claims, *branch;
    } cases[] = {
        {"{\"aud\":[\"https://other.example\",\"" AUDIENCE "\"]}", "main"},
        {"{\"ref\":\"refs/heads/feature/x\"}", "feature/x"},
        {"{\"ref\":\"topic\",\"event_name\":null,\"pipeline_source\":\"push\"}", "topic"},
        {"{\"repository_id\":123456789}", "main"},
        {"{\"exp\":1799999941}", "main"}, /* 59 s ago */
        {"{\"iat\":1800000059,\"nbf\":1800000059}", "main"},
        {"{\"nbf\":null}", "main"},
        {"{\"exp\":1800000100.5}", "main"},
        {"{\"event_name\":\"schedule\"}", "main"},
    };
    g_autoptr(Oidc) oidc = oidc_start(&issuer, "");
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct oidc_identity who;
        g_autofree char *token = token_make(issuer.ec, false, "{}", cases[i].claims);
        g_test_message("%s", cases[i].claims);
        assert_taken(oidc, token, &who);
        g_assert_cmpstr(who.branch, ==, cases[i].branch);
        oidc_identity_clear(&who);
    }
}

static void test_wrong_claims(void)
{
    static const struct {
        const char *claims, *says;
    } cases[] = {
        {"{\"iss\":\"https://evil.example\"}", "issuer"},
        {"{\"iss\":null}", "issuer"},
        {"{\"iss\":[\"" ISSUER "\"]}", "issuer"},
        {"{\"iss\":\"" ISSUER "/\"}", "issuer"},
        {"{\"aud\":\"https://other.example\"}", "audience"},
        {"{\"aud\":null}", "audience"},
        {"{\"aud\":[]}", "audience"},
        {"{\"aud\":{\"" AUDIENCE "\":1}}", "audience"},
        {"{\"aud\":\"" AUDIENCE "/\"}", "audience"},
        {"{\"exp\":1799999940}", "expired"},
        {"{\"exp\":null}", "exp"},
        {"{\"exp\":\"1900000000\"}", "exp"},
        {"{\"exp\":-1}", "exp"},
        {"{\"exp\":1e300}", "exp"},
        {"{\"iat\":null}", "iat"},
        {"{\"iat\":1800000061}", "not valid yet"},
        {"{\"nbf\":1800000061}", "not valid yet"},
        {"{\"nbf\":\"soon\"}", "iat, exp"},
        {"{\"repository_id\":\"987654321\"}", "another repository_id"},
        {"{\"repository_id\":null,\"repository\":\"me/mine\"}", "another repository_id"},
        {"{\"repository_id\":123456790}", "another repository_id"},
        {"{\"repository_id\":123456789.0}", "another repository_id"},
        {"{\"repository_id\":[\"" REPOSITORY "\"]}", "another repository_id"},
        {"{\"ref\":\"refs/tags/v1\",\"ref_type\":\"tag\"}", "no branch"},
        {"{\"ref\":\"v1\",\"ref_type\":\"tag\"}", "no branch"},
        {"{\"ref\":null}", "no branch"},
        {"{\"ref\":\"refs/heads/\"}", "no branch"},
        {"{\"ref\":\"refs/heads/a*\"}", "name is none here"},
        {"{\"ref\":\"refs/heads/a\\nb\"}", "name is none here"},
        {"{\"ref\":\"refs/heads/..\"}", "name is none here"},
        {"{\"event_name\":\"issue_comment\"}", "event"},
        {"{\"event_name\":\"workflow_run\"}", "event"},
        {"{\"event_name\":\"pull_request\",\"head_ref\":\"x\"}", "pull request"},
        {"{\"event_name\":\"pull_request_target\"}", "pull request"},
        {"{\"event_name\":null,\"pipeline_source\":\"merge_request_event\"}", "pull request"},
        {"{\"ref\":\"refs/pull/7/merge\"}", "pull request"},
        {"{\"ref\":\"refs/merge-requests/7/head\"}", "pull request"},
    };
    g_autoptr(Oidc) oidc = oidc_start(&issuer, "");
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *token = token_make(issuer.ec, false, "{}", cases[i].claims);
        g_test_message("%s", cases[i].claims);
        assert_refused(oidc, token, cases[i].says);
    }
}

static void test_wrong_headers(void)
{
    static const struct {
        const char *header, *says;
    } cases[] = {
        {"{\"kid\":null}", "kid"},
        {"{\"kid\":\"\"}", "kid"},
        {"{\"kid\":7}", "kid"},
        {"{\"kid\":\"rsa-2\"}", "none of its issuer's"},
        {"{\"kid\":\"ec-1\"}", "none of its issuer's"}, /* a key of the other kind */
        {"{\"alg\":\"RS384\"}", "RS256 or ES256"},
        {"{\"alg\":\"RS512\"}", "RS256 or ES256"},
        {"{\"alg\":\"PS256\"}", "RS256 or ES256"},
        {"{\"crit\":[\"exp\"]}", "crit"},
        {"{\"b64\":false}", "b64"},
        {"{\"jku\":\"http://127.0.0.1:1/keys\"}", "jku"},
        {"{\"x5u\":\"http://127.0.0.1:1/chain\"}", "x5u"},
        {"{\"x5c\":[\"AAAA\"]}", "x5c"},
        {"{\"jwk\":{\"kty\":\"RSA\"}}", "jwk"},
        {"{\"zip\":\"DEF\"}", "zip"},
    };
    g_autoptr(Oidc) oidc = oidc_start(&issuer, "");
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *token = token_make(issuer.rsa, true, cases[i].header, "{}");
        g_test_message("%s", cases[i].header);
        assert_refused(oidc, token, cases[i].says);
    }
}

/* ---- Signatures ---- */

static char *unsigned_part(const char *header)
{
    json_t *claims = claims_make("{}");
    g_autofree char *first = base64url(header, strlen(header));
    g_autofree char *second = json_part(claims);
    json_decref(claims);
    return g_strdup_printf("%s.%s", first, second);
}

/* A verifier that takes the token's word for the algorithm would use the public key, which
 * everybody has, as the secret of HS256. */
static void test_algorithm_confusion(void)
{
    g_autoptr(Oidc) oidc = oidc_start(&issuer, "");
    static const char *const algorithms[] = {"HS256", "RS256", "none"};
    unsigned char pem[4096];
    size_t pem_length = sizeof pem;
    g_assert_cmpint(r_jwk_export_to_pem_der(issuer.rsa_public, R_FORMAT_PEM, pem, &pem_length, 0),
                    ==, RHN_OK);
    for (gsize i = 0; i < G_N_ELEMENTS(algorithms); i++) {
        g_autofree char *header =
            g_strdup_printf("{\"alg\":\"%s\",\"typ\":\"JWT\",\"kid\":\"rsa-1\"}", algorithms[i]);
        g_autofree char *text = unsigned_part(header);
        g_autoptr(GHmac) hmac = g_hmac_new(G_CHECKSUM_SHA256, pem, pem_length);
        guint8 digest[32];
        gsize digest_length = sizeof digest;
        g_hmac_update(hmac, (const guchar *)text, -1);
        g_hmac_get_digest(hmac, digest, &digest_length);
        g_autofree char *signature = base64url(digest, digest_length);
        g_autofree char *token = g_strdup_printf("%s.%s", text, signature);
        assert_refused(oidc, token, i == 1 ? "signature that is wrong" : "RS256 or ES256");
    }
}

static void test_unsigned(void)
{
    static const char *const headers[] = {
        "{\"alg\":\"none\",\"kid\":\"rsa-1\"}",    "{\"alg\":\"None\",\"kid\":\"rsa-1\"}",
        "{\"alg\":\"NONE\",\"kid\":\"rsa-1\"}",    "{\"kid\":\"rsa-1\"}",
        "{\"alg\":[\"RS256\"],\"kid\":\"rsa-1\"}", "{\"alg\":\"rs256\",\"kid\":\"rsa-1\"}"};
    g_autoptr(Oidc) oidc = oidc_start(&issuer, "");
    for (gsize i = 0; i < G_N_ELEMENTS(headers); i++) {
        g_autofree char *text = unsigned_part(headers[i]);
        g_autofree char *empty = g_strdup_printf("%s.", text);
        g_autofree char *some = g_strdup_printf("%s.AAAA", text);
        assert_refused(oidc, text, "three parts");
        assert_refused(oidc, empty, "three parts");
        assert_refused(oidc, some, "RS256 or ES256");
    }
}

static void test_wrong_signatures(void)
{
    g_autoptr(Oidc) oidc = oidc_start(&issuer, "");
    jwk_t *other, *other_public;
    for (int is_rsa = 0; is_rsa < 2; is_rsa++) {
        jwk_t *own = is_rsa ? issuer.rsa : issuer.ec;
        key_make(is_rsa ? R_KEY_TYPE_RSA : R_KEY_TYPE_EC, is_rsa ? 2048 : 256,
                 is_rsa ? "rsa-1" : "ec-1", &other, &other_public);
        g_autofree char *forged = token_make(other, is_rsa, "{}", "{}");
        g_autofree char *good = token_make(own, is_rsa, "{}", "{}");
        g_autofree char *better = token_make(own, is_rsa, "{}", "{\"ref\":\"refs/heads/x\"}");
        g_auto(GStrv) parts = g_strsplit(good, ".", 3), others = g_strsplit(better, ".", 3);
        g_autofree char *mixed = g_strdup_printf("%s.%s.%s", parts[0], parts[1], others[2]);
        g_autofree char *cut = g_strndup(good, strlen(good) - 4);
        g_autofree char *longer = g_strconcat(good, "AAAA", NULL);
        g_autofree char *zeros = g_strdup_printf("%s.%s.%s", parts[0], parts[1],
                                                 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                                                 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
        assert_refused(oidc, forged, "signature that is wrong");
        assert_refused(oidc, mixed, "signature that is wrong");
        assert_refused(oidc, cut, "signature that is wrong");
        assert_refused(oidc, longer, "signature that is wrong");
        assert_refused(oidc, zeros, "signature that is wrong");
        r_jwk_free(other);
        r_jwk_free(other_public);
    }
}

static void test_garbage(void)
{
    static const char *const texts[] = {"",
                                        ".",
                                        "..",
                                        "...",
                                        "a.b.c",
                                        "a.b.c.d.e",
                                        "eyJ.eyJ.AA",
                                        "é.é.é",
                                        "a b.c.d",
                                        "e30.e30.",
                                        ".e30.AA",
                                        "e30..AA",
                                        "W10.W10.AA",
                                        "{}.{}.{}",
                                        "bnVsbA.bnVsbA.AA",
                                        "{\"payload\":\"e30\"}",
                                        "e30=.e30=.AA",
                                        "e30.e30.AA\n"};
    g_autoptr(Oidc) oidc = oidc_start(&issuer, "");
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_test_message("%s", texts[i]);
        assert_refused(oidc, texts[i], "the token in Authorization");
    }
    g_assert_false(oidc_is_token("brkv_0123456789abcdef", 21));
    g_assert_true(oidc_is_token("e30.e30.AA", 10));
    g_autofree char *twice =
        base64url("{\"alg\":\"none\",\"alg\":\"RS256\",\"kid\":\"rsa-1\"}", 43);
    g_autofree char *doubled = g_strdup_printf("%s.e30.AA", twice);
    assert_refused(oidc, doubled, "no JSON object");
}

static void test_oversized(void)
{
    g_autoptr(Oidc) oidc = oidc_start(&issuer, "");
    g_autofree char *filler = g_strnfill(OIDC_TOKEN_BYTES_MAX, 'x');
    g_autofree char *claims = g_strdup_printf("{\"filler\":\"%s\"}", filler);
    g_autofree char *token = token_make(issuer.rsa, true, "{}", claims);
    assert_refused(oidc, token, "too long");
    g_autofree char *nested = g_strnfill(4000, '[');
    g_autofree char *part = base64url(nested, 4000);
    g_autofree char *deep = g_strdup_printf("%s.e30.AA", part);
    assert_refused(oidc, deep, "no JSON object");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    issuer_start(&issuer);
    g_test_add_func("/oidc/taken", test_taken);
    g_test_add_func("/oidc/taken-otherwise", test_taken_otherwise);
    g_test_add_func("/oidc/wrong-claims", test_wrong_claims);
    g_test_add_func("/oidc/wrong-headers", test_wrong_headers);
    g_test_add_func("/oidc/algorithm-confusion", test_algorithm_confusion);
    g_test_add_func("/oidc/unsigned", test_unsigned);
    g_test_add_func("/oidc/wrong-signatures", test_wrong_signatures);
    g_test_add_func("/oidc/garbage", test_garbage);
    g_test_add_func("/oidc/oversized", test_oversized);
    int status = g_test_run();
    issuer_stop(&issuer);
    return status;
}
