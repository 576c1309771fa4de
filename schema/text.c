/* SPDX-License-Identifier: Apache-2.0
 * The rules of names. They are strict because a name becomes a key, a part of a URL and a line on a
 * page: two names that look alike must be alike, and a name must not be able to rearrange the text
 * around it. Pure; any thread. */
#include "schema/text.h"

#include <string.h>

static bool is_direction(gunichar c)
{
    return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069);
}

static bool is_forbidden(gunichar c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || is_direction(c);
}

/* JavaScript's \s, so that run.schema.json can say the same. */
static bool is_space(gunichar c)
{
    return c == ' ' || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F ||
           c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

static bool is_ascii(const char *text, size_t bytes)
{
    unsigned char seen = 0;

    for (size_t i = 0; i < bytes; i++)
        seen |= (unsigned char)text[i];
    return seen < 0x80;
}

static bool is_composed(const char *text, size_t bytes)
{
    g_autofree char *composed = NULL;

    if (is_ascii(text, bytes))
        return true;
    composed = g_utf8_normalize(text, (gssize)bytes, G_NORMALIZE_NFC);
    return composed && strcmp(composed, text) == 0;
}

char *text_value_problem(const char *text, size_t bytes, size_t bytes_max)
{
    if (bytes > bytes_max)
        return g_strdup_printf("is longer than %zu bytes (it has %zu)", bytes_max, bytes);
    if (bytes == 0)
        return NULL;
    for (const char *at = text; *at; at += g_utf8_skip[(unsigned char)*at]) {
        gunichar c = (unsigned char)*at < 0x80 ? (unsigned char)*at : g_utf8_get_char(at);

        if (is_forbidden(c))
            return g_strdup_printf(
                "holds the control or direction character U+%04X, which is not allowed", c);
    }
    if (is_space(g_utf8_get_char(text)) ||
        is_space(g_utf8_get_char(g_utf8_prev_char(text + bytes))))
        return g_strdup("begins or ends with a space");
    if (!is_composed(text, bytes))
        return g_strdup("is not in Unicode normalization form C (NFC)");
    return NULL;
}

char *text_name_problem(const char *text, size_t bytes, size_t bytes_max)
{
    if (bytes == 0)
        return g_strdup("is empty");
    if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0)
        return g_strdup_printf("is \"%s\", which a URL cannot hold", text);
    return text_value_problem(text, bytes, bytes_max);
}

size_t text_prefix_bytes(const char *text, size_t bytes_max)
{
    size_t bytes = strnlen(text, bytes_max + 1);

    if (bytes <= bytes_max)
        return bytes;
    for (bytes = bytes_max; bytes > 0 && ((unsigned char)text[bytes] & 0xC0) == 0x80; bytes--)
        ;
    return bytes;
}

char *text_excerpt(const char *text)
{
    size_t bytes = text_prefix_bytes(text, TEXT_EXCERPT_BYTES - strlen("…"));

    if (strnlen(text, TEXT_EXCERPT_BYTES + 1) <= TEXT_EXCERPT_BYTES)
        return g_strdup(text);
    return g_strdup_printf("%.*s…", (int)bytes, text);
}

bool text_is_sha(const char *text)
{
    size_t n = strspn(text, "0123456789abcdef");

    return (n == 40 || n == 64) && text[n] == '\0';
}
