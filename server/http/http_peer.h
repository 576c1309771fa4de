/* SPDX-License-Identifier: Apache-2.0
 * From where a request comes. A client's word for it is worth nothing; a proxy that the operator
 * has listed says in one header whom it speaks for, and each hop appended who stood before it. So
 * the header is read from its right end, as long as what it names is a listed proxy, too: the first
 * address that is not is the client's. Pure, but for the parsing of the list. */
#pragma once

#include "schema/error.h"
#include <netinet/in.h>
#include <stdbool.h>

#define HTTP_PROXIES_MAX   64u
#define HTTP_HOPS_MAX      32u /* of a header; what stands before them is not looked at */
#define HTTP_ADDRESS_BYTES INET6_ADDRSTRLEN

typedef struct http_proxies HttpProxies;

/* "10.0.0.7,192.168.0.0/16,2001:db8::/32": addresses and networks with commas. ERROR_SYNTAX
 * names the one that is none. */
HttpProxies *http_proxies_parse(const char *list, GError **error);
void http_proxies_free(HttpProxies *proxies);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HttpProxies, http_proxies_free)

/* An address in the one form in which they are compared: IPv6, with IPv4 mapped into it. */
bool http_peer_of_socket(const struct sockaddr *address, struct in6_addr *out);
bool http_proxies_contain(const HttpProxies *proxies, const struct in6_addr *address);

/* "127.0.0.1", "2001:db8::1". */
void http_peer_print(const struct in6_addr *address, char out[HTTP_ADDRESS_BYTES]);

/* Which of the two headers the proxies write. Only that one is read: the other one passes through
 * them as the client wrote it. */
enum http_proxy_header { HTTP_PROXY_X_FORWARDED_FOR, HTTP_PROXY_FORWARDED };

/* Moves `inout` from the listed proxy that it is to the client for whom `hops` (the header's value;
 * where it came several times, joined by commas in their order) says that it speaks. Where a hop
 * cannot be read, the proxy that told of it is as far as anything is known. */
void http_peer_behind(const HttpProxies *proxies, enum http_proxy_header header, const char *hops,
                      struct in6_addr *inout);
