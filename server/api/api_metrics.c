/* SPDX-License-Identifier: Apache-2.0
 * /metrics: what an operator watches and is woken by, for Prometheus. Sample alerts are in
 * deploy/prometheus/alerts.yml. Runs on the request's thread; reads counters only. */
#include "server/api/prometheus.h"
#include "server/context.h"
#include "server/routes.h"
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- The process ---- */

/* Of the names that Prometheus' client libraries use. */
static void append_process(GString *out)
{
    struct rlimit files;
    struct rusage usage;
    g_autofree char *statm = NULL;
    guint64 pages = 0;
    long page_bytes = sysconf(_SC_PAGESIZE);
    guint n_files = 0;
    const char *resident = NULL; /* the second of its numbers */
    if (g_file_get_contents("/proc/self/statm", &statm, NULL, NULL))
        resident = strchr(statm, ' ');
    if (resident && (pages = g_ascii_strtoull(resident, NULL, 10)) > 0)
        prometheus_gauge(out, "process_resident_memory_bytes", "Resident memory size.",
                         (double)pages * (double)page_bytes);
    g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
    while (dir && g_dir_read_name(dir))
        n_files++;
    if (dir)
        prometheus_gauge(out, "process_open_fds", "Open file descriptors.", n_files);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        prometheus_gauge(out, "process_max_fds", "Most file descriptors that may be open.",
                         (double)files.rlim_cur);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        prometheus_counter(out, "process_cpu_seconds_total", "User and system CPU time.",
                           (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
}

/* ---- HTTP ---- */

static void append_answers(GString *out, const struct http_status *status)
{
    static const char *const classes[] = {NULL, "1xx", "2xx", "3xx", "4xx", "5xx"};
    prometheus_family(out, "breakeven_http_responses_total", "counter",
                      "Responses by class of status.");
    for (guint i = 1; i < G_N_ELEMENTS(status->responses_by_class); i++)
        prometheus_sample(out, "breakeven_http_responses_total", "class", classes[i],
                          (double)status->responses_by_class[i]);
    prometheus_family(out, "breakeven_http_errors_total", "counter", "Errors answered, by kind.");
    for (guint i = 0; i < ERROR_KINDS; i++)
        prometheus_sample(out, "breakeven_http_errors_total", "kind",
                          breakeven_error_name((enum breakeven_error)i), (double)status->errors[i]);
    prometheus_family(out, "breakeven_http_refused_total", "counter",
                      "Requests and connections turned away, by reason.");
    for (guint i = 0; i < HTTP_REFUSALS; i++)
        prometheus_sample(out, "breakeven_http_refused_total", "reason", http_refused_names[i],
                          (double)status->refused[i]);
}

static void append_http(GString *out, const struct http_status *status)
{
    static const char name[] = "breakeven_http_request_duration_seconds";
    append_answers(out, status);
    prometheus_family(out, name, "histogram",
                      "From the request's first byte to its answer's last, by class of route.");
    for (guint i = 0; i < HTTP_CLASSES; i++)
        prometheus_histogram(out, name, "route", http_class_names[i], &status->latencies[i]);
    prometheus_counter(out, "breakeven_http_requests_total", "Requests that ended.",
                       (double)status->requests);
    prometheus_counter(out, "breakeven_http_sent_bytes_total", "Bytes of bodies sent.",
                       (double)status->bytes_sent);
    prometheus_gauge(out, "breakeven_http_connections", "Open connections.",
                     (double)status->connections);
    prometheus_gauge(out, "breakeven_http_connections_limit", "Connections that may be open.",
                     (double)status->connections_max);
    prometheus_gauge(out, "breakeven_http_bodies_bytes", "Bytes of request bodies in flight.",
                     (double)status->bodies_bytes);
    prometheus_gauge(out, "breakeven_http_uploads", "Requests with a body under way.",
                     (double)status->uploads);
    prometheus_gauge(out, "breakeven_http_worker_queue", "Requests that wait for a worker.",
                     (double)status->waiting_for_worker);
    prometheus_gauge(out, "breakeven_http_clients", "Clients that are remembered for their limits.",
                     (double)status->clients);
}

/* ---- The store and what follows an upload ---- */

static void append_disk(GString *out, const struct store_status *status)
{
    prometheus_gauge(out, "breakeven_store_database_bytes", "Size of the database file.",
                     (double)status->database_bytes);
    prometheus_gauge(out, "breakeven_store_wal_bytes", "Size of the write-ahead log.",
                     (double)status->wal_bytes);
    prometheus_gauge(out, "breakeven_store_disk_free_bytes", "Room on the disk of the store.",
                     (double)status->disk_free_bytes);
    prometheus_gauge(out, "breakeven_backup_last_success_timestamp_seconds",
                     "When the latest verified backup was made, Unix time; 0: never.",
                     (double)status->backup_s);
}

static void append_writes(GString *out, const struct store_status *status)
{
    prometheus_gauge(out, "breakeven_store_writable",
                     "1 where the last write to the disk worked, or it is worth trying again.",
                     status->can_write ? 1 : 0);
    prometheus_gauge(out, "breakeven_store_queued_writes", "Writes that wait for the writer.",
                     (double)status->queued_writes);
    prometheus_gauge(out, "breakeven_store_queued_bytes", "Bytes of these.",
                     (double)status->queued_bytes);
    prometheus_gauge(out, "breakeven_store_queue_age_seconds",
                     "How long the first of these has waited.", (double)status->waited_us / 1e6);
    prometheus_family(out, "breakeven_store_transaction_duration_seconds", "histogram",
                      "Transactions, from their begin to the disk.");
    prometheus_histogram(out, "breakeven_store_transaction_duration_seconds", NULL, NULL,
                         &status->transactions);
    prometheus_counter(out, "breakeven_store_transactions_total", "Transactions committed.",
                       (double)status->commits);
    prometheus_counter(out, "breakeven_store_runs_stored_total", "Runs stored since the start.",
                       (double)status->runs_stored);
    prometheus_counter(out, "breakeven_store_runs_refused_total", "Runs refused since the start.",
                       (double)status->runs_refused);
}

static void append_kept(GString *out, const struct store_status *status)
{
    prometheus_gauge(out, "breakeven_projects", "Projects known.", status->n_projects);
    prometheus_gauge(out, "breakeven_machines", "Machines known.", status->n_machines);
    prometheus_gauge(out, "breakeven_series", "Series known.", status->n_series);
    prometheus_gauge(out, "breakeven_runs", "Runs kept.", status->n_runs);
    prometheus_gauge(out, "breakeven_commits", "Commits known.", status->n_commits);
}

static void append_work(GString *out, const struct work_status *status)
{
    gint64 lag_ms = status->oldest_ms ? g_get_real_time() / 1000 - status->oldest_ms : 0;
    prometheus_gauge(out, "breakeven_analysis_lag_seconds",
                     "How long the oldest run that is not judged yet has waited.",
                     (double)MAX(lag_ms, 0) / 1e3);
    prometheus_counter(out, "breakeven_analysis_runs_total", "Runs judged since the start.",
                       (double)status->runs_judged);
    prometheus_counter(out, "breakeven_analysis_series_total",
                       "Series judged since the start, once for each run.",
                       (double)status->series_judged);
    prometheus_counter(out, "breakeven_analysis_failures_total",
                       "Judgements that failed and were tried again.", (double)status->failures);
}

static void append_retention(GString *out, const struct retention_status *status)
{
    prometheus_gauge(out, "breakeven_retention_running",
                     "1 while what is kept too long is removed.", status->is_running ? 1 : 0);
    prometheus_gauge(out, "breakeven_retention_waiting",
                     "Runs that the pass at hand has yet to do.", (double)status->waiting);
    prometheus_counter(out, "breakeven_retention_runs_deleted_total",
                       "Runs deleted by rules since the start.", (double)status->n_deleted);
    prometheus_counter(out, "breakeven_retention_runs_dropped_total",
                       "Runs whose samples were dropped by rules since the start.",
                       (double)status->n_dropped);
    prometheus_counter(out, "breakeven_retention_failures_total",
                       "Removals that failed and were tried again.", (double)status->failures);
}

void api_metrics(HttpRequest *request)
{
    const struct context *context = context_of(request);
    GString *out = g_string_sized_new(16384);
    prometheus_family(out, "breakeven_build_info", "gauge", "The program that answers.");
    prometheus_sample(out, "breakeven_build_info", "version", context->version, 1);
    prometheus_gauge(out, "process_start_time_seconds", "When the server started, Unix time.",
                     (double)context->started_ms / 1e3);
    append_process(out);
    if (context->http) {
        struct http_status http;
        http_server_status(context->http, &http);
        append_http(out, &http);
    }
    struct store_status store;
    store_status(context->store, &store);
    append_writes(out, &store);
    append_disk(out, &store);
    append_kept(out, &store);
    struct work_status work;
    work_status(context->work, &work);
    append_work(out, &work);
    struct retention_status retention;
    retention_status(work_retention(context->work), &retention);
    append_retention(out, &retention);
    http_respond(request, 200, PROMETHEUS_TYPE, out);
}
