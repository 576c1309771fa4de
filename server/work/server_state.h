/* SPDX-License-Identifier: Apache-2.0
 * How the server stands, for whoever looks after it: what waits, how much is kept, how it went.
 * Made of counters and of the catalogue; of the store only the heads of its queues are read. */
#pragma once

#include "server/work/work.h"

#define SERVER_STATE_QUEUE_MAX 10000u /* entries of a queue that are counted */

struct server_queue {
    guint n;
    bool is_bounded;   /* there may be more */
    int64_t oldest_ms; /* when its first entry came; 0: nothing waits, or not known */
};

struct server_rows {
    const char *what;
    guint64 n;
};
#define SERVER_STATE_ROWS 10u

struct server_state {
    struct store_status store;
    struct work_status work;
    struct retention_status retention;
    struct server_queue runs, series;           /* that wait to be judged, or judged anew */
    struct server_rows rows[SERVER_STATE_ROWS]; /* what is kept, by kind */
    guint n_rows;
    const char *engine; /* "SQLite 3.40.1" */
    guint schema;       /* number of the store's schema */
};

/* With a reader of the caller's thread that holds no snapshot. */
bool server_state_read(struct server_state *out, Store *store, Work *work, StoreReader *reader,
                       GError **error);
