/* SPDX-License-Identifier: Apache-2.0
 * See digest.h. */
#include "schema/digest.h"
#include <glib.h>

void digest_sha256(const char *bytes, size_t length, unsigned char out[DIGEST_BYTES])
{
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    gsize digest_length = DIGEST_BYTES;
    g_checksum_update(checksum, (const guchar *)bytes, (gssize)length);
    g_checksum_get_digest(checksum, out, &digest_length);
}

bool digest_equal(const unsigned char *a, const unsigned char *b, size_t length)
{
    volatile unsigned char different = 0; /* so that the loop is not left at the first difference */
    for (size_t i = 0; i < length; i++)
        different = (unsigned char)(different | (a[i] ^ b[i]));
    return different == 0;
}
