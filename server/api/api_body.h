/* SPDX-License-Identifier: Apache-2.0
 * What all writes share: the body's declared type, and the answer that comes later, from the writer
 * thread. */
#pragma once

#include "server/http/http.h"
#include "server/store/store.h"

/* False: the request has been answered with 415, which names the header to send. */
bool api_body_check_json(HttpRequest *request);

/* Answers with the receipt's error where it was refused and finishes the request: then true. Writer
 * thread, in a store_done_fn. */
bool api_body_refused(HttpRequest *request, const struct store_receipt *receipt);
