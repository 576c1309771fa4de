/* SPDX-License-Identifier: Apache-2.0
 * /healthz: the process answers. /readyz: it can take a run now. Runs on the request's thread;
 * reads counters only. */
#include "server/context.h"
#include "server/routes.h"

void api_healthz(HttpRequest *request)
{
    http_respond(request, 200, HTTP_JSON, g_string_new("{\"status\":\"ok\"}\n"));
}

void api_readyz(HttpRequest *request)
{
    struct context *context = context_of(request);
    struct store_status store;
    if (g_atomic_int_get(&context->draining)) {
        http_respond_status(request, 503, "The server is shutting down");
        return;
    }
    store_status(context->store, &store);
    if (!store.can_write) {
        http_respond_status(
            request, 503,
            "The last write to the disk failed: look at the server's log, and at the "
            "room on the disk that holds the store");
        return;
    }
    http_respond(request, 200, HTTP_JSON, g_string_new("{\"status\":\"ok\"}\n"));
}
