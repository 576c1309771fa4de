/* SPDX-License-Identifier: Apache-2.0
 * Rules at rest: what is saved holds for each series at once and after a restart, is logged, and
 * has just those judged anew of which it says something else; what was judged by other rules waits
 * again; a store whose rules had no form yet. */
#include "server/store/sqlite.h"
#include "server/store/store_changes.h"
#include "store_fixture.h"

static void put_rules(Store *store, const char *text)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    struct store_project_settings *settings = g_new0(struct store_project_settings, 1);
    settings->name = g_strdup("demo");
    settings->rules = rules_parse(text, strlen(text), faults, &error);
    settings->who = g_strdup("an engineer");
    g_assert_no_error(error);
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_project(store, settings, outcome_done, &outcome);
    outcome_wait(&outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
}

/* "A muted 0.02 lower waits-by-rule; …": each series with what is known of it. */
static char *look(struct fixture *fixture)
{
    g_autoptr(StoreReader) reader = must_read(fixture->store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autoptr(GArray) waiting = store_rejudge_queue(snapshot, 100, NULL);
    const struct store_project *project = store_project_find(snapshot, "demo");
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < project->series->len; i++) {
        const struct store_series *series = project->series->pdata[i];
        const char *better = better_name(series->better);
        bool waits = false, by_rule = false;
        for (guint k = 0; k < waiting->len; k++)
            waits = waits || g_array_index(waiting, int64_t, k) == series->id;
        g_assert_true(store_is_rule_rejudge(snapshot, series->id, &by_rule, NULL));
        g_string_append_printf(text, "%s %s%g %s%s%s;", series->benchmark->name,
                               series->rule.muted ? "muted " : "", series->rule.least_effect,
                               better ? better : "none", waits ? " waits" : "",
                               by_rule ? " by rule" : "");
    }
    return g_string_free(text, FALSE);
}

static void assert_look(struct fixture *fixture, const char *expected)
{
    g_autofree char *seen = look(fixture);
    g_assert_cmpstr(seen, ==, expected);
}

static void judge(struct fixture *fixture, int64_t rules_version)
{
    struct store_judgement *judgement = store_judgement_new();
    g_autoptr(StoreReader) reader = must_read(fixture->store);
    StoreSnapshot *snapshot = must_begin(reader);
    g_autoptr(GArray) waiting = store_rejudge_queue(snapshot, 100, NULL);
    store_snapshot_end(snapshot);
    g_array_append_vals(judgement->rejudged, waiting->data, waiting->len);
    judgement->rules_version = rules_version;
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_judgement(fixture->store, judgement, outcome_done, &outcome);
    outcome_wait(&outcome);
    outcome_clear(&outcome);
}

static int64_t rules_version(struct fixture *fixture)
{
    g_autoptr(StoreReader) reader = must_read(fixture->store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    return store_rules_version(snapshot);
}

static void test_saved(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    must_put_run(fixture.store, make_run("one", "A", 1));
    must_put_run(fixture.store, make_run("two", "B", 2));
    assert_look(&fixture, "A 0.02 lower;B 0.02 lower;");
    put_rules(fixture.store, "[{\"bench\":\"A\",\"muted\":true},{\"least_effect\":0.02}]");
    assert_look(&fixture, "A muted 0.02 lower waits by rule;B 0.02 lower;");
    must_put_run(fixture.store, make_run("three", "A2", 3)); /* a new series, and the rules */
    put_rules(fixture.store, "[{\"bench\":\"A*\",\"better\":\"none\"},{\"least_effect\":0.1}]");
    must_put_run(fixture.store, make_run("four", "A3", 4));
    static const char all[] = "A 0.1 none waits by rule;B 0.1 lower waits by rule;"
                              "A2 0.1 none waits by rule;A3 0.1 none;";
    assert_look(&fixture, all);
    fixture_reopen(&fixture);
    assert_look(&fixture, all);
    put_rules(fixture.store, "[]");
    judge(&fixture, rules_version(&fixture));
    assert_look(&fixture, "A 0.02 lower;B 0.02 lower;A2 0.02 lower;A3 0.02 lower;");
    fixture_end(&fixture);
}

static void test_log(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    must_put_run(fixture.store, make_run("one", "A", 1));
    put_rules(fixture.store, "[{\"muted\":true}]");
    put_rules(fixture.store, "[]");
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    struct store_page page = {store_project_find(snapshot, "demo")->id, 0, 10};
    g_autoptr(GPtrArray) log = store_rule_log(snapshot, &page, NULL);
    g_assert_cmpuint(log->len, ==, 2);
    const struct store_rule_entry *last = log->pdata[0], *first = log->pdata[1];
    g_assert_cmpstr(last->rules_json, ==, "[]");
    g_assert_cmpstr(first->rules_json, ==, "[{\"muted\":true}]");
    g_assert_cmpstr(first->who, ==, "an engineer");
    g_assert_null(first->note);
    g_assert_cmpuint(first->n_series, ==, 1);
    page.before = last->id;
    g_autoptr(GPtrArray) older = store_rule_log(snapshot, &page, NULL);
    g_assert_cmpuint(older->len, ==, 1);
    g_clear_pointer(&snapshot, store_snapshot_end);
    g_clear_pointer(&reader, store_reader_free);
    fixture_end(&fixture);
}

/* Rules that came while a series was judged: it is judged again by them. */
static void test_meanwhile(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    must_put_run(fixture.store, make_run("one", "A", 1));
    put_rules(fixture.store, "[{\"least_effect\":0.1}]");
    int64_t began = rules_version(&fixture);
    put_rules(fixture.store, "[{\"least_effect\":0.2}]");
    judge(&fixture, began);
    assert_look(&fixture, "A 0.2 lower waits by rule;");
    judge(&fixture, rules_version(&fixture));
    assert_look(&fixture, "A 0.2 lower;");
    fixture_end(&fixture);
}

/* The tables of this schema are not there yet, and a project has rules of no form. */
static void test_upgrade(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    must_put_run(fixture.store, make_run("one", "A", 1));
    store_close(fixture.store);
    fixture.store = NULL;
    sqlite3 *db;
    g_assert_cmpint(sqlite3_open(fixture.path, &db), ==, SQLITE_OK);
    g_autofree char *sql = NULL;
    g_assert_true(g_file_get_contents(SOURCE_DIR "/schema/sqlite/003_rules.sql", &sql, NULL, NULL));
    static const char back[] =
        "DROP TABLE rule_log; DROP TABLE rule_rejudge; DROP TABLE change_basis; DROP INDEX "
        "outbox_project; UPDATE project SET rules = '{\"threshold\":1}'";
    g_assert_cmpint(sqlite3_exec(db, back, NULL, NULL, NULL), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(db);
    fixture_open(&fixture);
    assert_look(&fixture, "A 0.02 lower;");
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    struct store_page page = {store_project_find(snapshot, "demo")->id, 0, 10};
    g_autoptr(GPtrArray) log = store_rule_log(snapshot, &page, NULL);
    g_assert_cmpuint(log->len, ==, 1);
    g_assert_cmpstr(((const struct store_rule_entry *)log->pdata[0])->rules_json, ==,
                    "{\"threshold\":1}");
    g_clear_pointer(&snapshot, store_snapshot_end);
    g_clear_pointer(&reader, store_reader_free);
    fixture_end(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rules/saved", test_saved);
    g_test_add_func("/rules/log", test_log);
    g_test_add_func("/rules/meanwhile", test_meanwhile);
    g_test_add_func("/rules/upgrade", test_upgrade);
    return g_test_run();
}
