/* SPDX-License-Identifier: Apache-2.0
 * See http_tls.h. Reloads by the main thread, handshakes on the event threads; one lock. */
#include "server/http/http_tls.h"
#include "server/http/http_internal.h"
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

/* A handshake that takes longer than this has been closed by the deadlines of connections. */
#define RETIRED_US (2 * G_TIME_SPAN_HOUR)

struct pair {
    gnutls_pcert_st chain[HTTP_TLS_CHAIN_MAX];
    unsigned n_chain;
    gnutls_privkey_t key;
    gint64 retired_us;
    struct pair *older;
};

struct http_tls {
    char *certificate_path, *key_path;
    pthread_mutex_t lock;
    struct pair *pairs; /* the newest first; under the lock */
};

static void pair_free(struct pair *pair)
{
    for (unsigned i = 0; i < pair->n_chain; i++)
        gnutls_pcert_deinit(&pair->chain[i]);
    if (pair->key)
        gnutls_privkey_deinit(pair->key);
    g_free(pair);
}

static bool fail(GError **error, const char *path, const char *what, const char *why)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "%s: %s: %s", path, what, why);
    return false;
}

static bool file_read(const char *path, char **out, GError **error)
{
    struct stat facts;
    g_autoptr(GError) reason = NULL;
    if (stat(path, &facts) == 0 && facts.st_size > (off_t)HTTP_TLS_FILE_BYTES_MAX)
        return fail(error, path, "cannot be read", "it has over 1 MiB");
    return g_file_get_contents(path, out, NULL, &reason) ||
           fail(error, path, "cannot be read", reason->message);
}

static gnutls_datum_t datum_of(char *text)
{
    return (gnutls_datum_t){(unsigned char *)text, (unsigned)strlen(text)};
}

/* GnuTLS's own check that the two belong together. */
static int pair_check(const gnutls_datum_t *certificate, const gnutls_datum_t *key)
{
    gnutls_certificate_credentials_t credentials;
    int code = gnutls_certificate_allocate_credentials(&credentials);
    if (code < 0)
        return code;
    code = gnutls_certificate_set_x509_key_mem(credentials, certificate, key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    return code;
}

static bool pair_fill(struct pair *pair, const HttpTls *tls, const gnutls_datum_t *certificate,
                      const gnutls_datum_t *key, GError **error)
{
    unsigned n = HTTP_TLS_CHAIN_MAX;
    int code = gnutls_pcert_list_import_x509_raw(pair->chain, &n, certificate, GNUTLS_X509_FMT_PEM,
                                                 GNUTLS_X509_CRT_LIST_SORT);
    if (code < 0)
        return fail(error, tls->certificate_path,
                    "holds no certificate in PEM (the server's own first, then its chain)",
                    gnutls_strerror(code));
    pair->n_chain = n;
    code = gnutls_privkey_init(&pair->key);
    if (code >= 0)
        code = gnutls_privkey_import_x509_raw(pair->key, key, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code < 0)
        return fail(error, tls->key_path, "holds no private key in PEM without a password",
                    gnutls_strerror(code));
    code = pair_check(certificate, key);
    return code >= 0 ||
           fail(error, tls->key_path, "is not the key of the certificate", gnutls_strerror(code));
}

static struct pair *pair_read(const HttpTls *tls, GError **error)
{
    g_autofree char *certificate = NULL;
    g_autofree char *key = NULL;
    struct pair *pair = g_new0(struct pair, 1);
    bool ok = file_read(tls->certificate_path, &certificate, error) &&
              file_read(tls->key_path, &key, error);
    if (ok) {
        gnutls_datum_t certificate_datum = datum_of(certificate), key_datum = datum_of(key);
        ok = pair_fill(pair, tls, &certificate_datum, &key_datum, error);
        explicit_bzero(key, strlen(key));
    }
    if (ok)
        return pair;
    pair_free(pair);
    return NULL;
}

/* Under the lock. */
static void retired_drop(struct http_tls *tls, gint64 now_us)
{
    for (struct pair **at = &tls->pairs; *at;) {
        struct pair *pair = *at;
        if (pair->retired_us == 0 || now_us - pair->retired_us < RETIRED_US) {
            at = &pair->older;
            continue;
        }
        *at = pair->older;
        pair_free(pair);
    }
}

bool http_tls_reload(HttpTls *tls, GError **error)
{
    struct pair *pair = pair_read(tls, error);
    gint64 now_us = g_get_monotonic_time();
    if (!pair)
        return false;
    pthread_mutex_lock(&tls->lock);
    if (tls->pairs)
        tls->pairs->retired_us = now_us;
    pair->older = tls->pairs;
    tls->pairs = pair;
    retired_drop(tls, now_us);
    pthread_mutex_unlock(&tls->lock);
    return true;
}

HttpTls *http_tls_new(const char *certificate_path, const char *key_path, GError **error)
{
    g_autoptr(HttpTls) tls = g_new0(HttpTls, 1);
    pthread_mutex_init(&tls->lock, NULL);
    tls->certificate_path = g_strdup(certificate_path);
    tls->key_path = g_strdup(key_path);
    return http_tls_reload(tls, error) ? g_steal_pointer(&tls) : NULL;
}

void http_tls_free(HttpTls *tls)
{
    if (!tls)
        return;
    while (tls->pairs) {
        struct pair *pair = tls->pairs;
        tls->pairs = pair->older;
        pair_free(pair);
    }
    pthread_mutex_destroy(&tls->lock);
    g_free(tls->certificate_path);
    g_free(tls->key_path);
    g_free(tls);
}

/* ---- Handshakes ---- */

/* libmicrohttpd hands the callback nothing of ours; a handshake runs on its connection's event
 * thread. */
static _Thread_local HttpTls *of_this_thread;

void http_tls_use(HttpTls *tls)
{
    of_this_thread = tls;
}

/* NOLINTNEXTLINE(readability-function-size): GnuTLS calls it with these */
static int pair_retrieve(gnutls_session_t session, const gnutls_datum_t *authorities,
                         int n_authorities, const gnutls_pk_algorithm_t *algorithms,
                         int n_algorithms, gnutls_pcert_st **out_chain, unsigned *out_n_chain,
                         gnutls_privkey_t *out_key)
{
    HttpTls *tls = of_this_thread;
    (void)session, (void)authorities, (void)n_authorities, (void)algorithms, (void)n_algorithms;
    if (!tls)
        return -1;
    pthread_mutex_lock(&tls->lock);
    struct pair *pair = tls->pairs;
    pthread_mutex_unlock(&tls->lock);
    *out_chain = pair->chain;
    *out_n_chain = pair->n_chain;
    *out_key = pair->key;
    return 0;
}

gnutls_certificate_retrieve_function2 *http_tls_callback(void)
{
    return pair_retrieve;
}

void http_tls_send(gnutls_session_t session, const char *bytes, size_t length)
{
    for (size_t sent = 0; sent < length;) {
        ssize_t n = gnutls_record_send(session, bytes + sent, length - sent);
        if (n == GNUTLS_E_INTERRUPTED)
            continue;
        if (n <= 0)
            return;
        sent += (size_t)n;
    }
}
