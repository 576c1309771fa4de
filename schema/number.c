/* SPDX-License-Identifier: Apache-2.0
 * Numbers and strings as JSON text. One double has one text on every machine: the fewest digits
 * that read back as the same double and, among those, the nearest to it. printf and strtod decide
 * that; where the arithmetic below can prove what they would answer it is used instead, since
 * documents are mostly numbers. Pure; any thread. */
#include "schema/number.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_LIMIT 9007199254740992.0 /* 2^53 */
#define DIGITS_MIN                                                                                 \
    15 /* up to here every decimal reads back as itself, so fewer digits are these, trimmed */
#define DIGITS_MAX 17 /* enough for every double */

struct decimal {
    char digits[24]; /* without a leading or trailing zero */
    int n_digits;
    int exponent; /* of the first digit: 1.234e5 has 5 */
};

/* Two digits at a time: the divisions are what takes long. */
static int whole_format(uint64_t value, char *buffer)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char digits[20];
    size_t start = sizeof digits;

    for (; value >= 100; value /= 100) {
        start -= 2;
        memcpy(digits + start, pairs + value % 100 * 2, 2);
    }
    digits[--start] = pairs[value * 2 + 1];
    if (value >= 10)
        digits[--start] = pairs[value * 2];
    memcpy(buffer, digits + start, sizeof digits - start);
    return (int)(sizeof digits - start);
}

static void decimal_trim(struct decimal *decimal)
{
    while (decimal->n_digits > 1 && decimal->digits[decimal->n_digits - 1] == '0')
        decimal->n_digits--;
}

#if LDBL_MANT_DIG == 64
enum answer { ANSWER_NO, ANSWER_YES, ANSWER_UNSURE };

static const long double powers_of_ten[] = {/* all exact: 5^27 < 2^63 */
                                            1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                            1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                            1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
                                            1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};

/* Does the nearest whole number to value × 10^places, divided by 10^places, read back as value?
 * The product is rounded once, to 64 bits: its error is at most 2^-64 of it, so the nearest whole
 * number is certain unless the rest lies that close to one half. The quotient is right to 64 bits,
 * and rounding it once more to 53 is right unless it lies in the very middle between two doubles.
 */
static enum answer digits_read_back(double value, int places, uint64_t *out_whole)
{
    long double product = (long double)value * powers_of_ten[places];
    long long whole = llrintl(product);
    long double quotient;
    uint64_t mantissa;

    if (fabsl(product - (long double)whole) >= 0.5L - product * 0x1.1p-64L)
        return ANSWER_UNSURE;
    quotient = (long double)whole / powers_of_ten[places];
    memcpy(&mantissa, &quotient, sizeof mantissa);
    if ((mantissa & 0x7ff) == 0x400)
        return ANSWER_UNSURE;
    *out_whole = (uint64_t)whole;
    return (double)quotient == value ? ANSWER_YES : ANSWER_NO;
}

static bool reaches_power(double value, int exponent)
{
    return exponent > 0 ? (long double)value >= powers_of_ten[exponent]
                        : (long double)value * powers_of_ten[-exponent] >= 1;
}

/* Of value's first digit. 2^b <= value < 2^(b + 1), and log10(2) is 0.30103 less 4e-9: rounded
 * down, b times that is the exponent or one less. */
static int decimal_exponent(double value)
{
    int scaled = ilogb(value) * 30103;
    int exponent = scaled >= 0 ? scaled / 100000 : -((99999 - scaled) / 100000);

    return reaches_power(value, exponent + 1) ? exponent + 1 : exponent;
}

/* False where it cannot tell. `value` lies in [1e-6, 2^53). */
static bool decimal_from_arithmetic(double value, struct decimal *decimal)
{
    int exponent = decimal_exponent(value);

    for (int n_digits = DIGITS_MIN; n_digits <= DIGITS_MAX; n_digits++) {
        int places = n_digits - 1 - exponent;
        uint64_t whole = 0;
        enum answer answer = places < 0 ? ANSWER_NO : digits_read_back(value, places, &whole);

        if (answer == ANSWER_UNSURE)
            return false;
        if (answer == ANSWER_YES) {
            decimal->n_digits = whole_format(whole, decimal->digits);
            decimal->exponent =
                exponent + decimal->n_digits - n_digits; /* 9.99… may round up to 10 */
            decimal_trim(decimal);
            return true;
        }
    }
    return false;
}
#else
static bool decimal_from_arithmetic(double value, struct decimal *decimal)
{
    (void)value;
    (void)decimal;
    return false;
}
#endif

static void decimal_from_printf(double value, struct decimal *decimal)
{
    char text[NUMBER_TEXT_BYTES], format[16];
    const char *exponent;

    /* Subnormal numbers have fewer digits, so the shortest text may be shorter than DIGITS_MIN. */
    for (int n_digits = value < DBL_MIN ? 1 : DIGITS_MIN; n_digits <= DIGITS_MAX; n_digits++) {
        g_snprintf(format, sizeof format, "%%.%de", n_digits - 1);
        g_ascii_formatd(text, sizeof text, format, value);
        if (g_ascii_strtod(text, NULL) == value)
            break;
    }
    exponent = strchr(text, 'e');
    decimal->digits[0] = text[0];
    decimal->n_digits = exponent == text + 1 ? 1 : (int)(exponent - text) - 1;
    memcpy(decimal->digits + 1, text + 2, (size_t)decimal->n_digits - 1);
    decimal->exponent = (int)g_ascii_strtoll(exponent + 1, NULL, 10);
    decimal_trim(decimal);
}

static char *digits_put(char *out, const char *digits, int n)
{
    memcpy(out, digits, (size_t)n);
    return out + n;
}

static char *decimal_put_positional(const struct decimal *decimal, char *out)
{
    int before_point = decimal->exponent + 1;

    if (before_point <= 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = before_point; i < 0; i++)
            *out++ = '0';
        return digits_put(out, decimal->digits, decimal->n_digits);
    }
    out = digits_put(out, decimal->digits, before_point);
    *out++ = '.';
    return digits_put(out, decimal->digits + before_point, decimal->n_digits - before_point);
}

static char *decimal_put_scientific(const struct decimal *decimal, char *out)
{
    *out++ = decimal->digits[0];
    if (decimal->n_digits > 1) {
        *out++ = '.';
        out = digits_put(out, decimal->digits + 1, decimal->n_digits - 1);
    }
    *out++ = 'e';
    if (decimal->exponent < 0)
        *out++ = '-';
    return out + whole_format((uint64_t)abs(decimal->exponent), out);
}

size_t number_format(double value, char buffer[NUMBER_TEXT_BYTES])
{
    char *out = buffer;
    double magnitude = fabs(value);
    struct decimal decimal;

    if (value < 0)
        *out++ = '-';
    if (magnitude < WHOLE_LIMIT && magnitude == floor(magnitude)) {
        out += whole_format((uint64_t)magnitude, out);
    } else {
        bool positional = magnitude >= 1e-6 && magnitude < WHOLE_LIMIT;

        if (!positional || !decimal_from_arithmetic(magnitude, &decimal))
            decimal_from_printf(magnitude, &decimal);
        out = positional ? decimal_put_positional(&decimal, out)
                         : decimal_put_scientific(&decimal, out);
    }
    *out = '\0';
    return (size_t)(out - buffer);
}

size_t number_format_whole(int64_t value, char buffer[NUMBER_TEXT_BYTES])
{
    char *out = buffer;

    if (value < 0)
        *out++ = '-';
    out += whole_format(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, out);
    *out = '\0';
    return (size_t)(out - buffer);
}

void number_append(GString *out, double value)
{
    char text[NUMBER_TEXT_BYTES];

    g_string_append_len(out, text, (gssize)number_format(value, text));
}

static void escape_append(GString *out, unsigned char byte)
{
    static const char short_names[] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};

    g_string_append_c(out, '\\');
    if (byte == '"' || byte == '\\')
        g_string_append_c(out, (char)byte);
    else if (byte < sizeof short_names && short_names[byte])
        g_string_append_c(out, short_names[byte]);
    else
        g_string_append_printf(out, "u%04x", byte);
}

void json_append_string(GString *out, const char *text)
{
    const char *start = text;

    g_string_append_c(out, '"');
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;

        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        g_string_append_len(out, start, text - start);
        escape_append(out, byte);
        start = text + 1;
    }
    g_string_append_len(out, start, text - start);
    g_string_append_c(out, '"');
}

static const char *digits_skip(const char *text)
{
    while (g_ascii_isdigit(*text))
        text++;
    return text;
}

/* JSON's grammar: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool number_is_json(const char *text)
{
    if (*text == '-')
        text++;
    if (!g_ascii_isdigit(*text))
        return false;
    text = *text == '0' ? text + 1 : digits_skip(text);
    if (*text == '.') {
        if (!g_ascii_isdigit(*++text))
            return false;
        text = digits_skip(text);
    }
    if (*text == 'e' || *text == 'E') {
        text++;
        if (*text == '+' || *text == '-')
            text++;
        if (!g_ascii_isdigit(*text))
            return false;
        text = digits_skip(text);
    }
    return *text == '\0';
}

bool number_parse(const char *text, double *out_value)
{
    double value;

    if (!number_is_json(text))
        return false;
    value = g_ascii_strtod(text, NULL);
    if (!isfinite(value))
        return false;
    *out_value = value;
    return true;
}
