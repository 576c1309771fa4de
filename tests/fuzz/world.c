/* SPDX-License-Identifier: Apache-2.0
 * See world.h. The product's own routes, handlers, store and analysis. */
#include "tests/fuzz/world.h"

#include "server/context.h"
#include "server/pages/layout.h"
#include "server/routes.h"
#include <glib/gstdio.h>
#include <string.h>

#define ROUTE_ROW(...) {__VA_ARGS__},
static const struct http_route routes[] = {ROUTES(ROUTE_ROW)};
#undef ROUTE_ROW

static struct context context;
static HttpServer *server;
static StoreReader *reader;
static char *folder, *path;

/* ---- The store ---- */

#define COMMITS 10u
#define SUBJECT "=fix &lt;<script>alert(1)</script>\\\" 'x' |a_b| @you #1"
#define BENCH   "Spawn<b>&\\\"'/x"

void world_must(const char *text, unsigned status)
{
    struct exchange exchange;
    exchange_run(server, text, strlen(text), &exchange);
    if (exchange.status != status)
        fprintf(stderr, "%u\n%s\n", exchange.status, exchange.body->str);
    check(exchange.status == status);
    exchange_check(&exchange);
    exchange_clear(&exchange);
}

static void must_send(const char *line, const char *body, unsigned status)
{
    g_autofree char *text =
        g_strdup_printf("%s\nHost: localhost:8080\nContent-Type: application/json\n"
                        "Content-Length: %zu\n\n%s",
                        line, strlen(body), body);
    world_must(text, status);
}

static void append_result(GString *out, const char *bench, const char *executor, double level)
{
    g_string_append_printf(out,
                           "{\"bench\":\"%s\",\"params\":{\"executor\":\"%s\",\"threads\":4},"
                           "\"metrics\":{\"real_time\":{\"unit\":\"ns\",\"better\":\"lower\","
                           "\"samples\":[",
                           bench, executor);
    for (int i = 0; i < 6; i++)
        g_string_append_printf(out, "%s%.1f", i ? "," : "", level + i);
    g_string_append(out, "]},\"items_per_second\":{\"unit\":\"items/s\",\"better\":\"higher\","
                         "\"summary\":{\"center\":7,\"low\":6,\"high\":8,\"kind\":\"median\"}}},"
                         "\"info\":{\"library\":\"2021.8\"}}");
}

static void put_run(guint commit, const char *machine)
{
    g_autoptr(GString) out = g_string_new(NULL);
    double level = commit < COMMITS / 2 ? 1000 : 1500;
    g_string_append_printf(
        out,
        "{\"schema\":\"breakeven.run/1\",\"id\":\"run-%u-%zu\",\"project\":\"demo\",\"commit\":{"
        "\"sha\":\"%040x\",\"parents\":[%s%.*s%s],\"time\":\"2026-11-%02uT10:00:00Z\",\"author\":"
        "\"A <b>\",\"subject\":\"" SUBJECT "\"},\"branch\":\"main\",\"machine\":{\"name\":\"%s\","
        "\"environment\":{\"cpu\":\"<i>&\",\"cores\":4}},\"reason\":\"merge\",\"started\":"
        "\"2026-11-%02uT11:00:00Z\",\"results\":[",
        commit, strlen(machine), commit + 1, commit ? "\"" : "", commit ? 40 : 0,
        "0000000000000000000000000000000000000000", commit ? "\"" : "", commit + 1, machine,
        commit + 1);
    if (commit > 0) { /* its parent */
        g_autofree char *zero = g_strdup_printf("\"%040x\"", 0u);
        g_autofree char *parent = g_strdup_printf("\"%040x\"", commit);
        g_string_replace(out, zero, parent, 1);
    }
    append_result(out, BENCH, "fifo", level);
    g_string_append_c(out, ',');
    append_result(out, BENCH, "direct", 900);
    g_string_append_c(out, ',');
    append_result(out, "Idle", "=1+1", 10);
    g_string_append(out, "]}");
    must_send("POST /api/runs", out->str, 201);
}

static void fill(void)
{
    for (guint i = 0; i < COMMITS; i++)
        put_run(i, "box");
    put_run(COMMITS - 2, "m<2>");
    put_run(COMMITS - 1, "m<2>");
    world_must("GET /api/runs/run-9-4/verdict?wait=30\nHost: localhost:8080\n\n", 200);
    world_must("GET /api/runs/run-9-3/verdict?wait=30\nHost: localhost:8080\n\n", 200);
    must_send("POST /api/projects/demo/annotations",
              "{\"commit\":\"0000000000000000000000000000000000000003\",\"text\":\"<u>note</u> "
              "=x\",\"who\":\"me\"}",
              201);
}

static void world_remove(void)
{
    g_autoptr(GDir) files = g_dir_open(folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(files));) {
        g_autofree char *file = g_build_filename(folder, name, NULL);
        g_unlink(file);
    }
    g_rmdir(folder);
}

static void world_end(void)
{
    http_server_stop(server);
    store_reader_free(reader);
    work_stop(context.work);
    store_close(context.store);
    recent_notes_free(context.errors);
    recent_notes_free(context.refusals);
    world_remove();
    g_free(folder);
    g_free(path);
}

static void world_begin(void)
{
    folder = g_dir_make_tmp("breakeven-fuzz-XXXXXX", NULL);
    check(folder != NULL);
    path = g_build_filename(folder, "fuzz.db", NULL);
    g_autofree char *url = g_strconcat("sqlite:", path, NULL);
    struct store_options store_options = {.url = url};
    context = (struct context){.routes = routes,
                               .n_routes = G_N_ELEMENTS(routes),
                               .version = "1",
                               .build_id = "1",
                               .errors = recent_notes_new(),
                               .refusals = recent_notes_new(),
                               .started_ms = 1,
                               .store = store_open(&store_options, NULL)};
    check(context.store != NULL);
    struct work_options work_options = {.store = context.store};
    context.work = work_start(&work_options, NULL);
    struct http_options options = {.listen_host = "127.0.0.1",
                                   .routes = routes,
                                   .n_routes = G_N_ELEMENTS(routes),
                                   .app = &context,
                                   .build_id = "1",
                                   .product = "Breakeven",
                                   .error_page = page_error,
                                   .client_rate = 1u << 30};
    reader = store_reader_new(context.store, NULL);
    check(context.work && reader);
    server = context.http = exchange_server_new(&options, reader);
    fill();
    atexit(world_end);
}

HttpServer *world_server(void)
{
    if (!server)
        world_begin();
    return server;
}

const char *world_folder(void)
{
    return folder;
}

const char *world_store(void)
{
    return path;
}
