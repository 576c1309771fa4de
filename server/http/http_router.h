/* SPDX-License-Identifier: Apache-2.0
 * Finds the route of a path. The path is split into segments first and decoded then, so that a name
 * may hold a slash (%2F). A segment of a pattern is literal, or {name}, with literal text before or
 * after it ("{series}.svg"). Of several patterns that match, the one with the most literal text
 * from the left wins. Knows nothing of requests. Any thread, read-only once it is made. */
#pragma once

#include "server/http/http.h"

#define HTTP_SEGMENTS_MAX 12u

typedef struct http_router HttpRouter;

typedef struct http_match {
    const struct http_route
        *route;  /* of this method; NULL: `allow` says which methods the path takes */
    char *allow; /* "GET, HEAD, OPTIONS", or NULL where no pattern has this path */
    guint n_values;
    const char *names[HTTP_SEGMENTS_MAX]; /* owned by the router */
    char *values[HTTP_SEGMENTS_MAX];      /* decoded */
} HttpMatch;

/* `routes` must outlive the router. ERROR_INVALID names a pattern that it cannot hold. */
HttpRouter *http_router_new(const struct http_route *routes, size_t n_routes, GError **error);
void http_router_free(HttpRouter *router);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HttpRouter, http_router_free)

/* ERROR_SYNTAX: the path cannot be decoded. ERROR_NOT_FOUND: no pattern has it. A path that has
 * patterns but not this method gives a match without a route. HEAD is taken by each GET. */
HttpMatch *http_router_match(const HttpRouter *router, const char *method, const char *path,
                             GError **error);
void http_match_free(HttpMatch *match);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HttpMatch, http_match_free)
