/* SPDX-License-Identifier: Apache-2.0
 * What the files of server/http share and nobody else may see. It says which thread may touch which
 * field.
 *
 * One exchange: http_exchange.c (libmicrohttpd's callbacks) makes an HttpRequest at the request
 * line, checks it at the end of the headers, collects the body (http_body.c), runs the handler here
 * or on a worker (http_workers.c), and queues what http_response.c prepared. */
#pragma once

#include "schema/digest.h"
#include "server/http/http.h"
#include "server/http/http_client_table.h"
#include "server/http/http_router.h"
#include "server/http/http_tls.h"
#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#define HTTP_LOOPS       2
#define HTTP_WORKERS_MAX 64u
#define HTTP_QUEUE_MAX   4096u /* requests that wait for a worker; beyond it 503 */
#define HTTP_INBOX_MAX   256u  /* sockets handed from one event thread to the other at once */
#define HTTP_LINGER_MAX                                                                            \
    64u /* sockets of an event thread that are read to the end after an early refusal */

/* What an event of a loop's epoll set is about: the index of a lingering socket, or one of these.
 */
#define HTTP_EVENT_LISTEN 1000u
#define HTTP_EVENT_WAKE   1001u
#define HTTP_EVENT_DAEMON 1002u

#define HTTP_RETRY_SECONDS        2
#define HTTP_RETRY_COSTLY_SECONDS 60 /* the same question again would cost the same */
/* With more uploads than this under way, their handlers leave the event threads to connections and
 * quick requests, and go to the workers. */
#define HTTP_UPLOADS_QUICK 8
#define HTTP_DISCARD_BYTES                                                                         \
    (64u << 10) /* a refused request's body up to this is read, and its connection kept */
#define HTTP_GZIP_MIN_BYTES 1024u

/* A socket that libmicrohttpd has closed while its client was still sending: read to the end, so
 * that the client sees the answer instead of a reset. */
struct http_linger {
    int fd; /* -1: free */
    gint64 deadline_us;
    gint64 bytes_left;
};

struct http_incoming {
    int fd;
    struct http_client *client; /* whose connections it counts among, or NULL */
    struct sockaddr_storage address;
    socklen_t address_length;
};

/* A connection: touched by its event thread only. */
struct http_connection {
    struct http_loop *loop;
    struct http_connection_list *list;       /* of its loop: where it is */
    struct http_connection *previous, *next; /* newer, older */
    HttpRequest *request;                    /* in progress, or NULL */
    struct http_client *client;              /* whose connections it counts among, or NULL */
    gint64 since_us;                         /* when it was opened, or its last exchange ended */
    int fd;
    bool lingers, evicted;
    bool peer_loopback; /* of itself: a listed proxy is not, since anybody may stand behind it */
    bool peer_is_proxy;
    struct in6_addr peer;
};

/* By since_us. */
struct http_connection_list {
    struct http_connection *newest, *oldest;
};

/* One event thread. */
struct http_loop {
    HttpServer *server;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    bool started;
    int epoll_fd, wake_fd, daemon_epoll_fd;
    void *app_thread;
    atomic_int n_connections;
    atomic_bool deaf; /* has stopped listening for good */
    atomic_bool look; /* the other one found the house full of its own that cannot go */
    /* its own */
    bool listening, opened;
    gint64 accept_again_us, scanned_us;
    gint64 full_until_us; /* the house is full, and nobody in it can go: look again then */
    struct http_connection_list waiting; /* without a request, or its head is not whole */
    struct http_connection_list busy;
    guint n_evicting;            /* of the waiting: closed by us, and not yet gone */
    struct http_client *opening; /* of the connection that is being opened */
    struct http_linger lingers[HTTP_LINGER_MAX];
    /* shared with the other one, under `lock` */
    pthread_mutex_t lock;
    struct http_incoming inbox[HTTP_INBOX_MAX];
    guint n_inbox;
};

/* Requests that wait for a worker. */
enum http_worker_kind { HTTP_WORKER_READS, HTTP_WORKER_UPLOADS, HTTP_WORKER_QUEUES };
struct http_worker_queue {
    HttpRequest *head, *tail;
};

struct http_workers {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct http_worker_queue queues[HTTP_WORKER_QUEUES];
    guint n_waiting, n_uploading;
    guint n_taken; /* of the reads, since an upload was taken */
    bool stop;
    unsigned n_threads;
    pthread_t threads[HTTP_WORKERS_MAX];
    void *app_threads[HTTP_WORKERS_MAX];
    unsigned n_started;
    HttpServer *server;
};

/* See http_once.c. Under `lock`. */
struct http_once {
    pthread_mutex_t lock;
    GHashTable *by_name; /* struct http_kept * */
    GQueue order;        /* the same, oldest first */
    size_t bytes;
};

/* See http_answers.c. Under `lock`. */
struct http_answers {
    pthread_mutex_t lock;
    GHashTable *by_tag; /* struct http_kept_bytes * */
    GQueue order;       /* the same, most recently used first */
    size_t bytes;
};

/* See http_clients.c. Under `lock`. */
struct http_clients {
    pthread_mutex_t lock;
    struct http_client_table table;
};

struct http_server {
    struct http_options options; /* its strings are copies */
    HttpRouter *router;
    GStrv cors_origins; /* or NULL */
    bool has_token, loopback;
    char form_token[2 * DIGEST_BYTES + 1]; /* of forms of those without a session */
    unsigned char token_digest[DIGEST_BYTES];
    int listen_fd;
    uint16_t port;
    char id_prefix[12];
    struct http_loop loops[HTTP_LOOPS];
    struct http_workers workers;
    struct http_once once;
    struct http_answers answers;
    struct http_clients clients;
    atomic_ullong next_id;
    atomic_bool draining; /* no new connections, answers close theirs */
    atomic_bool stop;     /* event threads end when nothing is in flight */
    atomic_llong n_connections, n_requests, bodies_bytes, n_uploads;
    /* requests whose handlers run, here or on a worker, or that are deferred */
    pthread_mutex_t busy_lock;
    pthread_cond_t busy_none;
    guint n_busy;
    bool refuse_busy; /* set by stop: from then on no handler begins */
    /* counters: http_tally.c */
    atomic_llong total_requests, by_class[6], bytes_sent;
    atomic_llong refused[HTTP_REFUSALS], errors[ERROR_KINDS];
    struct latency latencies[HTTP_CLASSES];
};

enum http_stage { HTTP_STAGE_HEAD, HTTP_STAGE_BODY, HTTP_STAGE_RUN, HTTP_STAGE_SEND };
/* What has happened to a request since its handler began; bits, so that deferring and finishing may
 * come in either order. */
enum http_phase { HTTP_PHASE_DEFERRED = 1, HTTP_PHASE_FINISHED = 2 };
enum http_coding { HTTP_CODING_IDENTITY, HTTP_CODING_GZIP, HTTP_CODING_BROTLI };

struct http_body {
    char *bytes; /* NUL-terminated beyond its length; NULL: none */
    size_t length, capacity;
    size_t reserved_bytes; /* of the server's budget */
    enum http_coding coding;
};

/* See http_pieces.c. */
struct http_stream {
    struct http_pieces pieces;
    GString *piece;
    size_t taken;         /* of the piece */
    enum http_piece last; /* what making the piece gave */
};

struct http_answer {
    bool given;
    unsigned status;
    char *content_type;         /* NULL: no body */
    char *bytes;                /* owned, unless is_static */
    size_t length;              /* of a stream: so far */
    struct http_stream *stream; /* NULL: the body is whole, in bytes */
    bool is_static;
    enum http_coding coding; /* of the bytes */
    bool is_kept;            /* it may be given again: http_answers.c */
    GBytes *shared;          /* what holds `bytes`, where is_static is for it; or NULL */
    GPtrArray *headers;      /* struct http_pair * */
    char *etag;              /* without quotes and suffix */
    char *embed_policy; /* where other origins may show it: its Content-Security-Policy; or NULL */
};

struct http_request {
    atomic_uint references; /* the event thread's, and a worker's while it runs the handler */
    HttpServer *server;
    struct http_connection *connection;
    struct MHD_Connection *mhd;
    char id[32];
    char client[HTTP_ADDRESS_BYTES];
    bool is_https;
    gint64 started_us, answered_us;
    char *method, *path, *query;
    HttpMatch *match; /* the route and its segments, or NULL */
    GPtrArray *pairs;
    struct http_body body;
    struct http_answer answer;
    struct http_client *payer; /* whose share it takes of; NULL: it comes from this machine */
    bool pays_upload;          /* counts among the uploads of its payer */
    bool is_upload;            /* … and among the server's */
    unsigned retry_seconds;    /* of Retry-After; 0: HTTP_RETRY_SECONDS */
    Principal *principal;      /* or NULL; of the event thread until the handler begins */
    char *principal_refused;   /* why the credential that was sent is none; or NULL */
    GError *principal_fault;   /* why it could not be found out; or NULL */
    bool is_ambient;           /* a browser sends that credential by itself */
    bool reads_open;           /* everybody may read this */
    bool tokens_exist;         /* where it was asked */
    bool is_write;             /* of which the log of writes is to tell */
    bool is_begun;             /* that log knows of it: its handler began */
    char form_token[2 * DIGEST_BYTES + 1]; /* of a session; else empty */
    char *note_project, *note_detail;      /* for the log of writes; or NULL */
    bool *out_overtaken; /* see http_workers_handle; NULL: it is not to be handled again */
    char *kept_name;     /* the answer is to be kept under it; NULL: it is not, or it was */
    void *app_thread;
    enum http_stage stage; /* event thread */
    bool misframed;        /* event thread: where its body ends cannot be known */
    bool suspended;        /* libmicrohttpd waits for its resumption */
    atomic_uint phase;     /* enum http_phase bits */
    HttpRequest *next;     /* in the workers' queue */
};

/* http_request.c */
HttpRequest *http_request_new(struct http_connection *connection, struct MHD_Connection *mhd,
                              const char *target);
void http_request_ref(HttpRequest *request);
void http_request_unref(HttpRequest *request);
void http_pair_free(struct http_pair *pair);
GPtrArray *http_pairs_copy(const GPtrArray *pairs); /* http_query.c */

/* http_origin.c: at the end of the headers, what a listed proxy says of the client. */
void http_request_locate(HttpRequest *request);

/* http_exchange.c: libmicrohttpd's callbacks. */
void *http_exchange_target(void *loop, const char *target, struct MHD_Connection *mhd);
enum MHD_Result http_exchange_access(void *loop, struct MHD_Connection *mhd, const char *url,
                                     const char *method, const char *version, const char *upload,
                                     size_t *upload_size, void **state);
void http_exchange_completed(void *loop, struct MHD_Connection *mhd, void **state,
                             enum MHD_RequestTerminationCode code);

/* http_refusal.c: what can be said against a request before its handler runs. */
bool http_refusal_at_head(HttpRequest *request); /* true: answered; the body need not be read */
/* Sends the answer without libmicrohttpd, which takes none in the middle of a head or body. The
 * connection must be closed then. */
void http_refusal_send_raw(HttpRequest *request);

/* http_principal.c: who sends it, and whether they may. */
void http_principal_find(HttpRequest *request, bool proxied);
bool http_principal_refuses(HttpRequest *request, bool proxied); /* true: answered */
bool http_principal_owns_form(HttpRequest *request);             /* false: answered */
void http_principal_clear(HttpRequest *request);
/* What makes an answer of this type another one than for others; appended to `out`. */
void http_principal_vary(const HttpRequest *request, const char *content_type, GString *out);
bool http_principal_is_private(
    const HttpRequest *request); /* no shared cache may keep the answer */
/* Tells the log of writes: before the handler, and at the end. */
void http_principal_audit(HttpRequest *request, bool is_end);

/* http_loop.c */
bool http_loop_open(struct http_loop *loop, GError **error);
/* Once all loops are open, since each may hand connections to the other. */
bool http_loop_start(struct http_loop *loop, GError **error);
void http_loop_wake(struct http_loop *loop);
void http_loop_stop(
    struct http_loop *loop); /* joins its thread, stops its daemon, frees what it holds */

/* http_accept.c: an event thread's share of the listen socket. */
void http_accept_update(struct http_loop *loop);
void http_accept_ready(struct http_loop *loop);
void http_accept_inbox(struct http_loop *loop);

/* http_linger.c */
void http_linger_init(struct http_loop *loop);
void http_linger_begin(struct http_loop *loop, int fd);
void http_linger_ready(struct http_loop *loop, guint index);
void http_linger_scan(struct http_loop *loop, gint64 now_us);
void http_linger_clear(struct http_loop *loop);

/* http_listen.c */
int http_listen_open(const char *host, uint16_t port, uint16_t *out_port, bool *out_loopback,
                     GError **error);
bool http_listen_is_loopback(const struct sockaddr *address);

/* http_tls.c */
void http_tls_use(HttpTls *tls); /* on an event thread: whose pair its handshakes take; or NULL */
gnutls_certificate_retrieve_function2 *http_tls_callback(void);
/* What can be sent of the bytes at once. */
void http_tls_send(gnutls_session_t session, const char *bytes, size_t length);

/* http_workers.c */
bool http_workers_start(struct http_workers *workers, HttpServer *server, GError **error);
bool http_workers_push(struct http_workers *workers,
                       HttpRequest *request); /* false: the queue is full */
guint http_workers_waiting(struct http_workers *workers);
void http_workers_stop(struct http_workers *workers);
void http_workers_handle(HttpRequest *request,
                         void *app_thread);     /* decodes the body, runs the handler */
void http_workers_resume(HttpRequest *request); /* the request is the event thread's again */

/* http_body.c */
bool http_body_reserve(HttpRequest *request, size_t bytes, GError **error);
void http_body_release(HttpRequest *request, size_t bytes);
bool http_body_append(HttpRequest *request, const char *bytes, size_t length, GError **error);
void http_body_clear(HttpRequest *request);
void http_body_end_upload(HttpRequest *request); /* it counts among those under way no longer */

/* http_connections.c */
void http_connection_notify(void *loop, struct MHD_Connection *mhd, void **context,
                            enum MHD_ConnectionNotificationCode code);
void http_connection_busy(struct http_connection *connection); /* its request's head is whole */
void http_connection_waits(struct http_connection *connection, gint64 now_us);
/* Closes those that have waited longest, until `wanted` are on their way out; how many are. */
guint http_connections_evict(struct http_loop *loop, guint wanted);
void http_connections_scan(struct http_loop *loop, gint64 now_us); /* deadlines */

/* http_clients.c. What returns false has answered the request, with 429. */
void http_clients_init(struct http_clients *clients, unsigned rate);
void http_clients_clear(struct http_clients *clients);
/* Counts a connection of the address; NULL: it is not counted, or refused and to be closed. */
struct http_client *http_clients_connect(HttpServer *server, const struct sockaddr_storage *address,
                                         bool *out_refused);
void http_clients_disconnect(HttpServer *server, struct http_client *client); /* takes NULL */
bool http_clients_admit(HttpRequest *request, bool proxied); /* once, when who sends it is known */
bool http_clients_upload(HttpRequest *request);              /* one begins */
/* More or, below 0, fewer bytes of its body are held; ERROR_LIMITED. */
bool http_clients_bytes(HttpRequest *request, gint64 more, GError **error);
void http_clients_end_upload(HttpRequest *request);
void http_clients_leave(HttpRequest *request); /* at its end */

/* http_tally.c */
void http_tally_refused(HttpServer *server, enum http_refused reason);
void http_tally_error(HttpServer *server, enum breakeven_error kind);
void http_tally_exchange(HttpRequest *request, gint64 duration_us, bool whole); /* at its end */

/* http_gzip.c */
bool http_body_decode(HttpRequest *request,
                      GError **error); /* leaves the body as it was where it fails */
bool http_gzip_accepted(const char *accept_encoding);
/* Named, and liked at least as much as gzip: a mere "*" is not meant for it. */
bool http_brotli_accepted(const char *accept_encoding);
#define HTTP_GZIP_LEVEL      1 /* at 100 MB/s about as dear as making the answer */
#define HTTP_GZIP_LEVEL_PAGE 4 /* of HTML: a tenth smaller for a millisecond on 150 kB */
#define HTTP_GZIP_LEVEL_KEPT 6 /* of what a client asks for once: a twelfth smaller */
char *http_gzip_compress(const char *bytes, size_t length, int level,
                         size_t *out_length); /* NULL: not smaller, or no memory */

/* http_query.c */
GPtrArray *http_query_parse(const char *query, GError **error);
/* "a=1&b=2": struct http_pair *, at most n_max; `what` one of them is called in an error. */
GPtrArray *http_pairs_parse(const char *text, const char *what, guint n_max, GError **error);
bool http_query_check(const GPtrArray *pairs, const char *taken, GError **error);
char *http_decode(const char *text, size_t length,
                  bool plus_is_space); /* NULL: bad percent, NUL or invalid UTF-8 */

/* http_pieces.c */
void http_stream_free(struct http_stream *stream);
void http_stream_make(HttpRequest *request, void *app_thread); /* the next piece; a worker */
struct MHD_Response *http_stream_response(HttpRequest *request);

/* http_response.c */
bool http_is_api(const HttpRequest *request); /* its path is /api, or below it */
/* That, or the door of another tool for its results: what is refused there is a problem document.
 */
bool http_is_for_programs(const HttpRequest *request);
bool http_answer_begin(HttpRequest *request, unsigned status, const char *content_type);
enum MHD_Result http_response_queue(HttpRequest *request);
typedef void (*http_header_fn)(void *to, const char *name, const char *value);
void http_response_each_header(const HttpRequest *request, http_header_fn each, void *to);
void http_response_clear(HttpRequest *request);

void http_answer_share(struct http_answer *answer, GBytes *bytes); /* its body; takes it */

/* http_answers.c */
void http_answers_init(struct http_answers *answers);
void http_answers_clear(struct http_answers *answers);
void http_answers_keep(HttpRequest *request); /* once its body is what will be sent */

/* http_once.c */
void http_once_init(struct http_once *once);
void http_once_clear(struct http_once *once);
/* Once the request is answered, or at its end: keeps the answer where it succeeded. */
void http_once_keep(HttpRequest *request);

/* http_cors.c */
void http_cors_preflight(HttpRequest *request); /* of an OPTIONS request: adds what it asks for */
void http_cors_each_header(const HttpRequest *request, http_header_fn each, void *to);

/* http_etag.c */
bool http_etag_matches(const char *if_none_match, const char *tag);
char *http_etag_opaque(const char *etag, enum http_coding coding); /* with its suffix */
char *http_etag_value(const struct http_answer *answer);           /* with its quotes, too */

/* http_server.c */
/* With its routes, and neither a socket nor a thread; http_server_stop ends it, too. */
HttpServer *http_server_new(const struct http_options *options, GError **error);
void http_server_log(const HttpServer *server, const char *format, ...) G_GNUC_PRINTF(2, 3);
bool http_server_enter(
    HttpServer *server); /* before a handler runs; false: the server is stopping, run none */
void http_server_leave(
    HttpServer *server); /* when its request is neither running nor suspended any more */
