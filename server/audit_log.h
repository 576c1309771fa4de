/* SPDX-License-Identifier: Apache-2.0
 * The log of writes: takes what the HTTP layer tells of them and puts it into the store's queue, so
 * that the row of a write that was begun is stored with it or before it. What had no right to be
 * asked for is told, too, but only so much of it a minute: it must not fill the disk. Any thread.
 */
#pragma once

#include "server/http/http.h"
#include "server/store/store_access.h"

typedef struct audit_log AuditLog;

/* `rows_max`: of the store's table; the oldest go. `log`: what is worth a line; may be NULL. */
AuditLog *audit_log_new(Store *store, int64_t rows_max, void (*log)(const char *, void *),
                        void *log_user);
void audit_log_free(AuditLog *audit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AuditLog, audit_log_free)

void audit_log_put(AuditLog *audit, const struct http_audit_entry *entry);
