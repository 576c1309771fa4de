/* SPDX-License-Identifier: Apache-2.0
 * Opens the one listen socket. Without SO_REUSEPORT, so that a port that another program listens on
 * is an error. Runs at the start. */
#include "server/http/http_internal.h"
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define LISTEN_BACKLOG 1024

bool http_listen_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in ipv4;
        memcpy(&ipv4, address, sizeof ipv4);
        return ntohl(ipv4.sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 ipv6;
        memcpy(&ipv6, address, sizeof ipv6);
        return IN6_IS_ADDR_LOOPBACK(&ipv6.sin6_addr) ||
               (IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr) && ipv6.sin6_addr.s6_addr[12] == 127);
    }
    return false;
}

static uint16_t bound_port(int fd)
{
    struct sockaddr_storage address = {0};
    struct sockaddr_in ipv4;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        return 0;
    memcpy(&ipv4, &address, sizeof ipv4); /* the port is at the same place in both families */
    return ntohs(ipv4.sin_port);
}

static int open_at(const struct addrinfo *info)
{
    const int on = 1;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    /* On Linux this lets a restart bind while old connections are in TIME_WAIT; it does not let two
     * programs listen. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, LISTEN_BACKLOG) == 0)
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

int http_listen_open(const char *host, uint16_t port, uint16_t *out_port, bool *out_loopback,
                     GError **error)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
    bool ipv6 = strchr(host, ':') != NULL;
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    int answer = getaddrinfo(host, service, &hints, &found);
    if (answer != 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "cannot listen on \"%s\": %s; an address of this machine would be right", host,
                    gai_strerror(answer));
        return -1;
    }
    int fd = open_at(found);
    if (fd < 0)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "cannot listen on %s%s%s:%u: %s%s",
                    ipv6 ? "[" : "", host, ipv6 ? "]" : "", port, g_strerror(errno),
                    errno == EADDRINUSE ? "; another program does: stop it, or choose another port"
                                        : "");
    *out_loopback = http_listen_is_loopback(found->ai_addr);
    freeaddrinfo(found);
    *out_port = fd < 0 ? 0 : bound_port(fd);
    return fd;
}
