/* SPDX-License-Identifier: Apache-2.0
 * What becomes of a change for which no place stands any more. */
#include "server/work/change_match.h"

static struct store_commit commit = {.id = 7, .position = 0};

static struct store_commit *commit_of(StoreSnapshot *snapshot G_GNUC_UNUSED, int64_t id)
{
    return id == commit.id ? &commit : NULL;
}

static void clear_write(gpointer data)
{
    g_free(((struct store_change_write *)data)->change.expectation);
}

/* The only write, where the detector no longer finds the change. */
static struct store_change_write withdrawn(struct store_change *kept)
{
    struct store_machine machine = {.id = 1};
    struct store_series series = {.id = 1, .machine = &machine};
    const struct store_commit *const commits[] = {&commit};
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct detector_change));
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    g_autoptr(GArray) writes = g_array_new(FALSE, FALSE, sizeof(struct store_change_write));
    g_array_set_clear_func(writes, clear_write);
    g_ptr_array_add(list, kept);
    const struct change_match match = {.series = &series,
                                       .found = found,
                                       .commits = commits,
                                       .n_commits = 1,
                                       .is_open = true,
                                       .kept = list,
                                       .commit_of = commit_of};
    change_match_run(&match, writes);
    g_assert_cmpuint(writes->len, ==, 1);
    return g_array_index(writes, struct store_change_write, 0);
}

static struct store_change change_of(enum store_change_status status, int64_t told_ms)
{
    return (struct store_change){
        .id = 3, .bad_commit_id = commit.id, .status = status, .told_ms = told_ms};
}

static void test_a_candidate_goes(void)
{
    struct store_change kept = change_of(STORE_STATUS_CANDIDATE, 0);
    struct store_change_write write = withdrawn(&kept);
    g_assert_cmpint(write.action, ==, STORE_CHANGE_DROP);
    g_assert_false(write.tell);
}

/* It was confirmed and told once, and a candidate again since: whoever was told is told. */
static void test_a_candidate_that_was_told_is_withdrawn(void)
{
    struct store_change kept = change_of(STORE_STATUS_CANDIDATE, 1000);
    struct store_change_write write = withdrawn(&kept);
    g_assert_cmpint(write.action, ==, STORE_CHANGE_UPDATE);
    g_assert_cmpint(write.change.status, ==, STORE_STATUS_WITHDRAWN);
    g_assert_true(write.tell);
}

static void test_a_confirmed_one_is_withdrawn(void)
{
    struct store_change kept = change_of(STORE_STATUS_CONFIRMED, 1000);
    struct store_change_write write = withdrawn(&kept);
    g_assert_cmpint(write.action, ==, STORE_CHANGE_UPDATE);
    g_assert_cmpint(write.change.status, ==, STORE_STATUS_WITHDRAWN);
    g_assert_true(write.tell);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/change-match/candidate", test_a_candidate_goes);
    g_test_add_func("/change-match/told-candidate", test_a_candidate_that_was_told_is_withdrawn);
    g_test_add_func("/change-match/confirmed", test_a_confirmed_one_is_withdrawn);
    return g_test_run();
}
