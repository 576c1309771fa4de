/* SPDX-License-Identifier: Apache-2.0
 * Says what became of a document that was sent: the page where it can be looked at, the server's
 * warnings, or why it waits. */
#pragma once

#include "runner/deliver/delivery.h"
#include "runner/deliver/http_client.h"
#include "runner/settings.h"
#include "schema/run.h"

/* Says, the first time, that a token goes over the network without encryption, where it does:
 * before a client of settings->server is made. */
void report_exposed_token(const Settings *settings);

/* A delivery as the settings want it, whose notices are messages; settings->server is not NULL. */
Delivery *report_open_delivery(const Settings *settings, GError **error);

/* Sends the document (canonical text of `run`) and says what became of it; URLs go to the standard
 * output, or to messages where something else is the data. Returns an exit code, or COMMAND_FAILED
 * where it could not even be spooled. */
int report_send(Delivery *delivery, const Settings *settings, const Run *run,
                const GString *document, bool urls_are_data, GError **error);

/* The run's canonical text, checked; NULL with its faults said and an error. */
GString *report_document(const Run *run, GError **error);

/* An error of what a server answered that is not 2xx: what its problem+json says. */
void report_refusal(const Settings *settings, const struct http_answer *answer, GError **error);

/* The faults of a document, a message each; `name` is the file's. */
void report_faults(const char *name, const Faults *faults);
