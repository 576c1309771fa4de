/* SPDX-License-Identifier: Apache-2.0
 * Tokens, sessions of people, and the log of writes, as the store keeps them. A part of store.h's
 * interface: writes go through the queue, reading is by a StoreReader and needs no snapshot (none
 * of it is in the catalogue): what was committed, here or by another process, is seen by the next
 * question. No secret is ever in it, only hashes (secret.h). */
#pragma once

#include "server/store/secret.h"
#include "server/store/store.h"

#define STORE_TOKEN_BINDINGS_MAX 100u /* branches, and machines, of a token */
#define STORE_SESSIONS_MAX       50   /* of a token; the oldest end */

struct store_token {
    int64_t id;
    unsigned char hash[SECRET_HASH_BYTES];
    char *project;                                            /* NULL: all */
    char *scopes;                                             /* words with commas */
    char **branches, **machines;                              /* NULL: any */
    char *note, *made_by, *revoked_by;                        /* or NULL */
    int64_t created_ms, expires_ms, last_used_ms, revoked_ms; /* since 1970 UTC; 0: never, not */
};
void store_token_free(struct store_token *token);
typedef struct store_token StoreToken;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreToken, store_token_free)

/* Under which name its writes are logged: its note, or "token 7". The caller frees it. */
char *store_token_name(const struct store_token *token);
bool store_token_is_live(const struct store_token *token, int64_t now_ms);

struct store_session {
    int64_t id;
    unsigned char hash[SECRET_HASH_BYTES];
    int64_t token_id; /* 0: the token of --write-token-file */
    unsigned char token_hash[SECRET_HASH_BYTES];
    int64_t created_ms, expires_ms;
};

struct store_audit {
    int64_t id;
    char *request_id; /* one row for each: what is put later fills project, detail and status in */
    int64_t at_ms;
    char *who;               /* or NULL */
    int64_t token_id;        /* 0: none */
    char *project, *address; /* or NULL */
    char *method, *path;
    char *detail; /* or NULL */
    int status;   /* 0: not known (yet) */
};
void store_audit_free(struct store_audit *audit);

/* ---- Writing ---- */

enum store_access_op {
    STORE_ADD_TOKEN,    /* token; the receipt's access_id is its id */
    STORE_REVOKE_TOKEN, /* id, at_ms, who; ERROR_NOT_FOUND, or STORE_UNCHANGED where it was */
    STORE_USE_TOKEN,    /* id, at_ms: its last use */
    STORE_ADD_SESSION,  /* session; access_id. What is over goes, and its token's oldest ones */
    STORE_END_SESSION,  /* id */
    STORE_END_SESSIONS, /* id: of a token (0: of the --write-token-file), all */
    STORE_PUT_AUDIT     /* audit; rows beyond rows_max, if that is not 0, go: the oldest */
};
struct store_access_write {
    enum store_access_op op;
    int64_t id, at_ms, rows_max;
    char *who;
    struct store_token *token;
    struct store_session session;
    struct store_audit *audit;
};
void store_access_write_free(struct store_access_write *write);

/* Takes it. */
void store_put_access(Store *store, struct store_access_write *write, store_done_fn done,
                      void *user);

/* ---- Reading ---- */

/* *out is NULL where there is none; the caller's. */
bool store_token_by_id(StoreReader *reader, int64_t id, struct store_token **out, GError **error);
/* *out_found: false where there is none. */
bool store_session_by_id(StoreReader *reader, int64_t id, struct store_session *out,
                         bool *out_found, GError **error);
/* Whether a token was ever made: from then on nobody writes without one. */
bool store_has_tokens(StoreReader *reader, bool *out, GError **error);
/* Whether one can be used now. */
bool store_has_live_tokens(StoreReader *reader, int64_t now_ms, bool *out, GError **error);
/* struct store_token *, ids after `after`, of a project (NULL: of all, and those for all). */
GPtrArray *store_tokens(StoreReader *reader, const char *project, int64_t after, guint limit,
                        GError **error);
/* struct store_audit *, newest first, ids before `before` (0: from the newest), of a project (NULL:
 * of all). */
GPtrArray *store_audits(StoreReader *reader, const char *project, int64_t before, guint limit,
                        GError **error);

/* ---- Beside a running server ---- */

/* The same tokens by a connection of one's own, for the command line: short transactions on a store
 * that a server may have open, which sees them at once. A store that is not there yet or is older
 * is made first, as a server would (refused where a server of another version holds it). */
typedef struct store_token_file StoreTokenFile;
StoreTokenFile *store_token_file_open(const char *url, GError **error);
void store_token_file_close(StoreTokenFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreTokenFile, store_token_file_close)
/* *out_id: the new one's. `audit` (not taken; its path ends with the id) is put with it. */
bool store_token_file_add(StoreTokenFile *file, const struct store_token *token,
                          struct store_audit *audit, int64_t *out_id, GError **error);
bool store_token_file_revoke(StoreTokenFile *file, int64_t id, struct store_audit *audit,
                             GError **error);
GPtrArray *store_token_file_list(StoreTokenFile *file, const char *project, GError **error);

/* ---- Credentials ---- */

/* The token that a text is (brkv_ID_SECRET), its secret compared in constant time. *out is NULL
 * where it is none of ours; ERROR_UNAUTHORIZED where it was one and is over (false, then). The
 * error holds nothing of the text. */
bool store_token_check(StoreReader *reader, const char *text, size_t length, StoreToken **out,
                       GError **error);
/* The same for a cookie (brks_ID_SECRET): its session, of id 0 where it is none of ours or is over,
 * and the session's token where it has one (NULL for that of --write-token-file). */
bool store_session_check(StoreReader *reader, const char *text, size_t length,
                         struct store_session *out, StoreToken **out_token, GError **error);
