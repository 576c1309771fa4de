/* SPDX-License-Identifier: Apache-2.0
 * See http_talk.h. */
#include "tests/bench/http_talk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define RECEIVE_BYTES    (256u << 10)
#define ANSWER_BYTES_MAX (64u << 20)

void http_talk_open(struct http_talk *talk, guint port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int at_once = 1;
    talk->host = g_strdup_printf(" HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n", port);
    talk->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    talk->received = g_string_sized_new(RECEIVE_BYTES);
    if (talk->socket < 0 ||
        connect(talk->socket, (struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(talk->socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once) != 0)
        g_error("cannot connect to port %u: %s", port, g_strerror(errno));
}

void http_talk_close(struct http_talk *talk)
{
    close(talk->socket);
    g_free(talk->host);
    g_string_free(talk->received, TRUE);
}

enum { LINE, HOST, HEADERS, END, BODY, PARTS };

static struct iovec part_of(const char *text, size_t length)
{
    return (struct iovec){(void *)(uintptr_t)text, length};
}

static void send_all(const struct http_talk *talk, const struct http_talk_request *request)
{
    struct iovec parts[PARTS] = {[LINE] = part_of(request->line, strlen(request->line)),
                                 [HOST] = part_of(talk->host, strlen(talk->host)),
                                 [HEADERS] = part_of(request->headers, strlen(request->headers)),
                                 [END] = part_of("\r\n", 2),
                                 [BODY] = part_of(request->body ? request->body->str : NULL,
                                                  request->body ? request->body->len : 0)};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = PARTS};
    size_t rest = 0;
    for (guint i = 0; i < PARTS; i++)
        rest += parts[i].iov_len;
    while (rest > 0) {
        ssize_t sent = sendmsg(talk->socket, &message, MSG_NOSIGNAL);
        if (sent < 0)
            g_error("cannot send: %s", g_strerror(errno));
        rest -= (size_t)sent;
        for (guint i = 0; i < PARTS; i++) {
            size_t step = MIN((size_t)sent, parts[i].iov_len);
            parts[i].iov_base = (char *)parts[i].iov_base + step;
            parts[i].iov_len -= step;
            sent -= (ssize_t)step;
        }
    }
}

static void receive_more(struct http_talk *talk)
{
    GString *received = talk->received;
    gsize before = received->len;
    if (before > ANSWER_BYTES_MAX)
        g_error("an answer of more than %u bytes", ANSWER_BYTES_MAX);
    g_string_set_size(received, before + RECEIVE_BYTES);
    ssize_t got = recv(talk->socket, received->str + before, RECEIVE_BYTES, 0);
    if (got <= 0)
        g_error("the server closed the connection: %s", got < 0 ? g_strerror(errno) : "");
    g_string_truncate(received, before + (gsize)got);
}

char *http_talk_header(const struct http_talk *talk, const char *name)
{
    g_autofree char *start = g_strdup_printf("\r\n%s:", name);
    g_autofree char *head = g_strndup(talk->received->str, talk->body_offset);
    g_autofree char *lower_head = g_ascii_strdown(head, -1);
    g_autofree char *lower_start = g_ascii_strdown(start, -1);
    const char *found = strstr(lower_head, lower_start);
    if (!found)
        return NULL;
    const char *value = head + (found - lower_head) + strlen(start);
    return g_strstrip(g_strndup(value, strcspn(value, "\r\n")));
}

/* The end of the whole answer; 0 while its head is not there. */
static gsize answer_end(struct http_talk *talk)
{
    if (talk->body_offset == 0) {
        const char *end = strstr(talk->received->str, "\r\n\r\n");
        if (!end)
            return 0;
        talk->body_offset = (gsize)(end - talk->received->str) + 4;
        talk->status = (guint)g_ascii_strtoull(talk->received->str + strlen("HTTP/1.1 "), NULL, 10);
    }
    if (talk->status == 304)
        return talk->body_offset;
    g_autofree char *length = http_talk_header(talk, "Content-Length");
    return talk->body_offset + (length ? (gsize)g_ascii_strtoull(length, NULL, 10) : 0);
}

void http_talk_exchange(struct http_talk *talk, const struct http_talk_request *request)
{
    g_string_truncate(talk->received, 0);
    talk->body_offset = 0;
    talk->status = 0;
    send_all(talk, request);
    gsize end = 0;
    do {
        receive_more(talk);
        end = answer_end(talk);
    } while (end == 0 || talk->received->len < end);
    if (talk->received->len > end)
        g_error("more was received than was asked for");
}

void http_talk_get(struct http_talk *talk, const char *target, const char *headers)
{
    g_autofree char *line = g_strconcat("GET ", target, NULL);
    http_talk_exchange(talk, &(struct http_talk_request){line, headers, NULL});
}

gsize http_talk_body_bytes(const struct http_talk *talk)
{
    return talk->received->len - talk->body_offset;
}

const char *http_talk_body(const struct http_talk *talk)
{
    return talk->received->str + talk->body_offset;
}
