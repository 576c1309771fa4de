/* SPDX-License-Identifier: Apache-2.0
 * A JSON reader by recursive descent, its depth bounded. UTF-8 is checked once for the whole text,
 * so that strings without escapes are copied as they stand. It builds jansson's values and knows no
 * document. Any thread. */
#include "schema/json_tree.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EXACT_DIGITS                                                                               \
    15 /* a whole number of so many digits, times or over 10^22 at most, is one exact operation */
#define EXACT_POWER     22
#define NUMBER_ON_STACK 64

struct reader {
    const char *at, *end;
    const char *what; /* the problem, where there is one */
    guint depth;
    GString *unescaped; /* the last string that had escapes */
};

struct span {
    const char *text;
    size_t length;
};

static json_t *read_value(struct reader *reader);

static bool fail(struct reader *reader, const char *what)
{
    if (!reader->what)
        reader->what = what;
    return false;
}

static void skip_space(struct reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n' ||
                                        *reader->at == '\r' || *reader->at == '\t'))
        reader->at++;
}

static bool take_byte(struct reader *reader, char byte)
{
    if (reader->at >= reader->end || *reader->at != byte)
        return false;
    reader->at++;
    return true;
}

/* ---- Strings ----------------------------------------------------------------------- */

static bool read_four_digits(struct reader *reader, gunichar *out_unit)
{
    gunichar unit = 0;

    if (reader->end - reader->at < 4)
        return fail(reader, "an escape \\u needs four hexadecimal digits");
    for (int i = 0; i < 4; i++, reader->at++) {
        int digit = g_ascii_xdigit_value(*reader->at);

        if (digit < 0)
            return fail(reader, "an escape \\u needs four hexadecimal digits");
        unit = unit * 16 + (gunichar)digit;
    }
    *out_unit = unit;
    return true;
}

static bool read_unicode_escape(struct reader *reader)
{
    gunichar unit, low;

    if (!read_four_digits(reader, &unit))
        return false;
    if (unit == 0)
        return fail(reader, "\\u0000 is not allowed in a string");
    if (unit >= 0xDC00 && unit <= 0xDFFF)
        return fail(reader, "this is the second half of a surrogate pair without its first");
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        if (!take_byte(reader, '\\') || !take_byte(reader, 'u'))
            return fail(reader, "a surrogate pair lacks its second half");
        if (!read_four_digits(reader, &low))
            return false;
        if (low < 0xDC00 || low > 0xDFFF)
            return fail(reader, "a surrogate pair lacks its second half");
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    }
    g_string_append_unichar(reader->unescaped, unit);
    return true;
}

static bool read_escape(struct reader *reader)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *name;

    if (reader->at >= reader->end)
        return fail(reader, "the string does not end");
    if (take_byte(reader, 'u'))
        return read_unicode_escape(reader);
    name = (const char *)memchr(names, *reader->at, sizeof names - 1);
    if (!name)
        return fail(reader, "there is no such escape");
    g_string_append_c(reader->unescaped, bytes[name - names]);
    reader->at++;
    return true;
}

/* Moves to the next quote or backslash. */
static bool skip_plain(struct reader *reader)
{
    while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\') {
        if ((unsigned char)*reader->at < 0x20)
            return fail(reader, "a control character in a string must be escaped");
        reader->at++;
    }
    return reader->at < reader->end || fail(reader, "the string does not end");
}

/* The string that begins at the quote. Without escapes the span lies in the text, else in
 * reader->unescaped. */
static bool read_string(struct reader *reader, struct span *out_span)
{
    const char *start = ++reader->at;

    if (!skip_plain(reader))
        return false;
    *out_span = (struct span){start, (size_t)(reader->at - start)};
    if (take_byte(reader, '"'))
        return true;
    g_string_truncate(reader->unescaped, 0);
    for (;;) {
        g_string_append_len(reader->unescaped, start, reader->at - start);
        if (take_byte(reader, '"'))
            break;
        reader->at++;
        if (!read_escape(reader))
            return false;
        start = reader->at;
        if (!skip_plain(reader))
            return false;
    }
    *out_span = (struct span){reader->unescaped->str, reader->unescaped->len};
    return true;
}

/* ---- Numbers ----------------------------------------------------------------------- */

struct number {
    const char *start;
    uint64_t digits; /* the first EXACT_DIGITS + 3 significant ones as a whole number */
    int n_digits;    /* significant ones */
    int places;      /* behind the point */
    int exponent;
    bool negative, whole;
};

static bool read_digits(struct reader *reader, struct number *number)
{
    const char *start = reader->at;

    for (; reader->at < reader->end && g_ascii_isdigit(*reader->at); reader->at++) {
        if (number->n_digits == 0 && *reader->at == '0')
            continue;
        if (++number->n_digits <= EXACT_DIGITS + 3)
            number->digits = number->digits * 10 + (uint64_t)(*reader->at - '0');
    }
    return reader->at > start || fail(reader, "a number needs a digit here");
}

static bool read_exponent(struct reader *reader, struct number *number)
{
    bool negative = take_byte(reader, '-');
    const char *start;

    if (!negative)
        take_byte(reader, '+');
    start = reader->at;
    for (; reader->at < reader->end && g_ascii_isdigit(*reader->at); reader->at++)
        number->exponent = MIN(number->exponent * 10 + (*reader->at - '0'), 100000);
    if (negative)
        number->exponent = -number->exponent;
    return reader->at > start || fail(reader, "an exponent needs a digit here");
}

static bool scan_number(struct reader *reader, struct number *number)
{
    *number = (struct number){.start = reader->at, .whole = true};
    number->negative = take_byte(reader, '-');
    /* A leading zero stands alone: 01 is no number. */
    if (!take_byte(reader, '0') && !read_digits(reader, number))
        return false;
    if (take_byte(reader, '.')) {
        const char *point = reader->at;

        number->whole = false;
        if (!read_digits(reader, number))
            return false;
        number->places = (int)MIN(reader->at - point, 1000000);
    }
    if (take_byte(reader, 'e') || take_byte(reader, 'E')) {
        number->whole = false;
        return read_exponent(reader, number);
    }
    return true;
}

/* Few digits and a small power of ten: both are exact as doubles, so one operation rounds right. */
static bool number_is_easy(const struct number *number, double *out_value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int power = number->exponent - number->places;
    double value = (double)number->digits;

    if (number->n_digits > EXACT_DIGITS || power > EXACT_POWER || power < -EXACT_POWER)
        return false;
    value = power < 0 ? value / powers[-power] : value * powers[power];
    *out_value = number->negative ? -value : value;
    return true;
}

static json_t *read_number(struct reader *reader)
{
    char on_stack[NUMBER_ON_STACK];
    g_autofree char *on_heap = NULL;
    struct number number;
    double value;
    size_t length;
    char *text;

    if (!scan_number(reader, &number))
        return NULL;
    if (number.whole && number.n_digits <= EXACT_DIGITS + 3)
        return json_integer(number.negative ? -(json_int_t)number.digits
                                            : (json_int_t)number.digits);
    if (!number.whole && number_is_easy(&number, &value))
        return json_real(value);
    length = (size_t)(reader->at - number.start);
    text = length < sizeof on_stack ? on_stack : (on_heap = (char *)g_try_malloc(length + 1));
    if (!text) {
        fail(reader, "there is no memory for a number of that length");
        return NULL;
    }
    memcpy(text, number.start, length);
    text[length] = '\0';
    errno = 0;
    if (number.whole) {
        json_int_t whole = g_ascii_strtoll(text, NULL, 10);

        if (errno != ERANGE)
            return json_integer(whole);
        fail(reader, "a whole number has more than 64 bits");
        return NULL;
    }
    value = g_ascii_strtod(text, NULL);
    if (isfinite(value))
        return json_real(value);
    fail(reader, "a number is beyond the range of a double");
    return NULL;
}

/* ---- Values ------------------------------------------------------------------------ */

static bool read_elements(struct reader *reader, json_t *array)
{
    skip_space(reader);
    if (take_byte(reader, ']'))
        return true;
    for (;;) {
        json_t *value = read_value(reader);

        if (!value || json_array_append_new(array, value) != 0)
            return false;
        skip_space(reader);
        if (take_byte(reader, ']'))
            return true;
        if (!take_byte(reader, ','))
            return fail(reader, "',' or ']' is expected");
    }
}

static bool read_member(struct reader *reader, json_t *object)
{
    g_autofree char *copy = NULL;
    struct span key;
    json_t *value;

    skip_space(reader);
    if (reader->at >= reader->end || *reader->at != '"')
        return fail(reader, "a key in double quotes is expected");
    if (!read_string(reader, &key))
        return false;
    if (json_object_getn(object, key.text, key.length))
        return fail(reader, "the key is there twice");
    if (key.text == reader->unescaped->str) /* the value may have escapes too */
        key.text = copy = g_strndup(key.text, key.length);
    skip_space(reader);
    if (!take_byte(reader, ':'))
        return fail(reader, "':' is expected");
    value = read_value(reader);
    return value && json_object_setn_new_nocheck(object, key.text, key.length, value) == 0;
}

static bool read_members(struct reader *reader, json_t *object)
{
    skip_space(reader);
    if (take_byte(reader, '}'))
        return true;
    for (;;) {
        if (!read_member(reader, object))
            return false;
        skip_space(reader);
        if (take_byte(reader, '}'))
            return true;
        if (!take_byte(reader, ','))
            return fail(reader, "',' or '}' is expected");
    }
}

static json_t *read_container(struct reader *reader, bool is_object)
{
    json_t *container;
    bool right;

    if (reader->depth >= JSON_TREE_DEPTH_MAX) {
        fail(reader, "it is nested more than 256 deep");
        return NULL;
    }
    reader->depth++;
    reader->at++;
    container = is_object ? json_object() : json_array();
    right = is_object ? read_members(reader, container) : read_elements(reader, container);
    reader->depth--;
    if (right)
        return container;
    json_decref(container);
    return NULL;
}

static json_t *read_word(struct reader *reader)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        size_t n = strlen(words[i]);

        if ((size_t)(reader->end - reader->at) < n || memcmp(reader->at, words[i], n) != 0)
            continue;
        reader->at += n;
        return i == 0 ? json_true() : i == 1 ? json_false() : json_null();
    }
    fail(reader,
         "a value is expected: an object, an array, a string, a number, true, false or null");
    return NULL;
}

static json_t *read_value(struct reader *reader)
{
    struct span span;

    skip_space(reader);
    if (reader->at >= reader->end) {
        fail(reader, "the text ends where a value is expected");
        return NULL;
    }
    switch (*reader->at) {
    case '{':
        return read_container(reader, true);
    case '[':
        return read_container(reader, false);
    case '"':
        return read_string(reader, &span) ? json_stringn_nocheck(span.text, span.length) : NULL;
    default:
        return *reader->at == '-' || g_ascii_isdigit(*reader->at) ? read_number(reader)
                                                                  : read_word(reader);
    }
}

static void problem_set(struct json_problem *problem, const char *bytes, size_t offset,
                        const char *what)
{
    *problem = (struct json_problem){.what = what, .byte_offset = offset, .line = 1, .column = 1};
    for (size_t i = 0; i < offset; i++) {
        if (bytes[i] == '\n') {
            problem->line++;
            problem->column = 1;
        } else if (((unsigned char)bytes[i] & 0xC0) != 0x80) {
            problem->column++;
        }
    }
}

json_t *json_tree_read(const char *bytes, size_t length, struct json_problem *out_problem)
{
    struct reader reader = {.at = bytes, .end = bytes + length};
    const char *valid_end = bytes;
    json_t *tree;

    if (length && !g_utf8_validate_len(bytes, length, &valid_end)) {
        problem_set(out_problem, bytes, (size_t)(valid_end - bytes),
                    *valid_end ? "this byte is not valid UTF-8" : "a zero byte is not allowed");
        return NULL;
    }
    reader.unescaped = g_string_new(NULL);
    tree = read_value(&reader);
    skip_space(&reader);
    if (tree && reader.at < reader.end) {
        fail(&reader, "the text goes on after the end of its value");
        json_decref(tree);
        tree = NULL;
    }
    g_string_free(reader.unescaped, TRUE);
    if (!tree)
        problem_set(out_problem, bytes, (size_t)(reader.at - bytes),
                    reader.what ? reader.what : "there is no memory for it now");
    return tree;
}
