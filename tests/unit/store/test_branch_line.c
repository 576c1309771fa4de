/* SPDX-License-Identifier: Apache-2.0
 * Heads of branches on a real store: how they move, what that makes of the commits, and that what
 * is kept up to date step by step is what a whole computation gives. */
#include "server/store/branch_line.h"
#include "server/store/store_changes.h"
#include "store_fixture.h"
#include <sqlite3.h>

struct head_outcome {
    struct outcome base;
    enum store_head_move move;
    char *sha;
};

static void head_done(const struct store_receipt *receipt, void *user)
{
    struct head_outcome *outcome = user;
    outcome->move = receipt->head ? receipt->head->move : STORE_MOVE_MADE;
    outcome->sha = g_strdup(receipt->head ? receipt->head->commit->sha : NULL);
    outcome_done(receipt, &outcome->base);
}

static void put_head(Store *store, const char *branch, const char *sha, bool at_least,
                     struct head_outcome *outcome)
{
    struct store_head_write *write = g_new0(struct store_head_write, 1);
    write->project = g_strdup("demo");
    write->branch = g_strdup(branch);
    write->sha = g_strdup(sha);
    write->at_least = at_least;
    write->who = g_strdup("somebody");
    outcome_init(&outcome->base);
    store_put_head(store, write, head_done, outcome);
    outcome_wait(&outcome->base);
}

static void head_outcome_clear(struct head_outcome *outcome)
{
    outcome_clear(&outcome->base);
    g_clear_pointer(&outcome->sha, g_free);
}

/* Expects a move; `sha` NULL removes. */
static void must_move(Store *store, const char *branch, guint commit, enum store_outcome wanted,
                      enum store_head_move move)
{
    g_autofree char *sha = sha_of(commit);
    struct head_outcome outcome = {0};
    put_head(store, branch, sha, false, &outcome);
    g_assert_cmpstr(outcome.base.message, ==, "");
    g_assert_cmpint(outcome.base.outcome, ==, wanted);
    g_assert_cmpint(outcome.move, ==, move);
    g_assert_cmpstr(outcome.sha, ==, sha);
    head_outcome_clear(&outcome);
}

/* A commit of that number with these parents (-1 ends them); its time rises with its number. */
static struct run_commit *make_commit(guint number, const int *parents)
{
    struct run_commit *commit = run_commit_new();
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    commit->sha = sha_of(number);
    commit->has_time = true;
    commit->time_s = 1700000000 + number;
    for (; *parents >= 0; parents++) {
        g_autofree char *sha = sha_of((guint)*parents);
        g_strv_builder_add(builder, sha);
    }
    commit->parents = g_strv_builder_end(builder);
    return commit;
}

static void tell(Store *store, guint number, int first_parent, int second_parent)
{
    const int parents[] = {first_parent, second_parent, -1};
    GPtrArray *commits = run_commits_new();
    g_ptr_array_add(commits, make_commit(number, parents));
    struct outcome outcome;
    put_commits(store, "demo", commits, &outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
}

static enum store_line line_of(Store *store, guint number)
{
    g_autoptr(StoreReader) reader = must_read(store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autofree char *sha = sha_of(number);
    const struct store_commit *commit =
        store_commit_find(store_project_find(snapshot, "demo"), sha, NULL);
    g_assert_nonnull(commit);
    return commit->line;
}

static guint count_rejudge(Store *store)
{
    g_autoptr(StoreReader) reader = must_read(store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autoptr(GArray) series = store_rejudge_queue(snapshot, 100, NULL);
    return series->len;
}

/* What is kept in each commit, against the whole computed anew. */
static void check_line(Store *store)
{
    g_autoptr(StoreReader) reader = must_read(store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    const struct store_project *project = store_project_find(snapshot, "demo");
    const struct store_head *head = store_head_find(project, project->default_branch);
    g_autofree guint8 *line = branch_line_states(project, branch_line_top(head));
    for (guint i = 0; i < project->commits->len; i++) {
        const struct store_commit *commit = project->commits->pdata[i];
        g_assert_cmpuint(commit->line, ==, line[i]);
    }
}

/* 0 - 1 - 2 - 3 - 4 with 10, 11 beside it, merged at 3 as second parent. */
static void tell_history(Store *store)
{
    tell(store, 0, -1, -1);
    tell(store, 1, 0, -1);
    tell(store, 2, 1, -1);
    tell(store, 10, 1, -1);
    tell(store, 11, 10, -1);
    tell(store, 12, 2, 11);
    tell(store, 13, 12, -1);
}

static void test_chain(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    tell_history(fixture.store);
    g_assert_cmpint(line_of(fixture.store, 1), ==, STORE_LINE_UNKNOWN);
    must_move(fixture.store, "main", 12, STORE_CREATED, STORE_MOVE_MADE);
    static const guint on[] = {0, 1, 2, 12};
    for (guint i = 0; i < G_N_ELEMENTS(on); i++)
        g_assert_cmpint(line_of(fixture.store, on[i]), ==, STORE_LINE_ON);
    g_assert_cmpint(line_of(fixture.store, 10), ==, STORE_LINE_OFF);
    g_assert_cmpint(line_of(fixture.store, 11), ==, STORE_LINE_OFF);
    g_assert_cmpint(line_of(fixture.store, 13), ==, STORE_LINE_BEYOND);
    must_move(fixture.store, "main", 12, STORE_UNCHANGED, STORE_MOVE_MADE);
    must_move(fixture.store, "main", 13, STORE_UPDATED, STORE_MOVE_FORWARD);
    g_assert_cmpint(line_of(fixture.store, 13), ==, STORE_LINE_ON);
    fixture_reopen(&fixture);
    g_assert_cmpint(line_of(fixture.store, 13), ==, STORE_LINE_ON);
    g_assert_cmpint(line_of(fixture.store, 11), ==, STORE_LINE_OFF);
    check_line(fixture.store);
    fixture_end(&fixture);
}

static void test_forced_and_removed(void)
{
    struct fixture fixture;
    struct head_outcome outcome = {0};
    fixture_begin(&fixture);
    tell_history(fixture.store);
    must_move(fixture.store, "main", 13, STORE_CREATED, STORE_MOVE_MADE);
    must_move(fixture.store, "main", 11, STORE_UPDATED, STORE_MOVE_FORCED);
    g_assert_nonnull(strstr(fixture.log->str, "branch main was force-pushed"));
    g_assert_cmpint(line_of(fixture.store, 11), ==, STORE_LINE_ON);
    g_assert_cmpint(line_of(fixture.store, 2), ==, STORE_LINE_OFF);
    check_line(fixture.store);
    put_head(fixture.store, "main", NULL, false, &outcome);
    g_assert_cmpint(outcome.base.outcome, ==, STORE_DELETED);
    head_outcome_clear(&outcome);
    g_assert_cmpint(line_of(fixture.store, 11), ==, STORE_LINE_UNKNOWN);
    put_head(fixture.store, "main", NULL, false, &outcome);
    g_assert_cmpint(outcome.base.code, ==, ERROR_NOT_FOUND);
    head_outcome_clear(&outcome);
    fixture_reopen(&fixture);
    g_assert_cmpint(line_of(fixture.store, 2), ==, STORE_LINE_UNKNOWN);
    fixture_end(&fixture);
}

/* What was forced off the end of the branch is not what comes after a head that is behind. */
static void test_forced_back(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    tell_history(fixture.store);
    must_put_run(fixture.store, make_run("dropped", "A", 13));
    must_move(fixture.store, "main", 13, STORE_CREATED, STORE_MOVE_MADE);
    must_move(fixture.store, "main", 2, STORE_UPDATED, STORE_MOVE_FORCED);
    g_assert_cmpint(line_of(fixture.store, 13), ==, STORE_LINE_OFF);
    g_assert_cmpuint(count_rejudge(fixture.store), ==, 1);
    tell(fixture.store, 14, 13, -1);
    tell(fixture.store, 20, 2, -1);
    g_assert_cmpint(line_of(fixture.store, 14), ==, STORE_LINE_OFF);
    g_assert_cmpint(line_of(fixture.store, 20), ==, STORE_LINE_BEYOND);
    fixture_reopen(&fixture);
    g_assert_cmpint(line_of(fixture.store, 12), ==, STORE_LINE_OFF);
    must_move(fixture.store, "main", 20, STORE_UPDATED, STORE_MOVE_FORWARD);
    g_assert_cmpint(line_of(fixture.store, 12), ==, STORE_LINE_OFF);
    check_line(fixture.store);
    fixture_end(&fixture);
}

/* Jobs end in any order: one that ends late does not move the head back. */
static void test_at_least(void)
{
    struct fixture fixture;
    struct head_outcome outcome = {0};
    fixture_begin(&fixture);
    tell_history(fixture.store);
    must_move(fixture.store, "main", 13, STORE_CREATED, STORE_MOVE_MADE);
    g_autofree char *older = sha_of(10), *newest = sha_of(13);
    put_head(fixture.store, "main", older, true, &outcome);
    g_assert_cmpint(outcome.base.outcome, ==, STORE_UNCHANGED);
    g_assert_cmpstr(outcome.sha, ==, newest);
    g_assert_cmpstr(outcome.base.warnings, ==, "");
    head_outcome_clear(&outcome);
    put_head(fixture.store, "main", older, false, &outcome);
    g_assert_cmpint(outcome.move, ==, STORE_MOVE_FORCED);
    head_outcome_clear(&outcome);
    put_head(fixture.store, "main", newest, true, &outcome);
    g_assert_cmpint(outcome.base.outcome, ==, STORE_UPDATED);
    head_outcome_clear(&outcome);
    fixture_end(&fixture);
}

/* A head that nobody told of is a commit known by its sha: until its parents are known, what runs
 * say counts; then the series are judged anew. */
static void test_parents_come_later(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    tell_history(fixture.store);
    must_put_run(fixture.store, make_run("side", "A", 11));
    must_move(fixture.store, "main", 14, STORE_CREATED, STORE_MOVE_MADE);
    g_assert_cmpint(line_of(fixture.store, 11), ==, STORE_LINE_UNKNOWN);
    g_assert_cmpuint(count_rejudge(fixture.store), ==, 0);
    tell(fixture.store, 14, 13, -1);
    g_assert_cmpint(line_of(fixture.store, 11), ==, STORE_LINE_OFF);
    g_assert_cmpint(line_of(fixture.store, 13), ==, STORE_LINE_ON);
    g_assert_cmpuint(count_rejudge(fixture.store), ==, 1);
    check_line(fixture.store);
    fixture_end(&fixture);
}

/* Only a move that changes which runs count has them judged anew. */
static void test_rejudge(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    tell_history(fixture.store);
    Run *side = make_run("side", "A", 11);
    g_free(side->branch);
    side->branch = g_strdup("topic");
    must_put_run(fixture.store, side);
    must_put_run(fixture.store, make_run("line", "A", 2));
    must_move(fixture.store, "main", 2, STORE_CREATED, STORE_MOVE_MADE);
    must_move(fixture.store, "main", 12, STORE_UPDATED, STORE_MOVE_FORWARD);
    must_move(fixture.store, "topic", 11, STORE_CREATED, STORE_MOVE_MADE);
    g_assert_cmpuint(count_rejudge(fixture.store), ==, 0);
    must_move(fixture.store, "main", 11, STORE_UPDATED, STORE_MOVE_FORCED);
    g_assert_cmpuint(count_rejudge(fixture.store), ==, 1);
    fixture_end(&fixture);
}

static Run *pull_request_run(const char *id, guint commit)
{
    Run *run = make_run(id, "A", commit);
    g_free(run->source_json);
    run->source_json = g_strdup_printf("{\"base\":\"%s\",\"pull_request\":\"17\"}",
                                       "0123456789012345678901234567890123456789");
    return run;
}

/* A fork's branch may be called main, too. */
static void test_pull_request(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    tell_history(fixture.store);
    int64_t seq = must_put_run(fixture.store, pull_request_run("fork", 11));
    must_put_run(fixture.store, make_run("own", "A", 2));
    for (guint round = 0; round < 2; round++) {
        {
            g_autoptr(StoreReader) reader = must_read(fixture.store);
            g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
            g_auto(StoreBranch) branch;
            store_branch_open(&branch, store_project_find(snapshot, "demo"), "main");
            const struct store_run *fork = store_run_by_seq(snapshot, seq);
            g_assert_cmpstr(fork->pull_request, ==, "17");
            g_assert_cmpuint(strlen(fork->base), ==, 40);
            g_assert_false(store_branch_has_run(&branch, fork));
            g_assert_true(store_branch_has_run(&branch, store_run_find(snapshot, "own")));
        }
        fixture_reopen(&fixture);
    }
    struct outcome outcome;
    delete_run(fixture.store, "fork", &outcome);
    g_assert_cmpint(outcome.outcome, ==, STORE_DELETED);
    outcome_clear(&outcome);
    fixture_reopen(&fixture); /* a row that was left behind would end the start */
    fixture_end(&fixture);
}

/* Drops the tables that migrations from 4 on make: their names follow CREATE TABLE. */
static void go_back_to_third(const char *path)
{
    g_autoptr(GString) script = g_string_new("PRAGMA foreign_keys=0;");
    GDir *folder = g_dir_open(SOURCE_DIR "/schema/sqlite", 0, NULL);
    for (const char *name; (name = g_dir_read_name(folder));) {
        g_autofree char *file = g_build_filename(SOURCE_DIR "/schema/sqlite", name, NULL);
        g_autofree char *sql = NULL;
        if (strcmp(name, "004") < 0 || !g_file_get_contents(file, &sql, NULL, NULL))
            continue;
        for (char *at = sql; (at = strstr(at, "\nCREATE TABLE "));) {
            at += strlen("\nCREATE TABLE ");
            g_string_append_printf(script, "DROP TABLE %.*s;", (int)strcspn(at, " "), at);
        }
    }
    g_dir_close(folder);
    g_string_append(script, "PRAGMA user_version=3");
    sqlite3 *db;
    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, script->str, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(db);
}

/* What older documents said of pull requests is found in them. */
static void test_upgrade(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    int64_t seq = must_put_run(fixture.store, pull_request_run("fork", 11));
    must_put_run(fixture.store, make_run("own", "A", 2));
    store_close(fixture.store);
    fixture.store = NULL;
    go_back_to_third(fixture.path);
    fixture_open(&fixture);
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_assert_cmpstr(store_run_by_seq(snapshot, seq)->pull_request, ==, "17");
    g_assert_null(store_run_find(snapshot, "own")->pull_request);
    store_snapshot_end(g_steal_pointer(&snapshot));
    store_reader_free(g_steal_pointer(&reader));
    fixture_end(&fixture);
}

/* Random histories, told in random order, under a head that moves at random. */
static void test_step_by_step(void)
{
    enum { COMMITS = 60, ROUNDS = 4 };
    for (guint round = 0; round < ROUNDS; round++) {
        struct fixture fixture;
        fixture_begin(&fixture);
        g_autoptr(GRand) random = g_rand_new_with_seed(4711 + round);
        guint order[COMMITS];
        for (guint i = 0; i < COMMITS; i++) {
            guint k = (guint)g_rand_int_range(random, 0, (gint32)i + 1);
            order[i] = order[k];
            order[k] = i;
        }
        for (guint i = 0; i < COMMITS; i++) {
            gint32 n = (gint32)order[i];
            bool is_root = n == 0 || g_rand_int_range(random, 0, 15) == 0;
            int first = is_root ? -1 : g_rand_int_range(random, MAX(0, n - 4), n);
            int second = !is_root && n > 1 && g_rand_int_range(random, 0, 4) == 0
                             ? g_rand_int_range(random, 0, n)
                             : -1;
            tell(fixture.store, order[i], first, second == first ? -1 : second);
            if (g_rand_int_range(random, 0, 3) == 0) {
                g_autofree char *sha = sha_of((guint)g_rand_int_range(random, 0, COMMITS));
                struct head_outcome outcome = {0};
                put_head(fixture.store, "main", sha, false, &outcome);
                g_assert_cmpstr(outcome.base.message, ==, "");
                head_outcome_clear(&outcome);
            }
            check_line(fixture.store);
        }
        fixture_reopen(&fixture);
        check_line(fixture.store);
        fixture_end(&fixture);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/branch-line/chain", test_chain);
    g_test_add_func("/branch-line/forced-and-removed", test_forced_and_removed);
    g_test_add_func("/branch-line/forced-back", test_forced_back);
    g_test_add_func("/branch-line/at-least", test_at_least);
    g_test_add_func("/branch-line/parents-come-later", test_parents_come_later);
    g_test_add_func("/branch-line/rejudge", test_rejudge);
    g_test_add_func("/branch-line/pull-request", test_pull_request);
    g_test_add_func("/branch-line/upgrade", test_upgrade);
    g_test_add_func("/branch-line/step-by-step", test_step_by_step);
    return g_test_run();
}
