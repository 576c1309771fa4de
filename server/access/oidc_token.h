/* SPDX-License-Identifier: Apache-2.0
 * What a token says, before anybody believes it: three parts of base64url, a header that names the
 * algorithm and the key, claims. Pure; any thread. */
#pragma once

#include "schema/error.h"
#include <jansson.h>
#include <stdbool.h>

typedef struct oidc_token {
    json_t *header, *claims; /* objects */
    const char *kid;         /* borrowed of the header: never empty */
    bool is_rsa;             /* RS256; else ES256 */
} OidcToken;

/* ERROR_UNAUTHORIZED. The caller clears `out` in both cases. */
bool oidc_token_read(const char *text, size_t length, OidcToken *out, GError **error);
void oidc_token_clear(OidcToken *token);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OidcToken, oidc_token_clear)

/* A claim as text: a string, a whole number or a boolean; NULL for anything else. The caller frees
 * it. */
char *oidc_token_claim(const OidcToken *token, const char *name);
/* The time of a claim in whole seconds; false where it is absent or no time. */
bool oidc_token_time(const OidcToken *token, const char *name, int64_t *out_s);
/* Whether aud is this audience, or a list that holds it. */
bool oidc_token_is_for(const OidcToken *token, const char *audience);
