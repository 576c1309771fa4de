/* SPDX-License-Identifier: Apache-2.0
 * The file: who may open it, what its schema says of itself, and that no statement reads a big
 * table from end to end. */
#include "server/store/sqlite.h"
#include "store_fixture.h"
#include <sys/stat.h>
#include <sys/wait.h>

static sqlite3 *open_plain(const char *path)
{
    sqlite3 *db;
    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    return db;
}

static void execute(const char *path, const char *sql)
{
    sqlite3 *db = open_plain(path);
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(db);
}

static void expect_refused(struct fixture *fixture, int code, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(fixture_try_open(fixture, &error));
    g_assert_error(error, BREAKEVEN_ERROR, code);
    g_assert_nonnull(strstr(error->message, text));
    g_assert_nonnull(strstr(error->message, "test.db"));
}

static void test_second_server(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    expect_refused(&fixture, ERROR_CONFLICT, "another server");
    /* Another name of the same file is the same file. */
    g_autofree char *link_path = g_build_filename(fixture.folder, "link.test.db", NULL);
    g_assert_cmpint(symlink(fixture.path, link_path), ==, 0);
    g_autofree char *url = g_strconcat("sqlite:", link_path, NULL);
    struct store_options options = {.url = url};
    g_autoptr(GError) error = NULL;
    g_assert_null(store_open(&options, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_CONFLICT);
    g_autoptr(GError) error_of_name = NULL;
    g_autofree char *name_path = g_build_filename(fixture.folder, "name.test.db", NULL);
    g_assert_cmpint(link(fixture.path, name_path), ==, 0);
    g_autofree char *name_url = g_strconcat("sqlite:", name_path, NULL);
    options.url = name_url;
    g_assert_null(store_open(&options, &error_of_name));
    g_assert_error(error_of_name, BREAKEVEN_ERROR, ERROR_INVALID);
    g_assert_cmpint(unlink(name_path), ==, 0);
    /* A plain reader may look on. */
    must_put_run(fixture.store, make_run("one", "A", 1));
    execute(fixture.path, "SELECT * FROM run");
    fixture_reopen(&fixture);
    fixture_end(&fixture);
}

static int64_t version_of(Store *store)
{
    StoreReader *reader = store_reader_new(store, NULL);
    StoreSnapshot *snapshot = store_snapshot_begin(reader, NULL);
    int64_t version = store_version(snapshot, store_project_find(snapshot, "demo"));
    g_assert_cmpint(store_version(snapshot, NULL), ==, version);
    store_snapshot_end(snapshot);
    store_reader_free(reader);
    return version;
}

/* Else a client would be told that what it saw before the restoration has not changed. */
static void test_restored_backup(void)
{
    struct fixture fixture;
    g_autofree char *backup = NULL;
    gsize length = 0;
    fixture_begin(&fixture);
    must_put_run(fixture.store, make_run("one", "A", 1));
    store_close(fixture.store);
    g_assert_true(g_file_get_contents(fixture.path, &backup, &length, NULL));
    fixture_open(&fixture);
    int64_t saved = version_of(fixture.store);
    must_put_run(fixture.store, make_run("two", "A", 2));
    int64_t lost = version_of(fixture.store);
    store_close(fixture.store);
    g_assert_true(g_file_set_contents(fixture.path, backup, (gssize)length, NULL));
    fixture_open(&fixture);
    g_assert_cmpint(version_of(fixture.store), ==, saved);
    must_put_run(fixture.store, make_run("other", "A", 3));
    g_assert_cmpint(version_of(fixture.store), >, lost);
    fixture_end(&fixture);
}

static void test_schema_refused(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    store_close(fixture.store);
    fixture.store = NULL;
    execute(fixture.path, "PRAGMA user_version = 999");
    expect_refused(&fixture, ERROR_UNSUPPORTED, "newer");
    execute(fixture.path, "PRAGMA user_version = 1; PRAGMA application_id = 1");
    expect_refused(&fixture, ERROR_INVALID, "another program");
    fixture_end(&fixture);
}

/* As where root put a backup back, and the service runs as another user. Of its own process, since
 * root has to become somebody whom permissions hold back. */
static void test_not_writable(void)
{
    struct fixture fixture;
    int status = 0;
    fixture_begin(&fixture);
    fixture_reopen(&fixture);
    store_close(fixture.store);
    fixture.store = NULL;
    g_autofree char *lock = g_strconcat(fixture.path, ".lock", NULL);
    g_assert_cmpint(unlink(lock), ==, 0);
    g_assert_cmpint(chmod(fixture.path, 0444), ==, 0);
    g_assert_cmpint(chmod(fixture.folder, 0777), ==, 0);
    pid_t child = fork();
    if (child == 0) {
        g_autoptr(GError) error = NULL;
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(2);
        Store *store = fixture_try_open(&fixture, &error);
        bool is_told = !store && error->code == ERROR_UNAVAILABLE &&
                       strstr(error->message, fixture.path) &&
                       strstr(error->message, "written by user");
        _exit(is_told ? 0 : 1);
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status, ==, 0);
    fixture_end(&fixture);
}

static void test_bad_paths(void)
{
    static const char *const urls[] = {"", "sqlite:", "postgres:x",
                                       "sqlite:/nonexistent/folder/x.db", "sqlite:/proc"};
    for (guint i = 0; i < G_N_ELEMENTS(urls); i++) {
        struct store_options options = {.url = urls[i]};
        g_autoptr(GError) error = NULL;
        g_assert_null(store_open(&options, &error));
        g_assert_nonnull(error);
        g_test_message("%s", error->message);
    }
}

/* ---- Comments
 * -----------------------------------------------------------------------------------------------------
 */

/* True where the text has a line that begins with `word` and ends in a comment that says something.
 */
static bool is_commented(const char *sql, const char *word)
{
    g_auto(GStrv) lines = g_strsplit(sql, "\n", -1);
    for (guint i = 0; lines[i]; i++) {
        const char *line = g_strchug(lines[i]);
        const char *comment = strstr(line, "-- ");
        if (g_str_has_prefix(line, word) && comment && strlen(comment) > 9)
            return true;
    }
    return false;
}

static guint check_columns(sqlite3 *db, const char *table, const char *sql)
{
    g_autofree char *pragma = g_strdup_printf("PRAGMA table_info(\"%s\")", table);
    sqlite3_stmt *statement;
    guint n = 0;
    g_assert_cmpint(sqlite3_prepare_v2(db, pragma, -1, &statement, NULL), ==, SQLITE_OK);
    for (; sqlite3_step(statement) == SQLITE_ROW; n++) {
        const char *name = (const char *)sqlite3_column_text(statement, 1);
        g_autofree char *start = g_strconcat(name, " ", NULL);
        if (!is_commented(sql, start))
            g_test_fail_printf("%s.%s has no comment", table, name);
    }
    sqlite3_finalize(statement);
    return n;
}

static void test_comments(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    sqlite3 *db = open_plain(fixture.path);
    sqlite3_stmt *statement;
    guint tables = 0, columns = 0;
    g_assert_cmpint(sqlite3_prepare_v2(db,
                                       "SELECT name, sql FROM sqlite_schema WHERE type = 'table'",
                                       -1, &statement, NULL),
                    ==, SQLITE_OK);
    for (; sqlite3_step(statement) == SQLITE_ROW; tables++) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        const char *sql = (const char *)sqlite3_column_text(statement, 1);
        if (!is_commented(sql, "CREATE TABLE"))
            g_test_fail_printf("table %s has no comment", name);
        if (!strstr(sql, "STRICT"))
            g_test_fail_printf("table %s is not STRICT", name);
        columns += check_columns(db, name, sql);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    g_assert_cmpuint(tables, >=, 20);
    g_assert_cmpuint(columns, >=, 90);
    fixture_end(&fixture);
}

/* ---- Plans
 * --------------------------------------------------------------------------------------------------------
 */

struct plans {
    sqlite3 *db;
    guint checked, scans;
};

static void check_plan(const struct sqlite_statement *statement, void *user)
{
    struct plans *plans = user;
    g_autofree char *sql = g_strconcat("EXPLAIN QUERY PLAN ", statement->sql, NULL);
    sqlite3_stmt *plan;
    int code = sqlite3_prepare_v2(plans->db, sql, -1, &plan, NULL);
    if (code != SQLITE_OK)
        g_test_fail_printf("%s: %s", statement->name, sqlite3_errmsg(plans->db));
    while (code == SQLITE_OK && sqlite3_step(plan) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(plan, 3);
        bool scan =
            g_str_has_prefix(detail, "SCAN") && !g_str_has_prefix(detail, "SCAN CONSTANT ROW");
        plans->scans += scan;
        if (scan && !statement->may_scan)
            g_test_fail_printf("%s: %s", statement->name, detail);
        if (!statement->may_scan && strstr(detail, "TEMP B-TREE") &&
            strcmp(statement->name, "errors of run") != 0)
            g_test_fail_printf("%s sorts: %s", statement->name, detail);
        /* Not even a load reads points. */
        if (scan && strstr(detail, "point"))
            g_test_fail_printf("%s: %s", statement->name, detail);
    }
    sqlite3_finalize(plan);
    plans->checked++;
}

static void test_plans(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    struct plans plans = {.db = open_plain(fixture.path)};
    sqlite_each_statement(check_plan, &plans);
    sqlite3_close(plans.db);
    g_assert_cmpuint(plans.checked, >=, 50);
    g_assert_cmpuint(plans.scans, >, 5); /* the check does see scans */
    fixture_end(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/file/second-server", test_second_server);
    g_test_add_func("/file/restored-backup", test_restored_backup);
    g_test_add_func("/file/schema-refused", test_schema_refused);
    g_test_add_func("/file/not-writable", test_not_writable);
    g_test_add_func("/file/bad-paths", test_bad_paths);
    g_test_add_func("/file/comments", test_comments);
    g_test_add_func("/file/plans", test_plans);
    return g_test_run();
}
