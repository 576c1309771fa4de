/* SPDX-License-Identifier: Apache-2.0
 * Reads the rest of what clients send on connections that were refused early, and throws it away,
 * within bounds of time and bytes. Without it the kernel would reset the connection and the client
 * would see "connection reset" instead of its 413. Event threads, each its own. */
#include "server/http/http_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINGER_SECONDS 5
#define LINGER_BYTES   (64ll << 20)
#define PIECES_MAX     16 /* at one event, so that one client does not keep a thread */

void http_linger_init(struct http_loop *loop)
{
    for (guint i = 0; i < HTTP_LINGER_MAX; i++)
        loop->lingers[i].fd = -1;
}

static void linger_close(struct http_loop *loop, struct http_linger *linger)
{
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, linger->fd, NULL);
    close(linger->fd);
    linger->fd = -1;
}

void http_linger_begin(struct http_loop *loop, int fd)
{
    for (guint i = 0; i < HTTP_LINGER_MAX; i++) {
        struct http_linger *linger = &loop->lingers[i];
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = i};
        if (linger->fd >= 0)
            continue;
        linger->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* libmicrohttpd closes its own */
        if (linger->fd < 0)
            return;
        linger->deadline_us = g_get_monotonic_time() + LINGER_SECONDS * G_USEC_PER_SEC;
        linger->bytes_left = LINGER_BYTES;
        shutdown(linger->fd, SHUT_WR);
        if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, linger->fd, &event) != 0)
            linger_close(loop, linger);
        return;
    }
}

void http_linger_ready(struct http_loop *loop, guint index)
{
    static _Thread_local char waste[64 << 10];
    struct http_linger *linger = &loop->lingers[index];
    for (int i = 0; i < PIECES_MAX && linger->fd >= 0; i++) {
        ssize_t n = recv(linger->fd, waste, sizeof waste, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        linger->bytes_left -= MAX(n, 0);
        if (n <= 0 || linger->bytes_left <= 0)
            linger_close(loop, linger);
    }
}

void http_linger_scan(struct http_loop *loop, gint64 now_us)
{
    for (guint i = 0; i < HTTP_LINGER_MAX; i++)
        if (loop->lingers[i].fd >= 0 && now_us > loop->lingers[i].deadline_us)
            linger_close(loop, &loop->lingers[i]);
}

void http_linger_clear(struct http_loop *loop)
{
    for (guint i = 0; i < HTTP_LINGER_MAX; i++)
        if (loop->lingers[i].fd >= 0)
            linger_close(loop, &loop->lingers[i]);
}
