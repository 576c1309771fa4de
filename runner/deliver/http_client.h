/* SPDX-License-Identifier: Apache-2.0
 * Sends one body to one URL and reads one bounded answer. Follows no redirect, so that the token
 * goes only where it was meant to. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct http_client HttpClient;

struct http_client_options {
    const char *token;        /* or NULL; goes into Authorization: Bearer */
    bool (*stopped)(void);    /* asked while a transfer runs; true ends it. May be NULL */
    unsigned connect_seconds; /* 0: 10 */
    unsigned seconds;         /* for a whole exchange; 0: 120 */
    gsize answer_bytes_max;   /* 0: HTTP_CLIENT_ANSWER_BYTES_MAX */
};

HttpClient *http_client_new(const struct http_client_options *options, GError **error);
void http_client_free(HttpClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HttpClient, http_client_free)

/* Whether what is sent to this URL can be read on the way: http, and not to this machine. */
bool http_client_is_exposed(const char *url);

#define HTTP_CLIENT_ANSWER_BYTES_MAX (1u << 20)

struct http_answer {
    long status;           /* 0: none came */
    GString *body;         /* never NULL after http_client_post */
    int64_t retry_after_s; /* below 0: not said */
    char *failure;         /* why none came: "connection refused"; NULL where one came */
};

/* From now on an exchange may take so long as a whole; 0: as at the start. */
void http_client_limit(HttpClient *client, unsigned seconds);

/* POST with Content-Type application/json, uncompressed. */
void http_client_post(HttpClient *client, const char *url, const char *bytes, gsize length,
                      struct http_answer *out_answer);
/* The same with PUT. */
void http_client_put(HttpClient *client, const char *url, const char *bytes, gsize length,
                     struct http_answer *out_answer);
/* GET, uncompressed. */
void http_client_get(HttpClient *client, const char *url, struct http_answer *out_answer);
void http_answer_clear(struct http_answer *answer);
