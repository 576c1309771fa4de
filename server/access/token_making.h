/* SPDX-License-Identifier: Apache-2.0
 * Making and revoking tokens, as the API and the page both do it. An admin of one project makes and
 * revokes that project's only. The request's thread; the answers are given by `done`, on the
 * writer's. */
#pragma once

#include "server/http/http.h"
#include "server/store/store_access.h"

/* The token that is asked for, its secret's digest in it; without a project it is of the asking
 * principal's, or of all. *out_secret is free'd with secret_free. NULL: ERROR_FORBIDDEN where the
 * project is not the principal's, ERROR_INVALID, ERROR_SYNTAX, ERROR_UNAVAILABLE; nothing is set.
 */
StoreToken *token_making_new(const HttpRequest *request, const struct principal_wish *wish,
                             char **out_secret, GError **error);

/* Takes the token, and defers the request. */
void token_making_put(HttpRequest *request, Store *store, StoreToken *token, store_done_fn done,
                      void *user);

/* Revokes the token that {token} in the path names, and defers the request, which `done` is given.
 * False: ERROR_NOT_FOUND (also where it is another project's), or what the store said. */
bool token_making_revoke(HttpRequest *request, Store *store, store_done_fn done, GError **error);
