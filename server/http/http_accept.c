/* SPDX-License-Identifier: Apache-2.0
 * How connections come to the two event threads. Both wait for the one listen socket, with
 * EPOLLEXCLUSIVE, so that a connection wakes one of them; who accepts it keeps it or hands it over,
 * whichever thread has fewer. (libmicrohttpd's own way, the socket in both of its epoll sets, would
 * wake both for each connection and let the faster one take them all.) Event threads. */
#include "server/http/http_internal.h"
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPT_MAX      64     /* at one event */
#define ACCEPT_PAUSE_US 100000 /* after the system had no room for a connection */

/* Listens where connections are wanted, and not where they are not; called before each wait. */
void http_accept_update(struct http_loop *loop)
{
    HttpServer *server = loop->server;
    bool full = atomic_load(&server->n_connections) >= (long long)server->options.connections_max;
    bool draining = atomic_load(&server->draining);
    bool paused = loop->accept_again_us > g_get_monotonic_time();
    bool wanted = !full && !draining && !paused;
    if (wanted != loop->listening) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE,
                                    .data.u64 = HTTP_EVENT_LISTEN};
        if (epoll_ctl(loop->epoll_fd, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, server->listen_fd,
                      &event) == 0)
            loop->listening = wanted;
    }
    if (draining && !loop->listening && !atomic_load(&loop->deaf)) {
        http_accept_ready(loop); /* those that the kernel has let in already */
        atomic_store(&loop->deaf, true);
    }
}

static void add_here(struct http_loop *loop, const struct http_incoming *incoming)
{
    loop->opened = false;
    if (MHD_add_connection(loop->daemon, incoming->fd, (const struct sockaddr *)&incoming->address,
                           incoming->address_length) != MHD_YES &&
        !loop->opened) { /* refused before it was opened, so nobody will say that it was closed */
        atomic_fetch_sub(&loop->n_connections, 1);
        atomic_fetch_sub(&loop->server->n_connections, 1);
    }
}

/* False where the other thread's inbox is full. */
static bool hand_over(struct http_loop *other, const struct http_incoming *incoming)
{
    pthread_mutex_lock(&other->lock);
    bool room = other->n_inbox < HTTP_INBOX_MAX;
    if (room) {
        other->inbox[other->n_inbox++] = *incoming;
        atomic_fetch_add(&other->n_connections, 1); /* counts from now on, not when it is taken */
    }
    pthread_mutex_unlock(&other->lock);
    if (room)
        http_loop_wake(other);
    return room;
}

static void place(struct http_loop *loop, const struct http_incoming *incoming)
{
    HttpServer *server = loop->server;
    struct http_loop *other = &server->loops[loop == &server->loops[0] ? 1 : 0];
    atomic_fetch_add(&server->n_connections, 1);
    if (atomic_load(&other->n_connections) < atomic_load(&loop->n_connections) &&
        hand_over(other, incoming))
        return;
    atomic_fetch_add(&loop->n_connections, 1);
    add_here(loop, incoming);
}

void http_accept_ready(struct http_loop *loop)
{
    HttpServer *server = loop->server;
    for (int i = 0; i < ACCEPT_MAX; i++) {
        struct http_incoming incoming = {.address_length = sizeof incoming.address};
        if (atomic_load(&server->n_connections) >= (long long)server->options.connections_max)
            return;
        incoming.fd = accept4(server->listen_fd, (struct sockaddr *)&incoming.address,
                              &incoming.address_length, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (incoming.fd >= 0) {
            place(loop, &incoming);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            http_server_log(server, "cannot accept a connection: %s", g_strerror(errno));
            loop->accept_again_us = g_get_monotonic_time() + ACCEPT_PAUSE_US;
        }
        if (errno != ECONNABORTED && errno != EINTR)
            return;
    }
}

void http_accept_inbox(struct http_loop *loop)
{
    struct http_incoming incoming;
    for (;;) {
        pthread_mutex_lock(&loop->lock);
        bool any = loop->n_inbox > 0;
        if (any)
            incoming = loop->inbox[--loop->n_inbox];
        pthread_mutex_unlock(&loop->lock);
        if (!any)
            return;
        add_here(loop, &incoming);
    }
}
