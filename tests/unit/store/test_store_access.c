/* SPDX-License-Identifier: Apache-2.0
 * Tokens, sessions and the log of writes: what is kept of a secret, what a credential comes to, the
 * command line beside a running store, and a log that only grows. */
#include "server/store/sqlite.h"
#include "server/store/store_access.h"
#include "store_fixture.h"

#define HOUR_MS INT64_C(3600000)
#define LONG_NOTE                                                                                  \
    5007 /* beyond a page, and its end needs room of its own: memory is taken twice                \
          */

static int64_t now_ms(void)
{
    return g_get_real_time() / 1000;
}

struct put {
    struct outcome outcome;
    int64_t access_id;
};

static void put_done(const struct store_receipt *receipt, void *user)
{
    struct put *put = user;
    put->access_id = receipt->access_id; /* seen after the outcome's lock */
    outcome_done(receipt, &put->outcome);
}

/* The id that was given; fails the test where it was refused. */
static int64_t must_put(Store *store, const struct store_access_write *access)
{
    struct put put = {.access_id = 0};
    outcome_init(&put.outcome);
    store_put_access(store, g_memdup2(access, sizeof *access), put_done, &put);
    outcome_wait(&put.outcome);
    g_assert_cmpstr(put.outcome.message, ==, "");
    outcome_clear(&put.outcome);
    return put.access_id;
}

static char *must_secret(void)
{
    g_autoptr(GError) error = NULL;
    char *secret = secret_new(&error);
    g_assert_no_error(error);
    return secret;
}

static StoreToken *make_token(const char *secret, const char *project, int64_t expires_ms)
{
    static const char *const branches[] = {"main", "pr/*", NULL};
    StoreToken *token = g_new0(StoreToken, 1);
    digest_sha256(secret, SECRET_TEXT_LENGTH, token->hash);
    token->project = g_strdup(project);
    token->scopes = g_strdup("submit,read");
    token->branches = g_strdupv((GStrv)(guintptr)branches);
    token->note = g_strdup("ci");
    token->created_ms = now_ms();
    token->expires_ms = expires_ms;
    return token;
}

static int64_t must_add(Store *store, const char *secret, const char *project, int64_t expires_ms)
{
    return must_put(store,
                    &(struct store_access_write){.op = STORE_ADD_TOKEN,
                                                 .token = make_token(secret, project, expires_ms)});
}

/* What a text comes to: the token's id, 0 where it is none, -1 where it is over. */
static int64_t check(StoreReader *reader, const char *text)
{
    g_autoptr(StoreToken) token = NULL;
    g_autoptr(GError) error = NULL;
    bool fine = store_token_check(reader, text, strlen(text), &token, &error);
    if (!fine) {
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAUTHORIZED);
        g_assert_null(strstr(error->message, text));
    }
    return !fine ? -1 : token ? token->id : 0;
}

/* ---- Secrets ---- */

static void test_secrets(void)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int i = 0; i < 200; i++) {
        char *secret = must_secret();
        g_assert_cmpuint(strlen(secret), ==, SECRET_TEXT_LENGTH);
        g_assert_true(g_regex_match_simple("^[A-Za-z0-9_-]+$", secret, 0, 0));
        g_assert_true(g_hash_table_add(seen, secret));
    }
}

static void test_texts(void)
{
    char *secret = must_secret();
    g_autofree char *text = secret_print(SECRET_TOKEN_PREFIX, 17, secret);
    const char *found;
    int64_t id;
    g_assert_true(secret_parse(text, strlen(text), SECRET_TOKEN_PREFIX, &id, &found));
    g_assert_cmpint(id, ==, 17);
    g_assert_cmpint(memcmp(found, secret, SECRET_TEXT_LENGTH), ==, 0);
    g_assert_false(secret_parse(text, strlen(text), SECRET_SESSION_PREFIX, &id, &found));
    for (size_t length = 0; length < strlen(text); length++)
        g_assert_false(secret_parse(text, length, SECRET_TOKEN_PREFIX, &id, &found));
    g_autofree char *longer = g_strconcat(text, "x", NULL);
    g_assert_false(secret_parse(longer, strlen(longer), SECRET_TOKEN_PREFIX, &id, &found));
    static const char *const others[] = {"brkv__", "brkv_-1_", "brkv_1",
                                         "brkv_99999999999999999999_", "BRKV_1_"};
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++) {
        g_autofree char *other = g_strconcat(others[i], secret, NULL);
        g_assert_false(secret_parse(other, strlen(other), SECRET_TOKEN_PREFIX, &id, &found));
    }
    secret_free(secret);
}

static void test_redacted(void)
{
    static const struct {
        const char *text, *redacted;
    } cases[] = {
        {"", ""},
        {"/api/runs", "/api/runs"},
        {"brkv_7_abcDEF-_09", "brkv_7_…"},
        {"path=/x/brkv_7_abc/brks_12_q status=404", "path=/x/brkv_7_…/brks_12_… status=404"},
        {"brkv_7_ brkv_ brkv_x_y brk", "brkv_7_ brkv_ brkv_x_y brk"}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *redacted = secret_redacted(cases[i].text);
        g_assert_cmpstr(redacted, ==, cases[i].redacted);
    }
}

/* ---- Tokens ---- */

static void test_tokens(void)
{
    struct fixture fixture;
    bool exist = true;
    fixture_begin(&fixture);
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    g_assert_true(store_has_tokens(reader, &exist, NULL));
    g_assert_false(exist);
    char *secret = must_secret(), *other = must_secret();
    int64_t id = must_add(fixture.store, secret, "demo", 0);
    g_autofree char *text = secret_print(SECRET_TOKEN_PREFIX, id, secret);
    g_autofree char *forged = secret_print(SECRET_TOKEN_PREFIX, id, other);
    g_autofree char *unknown = secret_print(SECRET_TOKEN_PREFIX, id + 1, secret);
    g_assert_cmpint(check(reader, text), ==, id);
    g_assert_cmpint(check(reader, forged), ==, 0);
    g_assert_cmpint(check(reader, unknown), ==, 0);
    g_assert_true(store_has_tokens(reader, &exist, NULL) && exist);
    g_autoptr(StoreToken) token = NULL;
    g_assert_true(store_token_by_id(reader, id, &token, NULL));
    g_assert_cmpstr(token->project, ==, "demo");
    g_assert_cmpstr(token->branches[1], ==, "pr/*");
    g_assert_null(token->branches[2]);
    g_assert_null(token->machines);
    g_assert_cmpint(token->last_used_ms, ==, 0);
    /* Its use, and its end. */
    must_put(fixture.store,
             &(struct store_access_write){.op = STORE_USE_TOKEN, .id = id, .at_ms = 1700000000000});
    must_put(fixture.store,
             &(struct store_access_write){
                 .op = STORE_REVOKE_TOKEN, .id = id, .at_ms = now_ms(), .who = g_strdup("ada")});
    g_assert_cmpint(check(reader, text), ==, -1);
    g_assert_cmpint(check(reader, forged), ==, 0); /* nothing is told without the secret */
    bool live = true;
    g_assert_true(store_has_live_tokens(reader, now_ms(), &live, NULL) && !live);
    g_assert_true(store_has_tokens(reader, &exist, NULL) && exist);
    g_autoptr(GPtrArray) all = store_tokens(reader, NULL, 0, 10, NULL);
    g_assert_cmpuint(all->len, ==, 1);
    const StoreToken *row = all->pdata[0];
    g_assert_cmpint(row->last_used_ms, ==, 1700000000000);
    g_assert_cmpstr(row->revoked_by, ==, "ada");
    /* One that has expired. */
    int64_t old = must_add(fixture.store, other, NULL, now_ms() - 1);
    g_autofree char *old_text = secret_print(SECRET_TOKEN_PREFIX, old, other);
    g_assert_cmpint(check(reader, old_text), ==, -1);
    g_autoptr(GPtrArray) of_demo = store_tokens(reader, "demo", 0, 10, NULL);
    g_assert_cmpuint(of_demo->len, ==, 1);
    secret_free(secret);
    secret_free(other);
    g_clear_pointer(&reader, store_reader_free);
    fixture_end(&fixture);
}

static void test_nothing_of_the_secret(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    char *secret = must_secret();
    must_add(fixture.store, secret, NULL, 0);
    store_close(fixture.store);
    fixture.store = NULL;
    g_autofree char *bytes = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(fixture.path, &bytes, &length, NULL));
    g_assert_null(memmem(bytes, length, secret, SECRET_TEXT_LENGTH));
    g_assert_nonnull(memmem(bytes, length, "submit,read", 11)); /* the row is there */
    secret_free(secret);
    fixture_end(&fixture);
}

/* ---- Sessions ---- */

static int64_t must_sign_in(Store *store, int64_t token_id, const char *token_secret,
                            const char *secret, int64_t expires_ms)
{
    struct store_access_write write = {
        .op = STORE_ADD_SESSION,
        .session = {.token_id = token_id, .created_ms = now_ms(), .expires_ms = expires_ms}};
    digest_sha256(secret, SECRET_TEXT_LENGTH, write.session.hash);
    digest_sha256(token_secret, SECRET_TEXT_LENGTH, write.session.token_hash);
    return must_put(store, &write);
}

static bool is_signed_in(StoreReader *reader, int64_t id, const char *secret)
{
    g_autofree char *cookie = secret_print(SECRET_SESSION_PREFIX, id, secret);
    g_autoptr(StoreToken) token = NULL;
    struct store_session session;
    g_assert_true(store_session_check(reader, cookie, strlen(cookie), &session, &token, NULL));
    g_assert_true(session.id == 0 || session.token_id == 0 || token);
    return session.id != 0;
}

static void test_sessions(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    char *token = must_secret(), *secret = must_secret(), *wrong = must_secret();
    int64_t token_id = must_add(fixture.store, token, NULL, 0), end_ms = now_ms() + HOUR_MS;
    int64_t one = must_sign_in(fixture.store, token_id, token, secret, end_ms);
    int64_t two = must_sign_in(fixture.store, token_id, token, secret, end_ms);
    int64_t shared = must_sign_in(fixture.store, 0, wrong, secret, end_ms);
    int64_t over = must_sign_in(fixture.store, token_id, token, secret, now_ms() - 1);
    int64_t of_another = must_sign_in(fixture.store, token_id, wrong, secret, end_ms);
    g_assert_true(is_signed_in(reader, one, secret));
    g_assert_true(is_signed_in(reader, shared, secret));
    g_assert_false(is_signed_in(reader, one, wrong));
    g_assert_false(is_signed_in(reader, over, secret));
    g_assert_false(is_signed_in(reader, of_another, secret)); /* the token is another one now */
    must_put(fixture.store, &(struct store_access_write){.op = STORE_END_SESSION, .id = one});
    g_assert_false(is_signed_in(reader, one, secret));
    g_assert_true(is_signed_in(reader, two, secret));
    must_put(fixture.store, &(struct store_access_write){.op = STORE_END_SESSIONS, .id = 0});
    g_assert_false(is_signed_in(reader, shared, secret));
    g_assert_true(is_signed_in(reader, two, secret));
    must_put(fixture.store, &(struct store_access_write){
                                .op = STORE_REVOKE_TOKEN, .id = token_id, .at_ms = now_ms()});
    g_assert_false(is_signed_in(reader, two, secret));
    /* So many of one token, no more. */
    int64_t ids[STORE_SESSIONS_MAX + 2];
    for (guint i = 0; i < G_N_ELEMENTS(ids); i++)
        ids[i] = must_sign_in(fixture.store, 0, wrong, secret, end_ms);
    g_assert_false(is_signed_in(reader, ids[1], secret));
    g_assert_true(is_signed_in(reader, ids[2], secret));
    secret_free(token);
    secret_free(secret);
    secret_free(wrong);
    g_clear_pointer(&reader, store_reader_free);
    fixture_end(&fixture);
}

/* ---- The log of writes ---- */

static void put_audit(Store *store, const char *request, int status, int64_t rows_max)
{
    struct store_audit *audit = g_new0(struct store_audit, 1);
    *audit = (struct store_audit){.request_id = g_strdup(request),
                                  .at_ms = now_ms(),
                                  .who = g_strdup("ada"),
                                  .project = status ? g_strdup("demo") : NULL,
                                  .method = g_strdup("POST"),
                                  .path = g_strdup("/api/runs"),
                                  .status = status};
    must_put(store, &(struct store_access_write){
                        .op = STORE_PUT_AUDIT, .audit = audit, .rows_max = rows_max});
}

static void execute(const char *path, const char *sql, int code)
{
    sqlite3 *db;
    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    g_test_message("%s", sql);
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, code);
    sqlite3_close(db);
}

static void test_audit(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    put_audit(fixture.store, "r-1", 0, 0);
    put_audit(fixture.store, "r-2", 403, 0);
    put_audit(fixture.store, "r-1", 201, 0); /* its outcome */
    g_autoptr(GPtrArray) rows = store_audits(reader, NULL, 0, 10, NULL);
    g_assert_cmpuint(rows->len, ==, 2);
    const struct store_audit *last = rows->pdata[0], *first = rows->pdata[1];
    g_assert_cmpstr(last->request_id, ==, "r-2");
    g_assert_cmpint(first->status, ==, 201);
    g_assert_cmpstr(first->project, ==, "demo");
    g_autoptr(GPtrArray) older = store_audits(reader, "demo", last->id, 10, NULL);
    g_assert_cmpuint(older->len, ==, 1);
    g_autoptr(GPtrArray) none = store_audits(reader, "other", 0, 10, NULL);
    g_assert_cmpuint(none->len, ==, 0);
    execute(fixture.path, "UPDATE audit SET who = 'eve' WHERE id = 1", SQLITE_CONSTRAINT);
    execute(fixture.path, "UPDATE audit SET status = 200 WHERE id = 2", SQLITE_CONSTRAINT);
    execute(fixture.path, "DELETE FROM audit", SQLITE_CONSTRAINT);
    g_clear_pointer(&reader, store_reader_free);
    fixture_end(&fixture);
}

static void test_audit_is_bounded(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    execute(fixture.path,
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4095) "
            "INSERT INTO audit (request_id, at_ms, method, path, status) "
            "SELECT 'old-' || i, i, 'POST', '/', 200 FROM n",
            SQLITE_OK);
    put_audit(fixture.store, "now", 201, 2000); /* the 4096th: the oldest go */
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    g_autoptr(GPtrArray) rows = store_audits(reader, NULL, 0, 10000, NULL);
    g_assert_cmpuint(rows->len, ==, 2000);
    const struct store_audit *last = rows->pdata[0];
    g_assert_cmpstr(last->request_id, ==, "now");
    g_clear_pointer(&reader, store_reader_free);
    fixture_end(&fixture);
}

/* ---- The queue, and memory ---- */

/* The queue's bound is of what its writes hold: a long path is no small thing. */
static void test_queue_counts_texts(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    store_close(fixture.store);
    struct store_options options = {.url = fixture.url, .queue_bytes_max = 10000};
    fixture.store = store_open(&options, NULL);
    put_audit(fixture.store, "short", 200, 0);
    struct store_audit *audit = g_new0(struct store_audit, 1);
    *audit = (struct store_audit){.request_id = g_strdup("long"),
                                  .at_ms = now_ms(),
                                  .method = g_strdup("POST"),
                                  .path = g_strnfill(20000, 'p')};
    struct store_access_write *write = g_new0(struct store_access_write, 1);
    *write = (struct store_access_write){.op = STORE_PUT_AUDIT, .audit = audit};
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_access(fixture.store, write, outcome_done, &outcome);
    outcome_wait(&outcome);
    g_assert_cmpint(outcome.outcome, ==, STORE_REFUSED);
    g_assert_cmpint(outcome.code, ==, ERROR_BUSY);
    outcome_clear(&outcome);
    fixture_end(&fixture);
}

static sqlite3_mem_methods real_memory;
static _Thread_local int takes_left = -1; /* of SQLite's memory, on this thread; -1: any number */

static bool may_take(void)
{
    if (takes_left > 0)
        takes_left--;
    return takes_left != 0;
}

static void *take_memory(int bytes)
{
    return may_take() ? real_memory.xMalloc(bytes) : NULL;
}

static void *take_other_memory(void *memory, int bytes)
{
    return may_take() ? real_memory.xRealloc(memory, bytes) : NULL;
}

/* Before SQLite is used for the first time. */
static void stand_before_memory(void)
{
    g_assert_cmpint(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory), ==, SQLITE_OK);
    sqlite3_mem_methods memory = real_memory;
    memory.xMalloc = take_memory;
    memory.xRealloc = take_other_memory;
    g_assert_cmpint(sqlite3_config(SQLITE_CONFIG_MALLOC, &memory), ==, SQLITE_OK);
}

/* False where memory ran out after so many takes. Never another token than was stored, nor none. */
static bool ask_with(Store *store, const char *text, int n_takes)
{
    g_autoptr(StoreReader) reader = must_read(store);
    g_autoptr(StoreToken) found = NULL;
    g_autoptr(GError) error = NULL, of_list = NULL;
    takes_left = n_takes;
    bool fine = store_token_check(reader, text, strlen(text), &found, &error);
    takes_left = n_takes;
    g_autoptr(GPtrArray) list = store_tokens(reader, NULL, 0, 10, &of_list);
    takes_left = -1;
    g_assert_true(!fine || (found && found->note && strlen(found->note) == LONG_NOTE));
    if (!fine)
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_BUSY);
    if (list)
        g_assert_cmpuint(strlen(((const StoreToken *)list->pdata[0])->note), ==, LONG_NOTE);
    else
        g_assert_error(of_list, BREAKEVEN_ERROR, ERROR_BUSY);
    return fine && list;
}

/* A token whose row memory ran out for is none that may more, nor one that is refused: it is an
 * error, and the same token counts again when there is memory. */
static void test_no_memory(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    char *secret = must_secret();
    StoreToken *token = make_token(secret, "demo", 0);
    g_free(token->note);
    token->note = g_strnfill(LONG_NOTE, 'n');
    int64_t id = must_put(fixture.store,
                          &(struct store_access_write){.op = STORE_ADD_TOKEN, .token = token});
    g_autofree char *text = secret_print(SECRET_TOKEN_PREFIX, id, secret);
    int n = 1; /* 0 left is none */
    while (!ask_with(fixture.store, text, n) && n < 1000)
        n++;
    g_assert_cmpint(n, >, 2);
    g_assert_cmpint(n, <, 1000);
    g_test_message("%d takes", n);
    secret_free(secret);
    fixture_end(&fixture);
}

/* ---- Beside a running store ---- */

static int64_t must_add_by_file(StoreTokenFile *file, const char *secret, const char *request)
{
    g_autoptr(StoreToken) token = make_token(secret, NULL, 0);
    g_autoptr(GError) error = NULL;
    struct store_audit *audit = g_new0(struct store_audit, 1);
    int64_t id;
    audit->request_id = g_strdup(request);
    audit->method = g_strdup("POST");
    audit->status = 200;
    store_token_file_add(file, token, audit, &id, &error);
    g_assert_no_error(error);
    store_audit_free(audit);
    return id;
}

static void test_file_beside(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    g_autoptr(GError) error = NULL;
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    g_autoptr(StoreTokenFile) file = store_token_file_open(fixture.url, &error);
    g_assert_no_error(error);
    char *secret = must_secret();
    int64_t id = must_add_by_file(file, secret, "cli-1");
    g_autofree char *text = secret_print(SECRET_TOKEN_PREFIX, id, secret);
    g_assert_cmpint(check(reader, text), ==, id); /* at once */
    /* The store goes on writing, and its own ids do not meet. */
    must_put_run(fixture.store, make_run("one", "A", 1));
    g_assert_cmpint(must_add(fixture.store, secret, "demo", 0), ==, id + 1);
    g_assert_cmpint(must_add_by_file(file, secret, "cli-2"), ==, id + 2);
    struct store_audit audit = {.request_id = g_strdup("cli-3"),
                                .at_ms = now_ms(),
                                .method = g_strdup("DELETE"),
                                .status = 200};
    g_assert_true(store_token_file_revoke(file, id, &audit, &error));
    g_assert_cmpint(check(reader, text), ==, -1);
    g_assert_cmpstr(audit.path, ==, "/tokens/1");
    g_assert_false(store_token_file_revoke(file, 99, &audit, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND);
    g_free(audit.request_id);
    g_free(audit.method);
    g_free(audit.path);
    g_autoptr(GPtrArray) all = store_token_file_list(file, NULL, NULL);
    g_assert_cmpuint(all->len, ==, 3);
    secret_free(secret);
    g_clear_pointer(&file, store_token_file_close);
    g_clear_pointer(&reader, store_reader_free);
    fixture_end(&fixture);
}

/* The first token is made before the first start of a server that would refuse to start without. */
static void test_file_alone(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    store_close(fixture.store);
    fixture.store = NULL;
    g_assert_cmpint(g_unlink(fixture.path), ==, 0);
    g_autoptr(GError) error = NULL;
    g_autoptr(StoreTokenFile) file = store_token_file_open(fixture.url, &error);
    g_assert_no_error(error);
    char *secret = must_secret();
    int64_t id = must_add_by_file(file, secret, "cli-1");
    g_clear_pointer(&file, store_token_file_close);
    fixture_open(&fixture);
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    g_autofree char *text = secret_print(SECRET_TOKEN_PREFIX, id, secret);
    g_assert_cmpint(check(reader, text), ==, id);
    secret_free(secret);
    g_clear_pointer(&reader, store_reader_free);
    fixture_end(&fixture);
}

static void test_file_refused(void)
{
    static const char *const urls[] = {"postgres:x", "sqlite:/nonexistent/folder/x.db", ""};
    for (gsize i = 0; i < G_N_ELEMENTS(urls); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(store_token_file_open(urls[i], &error));
        g_assert_nonnull(error);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    stand_before_memory();
    g_test_add_func("/access/secrets", test_secrets);
    g_test_add_func("/access/texts", test_texts);
    g_test_add_func("/access/redacted", test_redacted);
    g_test_add_func("/access/tokens", test_tokens);
    g_test_add_func("/access/nothing-of-the-secret", test_nothing_of_the_secret);
    g_test_add_func("/access/sessions", test_sessions);
    g_test_add_func("/access/audit", test_audit);
    g_test_add_func("/access/audit-is-bounded", test_audit_is_bounded);
    g_test_add_func("/access/queue-counts-texts", test_queue_counts_texts);
    g_test_add_func("/access/no-memory", test_no_memory);
    g_test_add_func("/access/file-beside", test_file_beside);
    g_test_add_func("/access/file-alone", test_file_alone);
    g_test_add_func("/access/file-refused", test_file_refused);
    return g_test_run();
}
