/* SPDX-License-Identifier: Apache-2.0
 * How the server is told what to do: options, before them the environment (BREAKEVEN_…), before
 * that a key file ([server] in GKeyFile's syntax), before that the defaults stated here. Prints
 * nothing. The main thread. */
#pragma once

#include "schema/error.h"
#include "server/access/oidc.h"
#include "server/http/http_peer.h"
#include <stdbool.h>
#include <stdint.h>

enum config_command {
    CONFIG_SERVE,
    CONFIG_MIGRATE,
    CONFIG_DEMO,
    CONFIG_BACKUP,
    CONFIG_RESTORE,
    CONFIG_CHECK,
    CONFIG_HELP,
    CONFIG_VERSION
};

/* Who reads without a token: whoever speaks to a server on loopback itself, everybody, nobody. */
enum config_private { CONFIG_PRIVATE_UNSAID, CONFIG_PRIVATE_OFF, CONFIG_PRIVATE_ON };

enum config_number {
    CONFIG_WORKERS,
    CONFIG_CONNECTIONS,
    CONFIG_BODY_BYTES,
    CONFIG_BODIES_BYTES,
    CONFIG_QUEUE_BYTES,
    CONFIG_REQUEST_SECONDS,
    CONFIG_IDLE_SECONDS,
    CONFIG_DRAIN_SECONDS,
    CONFIG_HEAD_SECONDS,
    CONFIG_UPLOADS,
    CONFIG_QUERY_MS,
    CONFIG_CLIENT_RATE,
    CONFIG_CLIENT_UPLOADS,
    CONFIG_CLIENT_BYTES,
    CONFIG_CLIENT_CONNECTIONS,
    CONFIG_AUDIT_ROWS,
    CONFIG_N_NUMBERS
};

typedef struct config {
    enum config_command command;
    char *listen_host;
    uint16_t listen_port;
    char *store;          /* of CONFIG_DEMO NULL: a temporary one */
    char *write_token;    /* what the file of --write-token-file holds; NULL without one */
    char **cors_origins;  /* NULL: none */
    HttpProxies *proxies; /* NULL: none */
    enum http_proxy_header proxy_header;
    char *tls_certificate, *tls_key; /* paths; both NULL: plain HTTP */
    Oidc *oidc;                      /* of the key file's groups [oidc NAME]; NULL: none */
    bool access_log, log_json, limit_loopback;
    char *file;    /* of CONFIG_BACKUP and CONFIG_RESTORE; else NULL */
    bool is_force; /* of those two: what is there may be replaced */
    enum config_private is_private;
    int64_t numbers[CONFIG_N_NUMBERS];
} Config;

/* ERROR_SYNTAX: a mistake of use, with a message of one line that says what would be right. */
Config *config_parse(int argc, char *const *argv, GError **error);
void config_free(Config *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Config, config_free)

/* What --help prints. */
char *config_help(void);
