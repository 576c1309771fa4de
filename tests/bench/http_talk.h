/* SPDX-License-Identifier: Apache-2.0
 * A client of the server that costs next to nothing: one kept connection to a port of this machine,
 * requests whose bytes are ready, answers that have a Content-Length. For benchmarks only: whatever
 * is not as expected ends the program. One thread at a time. */
#pragma once

#include <glib.h>

struct http_talk_request {
    const char *line;    /* "GET /healthz" */
    const char *headers; /* each ended by \r\n, without Host */
    const GString *body; /* or NULL */
};

struct http_talk {
    int socket;
    char *host;        /* the end of the request line, and the header */
    GString *received; /* the last answer: head, then body */
    gsize body_offset;
    guint status;
};

void http_talk_open(struct http_talk *talk, guint port);
void http_talk_close(struct http_talk *talk);

/* Sends the request and reads the whole answer. */
void http_talk_exchange(struct http_talk *talk, const struct http_talk_request *request);
void http_talk_get(struct http_talk *talk, const char *target, const char *headers);

/* The bytes of the last answer's body; the NUL-terminated text of it. */
gsize http_talk_body_bytes(const struct http_talk *talk);
const char *http_talk_body(const struct http_talk *talk);
/* A header of the last answer, or NULL; the caller frees it. */
char *http_talk_header(const struct http_talk *talk, const char *name);
