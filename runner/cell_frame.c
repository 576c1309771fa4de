/* SPDX-License-Identifier: Apache-2.0
 * The frame of a cell's answer. Both ends are the same program on the same machine, so numbers are
 * in its own byte order. Pure. */
#include "runner/cell_frame.h"
#include <string.h>

#define MAGIC          "BRKEVEN1"
#define MAGIC_BYTES    8u
#define CHECKSUM_BYTES 32u

struct header {
    char magic[MAGIC_BYTES];
    uint64_t iterations;
    uint64_t length;
};

static void checksum(const guint8 *bytes, size_t length, guint8 out[CHECKSUM_BYTES])
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    gsize digest_bytes = CHECKSUM_BYTES;
    g_checksum_update(sum, bytes, (gssize)length);
    g_checksum_get_digest(sum, out, &digest_bytes);
}

GByteArray *cell_frame_pack(uint64_t iterations, const char *document, size_t length)
{
    struct header header = {.iterations = iterations, .length = length};
    memcpy(header.magic, MAGIC, MAGIC_BYTES);
    GByteArray *bytes = g_byte_array_new();
    g_byte_array_append(bytes, (const guint8 *)&header, sizeof header);
    g_byte_array_append(bytes, (const guint8 *)document, (guint)length);
    guint8 sum[CHECKSUM_BYTES];
    checksum(bytes->data, bytes->len, sum);
    g_byte_array_append(bytes, sum, sizeof sum);
    return bytes;
}

static bool unpack_fails(GError **error, const char *message)
{
    g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_SYNTAX, message);
    return false;
}

bool cell_frame_unpack(const GByteArray *bytes, uint64_t *out_iterations, const char **out_document,
                       size_t *out_length, GError **error)
{
    struct header header;
    if (bytes->len == 0) {
        return unpack_fails(error, "no answer");
    }
    if (bytes->len < sizeof header || memcmp(bytes->data, MAGIC, MAGIC_BYTES) != 0) {
        return unpack_fails(error,
                            "the answer is not one: something else was written in its place");
    }
    memcpy(&header, bytes->data, sizeof header);
    size_t rest = bytes->len - sizeof header;
    if (header.length > RUN_BODY_BYTES_MAX || rest < header.length + CHECKSUM_BYTES) {
        return unpack_fails(error, "the answer is cut short");
    }
    if (rest > header.length + CHECKSUM_BYTES) {
        return unpack_fails(error, "something was written after the answer");
    }
    guint8 sum[CHECKSUM_BYTES];
    size_t length = (size_t)header.length;
    checksum(bytes->data, sizeof header + length, sum);
    if (memcmp(sum, bytes->data + sizeof header + length, CHECKSUM_BYTES) != 0) {
        return unpack_fails(error, "the answer is damaged: its checksum is wrong");
    }
    *out_iterations = header.iterations;
    *out_document = (const char *)bytes->data + sizeof header;
    *out_length = length;
    return true;
}
