/* SPDX-License-Identifier: Apache-2.0
 * See secret.h. Knows no store and no request. */
#include "server/store/secret.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define ID_DIGITS_MAX 18u

char *secret_new(GError **error)
{
    unsigned char random[SECRET_BYTES];
    size_t n = 0;
    while (n < sizeof random) {
        ssize_t got = getrandom(random + n, sizeof random - n, 0);
        if (got < 0 && errno != EINTR) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                        "the kernel gives no random numbers: %s", g_strerror(errno));
            return NULL;
        }
        n += got > 0 ? (size_t)got : 0;
    }
    char *text = g_base64_encode(random, sizeof random);
    explicit_bzero(random, sizeof random);
    for (char *at = text; *at; at++) /* the alphabet that needs no quoting anywhere */
        *at = *at == '+' ? '-' : *at == '/' ? '_' : *at == '=' ? '\0' : *at;
    return text;
}

void secret_free(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    g_free(secret);
}

char *secret_print(const char *prefix, int64_t id, const char *secret)
{
    return g_strdup_printf("%s_%" G_GINT64_FORMAT "_%s", prefix, (gint64)id, secret);
}

bool secret_parse(const char *text, size_t length, const char *prefix, int64_t *out_id,
                  const char **out_secret)
{
    size_t prefix_length = strlen(prefix);
    if (length < prefix_length + 3 + SECRET_TEXT_LENGTH ||
        memcmp(text, prefix, prefix_length) != 0 || text[prefix_length] != '_')
        return false;
    size_t at = prefix_length + 1, digits = 0;
    int64_t id = 0;
    while (at + digits < length && digits < ID_DIGITS_MAX && g_ascii_isdigit(text[at + digits]))
        id = id * 10 + (text[at + digits++] - '0');
    at += digits;
    if (digits == 0 || length - at != 1 + SECRET_TEXT_LENGTH || text[at] != '_')
        return false;
    *out_id = id;
    *out_secret = text + at + 1;
    return true;
}

static bool is_secret_char(char c)
{
    return g_ascii_isalnum(c) || c == '-' || c == '_';
}

/* The length of "brkv_7_" or "brks_7_" at `text` where something of a secret follows; else 0. */
static size_t secret_head(const char *text)
{
    size_t at = sizeof SECRET_TOKEN_PREFIX - 1, run = 0;
    if (!g_str_has_prefix(text, SECRET_TOKEN_PREFIX "_") &&
        !g_str_has_prefix(text, SECRET_SESSION_PREFIX "_"))
        return 0;
    at++;
    size_t digits = strspn(text + at, "0123456789");
    at += digits;
    if (digits == 0 || text[at] != '_')
        return 0;
    at++;
    while (is_secret_char(text[at + run]))
        run++;
    return run > 0 ? at : 0;
}

char *secret_redacted(const char *text)
{
    g_autoptr(GString) out = g_string_new(NULL);
    for (const char *at = text; *at;) {
        size_t head = *at == 'b' ? secret_head(at) : 0;
        if (head == 0) {
            g_string_append_c(out, *at++);
            continue;
        }
        g_string_append_len(out, at, (gssize)head);
        g_string_append(out, "…");
        for (at += head; is_secret_char(*at);)
            at++;
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}
