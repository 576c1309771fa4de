/* SPDX-License-Identifier: Apache-2.0
 * The bytes of a foreign file, made ready. Several tools print NaN and Infinity as they are, so
 * their files are not always JSON: this makes them JSON without moving a byte, so that positions in
 * messages stay right. Any thread. */
#include "schema/formats/format_input.h"

#include <string.h>

/* Replaced by something of the same length that is no number, so that positions in messages stay
 * right. */
static const struct {
    const char *text, *instead;
} not_finite[] = {
    {"-Infinity", "null     "}, {"Infinity", "null    "}, {"-NaN", "null"}, {"NaN", "[] "},
    {"-nan", "null"},           {"nan", "[] "},           {"-inf", "null"}, {"inf", "[] "}};

static size_t replace_not_finite(char *at, size_t left)
{
    for (size_t i = 0; i < G_N_ELEMENTS(not_finite); i++) {
        size_t n = strlen(not_finite[i].text);

        if (n <= left && memcmp(at, not_finite[i].text, n) == 0 &&
            (n == left || !g_ascii_isalnum(at[n]))) {
            memcpy(at, not_finite[i].instead, n);
            return n;
        }
    }
    return 1;
}

/* What one of them begins with, and what may stand before it. */
static bool may_begin(char byte)
{
    return byte == '-' || byte == 'N' || byte == 'n' || byte == 'I' || byte == 'i';
}

static bool may_precede(char byte)
{
    return byte == ':' || byte == ',' || byte == '[' || byte == ' ' || byte == '\t' ||
           byte == '\r' || byte == '\n';
}

static void tolerate_not_finite(char *bytes, size_t length)
{
    bool in_string = false;
    char before = ' ';

    for (size_t i = 0; i < length;) {
        size_t step = 1;

        if (in_string && bytes[i] == '\\')
            step = 2;
        else if (bytes[i] == '"')
            in_string = !in_string;
        else if (!in_string && may_begin(bytes[i]) && may_precede(before))
            step = replace_not_finite(bytes + i, length - i);
        before = bytes[i];
        i += step;
    }
}

static char *copy_of(const char *bytes, size_t length, GError **error)
{
    char *copy = (char *)g_try_malloc(length + 1);

    if (!copy) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_BUSY,
                    "there is no memory for a file of %zu bytes now", length);
        return NULL;
    }
    if (length)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

static bool looks_like_json(const char *bytes)
{
    const char *first = bytes + strspn(bytes, " \t\r\n");

    return *first == '{' || *first == '[';
}

/* What PowerShell writes with > is the usual case. */
static bool check_text(const char *bytes, size_t length, GError **error)
{
    const char *end = NULL;

    if (length >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "the file is UTF-16, must be UTF-8 (in PowerShell: | Out-File -Encoding utf8)");
        return false;
    }
    if (g_utf8_validate_len(bytes, length, &end))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "the file is not UTF-8 without zero bytes (byte offset %zu)",
                (size_t)(end - bytes));
    return false;
}

static bool load_json(struct format_input *input, GError **error)
{
    char *tolerant = copy_of(input->bytes, input->length, error);

    if (!tolerant)
        return false;
    tolerate_not_finite(tolerant, input->length);
    input->json = document_load(tolerant, input->length, &input->json_error);
    g_free(tolerant);
    return true;
}

bool format_input_open(struct format_input *input, const char *bytes, size_t length, GError **error)
{
    memset(input, 0, sizeof *input);
    if (length > RUN_BODY_BYTES_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                    "the file has %zu bytes, at most %u are allowed", length, RUN_BODY_BYTES_MAX);
        return false;
    }
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    if (!check_text(bytes, length, error))
        return false;
    input->bytes = copy_of(bytes, length, error);
    input->length = length;
    if (!input->bytes)
        return false;
    return !looks_like_json(input->bytes) || load_json(input, error);
}

void format_input_close(struct format_input *input)
{
    json_decref(input->json);
    g_clear_error(&input->json_error);
    g_free(input->bytes);
}

char *format_input_line(const char **cursor)
{
    const char *start = *cursor;
    const char *end = strchr(start, '\n');
    size_t length = end ? (size_t)(end - start) : strlen(start);

    if (*start == '\0')
        return NULL;
    *cursor = end ? end + 1 : start + length;
    if (length && start[length - 1] == '\r')
        length--;
    return g_strndup(start, length);
}
