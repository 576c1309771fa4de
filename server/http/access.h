/* SPDX-License-Identifier: Apache-2.0
 * Who may write. With a token: whoever sends it as `Authorization: Bearer`, or as the password of
 * `Basic` (any user), unless a page of another site makes a browser send it. Without one: only a
 * program on this machine that speaks to the server itself: it listens on loopback, the peer is
 * loopback, Host is a loopback name with the server's port (a page of another site that rebinds its
 * name to 127.0.0.1 sends its own), Origin is absent or the server's own, Sec-Fetch-Site does not
 * tell of another site, and no header tells of a proxy (behind one, everybody's peer is loopback).
 * Pure: facts in, a decision out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACCESS_DIGEST_BYTES 32

struct access_facts {
    const unsigned char *token_digest; /* SHA-256 of the token, or NULL where there is none */
    bool server_loopback, peer_loopback, proxied;
    uint16_t port;
    const char *authorization, *host, *origin, *fetch_site; /* headers, or NULL */
};

enum access_decision { ACCESS_GRANTED, ACCESS_UNAUTHORIZED, ACCESS_FORBIDDEN };

/* `*out_why` says what would be right, where it is not granted; a literal. */
enum access_decision access_decide(const struct access_facts *facts, const char **out_why);

void access_token_digest(const char *token, size_t length, unsigned char out[ACCESS_DIGEST_BYTES]);

/* True for "localhost", 127.0.0.0/8 and [::1], each with `:port` (or without it where the port is
 * 80). */
bool access_host_is_loopback(const char *host, uint16_t port);
