/* SPDX-License-Identifier: Apache-2.0
 * The digest under which secrets are kept, and how it and other secrets are compared. The one place
 * for both: server/http, which knows no store, and server/store need them. Pure. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DIGEST_BYTES 32

/* SHA-256. */
void digest_sha256(const char *bytes, size_t length, unsigned char out[DIGEST_BYTES]);

/* In a time that does not depend on where they differ. */
bool digest_equal(const unsigned char *a, const unsigned char *b, size_t length);
