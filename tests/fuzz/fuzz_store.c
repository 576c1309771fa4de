/* SPDX-License-Identifier: Apache-2.0
 * Fuzzing of stores of every schema: a file of an earlier version with rows of all its tables is
 * changed in cells, rows and bytes, then opened as the server opens it, which brings it to the
 * present schema. It is opened, checked and opened again, or refused with words. An input: which
 * schema, then changes, each of a kind, a column, a row, and a value. libFuzzer's entry point;
 * replay.c feeds it what was kept. */
#include "server/store/store.h"
#include "server/store/store_check.h"
#include "tests/fuzz/world.h"
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMAS_MAX    32u
#define CHANGES_MAX    16u
#define APPLICATION_ID 0x42724576

/* A store as an earlier version left it. */
struct old_store {
    GByteArray *bytes;
    GPtrArray *tables, *columns; /* char *, of the same length */
    GHashTable *with_id;         /* tables that have a column id */
};

static struct old_store old_stores[SCHEMAS_MAX];
static guint n_schemas;
static char *folder, *path, *url;

/* ---- Old stores, made by the migrations themselves, with rows of the world's ---- */

static void must_do(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
    check(sqlite3_errcode(db) == SQLITE_OK);
}

static GPtrArray *texts_of(sqlite3 *db, const char *sql)
{
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    sqlite3_stmt *row = NULL;
    check(sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK);
    while (sqlite3_step(row) == SQLITE_ROW)
        g_ptr_array_add(texts, g_strdup((const char *)sqlite3_column_text(row, 0)));
    sqlite3_finalize(row);
    return texts;
}

static void copy_rows(sqlite3 *db, const char *table)
{
    g_autofree char *sql = g_strdup_printf(
        "SELECT group_concat('\"' || name || '\"') FROM pragma_table_info('%s', 'main') WHERE "
        "name IN (SELECT name FROM pragma_table_info('%s', 'was'))",
        table, table);
    g_autoptr(GPtrArray) shared = texts_of(db, sql);
    const char *names = shared->pdata[0];
    if (!names)
        return;
    g_autofree char *copy =
        g_strdup_printf("DELETE FROM main.\"%s\"; INSERT INTO main.\"%s\" (%s) SELECT %s FROM "
                        "was.\"%s\"",
                        table, table, names, names, table);
    must_do(db, copy);
}

#define COLUMNS                                                                                    \
    " FROM sqlite_schema AS m, pragma_table_info(m.name) AS p WHERE m.type = 'table' AND m.name "  \
    "NOT LIKE 'sqlite_%' ORDER BY m.name, p.cid"

static void old_store_make(struct old_store *old, char *const *scripts, guint n)
{
    g_autofree char *name = g_strdup_printf("%s/old-%u.db", world_folder(), n);
    g_autofree char *head =
        g_strdup_printf("PRAGMA application_id=%d; PRAGMA user_version=%u", APPLICATION_ID, n);
    g_autofree char *attach = g_strdup_printf("ATTACH '%s' AS was", world_store());
    sqlite3 *db = NULL;
    check(sqlite3_open(name, &db) == SQLITE_OK);
    must_do(db, "PRAGMA page_size=1024; PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF");
    for (guint i = 0; i < n; i++)
        must_do(db, scripts[i]);
    must_do(db, head);
    old->columns = texts_of(db, "SELECT p.name" COLUMNS);
    old->tables = texts_of(db, "SELECT m.name" COLUMNS);
    old->with_id = g_hash_table_new(g_str_hash, g_str_equal);
    must_do(db, attach);
    for (guint i = 0; i < old->tables->len; i++) {
        const char *table = old->tables->pdata[i];
        if (i == 0 || strcmp(table, old->tables->pdata[i - 1]) != 0)
            copy_rows(db, table);
        if (strcmp(old->columns->pdata[i], "id") == 0)
            g_hash_table_add(old->with_id, old->tables->pdata[i]);
    }
    check(sqlite3_close(db) == SQLITE_OK);
    char *bytes;
    gsize length;
    check(g_file_get_contents(name, &bytes, &length, NULL));
    old->bytes = g_byte_array_new_take((guint8 *)bytes, length);
}

static void old_stores_free(void)
{
    for (guint i = 0; i < n_schemas; i++) {
        g_byte_array_unref(old_stores[i].bytes);
        g_ptr_array_unref(old_stores[i].tables);
        g_ptr_array_unref(old_stores[i].columns);
        g_hash_table_unref(old_stores[i].with_id);
    }
    g_rmdir(folder);
    g_free(folder);
    g_free(path);
    g_free(url);
}

static gint compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void old_stores_make(void)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) scripts = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(SOURCE_DIR "/schema/sqlite", 0, NULL);
    world_server();
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (g_str_has_suffix(name, ".sql"))
            g_ptr_array_add(names, g_build_filename(SOURCE_DIR "/schema/sqlite", name, NULL));
    g_ptr_array_sort(names, compare_texts);
    check(names->len > 0 && names->len <= SCHEMAS_MAX);
    for (guint i = 0; i < names->len; i++) {
        char *text;
        check(g_file_get_contents(names->pdata[i], &text, NULL, NULL));
        g_ptr_array_add(scripts, text);
    }
    for (n_schemas = 0; n_schemas < scripts->len; n_schemas++)
        old_store_make(&old_stores[n_schemas], (char *const *)scripts->pdata, n_schemas + 1);
    folder = g_dir_make_tmp("breakeven-fuzz-XXXXXX", NULL);
    path = g_build_filename(folder, "old.db", NULL);
    url = g_strconcat("sqlite:", path, NULL);
    atexit(old_stores_free);
}

/* ---- Changes ---- */

struct input {
    const uint8_t *at;
    size_t left;
};

static guint take(struct input *input, guint n_bytes)
{
    guint value = 0;
    for (; n_bytes > 0 && input->left > 0; n_bytes--, input->left--)
        value = value << 8 | *input->at++;
    return value;
}

enum change {
    CHANGE_SMALL,
    CHANGE_INTEGER,
    CHANGE_TEXT,
    CHANGE_BLOB,
    CHANGE_NULL,
    CHANGE_DELETE,
    CHANGE_VERSION,
    CHANGE_BYTES,
    CHANGES
};

static void bind_value(sqlite3_stmt *statement, enum change kind, struct input *input)
{
    size_t length;
    switch (kind) {
    case CHANGE_SMALL:
        sqlite3_bind_int64(statement, 2, (int8_t)take(input, 1));
        return;
    case CHANGE_INTEGER:
        sqlite3_bind_int64(statement, 2,
                           (sqlite3_int64)((guint64)take(input, 4) << 32 | take(input, 4)));
        return;
    case CHANGE_TEXT:
    case CHANGE_BLOB:
        length = take(input, 1);
        length = MIN(length, input->left);
        if (kind == CHANGE_TEXT)
            sqlite3_bind_text(statement, 2, (const char *)input->at, (int)length, SQLITE_TRANSIENT);
        else
            sqlite3_bind_blob(statement, 2, input->at, (int)length, SQLITE_TRANSIENT);
        input->at += length;
        input->left -= length;
        return;
    case CHANGE_NULL:
    case CHANGE_DELETE:
    case CHANGE_VERSION:
    case CHANGE_BYTES:
    case CHANGES:
        return;
    }
}

/* One row of those that have an id, else (or at row 0) all; what the schema refuses is left. */
static void change_cell(sqlite3 *db, const struct old_store *old, enum change kind,
                        struct input *input)
{
    guint column = take(input, 2) % old->columns->len, row = take(input, 1);
    const char *table = old->tables->pdata[column];
    bool has_id = g_hash_table_contains(old->with_id, table);
    g_autofree char *sql =
        kind == CHANGE_DELETE
            ? g_strdup_printf("DELETE FROM \"%s\" WHERE ?1 = 0%s", table,
                              has_id ? " OR id = ?1" : "")
            : g_strdup_printf("UPDATE OR IGNORE \"%s\" SET \"%s\" = ?2 WHERE ?1 = 0%s", table,
                              (const char *)old->columns->pdata[column],
                              has_id ? " OR id = ?1" : " OR 1");
    sqlite3_stmt *statement = NULL;
    check(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK);
    sqlite3_bind_int64(statement, 1, row);
    bind_value(statement, kind, input);
    sqlite3_step(statement);
    sqlite3_finalize(statement);
}

static void change_version(sqlite3 *db, struct input *input)
{
    g_autofree char *sql = g_strdup_printf("PRAGMA user_version=%d", (int)(int8_t)take(input, 1));
    must_do(db, sql);
}

/* The old store with the input's changes. */
static GByteArray *changed(const struct old_store *old, struct input *input)
{
    sqlite3 *db = NULL;
    sqlite3_int64 length = (sqlite3_int64)old->bytes->len;
    guint offsets[CHANGES_MAX], values[CHANGES_MAX], n_bytes = 0;
    unsigned char *copy = sqlite3_malloc64((sqlite3_uint64)length);
    memcpy(copy, old->bytes->data, (size_t)length);
    check(sqlite3_open(":memory:", &db) == SQLITE_OK);
    check(sqlite3_deserialize(db, "main", copy, length, length,
                              SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) ==
          SQLITE_OK);
    must_do(db, "PRAGMA journal_mode=OFF; PRAGMA ignore_check_constraints=ON");
    for (guint i = 0; i < CHANGES_MAX && input->left > 0; i++) {
        enum change kind = take(input, 1) % CHANGES;
        if (kind == CHANGE_BYTES) {
            offsets[n_bytes] = take(input, 3);
            values[n_bytes++] = take(input, 1);
        } else if (kind == CHANGE_VERSION) {
            change_version(db, input);
        } else {
            change_cell(db, old, kind, input);
        }
    }
    unsigned char *bytes = sqlite3_serialize(db, "main", &length, 0);
    GByteArray *out = g_byte_array_new();
    g_byte_array_append(out, bytes, (guint)length);
    sqlite3_free(bytes);
    sqlite3_close(db);
    for (guint i = 0; i < n_bytes; i++)
        out->data[offsets[i] % out->len] = (guint8)values[i];
    return out;
}

/* ---- As the server opens it ---- */

static void clear_folder(void)
{
    g_autoptr(GDir) files = g_dir_open(folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(files));) {
        g_autofree char *file = g_build_filename(folder, name, NULL);
        g_unlink(file);
    }
}

static Store *open_store(void)
{
    const struct store_options options = {.url = url};
    g_autoptr(GError) error = NULL;
    Store *store = store_open(&options, &error);
    check_error(!store, error);
    return store;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    g_autoptr(GError) error = NULL;
    if (n_schemas == 0)
        old_stores_make();
    const struct old_store *old = &old_stores[take(&input, 1) % n_schemas];
    g_autoptr(GByteArray) bytes = changed(old, &input);
    check(g_file_set_contents_full(path, (const char *)bytes->data, bytes->len,
                                   G_FILE_SET_CONTENTS_NONE, 0600, NULL));
    Store *store = open_store();
    if (store) {
        store_close(store);
        g_autoptr(StoreCheck) whole = store_check(url, &error);
        check_error(!whole, error);
        check(!whole || (whole->schema == (int64_t)n_schemas && !whole->is_older));
        if (size % 4 == 0) { /* it takes as long as all the rest */
            Store *again = open_store();
            check(again != NULL);
            store_close(again);
        }
    }
    clear_folder();
    return 0;
}
