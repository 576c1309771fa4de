/* SPDX-License-Identifier: Apache-2.0
 * The certificate and its key, which can be changed while connections live: each handshake takes
 * the pair that is there at its moment, and a pair outlives every handshake that may have begun
 * with it. The only file that knows GnuTLS. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>

#define HTTP_TLS_FILE_BYTES_MAX (1u << 20)
#define HTTP_TLS_CHAIN_MAX      16u /* certificates of a chain */
/* As GnuTLS writes them: TLS 1.2 and 1.3. */
#define HTTP_TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

typedef struct http_tls HttpTls;

/* PEM: the certificate with its chain, and its key without a password. ERROR_SYNTAX names the file,
 * what is wrong, and what would be right. */
HttpTls *http_tls_new(const char *certificate_path, const char *key_path, GError **error);
void http_tls_free(HttpTls *tls);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HttpTls, http_tls_free)

/* Reads both files again. False: the pair that was there stays. Any thread. */
bool http_tls_reload(HttpTls *tls, GError **error);
