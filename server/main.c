/* SPDX-License-Identifier: Apache-2.0
 * The program: reads its configuration, opens the store, starts the HTTP server on it, and waits
 * for a signal. The only file that knows all parts. The main thread; signals are blocked in all
 * others.
 *
 * Exit: 0 fine, 1 it could not start or close well, 2 a mistake of use. */
#include "server/api/api_access.h"
#include "server/audit_log.h"
#include "server/config.h"
#include "server/context.h"
#include "server/demo/demo_fill.h"
#include "server/detect.h"
#include "server/http/http_tls.h"
#include "server/log.h"
#include "server/maintenance.h"
#include "server/oidc_resolver.h"
#include "server/pages/layout.h"
#include "server/routes.h"
#include "server/token_command.h"
#include "server/token_principal.h"
#include <glib/gstdio.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define ROUTE_ROW(...) {__VA_ARGS__},
static const struct http_route routes[] = {ROUTES(ROUTE_ROW)};
#undef ROUTE_ROW

/* `app` is the context: what is worth a line is kept for the status page, too. */
static void on_message(const char *message, void *app)
{
    const struct recent_note note = {.at_ms = g_get_real_time() / 1000, .text = message};
    log_line(LOG_LEVEL_WARNING, "%s", message);
    recent_notes_add(((struct context *)app)->errors, &note);
}

/* Who only looked for what is not there was not refused anything. */
static bool is_worth_a_note(const struct http_refusal *refused)
{
    static const unsigned always[] = {401, 403, 413, 414, 429, 503};
    for (gsize i = 0; i < G_N_ELEMENTS(always); i++)
        if (refused->status == always[i])
            return true;
    bool only_looked = strcmp(refused->method, "GET") == 0 || strcmp(refused->method, "HEAD") == 0;
    return refused->status != 500 && !only_looked;
}

static void on_refused(const struct http_refusal *refused, void *app)
{
    if (!is_worth_a_note(refused))
        return;
    const GPtrArray *faults = refused->faults ? refused->faults->items : NULL;
    const struct fault *first = faults && faults->len > 0 ? faults->pdata[0] : NULL;
    g_autofree char *where = g_strconcat(refused->method, " ", refused->path, NULL);
    g_autofree char *text =
        first ? g_strdup_printf("%s: %s: %s", refused->detail, first->pointer, first->message)
              : g_strdup(refused->detail);
    const struct recent_note note = {
        .at_ms = g_get_real_time() / 1000, .status = refused->status, .where = where, .text = text};
    recent_notes_add(((struct context *)app)->refusals, &note);
}

static void on_http_access(const struct http_log_entry *entry, void *app)
{
    (void)app;
    log_access(entry);
}

static void on_http_audit(const struct http_audit_entry *entry, void *app)
{
    audit_log_put(((struct context *)app)->audit, entry);
}

/* Where it cannot be found out, nobody writes without one. */
static bool on_tokens_asked(void *thread, void *app)
{
    bool exist = true;
    (void)app;
    store_has_tokens((StoreReader *)thread, &exist, NULL);
    return exist;
}

static void *on_thread_start(void *app, GError **error)
{
    const struct context *context = app;
    StoreReader *reader = store_reader_new(context->store, error);
    if (reader)
        store_reader_limit(reader, context->query_us);
    return reader;
}

static void on_thread_stop(void *thread, void *app)
{
    (void)app;
    store_reader_free(thread);
}

/* Many connections want many descriptors; the hard limit is what the administrator allows. */
static void files_limit_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* What tells this build from any other, for ETags: the digest of the program itself. */
static char *build_id_make(void)
{
    g_autoptr(GMappedFile) self = g_mapped_file_new("/proc/self/exe", FALSE, NULL);
    if (!self)
        return g_strdup_printf(BREAKEVEN_VERSION "-%" G_GINT64_FORMAT, g_get_real_time());
    return g_compute_checksum_for_data(G_CHECKSUM_SHA256,
                                       (const guchar *)g_mapped_file_get_contents(self),
                                       g_mapped_file_get_length(self));
}

/* ---- Signals ---- */

static void signals_block(sigset_t *awaited, bool has_files)
{
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(awaited);
    sigaddset(awaited, SIGTERM);
    sigaddset(awaited, SIGINT);
    if (has_files)
        sigaddset(awaited, SIGHUP);
    pthread_sigmask(SIG_BLOCK, awaited, NULL);
}

/* SIGHUP: what may be changed while the server runs is read again; what cannot be read stays as it
 * was. */
static void files_read_again(const Config *config, HttpTls *tls)
{
    g_autoptr(GError) tls_error = NULL;
    g_autoptr(GError) oidc_error = NULL;
    if (tls && !http_tls_reload(tls, &tls_error))
        log_line(LOG_LEVEL_ERROR, "SIGHUP: the certificate stays as it was: %s",
                 tls_error->message);
    else if (tls)
        log_line(LOG_LEVEL_INFO, "SIGHUP: the certificate was read again");
    if (config->oidc && !oidc_reload(config->oidc, &oidc_error))
        log_line(LOG_LEVEL_ERROR, "SIGHUP: keys stay as they were: %s", oidc_error->message);
    else if (config->oidc)
        log_line(LOG_LEVEL_INFO, "SIGHUP: the keys of CI tokens were read again");
}

/* Waits for the first one that ends the server; a second one ends the program at once. */
static void signals_await(const sigset_t *ending, const Config *config, HttpTls *tls)
{
    int number;
    while (sigwait(ending, &number) == 0 && number == SIGHUP)
        files_read_again(config, tls);
    log_line(LOG_LEVEL_INFO, "%s: finishing what is in flight; a second signal ends at once",
             number == SIGINT ? "SIGINT" : "SIGTERM");
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGHUP, SIG_IGN); /* nothing is read again any more, and it must not end what drains */
    pthread_sigmask(SIG_UNBLOCK, ending, NULL);
}

/* ---- The demonstration ---- */

#define DEMO_SEED 1

/* On a terminal one line that moves; a signal stops it. */
static bool on_demo_progress(enum demo_step step, guint n_done, guint n_all, void *user)
{
    const char *verb = step == DEMO_STORED ? "stored" : "judged";
    sigset_t pending;
    (void)user;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rdemo: %u of %u runs %s\033[K%s", n_done, n_all, verb,
                step == DEMO_JUDGED && n_done >= n_all ? "\n" : "");
    sigpending(&pending);
    return !sigismember(&pending, SIGINT) && !sigismember(&pending, SIGTERM);
}

static bool demo_make(Store *store, Work *work, GError **error)
{
    int64_t now_s = g_get_real_time() / G_USEC_PER_SEC, began_us = g_get_monotonic_time();
    const struct demo_fill fill = {.store = store,
                                   .work = work,
                                   .options = {.seed = DEMO_SEED, .end_s = now_s - now_s % 3600},
                                   .progress = on_demo_progress};
    log_line(LOG_LEVEL_INFO,
             "making up a project with %u runs of 40 benchmarks; this takes a "
             "few seconds",
             demo_history_n_runs());
    if (!demo_fill(&fill, error))
        return false;
    log_line(LOG_LEVEL_INFO, "made up and judged in %.1f s",
             (double)(g_get_monotonic_time() - began_us) / G_USEC_PER_SEC);
    return true;
}

static bool demo_is_new(const Config *config, GError **error)
{
    const char *path = config->store + strlen("sqlite:");
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_CONFLICT,
                "%s is there already; a demonstration wants a store of its own: leave --store out, "
                "or name a new file",
                path);
    return false;
}

static void demo_remove(const char *folder, const char *name)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", ".lock", ".backed-up"};
    for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *file = g_strconcat(name, suffixes[i], NULL);
        g_autofree char *path = g_build_filename(folder, file, NULL);
        g_unlink(path);
    }
    g_rmdir(folder);
}

/* ---- Commands ---- */

static Store *open_store(const Config *config, struct context *context, GError **error)
{
    struct store_options options = {
        .url = config->store,
        .queue_bytes_max = config->numbers[CONFIG_QUEUE_BYTES],
        .log = on_message,
        .log_user = context,
    };
    return store_open(&options, error);
}

static bool live_tokens(Store *store, bool *out, GError **error)
{
    g_autoptr(StoreReader) reader = store_reader_new(store, error);
    return reader && store_has_live_tokens(reader, g_get_real_time() / 1000, out, error);
}

static HttpServer *start_http(const Config *config, HttpTls *tls, struct context *context,
                              GError **error)
{
    static const enum http_reads reads[] = {[CONFIG_PRIVATE_UNSAID] = HTTP_READS_LOOPBACK,
                                            [CONFIG_PRIVATE_OFF] = HTTP_READS_ALL,
                                            [CONFIG_PRIVATE_ON] = HTTP_READS_PRINCIPALS};
    const int64_t *numbers = config->numbers;
    bool has_tokens;
    if (!live_tokens(context->store, &has_tokens, error))
        return NULL;
    struct http_options options = {
        .listen_host = config->listen_host,
        .listen_port = config->listen_port,
        .routes = context->routes,
        .n_routes = context->n_routes,
        .app = context,
        .server = &context->http,
        .build_id = context->build_id,
        .product = "Breakeven " BREAKEVEN_VERSION,
        .write_token = config->write_token,
        .resolvers = context->resolvers,
        .has_tokens = has_tokens || config->oidc,
        .tokens_exist = on_tokens_asked,
        .reads = reads[config->is_private],
        .authorize = api_access_authorize,
        .audit = on_http_audit,
        .cors_origins = config->cors_origins,
        .proxies = config->proxies,
        .proxy_header = config->proxy_header,
        .tls = tls,
        .thread_start = on_thread_start,
        .thread_stop = on_thread_stop,
        .access_log = config->access_log ? on_http_access : NULL,
        .log = on_message,
        .refused = on_refused,
        .error_page = page_error,
        .n_workers = (unsigned)numbers[CONFIG_WORKERS],
        .connections_max = (unsigned)numbers[CONFIG_CONNECTIONS],
        .body_bytes_max = (size_t)numbers[CONFIG_BODY_BYTES],
        .bodies_bytes_max = (size_t)numbers[CONFIG_BODIES_BYTES],
        .request_seconds_max = (unsigned)numbers[CONFIG_REQUEST_SECONDS],
        .idle_seconds_max = (unsigned)numbers[CONFIG_IDLE_SECONDS],
        .head_seconds_max = (unsigned)numbers[CONFIG_HEAD_SECONDS],
        .uploads_max = (unsigned)numbers[CONFIG_UPLOADS],
        .client_rate = (unsigned)numbers[CONFIG_CLIENT_RATE],
        .client_uploads_max = (unsigned)numbers[CONFIG_CLIENT_UPLOADS],
        .client_bytes_max = (size_t)numbers[CONFIG_CLIENT_BYTES],
        .client_connections_max = (unsigned)numbers[CONFIG_CLIENT_CONNECTIONS],
        .limit_loopback = config->limit_loopback,
    };
    return http_server_start(&options, error);
}

static void who_may_set(struct context *context, const Config *config, TokenPrincipals *tokens,
                        AuditLog *audit)
{
    context->audit = audit;
    context->resolvers[0] = (struct principal_resolver){token_principal_resolve, tokens};
    context->resolvers[1] = (struct principal_resolver){oidc_resolve, config->oidc};
    context->has_write_token = config->write_token != NULL;
    if (config->write_token)
        digest_sha256(config->write_token, strlen(config->write_token), context->write_token_hash);
}

static int serve(const Config *config, GError **error)
{
    sigset_t ending;
    g_autoptr(HttpTls) tls = NULL;
    g_autoptr(RecentNotes) errors = recent_notes_new();
    g_autoptr(RecentNotes) refusals = recent_notes_new();
    g_autofree char *build_id = build_id_make();
    struct context context = {
        .routes = routes,
        .n_routes = G_N_ELEMENTS(routes),
        .version = BREAKEVEN_VERSION,
        .build_id = build_id,
        .errors = errors,
        .refusals = refusals,
        .started_ms = g_get_real_time() / 1000,
        .query_us = config->numbers[CONFIG_QUERY_MS] * 1000,
    };
    files_limit_raise();
    signals_block(&ending, config->tls_key || config->oidc);
    if (config->tls_key && !(tls = http_tls_new(config->tls_certificate, config->tls_key, error)))
        return 1;
    g_autoptr(Store) store = open_store(config, &context, error);
    if (!store)
        return 1;
    struct work_options work_options = {.store = store, .log = on_message, .log_user = &context};
    g_autoptr(Work) work = work_start(&work_options, error);
    if (!work)
        return 1;
    context.store = store;
    context.work = work;
    g_autoptr(TokenPrincipals) tokens = token_principals_new(store, config->write_token);
    g_autoptr(AuditLog) audit =
        audit_log_new(store, config->numbers[CONFIG_AUDIT_ROWS], on_message, &context);
    who_may_set(&context, config, tokens, audit);
    HttpServer *http = start_http(config, tls, &context, error); /* a busy port is said at once */
    if (!http)
        return 1;
    if (config->command == CONFIG_DEMO && !demo_make(store, work, error)) {
        work_release(work);
        http_server_stop(http);
        g_clear_pointer(&work, work_stop);
        g_clear_pointer(&store,
                        store_close); /* what it still writes is told to the log of writes */
        return 1;
    }
    bool ipv6 = strchr(config->listen_host, ':') != NULL;
    log_line(LOG_LEVEL_INFO, "listening on %s://%s%s%s:%u/", tls ? "https" : "http",
             ipv6 ? "[" : "", config->listen_host, ipv6 ? "]" : "", http_server_port(http));
    signals_await(&ending, config, tls);
    g_atomic_int_set(&context.draining, 1);
    work_release(work);
    http_server_drain(http, (unsigned)config->numbers[CONFIG_DRAIN_SECONDS]);
    http_server_stop(http);
    g_clear_pointer(&work, work_stop);
    g_clear_pointer(&store, store_close);
    log_line(LOG_LEVEL_INFO, "stopped");
    return 0;
}

static int demo(Config *config, GError **error)
{
    if (config->store)
        return demo_is_new(config, error) ? serve(config, error) : 1;
    g_autofree char *folder = g_dir_make_tmp("breakeven-demo-XXXXXX", error);
    if (!folder)
        return 1;
    config->store = g_strconcat("sqlite:", folder, "/demo.db", NULL);
    int code = serve(config, error);
    demo_remove(folder, "demo.db");
    return code;
}

static int migrate(const Config *config, GError **error)
{
    g_autoptr(RecentNotes) errors = recent_notes_new();
    struct context context = {.errors = errors};
    g_autoptr(Store) store = open_store(config, &context, error);
    if (!store)
        return 1;
    log_line(LOG_LEVEL_INFO, "%s has this version's schema", config->store);
    return 0;
}

/* A command whose answer is a text: exit 1 where there is none, or where it says that something is
 * wrong. */
static int tell(char *text, bool is_fine)
{
    if (text)
        fputs(text, stdout);
    bool is_told = text && fflush(stdout) == 0;
    g_free(text);
    return is_told && is_fine ? 0 : 1;
}

static int run(Config *config, GError **error)
{
    g_autofree char *help = NULL;
    bool is_whole = false;
    switch (config->command) {
    case CONFIG_SERVE:
        return serve(config, error);
    case CONFIG_MIGRATE:
        return migrate(config, error);
    case CONFIG_DEMO:
        return demo(config, error);
    case CONFIG_BACKUP:
        return tell(maintenance_backup(config, error), true);
    case CONFIG_RESTORE:
        return tell(maintenance_restore(config, error), true);
    case CONFIG_CHECK:
        help = maintenance_check(config, &is_whole, error);
        return tell(g_steal_pointer(&help), is_whole);
    case CONFIG_HELP:
        help = config_help();
        fputs(help, stdout);
        return 0;
    case CONFIG_VERSION:
        puts("breakeven-server " BREAKEVEN_VERSION);
        return 0;
    }
    return 2;
}

/* Commands that need no server, by their own few options. NULL as the text: it failed. */
static int print(const char *text, int failure)
{
    if (!text)
        return failure;
    return fputs(text, stdout) >= 0 && fflush(stdout) == 0 ? 0 : 1;
}

static int detect(int argc, char **argv, GError **error)
{
    g_autofree char *text = detect_text(argc, argv, error);
    return print(text, 2);
}

static int token(int argc, char **argv, GError **error)
{
    g_autofree char *text = token_command_text(argc, argv, error);
    bool is_mistake = !text && (g_error_matches(*error, BREAKEVEN_ERROR, ERROR_SYNTAX) ||
                                g_error_matches(*error, BREAKEVEN_ERROR, ERROR_INVALID));
    return print(text, is_mistake ? 2 : 1);
}

static int serve_or_tell(int argc, char **argv, GError **error)
{
    g_autoptr(Config) config = config_parse(argc, argv, error);
    if (config)
        log_setup(config->log_json ? LOG_JSON : LOG_LOGFMT);
    return config ? run(config, error) : 2;
}

int main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    const char *word = argc > 1 ? argv[1] : "";
    int code = strcmp(word, "detect") == 0  ? detect(argc - 1, argv + 1, &error)
               : strcmp(word, "token") == 0 ? token(argc - 1, argv + 1, &error)
                                            : serve_or_tell(argc, argv, &error);
    if (error)
        fprintf(stderr, "breakeven-server: %s\n", error->message);
    return code;
}
