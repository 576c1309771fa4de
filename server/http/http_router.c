/* SPDX-License-Identifier: Apache-2.0
 * The compiled route table: patterns are cut into segments once; a path is compared with each.
 * Linear, since a table of some dozens of short patterns is compared in about a microsecond. */
#include "server/http/http_router.h"
#include "server/http/http_internal.h"

struct segment {
    char *prefix, *name, *suffix; /* a literal one has only a prefix */
};

struct pattern {
    const struct http_route *route;
    guint n_segments;
    struct segment segments[HTTP_SEGMENTS_MAX];
    guint64 rank; /* the larger, the more literal from the left */
};

struct http_router {
    size_t n_patterns;
    struct pattern *patterns;
};

static bool segment_compile(struct segment *segment, const char *text)
{
    const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;
    if (!open) {
        segment->prefix = g_strdup(text);
        return true;
    }
    if (!close || close == open + 1 || strchr(close + 1, '{'))
        return false;
    segment->prefix = g_strndup(text, (gsize)(open - text));
    segment->name = g_strndup(open + 1, (gsize)(close - open - 1));
    segment->suffix = g_strdup(close + 1);
    return true;
}

static guint64 segment_rank(const struct segment *segment)
{
    if (!segment->name)
        return 2;
    return *segment->prefix || *segment->suffix ? 1 : 0;
}

static bool pattern_compile(struct pattern *pattern, const struct http_route *route)
{
    g_auto(GStrv) parts = g_strsplit(route->pattern, "/", HTTP_SEGMENTS_MAX + 2);
    guint n = g_strv_length(parts);
    if (n < 2 || *parts[0] || n - 1 > HTTP_SEGMENTS_MAX)
        return false;
    pattern->route = route;
    for (guint i = 1; i < n; i++) {
        struct segment *segment = &pattern->segments[pattern->n_segments++];
        if (!segment_compile(segment, parts[i]))
            return false;
        pattern->rank = pattern->rank * 3 + segment_rank(segment);
    }
    return true;
}

HttpRouter *http_router_new(const struct http_route *routes, size_t n_routes, GError **error)
{
    g_autoptr(HttpRouter) router = g_new0(HttpRouter, 1);
    router->patterns = g_new0(struct pattern, n_routes);
    for (size_t i = 0; i < n_routes; i++) {
        router->n_patterns++;
        if (!pattern_compile(&router->patterns[i], &routes[i])) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "route %s %s: a pattern is /segments, each literal or with one {name}, "
                        "at most %u of them",
                        routes[i].method, routes[i].pattern, HTTP_SEGMENTS_MAX);
            return NULL;
        }
    }
    return g_steal_pointer(&router);
}

void http_router_free(HttpRouter *router)
{
    if (!router)
        return;
    for (size_t i = 0; i < router->n_patterns; i++) {
        for (guint s = 0; s < router->patterns[i].n_segments; s++) {
            g_free(router->patterns[i].segments[s].prefix);
            g_free(router->patterns[i].segments[s].name);
            g_free(router->patterns[i].segments[s].suffix);
        }
    }
    g_free(router->patterns);
    g_free(router);
}

void http_match_free(HttpMatch *match)
{
    if (!match)
        return;
    for (guint i = 0; i < match->n_values; i++)
        g_free(match->values[i]);
    g_free(match->allow);
    g_free(match);
}

/* The value of {name} in `text`: where it begins, and its length; false where the segment does not
 * match. */
static bool segment_value(const struct segment *segment, const char *text, const char **out_start,
                          gsize *out_length)
{
    if (!segment->name)
        return strcmp(segment->prefix, text) == 0;
    gsize length = strlen(text), prefix = strlen(segment->prefix), suffix = strlen(segment->suffix);
    if (length <= prefix + suffix || strncmp(text, segment->prefix, prefix) != 0 ||
        strcmp(text + length - suffix, segment->suffix) != 0)
        return false;
    *out_start = text + prefix;
    *out_length = length - prefix - suffix;
    return true;
}

static bool pattern_matches(const struct pattern *pattern, char *const *segments, guint n)
{
    if (pattern->n_segments != n)
        return false;
    for (guint i = 0; i < n; i++) {
        const char *start;
        gsize length;
        if (!segment_value(&pattern->segments[i], segments[i], &start, &length))
            return false;
    }
    return true;
}

static void match_take_values(HttpMatch *match, const struct pattern *pattern,
                              char *const *segments)
{
    match->route = pattern->route;
    for (guint i = 0; i < pattern->n_segments; i++) {
        const char *start = NULL;
        gsize length = 0;
        if (!pattern->segments[i].name ||
            !segment_value(&pattern->segments[i], segments[i], &start, &length))
            continue;
        match->names[match->n_values] = pattern->segments[i].name;
        match->values[match->n_values++] = g_strndup(start, length);
    }
}

static bool allow_has(const GString *allow, const char *method)
{
    g_auto(GStrv) methods = g_strsplit(allow->str, ", ", -1);
    return g_strv_contains((const char *const *)methods, method);
}

static void allow_add(GString *allow, const char *method)
{
    if (allow_has(allow, method))
        return;
    g_string_append_printf(allow, "%s%s", allow->len ? ", " : "", method);
    if (strcmp(method, "GET") == 0)
        g_string_append(allow, ", HEAD");
}

static HttpMatch *match_segments(const HttpRouter *router, const char *method,
                                 char *const *segments, guint n)
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    const struct pattern *best = NULL;
    bool known = false;
    for (size_t i = 0; i < router->n_patterns; i++) {
        const struct pattern *pattern = &router->patterns[i];
        if (!pattern_matches(pattern, segments, n))
            continue;
        known = true;
        if (strcmp(pattern->route->method, wanted) == 0 && (!best || pattern->rank > best->rank))
            best = pattern;
    }
    if (!known)
        return NULL;
    HttpMatch *match = g_new0(HttpMatch, 1);
    if (best) {
        match_take_values(match, best, segments);
        return match;
    }
    GString *allow = g_string_new(NULL);
    for (size_t i = 0; i < router->n_patterns; i++)
        if (pattern_matches(&router->patterns[i], segments, n))
            allow_add(allow, router->patterns[i].route->method);
    allow_add(allow, "OPTIONS");
    match->allow = g_string_free(allow, FALSE);
    return match;
}

HttpMatch *http_router_match(const HttpRouter *router, const char *method, const char *path,
                             GError **error)
{
    char *segments[HTTP_SEGMENTS_MAX] = {NULL};
    guint n = 0;
    HttpMatch *match = NULL;
    bool bad = false, fits = path[0] == '/';
    for (const char *at = path; fits && !bad && at; at = strchr(at + 1, '/')) {
        if (n == HTTP_SEGMENTS_MAX) {
            fits = false;
            break;
        }
        segments[n] = http_decode(at + 1, strcspn(at + 1, "/"), false);
        bad = segments[n++] == NULL;
    }
    if (bad)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "path segment %u cannot be decoded: %%XX with two hex digits, and UTF-8 "
                    "without NUL, would be right",
                    n);
    else if (fits)
        match = match_segments(router, method, segments, n);
    if (!bad && !match)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "there is nothing at this address");
    for (guint i = 0; i < n; i++)
        g_free(segments[i]);
    return match;
}
