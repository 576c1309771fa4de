/* SPDX-License-Identifier: Apache-2.0
 * /healthz: the process answers. /readyz: it can take a run now. /metrics: Prometheus' text format
 * 0.0.4. Runs on the request's thread; reads counters only. */
#include "server/context.h"
#include "server/routes.h"

#include "schema/number.h"

#define PROMETHEUS "text/plain; version=0.0.4; charset=utf-8"

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

/* One metric without labels. */
static void append_metric(GString *out, const char *name, const char *type, const char *help,
                          gint64 value)
{
    g_string_append_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %" G_GINT64_FORMAT "\n", name, help,
                           name, type, name, value);
}

static void append_http(GString *out, const struct http_status *status)
{
    static const char *const bounds_s[] = {"0.001", "0.005", "0.01", "0.05",
                                           "0.1",   "0.5",   "1",    "+Inf"};
    static const char name[] = "breakeven_http_request_duration_seconds";
    gint64 count = 0;
    g_string_append(out, "# HELP breakeven_http_responses_total Responses by class of status.\n"
                         "# TYPE breakeven_http_responses_total counter\n");
    for (guint i = 1; i < G_N_ELEMENTS(status->responses_by_class); i++)
        g_string_append_printf(
            out, "breakeven_http_responses_total{class=\"%uxx\"} %" G_GINT64_FORMAT "\n", i,
            status->responses_by_class[i]);
    g_string_append_printf(
        out, "# HELP %s From the request's first byte to its answer.\n# TYPE %s histogram\n", name,
        name);
    for (guint i = 0; i < G_N_ELEMENTS(status->duration_buckets); i++) {
        count += status->duration_buckets[i];
        g_string_append_printf(out, "%s_bucket{le=\"%s\"} %" G_GINT64_FORMAT "\n", name,
                               bounds_s[i], count);
    }
    g_string_append_printf(out, "%s_sum ", name);
    number_append(out, (double)status->duration_us_sum / 1e6);
    g_string_append_printf(out, "\n%s_count %" G_GINT64_FORMAT "\n", name, count);
    append_metric(out, "breakeven_http_requests_total", "counter", "Requests received.",
                  status->requests);
    append_metric(out, "breakeven_http_sent_bytes_total", "counter", "Bytes of bodies sent.",
                  status->bytes_sent);
    append_metric(out, "breakeven_http_connections", "gauge", "Open connections.",
                  status->connections);
    append_metric(out, "breakeven_http_bodies_bytes", "gauge", "Bytes of request bodies in flight.",
                  status->bodies_bytes);
}

static void append_store(GString *out, const struct store_status *status)
{
    append_metric(out, "breakeven_store_writable", "gauge",
                  "1 where the last write to the disk worked.", status->can_write ? 1 : 0);
    append_metric(out, "breakeven_store_queued_writes", "gauge", "Writes that wait for the writer.",
                  status->queued_writes);
    append_metric(out, "breakeven_store_queued_bytes", "gauge", "Bytes of these.",
                  status->queued_bytes);
    append_metric(out, "breakeven_store_transactions_total", "counter", "Transactions committed.",
                  status->commits);
    append_metric(out, "breakeven_store_runs_stored_total", "counter",
                  "Runs stored since the start.", status->runs_stored);
    append_metric(out, "breakeven_store_runs_refused_total", "counter",
                  "Runs refused since the start.", status->runs_refused);
    append_metric(out, "breakeven_store_database_bytes", "gauge", "Size of the database file.",
                  status->database_bytes);
    append_metric(out, "breakeven_store_wal_bytes", "gauge", "Size of the write-ahead log.",
                  status->wal_bytes);
    append_metric(out, "breakeven_projects", "gauge", "Projects known.", status->n_projects);
    append_metric(out, "breakeven_machines", "gauge", "Machines known.", status->n_machines);
    append_metric(out, "breakeven_series", "gauge", "Series known.", status->n_series);
    append_metric(out, "breakeven_runs", "gauge", "Runs kept.", status->n_runs);
    append_metric(out, "breakeven_commits", "gauge", "Commits known.", status->n_commits);
}

static void append_work(GString *out, const struct work_status *status)
{
    append_metric(out, "breakeven_analysis_runs_total", "counter", "Runs judged since the start.",
                  status->runs_judged);
    append_metric(out, "breakeven_analysis_series_total", "counter",
                  "Series judged since the start, once for each run.", status->series_judged);
    append_metric(out, "breakeven_analysis_failures_total", "counter",
                  "Judgements that failed and were tried again.", status->failures);
}

static void append_retention(GString *out, const struct retention_status *status)
{
    append_metric(out, "breakeven_retention_running", "gauge",
                  "1 while what is kept too long is removed.", status->is_running ? 1 : 0);
    append_metric(out, "breakeven_retention_waiting", "gauge",
                  "Runs that the pass at hand has yet to do.", status->waiting);
    append_metric(out, "breakeven_retention_runs_deleted_total", "counter",
                  "Runs deleted by rules since the start.", status->n_deleted);
    append_metric(out, "breakeven_retention_runs_dropped_total", "counter",
                  "Runs whose samples were dropped by rules since the start.", status->n_dropped);
    append_metric(out, "breakeven_retention_failures_total", "counter",
                  "Removals that failed and were tried again.", status->failures);
}

void api_metrics(HttpRequest *request)
{
    const struct context *context = context_of(request);
    struct store_status store;
    GString *out = g_string_sized_new(4096);
    g_string_append_printf(out,
                           "# HELP breakeven_build_info The program that answers.\n"
                           "# TYPE breakeven_build_info gauge\n"
                           "breakeven_build_info{version=\"%s\"} 1\n",
                           context->version);
    append_metric(out, "breakeven_start_time_seconds", "gauge",
                  "When the server started, Unix time.", context->started_ms / 1000);
    if (context->http) {
        struct http_status status;
        http_server_status(context->http, &status);
        append_http(out, &status);
    }
    store_status(context->store, &store);
    append_store(out, &store);
    struct work_status work;
    work_status(context->work, &work);
    append_work(out, &work);
    struct retention_status retention;
    retention_status(work_retention(context->work), &retention);
    append_retention(out, &retention);
    http_respond(request, 200, PROMETHEUS, out);
}
