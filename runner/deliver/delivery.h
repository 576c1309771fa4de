/* SPDX-License-Identifier: Apache-2.0
 * Brings documents to the server: each is in the spool before the first attempt, so that neither a
 * server that is away nor a kill loses it. What waits for the same server goes first, in order. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct delivery Delivery;

struct delivery_options {
    const char *server; /* without a slash at its end */
    const char *token;  /* or NULL */
    const char *spool_dir;
    unsigned seconds; /* how long to try since the last success; 0: one attempt each */
    bool (*stopped)(void);
    void (*notice)(const char *message); /* what is worth a line on the way */
};

/* Makes the spool folder: what cannot work is known before anything is measured. */
Delivery *delivery_open(const struct delivery_options *options, GError **error);
void delivery_close(Delivery *delivery);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Delivery, delivery_close)

enum delivery_outcome {
    DELIVERY_STORED,
    DELIVERY_WAITS,  /* in the spool, or as receipt->kept */
    DELIVERY_REFUSED /* in rejected/ of the spool, or as receipt->kept */
};

struct delivery_receipt {
    enum delivery_outcome outcome;
    char *page;          /* URL of the run's page, or NULL */
    GPtrArray *warnings; /* char *, or NULL */
    char *message;       /* why it was not stored; NULL where it was */
    char *kept;          /* the file that holds it where the spool could not take it; else NULL */
};
void delivery_receipt_clear(struct delivery_receipt *receipt);

/* Spools the document, delivers what waits before it, then it. Where the spool has no room it is
 * sent at once, and kept elsewhere if that fails. False with an error where nothing of this worked.
 */
bool delivery_send(Delivery *delivery, const char *id, const char *bytes, gsize length,
                   struct delivery_receipt *out_receipt, GError **error);

struct delivery_totals {
    guint stored, refused, waiting;
    guint others; /* that wait for other servers */
};

/* Delivers what waits for this server. */
bool delivery_drain(Delivery *delivery, struct delivery_totals *out_totals, GError **error);

/* Posts to another path of the server, with the same patience, without the spool: true where the
 * answer is 2xx; else ERROR_BUSY (not now), ERROR_INVALID (refused) or ERROR_NOT_FOUND, with why.
 */
bool delivery_post(Delivery *delivery, const char *path, const char *bytes, gsize length,
                   GError **error);
/* The same with PUT. */
bool delivery_put(Delivery *delivery, const char *path, const char *bytes, gsize length,
                  GError **error);
