/* SPDX-License-Identifier: Apache-2.0
 * Pages of other origins may read what the configured ones name (the Fetch standard's CORS
 * protocol), below /api only. Never with credentials: a cookie of this server is no use to them.
 * Where no origin is configured nothing is said, and browsers keep such pages out. Event threads.
 */
#include "server/http/http_internal.h"

#define PREFLIGHT_SECONDS "600" /* a browser may remember it */

static const char *allowed_origin(const HttpRequest *request)
{
    const char *const *allowed = (const char *const *)request->server->cors_origins;
    const char *origin = allowed ? http_request_header(request, "Origin") : NULL;
    return origin && http_is_api(request) && g_strv_contains(allowed, origin) ? origin : NULL;
}

void http_cors_preflight(HttpRequest *request)
{
    if (!allowed_origin(request) || !http_request_header(request, "Access-Control-Request-Method"))
        return;
    http_response_header(request, "Access-Control-Allow-Methods", request->match->allow);
    http_response_header(request, "Access-Control-Allow-Headers",
                         "Accept, Authorization, Content-Encoding, Content-Type, Idempotency-Key, "
                         "If-None-Match");
    http_response_header(request, "Access-Control-Max-Age", PREFLIGHT_SECONDS);
}

void http_cors_each_header(const HttpRequest *request, http_header_fn each, void *to)
{
    const char *origin = allowed_origin(request);
    if (!origin)
        return;
    each(to, "Access-Control-Allow-Origin", origin);
    each(to, "Access-Control-Expose-Headers", "ETag, Link, Location, Retry-After, X-Request-Id");
}
