/* SPDX-License-Identifier: Apache-2.0
 * The query part of a request: decoding, the check of names against what a route takes, and values
 * as numbers and times. Knows no resource. Runs on the thread that has the request. */
#include "schema/timestamp.h"
#include "server/http/http_internal.h"

static bool decode_byte(const char *text, char *out)
{
    int high = g_ascii_xdigit_value(text[0]), low = high < 0 ? -1 : g_ascii_xdigit_value(text[1]);
    *out = (char)(high * 16 + low);
    return high >= 0 && low >= 0 && *out != '\0';
}

char *http_decode(const char *text, size_t length, bool plus_is_space)
{
    /* Of what a connection may send as its head, or of a form, both bounded. Where memory ran out,
     * NULL would say that the client wrote it wrongly. */
    g_autofree char *out = g_malloc(length + 1);
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '%') {
            if (i + 2 >= length || !decode_byte(text + i + 1, &out[n++]))
                return NULL;
            i += 2;
        } else {
            out[n++] = plus_is_space && text[i] == '+' ? ' ' : text[i];
        }
    }
    out[n] = '\0';
    if (!g_utf8_validate_len(out, n, NULL))
        return NULL;
    return g_steal_pointer(&out);
}

void http_pair_free(struct http_pair *pair)
{
    g_free(pair->name);
    g_free(pair->value);
    g_free(pair);
}

GPtrArray *http_pairs_copy(const GPtrArray *pairs)
{
    GPtrArray *copy = g_ptr_array_new_with_free_func((GDestroyNotify)http_pair_free);
    for (guint i = 0; i < pairs->len; i++) {
        const struct http_pair *pair = g_ptr_array_index(pairs, i);
        struct http_pair *own = g_new(struct http_pair, 1);
        *own = (struct http_pair){g_strdup(pair->name), g_strdup(pair->value)};
        g_ptr_array_add(copy, own);
    }
    return copy;
}

static struct http_pair *pair_decode(const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    size_t name_length = equals ? (size_t)(equals - text) : length;
    g_autofree char *name = http_decode(text, name_length, true);
    g_autofree char *value =
        equals ? http_decode(equals + 1, length - name_length - 1, true) : g_strdup("");
    if (!name || !value)
        return NULL;
    struct http_pair *pair = g_new(struct http_pair, 1);
    pair->name = g_steal_pointer(&name);
    pair->value = g_steal_pointer(&value);
    return pair;
}

GPtrArray *http_pairs_parse(const char *text, const char *what, guint n_max, GError **error)
{
    g_autoptr(GPtrArray) pairs = g_ptr_array_new_with_free_func((GDestroyNotify)http_pair_free);
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "&");
        if (length > 0) {
            struct http_pair *pair = pair_decode(at, length);
            if (!pair) {
                g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                            "%s %u cannot be decoded: %%XX with two hex digits, and UTF-8 without "
                            "NUL, would be right",
                            what, pairs->len + 1);
                return NULL;
            }
            g_ptr_array_add(pairs, pair);
        }
        if (pairs->len > n_max) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "more than %u %ss; at most that many are taken", n_max, what);
            return NULL;
        }
        at += length + (at[length] == '&');
    }
    return g_steal_pointer(&pairs);
}

GPtrArray *http_query_parse(const char *query, GError **error)
{
    return http_pairs_parse(query, "query parameter", HTTP_PAIRS_MAX, error);
}

enum taken { TAKEN_NOT, TAKEN_ONCE, TAKEN_OFTEN };

/* By the route's list: "name", "name+" for one that may repeat, "prefix.*" for all of that prefix.
 */
static enum taken name_is_taken(const char *name, char *const *taken)
{
    for (; *taken; taken++) {
        size_t length = strlen(*taken);
        bool often = g_str_has_suffix(*taken, "+");
        if (!often && strcmp(name, *taken) == 0)
            return TAKEN_ONCE;
        bool begins = length > 1 && strncmp(name, *taken, length - 1) == 0;
        if (begins && (often ? name[length - 1] == '\0'
                             : g_str_has_suffix(*taken, ".*") && name[length - 1] != '\0'))
            return TAKEN_OFTEN;
    }
    return TAKEN_NOT;
}

static bool stands_before(const GPtrArray *pairs, guint index)
{
    const struct http_pair *pair = g_ptr_array_index(pairs, index);
    for (guint i = 0; i < index; i++)
        if (strcmp(((const struct http_pair *)g_ptr_array_index(pairs, i))->name, pair->name) == 0)
            return true;
    return false;
}

static void unknown_name(const char *name, GStrv names, GError **error)
{
    g_autofree char *list = g_strjoinv(", ", names);
    g_autofree char *shown = g_utf8_substring(name, 0, MIN(g_utf8_strlen(name, -1), 64));
    g_auto(GStrv) parts = g_strsplit(list, "+", -1);
    g_autofree char *plain = g_strjoinv("", parts);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "unknown query parameter \"%s\"; this address takes %s", shown,
                *plain ? plain : "none");
}

bool http_query_check(const GPtrArray *pairs, const char *taken, GError **error)
{
    if (pairs->len == 0)
        return true;
    g_auto(GStrv) names = g_strsplit(taken, " ", -1);
    for (guint i = 0; i < pairs->len; i++) {
        const struct http_pair *pair = g_ptr_array_index(pairs, i);
        enum taken how = name_is_taken(pair->name, names);
        if (how == TAKEN_NOT) {
            unknown_name(pair->name, names, error);
            return false;
        }
        if (how == TAKEN_ONCE && stands_before(pairs, i)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "query parameter \"%s\" is given twice; it takes one value", pair->name);
            return false;
        }
    }
    return true;
}

const char *http_request_query(const HttpRequest *request, const char *name)
{
    for (guint i = 0; i < request->pairs->len; i++) {
        const struct http_pair *pair = g_ptr_array_index(request->pairs, i);
        if (strcmp(pair->name, name) == 0)
            return pair->value;
    }
    return NULL;
}

GPtrArray *http_query_values(const HttpRequest *request, const char *name)
{
    GPtrArray *values = NULL;
    for (guint i = 0; i < request->pairs->len; i++) {
        const struct http_pair *pair = g_ptr_array_index(request->pairs, i);
        if (strcmp(pair->name, name) != 0)
            continue;
        if (!values)
            values = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(values, g_strdup(pair->value));
    }
    return values;
}

bool http_query_integer(const HttpRequest *request, const char *name, int64_t min, int64_t max,
                        int64_t *inout, GError **error)
{
    const char *text = http_request_query(request, name);
    gint64 value;
    if (!text)
        return true;
    if (!g_ascii_string_to_signed(text, 10, min, max, &value, NULL)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "query parameter \"%s\": a whole number from %" G_GINT64_FORMAT
                    " to %" G_GINT64_FORMAT " would be right",
                    name, min, max);
        return false;
    }
    *inout = value;
    return true;
}

bool http_query_time_ms(const HttpRequest *request, const char *name, int64_t *out_ms,
                        GError **error)
{
    const char *text = http_request_query(request, name);
    *out_ms = 0;
    if (!text || timestamp_parse_ms(text, out_ms, NULL))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "query parameter \"%s\": a time as RFC 3339 writes it, such as "
                "2026-11-30T23:17:45Z (with + as %%2B), would be right",
                name);
    return false;
}

void http_append_encoded(GString *out, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (g_ascii_isalnum(*at) || strchr("-._~", *at)) {
            g_string_append_c(out, (char)*at);
        } else {
            g_string_append_c(out, '%');
            g_string_append_c(out, digits[*at >> 4]);
            g_string_append_c(out, digits[*at & 15]);
        }
    }
}
