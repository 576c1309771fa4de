/* SPDX-License-Identifier: Apache-2.0
 * What git says about normal, shallow, detached, dirty and foreign repositories, made in a folder
 * of their own; raw commits. */
#include "runner/git.h"
#include "runner/raw_commit.h"
#include "tests/unit/runner/scratch.h"
#include <string.h>
#include <sys/wait.h>

static char *root;

/* Runs a shell line in `folder` (below root) and asserts that it works; returns what it printed. */
static char *shell(const char *folder, const char *line)
{
    g_autofree char *path = g_build_filename(root, folder, NULL);
    const char *const argv[] = {"/bin/sh", "-ec", line, NULL};
    g_autoptr(GError) error = NULL;
    char *out = NULL;
    int status = 0;
    g_assert_true(g_spawn_sync(path, (char **)(guintptr)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL,
                               &out, NULL, &status, &error));
    if (status != 0)
        g_error("%s: status %d", line, status);
    return g_strchomp(out);
}

static void enter(const char *folder)
{
    g_autofree char *path = g_build_filename(root, folder, NULL);
    g_assert_cmpint(g_chdir(path), ==, 0);
}

/* A repository "origin" of 5 commits on branch trunk. */
static void make_origin(void)
{
    g_free(shell("", "git init -q -b trunk origin"));
    g_free(shell("origin",
                 "for n in 1 2 3 4; do echo $n > file; git add file;"
                 "  GIT_COMMITTER_DATE=\"150000000$n +0200\" git commit -q -m \"change $n\"; done;"
                 "echo 5 > file; git add file;"
                 "GIT_COMMITTER_DATE='1500000005 +0000' git commit -q -m 'change 5' -m 'Body.' "
                 "  -m 'Breakeven-Expect: slower ThreadPoolSpawn\nSigned-off-by: A <a@b>'"));
}

static GitFacts *read_here(const char *revision)
{
    g_autoptr(GError) error = NULL;
    GitFacts *facts = git_read(revision, GIT_HISTORY, &error);
    g_assert_no_error(error);
    return facts;
}

static void test_normal(void)
{
    enter("origin");
    g_autofree char *head = shell("origin", "git rev-parse HEAD"),
                    *parent = shell("origin", "git rev-parse HEAD~");
    g_autoptr(GitFacts) facts = read_here(NULL);
    g_assert_cmpstr(facts->commit->sha, ==, head);
    g_assert_cmpstr(facts->commit->parents[0], ==, parent);
    g_assert_null(facts->commit->parents[1]);
    g_assert_cmpint(facts->commit->time_s, ==, 1500000005);
    g_assert_cmpstr(facts->commit->author, ==, "An Author");
    g_assert_cmpstr(facts->commit->subject, ==, "change 5");
    g_assert_cmpstr(facts->commit->trailers_json, ==,
                    "{\"Breakeven-Expect\":[\"slower ThreadPoolSpawn\"]}");
    g_assert_cmpstr(facts->branch, ==, "trunk");
    g_assert_false(facts->dirty);
    g_assert_cmpstr(facts->project, ==, "origin");
    g_assert_cmpuint(facts->history->len, ==, 4);
    const struct run_commit *newest = (const struct run_commit *)facts->history->pdata[0];
    const struct run_commit *oldest = (const struct run_commit *)facts->history->pdata[3];
    g_assert_cmpstr(newest->sha, ==, parent);
    g_assert_cmpstr(oldest->subject, ==, "change 1");
    g_assert_nonnull(oldest->parents); /* known: it has none */
    g_assert_null(oldest->parents[0]);
}

static void test_history_is_bounded(void)
{
    enter("origin");
    g_autoptr(GitFacts) facts = git_read(NULL, 2, NULL);
    g_assert_cmpuint(facts->history->len, ==, 2);
    bool more = false;
    g_autoptr(GPtrArray) all = git_log("HEAD", 5, &more, NULL);
    g_assert_cmpuint(all->len, ==, 5);
    g_assert_false(more);
    g_autoptr(GPtrArray) some = git_log("HEAD", 4, &more, NULL);
    g_assert_cmpuint(some->len, ==, 4);
    g_assert_true(more);
    g_autoptr(GPtrArray) range = git_log("HEAD~2..HEAD", 100, &more, NULL);
    g_assert_cmpuint(range->len, ==, 2);
    g_autoptr(GPtrArray) none = git_log("HEAD..HEAD", 100, &more, NULL);
    g_assert_cmpuint(none->len, ==, 0);
}

static void test_dirty_and_untracked(void)
{
    g_free(shell("", "git clone -q origin dirty"));
    enter("dirty");
    g_free(shell("dirty", "echo x > untracked"));
    g_autoptr(GitFacts) clean = read_here(NULL);
    g_assert_false(clean->dirty);
    g_assert_cmpstr(clean->project, ==, "origin"); /* of the remote's URL */
    g_free(shell("dirty", "echo x > file"));
    g_autoptr(GitFacts) dirty = read_here(NULL);
    g_assert_true(dirty->dirty);
    g_autoptr(GitFacts) other = read_here("HEAD~1"); /* what is measured is not the work tree */
    g_assert_false(other->dirty);
    g_assert_null(other->branch);
    g_assert_cmpstr(other->commit->subject, ==, "change 4");
}

static void test_detached(void)
{
    g_free(shell("", "git clone -q origin detached; cd detached; git checkout -q HEAD~1"));
    enter("detached");
    g_autoptr(GitFacts) facts = read_here(NULL);
    g_assert_null(facts->branch);
    g_assert_cmpstr(facts->commit->subject, ==, "change 4");
}

static void test_shallow_names_the_absent_parent(void)
{
    g_free(shell("", "git clone -q --depth 2 \"file://$PWD/origin\" shallow"));
    enter("shallow");
    g_autofree char *absent = shell("origin", "git rev-parse HEAD~2");
    g_autofree char *seen = shell("shallow", "git log --format=%P | tail -n 1");
    g_assert_cmpstr(seen, ==, ""); /* what git log says there */
    g_autoptr(GitFacts) facts = read_here(NULL);
    g_assert_cmpuint(facts->history->len, ==, 1);
    const struct run_commit *oldest = (const struct run_commit *)facts->history->pdata[0];
    g_assert_cmpstr(oldest->parents[0], ==, absent);
}

static void test_replaced_commit_is_read_as_it_is(void)
{
    g_free(shell("", "git clone -q origin replaced; cd replaced; git replace HEAD HEAD~2"));
    enter("replaced");
    g_autoptr(GitFacts) facts = read_here(NULL);
    g_assert_cmpstr(facts->commit->subject, ==, "change 5");
}

static char *refusal(const char *folder, const char *revision, int code)
{
    enter(folder);
    g_autoptr(GError) error = NULL;
    g_assert_null(git_read(revision, 10, &error));
    g_assert_error(error, BREAKEVEN_ERROR, code);
    return g_strdup(error->message);
}

static void test_refusals(void)
{
    g_free(shell("", "mkdir plain; git init -q empty"));
    g_autofree char *plain = refusal("plain", NULL, ERROR_NOT_FOUND);
    g_assert_nonnull(strstr(plain, "--commit SHA"));
    g_autofree char *empty = refusal("empty", NULL, ERROR_NOT_FOUND);
    g_assert_nonnull(strstr(empty, "HEAD"));
    g_autofree char *unknown = refusal("origin", "no-such-branch", ERROR_NOT_FOUND);
    g_assert_nonnull(strstr(unknown, "no-such-branch"));
    g_autofree char *option =
        refusal("origin", "--all", ERROR_NOT_FOUND); /* a revision, never an option */
    g_assert_nonnull(strstr(option, "--all"));
    g_setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1", TRUE);
    g_autofree char *foreign = refusal("origin", NULL, ERROR_FORBIDDEN);
    g_unsetenv("GIT_TEST_ASSUME_DIFFERENT_OWNER");
    g_assert_nonnull(strstr(foreign, "git config --global --add safe.directory '"));
    g_assert_nonnull(strstr(foreign, "/origin'"));
}

static void test_git_is_not_installed(void)
{
    enter("origin");
    g_autofree char *path = g_strdup(g_getenv("PATH"));
    g_setenv("PATH", root, TRUE);
    g_autoptr(GError) error = NULL;
    g_assert_null(git_read(NULL, 10, &error));
    g_setenv("PATH", path, TRUE);
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE);
    g_assert_nonnull(strstr(error->message, "apt install git"));
}

/* ---- Raw commits ---- */

#define SHA "0123456789012345678901234567890123456789"

static struct run_commit *parse(const char *raw)
{
    return raw_commit_parse(SHA, raw, strlen(raw));
}

static void test_raw_merge_with_signature(void)
{
    struct run_commit *commit =
        parse("tree a\nparent 1111111111111111111111111111111111111111\n"
              "parent 2222222222222222222222222222222222222222\n"
              "author N \xc3\x84 <x <y>@z> 1 -0330\ncommitter C <c@d> 1547031912 +0100\n"
              "gpgsig -----BEGIN\n parent 3333333333333333333333333333333333333333\n \n -----END\n"
              "\n\nSubject goes\nover lines\n\nBody\n\nbreakeven-expect: faster\nBreakeven-Expect: "
              " slower \n");
    g_assert_cmpuint(g_strv_length(commit->parents), ==, 2);
    g_assert_cmpstr(commit->author, ==, "N \xc3\x84");
    g_assert_cmpint(commit->time_s, ==, 1547031912);
    g_assert_cmpstr(commit->subject, ==, "Subject goes over lines");
    g_assert_cmpstr(commit->trailers_json, ==, "{\"Breakeven-Expect\":[\"faster\",\"slower\"]}");
    run_commit_free(commit);
}

static void test_raw_odd_ones(void)
{
    g_assert_null(parse(""));
    g_assert_null(parse("blob x"));
    static const char *const odd[] = {"tree a\n", "tree a\nauthor\ncommitter\n\n",
                                      "tree a\ncommitter X <y> never +0000\n\nS\n",
                                      "tree a\ncommitter X <y> -5 +0000\n\nS\n",
                                      "tree a\ncommitter X <y> 99999999999999999999 +0000\n\nS\n"};
    for (gsize i = 0; i < G_N_ELEMENTS(odd); i++) {
        struct run_commit *commit = parse(odd[i]);
        g_assert_nonnull(commit);
        g_assert_false(commit->has_time);
        run_commit_free(commit);
    }
}

static void test_text_is_cleaned(void)
{
    static const struct {
        const char *text, *clean;
        gsize max;
    } cases[] = {
        {"a\tb\x1b[31m", "a b [31m", 100},
        {"\xe2\x80\xae"
         "evil",
         "evil", 100},
        {"e\xcc\x81", "\xc3\xa9", 100},
        /* NFC */
        {"\xff"
         "x",
         "\xef\xbf\xbdx", 100},
        {"  \xc2\xa0x\xe2\x80\x83 ", "x", 100},
        {"\xc3\xa4\xc3\xa4", "\xc3\xa4", 3},
        {" \n", NULL, 100},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *clean =
            raw_commit_clean_text(cases[i].text, strlen(cases[i].text), cases[i].max);
        g_assert_cmpstr(clean, ==, cases[i].clean);
    }
}

static void test_other_encoding(void)
{
    struct run_commit *commit = parse("tree a\nencoding ISO-8859-1\n\nGr\xfc\xdf"
                                      "e\n");
    g_assert_cmpstr(commit->subject, ==,
                    "Gr\xc3\xbc\xc3\x9f"
                    "e");
    run_commit_free(commit);
}

static void set_up_git(void)
{
    static const char *const settings[][2] = {
        {"GIT_CONFIG_NOSYSTEM", "1"},          {"GIT_CONFIG_GLOBAL", "/dev/null"},
        {"GIT_AUTHOR_NAME", "An Author"},      {"GIT_AUTHOR_EMAIL", "author@example.org"},
        {"GIT_COMMITTER_NAME", "A Committer"}, {"GIT_COMMITTER_EMAIL", "committer@example.org"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(settings); i++)
        g_setenv(settings[i][0], settings[i][1], TRUE);
    root = scratch_new();
    g_setenv("GIT_CEILING_DIRECTORIES", root, TRUE);
    make_origin();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    set_up_git();
    g_test_add_func("/git/normal", test_normal);
    g_test_add_func("/git/history-bounded", test_history_is_bounded);
    g_test_add_func("/git/dirty", test_dirty_and_untracked);
    g_test_add_func("/git/detached", test_detached);
    g_test_add_func("/git/shallow", test_shallow_names_the_absent_parent);
    g_test_add_func("/git/replaced", test_replaced_commit_is_read_as_it_is);
    g_test_add_func("/git/refusals", test_refusals);
    g_test_add_func("/git/not-installed", test_git_is_not_installed);
    g_test_add_func("/raw-commit/merge", test_raw_merge_with_signature);
    g_test_add_func("/raw-commit/odd", test_raw_odd_ones);
    g_test_add_func("/raw-commit/text", test_text_is_cleaned);
    g_test_add_func("/raw-commit/encoding", test_other_encoding);
    int status = g_test_run();
    scratch_remove(root);
    return status;
}
