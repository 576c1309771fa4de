/* SPDX-License-Identifier: Apache-2.0
 * What one client may take of the server: requests a second (a bucket that holds some seconds'
 * worth), connections, uploads and their bytes at once. A client is an address (of IPv6 its /64,
 * since one host has all of it), and beside it whoever the request's token stands for: both must
 * have room. The table is bounded; the least recently seen that holds nothing goes first, and where
 * all hold something a further one is not counted: then the limits of the whole server hold.
 *
 * Any thread; one lock, which is held for a look-up and a few additions. */
#include "server/http/http_internal.h"
#include <arpa/inet.h>

#define CLIENTS_MAX   4096u
#define MICRO         INT64_C(1000000) /* of a request in the bucket */
#define NAME_BYTES    (INET6_ADDRSTRLEN + 8)
#define RETRY_S_MAX   60
#define PRINCIPAL_MAX 200

struct http_client {
    char *name;  /* its place in the table */
    GList *link; /* most recently seen first */
    guint n_pins;
    gint64 micro, refilled_us; /* what the bucket holds, and when that was so */
    guint n_connections, n_uploads;
    gint64 bytes;
};

void http_clients_init(struct http_clients *clients)
{
    pthread_mutex_init(&clients->lock, NULL);
    clients->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    g_queue_init(&clients->order);
}

static void client_free(gpointer item)
{
    struct http_client *client = item;
    g_free(client->name);
    g_free(client);
}

void http_clients_clear(struct http_clients *clients)
{
    g_hash_table_unref(clients->by_name);
    g_queue_clear_full(&clients->order, client_free);
    pthread_mutex_destroy(&clients->lock);
}

/* ---- The table, under its lock ---- */

static gint64 bucket_max(const HttpServer *server)
{
    return (gint64)server->options.client_rate * HTTP_CLIENT_BURST_SECONDS * MICRO;
}

/* Removes the least recently seen that holds nothing; looks at a few only. */
static bool make_room(struct http_clients *clients)
{
    enum { LOOKS = 64 };
    GList *at = clients->order.tail;
    for (int i = 0; at && i < LOOKS; i++, at = at->prev) {
        struct http_client *client = at->data;
        if (client->n_pins > 0)
            continue;
        g_hash_table_remove(clients->by_name, client->name);
        g_queue_delete_link(&clients->order, at);
        client_free(client);
        return true;
    }
    return false;
}

/* NULL where there is no room for another one. */
static struct http_client *client_of(HttpServer *server, const char *name)
{
    struct http_clients *clients = &server->clients;
    struct http_client *client = g_hash_table_lookup(clients->by_name, name);
    if (client) {
        g_queue_unlink(&clients->order, client->link);
        g_queue_push_head_link(&clients->order, client->link);
        return client;
    }
    if (g_hash_table_size(clients->by_name) >= CLIENTS_MAX && !make_room(clients))
        return NULL;
    client = g_new0(struct http_client, 1);
    client->name = g_strdup(name);
    client->micro = bucket_max(server);
    client->refilled_us = g_get_monotonic_time();
    g_queue_push_head(&clients->order, client);
    client->link = clients->order.head;
    g_hash_table_insert(clients->by_name, client->name, client);
    return client;
}

/* 0 where a request was taken from the bucket, else how many seconds until one is in it. */
static unsigned bucket_take(const HttpServer *server, struct http_client *client)
{
    gint64 now_us = g_get_monotonic_time(), rate = server->options.client_rate;
    gint64 gained = MIN(now_us - client->refilled_us, HTTP_CLIENT_BURST_SECONDS * MICRO) * rate;
    client->micro = MIN(client->micro + gained, bucket_max(server));
    client->refilled_us = now_us;
    if (client->micro < MICRO)
        return (unsigned)CLAMP((MICRO - client->micro) / rate / MICRO + 1, 1, RETRY_S_MAX);
    client->micro -= MICRO;
    return 0;
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
    pthread_mutex_lock(&server->clients.lock);
    struct http_client *client = client_of(server, name);
    if (client && client->n_connections >= server->options.client_connections_max) {
        *out_refused = true;
        client = NULL;
    } else if (client) {
        client->n_connections++;
        client->n_pins++;
    }
    pthread_mutex_unlock(&server->clients.lock);
    if (*out_refused)
        http_tally_refused(server, HTTP_REFUSED_CLIENT_CONNECTIONS);
    return client;
}

void http_clients_disconnect(HttpServer *server, struct http_client *client)
{
    if (!client)
        return;
    pthread_mutex_lock(&server->clients.lock);
    client->n_connections--;
    client->n_pins--;
    pthread_mutex_unlock(&server->clients.lock);
}

/* ---- Requests ---- */

/* Pins the client to the request. */
static bool admit(HttpRequest *request, const char *name)
{
    HttpServer *server = request->server;
    unsigned wait_s = 0;
    pthread_mutex_lock(&server->clients.lock);
    struct http_client *client = client_of(server, name);
    if (client && !(wait_s = bucket_take(server, client))) {
        request->payers[request->n_payers++] = client;
        client->n_pins++;
    }
    pthread_mutex_unlock(&server->clients.lock);
    if (wait_s == 0)
        return true;
    http_tally_refused(server, HTTP_REFUSED_CLIENT_RATE);
    request->retry_seconds = wait_s;
    http_respond_status(request, 429,
                        "%s sends more than %u requests a second, and its share of %u at once is "
                        "used up: try again in %u s",
                        name, server->options.client_rate,
                        server->options.client_rate * HTTP_CLIENT_BURST_SECONDS, wait_s);
    return false;
}

bool http_clients_admit_address(HttpRequest *request, bool proxied)
{
    char name[NAME_BYTES];
    request->exempt =
        !request->server->options.limit_loopback && !proxied && request->connection->peer_loopback;
    if (request->exempt)
        return true;
    address_name(http_request_client_address(request), name);
    return admit(request, name);
}

bool http_clients_admit_principal(HttpRequest *request, const char *principal)
{
    if (request->exempt || request->n_payers == HTTP_PAYERS_MAX)
        return true;
    g_autofree char *name = g_strdup_printf("the owner of %.*s", PRINCIPAL_MAX, principal);
    return admit(request, name);
}

/* Counts an upload for all payers, or for none. */
static const struct http_client *payers_take_upload(HttpRequest *request)
{
    unsigned max = request->server->options.client_uploads_max;
    for (guint i = 0; i < request->n_payers; i++)
        if (request->payers[i]->n_uploads >= max)
            return request->payers[i];
    for (guint i = 0; i < request->n_payers; i++)
        request->payers[i]->n_uploads++;
    request->pays_upload = true;
    return NULL;
}

bool http_clients_upload(HttpRequest *request)
{
    HttpServer *server = request->server;
    pthread_mutex_lock(&server->clients.lock);
    const struct http_client *over = payers_take_upload(request);
    g_autofree char *name = over ? g_strdup(over->name) : NULL;
    pthread_mutex_unlock(&server->clients.lock);
    if (!over)
        return true;
    http_tally_refused(server, HTTP_REFUSED_CLIENT_UPLOADS);
    http_respond_status(request, 429, "%s has %u uploads under way already: wait for one to end",
                        name, server->options.client_uploads_max);
    return false;
}

/* One that has nothing else under way always has room, whatever the limit. */
bool http_clients_bytes(HttpRequest *request, gint64 more, GError **error)
{
    HttpServer *server = request->server;
    gint64 max = (gint64)server->options.client_bytes_max;
    const struct http_client *over = NULL;
    pthread_mutex_lock(&server->clients.lock);
    for (guint i = 0; i < request->n_payers && more > 0 && !over; i++) {
        const struct http_client *payer = request->payers[i];
        bool alone = payer->bytes <= (gint64)request->body.reserved_bytes;
        over = !alone && payer->bytes + more > max ? payer : NULL;
    }
    for (guint i = 0; i < request->n_payers && !over; i++)
        request->payers[i]->bytes += more;
    g_autofree char *name = over ? g_strdup(over->name) : NULL;
    pthread_mutex_unlock(&server->clients.lock);
    if (!over)
        return true;
    http_tally_refused(server, HTTP_REFUSED_CLIENT_BYTES);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_LIMITED,
                "the uploads of %s that are under way hold as many bytes as one client's may "
                "(%" G_GINT64_FORMAT "): wait for one to end",
                name, max);
    return false;
}

/* The body is done with. */
void http_clients_end_upload(HttpRequest *request)
{
    if (!request->pays_upload)
        return;
    pthread_mutex_lock(&request->server->clients.lock);
    for (guint i = 0; i < request->n_payers; i++)
        request->payers[i]->n_uploads--;
    pthread_mutex_unlock(&request->server->clients.lock);
    request->pays_upload = false;
}

void http_clients_leave(HttpRequest *request)
{
    http_clients_end_upload(request);
    if (request->n_payers == 0)
        return;
    pthread_mutex_lock(&request->server->clients.lock);
    for (guint i = 0; i < request->n_payers; i++)
        request->payers[i]->n_pins--;
    pthread_mutex_unlock(&request->server->clients.lock);
    request->n_payers = 0;
}
