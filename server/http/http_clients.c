/* SPDX-License-Identifier: Apache-2.0
 * What one client may take of the server: requests a second (a bucket that holds some seconds'
 * worth), connections, uploads and their bytes at once. A client is whoever the request's
 * credential stands for, wherever it comes from, so that jobs behind one address do not take each
 * other's shares; who has none is its address (of IPv6 its /64, since one host has all of it).
 * Connections always are their address's. A credential is looked at before its share is known; that
 * costs about what the refusal would.
 *
 * Any thread; one lock, which is held for a look-up and a few additions. */
#include "server/http/http_internal.h"
#include <arpa/inet.h>

#define NAME_BYTES    (INET6_ADDRSTRLEN + 8)
#define PRINCIPAL_MAX 200

void http_clients_init(struct http_clients *clients, unsigned rate)
{
    pthread_mutex_init(&clients->lock, NULL);
    http_client_table_init(&clients->table, rate, g_get_monotonic_time());
}

void http_clients_clear(struct http_clients *clients)
{
    http_client_table_clear(&clients->table);
    pthread_mutex_destroy(&clients->lock);
}

/* ---- Names ---- */

/* "192.0.2.1", "2001:db8:1:2::/64". */
static void address_name(const char *address, char out[NAME_BYTES])
{
    struct in6_addr ipv6;
    char text[INET6_ADDRSTRLEN];
    if (inet_pton(AF_INET6, address, &ipv6) != 1) {
        g_strlcpy(out, address, NAME_BYTES);
        return;
    }
    memset(ipv6.s6_addr + 8, 0, 8);
    inet_ntop(AF_INET6, &ipv6, text, sizeof text);
    g_snprintf(out, NAME_BYTES, "%s/64", text);
}

/* ---- Connections ---- */

struct http_client *http_clients_connect(HttpServer *server, const struct sockaddr_storage *address,
                                         bool *out_refused)
{
    char name[NAME_BYTES], text[HTTP_ADDRESS_BYTES];
    const struct sockaddr *socket_address = (const struct sockaddr *)address;
    struct in6_addr peer;
    *out_refused = false;
    if ((!server->options.limit_loopback && http_listen_is_loopback(socket_address)) ||
        !http_peer_of_socket(socket_address, &peer) ||
        http_proxies_contain(server->options.proxies, &peer))
        return NULL;
    http_peer_print(&peer, text);
    address_name(text, name);
    struct http_client_table *table = &server->clients.table;
    pthread_mutex_lock(&server->clients.lock);
    struct http_client *client = http_client_table_get(table, name, g_get_monotonic_time());
    *out_refused = client->n_connections >= server->options.client_connections_max;
    if (!*out_refused) {
        client->n_connections++;
        http_client_table_pin(table, client);
    }
    pthread_mutex_unlock(&server->clients.lock);
    if (!*out_refused)
        return client;
    http_tally_refused(server, HTTP_REFUSED_CLIENT_CONNECTIONS);
    return NULL;
}

void http_clients_disconnect(HttpServer *server, struct http_client *client)
{
    if (!client)
        return;
    pthread_mutex_lock(&server->clients.lock);
    client->n_connections--;
    http_client_table_unpin(&server->clients.table, client);
    pthread_mutex_unlock(&server->clients.lock);
}

/* ---- Requests ---- */

static char *payer_name(const HttpRequest *request)
{
    char name[NAME_BYTES];
    if (request->principal)
        return g_strdup_printf("the owner of %.*s", PRINCIPAL_MAX, request->principal->key);
    address_name(http_request_client_address(request), name);
    return g_strdup(name);
}

bool http_clients_admit(HttpRequest *request, bool proxied)
{
    HttpServer *server = request->server;
    struct http_client_table *table = &server->clients.table;
    if (!server->options.limit_loopback && !proxied && request->connection->peer_loopback)
        return true;
    g_autofree char *name = payer_name(request);
    gint64 now_us = g_get_monotonic_time();
    pthread_mutex_lock(&server->clients.lock);
    struct http_client *client = http_client_table_get(table, name, now_us);
    unsigned wait_s = http_client_table_take(table, client, now_us);
    if (wait_s == 0) {
        request->payer = client;
        http_client_table_pin(table, client);
    }
    pthread_mutex_unlock(&server->clients.lock);
    if (wait_s == 0)
        return true;
    http_tally_refused(server, HTTP_REFUSED_CLIENT_RATE);
    request->retry_seconds = wait_s;
    http_respond_status(request, 429,
                        "%s sends more than %u requests a second, and its share of %u at once is "
                        "used up: try again in %u s",
                        client->link ? name : client->name, server->options.client_rate,
                        server->options.client_rate * HTTP_CLIENT_BURST_SECONDS, wait_s);
    return false;
}

bool http_clients_upload(HttpRequest *request)
{
    HttpServer *server = request->server;
    struct http_client *payer = request->payer;
    if (!payer)
        return true;
    pthread_mutex_lock(&server->clients.lock);
    bool has_room = payer->n_uploads < server->options.client_uploads_max;
    payer->n_uploads += has_room;
    request->pays_upload = has_room;
    pthread_mutex_unlock(&server->clients.lock);
    if (has_room)
        return true;
    http_tally_refused(server, HTTP_REFUSED_CLIENT_UPLOADS);
    http_respond_status(request, 429, "%s has %u uploads under way already: wait for one to end",
                        payer->name, server->options.client_uploads_max);
    return false;
}

/* One that has nothing else under way always has room, whatever the limit. */
bool http_clients_bytes(HttpRequest *request, gint64 more, GError **error)
{
    HttpServer *server = request->server;
    gint64 max = (gint64)server->options.client_bytes_max;
    struct http_client *payer = request->payer;
    if (!payer)
        return true;
    pthread_mutex_lock(&server->clients.lock);
    bool alone = payer->bytes <= (gint64)request->body.reserved_bytes;
    bool has_room = more <= 0 || alone || payer->bytes + more <= max;
    payer->bytes += has_room ? more : 0;
    pthread_mutex_unlock(&server->clients.lock);
    if (has_room)
        return true;
    http_tally_refused(server, HTTP_REFUSED_CLIENT_BYTES);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_LIMITED,
                "the uploads of %s that are under way hold as many bytes as one client's may "
                "(%" G_GINT64_FORMAT "): wait for one to end",
                payer->name, max);
    return false;
}

/* The body is done with. */
void http_clients_end_upload(HttpRequest *request)
{
    if (!request->pays_upload)
        return;
    pthread_mutex_lock(&request->server->clients.lock);
    request->payer->n_uploads--;
    pthread_mutex_unlock(&request->server->clients.lock);
    request->pays_upload = false;
}

void http_clients_leave(HttpRequest *request)
{
    http_clients_end_upload(request);
    if (!request->payer)
        return;
    pthread_mutex_lock(&request->server->clients.lock);
    http_client_table_unpin(&request->server->clients.table, request->payer);
    pthread_mutex_unlock(&request->server->clients.lock);
    request->payer = NULL;
}
