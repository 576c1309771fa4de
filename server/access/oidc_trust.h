/* SPDX-License-Identifier: Apache-2.0
 * One group [oidc NAME] of the key file (oidc.h shows one), and whether a token's claims are what
 * it wants. Pure; any thread. */
#pragma once

#include "server/access/oidc.h"
#include "server/access/oidc_token.h"

#define OIDC_CLAIMS_MAX   16u
#define OIDC_BRANCHES_MAX 64u

struct oidc_claim {
    char *name;
    char **values; /* one of them */
};

typedef struct oidc_trust {
    char *name, *issuer, *audience, *jwks, *project;
    GPtrArray *claims;                   /* struct oidc_claim * */
    char **branches;                     /* patterns; NULL: all */
    char **machines;                     /* NULL: any */
    const struct oidc_claim *repository; /* one of `claims` */
    bool pull_requests, may_read;
    bool events_are_named; /* `claims` holds event_name */
} OidcTrust;

void oidc_trust_free(OidcTrust *trust);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(OidcTrust, oidc_trust_free)

/* ERROR_SYNTAX. */
OidcTrust *oidc_trust_read(GKeyFile *file, const char *path, const char *group, GError **error);

/* Whether the claims of a token whose signature is right are this trust's, at `now_s`: then who it
 * is. ERROR_UNAUTHORIZED. */
bool oidc_trust_admit(const OidcTrust *trust, const OidcToken *token, int64_t now_s,
                      struct oidc_identity *out, GError **error);
