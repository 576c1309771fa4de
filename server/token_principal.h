/* SPDX-License-Identifier: Apache-2.0
 * Tokens and sessions of the store as principals of the HTTP layer: the resolver that the server
 * gives to it. Event threads; what they share has a lock. */
#pragma once

#include "server/http/http.h"
#include "server/store/store_access.h"

typedef struct token_principals TokenPrincipals;

/* `write_token`: the one of --write-token-file, or NULL: of it only the hash is kept. */
TokenPrincipals *token_principals_new(Store *store, const char *write_token);
void token_principals_free(TokenPrincipals *principals);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TokenPrincipals, token_principals_free)

/* principal_resolve_fn: `thread` is a StoreReader, `user` the TokenPrincipals. */
enum principal_answer token_principal_resolve(const struct principal_credential *credential,
                                              void *thread, void *user, Principal **out,
                                              GError **error);
