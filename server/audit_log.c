/* SPDX-License-Identifier: Apache-2.0
 * See audit_log.h. */
#include "server/audit_log.h"
#include <pthread.h>

#define REFUSED_PER_MINUTE 60u
#define MINUTE_US          (60 * G_USEC_PER_SEC)

struct audit_log {
    Store *store;
    int64_t rows_max;
    void (*log)(const char *, void *);
    void *log_user;
    pthread_mutex_t lock;
    gint64 minute_us;
    guint n_refused, n_left_out;
};

AuditLog *audit_log_new(Store *store, int64_t rows_max, void (*log)(const char *, void *),
                        void *log_user)
{
    AuditLog *audit = g_new0(AuditLog, 1);
    audit->store = store;
    audit->rows_max = rows_max;
    audit->log = log;
    audit->log_user = log_user;
    pthread_mutex_init(&audit->lock, NULL);
    return audit;
}

void audit_log_free(AuditLog *audit)
{
    if (!audit)
        return;
    pthread_mutex_destroy(&audit->lock);
    g_free(audit);
}

/* Whether this refusal is told; how many were not since the last one that was. */
static bool has_room(AuditLog *audit, guint *out_left_out)
{
    gint64 now_us = g_get_monotonic_time();
    pthread_mutex_lock(&audit->lock);
    if (now_us - audit->minute_us >= MINUTE_US) {
        audit->minute_us = now_us;
        audit->n_refused = 0;
    }
    bool room = audit->n_refused < REFUSED_PER_MINUTE;
    *out_left_out = room ? audit->n_left_out : 0;
    audit->n_left_out = room ? 0 : audit->n_left_out + 1;
    audit->n_refused += room;
    pthread_mutex_unlock(&audit->lock);
    return room;
}

static void put_done(const struct store_receipt *receipt, void *user)
{
    const AuditLog *audit = user;
    if (!receipt->error || !audit->log)
        return;
    g_autofree char *message =
        g_strdup_printf("a row of the log of writes was not stored: %s", receipt->error->message);
    audit->log(message, audit->log_user);
}

void audit_log_put(AuditLog *audit, const struct http_audit_entry *entry)
{
    guint left_out = 0;
    if (entry->is_refused && !has_room(audit, &left_out))
        return;
    struct store_audit *row = g_new0(struct store_audit, 1);
    *row = (struct store_audit){.request_id = g_strdup(entry->request_id),
                                .at_ms = g_get_real_time() / 1000,
                                .who = g_strdup(entry->who),
                                .token_id = entry->token_id,
                                .project = g_strdup(entry->project),
                                .address = g_strdup(entry->address),
                                .method = g_strdup(entry->method),
                                .path = secret_redacted(entry->path),
                                .detail = g_strdup(entry->detail),
                                .status = (int)entry->status};
    if (left_out > 0) {
        g_free(row->detail);
        row->detail = g_strdup_printf("%u refusals before it are not listed", left_out);
    }
    struct store_access_write *write = g_new0(struct store_access_write, 1);
    *write = (struct store_access_write){
        .op = STORE_PUT_AUDIT, .rows_max = audit->rows_max, .audit = row};
    store_put_access(audit->store, write, put_done, audit);
}
