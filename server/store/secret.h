/* SPDX-License-Identifier: Apache-2.0
 * Secrets that are handed out once and kept as their hash: tokens and the cookies of sessions.
 * Their text is PREFIX_ID_SECRET; the prefix is there for programs that look for leaked secrets.
 * Pure but for the kernel's random numbers. Any thread. */
#pragma once

#include "schema/digest.h"
#include "schema/error.h"
#include <stdbool.h>
#include <stdint.h>

#define SECRET_TOKEN_PREFIX   "brkv"
#define SECRET_SESSION_PREFIX "brks"
#define SECRET_BYTES          32           /* random: 256 bits */
#define SECRET_TEXT_LENGTH    43           /* of the secret part, in the alphabet A-Z a-z 0-9 - _ */
#define SECRET_HASH_BYTES     DIGEST_BYTES /* of the secret part, by digest_sha256 */

/* The secret part of a new one, from getrandom(2). NULL with ERROR_UNAVAILABLE. Free it with
 * secret_free, which wipes it. */
char *secret_new(GError **error);
void secret_free(char *secret);

/* "brkv_7_…". Free it with secret_free. */
char *secret_print(const char *prefix, int64_t id, const char *secret);

/* False where the text is not PREFIX_ID_SECRET; *out_secret points into it, SECRET_TEXT_LENGTH
 * long.
 */
bool secret_parse(const char *text, size_t length, const char *prefix, int64_t *out_id,
                  const char **out_secret);

/* A copy of the text in which the secret part of whatever looks like a token or a cookie is "…".
 * The caller frees it. */
char *secret_redacted(const char *text);
