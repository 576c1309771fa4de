/* SPDX-License-Identifier: Apache-2.0
 * The order of commits: whatever the order and the batches in which facts arrive, it is the same,
 * parents come before children, and it is what a plain computation over the whole graph gives.
 * Cycles are found, however they are told. */
#include "server/store/commit_order.h"
#include "store_fixture.h"

#define COMMITS 1000u

/* ---- A random history
 * --------------------------------------------------------------------------------------------- */

struct history {
    char *shas[COMMITS];
    guint n_parents[COMMITS];
    guint parents[COMMITS][3]; /* smaller numbers */
    bool has_time[COMMITS];
    int64_t time_s[COMMITS];
};

static struct history *history_new(void)
{
    struct history *history = g_new0(struct history, 1);
    for (guint i = 0; i < COMMITS; i++) {
        history->shas[i] = sha_of(i);
        guint most = g_test_rand_int_range(0, 10) < 7 ? MIN(i, 1u) : MIN(i, 3u);
        for (guint p = 0; p < most; p++) {
            /* Mostly near, so that there are long lines; sometimes far. */
            guint back = g_test_rand_int_range(0, 10) < 9 ? 8u : COMMITS;
            history->parents[i][p] = i - 1 - (guint)g_test_rand_int_range(0, (gint)MIN(i, back));
        }
        history->n_parents[i] = most;
        history->has_time[i] = g_test_rand_int_range(0, 10) < 9;
        /* Clocks that are wrong by hours, and many equal times. */
        gint32 hours_off = g_test_rand_int_range(-200, 200) * 100;
        history->time_s[i] = 1700000000 + (int64_t)i * 10 / 7 + hours_off;
    }
    return history;
}

static void history_free(struct history *history)
{
    for (guint i = 0; i < COMMITS; i++)
        g_free(history->shas[i]);
    g_free(history);
}

/* The order by definition: numbers are topological, so one pass down and one pass up settle
 * everything. */
struct reference {
    int64_t effective[COMMITS], key[COMMITS];
};

static void reference_compute(const struct history *history, struct reference *reference)
{
    for (guint i = 0; i < COMMITS; i++)
        reference->effective[i] = history->has_time[i] ? history->time_s[i] : INT64_MAX;
    for (guint i = COMMITS; i-- > 0;) {
        if (reference->effective[i] == INT64_MAX)
            reference->effective[i] = 0; /* no time and no child */
        for (guint p = 0; p < history->n_parents[i]; p++) {
            guint parent = history->parents[i][p];
            if (!history->has_time[parent])
                reference->effective[parent] =
                    MIN(reference->effective[parent], reference->effective[i] - 1);
        }
    }
    for (guint i = 0; i < COMMITS; i++) {
        reference->key[i] = reference->effective[i];
        for (guint p = 0; p < history->n_parents[i]; p++)
            reference->key[i] = MAX(reference->key[i], reference->key[history->parents[i][p]] + 1);
    }
}

static void shuffle(guint *numbers, guint n)
{
    for (guint i = n; i > 1; i--) {
        guint other = (guint)g_test_rand_int_range(0, (gint)i);
        guint kept = numbers[i - 1];
        numbers[i - 1] = numbers[other];
        numbers[other] = kept;
    }
}

static void random_order(guint *numbers)
{
    for (guint i = 0; i < COMMITS; i++)
        numbers[i] = i;
    shuffle(numbers, COMMITS);
}

/* ---- The pure functions
 * ------------------------------------------------------------------------------------------- */

static void check_incremental(const struct history *history)
{
    struct reference *reference = g_new(struct reference, 1);
    reference_compute(history, reference);
    struct order_commit *commits = g_new0(struct order_commit, COMMITS);
    guint numbers[COMMITS];
    random_order(numbers);
    for (guint i = 0; i < COMMITS; i++) {
        commits[i].sha = history->shas[i];
        commits[i].fresh = true;
    }
    for (guint i = 0; i < COMMITS;) {
        guint batch = (guint)g_test_rand_int_range(1, 40);
        g_autoptr(GPtrArray) dirty = g_ptr_array_new();
        g_autoptr(GPtrArray) linked = g_ptr_array_new();
        for (; batch > 0 && i < COMMITS; batch--, i++) {
            guint number = numbers[i];
            struct order_commit *commit = &commits[number];
            struct order_commit *parents[3];
            for (guint p = 0; p < history->n_parents[number]; p++)
                parents[p] = &commits[history->parents[number][p]];
            commit_order_link(commit, parents, history->n_parents[number]);
            commit->has_time = history->has_time[number];
            commit->time_s = history->time_s[number];
            g_ptr_array_add(dirty, commit);
            g_ptr_array_add(linked, commit);
            for (guint p = 0; p < history->n_parents[number]; p++)
                if (parents[p]->fresh)
                    g_ptr_array_add(dirty, parents[p]); /* a commit known by its sha only */
        }
        g_autoptr(GPtrArray) cycles = commit_order_find_cycles(linked, INT64_MIN);
        g_assert_cmpuint(cycles->len, ==, 0);
        g_autoptr(GPtrArray) changed = commit_order_propagate(dirty);
        for (guint c = 0; c < changed->len; c++) {
            struct order_commit *commit = changed->pdata[c];
            g_assert_true(commit->changed);
            commit->changed = false;
            if (c > 0)
                g_assert_cmpint(commit_order_compare(changed->pdata[c - 1], commit), <, 0);
        }
    }
    for (guint i = 0; i < COMMITS; i++) {
        g_assert_cmpint(commits[i].effective_s, ==, reference->effective[i]);
        g_assert_cmpint(commits[i].key_s, ==, reference->key[i]);
        commit_order_clear(&commits[i]);
    }
    g_free(commits);
    g_free(reference);
}

static void test_incremental(void)
{
    for (guint round = 0; round < 20; round++) {
        struct history *history = history_new();
        check_incremental(history);
        history_free(history);
    }
}

/* A ring of three with a tail before and after it, told in all orders: the last link that closes it
 * is found, nothing else. */
static void test_cycle(void)
{
    for (guint rotation = 0; rotation < 3; rotation++) {
        struct order_commit ring[3] = {0}, before = {.sha = "b", .fresh = true},
                            after = {.sha = "a", .fresh = true};
        static const char *const shas[] = {"0", "1", "2"};
        g_autoptr(GPtrArray) linked = g_ptr_array_new();
        for (guint i = 0; i < 3; i++) {
            ring[i].sha = shas[i];
            ring[i].fresh = true;
        }
        struct order_commit *of_after[] = {&ring[0]};
        commit_order_link(&after, of_after, 1);
        for (guint i = 0; i < 3; i++) {
            guint at = (i + rotation) % 3;
            struct order_commit *parents[] = {&ring[(at + 1) % 3], &before};
            commit_order_link(&ring[at], parents, 2);
            g_ptr_array_set_size(linked, 0);
            g_ptr_array_add(linked, &ring[at]);
            g_autoptr(GPtrArray) cycles = commit_order_find_cycles(linked, INT64_MIN);
            g_assert_cmpuint(cycles->len, ==, i == 2 ? 1 : 0);
            if (i == 2)
                g_assert_true(cycles->pdata[0] == &ring[at]);
        }
        commit_order_clear(&before);
        commit_order_clear(&after);
        for (guint i = 0; i < 3; i++)
            commit_order_clear(&ring[i]);
    }
}

static void test_own_parent(void)
{
    struct order_commit commit = {.sha = "x", .fresh = true};
    struct order_commit *parents[] = {&commit};
    commit_order_link(&commit, parents, 1);
    g_autoptr(GPtrArray) linked = g_ptr_array_new();
    g_ptr_array_add(linked, &commit);
    g_autoptr(GPtrArray) cycles = commit_order_find_cycles(linked, INT64_MAX);
    g_assert_cmpuint(cycles->len, ==, 1);
    commit_order_unlink(&commit);
    g_assert_cmpuint(commit.n_children, ==, 0);
    commit_order_clear(&commit);
}

/* ---- Through the store
 * -------------------------------------------------------------------------------------------- */

static struct run_commit *told_commit(const struct history *history, guint number)
{
    struct run_commit *commit = run_commit_new();
    commit->sha = g_strdup(history->shas[number]);
    commit->parents = g_new0(char *, history->n_parents[number] + 1);
    for (guint p = 0; p < history->n_parents[number]; p++)
        commit->parents[p] = g_strdup(history->shas[history->parents[number][p]]);
    commit->has_time = history->has_time[number];
    commit->time_s = history->time_s[number];
    return commit;
}

static void free_commit(gpointer commit)
{
    run_commit_free(commit);
}

/* Sends the history in a random order and random batches, some commits twice, some as the history
 * of a run. */
static void send_history(Store *store, const char *project, const struct history *history)
{
    guint numbers[COMMITS];
    random_order(numbers);
    for (guint i = 0; i < COMMITS;) {
        GPtrArray *batch = g_ptr_array_new_with_free_func(free_commit);
        if (i > 0)
            g_ptr_array_add(batch, told_commit(history, numbers[0]));
        guint size = (guint)g_test_rand_int_range(1, 120), end = MIN(COMMITS, i + size);
        for (; i < end; i++)
            g_ptr_array_add(batch, told_commit(history, numbers[i]));
        struct outcome outcome;
        put_commits(store, project, batch, &outcome);
        g_assert_cmpstr(outcome.message, ==, "");
        g_assert_cmpstr(outcome.warnings, ==, "");
        outcome_clear(&outcome);
    }
}

static char *order_text(Store *store, const char *name)
{
    g_autoptr(StoreReader) reader = must_read(store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    const struct store_project *project = store_project_find(snapshot, name);
    GString *text = g_string_new(NULL);
    g_assert_cmpuint(project->commits->len, ==, COMMITS);
    for (guint i = 0; i < project->commits->len; i++) {
        const struct store_commit *commit = project->commits->pdata[i];
        g_assert_cmpuint(commit->position, ==, i);
        for (guint p = 0; commit->parents && commit->parents[p]; p++)
            g_assert_cmpuint(commit->parents[p]->position, <, i);
        g_string_append_printf(text, "%s %" G_GINT64_FORMAT "\n", commit->sha, commit->key_s);
    }
    return g_string_free(text, FALSE);
}

static void test_arrival(void)
{
    struct history *history = history_new();
    struct reference *reference = g_new(struct reference, 1);
    reference_compute(history, reference);
    struct fixture fixture;
    fixture_begin(&fixture);
    send_history(fixture.store, "one", history);
    send_history(fixture.store, "two", history);
    g_autofree char *one = order_text(fixture.store, "one");
    g_autofree char *two = order_text(fixture.store, "two");
    g_assert_cmpstr(one, ==, two);
    for (guint i = 0; i < COMMITS; i++) {
        g_autofree char *line =
            g_strdup_printf("%s %" G_GINT64_FORMAT "\n", history->shas[i], reference->key[i]);
        g_assert_nonnull(strstr(one, line));
    }
    fixture_reopen(&fixture);
    g_autofree char *again = order_text(fixture.store, "one");
    g_assert_cmpstr(one, ==, again);
    fixture_end(&fixture);
    g_free(reference);
    history_free(history);
}

/* A line of 100,000 commits, told from the newest on: nothing recurses, and it is loaded again. */
#define CHAIN       100000u
#define CHAIN_BATCH 10000u

static void test_chain(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    g_autofree char *newest = sha_of(CHAIN - 1);
    for (guint end = CHAIN; end > 0; end -= CHAIN_BATCH) {
        GPtrArray *batch = g_ptr_array_new_with_free_func(free_commit);
        for (guint i = end; i-- > end - CHAIN_BATCH;) {
            struct run_commit *commit = run_commit_new();
            commit->sha = sha_of(i);
            commit->parents = g_new0(char *, 2);
            commit->parents[0] = i > 0 ? sha_of(i - 1) : NULL;
            commit->has_time = true;
            commit->time_s = 1600000000 + i / 10;
            g_ptr_array_add(batch, commit);
        }
        struct outcome outcome;
        put_commits(fixture.store, "demo", batch, &outcome);
        g_assert_cmpstr(outcome.message, ==, "");
        outcome_clear(&outcome);
    }
    store_close(fixture.store);
    gint64 start_us = g_get_monotonic_time();
    fixture_open(&fixture);
    g_test_message("%u commits loaded in %" G_GINT64_FORMAT " ms", CHAIN,
                   (g_get_monotonic_time() - start_us) / 1000);
    {
        g_autoptr(StoreReader) reader = must_read(fixture.store);
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        const struct store_project *project = store_project_find(snapshot, "demo");
        g_assert_cmpuint(project->commits->len, ==, CHAIN);
        const struct store_commit *last = project->commits->pdata[CHAIN - 1];
        g_assert_cmpstr(last->sha, ==, newest);
        for (guint i = 1; i < CHAIN; i++)
            g_assert_true(((struct store_commit *)project->commits->pdata[i])->parents[0] ==
                          project->commits->pdata[i - 1]);
    }
    fixture_end(&fixture);
}

/* ---- Facts
 * --------------------------------------------------------------------------------------------------------
 */

static GPtrArray *one_commit(guint number, gint64 time_s, gint parent)
{
    GPtrArray *batch = g_ptr_array_new_with_free_func(free_commit);
    struct run_commit *commit = run_commit_new();
    commit->sha = sha_of(number);
    commit->has_time = time_s > 0;
    commit->time_s = time_s;
    if (parent >= 0) {
        commit->parents = g_new0(char *, 2);
        commit->parents[0] = sha_of((guint)parent);
    }
    g_ptr_array_add(batch, commit);
    return batch;
}

static void check_put(Store *store, GPtrArray *batch, enum store_outcome expected,
                      const char *warning)
{
    struct outcome outcome;
    put_commits(store, "demo", batch, &outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    g_assert_cmpint(outcome.outcome, ==, expected);
    if (warning)
        g_assert_nonnull(strstr(outcome.warnings, warning));
    else
        g_assert_cmpstr(outcome.warnings, ==, "");
    outcome_clear(&outcome);
}

static const struct store_commit *find_commit(StoreSnapshot *snapshot, guint number)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *sha = sha_of(number);
    const struct store_commit *commit =
        store_commit_find(store_project_find(snapshot, "demo"), sha, &error);
    g_assert_no_error(error);
    return commit;
}

static void test_facts(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    Store *store = fixture.store;
    check_put(store, one_commit(2, 0, -1), STORE_CREATED, NULL);
    check_put(store, one_commit(2, 0, -1), STORE_UNCHANGED, NULL);
    check_put(store, one_commit(2, 0, 1), STORE_UPDATED, NULL);
    check_put(store, one_commit(2, 1700000002, -1), STORE_UPDATED, NULL);
    check_put(store, one_commit(2, 1700000009, -1), STORE_UNCHANGED, "contradicts");
    check_put(store, one_commit(2, 0, 7), STORE_UNCHANGED, "other parents");
    g_assert_nonnull(strstr(fixture.log->str, "contradicts"));
    /* 1 is known by its sha only; telling that 2 is its parent would make a ring. */
    check_put(store, one_commit(1, 0, 2), STORE_UNCHANGED, "its own ancestor");
    check_put(store, one_commit(3, 4102444800, 2), STORE_CREATED, "a day ahead");
    check_put(store, one_commit(3, 4102444800, 2), STORE_UNCHANGED, NULL);
    for (guint round = 0; round < 2; round++) {
        g_autoptr(StoreReader) reader = must_read(fixture.store);
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        const struct store_commit *one = find_commit(snapshot, 1), *two = find_commit(snapshot, 2);
        g_assert_true(one->provisional);
        g_assert_null(one->parents);
        g_assert_cmpint(one->time_s, ==, 1700000001);
        g_assert_true(two->parents[0] == one);
        g_assert_false(two->provisional);
        g_assert_cmpint(two->time_s, ==, 1700000002);
        g_assert_cmpint(find_commit(snapshot, 3)->time_s, <, 4102444800);
        g_clear_pointer(&snapshot, store_snapshot_end);
        g_clear_pointer(&reader, store_reader_free);
        fixture_reopen(&fixture);
    }
    fixture_end(&fixture);
}

/* A commit known by its sha only has the start of its earliest run as its time, until told, also
 * when that run goes. */
static void test_borrowed(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    static const int64_t starts_s[] = {1750000300, 1750000100, 1750000200};
    for (guint i = 0; i < G_N_ELEMENTS(starts_s); i++) {
        g_autofree char *id = g_strdup_printf("run-%u", i);
        Run *run = make_run(id, "A", 5);
        run->commit.has_time = false;
        run->started_ms = starts_s[i] * 1000;
        must_put_run(fixture.store, run);
    }
    static const int64_t expected[] = {1750000100, 1750000100, 1750000200, 1700000000};
    for (guint step = 0; step < 4; step++) {
        if (step == 1)
            fixture_reopen(&fixture);
        if (step == 2) {
            struct outcome outcome;
            delete_run(fixture.store, "run-1", &outcome);
            g_assert_cmpint(outcome.outcome, ==, STORE_DELETED);
            outcome_clear(&outcome);
        }
        if (step == 3)
            check_put(fixture.store, one_commit(5, 1700000000, -1), STORE_UPDATED, NULL);
        g_autoptr(StoreReader) reader = must_read(fixture.store);
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        g_assert_cmpint(find_commit(snapshot, 5)->time_s, ==, expected[step]);
        g_assert_true(find_commit(snapshot, 5)->provisional == (step < 3));
    }
    fixture_end(&fixture);
}

/* A ring told within one batch, together with a run that is stored all the same. */
static void test_ring_in_run(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    Run *run = make_run("ring", "A", 0);
    for (guint i = 1; i < 4; i++) {
        struct run_commit *commit = run_commit_new();
        commit->sha = sha_of(i);
        commit->parents = g_new0(char *, 2);
        commit->parents[0] = sha_of(i % 3 + 1);
        g_ptr_array_add(run->history, commit);
    }
    g_autofree char *expected = print_run(run);
    struct outcome outcome;
    put_run(fixture.store, run, &outcome);
    g_assert_cmpint(outcome.outcome, ==, STORE_CREATED);
    g_assert_nonnull(strstr(outcome.warnings, "its own ancestor"));
    g_autofree char *stored = stored_document(fixture.store, outcome.run_seq);
    g_assert_cmpstr(stored, ==, expected);
    outcome_clear(&outcome);
    fixture_reopen(&fixture);
    fixture_end(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/order/incremental", test_incremental);
    g_test_add_func("/order/cycle", test_cycle);
    g_test_add_func("/order/own-parent", test_own_parent);
    g_test_add_func("/order/arrival", test_arrival);
    g_test_add_func("/order/chain", test_chain);
    g_test_add_func("/order/facts", test_facts);
    g_test_add_func("/order/borrowed", test_borrowed);
    g_test_add_func("/order/ring-in-run", test_ring_in_run);
    return g_test_run();
}
