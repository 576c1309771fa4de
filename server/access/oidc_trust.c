/* SPDX-License-Identifier: Apache-2.0
 * See oidc_trust.h: the key file's side. Knows no token. */
#include "server/access/oidc_trust.h"
#include "schema/text.h"
#include <string.h>

#define GROUP_PREFIX    "oidc "
#define CLAIM_PREFIX    "claim."
#define NAME_BYTES_MAX  256u
#define VALUE_BYTES_MAX 1024u
#define KEYS_KNOWN                                                                                 \
    "issuer, audience, jwks, project, claim.NAME, branch, pull-requests, machine and read"

static void claim_free(gpointer item)
{
    struct oidc_claim *claim = item;
    g_free(claim->name);
    g_strfreev(claim->values);
    g_free(claim);
}

void oidc_trust_free(OidcTrust *trust)
{
    if (!trust)
        return;
    g_free(trust->name);
    g_free(trust->issuer);
    g_free(trust->audience);
    g_free(trust->jwks);
    g_free(trust->project);
    g_clear_pointer(&trust->claims, g_ptr_array_unref);
    g_strfreev(trust->branches);
    g_strfreev(trust->machines);
    g_free(trust);
}

bool oidc_is_group(const char *group)
{
    return g_str_has_prefix(group, GROUP_PREFIX);
}

/* ---- The key file ---- */

/* Where a fault is. */
struct place {
    const char *path, *group;
};

static bool fail(const struct place *place, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
static bool fail(const struct place *place, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "%s: [%s]: %s", place->path, place->group,
                message);
    return false;
}

static bool take_text(const struct place *place, const char *key, char *value, char **out,
                      GError **error)
{
    gsize length = strlen(value);
    g_free(*out); /* of a key that is there twice the last one counts */
    *out = value;
    return (length > 0 && length <= VALUE_BYTES_MAX) ||
           fail(place, error, "%s has %zu bytes; 1 to %u would be right", key, length,
                VALUE_BYTES_MAX);
}

static bool take_switch(const struct place *place, const char *key, const char *value, bool *out,
                        GError **error)
{
    *out = strcmp(value, "on") == 0;
    return *out || strcmp(value, "off") == 0 ||
           fail(place, error, "%s: %s is neither on nor off", key, value);
}

/* Names with commas between them; a claim's value may hold some, so there it is semicolons. */
static bool take_list(const struct place *place, const char *key, const char *value, char ***out,
                      GError **error)
{
    const char *separator = g_str_has_prefix(key, CLAIM_PREFIX) ? ";" : ",";
    g_auto(GStrv) names = g_strsplit(value, separator, -1);
    for (char **name = names; *name; name++)
        if (!*g_strstrip(*name) || strlen(*name) > VALUE_BYTES_MAX)
            return fail(place, error, "%s: \"%s\" holds an empty or too long name", key, value);
    if (!*names || g_strv_length(names) > OIDC_BRANCHES_MAX)
        return fail(place, error, "%s: 1 to %u names would be right", key, OIDC_BRANCHES_MAX);
    g_strfreev(*out);
    *out = g_steal_pointer(&names);
    return true;
}

static bool take_claim(const struct place *place, OidcTrust *trust, const char *key,
                       const char *value, GError **error)
{
    const char *name = key + strlen(CLAIM_PREFIX);
    struct oidc_claim *claim = g_new0(struct oidc_claim, 1);
    claim->name = g_strdup(name);
    g_ptr_array_add(trust->claims, claim);
    if (!*name || trust->claims->len > OIDC_CLAIMS_MAX)
        return fail(place, error, "%s: 1 to %u keys claim.NAME would be right", key,
                    OIDC_CLAIMS_MAX);
    if (strcmp(name, "repository_id") == 0 || strcmp(name, "project_id") == 0) {
        trust->repository = claim;
        if (!*value || strspn(value, G_CSET_DIGITS) != strlen(value))
            return fail(place, error,
                        "%s: %s is no number; the repository's number would be right, not its "
                        "name, which another one can have tomorrow",
                        key, *value ? value : "\"\"");
    }
    trust->events_are_named |= strcmp(name, "event_name") == 0;
    return take_list(place, key, value, &claim->values, error);
}

static bool take_key(const struct place *place, OidcTrust *trust, const char *key, char *value,
                     GError **error)
{
    const struct {
        const char *key;
        char **out;
    } texts[] = {{"issuer", &trust->issuer},
                 {"audience", &trust->audience},
                 {"jwks", &trust->jwks},
                 {"project", &trust->project}};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        if (strcmp(key, texts[i].key) == 0)
            return take_text(place, key, value, texts[i].out, error);
    g_autofree char *text = value;
    if (g_str_has_prefix(key, CLAIM_PREFIX))
        return take_claim(place, trust, key, text, error);
    if (strcmp(key, "branch") == 0)
        return take_list(place, key, text, &trust->branches, error);
    if (strcmp(key, "machine") == 0)
        return take_list(place, key, text, &trust->machines, error);
    if (strcmp(key, "pull-requests") == 0)
        return take_switch(place, key, text, &trust->pull_requests, error);
    if (strcmp(key, "read") == 0)
        return take_switch(place, key, text, &trust->may_read, error);
    return fail(place, error, "unknown key %s; there are " KEYS_KNOWN, key);
}

static bool is_complete(const struct place *place, const OidcTrust *trust, GError **error)
{
    const struct {
        const char *key, *value, *like;
    } needed[] = {
        {"issuer", trust->issuer, "https://token.actions.githubusercontent.com"},
        {"audience", trust->audience, "https://bench.example.org, what the job asks its token for"},
        {"jwks", trust->jwks, "/etc/breakeven/jwks/github.json, the issuer's keys"},
        {"project", trust->project, "breakeven, to which it may submit"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(needed); i++)
        if (!needed[i].value)
            return fail(place, error, "%s is missing; %s = %s would be right", needed[i].key,
                        needed[i].key, needed[i].like);
    if (!trust->repository)
        return fail(place, error,
                    "neither claim.repository_id (GitHub) nor claim.project_id (GitLab) is there; "
                    "without the repository's number every repository of the issuer could submit");
    if (trust->pull_requests && !trust->branches)
        return fail(place, error,
                    "pull-requests = on wants branch = main (and others) beside it: the branches "
                    "that no pull request may speak for");
    g_autofree char *problem =
        text_name_problem(trust->project, strlen(trust->project), NAME_BYTES_MAX);
    return !problem || fail(place, error, "project %s", problem);
}

OidcTrust *oidc_trust_read(GKeyFile *file, const char *path, const char *group, GError **error)
{
    const struct place place = {path, group};
    g_autoptr(OidcTrust) trust = g_new0(OidcTrust, 1);
    trust->name = g_strstrip(g_strdup(group + strlen(GROUP_PREFIX)));
    trust->claims = g_ptr_array_new_with_free_func(claim_free);
    g_autofree char *problem = text_name_problem(trust->name, strlen(trust->name), NAME_BYTES_MAX);
    if (problem) {
        fail(&place, error, "the name %s; [oidc github] would be right", problem);
        return NULL;
    }
    g_auto(GStrv) keys = g_key_file_get_keys(file, group, NULL, NULL);
    for (char **key = keys; key && *key; key++) {
        g_autoptr(GError) reason = NULL;
        char *value = g_key_file_get_string(file, group, *key, &reason);
        if (!value) {
            fail(&place, error, "%s", reason->message);
            return NULL;
        }
        if (!take_key(&place, trust, *key, g_strstrip(value), error))
            return NULL;
    }
    return is_complete(&place, trust, error) ? g_steal_pointer(&trust) : NULL;
}
