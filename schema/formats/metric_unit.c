/* SPDX-License-Identifier: Apache-2.0
 * The table of units. A unit is a quantity, or a quantity per something: each side is looked up by
 * itself. Pure; any thread. */
#include "schema/formats/metric_unit.h"

#include "schema/text.h"

#include <string.h>

struct quantity {
    const char *name;
    const char *unit;
    double factor;
};

/* Abbreviations by their exact case: mB is no megabyte. */
static const struct quantity abbreviations[] = {
    {"ns", "ns", 1},       {"us", "ns", 1e3},        {"µs", "ns", 1e3}, /* U+00B5, the micro sign */
    {"μs", "ns", 1e3}, /* U+03BC, the Greek letter */
    {"ms", "ns", 1e6},     {"s", "ns", 1e9},         {"B", "B", 1},
    {"kB", "B", 1e3},      {"KB", "B", 1e3},         {"MB", "B", 1e6},
    {"GB", "B", 1e9},      {"TB", "B", 1e12},        {"KiB", "B", 1024},
    {"MiB", "B", 1048576}, {"GiB", "B", 1073741824}, {"TiB", "B", 1099511627776},
    {"i", "items", 1},
};

/* Words in any case. */
static const struct quantity words[] = {
    {"nsec", "ns", 1},          {"nanos", "ns", 1},          {"nanosecond", "ns", 1},
    {"nanoseconds", "ns", 1},   {"usec", "ns", 1e3},         {"micros", "ns", 1e3},
    {"microsecond", "ns", 1e3}, {"microseconds", "ns", 1e3}, {"msec", "ns", 1e6},
    {"millis", "ns", 1e6},      {"millisecond", "ns", 1e6},  {"milliseconds", "ns", 1e6},
    {"sec", "ns", 1e9},         {"secs", "ns", 1e9},         {"second", "ns", 1e9},
    {"seconds", "ns", 1e9},     {"min", "ns", 60e9},         {"minute", "ns", 60e9},
    {"minutes", "ns", 60e9},    {"hour", "ns", 3600e9},      {"hours", "ns", 3600e9},
    {"byte", "B", 1},           {"bytes", "B", 1},           {"kilobyte", "B", 1e3},
    {"kilobytes", "B", 1e3},    {"megabyte", "B", 1e6},      {"megabytes", "B", 1e6},
    {"gigabyte", "B", 1e9},     {"gigabytes", "B", 1e9},
};

/* The quantity of that name, or NULL where it is a word of the tool's. */
static const struct quantity *quantity_find(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(abbreviations); i++) {
        if (strcmp(name, abbreviations[i].name) == 0)
            return &abbreviations[i];
    }
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (g_ascii_strcasecmp(name, words[i].name) == 0)
            return &words[i];
    }
    return NULL;
}

static bool is_time(const struct quantity *quantity)
{
    return quantity && strcmp(quantity->unit, "ns") == 0;
}

/* "MB/s" at its slash, "bytes per second" at its word; NULL where the unit is one quantity. */
static const char *find_per(const char *text, size_t *out_length)
{
    const char *slash = strchr(text, '/');
    const char *word = strstr(text, " per ");

    if (slash) {
        *out_length = 1;
        return strchr(slash + 1, '/') ? NULL : slash;
    }
    *out_length = strlen(" per ");
    return word;
}

static void normalise_rate(const char *above, const char *below, struct metric_unit *out)
{
    const struct quantity *counted = quantity_find(above), *per = quantity_find(below);
    const char *what = counted ? counted->unit : above;

    if (counted)
        out->factor = counted->factor;
    if (is_time(per) && !is_time(counted)) {
        out->factor *= 1e9 / per->factor;
        below = "s";
    }
    g_snprintf(out->text, sizeof out->text, "%s/%s", what, below);
}

void metric_unit_normalise(const char *text, struct metric_unit *out)
{
    size_t bytes = text_prefix_bytes(text, METRIC_UNIT_BYTES_MAX);
    size_t per_bytes = 0;
    const char *per;

    memcpy(out->text, text, bytes);
    out->text[bytes] = '\0';
    out->factor = 1;
    if (bytes == 0 || strcmp(text, "ns") == 0 || text[bytes])
        return;
    per = find_per(text, &per_bytes);
    if (per) {
        g_autofree char *above = g_strndup(text, (gsize)(per - text));

        normalise_rate(above, per + per_bytes, out);
    } else {
        const struct quantity *quantity = quantity_find(text);

        if (quantity) {
            out->factor = quantity->factor;
            g_strlcpy(out->text, quantity->unit, sizeof out->text);
        }
    }
}

enum better metric_unit_better(const char *unit)
{
    if (strcmp(unit, "ns") == 0 || g_str_has_prefix(unit, "ns/"))
        return BETTER_LOWER;
    if (g_str_has_suffix(unit, "/s"))
        return BETTER_HIGHER;
    if (strcmp(unit, "B/op") == 0 || strcmp(unit, "allocs/op") == 0)
        return BETTER_LOWER;
    return BETTER_UNKNOWN;
}

const char *metric_unit_noun(const char *unit)
{
    if (strcmp(unit, "ns") == 0 || g_str_has_prefix(unit, "ns/"))
        return "time";
    if (g_str_has_suffix(unit, "/s"))
        return "throughput";
    if (strcmp(unit, "B") == 0)
        return "size";
    return *unit ? unit : "value";
}
