/* SPDX-License-Identifier: Apache-2.0
 * What a server's answer says, for people: the page of a stored run, or why it was refused. Pure;
 * an answer is not trusted to be what it should be. */
#pragma once

#include <glib.h>

/* {"page": …} as a whole URL of `server`; NULL where the answer has none. */
char *answer_page(const char *server, const char *body, gsize length);

/* The member "warnings" (char *); empty where there are none. */
GPtrArray *answer_warnings(const char *body, gsize length);

/* "422 Unprocessable Content: detail" and each of errors[] on a line of its own; the beginning of a
 * body that is no problem+json. */
char *answer_problem(long status, const char *body, gsize length);
