/* SPDX-License-Identifier: Apache-2.0
 * Tokens by a connection of one's own (see store_access.h): the command line beside a server. Each
 * change is one short transaction; a server that writes at that moment is waited for, and it waits
 * for this in turn. One thread. */
#include "server/store/sqlite.h"
#include "server/store/sqlite_access.h"
#include <string.h>

#define LIST_MAX 100000u

struct store_token_file {
    sqlite3 *db;
    SqliteAccessWriter *writer;
    SqliteAccessReader *reader;
};

void store_token_file_close(StoreTokenFile *file)
{
    if (!file)
        return;
    sqlite_access_writer_free(file->writer);
    sqlite_access_reader_free(file->reader);
    sqlite3_close(file->db);
    g_free(file);
}

/* By opening it as a server does, which takes the lock and brings it to this version's schema. */
static bool make_ready(const char *url, GError **error)
{
    const struct store_options options = {.url = url};
    Store *store = store_open(&options, error);
    if (!store)
        return false;
    store_close(store);
    return true;
}

static bool is_ready(const char *path, GError **error)
{
    sqlite3 *db = sqlite_connect(path, SQLITE_ROLE_READER, error);
    bool ready = db && sqlite_is_current(db);
    sqlite3_close(db);
    return ready;
}

static bool open_connection(StoreTokenFile *file, const char *path, GError **error)
{
    file->db = sqlite_connect(path, SQLITE_ROLE_CHECKPOINTER, error);
    if (!file->db)
        return false;
    file->writer = sqlite_access_writer_new(file->db, error);
    file->reader = file->writer ? sqlite_access_reader_new(file->db, error) : NULL;
    return file->reader != NULL;
}

StoreTokenFile *store_token_file_open(const char *url, GError **error)
{
    static const char scheme[] = "sqlite:";
    if (!url || !g_str_has_prefix(url, scheme)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNSUPPORTED,
                    "the store %s is not of a kind that is known; give sqlite:PATH",
                    url ? url : "");
        return NULL;
    }
    const char *path = url + strlen(scheme);
    bool ready = g_file_test(path, G_FILE_TEST_IS_REGULAR) && is_ready(path, NULL);
    if (!ready && !make_ready(url, error))
        return NULL;
    StoreTokenFile *file = g_new0(StoreTokenFile, 1);
    if (open_connection(file, path, error))
        return file;
    store_token_file_close(file);
    return NULL;
}

static bool end(StoreTokenFile *file, bool fine, GError **error)
{
    if (fine && sqlite_script(file->db, "COMMIT", "write to the store", error))
        return true;
    sqlite3_exec(file->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

static bool begin(StoreTokenFile *file, GError **error)
{
    return sqlite_script(file->db, "BEGIN IMMEDIATE", "write to the store", error);
}

static bool put_audit(StoreTokenFile *file, struct store_audit *audit, int64_t id, GError **error)
{
    g_autofree char *path = g_strdup_printf("/tokens/%" G_GINT64_FORMAT, (gint64)id);
    g_free(audit->path);
    audit->path = g_steal_pointer(&path);
    return sqlite_access_put_audit(file->writer, audit, 0, error);
}

bool store_token_file_add(StoreTokenFile *file, const struct store_token *token,
                          struct store_audit *audit, int64_t *out_id, GError **error)
{
    if (!begin(file, error))
        return false;
    bool fine = sqlite_access_add_token(file->writer, token, out_id, error) &&
                put_audit(file, audit, *out_id, error);
    return end(file, fine, error);
}

/* What is revoked already stays as it is; it is no fault to say it again. */
static bool token_end(StoreTokenFile *file, int64_t id, const struct store_audit *audit,
                      GError **error)
{
    g_autoptr(StoreToken) token = NULL;
    int changed;
    if (!sqlite_access_token(file->reader, id, &token, error))
        return false;
    if (!token) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "there is no token %" G_GINT64_FORMAT "; token list shows those that are there",
                    (gint64)id);
        return false;
    }
    return sqlite_access_revoke_token(file->writer, id, audit->at_ms, audit->who, &changed, error);
}

bool store_token_file_revoke(StoreTokenFile *file, int64_t id, struct store_audit *audit,
                             GError **error)
{
    if (!begin(file, error))
        return false;
    bool fine = token_end(file, id, audit, error) && put_audit(file, audit, id, error);
    return end(file, fine, error);
}

GPtrArray *store_token_file_list(StoreTokenFile *file, const char *project, GError **error)
{
    return sqlite_access_tokens(file->reader, project, 0, LIST_MAX, error);
}
