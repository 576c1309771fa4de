/* SPDX-License-Identifier: Apache-2.0
 * The table of clients at its bound, with a clock of its own: it does not grow, whoever comes last
 * is counted all the same, and nobody is rid of a debt by coming under other names. */
#include "server/http/http_client_table.h"

#define SECOND G_USEC_PER_SEC

static struct http_client_table table;
static gint64 now_us;

static struct http_client *get(const char *kind, guint i)
{
    g_autofree char *name = g_strdup_printf("%s %u", kind, i);
    return http_client_table_get(&table, name, now_us);
}

static unsigned take(const char *kind, guint i)
{
    return http_client_table_take(&table, get(kind, i), now_us);
}

static void start(unsigned rate)
{
    now_us = 1000 * SECOND;
    http_client_table_init(&table, rate, now_us);
}

static void test_bucket(void)
{
    start(3);
    for (int i = 0; i < 3 * HTTP_CLIENT_BURST_SECONDS; i++)
        g_assert_cmpuint(take("a", 0), ==, 0);
    g_assert_cmpuint(take("a", 0), ==, 1);
    g_assert_cmpuint(take("b", 0), ==, 0);
    now_us += SECOND;
    for (int i = 0; i < 3; i++)
        g_assert_cmpuint(take("a", 0), ==, 0);
    g_assert_cmpuint(take("a", 0), ==, 1);
    now_us -= 10 * SECOND; /* two threads may read the clock in another order than they come */
    g_assert_cmpuint(take("a", 0), ==, 1);
    http_client_table_clear(&table);
}

static void test_debt_stays(void)
{
    start(1);
    for (int i = 0; i < HTTP_CLIENT_BURST_SECONDS; i++)
        g_assert_cmpuint(take("debtor", 0), ==, 0);
    for (guint i = 0; i < 3 * HTTP_CLIENTS_MAX; i++)
        take("other", i);
    g_assert_cmpuint(take("debtor", 0), ==, 1);
    /* Who owes nothing any more makes room, the least recently seen first. */
    now_us += HTTP_CLIENT_BURST_SECONDS * SECOND;
    for (guint i = 0; i < HTTP_CLIENTS_MAX / 2; i++)
        g_assert_nonnull(get("late", i)->link);
    g_assert_cmpuint(g_hash_table_size(table.by_name), ==, HTTP_CLIENTS_MAX);
    http_client_table_clear(&table);
}

/* All owe something: whoever comes now shares a place, and that has a bound, too. */
static void test_latest_is_counted(void)
{
    enum { COMERS = 4 * HTTP_CLIENTS_SHARED };
    guint n_places = 0;
    start(1);
    for (guint i = 0; i < HTTP_CLIENTS_MAX; i++)
        take("first", i);
    for (guint i = 0; i < COMERS; i++) {
        struct http_client *client = get("late", i);
        g_assert_null(client->link);
        g_assert_true(client == get("late", i));
        n_places += client->n_connections++ == 0;
    }
    g_assert_cmpuint(n_places, >, HTTP_CLIENTS_SHARED / 2);
    guint n_taken = 0;
    while (take("late", 0) == 0)
        n_taken++;
    g_assert_cmpuint(n_taken, ==, HTTP_CLIENT_BURST_SECONDS);
    g_assert_cmpuint(take("first", 7), ==, 0); /* who was there keeps what is theirs */
    g_assert_cmpuint(g_hash_table_size(table.by_name), ==, HTTP_CLIENTS_MAX);
    http_client_table_clear(&table);
}

/* What holds something stays where it is, and does not stand in the way of those who can go. */
static void test_holders_stay(void)
{
    enum { HOLDERS = HTTP_CLIENTS_MAX / 2 };
    struct http_client *holders[HOLDERS];
    start(1);
    for (guint i = 0; i < HOLDERS; i++) {
        holders[i] = get("holder", i);
        http_client_table_pin(&table, holders[i]);
        http_client_table_pin(&table, holders[i]);
        http_client_table_unpin(&table, holders[i]);
    }
    for (guint i = 0; i < 2 * HTTP_CLIENTS_MAX; i++)
        g_assert_nonnull(get("other", i)->link);
    for (guint i = 0; i < HOLDERS; i++) {
        g_assert_true(get("holder", i) == holders[i]);
        http_client_table_unpin(&table, holders[i]);
    }
    for (guint i = 0; i < 2 * HTTP_CLIENTS_MAX; i++)
        g_assert_nonnull(get("more", i)->link);
    g_assert_cmpuint(g_hash_table_size(table.by_name), ==, HTTP_CLIENTS_MAX);
    http_client_table_clear(&table);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http/client-table/bucket", test_bucket);
    g_test_add_func("/http/client-table/debt-stays", test_debt_stays);
    g_test_add_func("/http/client-table/latest-is-counted", test_latest_is_counted);
    g_test_add_func("/http/client-table/holders-stay", test_holders_stay);
    return g_test_run();
}
