/* SPDX-License-Identifier: Apache-2.0
 * One event thread: a libmicrohttpd daemon without a thread of its own, driven by an epoll set of
 * ours that holds the daemon's epoll descriptor, the listen socket, an eventfd and lingering
 * sockets. MHD_run never blocks: libmicrohttpd's internal epoll thread stalls when exactly 128
 * events (or a multiple) are ready, since it waits again with its full timeout before it serves
 * them. */
#include "server/http/http_internal.h"
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_MAX 32
#define SCAN_MS    250
#define FLUSH_US   (2 * G_USEC_PER_SEC) /* after the stop, for answers that are still being sent */

/* ---- The loop ---- */

static void loop_scan(struct http_loop *loop)
{
    gint64 now_us = g_get_monotonic_time();
    if (now_us - loop->scanned_us < SCAN_MS * 1000)
        return;
    loop->scanned_us = now_us;
    http_connections_scan(loop, now_us);
    http_linger_scan(loop, now_us);
}

void http_loop_wake(struct http_loop *loop)
{
    const uint64_t one = 1;
    ssize_t written = write(loop->wake_fd, &one, sizeof one); /* cannot block before 2^64 wakes */
    (void)written;
}

static int loop_timeout_ms(struct http_loop *loop)
{
    MHD_UNSIGNED_LONG_LONG daemon_ms;
    int timeout_ms = loop->waiting.newest || loop->busy.newest ? SCAN_MS : 1000;
    if (MHD_get_timeout(loop->daemon, &daemon_ms) == MHD_YES &&
        daemon_ms < (MHD_UNSIGNED_LONG_LONG)timeout_ms)
        timeout_ms = (int)daemon_ms;
    return timeout_ms;
}

static void loop_event(struct http_loop *loop, uint64_t what)
{
    uint64_t drained;
    if (what < HTTP_LINGER_MAX) {
        http_linger_ready(loop, (guint)what);
    } else if (what == HTTP_EVENT_LISTEN) {
        http_accept_ready(loop);
    } else if (what == HTTP_EVENT_WAKE) {
        ssize_t n = read(loop->wake_fd, &drained, sizeof drained);
        (void)n;
        if (atomic_exchange(&loop->look, false))
            http_accept_ready(loop);
    }
}

static void loop_once(struct http_loop *loop)
{
    struct epoll_event events[EVENTS_MAX];
    http_accept_update(loop);
    int n = epoll_wait(loop->epoll_fd, events, EVENTS_MAX, loop_timeout_ms(loop));
    for (int i = 0; i < n; i++)
        loop_event(loop, events[i].data.u64);
    http_accept_inbox(loop);
    MHD_run(loop->daemon);
    loop_scan(loop);
}

static void *loop_main(void *data)
{
    struct http_loop *loop = data;
    HttpServer *server = loop->server;
    gint64 end_us = 0;
    http_tls_use(server->options.tls);
    for (;;) {
        loop_once(loop);
        if (!atomic_load(&server->stop))
            continue;
        if (end_us == 0)
            end_us = g_get_monotonic_time() + FLUSH_US;
        if (atomic_load(&server->n_requests) == 0 || g_get_monotonic_time() > end_us)
            return NULL;
    }
}

/* ---- Start and stop ---- */

static void on_daemon_log(void *data, const char *format, va_list arguments) G_GNUC_PRINTF(2, 0);
static void on_daemon_log(void *data, const char *format, va_list arguments)
{
    /* libmicrohttpd tells of each client that goes away early; that is in the access log. */
    (void)data;
    (void)format;
    (void)arguments;
}

static size_t keep_encoded(void *data, struct MHD_Connection *mhd, char *text)
{
    (void)data;
    (void)mhd;
    return strlen(text);
}

static struct MHD_Daemon *daemon_start(struct http_loop *loop)
{
    const struct http_options *options = &loop->server->options;
    unsigned tls = options->tls ? MHD_USE_TLS : 0u;
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG |
            tls,
        0, NULL, NULL, http_exchange_access, loop, MHD_OPTION_EXTERNAL_LOGGER, on_daemon_log, loop,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_CONNECTION_BYTES,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)(HTTP_CONNECTION_BYTES / 8),
        MHD_OPTION_CONNECTION_LIMIT, options->connections_max + HTTP_INBOX_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds_max, MHD_OPTION_URI_LOG_CALLBACK,
        http_exchange_target, loop, MHD_OPTION_UNESCAPE_CALLBACK, keep_encoded, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, http_exchange_completed, loop, MHD_OPTION_NOTIFY_CONNECTION,
        http_connection_notify, loop, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        options->tls ? MHD_OPTION_HTTPS_CERT_CALLBACK : MHD_OPTION_END, http_tls_callback(),
        MHD_OPTION_HTTPS_PRIORITIES, HTTP_TLS_PRIORITIES, MHD_OPTION_END);
}

static bool loop_watch(struct http_loop *loop)
{
    struct epoll_event wake = {.events = EPOLLIN, .data.u64 = HTTP_EVENT_WAKE};
    struct epoll_event daemon = {.events = EPOLLIN, .data.u64 = HTTP_EVENT_DAEMON};
    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &wake) == 0 &&
           epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->daemon_epoll_fd, &daemon) == 0;
}

static bool loop_fail(GError **error)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "cannot start an event thread: %s",
                g_strerror(errno));
    return false;
}

bool http_loop_open(struct http_loop *loop, GError **error)
{
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->epoll_fd < 0 || loop->wake_fd < 0 || !(loop->daemon = daemon_start(loop)))
        return loop_fail(error);
    loop->daemon_epoll_fd = MHD_get_daemon_info(loop->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    return loop_watch(loop) || loop_fail(error);
}

bool http_loop_start(struct http_loop *loop, GError **error)
{
    loop->started = pthread_create(&loop->thread, NULL, loop_main, loop) == 0;
    return loop->started || loop_fail(error);
}

void http_loop_stop(struct http_loop *loop)
{
    if (loop->started) {
        http_loop_wake(loop);
        pthread_join(loop->thread, NULL);
        http_accept_inbox(loop); /* libmicrohttpd closes them */
    }
    g_clear_pointer(&loop->daemon, MHD_stop_daemon);
    http_linger_clear(loop);
    if (loop->epoll_fd >= 0)
        close(loop->epoll_fd);
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
    pthread_mutex_destroy(&loop->lock);
}
