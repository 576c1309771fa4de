/* SPDX-License-Identifier: Apache-2.0
 * The clients whose shares are counted: a bounded table by name. Each has a bucket that holds some
 * seconds' worth of requests. Who owes nothing (holds nothing, and its bucket is full again) may be
 * forgotten, the least recently seen first; who owes something never is, so nobody gets rid of a
 * debt by coming under many other names. Where the table is full of those, a further name shares
 * one of a fixed number of places, by a hash that nobody outside can aim: every client is counted
 * somewhere, always. Pure but for the secret of that hash: the time (microseconds, monotonic) is
 * the caller's, and so is the lock. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define HTTP_CLIENTS_MAX          4096u
#define HTTP_CLIENTS_SHARED       256u /* places for those for whom there is no room */
#define HTTP_CLIENT_BURST_SECONDS 10   /* so many seconds' requests may come at once */

struct http_client {
    char *name;  /* its place in the table; of a shared one what its holders are called */
    GList *link; /* of `order`, while nothing pins it; NULL: a shared one */
    guint n_pins;
    gint64 micro, refilled_us; /* millionths of a request that the bucket held, and when */
    guint n_connections, n_uploads;
    gint64 bytes; /* of its uploads that are under way */
};

struct http_client_table {
    unsigned rate;       /* requests a second that flow into each bucket */
    GHashTable *by_name; /* struct http_client *; owned */
    GQueue order;        /* those that nothing pins, most recently seen first */
    struct http_client shared[HTTP_CLIENTS_SHARED];
    guchar secret[16];
};

void http_client_table_init(struct http_client_table *table, unsigned rate, gint64 now_us);
void http_client_table_clear(struct http_client_table *table);

/* Never NULL. Valid while it is pinned, or until the next call. */
struct http_client *http_client_table_get(struct http_client_table *table, const char *name,
                                          gint64 now_us);
void http_client_table_pin(struct http_client_table *table, struct http_client *client);
void http_client_table_unpin(struct http_client_table *table, struct http_client *client);

/* Takes a request from the bucket: 0, or how many seconds until there is one in it. */
unsigned http_client_table_take(const struct http_client_table *table, struct http_client *client,
                                gint64 now_us);
