/* SPDX-License-Identifier: Apache-2.0
 * gzip both ways: whether a client takes it (or brotli, which the build makes), compressing an
 * answer, and decompressing a request's body within its limits. Runs on the thread that has the
 * request. */
#include "server/http/http_internal.h"
#define ZLIB_CONST
#include <zlib.h>

#define GZIP_WINDOW (MAX_WBITS + 16) /* zlib's way to ask for gzip's header */

/* The q of a coding's parameters in thousandths: "gzip;q=0.5" gives 500. A malformed one counts as
 * 0. */
static int quality(const char *parameters)
{
    const char *q = parameters + strspn(parameters, " \t;");
    if (!*q)
        return 1000;
    if (g_ascii_tolower(q[0]) != 'q' || q[1] != '=')
        return 0;
    double value = g_ascii_strtod(q + 2, NULL);
    return value >= 0 && value <= 1 ? (int)(value * 1000) : 0;
}

/* Of Accept-Encoding, in thousandths; below 0: not named. */
struct accepted {
    int gzip, brotli, any;
};

static bool is_name(const char *name, size_t length, const char *wanted)
{
    return length == strlen(wanted) && g_ascii_strncasecmp(name, wanted, length) == 0;
}

static struct accepted accepted_of(const char *accept_encoding)
{
    struct accepted accepted = {-1, -1, -1};
    g_auto(GStrv) codings = g_strsplit(accept_encoding ? accept_encoding : "", ",", 32);
    for (char **coding = codings; *coding; coding++) {
        const char *name = g_strstrip(*coding);
        size_t length = strcspn(name, "; \t");
        if (is_name(name, length, "gzip") || is_name(name, length, "x-gzip"))
            accepted.gzip = quality(name + length);
        else if (is_name(name, length, "br"))
            accepted.brotli = quality(name + length);
        else if (is_name(name, length, "*"))
            accepted.any = quality(name + length);
    }
    return accepted;
}

bool http_gzip_accepted(const char *accept_encoding)
{
    struct accepted accepted = accepted_of(accept_encoding);
    return accepted.gzip >= 0 ? accepted.gzip > 0 : accepted.any > 0;
}

bool http_brotli_accepted(const char *accept_encoding)
{
    struct accepted accepted = accepted_of(accept_encoding);
    return accepted.brotli > 0 && accepted.brotli >= accepted.gzip;
}

char *http_gzip_compress(const char *bytes, size_t length, int level, size_t *out_length)
{
    z_stream stream = {0};
    if (length > UINT32_MAX / 2 ||
        deflateInit2(&stream, level, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    g_autofree char *out = g_try_malloc(length);
    int result = Z_MEM_ERROR;
    if (out) {
        stream.next_in = (const Bytef *)bytes;
        stream.avail_in = (uInt)length;
        stream.next_out = (Bytef *)out;
        stream.avail_out = (uInt)length;
        result = deflate(&stream, Z_FINISH); /* Z_OK: the output would be larger than the input */
        *out_length = stream.total_out;
    }
    deflateEnd(&stream);
    return result == Z_STREAM_END ? g_steal_pointer(&out) : NULL;
}

/* Makes room for more output: false where the limit is reached or there is no memory. */
static bool inflate_grow(HttpRequest *request, struct http_body *out, GError **error)
{
    size_t max = request->server->options.body_bytes_max;
    size_t capacity = MIN(MAX(out->capacity * 2, (size_t)4096), max + 1);
    if (out->length > max || capacity == out->capacity) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                    "the body is over %zu bytes after decompression, which is the maximum", max);
        return false;
    }
    if (!http_body_reserve(request, capacity - out->capacity, error))
        return false;
    char *bytes = g_try_realloc(out->bytes, capacity + 1);
    if (!bytes) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_BUSY, "no memory for this body now");
        return false;
    }
    out->bytes = bytes;
    out->capacity = capacity;
    return true;
}

static bool inflate_all(HttpRequest *request, z_stream *stream, struct http_body *out,
                        GError **error)
{
    for (;;) {
        if (out->length == out->capacity && !inflate_grow(request, out, error))
            return false;
        stream->next_out = (Bytef *)out->bytes + out->length;
        stream->avail_out = (uInt)(out->capacity - out->length);
        int result = inflate(stream, Z_NO_FLUSH);
        out->length = out->capacity - stream->avail_out;
        if (result == Z_STREAM_END) {
            if (stream->avail_in == 0)
                return true;
            if (inflateReset(stream) != Z_OK) /* a further member may follow */
                return false;
        } else if (result != Z_OK || (stream->avail_in == 0 && stream->avail_out > 0)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "the body is not valid gzip at its byte %zu%s",
                        request->body.length - stream->avail_in,
                        result == Z_OK || result == Z_BUF_ERROR ? ": it ends too early" : "");
            return false;
        }
    }
}

bool http_body_decode(HttpRequest *request, GError **error)
{
    z_stream stream = {0};
    struct http_body out = {0};
    if (request->body.coding != HTTP_CODING_GZIP)
        return true;
    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_BUSY, "no memory for this body now");
        return false;
    }
    stream.next_in = (const Bytef *)request->body.bytes;
    stream.avail_in = (uInt)request->body.length;
    bool ok = request->body.length <= UINT32_MAX && inflate_all(request, &stream, &out, error);
    inflateEnd(&stream);
    if (ok && out.length > request->server->options.body_bytes_max) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                    "the body is over %zu bytes after decompression, which is the maximum",
                    request->server->options.body_bytes_max);
        ok = false;
    }
    if (!ok) {
        g_free(out.bytes);
        return false;
    }
    http_body_release(request, request->body.reserved_bytes - out.capacity);
    g_free(request->body.bytes);
    request->body.bytes = out.bytes;
    request->body.length = out.length;
    request->body.capacity = out.capacity;
    request->body.coding = HTTP_CODING_IDENTITY;
    request->body.bytes[out.length] = '\0';
    return true;
}
