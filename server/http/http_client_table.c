/* SPDX-License-Identifier: Apache-2.0
 * See http_client_table.h. Knows no request and no address; whoever calls holds the lock. */
#include "server/http/http_client_table.h"
#include <string.h>
#include <sys/random.h>

#define MICRO       ((gint64)G_USEC_PER_SEC) /* of a request in the bucket */
#define RETRY_S_MAX 60
#define LOOKS       64 /* for one that owes nothing, from the least recently seen on */

static gint64 bucket_max(const struct http_client_table *table)
{
    return (gint64)table->rate * HTTP_CLIENT_BURST_SECONDS * MICRO;
}

/* What the bucket holds now. */
static gint64 bucket_now(const struct http_client_table *table, const struct http_client *client,
                         gint64 now_us)
{
    gint64 passed_us = CLAMP(now_us - client->refilled_us, 0, HTTP_CLIENT_BURST_SECONDS * MICRO);
    return MIN(client->micro + passed_us * (gint64)table->rate, bucket_max(table));
}

static void client_free(gpointer item)
{
    struct http_client *client = item;
    g_free(client->name);
    g_list_free_1(client->link);
    g_free(client);
}

static char shared_name[] = "one of very many clients";

void http_client_table_init(struct http_client_table *table, unsigned rate, gint64 now_us)
{
    *table = (struct http_client_table){.rate = rate};
    table->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, client_free);
    g_queue_init(&table->order);
    for (guint i = 0; i < HTTP_CLIENTS_SHARED; i++)
        table->shared[i] = (struct http_client){
            .name = shared_name, .micro = bucket_max(table), .refilled_us = now_us};
    /* Without randomness the places can be aimed at, and are counted all the same. */
    (void)!getrandom(table->secret, sizeof table->secret, GRND_NONBLOCK);
}

void http_client_table_clear(struct http_client_table *table)
{
    while (g_queue_pop_head_link(&table->order))
        ; /* each link is its client's */
    g_hash_table_unref(table->by_name);
}

static bool make_room(struct http_client_table *table, gint64 now_us)
{
    GList *at = table->order.tail;
    for (int i = 0; at && i < LOOKS; i++, at = at->prev) {
        struct http_client *client = at->data;
        if (bucket_now(table, client, now_us) < bucket_max(table))
            continue;
        g_queue_unlink(&table->order, client->link);
        g_hash_table_remove(table->by_name, client->name);
        return true;
    }
    return false;
}

static struct http_client *shared_place(struct http_client_table *table, const char *name)
{
    guint8 digest[32];
    gsize length = sizeof digest;
    g_autoptr(GHmac) hmac = g_hmac_new(G_CHECKSUM_SHA256, table->secret, sizeof table->secret);
    g_hmac_update(hmac, (const guchar *)name, -1);
    g_hmac_get_digest(hmac, digest, &length);
    return &table->shared[(digest[0] | (guint)digest[1] << 8) % HTTP_CLIENTS_SHARED];
}

struct http_client *http_client_table_get(struct http_client_table *table, const char *name,
                                          gint64 now_us)
{
    struct http_client *client = g_hash_table_lookup(table->by_name, name);
    if (client) {
        if (client->n_pins == 0) {
            g_queue_unlink(&table->order, client->link);
            g_queue_push_head_link(&table->order, client->link);
        }
        return client;
    }
    if (g_hash_table_size(table->by_name) >= HTTP_CLIENTS_MAX && !make_room(table, now_us))
        return shared_place(table, name);
    client = g_new0(struct http_client, 1);
    client->name = g_strdup(name);
    client->micro = bucket_max(table);
    client->refilled_us = now_us;
    client->link = g_list_prepend(NULL, client);
    g_queue_push_head_link(&table->order, client->link);
    g_hash_table_insert(table->by_name, client->name, client);
    return client;
}

void http_client_table_pin(struct http_client_table *table, struct http_client *client)
{
    if (client->n_pins++ == 0 && client->link)
        g_queue_unlink(&table->order, client->link);
}

void http_client_table_unpin(struct http_client_table *table, struct http_client *client)
{
    if (--client->n_pins == 0 && client->link)
        g_queue_push_head_link(&table->order, client->link);
}

unsigned http_client_table_take(const struct http_client_table *table, struct http_client *client,
                                gint64 now_us)
{
    client->micro = bucket_now(table, client, now_us);
    client->refilled_us = now_us;
    gint64 missing = MICRO - client->micro, a_second = (gint64)table->rate * MICRO;
    if (missing > 0)
        return (unsigned)CLAMP((missing + a_second - 1) / a_second, 1, RETRY_S_MAX);
    client->micro -= MICRO;
    return 0;
}
