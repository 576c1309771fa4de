/* SPDX-License-Identifier: Apache-2.0
 * The connections of an event thread, and their deadlines, which libmicrohttpd does not have: it
 * only knows how long a connection was silent, so that a byte now and then keeps one for ever.
 *
 * A connection waits (for a request, or for the rest of a request's head) or is busy with one.
 * Where the house is full and another client is at the door, those that have waited longest go:
 * clients that open connections and say nothing, or say it slowly, cannot keep others out. Event
 * threads, each its own. */
#include "server/http/http_internal.h"
#include <sys/socket.h>

#define GRACE_US 250000 /* in which a new connection may come to say what it wants */

static void list_add(struct http_connection_list *list, struct http_connection *connection)
{
    connection->list = list;
    connection->previous = NULL;
    connection->next = list->newest;
    if (list->newest)
        list->newest->previous = connection;
    else
        list->oldest = connection;
    list->newest = connection;
}

static void list_remove(struct http_connection *connection)
{
    struct http_connection_list *list = connection->list;
    if (connection->next)
        connection->next->previous = connection->previous;
    else
        list->oldest = connection->previous;
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        list->newest = connection->next;
}

static void connection_open(struct http_loop *loop, struct MHD_Connection *mhd, void **context)
{
    struct http_connection *connection = g_new0(struct http_connection, 1);
    connection->loop = loop;
    connection->since_us = g_get_monotonic_time();
    connection->fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    const struct sockaddr *peer =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
    connection->peer_is_proxy =
        http_peer_of_socket(peer, &connection->peer) &&
        http_proxies_contain(loop->server->options.proxies, &connection->peer);
    connection->peer_loopback = http_listen_is_loopback(peer) && !connection->peer_is_proxy;
    connection->client = g_steal_pointer(&loop->opening);
    list_add(&loop->waiting, connection);
    loop->opened = true;
    *context = connection;
}

static void connection_closed(struct http_loop *loop, struct http_connection *connection)
{
    if (connection->lingers)
        http_linger_begin(loop, connection->fd);
    list_remove(connection);
    http_clients_disconnect(loop->server, connection->client);
    if (connection->evicted)
        loop->n_evicting--;
    g_free(connection);
    atomic_fetch_sub(&loop->n_connections, 1);
    atomic_fetch_sub(&loop->server->n_connections, 1);
    loop->full_until_us = 0;
}

void http_connection_notify(void *data, struct MHD_Connection *mhd, void **context,
                            enum MHD_ConnectionNotificationCode code)
{
    struct http_loop *loop = data;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        connection_open(loop, mhd, context);
    } else {
        connection_closed(loop, *context);
        *context = NULL;
    }
}

void http_connection_busy(struct http_connection *connection)
{
    list_remove(connection);
    list_add(&connection->loop->busy, connection);
}

void http_connection_waits(struct http_connection *connection, gint64 now_us)
{
    connection->since_us = now_us;
    list_remove(connection);
    list_add(&connection->loop->waiting, connection);
}

/* ---- A full house ---- */

guint http_connections_evict(struct http_loop *loop, guint wanted)
{
    struct http_connection *at = loop->waiting.oldest;
    gint64 before_us = g_get_monotonic_time() - GRACE_US;
    guint n = loop->n_evicting;
    while (at && n < wanted && at->since_us < before_us) {
        struct http_connection *connection = at;
        at = at->previous;
        if (connection->evicted)
            continue;
        connection->evicted = true;
        loop->n_evicting++;
        n++;
        http_tally_refused(loop->server, HTTP_REFUSED_IDLE);
        shutdown(connection->fd, SHUT_RDWR); /* libmicrohttpd sees the end, and closes */
    }
    return n;
}

/* ---- Deadlines ---- */

static void request_is_late(struct http_connection *connection, unsigned seconds)
{
    HttpRequest *request = connection->request;
    http_tally_refused(request->server, HTTP_REFUSED_LATE);
    if (!request->answer.given)
        http_respond_status(request, 408, "the %s was not whole after %u seconds",
                            request->stage == HTTP_STAGE_HEAD ? "request's head" : "request",
                            seconds);
    http_refusal_send_raw(request);
    shutdown(connection->fd, SHUT_RDWR);
}

static void connection_scan(struct http_connection *connection, gint64 now_us)
{
    const struct http_options *options = &connection->loop->server->options;
    const HttpRequest *request = connection->request;
    gint64 head_us = (gint64)options->head_seconds_max * G_USEC_PER_SEC;
    gint64 request_us = (gint64)options->request_seconds_max * G_USEC_PER_SEC;
    gint64 idle_us = (gint64)options->idle_seconds_max * G_USEC_PER_SEC;
    if (!request) {
        if (now_us - connection->since_us > idle_us + head_us)
            shutdown(connection->fd, SHUT_RDWR);
    } else if (request->stage == HTTP_STAGE_HEAD) {
        if (now_us - request->started_us > head_us)
            request_is_late(connection, options->head_seconds_max);
    } else if (request->stage == HTTP_STAGE_BODY) {
        if (now_us - request->started_us > request_us)
            request_is_late(connection, options->request_seconds_max);
    } else if (request->stage == HTTP_STAGE_SEND) {
        if (now_us - request->answered_us > HTTP_SEND_FACTOR * request_us)
            shutdown(connection->fd, SHUT_RDWR);
    }
}

void http_connections_scan(struct http_loop *loop, gint64 now_us)
{
    for (struct http_connection *at = loop->waiting.newest; at; at = at->next)
        connection_scan(at, now_us);
    for (struct http_connection *at = loop->busy.newest; at; at = at->next)
        connection_scan(at, now_us);
}
