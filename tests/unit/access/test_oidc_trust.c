/* SPDX-License-Identifier: Apache-2.0
 * What the operator says of CI tokens: every mistake of a group, branches and pull requests, keys
 * that change. */
#include "tests/unit/access/oidc_fixture.h"

static struct issuer issuer;

static void assert_mistake(const char *text, const char *says)
{
    g_autoptr(GError) error = NULL;
    g_test_message("%s", text);
    g_assert_null(oidc_of_text(text, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX);
    g_assert_true(g_str_has_prefix(error->message, "server.conf: [oidc "));
    if (!strstr(error->message, says))
        g_error("\"%s\" does not say \"%s\"", error->message, says);
}

static void test_mistakes(void)
{
    static const struct {
        const char *more, *says;
    } cases[] = {
        {"colour=red\n", "unknown key colour"},
        {"claim.=x\n", "claim.NAME"},
        {"claim.repository_id=me/mine\n", "no number"},
        {"claim.repository_id=\n", "no number"},
        {"claim.environment=\n", "1 to 64 names"},
        {"claim.environment=a;;b\n", "empty"},
        {"branch=main,,x\n", "empty"},
        {"branch=\n", "branch"},
        {"machine=\n", "machine"},
        {"pull-requests=yes\n", "neither on nor off"},
        {"pull-requests=on\n", "branch = main"},
        {"read=1\n", "neither on nor off"},
        {"project= \n", "project"},
        {"project=..\n", "project"},
        {"issuer=\n", "issuer"},
        {"jwks=/nowhere/keys.json\n", "/nowhere/keys.json: cannot be read"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = group_text(&issuer, cases[i].more);
        assert_mistake(text, cases[i].says);
    }
    assert_mistake("[oidc ]\n", "the name");
}

static void test_what_is_missing(void)
{
    static const char *const keys[] = {"issuer", "audience", "jwks", "project",
                                       "claim.repository_id"};
    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *whole = group_text(&issuer, "claim.repository=me/mine\n");
        g_auto(GStrv) lines = g_strsplit(whole, "\n", -1);
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char *prefix = g_strconcat(keys[i], "=", NULL);
        for (char **line = lines; *line; line++)
            if (!g_str_has_prefix(*line, prefix))
                g_string_append_printf(text, "%s\n", *line);
        assert_mistake(text->str, keys[i]);
    }
    g_autoptr(GError) error = NULL;
    g_assert_null(oidc_of_text("[server]\nlisten=127.0.0.1:1\n", &error));
    g_assert_no_error(error);
}

static void assert_keys(const char *keys, const char *says)
{
    g_autofree char *text = group_text(&issuer, "");
    g_assert_true(g_file_set_contents(issuer.path, keys, -1, NULL));
    assert_mistake(text, says);
}

static void test_bad_keys(void)
{
    char *secret = r_jwk_export_to_json_str(issuer.ec, 0);
    g_autofree char *private_set = g_strdup_printf("{\"keys\":[%s]}", secret);
    jwk_t *small, *small_public;
    key_make(R_KEY_TYPE_RSA, 1024, "small", &small, &small_public);
    g_autofree char *big = g_strnfill(OIDC_KEYS_BYTES_MAX + 1, ' ');
    assert_keys("", "no JSON Web Key Set");
    assert_keys("{}", "no JSON Web Key Set");
    assert_keys("{\"keys\":[]}", "no JSON Web Key Set");
    assert_keys("-----BEGIN PUBLIC KEY-----", "no JSON Web Key Set");
    assert_keys("{\"keys\":[{\"kty\":\"oct\",\"kid\":\"a\",\"k\":\"AAAA\"}]}", "symmetric");
    assert_keys(private_set, "private");
    assert_keys(big, "over");
    keys_write(issuer.path, (jwk_t *[]){small_public, NULL});
    g_autofree char *text = group_text(&issuer, "");
    assert_mistake(text, "no key for RS256");
    keys_write(issuer.path, (jwk_t *[]){issuer.rsa_public, issuer.ec_public, NULL});
    r_jwk_free(small);
    r_jwk_free(small_public);
    r_free(secret);
}

static void assert_branch(Oidc *oidc, const char *claims, const char *branch, bool is_pull_request)
{
    struct oidc_identity who;
    g_autofree char *token = token_make(issuer.ec, false, "{}", claims);
    g_test_message("%s", claims);
    assert_taken(oidc, token, &who);
    g_assert_cmpstr(who.branch, ==, branch);
    g_assert_cmpint(who.is_pull_request, ==, is_pull_request);
    oidc_identity_clear(&who);
}

static void assert_no_branch(Oidc *oidc, const char *claims, const char *says)
{
    g_autofree char *token = token_make(issuer.ec, false, "{}", claims);
    g_test_message("%s", claims);
    assert_refused(oidc, token, says);
}

#define PULL_REQUEST(head, base)                                                                   \
    "{\"event_name\":\"pull_request\",\"ref\":\"refs/pull/7/merge\",\"head_ref\":\"" head          \
    "\",\"base_ref\":\"" base "\"}"
#define GITLAB(ref, type)                                                                          \
    "{\"event_name\":null,\"pipeline_source\":\"push\",\"ref\":\"" ref "\",\"ref_type\":" type "}"
#define MERGE_REQUEST(ref)                                                                         \
    "{\"event_name\":null,\"pipeline_source\":\"merge_request_event\",\"ref\":\"" ref "\"}"

static void test_pull_requests(void)
{
    g_autoptr(Oidc) oidc = oidc_start(&issuer, "branch=main,release/*\npull-requests=on\n");
    assert_branch(oidc, "{}", "main", false);
    assert_branch(oidc, "{\"ref\":\"refs/heads/release/2\"}", "release/2", false);
    assert_no_branch(oidc, "{\"ref\":\"refs/heads/feature\"}", "another branch");
    /* GitLab's refs are bare names, and a tag may be called main. */
    assert_branch(oidc, GITLAB("main", "\"branch\""), "main", false);
    assert_no_branch(oidc, GITLAB("main", "\"tag\""), "of no branch");
    assert_no_branch(oidc, GITLAB("main", "null"), "of no branch");
    assert_no_branch(oidc, "{\"ref\":\"refs/tags/main\"}", "of no branch");
    assert_no_branch(oidc, "{\"ref\":\"refs/heads/main\",\"ref_type\":\"tag\"}", "of no branch");
    assert_branch(oidc, PULL_REQUEST("feature", "main"), "feature", true);
    assert_branch(oidc, MERGE_REQUEST("topic"), "topic", true);
    /* A fork's author calls the branch as they like. */
    assert_no_branch(oidc, PULL_REQUEST("main", "main"), "pull request");
    assert_no_branch(oidc, PULL_REQUEST("main", "develop"), "pull request");
    assert_no_branch(oidc, PULL_REQUEST("release/9", "main"), "pull request");
    assert_no_branch(oidc, PULL_REQUEST("develop", "develop"), "pull request");
    assert_no_branch(oidc, PULL_REQUEST("", "main"), "does not tell its branch");
    assert_no_branch(oidc, MERGE_REQUEST("main"), "pull request");
    assert_no_branch(oidc, MERGE_REQUEST("refs/merge-requests/1/head"), "does not tell its branch");
}

static void test_claims_and_what_goes_with_them(void)
{
    struct oidc_identity who;
    g_autoptr(Oidc) oidc =
        oidc_start(&issuer, "claim.event_name=workflow_run;push\nclaim.ref_protected=true\n"
                            "machine=ci-7, ci-8\nread=on\n");
    g_autofree char *token = token_make(issuer.ec, false, "{}",
                                        "{\"event_name\":\"workflow_run\",\"ref_protected\":true}");
    assert_taken(oidc, token, &who);
    g_assert_true(who.may_read);
    g_assert_cmpuint(g_strv_length(who.machines), ==, 2);
    g_assert_cmpstr(who.machines[1], ==, "ci-8");
    oidc_identity_clear(&who);
    assert_no_branch(oidc, "{\"ref_protected\":\"false\"}", "another ref_protected");
    assert_no_branch(oidc, "{\"event_name\":\"schedule\",\"ref_protected\":\"true\"}",
                     "another event_name");
}

/* Two projects of one issuer, and one more issuer that has stolen the names of the first's keys. */
static void test_several(void)
{
    struct issuer other = {0};
    issuer_start(&other);
    g_autofree char *first = group_text(&issuer, "");
    g_autofree char *text =
        g_strdup_printf("%s[oidc two]\nissuer=" ISSUER "\naudience=" AUDIENCE
                        "\njwks=%s\nproject=second\nclaim.project_id=7\n"
                        "[oidc other]\nissuer=https://other.example\naudience=" AUDIENCE
                        "\njwks=%s\nproject=third\nclaim.repository_id=" REPOSITORY "\n",
                        first, issuer.path, other.folder);
    g_autoptr(Oidc) oidc = oidc_of_text(text, NULL);
    struct oidc_identity who;
    g_autofree char *second =
        token_make(issuer.ec, false, "{}", "{\"repository_id\":null,\"project_id\":7}");
    assert_taken(oidc, second, &who);
    g_assert_cmpstr(who.project, ==, "second");
    g_assert_cmpstr(who.repository, ==, "7");
    oidc_identity_clear(&who);
    g_autofree char *crossed = token_make(other.ec, false, "{}", "{}");
    assert_refused(oidc, crossed, "signature that is wrong");
    g_autofree char *third =
        token_make(other.ec, false, "{}", "{\"iss\":\"https://other.example\"}");
    assert_taken(oidc, third, &who); /* its keys come from a folder */
    g_assert_cmpstr(who.project, ==, "third");
    oidc_identity_clear(&who);
    issuer_stop(&other);
}

/* An unknown key makes the file be read, but not again at once; SIGHUP does at any time. */
static void test_rotation(void)
{
    struct issuer turning = {0};
    struct oidc_identity who;
    jwk_t *keys[2], *public_keys[2];
    char *tokens[2] = {NULL, NULL};
    issuer_start(&turning);
    g_autoptr(Oidc) oidc = oidc_start(&turning, "");
    for (int i = 0; i < 2; i++) {
        g_autofree char *kid = g_strdup_printf("ec-%d", i + 2);
        g_autofree char *header = g_strdup_printf("{\"kid\":\"%s\"}", kid);
        key_make(R_KEY_TYPE_EC, 256, kid, &keys[i], &public_keys[i]);
        tokens[i] = token_make(keys[i], false, header, "{}");
    }
    g_autofree char *old = token_make(turning.ec, false, "{}", "{}");
    keys_write(turning.path, (jwk_t *[]){turning.ec_public, public_keys[0], NULL});
    assert_taken(oidc, tokens[0], &who);
    oidc_identity_clear(&who);
    keys_write(turning.path, (jwk_t *[]){public_keys[1], NULL});
    assert_refused(oidc, tokens[1], "none of its issuer's");
    assert_taken(oidc, old, &who);
    oidc_identity_clear(&who);
    g_assert_true(oidc_reload(oidc, NULL));
    assert_taken(oidc, tokens[1], &who);
    oidc_identity_clear(&who);
    assert_refused(oidc, old, "none of its issuer's"); /* what was taken away is gone */
    g_autoptr(GError) error = NULL;
    g_assert_true(g_file_set_contents(turning.path, "{", 1, NULL));
    g_assert_false(oidc_reload(oidc, &error));
    g_assert_nonnull(strstr(error->message, turning.path));
    assert_taken(oidc, tokens[1], &who); /* what cannot be read takes nothing away */
    oidc_identity_clear(&who);
    for (int i = 0; i < 2; i++) {
        r_jwk_free(keys[i]);
        r_jwk_free(public_keys[i]);
        g_free(tokens[i]);
    }
    issuer_stop(&turning);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    issuer_start(&issuer);
    g_test_add_func("/oidc-trust/mistakes", test_mistakes);
    g_test_add_func("/oidc-trust/missing", test_what_is_missing);
    g_test_add_func("/oidc-trust/bad-keys", test_bad_keys);
    g_test_add_func("/oidc-trust/pull-requests", test_pull_requests);
    g_test_add_func("/oidc-trust/claims", test_claims_and_what_goes_with_them);
    g_test_add_func("/oidc-trust/several", test_several);
    g_test_add_func("/oidc-trust/rotation", test_rotation);
    int status = g_test_run();
    issuer_stop(&issuer);
    return status;
}
