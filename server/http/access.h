/* SPDX-License-Identifier: Apache-2.0
 * Who may do what a route needs. A principal (a token's, a session's, a CI job's) needs the route's
 * scope; one whom a browser speaks for by itself (a session, Basic) must write from a page of this
 * server's own. Reading is open where `reads_open` says so. While no token exists, a program on
 * this machine that speaks to the server itself may all: it listens on loopback, the peer is
 * loopback, Host is a loopback name with the server's port (a page of another site that rebinds its
 * name to 127.0.0.1 sends its own), Origin is absent or the server's own, Sec-Fetch-Site does not
 * tell of another site, and no header tells of a proxy (behind one, everybody's peer is loopback).
 * Pure: facts in, a decision out. */
#pragma once

#include "server/http/http.h"

struct access_facts {
    enum http_access needs;
    bool writes;                /* the method is none of GET and HEAD */
    bool reads_open;            /* to everybody */
    const Principal *principal; /* or NULL */
    bool is_ambient;            /* the credential is one that a browser sends by itself */
    const char *refused;        /* why the credential that was sent is none, or NULL */
    bool tokens_exist;
    bool server_loopback, peer_loopback, proxied, is_https;
    uint16_t port;
    const char *host, *origin, *fetch_site; /* headers, or NULL */
};

enum access_decision { ACCESS_GRANTED, ACCESS_UNAUTHORIZED, ACCESS_FORBIDDEN };

/* `*out_why` says what would be right, where it is not granted; a literal, or facts->refused. */
enum access_decision access_decide(const struct access_facts *facts, const char **out_why);

/* Whether a page of this server's own, or no page at all, sends it. */
bool access_page_is_own(const struct access_facts *facts);

/* The rest of `Authorization` after the scheme "Bearer", or the password of "Basic" (then
 * *out_is_basic). NULL: neither. The caller frees it. */
char *access_credential(const char *authorization, bool *out_is_basic);

/* True for "localhost", 127.0.0.0/8 and [::1], each with `:port` (or without it where the port is
 * 80). */
bool access_host_is_loopback(const char *host, uint16_t port);
