/* SPDX-License-Identifier: Apache-2.0
 * What is found in the environment of each CI system, set as its documentation says: a push, a
 * pull request, a tag. */
#include "runner/ci.h"
#include "tests/unit/runner/scratch.h"
#include <string.h>

#define HEAD  "1111111111111111111111111111111111111111"
#define MERGE "2222222222222222222222222222222222222222"
#define BASE  "3333333333333333333333333333333333333333"

static char *root;
static const char *const *environment; /* NAME, value, … */

static const char *lookup(const char *name)
{
    for (const char *const *pair = environment; pair[0]; pair += 2)
        if (strcmp(pair[0], name) == 0)
            return pair[1];
    return NULL;
}

struct ci_case {
    const char *name;
    const char *environment[32];
    const char *commit, *branch, *base_branch, *base;
    const char *source; /* with `base` BASE where there is a pull request */
};

#define GITHUB_PULL                                                                                \
    "GITHUB_EVENT_NAME", "pull_request", "GITHUB_EVENT_PATH", "event.json", "GITHUB_SHA", MERGE,   \
        "GITHUB_REF", "refs/pull/17/merge", "GITHUB_REF_NAME", "17/merge", "GITHUB_HEAD_REF",      \
        "fix", "GITHUB_BASE_REF", "main", "GITHUB_SERVER_URL", "https://git.example.org",          \
        "GITHUB_REPOSITORY", "o/r", "GITHUB_RUN_ID", "4711", "GITHUB_RUN_NUMBER", "7"
#define AZURE_JOB                                                                                  \
    "TF_BUILD", "True", "SYSTEM_COLLECTIONURI", "https://dev.azure.com/org/",                      \
        "SYSTEM_TEAMPROJECT", "my project", "BUILD_BUILDID", "7"

static const struct ci_case cases[] = {
    {.name = "none", .environment = {"CI", "true", "JENKINS_URL", ""}},
    {.name = "GitHub, push",
     .environment = {"GITHUB_ACTIONS",    "true", "GITHUB_EVENT_NAME", "push",
                     "GITHUB_SHA",        HEAD,   "GITHUB_REF",        "refs/heads/a/b",
                     "GITHUB_REF_NAME",   "a/b",  "GITHUB_HEAD_REF",   "",
                     "GITHUB_BASE_REF",   "",     "GITHUB_SERVER_URL", "https://github.com",
                     "GITHUB_REPOSITORY", "o/r",  "GITHUB_RUN_ID",     "7"},
     .commit = HEAD,
     .branch = "a/b",
     .source = "{\"ci\":\"github\",\"url\":\"https://github.com/o/r/actions/runs/7\"}"},
    {.name = "GitHub, tag",
     .environment = {"GITHUB_ACTIONS", "true", "GITHUB_SHA", HEAD, "GITHUB_REF", "refs/tags/v1"},
     .commit = HEAD,
     .source = "{\"ci\":\"github\"}"},
    {.name = "GitHub, pull request: its head, not the merge",
     .environment = {"GITHUB_ACTIONS", "true", GITHUB_PULL},
     .commit = HEAD,
     .branch = "fix",
     .base_branch = "main",
     .base = BASE,
     .source = "{\"base\":\"" BASE "\",\"ci\":\"github\",\"pull_request\":\"17\","
               "\"url\":\"https://git.example.org/o/r/actions/runs/4711\"}"},
    {.name = "GitHub, pull request whose event is not there",
     .environment = {"GITHUB_ACTIONS", "true", "GITHUB_EVENT_PATH", "none.json", "GITHUB_SHA",
                     MERGE, "GITHUB_REF", "refs/pull/17/merge", "GITHUB_HEAD_REF", "fix",
                     "GITHUB_BASE_REF", "main"},
     .commit = MERGE,
     .branch = "fix",
     .base_branch = "main",
     .source = "{\"base\":\"" BASE "\",\"ci\":\"github\",\"pull_request\":\"17\"}"},
    {.name = "Gitea",
     .environment = {"GITHUB_ACTIONS", "true", "GITEA_ACTIONS", "true", GITHUB_PULL},
     .commit = HEAD,
     .branch = "fix",
     .base_branch = "main",
     .base = BASE,
     .source = "{\"base\":\"" BASE "\",\"ci\":\"gitea\",\"pull_request\":\"17\","
               "\"url\":\"https://git.example.org/o/r/actions/runs/7\"}"},
    {.name = "Forgejo",
     .environment = {"GITHUB_ACTIONS", "true", "GITEA_ACTIONS", "true", "FORGEJO_ACTIONS", "true",
                     GITHUB_PULL},
     .commit = HEAD,
     .branch = "fix",
     .base_branch = "main",
     .base = BASE,
     .source = "{\"base\":\"" BASE "\",\"ci\":\"forgejo\",\"pull_request\":\"17\","
               "\"url\":\"https://git.example.org/o/r/actions/runs/7\"}"},
    {.name = "GitLab, push",
     .environment = {"GITLAB_CI", "true", "CI_COMMIT_SHA", HEAD, "CI_COMMIT_REF_NAME", "topic",
                     "CI_COMMIT_BRANCH", "topic", "CI_JOB_URL", "https://gitlab.com/g/p/-/jobs/1"},
     .commit = HEAD,
     .branch = "topic",
     .source = "{\"ci\":\"gitlab\",\"url\":\"https://gitlab.com/g/p/-/jobs/1\"}"},
    {.name = "GitLab, tag",
     .environment = {"GITLAB_CI", "true", "CI_COMMIT_SHA", HEAD, "CI_COMMIT_REF_NAME", "v1",
                     "CI_COMMIT_TAG", "v1"},
     .commit = HEAD,
     .source = "{\"ci\":\"gitlab\"}"},
    {.name = "GitLab, merge request",
     .environment = {"GITLAB_CI", "true", "CI_COMMIT_SHA", HEAD, "CI_MERGE_REQUEST_IID", "17",
                     "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "fix",
                     "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "",
                     "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main",
                     "CI_MERGE_REQUEST_DIFF_BASE_SHA", BASE},
     .commit = HEAD,
     .branch = "fix",
     .base_branch = "main",
     .base = BASE,
     .source = "{\"base\":\"" BASE "\",\"ci\":\"gitlab\",\"pull_request\":\"17\"}"},
    {.name = "GitLab, merged results",
     .environment = {"GITLAB_CI", "true", "CI_COMMIT_SHA", MERGE, "CI_MERGE_REQUEST_IID", "17",
                     "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "fix",
                     "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", HEAD,
                     "CI_MERGE_REQUEST_TARGET_BRANCH_SHA", BASE},
     .commit = HEAD,
     .branch = "fix",
     .base = BASE,
     .source = "{\"base\":\"" BASE "\",\"ci\":\"gitlab\",\"pull_request\":\"17\"}"},
    {.name = "Buildkite, a build of HEAD",
     .environment = {"BUILDKITE", "true", "BUILDKITE_COMMIT", "HEAD", "BUILDKITE_BRANCH", "main",
                     "BUILDKITE_PULL_REQUEST", "false", "BUILDKITE_PULL_REQUEST_BASE_BRANCH", "",
                     "BUILDKITE_TAG", "", "BUILDKITE_BUILD_URL",
                     "https://buildkite.com/acme/p/builds/1"},
     .branch = "main",
     .source = "{\"ci\":\"buildkite\",\"url\":\"https://buildkite.com/acme/p/builds/1\"}"},
    {.name = "Buildkite, pull request",
     .environment = {"BUILDKITE", "true", "BUILDKITE_COMMIT", HEAD, "BUILDKITE_BRANCH", "fix",
                     "BUILDKITE_PULL_REQUEST", "17", "BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main"},
     .commit = HEAD,
     .branch = "fix",
     .base_branch = "main",
     .source = "{\"base\":\"" BASE "\",\"ci\":\"buildkite\",\"pull_request\":\"17\"}"},
    {.name = "Jenkins, one branch",
     .environment = {"JENKINS_URL", "https://ci.example.org/", "GIT_COMMIT", HEAD, "GIT_BRANCH",
                     "origin/main", "BUILD_URL", "https://ci.example.org/job/p/7/"},
     .commit = HEAD,
     .branch = "main",
     .source = "{\"ci\":\"jenkins\",\"url\":\"https://ci.example.org/job/p/7/\"}"},
    {.name = "Jenkins, multibranch pull request",
     .environment = {"JENKINS_URL", "https://ci.example.org/", "GIT_COMMIT", HEAD, "BRANCH_NAME",
                     "PR-17", "CHANGE_ID", "17", "CHANGE_BRANCH", "fix", "CHANGE_TARGET", "main"},
     .commit = HEAD,
     .branch = "fix",
     .base_branch = "main",
     .source = "{\"base\":\"" BASE "\",\"ci\":\"jenkins\",\"pull_request\":\"17\"}"},
    {.name = "Jenkins, tag",
     .environment = {"JENKINS_URL", "https://ci.example.org/", "GIT_COMMIT", HEAD, "BRANCH_NAME",
                     "v1", "TAG_NAME", "v1"},
     .commit = HEAD,
     .source = "{\"ci\":\"jenkins\"}"},
    {.name = "CircleCI, pull request",
     .environment = {"CIRCLECI", "true", "CIRCLE_SHA1", HEAD, "CIRCLE_BRANCH", "fix",
                     "CIRCLE_PULL_REQUEST", "https://github.com/o/r/pull/17", "CIRCLE_BUILD_URL",
                     "https://circleci.com/gh/o/r/9"},
     .commit = HEAD,
     .branch = "fix",
     .source = "{\"base\":\"" BASE "\",\"ci\":\"circleci\",\"pull_request\":\"17\","
               "\"url\":\"https://circleci.com/gh/o/r/9\"}"},
    {.name = "Travis, pull request",
     .environment = {"TRAVIS", "true", "TRAVIS_COMMIT", MERGE, "TRAVIS_BRANCH", "main",
                     "TRAVIS_PULL_REQUEST", "17", "TRAVIS_PULL_REQUEST_BRANCH", "fix",
                     "TRAVIS_PULL_REQUEST_SHA", HEAD},
     .commit = HEAD,
     .branch = "fix",
     .base_branch = "main",
     .source = "{\"base\":\"" BASE "\",\"ci\":\"travis\",\"pull_request\":\"17\"}"},
    {.name = "Travis, push",
     .environment = {"TRAVIS", "true", "TRAVIS_COMMIT", HEAD, "TRAVIS_BRANCH", "main",
                     "TRAVIS_PULL_REQUEST", "false"},
     .commit = HEAD,
     .branch = "main",
     .source = "{\"ci\":\"travis\"}"},
    {.name = "Azure, push",
     .environment = {AZURE_JOB, "BUILD_SOURCEBRANCH", "refs/heads/a/b", "BUILD_SOURCEVERSION",
                     HEAD},
     .commit = HEAD,
     .branch = "a/b",
     .source = "{\"ci\":\"azure\",\"url\":\"https://dev.azure.com/org/my%20project/_build/"
               "results?buildId=7\"}"},
    {.name = "Azure, pull request",
     .environment = {"TF_BUILD", "True", "BUILD_SOURCEBRANCH", "refs/pull/17/merge",
                     "BUILD_SOURCEVERSION", MERGE, "SYSTEM_PULLREQUEST_PULLREQUESTID", "17",
                     "SYSTEM_PULLREQUEST_SOURCECOMMITID", HEAD, "SYSTEM_PULLREQUEST_SOURCEBRANCH",
                     "refs/heads/fix", "SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main"},
     .commit = HEAD,
     .branch = "fix",
     .base_branch = "main",
     .source = "{\"base\":\"" BASE "\",\"ci\":\"azure\",\"pull_request\":\"17\"}"},
    {.name = "Bitbucket, pull request",
     .environment = {"BITBUCKET_BUILD_NUMBER", "7", "BITBUCKET_COMMIT", HEAD, "BITBUCKET_BRANCH",
                     "fix", "BITBUCKET_PR_ID", "17", "BITBUCKET_PR_DESTINATION_BRANCH", "main",
                     "BITBUCKET_PR_DESTINATION_COMMIT", "333333333333", "BITBUCKET_REPO_FULL_NAME",
                     "team/repo"},
     .commit = HEAD,
     .branch = "fix",
     .base_branch = "main",
     .base = "333333333333",
     .source = "{\"base\":\"" BASE "\",\"ci\":\"bitbucket\",\"pull_request\":\"17\",\"url\":"
               "\"https://bitbucket.org/team/repo/pipelines/results/7\"}"},
    {.name = "TeamCity, pull request",
     .environment = {"TEAMCITY_VERSION", "2023.05", "BUILD_VCS_NUMBER", HEAD,
                     "TEAMCITY_BUILD_PROPERTIES_FILE", "teamcity.properties", "BUILD_NUMBER", "7"},
     .commit = HEAD,
     .branch = "fix",
     .base_branch = "main",
     .source = "{\"base\":\"" BASE "\",\"ci\":\"teamcity\",\"pull_request\":\"17\",\"url\":"
               "\"https://ci.example.org/viewLog.html?buildId=99\"}"},
    {.name = "Woodpecker, pull request",
     .environment = {"CI", "woodpecker", "CI_COMMIT_SHA", HEAD, "CI_COMMIT_BRANCH", "main",
                     "CI_COMMIT_SOURCE_BRANCH", "fix", "CI_COMMIT_TARGET_BRANCH", "main",
                     "CI_COMMIT_PULL_REQUEST", "17", "CI_PIPELINE_URL",
                     "https://ci.example.org/repos/1/pipeline/7", "CI_PIPELINE_FORGE_URL",
                     "https://git.example.org/o/r/pulls/17"},
     .commit = HEAD,
     .branch = "fix",
     .base_branch = "main",
     .source = "{\"base\":\"" BASE "\",\"ci\":\"woodpecker\",\"pull_request\":\"17\",\"url\":"
               "\"https://ci.example.org/repos/1/pipeline/7\"}"},
    {.name = "Drone, pull request",
     .environment = {"CI", "true", "DRONE", "true", "DRONE_COMMIT_SHA", HEAD, "DRONE_BRANCH",
                     "main", "DRONE_SOURCE_BRANCH", "fix", "DRONE_TARGET_BRANCH", "main",
                     "DRONE_PULL_REQUEST", "17", "DRONE_BUILD_LINK",
                     "https://drone.example.org/o/r/7"},
     .commit = HEAD,
     .branch = "fix",
     .base_branch = "main",
     .source = "{\"base\":\"" BASE "\",\"ci\":\"drone\",\"pull_request\":\"17\",\"url\":"
               "\"https://drone.example.org/o/r/7\"}"},
    {.name = "Drone, push",
     .environment = {"DRONE", "true", "DRONE_COMMIT_SHA", HEAD, "DRONE_BRANCH", "main",
                     "DRONE_SOURCE_BRANCH", "main", "DRONE_TARGET_BRANCH", "main"},
     .commit = HEAD,
     .branch = "main",
     .source = "{\"ci\":\"drone\"}"},
    {.name = "what is no fact",
     .environment = {"GITLAB_CI", "true", "CI_COMMIT_SHA", "main", "CI_COMMIT_BRANCH", "\xff",
                     "CI_JOB_URL", "javascript:alert(1)", "CI_MERGE_REQUEST_IID", "seventeen"},
     .source = "{\"ci\":\"gitlab\"}"},
};

static void test_case(gconstpointer data)
{
    const struct ci_case *expected = data;
    environment = expected->environment;
    struct ci_job job = ci_detect(lookup);
    g_autofree char *source = ci_source_json(&job, job.pull_request ? BASE : NULL);
    g_assert_cmpstr(job.commit, ==, expected->commit);
    g_assert_cmpstr(job.branch, ==, expected->branch);
    g_assert_cmpstr(job.base_branch, ==, expected->base_branch);
    g_assert_cmpstr(job.base, ==, expected->base);
    g_assert_cmpstr(source, ==, expected->source);
    ci_job_clear(&job);
}

static void test_properties(void)
{
    static const char *const files[] = {"TEAMCITY_BUILD_PROPERTIES_FILE", "odd.properties", NULL};
    environment = files;
    g_autoptr(CiFacts) facts = ci_facts_new(lookup);
    g_autofree char *url = ci_facts_get(facts, "a.url");
    g_autofree char *letter = ci_facts_get(facts, "a.letter");
    g_autofree char *comment = ci_facts_get(facts, "a.comment");
    g_assert_cmpstr(url, ==, "https://ci.example.org/a b");
    g_assert_cmpstr(letter, ==, "\xc3\xa4=1");
    g_assert_null(comment);
}

static void write_files(void)
{
    static const char event[] =
        "{\"number\":17,\"pull_request\":{\"number\":17,\"head\":{\"ref\":\"fix\",\"sha\":\"" HEAD
        "\"},\"base\":{\"ref\":\"main\",\"sha\":\"" BASE "\"}}}";
    static const char build[] = "#TeamCity build properties without 'system.' prefix\n"
                                "teamcity.configuration.properties.file=config.properties\n"
                                "teamcity.build.id=99\n";
    static const char config[] = "teamcity.build.branch=pull/17\n"
                                 "teamcity.pullRequest.number=17\n"
                                 "teamcity.pullRequest.source.branch=fix\n"
                                 "teamcity.pullRequest.target.branch=main\n"
                                 "teamcity.serverUrl=https\\://ci.example.org\n";
    static const char odd[] = "  a.url : https\\://ci.example.org/a b\r\n"
                              "a.letter=\\u00e4\\=1\n!a.comment=1\n=\n\\";
    g_assert_true(g_file_set_contents("event.json", event, -1, NULL));
    g_assert_true(g_file_set_contents("teamcity.properties", build, -1, NULL));
    g_assert_true(g_file_set_contents("config.properties", config, -1, NULL));
    g_assert_true(g_file_set_contents("odd.properties", odd, -1, NULL));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    root = scratch_new();
    g_assert_cmpint(g_chdir(root), ==, 0);
    write_files();
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/ci/%s", cases[i].name);
        g_test_add_data_func(path, &cases[i], test_case);
    }
    g_test_add_func("/ci/properties", test_properties);
    int status = g_test_run();
    scratch_remove(root);
    return status;
}
