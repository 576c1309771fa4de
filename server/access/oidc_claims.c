/* SPDX-License-Identifier: Apache-2.0
 * See oidc_trust.h: the token's side. Which claim says what is GitHub's and GitLab's documented
 * form; another issuer that speaks like one of them works as well. Knows no key and no file. */
#include "schema/series_pattern.h"
#include "schema/text.h"
#include "server/access/oidc_trust.h"
#include <string.h>

#define BRANCH_BYTES_MAX  256u
#define SUBJECT_BYTES_MAX 256u

static bool refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool refuse(GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *why = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAUTHORIZED, "the token in Authorization %s", why);
    return false;
}

static bool times_are_right(const OidcToken *token, int64_t now_s, GError **error)
{
    int64_t expires_s, issued_s, not_before_s = 0;
    bool has_not_before = json_object_get(token->claims, "nbf") != NULL;
    if (!oidc_token_time(token, "exp", &expires_s) || !oidc_token_time(token, "iat", &issued_s) ||
        (has_not_before && !oidc_token_time(token, "nbf", &not_before_s)))
        return refuse(error, "does not say when it was issued and when it ends (iat, exp)");
    if (now_s >= expires_s + OIDC_LEEWAY_SECONDS)
        return refuse(error, "has expired; a job asks for a new one just before it sends");
    if (issued_s > now_s + OIDC_LEEWAY_SECONDS || not_before_s > now_s + OIDC_LEEWAY_SECONDS)
        return refuse(error, "is not valid yet: the issuer's clock or this server's is wrong");
    return true;
}

static bool claims_are_right(const OidcTrust *trust, const OidcToken *token, GError **error)
{
    for (guint i = 0; i < trust->claims->len; i++) {
        const struct oidc_claim *claim = g_ptr_array_index(trust->claims, i);
        g_autofree char *said = oidc_token_claim(token, claim->name);
        if (!said || !g_strv_contains((const char *const *)claim->values, said))
            return refuse(error, "has another %s than this server trusts", claim->name);
    }
    return true;
}

/* GitHub's events that run a branch's own code. Others (issue_comment, workflow_run, …) run as the
 * default branch whatever they then check out, so a trust must name them. */
static bool event_is_of_branch(const char *event)
{
    static const char *const events[] = {"push",        "schedule", "workflow_dispatch",
                                         "merge_group", "release",  NULL};
    return g_strv_contains(events, event);
}

static bool job_is_pull_request(const char *event, const char *source, const char *ref)
{
    return (event && g_str_has_prefix(event, "pull_request")) ||
           (source && (strcmp(source, "merge_request_event") == 0 ||
                       strcmp(source, "external_pull_request_event") == 0)) ||
           (ref &&
            (g_str_has_prefix(ref, "refs/pull/") || g_str_has_prefix(ref, "refs/merge-requests/")));
}

static char *without_prefix(const char *text, const char *prefix)
{
    return g_strdup(g_str_has_prefix(text, prefix) ? text + strlen(prefix) : text);
}

static bool branch_is_listed(const OidcTrust *trust, const char *branch)
{
    for (char **pattern = trust->branches; pattern && *pattern; pattern++)
        if (series_pattern_glob(*pattern, branch))
            return true;
    return false;
}

/* A pull request's branch has the name that its author gave it: it must be none that others go by.
 */
static char *branch_of_pull_request(const OidcTrust *trust, const OidcToken *token, const char *ref,
                                    GError **error)
{
    g_autofree char *head = oidc_token_claim(token, "head_ref");
    g_autofree char *base = oidc_token_claim(token, "base_ref");
    if (!trust->pull_requests) {
        refuse(error, "is a pull request's, and this server takes none (pull-requests = off)");
        return NULL;
    }
    if (!head || !*head) {
        g_free(head);
        head = ref && !g_str_has_prefix(ref, "refs/") ? g_strdup(ref) : NULL;
    }
    if (!head)
        refuse(error, "is a pull request's, and does not tell its branch (head_ref)");
    else if (branch_is_listed(trust, head) || g_strcmp0(head, base) == 0)
        refuse(error, "is a pull request's whose branch is called as one that no pull request may "
                      "speak for; another name would be right");
    else
        return g_steal_pointer(&head);
    return NULL;
}

/* A bare name may be a tag's, which anybody may call as the default branch is called. */
static bool ref_is_of_branch(const char *type, const char *ref)
{
    return type ? strcmp(type, "branch") == 0 : ref && g_str_has_prefix(ref, "refs/heads/");
}

static char *branch_of_push(const OidcTrust *trust, const OidcToken *token, const char *ref,
                            GError **error)
{
    g_autofree char *event = oidc_token_claim(token, "event_name");
    g_autofree char *type = oidc_token_claim(token, "ref_type");
    g_autofree char *branch = without_prefix(ref ? ref : "", "refs/heads/");
    if (event && !trust->events_are_named && !event_is_of_branch(event))
        refuse(error, "is of an event that may run other code than its branch's; a trust takes it "
                      "that names it (claim.event_name)");
    else if (!*branch || g_str_has_prefix(branch, "refs/") || !ref_is_of_branch(type, ref))
        refuse(error, "is of no branch (its ref is a tag, or nothing)");
    else if (trust->branches && !branch_is_listed(trust, branch))
        refuse(error, "is of another branch than this server trusts");
    else
        return g_steal_pointer(&branch);
    return NULL;
}

static char *branch_find(const OidcTrust *trust, const OidcToken *token, bool *out_is_pull_request,
                         GError **error)
{
    g_autofree char *ref = oidc_token_claim(token, "ref");
    g_autofree char *event = oidc_token_claim(token, "event_name");
    g_autofree char *source = oidc_token_claim(token, "pipeline_source");
    *out_is_pull_request = job_is_pull_request(event, source, ref);
    g_autofree char *branch = *out_is_pull_request
                                  ? branch_of_pull_request(trust, token, ref, error)
                                  : branch_of_push(trust, token, ref, error);
    if (!branch)
        return NULL;
    g_autofree char *problem = text_name_problem(branch, strlen(branch), BRANCH_BYTES_MAX);
    if (!problem &&
        !g_str_has_suffix(branch, "*")) /* where principals are kept, that is a pattern */
        return g_steal_pointer(&branch);
    refuse(error, "is of a branch whose name is none here");
    return NULL;
}

/* For logs and pages: what the issuer calls the job. */
static char *subject_of(const OidcTrust *trust, const OidcToken *token)
{
    g_autofree char *said = oidc_token_claim(token, "sub");
    g_autofree char *problem =
        said ? text_name_problem(said, strlen(said), SUBJECT_BYTES_MAX) : NULL;
    return g_strdup_printf("%s: %s", trust->name, said && !problem ? said : "a job");
}

bool oidc_trust_admit(const OidcTrust *trust, const OidcToken *token, int64_t now_s,
                      struct oidc_identity *out, GError **error)
{
    if (!oidc_token_is_for(token, trust->audience))
        return refuse(error, "is for another audience than this server");
    if (!times_are_right(token, now_s, error) || !claims_are_right(trust, token, error))
        return false;
    bool is_pull_request;
    char *branch = branch_find(trust, token, &is_pull_request, error);
    if (!branch)
        return false;
    *out = (struct oidc_identity){
        .trust = g_strdup(trust->name),
        .repository = oidc_token_claim(token, trust->repository->name),
        .project = g_strdup(trust->project),
        .branch = branch,
        .is_pull_request = is_pull_request,
        .subject = subject_of(trust, token),
        .machines = g_strdupv(trust->machines),
        .may_read = trust->may_read,
    };
    oidc_token_time(token, "exp", &out->expires_s);
    return true;
}
