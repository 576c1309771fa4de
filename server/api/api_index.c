/* SPDX-License-Identifier: Apache-2.0
 * /api: what there is, from the route table itself, so that it cannot be out of date.
 * /api/openapi.json: the contract, built in. Runs on the request's thread. */
#include "server/context.h"
#include "server/http/json_writer.h"
#include "server/routes.h"

#include "schema/formats/format.h"

extern const unsigned char openapi_json[];
extern const size_t openapi_json_length;

/* Query parameters by name, without the mark of those that may repeat; null where a route takes
 * any. */
static void write_parameters(struct json_writer *writer, const char *query)
{
    if (!query) {
        json_writer_null(writer, "parameters");
        return;
    }
    g_auto(GStrv) names = g_strsplit(query, " ", -1);
    json_writer_array(writer, "parameters");
    for (guint i = 0; names[i]; i++) {
        g_strdelimit(names[i], "+", '\0');
        if (*names[i])
            json_writer_string(writer, NULL, names[i]);
    }
    json_writer_end(writer);
}

static void write_routes(struct json_writer *writer, const struct context *context)
{
    json_writer_array(writer, "routes");
    for (size_t i = 0; i < context->n_routes; i++) {
        const struct http_route *route = &context->routes[i];
        json_writer_object(writer, NULL);
        json_writer_string(writer, "method", route->method);
        json_writer_string(writer, "path", route->pattern);
        write_parameters(writer, route->query);
        json_writer_string(writer, "access", http_access_name(route->access));
        json_writer_end(writer);
    }
    json_writer_end(writer);
}

static void write_formats(struct json_writer *writer)
{
    json_writer_array(writer, "formats");
    for (guint i = 0; formats[i]; i++) {
        json_writer_object(writer, NULL);
        json_writer_string(writer, "name", formats[i]->name);
        json_writer_string(writer, "description", formats[i]->description);
        json_writer_string(writer, "media_type", formats[i]->media_type);
        json_writer_string(writer, "samples", formats[i]->samples);
        json_writer_bool(writer, "recognised", formats[i]->recognise != NULL);
        json_writer_end(writer);
    }
    json_writer_end(writer);
}

void api_index(HttpRequest *request)
{
    const struct context *context = context_of(request);
    if (http_not_modified(request, 0, HTTP_JSON))
        return;
    GString *body = g_string_sized_new(4096);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_string(&writer, "product", "Breakeven");
    json_writer_string(&writer, "version", context->version);
    json_writer_object(&writer, "links");
    json_writer_string(&writer, "openapi", "/api/openapi.json");
    json_writer_string(&writer, "documentation", "/api.html");
    json_writer_string(&writer, "runs", "/api/runs");
    json_writer_string(&writer, "projects", "/api/projects");
    json_writer_string(&writer, "benchmarks", "/api/benchmarks");
    json_writer_string(&writer, "series", "/api/series");
    json_writer_string(&writer, "points", "/api/points");
    json_writer_string(&writer, "changes", "/api/changes");
    json_writer_string(&writer, "machines", "/api/machines");
    json_writer_string(&writer, "health", "/healthz");
    json_writer_string(&writer, "ready", "/readyz");
    json_writer_string(&writer, "metrics", "/metrics");
    json_writer_string(&writer, "pages", "/");
    json_writer_end(&writer);
    write_formats(&writer);
    write_routes(&writer, context);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    http_respond(request, 200, HTTP_JSON, body);
}

void api_openapi(HttpRequest *request)
{
    if (!http_not_modified(request, 0, HTTP_JSON))
        http_respond_static(request, &(struct http_static){.type = HTTP_JSON,
                                                           .bytes = openapi_json,
                                                           .length = openapi_json_length});
}
