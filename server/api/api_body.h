/* SPDX-License-Identifier: Apache-2.0
 * What all writes share: the body's declared type, and the answer that comes later, from the writer
 * thread. */
#pragma once

#include "schema/document.h"
#include "server/http/http.h"
#include "server/store/store.h"

/* False: the request has been answered with 415, which names the header to send. */
bool api_body_check_json(HttpRequest *request);

/* Reads the body by a table of fields into `target`, whose members the caller frees in every case.
 * ERROR_SYNTAX, or ERROR_INVALID with every fault. */
bool api_body_read(const HttpRequest *request, const struct field_table *table, void *target,
                   Faults *faults, GError **error);

/* Answers with the receipt's error where it was refused and finishes the request: then true. Writer
 * thread, in a store_done_fn. */
bool api_body_refused(HttpRequest *request, const struct store_receipt *receipt);

/* The store_done_fn of what is deleted: 204. `user` is the request. */
void api_body_deleted(const struct store_receipt *receipt, void *user);
