/* SPDX-License-Identifier: Apache-2.0
 * What bound ones tell of commits gives way: random histories, of which random lies are told
 * before, between and after the truth, come out as if nobody had lied, and what is taken back
 * leaves no trace. In memory: staging and catalogue without a file. */
#include "server/store/commit_telling.h"
#include <string.h>

enum { COMMITS = 24, PARENTS_MAX = 2 };

struct history {
    Catalogue *catalogue;
    struct staging staging;
    struct catalogue_project *project;
    int64_t version;
};

static void history_begin(struct history *history)
{
    history->catalogue = catalogue_new();
    staging_init(&history->staging, history->catalogue);
    history->project = staging_add_project(&history->staging, "p");
    history->version = 1;
    staging_apply(&history->staging, history->version);
}

static void history_end(struct history *history)
{
    staging_clear(&history->staging);
    catalogue_free(history->catalogue);
}

static char *sha_of(int i)
{
    return g_strdup_printf("%040x", (unsigned)i * 2654435761u);
}

/* The i-th commit; the graph holds no cycle where `most` is at most i. */
static struct run_commit *commit_new(GRand *rand, int i, int most, const char *author)
{
    struct run_commit *commit = run_commit_new();
    int n = most > 0 ? g_rand_int_range(rand, 0, PARENTS_MAX + 1) : 0;
    g_autoptr(GPtrArray) parents = g_ptr_array_new();
    for (int k = 0; k < n; k++) {
        char *parent = sha_of(g_rand_int_range(rand, 0, most));
        bool is_there = g_ptr_array_find_with_equal_func(parents, parent, g_str_equal, NULL);
        if (is_there)
            g_free(parent);
        else
            g_ptr_array_add(parents, parent);
    }
    g_ptr_array_add(parents, NULL);
    commit->sha = sha_of(i);
    commit->parents = (char **)g_ptr_array_steal(parents, NULL);
    commit->has_time = g_rand_boolean(rand);
    commit->time_s = g_rand_int_range(rand, 1000, 1100);
    commit->author = g_strdup(author);
    commit->subject = g_strdup_printf("%s %d", author, i);
    return commit;
}

static void tell(struct history *history, const struct run_commit *told, const char *branch)
{
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    struct commit_telling telling;
    guint mark = history->staging.changes->len;
    commit_telling_init(&telling, &history->staging, history->project, warnings);
    telling.branch = branch;
    commit_telling_tell(&telling, told);
    commit_telling_settle(&telling, mark);
    commit_telling_clear(&telling);
}

static void apply(struct history *history)
{
    staging_apply(&history->staging, ++history->version);
}

/* What readers see, and what is kept behind it. */
static char *dump(const struct history *history)
{
    GString *out = g_string_new(NULL);
    const GPtrArray *commits = history->project->pub.commits;
    for (guint i = 0; i < commits->len; i++) {
        const struct catalogue_commit *commit = commits->pdata[i];
        const struct store_commit *pub = &commit->pub;
        g_assert_cmpuint(pub->position, ==, i);
        g_string_append_printf(
            out, "%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %d %s %s %s:", pub->sha, pub->key_s,
            pub->time_s, pub->has_time, pub->author, pub->subject, pub->branch);
        for (guint k = 0; pub->parents && pub->parents[k]; k++)
            g_string_append_printf(out, " %s", pub->parents[k]->sha);
        g_string_append_printf(out, " (%s)\n", pub->parents ? "known" : "not known");
        g_assert_true(pub->author == commit->author && pub->branch == commit->branch);
        g_assert_cmpuint(commit->order.parents_known, ==, pub->parents != NULL);
    }
    return g_string_free(out, FALSE);
}

static struct run_commit *lie_new(GRand *rand)
{
    struct run_commit *lie =
        commit_new(rand, g_rand_int_range(rand, 0, COMMITS), COMMITS, "Mallory");
    lie->has_time = true;
    lie->is_bound = true;
    return lie;
}

static void tell_lies(struct history *history, GRand *rand, int n)
{
    for (int i = 0; i < n; i++) {
        struct run_commit *lie = lie_new(rand);
        tell(history, lie, "pr/1");
        run_commit_free(lie);
        if (g_rand_boolean(rand))
            apply(history);
    }
}

/* What was told and taken back changes nothing, not even where keys are computed again. */
static void tell_and_undo(struct history *history, const struct run_commit *told)
{
    apply(history);
    g_autofree char *before = dump(history);
    struct catalogue_commit *known =
        staging_find_commit(&history->staging, history->project, told->sha);
    tell(history, told, "main");
    staging_undo(&history->staging, 0);
    if (known)
        staging_set_borrowed(&history->staging, known, known->order.has_borrowed,
                             known->order.borrowed_s);
    apply(history);
    g_autofree char *after = dump(history);
    g_assert_cmpstr(after, ==, before);
}

static void test_truth_wins(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());
    for (int round = 0; round < 200; round++) {
        struct run_commit *truth[COMMITS];
        int order[COMMITS];
        struct history plain, lied;
        history_begin(&plain);
        history_begin(&lied);
        for (int i = 0; i < COMMITS; i++) {
            truth[i] = commit_new(rand, i, i, "Ada");
            truth[i]->has_time = true;
            order[i] = i;
            tell(&plain, truth[i], "main");
            apply(&plain);
        }
        tell_lies(&lied, rand, 10);
        for (int i = COMMITS - 1; i >= 0; i--) {
            int k = g_rand_int_range(rand, 0, i + 1), next = order[k];
            order[k] = order[i];
            if (g_rand_int_range(rand, 0, 4) == 0)
                tell_and_undo(&lied, truth[next]);
            tell(&lied, truth[next], "main");
            tell_lies(&lied, rand, 1);
        }
        apply(&lied);
        g_autofree char *want = dump(&plain), *got = dump(&lied);
        g_assert_cmpstr(got, ==, want);
        for (int i = 0; i < COMMITS; i++)
            run_commit_free(truth[i]);
        history_end(&plain);
        history_end(&lied);
    }
}

/* A bound one's word does not even replace another bound one's, and an equal word is confirmed. */
static void test_first_bound_word_stays(void)
{
    struct history history;
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    history_begin(&history);
    struct run_commit *first = commit_new(rand, 5, 5, "Ada");
    struct run_commit *second = commit_new(rand, 5, 0, "Mallory");
    first->is_bound = second->is_bound = true;
    tell(&history, first, "pr/1");
    tell(&history, second, "pr/2");
    apply(&history);
    g_autofree char *before = dump(&history);
    g_assert_nonnull(strstr(before, "Ada"));
    g_assert_null(strstr(before, "Mallory"));
    first->is_bound = second->is_bound = false;
    tell(&history, first, "pr/1");
    apply(&history);
    g_autofree char *confirmed = dump(&history);
    g_assert_cmpstr(confirmed, ==, before);
    tell(&history, second, "main"); /* a contradiction, as between any two */
    apply(&history);
    g_autofree char *after = dump(&history);
    g_assert_cmpstr(after, ==, before);
    run_commit_free(first);
    run_commit_free(second);
    history_end(&history);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/store/bound-facts/truth-wins", test_truth_wins);
    g_test_add_func("/store/bound-facts/first-bound-word-stays", test_first_bound_word_stays);
    return g_test_run();
}
