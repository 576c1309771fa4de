/* SPDX-License-Identifier: Apache-2.0
 * One HTTP exchange without a socket and without libmicrohttpd: exchange.c has functions of the
 * same names in its place, and calls the server's callbacks in libmicrohttpd's order, workers'
 * share included, on the caller's thread. For fuzz targets; one thread. */
#pragma once

#include "server/http/http.h"
#include "tests/fuzz/fuzz.h"

struct exchange {
    unsigned status; /* 0: the connection was closed without a queued answer */
    char *method;    /* as sent */
    char *path;
    GPtrArray *headers; /* of the answer: struct http_pair * */
    GString *body;      /* as sent: maybe compressed */
    bool is_broken;     /* the answer ended in its middle */
};

/* A server with its routes and nothing that runs, as one that listens on 127.0.0.1:8080.
 * `app_thread` is what http_request_thread gives. */
HttpServer *exchange_server_new(const struct http_options *options, void *app_thread);

/* `text`: a request line without the version ("GET /api?x=1"), header lines, an empty line, a body;
 * lines end with \n. The header Peer is the address it comes from (127.0.0.1 where it is none).
 * What was kept for later requests is forgotten before. */
void exchange_run(HttpServer *server, const char *text, size_t length, struct exchange *out);
void exchange_clear(struct exchange *exchange);

const char *exchange_header(const struct exchange *exchange, const char *name); /* or NULL */

/* What holds for every answer: a status that HTTP has, and not 500; the headers that each answer
 * has, none with a control character; a body that is what its type says: JSON, lines of it, CSV,
 * HTML or XML whose elements nest. */
void exchange_check(const struct exchange *exchange);
