/* SPDX-License-Identifier: Apache-2.0
 * How connections come to the two event threads. Both wait for the one listen socket, with
 * EPOLLEXCLUSIVE, so that a connection wakes one of them; who accepts it keeps it or hands it over,
 * whichever thread has fewer. (libmicrohttpd's own way, the socket in both of its epoll sets, would
 * wake both for each connection and let the faster one take them all.) Event threads. */
#include "server/http/http_internal.h"
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPT_MAX      64     /* at one event */
#define ACCEPT_PAUSE_US 100000 /* after the system had no room for a connection */
#define FULL_PAUSE_US   200000 /* after nobody could be asked to leave */

static bool house_is_full(HttpServer *server)
{
    return atomic_load(&server->n_connections) >= (long long)server->options.connections_max;
}

/* How many stand at the door: Linux tells a listening socket's queue in this field. */
static guint at_the_door(const HttpServer *server)
{
    struct pollfd door = {.fd = server->listen_fd, .events = POLLIN};
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    if (poll(&door, 1, 0) != 1)
        return 0;
    getsockopt(server->listen_fd, IPPROTO_TCP, TCP_INFO, &info, &length);
    return CLAMP(info.tcpi_unacked, 1u, ACCEPT_MAX);
}

/* The house is full and somebody is at the door: who has waited longest goes, and the next round
 * lets in. Where nobody of this thread can go the other one looks; and where nobody at all can, the
 * door stays shut for a moment, or until somebody leaves. */
static void make_way(struct http_loop *loop)
{
    HttpServer *server = loop->server;
    struct http_loop *other = &server->loops[loop == &server->loops[0] ? 1 : 0];
    guint wanted = at_the_door(server);
    if (wanted == 0 || http_connections_evict(loop, wanted) > 0)
        return;
    loop->full_until_us = g_get_monotonic_time() + FULL_PAUSE_US;
    if (!atomic_exchange(&other->look, true))
        http_loop_wake(other);
}

/* Listens where connections are wanted, and not where they are not; called before each wait. */
void http_accept_update(struct http_loop *loop)
{
    HttpServer *server = loop->server;
    gint64 now_us = g_get_monotonic_time();
    bool draining = atomic_load(&server->draining);
    bool paused =
        loop->accept_again_us > now_us || (house_is_full(server) && loop->full_until_us > now_us);
    bool wanted = !draining && !paused;
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

static void not_opened(struct http_loop *loop, const struct http_incoming *incoming)
{
    http_clients_disconnect(loop->server, incoming->client);
    atomic_fetch_sub(&loop->n_connections, 1);
    atomic_fetch_sub(&loop->server->n_connections, 1);
}

static void add_here(struct http_loop *loop, const struct http_incoming *incoming)
{
    loop->opened = false;
    loop->opening = incoming->client;
    if (MHD_add_connection(loop->daemon, incoming->fd, (const struct sockaddr *)&incoming->address,
                           incoming->address_length) != MHD_YES &&
        !loop->opened) /* refused before it was opened, so nobody will say that it was closed */
        not_opened(loop, incoming);
    loop->opening = NULL;
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

static void let_in(struct http_loop *loop, struct http_incoming *incoming)
{
    bool refused;
    incoming->client = http_clients_connect(loop->server, &incoming->address, &refused);
    if (refused)
        close(incoming->fd);
    else
        place(loop, incoming);
}

void http_accept_ready(struct http_loop *loop)
{
    HttpServer *server = loop->server;
    for (int i = 0; i < ACCEPT_MAX; i++) {
        struct http_incoming incoming = {.address_length = sizeof incoming.address};
        if (house_is_full(server)) {
            if (!atomic_load(&server->draining))
                make_way(loop);
            return;
        }
        incoming.fd = accept4(server->listen_fd, (struct sockaddr *)&incoming.address,
                              &incoming.address_length, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (incoming.fd >= 0) {
            let_in(loop, &incoming);
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
