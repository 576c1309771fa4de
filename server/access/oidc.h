/* SPDX-License-Identifier: Apache-2.0
 * Tokens that a CI system signs for one job (OpenID Connect), taken instead of stored secrets. The
 * operator says whom to trust, a group of the key file each:
 *
 *   [oidc NAME]
 *   issuer = https://token.actions.githubusercontent.com
 *   audience = https://bench.example.org         what the job asks its token for
 *   jwks = /etc/breakeven/jwks/github.json       the issuer's keys: a file, or a folder of *.json
 *   project = breakeven                          to which the token may submit, and to no other
 *   claim.repository_id = 123456789              or claim.project_id: the repository, by its number
 *   claim.environment = bench                    any other claims that must be as given; a;b is a
 * or b branch = main,v*                             whose jobs may submit; absent: every branch's
 *   pull-requests = off                          on: theirs too, whose branch is none of those
 *   machine = ci-7,ci-8                          for which it may submit; absent: any
 *   read = off                                   on: it may also read, where reading is not open
 *
 * Only RS256 (from 2048 bits on) and ES256, with keys of the trust's own files: what the token says
 * of keys, but for the name of one, is refused. Any thread; one lock guards the keys. Knows no
 * HTTP and no store; nothing is fetched. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>
#include <stdint.h>

#define OIDC_TOKEN_BYTES_MAX 8192u
#define OIDC_TRUSTS_MAX      64u
#define OIDC_KEYS_BYTES_MAX  (256u << 10) /* of a file of keys */
#define OIDC_KEYS_MAX        64u          /* of a trust */
#define OIDC_LEEWAY_SECONDS  60           /* between two machines' clocks */
#define OIDC_RELOAD_SECONDS  30 /* unknown names of keys make the files be read that often */

typedef struct oidc Oidc;

/* Who a job is. */
struct oidc_identity {
    char *trust;      /* NAME */
    char *repository; /* its number */
    char *project;    /* to which it may submit */
    char *branch;     /* which it may speak of, and no other */
    bool is_pull_request;
    char *subject;   /* the claim sub, for the audit; valid UTF-8 without control characters */
    char **machines; /* NULL: any */
    bool may_read;
    int64_t expires_s; /* seconds since 1970 */
};
void oidc_identity_clear(struct oidc_identity *identity);

/* Reads each group [oidc NAME] of the key file, and its keys. NULL without an error where there is
 * none. ERROR_SYNTAX names `path`, the group, the key, what is wrong and what would be right. */
Oidc *oidc_new(GKeyFile *file, const char *path, GError **error);
void oidc_free(Oidc *oidc);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Oidc, oidc_free)

/* Whether a group of the key file is one of these. */
bool oidc_is_group(const char *group);

/* Reads all keys again. Where a trust's cannot be read its old ones stay: false, with an error that
 * names the file. */
bool oidc_reload(Oidc *oidc, GError **error);

/* Whether a bearer token is of this kind at all: three parts with points between them. */
bool oidc_is_token(const char *token, size_t length);

/* Who sent it, at `now_s` (seconds since 1970). ERROR_UNAUTHORIZED says what is wrong with it, and
 * repeats nothing of it. The caller clears `out` where it is true. */
bool oidc_verify(Oidc *oidc, const char *token, size_t length, int64_t now_s,
                 struct oidc_identity *out, GError **error);
