/* SPDX-License-Identifier: Apache-2.0
 * What a server's answer says, for people: the page of a stored run, or why it was refused. Pure;
 * an answer is not trusted to be what it should be. */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Whether it is what the server says of a run that it stored: an object with a page or an id. A
 * proxy's page that says 200 is none, and what it was said of is not stored. */
bool answer_is_receipt(const char *body, gsize length);

/* {"page": …} as a whole URL of `server`; NULL where the answer has none. */
char *answer_page(const char *server, const char *body, gsize length);

/* The member "warnings" (char *); empty where there are none. */
GPtrArray *answer_warnings(const char *body, gsize length);

/* "422 Unprocessable Content: detail" and each of errors[] on a line of its own; the beginning of a
 * body that is no problem+json. */
char *answer_problem(long status, const char *body, gsize length);
