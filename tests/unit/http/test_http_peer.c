/* SPDX-License-Identifier: Apache-2.0
 * Whose address a request has: lists of proxies, what they say, and what a client says in their
 * place. */
#include "server/http/http_peer.h"
#include <arpa/inet.h>
#include <string.h>

static struct in6_addr address(const char *text)
{
    struct sockaddr_in ipv4 = {.sin_family = AF_INET};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6};
    struct in6_addr out;
    if (inet_pton(AF_INET, text, &ipv4.sin_addr) == 1) {
        g_assert_true(http_peer_of_socket((const struct sockaddr *)&ipv4, &out));
        return out;
    }
    g_assert_cmpint(inet_pton(AF_INET6, text, &ipv6.sin6_addr), ==, 1);
    g_assert_true(http_peer_of_socket((const struct sockaddr *)&ipv6, &out));
    return out;
}

static void test_lists(void)
{
    static const struct {
        const char *list, *address;
        bool held;
    } cases[] = {
        {"10.0.0.7", "10.0.0.7", true},
        {"10.0.0.7", "10.0.0.8", false},
        {"10.0.0.7", "::ffff:10.0.0.7", true}, /* as a socket for both families tells it */
        {"192.168.0.0/16", "192.168.255.1", true},
        {"192.168.0.0/16", "192.169.0.1", false},
        {"10.1.2.128/25", "10.1.2.200", true},
        {"10.1.2.128/25", "10.1.2.100", false},
        {"0.0.0.0/0", "203.0.113.9", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"2001:db8::/32", "2001:db8:1::1", true},
        {"2001:db8::/32", "2001:db9::1", false},
        {"::1, 127.0.0.1", "127.0.0.1", true},
        {"::1, 127.0.0.1", "::1", true},
        {"::/0", "10.0.0.1", true},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(HttpProxies) proxies = http_proxies_parse(cases[i].list, &error);
        struct in6_addr one = address(cases[i].address);
        g_assert_no_error(error);
        g_test_message("%s in %s", cases[i].address, cases[i].list);
        g_assert_cmpint(http_proxies_contain(proxies, &one), ==, cases[i].held);
    }
    struct in6_addr any = address("10.0.0.7");
    g_assert_false(http_proxies_contain(NULL, &any));
}

static void test_bad_lists(void)
{
    static const char *const lists[] = {
        "",           "proxy.example", "10.0.0.7,", "10.0.0", "10.0.0.7/33",  "10.0.0.7/-1",
        "10.0.0.7/a", "10.0.0.7/",     "::1/129",   "[::1]",  "10.0.0.7/8/8", "10.0.0.256",
        "10.0.0.7:80"};
    for (gsize i = 0; i < G_N_ELEMENTS(lists); i++) {
        g_autoptr(GError) error = NULL;
        g_test_message("%s", lists[i]);
        g_assert_null(http_proxies_parse(lists[i], &error));
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX);
    }
    g_autoptr(GString) many = g_string_new("10.0.0.1");
    for (guint i = 0; i < HTTP_PROXIES_MAX; i++)
        g_string_append(many, ",10.0.0.1");
    g_assert_null(http_proxies_parse(many->str, NULL));
}

struct said {
    const char *peer, *hops, *client;
};

static void assert_said(enum http_proxy_header header, const struct said *cases, gsize n)
{
    g_autoptr(HttpProxies) proxies = http_proxies_parse("10.0.0.0/8,fd00::/8", NULL);
    for (gsize i = 0; i < n; i++) {
        struct in6_addr at = address(cases[i].peer);
        char text[HTTP_ADDRESS_BYTES];
        http_peer_behind(proxies, header, cases[i].hops, &at);
        http_peer_print(&at, text);
        g_test_message("%s says \"%s\"", cases[i].peer, cases[i].hops);
        g_assert_cmpstr(text, ==, cases[i].client);
    }
}

static void test_x_forwarded_for(void)
{
    static const struct said cases[] = {
        {"10.0.0.1", "192.0.2.1", "192.0.2.1"},
        {"10.0.0.1", "192.0.2.1:4711", "192.0.2.1"},
        {"10.0.0.1", "2001:db8::1", "2001:db8::1"},
        {"10.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"},
        {"10.0.0.1", "[2001:db8::1]", "2001:db8::1"},
        {"10.0.0.1", "::ffff:192.0.2.1", "192.0.2.1"},
        {"fd00::1", "192.0.2.1", "192.0.2.1"},
        /* what the client wrote stands left of what the proxy saw */
        {"10.0.0.1", "127.0.0.1, 192.0.2.1", "192.0.2.1"},
        {"10.0.0.1", "10.0.0.2, 192.0.2.1", "192.0.2.1"},
        {"10.0.0.1", "6.6.6.6, 192.0.2.1, 10.0.0.2", "192.0.2.1"},
        {"10.0.0.1", "6.6.6.6,192.0.2.1,10.0.0.2,10.0.0.3", "192.0.2.1"},
        {"10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"},
        /* a peer that is no listed proxy speaks for nobody */
        {"192.0.2.9", "6.6.6.6", "192.0.2.9"},
        {"127.0.0.1", "6.6.6.6", "127.0.0.1"},
        /* what cannot be read ends the way there */
        {"10.0.0.1", "", "10.0.0.1"},
        {"10.0.0.1", "unknown", "10.0.0.1"},
        {"10.0.0.1", "6.6.6.6, unknown, 10.0.0.2", "10.0.0.2"},
        {"10.0.0.1", "192.0.2.1,", "10.0.0.1"},
        {"10.0.0.1", "192.0.2.1 x", "10.0.0.1"},
        {"10.0.0.1", "192.0.2.1\n6.6.6.6", "10.0.0.1"},
        {"10.0.0.1", "[2001:db8::1", "10.0.0.1"},
        {"10.0.0.1", "[192.0.2.1]", "10.0.0.1"},
        {"10.0.0.1", "[2001:db8::1]x", "10.0.0.1"},
        {"10.0.0.1", "for=192.0.2.1", "10.0.0.1"},
    };
    assert_said(HTTP_PROXY_X_FORWARDED_FOR, cases, G_N_ELEMENTS(cases));
}

static void test_forwarded(void)
{
    static const struct said cases[] = {
        {"10.0.0.1", "for=192.0.2.1", "192.0.2.1"},
        {"10.0.0.1", "For=\"192.0.2.1:4711\";proto=https;by=10.0.0.1", "192.0.2.1"},
        {"10.0.0.1", "proto=https; for=\"[2001:db8::1]:4711\"", "2001:db8::1"},
        {"10.0.0.1", "for=6.6.6.6, for=192.0.2.1", "192.0.2.1"},
        {"10.0.0.1", "for=6.6.6.6, for=192.0.2.1, for=10.0.0.2", "192.0.2.1"},
        {"10.0.0.1", "for=_hidden", "10.0.0.1"},
        {"10.0.0.1", "for=unknown", "10.0.0.1"},
        {"10.0.0.1", "proto=https", "10.0.0.1"},
        {"10.0.0.1", "192.0.2.1", "10.0.0.1"},
        {"10.0.0.1", "for=\"6.6.6.6", "10.0.0.1"},
        {"10.0.0.1", "for=", "10.0.0.1"},
        {"192.0.2.9", "for=6.6.6.6", "192.0.2.9"},
    };
    assert_said(HTTP_PROXY_FORWARDED, cases, G_N_ELEMENTS(cases));
}

/* A long header costs no more than its last hops. */
static void test_many_hops(void)
{
    g_autoptr(HttpProxies) proxies = http_proxies_parse("10.0.0.0/8", NULL);
    g_autoptr(GString) hops = g_string_new("6.6.6.6");
    struct in6_addr at = address("10.0.0.1");
    char text[HTTP_ADDRESS_BYTES];
    for (guint i = 0; i < 20000; i++)
        g_string_append(hops, ",10.9.9.9");
    http_peer_behind(proxies, HTTP_PROXY_X_FORWARDED_FOR, hops->str, &at);
    http_peer_print(&at, text);
    g_assert_cmpstr(text, ==, "10.9.9.9");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http-peer/lists", test_lists);
    g_test_add_func("/http-peer/bad-lists", test_bad_lists);
    g_test_add_func("/http-peer/x-forwarded-for", test_x_forwarded_for);
    g_test_add_func("/http-peer/forwarded", test_forwarded);
    g_test_add_func("/http-peer/many-hops", test_many_hops);
    return g_test_run();
}
