/* SPDX-License-Identifier: Apache-2.0
 * See param_filter.h. One pass over the text: a part ends at a comma, and its range's middle is the
 * first pair of dots; both count only where no backslash stands before them. */
#include "server/api/param_filter.h"

#include "schema/number.h"
#include <math.h>
#include <string.h>

#define NO_RANGE (-1)

struct part {
    GString *text;     /* without backslashes */
    gssize range_from; /* where its two dots stand; NO_RANGE where it has none */
};

static bool fail(const struct store_param_filter *filter, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
static bool fail(const struct store_param_filter *filter, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "param.%s: %s", filter->name, message);
    return false;
}

/* A number is looked for as its shortest decimal, and as it was written: a document may hold "1e3"
 * as a string. */
static void add_value(struct store_param_filter *filter, const char *value)
{
    double number;
    g_ptr_array_add(filter->values, g_strdup(value));
    if (number_parse(value, &number)) {
        char text[NUMBER_TEXT_BYTES];
        size_t length = number_format(number, text);
        if (strlen(value) != length || memcmp(value, text, length) != 0)
            g_ptr_array_add(filter->values, g_strndup(text, length));
    }
}

/* An end that is left out keeps the value that `out` has. */
static bool parse_end(const char *text, double *out)
{
    return *text == '\0' || number_parse(text, out);
}

static bool add_range(struct store_param_filter *filter, const struct part *part, GError **error)
{
    struct store_range range = {.low = -(double)INFINITY, .high = (double)INFINITY};
    const char *high = part->text->str + part->range_from + 2;
    g_autofree char *low = g_strndup(part->text->str, (gsize)part->range_from);
    if (!parse_end(low, &range.low) || !parse_end(high, &range.high) || (!*low && !*high))
        return fail(filter, error,
                    "\"%s\" is no range of numbers such as 1000..10000, 1000.. or ..10000; for "
                    "this very value write a backslash before its dots",
                    part->text->str);
    if (range.low > range.high)
        return fail(filter, error, "\"%s\" begins above its end; exchange the two",
                    part->text->str);
    if (!filter->ranges)
        filter->ranges = g_array_new(FALSE, FALSE, sizeof range);
    g_array_append_val(filter->ranges, range);
    return true;
}

static bool add_part(struct store_param_filter *filter, struct part *part, GError **error)
{
    bool fine = true;
    if (part->range_from != NO_RANGE)
        fine = add_range(filter, part, error);
    else
        add_value(filter, part->text->str);
    g_string_truncate(part->text, 0);
    part->range_from = NO_RANGE;
    return fine;
}

bool param_filter_add(struct store_param_filter *filter, const char *text, GError **error)
{
    g_autoptr(GString) plain = g_string_new(NULL);
    struct part part = {.text = plain, .range_from = NO_RANGE};
    bool is_list = false, is_part_open = false;
    for (const char *at = text; *at; at++) {
        bool is_plain = *at != '\\';
        if (!is_plain && *++at == '\0')
            return fail(filter, error, "\"%s\" ends in a backslash; for one write two", text);
        if (is_plain && *at == ',') {
            if (!is_part_open)
                return fail(filter, error, "\"%s\" lists an empty value; leave the comma out",
                            text);
            is_list = true;
            is_part_open = false;
            if (!add_part(filter, &part, error))
                return false;
            continue;
        }
        if (is_plain && at[0] == '.' && at[1] == '.' && part.range_from == NO_RANGE)
            part.range_from = (gssize)plain->len;
        g_string_append_c(plain, *at);
        is_part_open = true;
    }
    if (is_list && !is_part_open)
        return fail(filter, error, "\"%s\" ends in a comma; leave it out", text);
    return add_part(filter, &part, error);
}
