/* SPDX-License-Identifier: Apache-2.0
 * What every handler can reach: http_request_app() is a struct context, http_request_thread() a
 * StoreReader of that thread. */
#pragma once

#include "schema/digest.h"
#include "server/http/http.h"
#include "server/store/store.h"
#include "server/work/recent_notes.h"
#include "server/work/work.h"

struct context {
    Store *store;
    Work *work;
    /* set after the start, before the first request is accepted by a handler that needs it */
    HttpServer *http;
    const struct http_route *routes; /* for the index and the contract test */
    size_t n_routes;
    const char *version; /* "0.1.0" */
    const char *build_id;
    RecentNotes *errors;   /* what went wrong lately */
    RecentNotes *refusals; /* what was refused lately */
    gint draining;         /* atomic: 1 after SIGTERM */
    int64_t started_ms;
    int64_t query_us;                       /* that an answer may take to read the store */
    struct audit_log *audit;                /* the log of writes */
    struct principal_resolver resolvers[3]; /* who may send what, and an empty one at the end */
    /* SHA-256 of the token of --write-token-file, for signing in with it */
    bool has_write_token;
    unsigned char write_token_hash[DIGEST_BYTES];
};

static inline struct context *context_of(const HttpRequest *request)
{
    return (struct context *)http_request_app(request);
}

/* Begins a snapshot on this thread's reader; NULL: the request has been answered with the error. */
static inline StoreSnapshot *context_snapshot(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    StoreSnapshot *snapshot =
        store_snapshot_begin((StoreReader *)http_request_thread(request), &error);
    if (!snapshot)
        http_respond_error(request, error, NULL);
    return snapshot;
}
