/* SPDX-License-Identifier: Apache-2.0
 * One row for each CI system: the variable that tells it, and the variables of its facts
 * (documented by each system). Pure. */
#include "runner/ci.h"

#include "schema/number.h"
#include <string.h>

struct ci_system {
    const char *name, *sign; /* sign: a variable that this system always sets */
    const char *branches[2]; /* the first that is set */
    const char *pull_request, *base, *url;
};

static const struct ci_system systems[] = {
    {"github",
     "GITHUB_ACTIONS",
     {"GITHUB_HEAD_REF", "GITHUB_REF_NAME"},
     NULL,
     "GITHUB_BASE_REF",
     NULL},
    {"gitlab",
     "GITLAB_CI",
     {"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_REF_NAME"},
     "CI_MERGE_REQUEST_IID",
     "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
     "CI_JOB_URL"},
    {"buildkite",
     "BUILDKITE",
     {"BUILDKITE_BRANCH", NULL},
     "BUILDKITE_PULL_REQUEST",
     "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
     "BUILDKITE_BUILD_URL"},
    {"jenkins",
     "JENKINS_URL",
     {"CHANGE_BRANCH", "BRANCH_NAME"},
     "CHANGE_ID",
     "CHANGE_TARGET",
     "BUILD_URL"},
    {"circleci", "CIRCLECI", {"CIRCLE_BRANCH", NULL}, "CIRCLE_PR_NUMBER", NULL, "CIRCLE_BUILD_URL"},
    {"travis",
     "TRAVIS",
     {"TRAVIS_PULL_REQUEST_BRANCH", "TRAVIS_BRANCH"},
     "TRAVIS_PULL_REQUEST",
     NULL,
     "TRAVIS_JOB_WEB_URL"},
    {"azure",
     "TF_BUILD",
     {"SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"},
     "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER",
     "SYSTEM_PULLREQUEST_TARGETBRANCH",
     NULL},
    {"woodpecker",
     "CI_PIPELINE_FORGE_URL",
     {"CI_COMMIT_SOURCE_BRANCH", "CI_COMMIT_BRANCH"},
     "CI_COMMIT_PULL_REQUEST",
     "CI_COMMIT_TARGET_BRANCH",
     "CI_PIPELINE_URL"},
};

static const char *set_or_null(ci_lookup_fn lookup, const char *variable)
{
    const char *value = variable ? lookup(variable) : NULL;
    /* "false" is how two of the systems say that there is no pull request. */
    return value && *value && strcmp(value, "false") != 0 ? value : NULL;
}

static const char *branch_of(const char *reference)
{
    static const char prefix[] = "refs/heads/";
    return reference && g_str_has_prefix(reference, prefix) ? reference + sizeof(prefix) - 1
                                                            : reference;
}

/* GitHub says the number only in GITHUB_REF, refs/pull/17/merge, whose short form is also
 * GITHUB_REF_NAME. */
static void detect_github(struct ci_job *job, ci_lookup_fn lookup)
{
    const char *server = set_or_null(lookup, "GITHUB_SERVER_URL");
    const char *repository = set_or_null(lookup, "GITHUB_REPOSITORY");
    const char *run = set_or_null(lookup, "GITHUB_RUN_ID");
    if (server && repository && run)
        job->url = g_strdup_printf("%s/%s/actions/runs/%s", server, repository, run);
    const char *event = set_or_null(lookup, "GITHUB_EVENT_NAME");
    if (event && g_str_has_prefix(event, "pull_request"))
        job->pull_request = set_or_null(lookup, "GITHUB_REF_NAME");
}

struct ci_job ci_detect(ci_lookup_fn lookup)
{
    struct ci_job job = {0};
    for (gsize i = 0; i < G_N_ELEMENTS(systems) && !job.system; i++) {
        const struct ci_system *system = &systems[i];
        if (!set_or_null(lookup, system->sign))
            continue;
        job.system = system->name;
        const char *first = set_or_null(lookup, system->branches[0]);
        job.branch = branch_of(first ? first : set_or_null(lookup, system->branches[1]));
        job.pull_request = set_or_null(lookup, system->pull_request);
        job.base = branch_of(set_or_null(lookup, system->base));
        job.url = g_strdup(set_or_null(lookup, system->url));
        if (strcmp(system->name, "github") == 0)
            detect_github(&job, lookup);
    }
    return job;
}

void ci_job_clear(struct ci_job *job)
{
    g_clear_pointer(&job->url, g_free);
}

static void append_fact(GString *json, const char *name, const char *value)
{
    if (!value || !g_utf8_validate(value, -1, NULL))
        return;
    if (json->len > 1)
        g_string_append_c(json, ',');
    json_append_string(json, name);
    g_string_append_c(json, ':');
    json_append_string(json, value);
}

char *ci_source_json(const struct ci_job *job)
{
    if (!job->system)
        return NULL;
    g_autofree char *number = job->pull_request ? g_strdup(job->pull_request) : NULL;
    if (number)
        number[strcspn(number, "/")] = '\0';
    GString *json = g_string_new("{");
    append_fact(json, "base", job->base);
    append_fact(json, "ci", job->system);
    append_fact(json, "pull_request", number);
    append_fact(json, "url", job->url);
    g_string_append_c(json, '}');
    return g_string_free(json, FALSE);
}
