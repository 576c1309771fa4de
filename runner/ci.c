/* SPDX-License-Identifier: Apache-2.0
 * One row for each CI system: what tells it, and where it says its facts (as each system documents
 * them; "/…" and "teamcity.…" as in ci_facts.h). Main thread. */
#include "runner/ci.h"

#include "schema/number.h"
#include "schema/text.h"
#include <string.h>

#define NAMES_MAX 4u

struct ci_system {
    const char *name;
    const char *sign; /* a variable that this system always sets, or VARIABLE=value */
    /* The first that is said, each. */
    const char *commit[NAMES_MAX], *branch[NAMES_MAX], *pull_request[NAMES_MAX],
        *base_branch[NAMES_MAX], *base[NAMES_MAX];
    const char *tag;            /* where this is said, `branch` is the tag's name, not a branch's */
    const char *url[NAMES_MAX]; /* {NAME} stands for a fact, escaped where it is only a part */
};

/* Gitea and Forgejo speak GitHub's language, but number their pages otherwise. */
#define GITHUB_LIKE(name, sign, number)                                                            \
    {                                                                                              \
        name, sign, {"/pull_request/head/sha", "GITHUB_SHA"}, {"GITHUB_HEAD_REF", "GITHUB_REF"},   \
            {"/pull_request/number", "GITHUB_REF"}, {"GITHUB_BASE_REF"},                           \
            {"/pull_request/base/sha"}, NULL,                                                      \
        {                                                                                          \
            "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{" number "}"                    \
        }                                                                                          \
    }

static const struct ci_system systems[] = {
    GITHUB_LIKE("forgejo", "FORGEJO_ACTIONS", "GITHUB_RUN_NUMBER"),
    GITHUB_LIKE("gitea", "GITEA_ACTIONS", "GITHUB_RUN_NUMBER"),
    GITHUB_LIKE("github", "GITHUB_ACTIONS", "GITHUB_RUN_ID"),
    {
        .name = "gitlab",
        .sign = "GITLAB_CI",
        .commit = {"CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "CI_COMMIT_SHA"},
        .branch = {"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_BRANCH"},
        .pull_request = {"CI_MERGE_REQUEST_IID"},
        .base_branch = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME"},
        .base = {"CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_MERGE_REQUEST_TARGET_BRANCH_SHA"},
        .url = {"{CI_JOB_URL}"},
    },
    {
        .name = "buildkite",
        .sign = "BUILDKITE",
        .commit = {"BUILDKITE_COMMIT"},
        .branch = {"BUILDKITE_BRANCH"},
        .pull_request = {"BUILDKITE_PULL_REQUEST"},
        .base_branch = {"BUILDKITE_PULL_REQUEST_BASE_BRANCH"},
        .tag = "BUILDKITE_TAG",
        .url = {"{BUILDKITE_BUILD_URL}"},
    },
    {
        .name = "teamcity", /* before Jenkins, which shares BUILD_URL */
        .sign = "TEAMCITY_VERSION",
        .commit = {"BUILD_VCS_NUMBER", "build.vcs.number"},
        .branch = {"teamcity.pullRequest.source.branch", "teamcity.build.branch"},
        .pull_request = {"teamcity.pullRequest.number"},
        .base_branch = {"teamcity.pullRequest.target.branch"},
        .url = {"{BUILD_URL}", "{teamcity.serverUrl}/viewLog.html?buildId={teamcity.build.id}"},
    },
    {
        .name = "jenkins", /* multibranch; the plug-ins for GitHub and GitLab; one branch */
        .sign = "JENKINS_URL",
        .commit = {"ghprbActualCommit", "GIT_COMMIT"},
        .branch = {"CHANGE_BRANCH", "ghprbSourceBranch", "BRANCH_NAME", "GIT_BRANCH"},
        .pull_request = {"CHANGE_ID", "ghprbPullId", "gitlabMergeRequestIid"},
        .base_branch = {"CHANGE_TARGET", "ghprbTargetBranch", "gitlabTargetBranch"},
        .tag = "TAG_NAME",
        .url = {"{BUILD_URL}"},
    },
    {
        .name = "circleci",
        .sign = "CIRCLECI",
        .commit = {"CIRCLE_SHA1"},
        .branch = {"CIRCLE_BRANCH"},
        .pull_request = {"CIRCLE_PULL_REQUEST", "CIRCLE_PR_NUMBER"},
        .tag = "CIRCLE_TAG",
        .url = {"{CIRCLE_BUILD_URL}"},
    },
    {
        .name = "travis",
        .sign = "TRAVIS",
        .commit = {"TRAVIS_PULL_REQUEST_SHA", "TRAVIS_COMMIT"},
        .branch = {"TRAVIS_PULL_REQUEST_BRANCH", "TRAVIS_BRANCH"},
        .pull_request = {"TRAVIS_PULL_REQUEST"},
        .base_branch = {"TRAVIS_BRANCH"},
        .tag = "TRAVIS_TAG",
        .url = {"{TRAVIS_JOB_WEB_URL}"},
    },
    {
        .name = "azure",
        .sign = "TF_BUILD",
        .commit = {"SYSTEM_PULLREQUEST_SOURCECOMMITID", "BUILD_SOURCEVERSION"},
        .branch = {"SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"},
        .pull_request = {"SYSTEM_PULLREQUEST_PULLREQUESTNUMBER",
                         "SYSTEM_PULLREQUEST_PULLREQUESTID"},
        .base_branch = {"SYSTEM_PULLREQUEST_TARGETBRANCH"},
        .url = {"{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results?buildId={BUILD_BUILDID}",
                "{SYSTEM_TEAMFOUNDATIONCOLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/"
                "results?buildId={BUILD_BUILDID}"},
    },
    {
        .name = "bitbucket",
        .sign = "BITBUCKET_BUILD_NUMBER",
        .commit = {"BITBUCKET_COMMIT"},
        .branch = {"BITBUCKET_BRANCH"},
        .pull_request = {"BITBUCKET_PR_ID"},
        .base_branch = {"BITBUCKET_PR_DESTINATION_BRANCH"},
        .base = {"BITBUCKET_PR_DESTINATION_COMMIT"},
        .tag = "BITBUCKET_TAG",
        .url = {"https://bitbucket.org/{BITBUCKET_REPO_FULL_NAME}/pipelines/results/"
                "{BITBUCKET_BUILD_NUMBER}"},
    },
    {
        .name = "woodpecker",
        .sign = "CI=woodpecker",
        .commit = {"CI_COMMIT_SHA"},
        .branch = {"CI_COMMIT_SOURCE_BRANCH", "CI_COMMIT_BRANCH"},
        .pull_request = {"CI_COMMIT_PULL_REQUEST"},
        .base_branch = {"CI_COMMIT_TARGET_BRANCH"},
        .tag = "CI_COMMIT_TAG",
        .url = {"{CI_PIPELINE_URL}", "{CI_BUILD_LINK}"},
    },
    {
        .name = "drone",
        .sign = "DRONE",
        .commit = {"DRONE_COMMIT_SHA", "DRONE_COMMIT"},
        .branch = {"DRONE_SOURCE_BRANCH", "DRONE_BRANCH"},
        .pull_request = {"DRONE_PULL_REQUEST"},
        .base_branch = {"DRONE_TARGET_BRANCH"},
        .tag = "DRONE_TAG",
        .url = {"{DRONE_BUILD_LINK}"},
    },
};

/* ---- Values ---- */

static char *without_prefix(const char *text, const char *prefix)
{
    return g_strdup(g_str_has_prefix(text, prefix) ? text + strlen(prefix) : text);
}

/* NULL for a value that is no branch: another reference, or TeamCity's "<default>". */
static char *branch_of(const char *name, const char *value)
{
    if (strcmp(name, "GIT_BRANCH") == 0) /* of Jenkins, with the remote before it */
        return without_prefix(value, "origin/");
    g_autofree char *branch = without_prefix(value, "refs/heads/");
    bool is_branch = !g_str_has_prefix(branch, "refs/") && *branch != '<';
    return is_branch ? g_steal_pointer(&branch) : NULL;
}

/* The number in "17", "refs/pull/17/merge" or "https://host/o/r/pull/17"; NULL for others. */
static char *number_of(const char *name, const char *value)
{
    (void)name;
    static const char reference[] = "refs/pull/";
    const char *number = value;
    if (g_str_has_prefix(value, reference))
        number = value + strlen(reference);
    else if (strstr(value, "://"))
        number = strrchr(value, '/') + 1;
    gsize digits = strspn(number, "0123456789");
    bool is_number = digits > 0 && (number[digits] == '\0' || number[digits] == '/');
    return is_number ? g_strndup(number, digits) : NULL;
}

static char *sha_of(const char *name, const char *value)
{
    (void)name;
    return text_is_sha(value) ? g_strdup(value) : NULL;
}

static char *same(const char *name, const char *value)
{
    (void)name;
    return g_strdup(value);
}

/* The first of `names` that says something `meant`. */
static char *first_of(const CiFacts *facts, const char *const names[NAMES_MAX],
                      char *(*meant)(const char *name, const char *value))
{
    char *found = NULL;
    for (gsize i = 0; i < NAMES_MAX && names[i] && !found; i++) {
        g_autofree char *value = ci_facts_get(facts, names[i]);
        found = value ? meant(names[i], value) : NULL;
    }
    return found;
}

/* A template with its facts; NULL where one of them is not said, or no URL comes of it. */
static char *fill_url(const CiFacts *facts, const char *template)
{
    g_autoptr(GString) url = g_string_new(NULL);
    for (const char *at = template; *at;) {
        gsize plain = strcspn(at, "{");
        g_string_append_len(url, at, (gssize)plain);
        at += plain;
        if (!*at)
            break;
        gsize length = strcspn(at + 1, "}");
        g_autofree char *name = g_strndup(at + 1, length);
        g_autofree char *value = ci_facts_get(facts, name);
        if (!value)
            return NULL;
        g_autofree char *escaped = g_uri_escape_string(value, "/", FALSE);
        g_string_append(url, url->len == 0 ? value : escaped);
        at += length + 2;
    }
    bool is_url = g_str_has_prefix(url->str, "https://") || g_str_has_prefix(url->str, "http://");
    return is_url && !strpbrk(url->str, " \t\r\n") ? g_strdup(url->str) : NULL;
}

static bool has_sign(const CiFacts *facts, const char *sign)
{
    g_auto(GStrv) parts = g_strsplit(sign, "=", 2);
    g_autofree char *value = ci_facts_get(facts, parts[0]);
    return value && (!parts[1] || strcmp(value, parts[1]) == 0);
}

static void fill(struct ci_job *job, const struct ci_system *system, const CiFacts *facts)
{
    g_autofree char *tag = system->tag ? ci_facts_get(facts, system->tag) : NULL;
    job->system = system->name;
    job->commit = first_of(facts, system->commit, sha_of);
    job->branch = tag ? NULL : first_of(facts, system->branch, branch_of);
    job->pull_request = first_of(facts, system->pull_request, number_of);
    for (gsize i = 0; i < NAMES_MAX && system->url[i] && !job->url; i++)
        job->url = fill_url(facts, system->url[i]);
    if (!job->pull_request)
        return; /* some of them name a base without one */
    job->base_branch = first_of(facts, system->base_branch, branch_of);
    job->base = first_of(facts, system->base, same);
}

struct ci_job ci_detect(ci_lookup_fn lookup)
{
    struct ci_job job = {0};
    g_autoptr(CiFacts) facts = ci_facts_new(lookup);
    for (gsize i = 0; i < G_N_ELEMENTS(systems) && !job.system; i++)
        if (has_sign(facts, systems[i].sign))
            fill(&job, &systems[i], facts);
    return job;
}

void ci_job_clear(struct ci_job *job)
{
    g_free(job->commit);
    g_free(job->branch);
    g_free(job->pull_request);
    g_free(job->base_branch);
    g_free(job->base);
    g_free(job->url);
    *job = (struct ci_job){0};
}

static void append_fact(GString *json, const char *name, const char *value)
{
    if (!value)
        return;
    if (json->len > 1)
        g_string_append_c(json, ',');
    json_append_string(json, name);
    g_string_append_c(json, ':');
    json_append_string(json, value);
}

char *ci_source_json(const struct ci_job *job, const char *base)
{
    if (!job->system)
        return NULL;
    GString *json = g_string_new("{");
    append_fact(json, "base", base);
    append_fact(json, "ci", job->system);
    append_fact(json, "pull_request", job->pull_request);
    append_fact(json, "url", job->url);
    g_string_append_c(json, '}');
    return g_string_free(json, FALSE);
}
