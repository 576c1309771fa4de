/* SPDX-License-Identifier: Apache-2.0
 * The server's HTTP: requests, responses, routes. The only code that knows libmicrohttpd; it knows
 * no resource.
 *
 * Threads: two event threads, each with its own epoll loop on the one listen socket, run the
 * handlers of quick routes; a small pool of workers runs those marked HTTP_SLOW and every request
 * whose body is over HTTP_QUICK_BODY_BYTES. A handler may also defer its answer to another thread
 * (http_request_defer, http_request_finish). A request belongs to one thread at a time. */
#pragma once

#include "schema/error.h"
#include "schema/fault.h"
#include "schema/latency.h"
#include "server/http/http_peer.h"
#include "server/http/principal.h"
#include <stdbool.h>
#include <stdint.h>

#define HTTP_QUICK_BODY_BYTES (64u << 10)

typedef struct http_request HttpRequest;
typedef struct http_server HttpServer;
typedef struct http_tls HttpTls; /* http_tls.h */

/* Who may: everybody, always · those with the scope read (or everybody, see reads) · with submit,
 * triage, admin. See access.h. */
enum http_access { HTTP_OPEN, HTTP_READ, HTTP_SUBMIT, HTTP_TRIAGE, HTTP_ADMIN };
const char *http_access_name(enum http_access access); /* "open", "read", … */
/* no-store · no-cache with ETag · a year */
enum http_cache { HTTP_NO_STORE, HTTP_REVALIDATE, HTTP_IMMUTABLE };
enum http_speed { HTTP_QUICK, HTTP_SLOW };

typedef void (*http_handler)(HttpRequest *request);

/* One row of the route table (server/routes.h). `pattern`: segments are literal or {name}; split
 * before they are decoded. `query`: the parameters that the route takes, separated by spaces;
 * "name+" may be given several times, "param.*" takes all with that prefix; NULL: any are ignored
 * (pages). */
struct http_route {
    const char *method;
    const char *pattern;
    http_handler handler;
    enum http_access access;
    enum http_cache cache;
    enum http_speed speed;
    const char *query;
};

/* ---- The request ---- */

const char *http_request_method(const HttpRequest *request);
/* as sent, before decoding, without the query */
const char *http_request_path(const HttpRequest *request);
/* the pattern of its row in the route table; "" where none matches */
const char *http_request_pattern(const HttpRequest *request);
/* as sent; "" where there is none */
const char *http_request_query_string(const HttpRequest *request);
/* the decoded {name}; never NULL for a name of the pattern */
const char *http_request_segment(const HttpRequest *request, const char *name);
const char *http_request_header(const HttpRequest *request, const char *name); /* or NULL */
/* the first value, or NULL */
const char *http_request_query(const HttpRequest *request, const char *name);

struct http_pair {
    char *name, *value; /* decoded, valid UTF-8 */
};
/* struct http_pair * in the order sent */
const GPtrArray *http_request_query_pairs(const HttpRequest *request);

/* decompressed; NUL-terminated beyond its length */
const char *http_request_body(const HttpRequest *request, size_t *out_length);
/* also in the log and in X-Request-Id */
const char *http_request_id(const HttpRequest *request);
/* what http_server_start was given */
void *http_request_app(const HttpRequest *request);
/* what thread_start made for the thread that runs this handler */
void *http_request_thread(const HttpRequest *request);
/* The body's type in lower case without its parameters ("application/json"), or "". The caller
 * frees it. */
char *http_request_media_type(const HttpRequest *request);

/* In which form the client asks for rows: by a path ending in .csv or .ndjson (which the route
 * table names), else by the type that Accept names with the largest q; JSON where it names none. */
enum http_format { HTTP_FORMAT_JSON, HTTP_FORMAT_CSV, HTTP_FORMAT_NDJSON };
enum http_format http_request_format(const HttpRequest *request);
const char *http_format_type(enum http_format format); /* HTTP_JSON … */

/* "http://host" of the server as this client sees it: for Location and Link. */
char *http_request_origin(const HttpRequest *request);
/* Whether the client came by TLS: to this server, or to a listed proxy that says so. */
bool http_request_is_https(const HttpRequest *request);
/* "192.0.2.1", "2001:db8::1": the peer's, or the one for which a listed proxy speaks (http_peer.h).
 * The one address for logs, audit and limits. "-" where the peer has none. */
const char *http_request_client_address(const HttpRequest *request);

/* The fields of a form (application/x-www-form-urlencoded) that is the body: struct http_pair * in
 * the order sent, owned by the caller. NULL with ERROR_UNSUPPORTED, ERROR_TOO_LARGE or
 * ERROR_SYNTAX. http_form_value gives the first of a name, or NULL. */
#define HTTP_FORM_BYTES_MAX (16u << 20) /* some upload by forms */
#define HTTP_FORM_PAIRS_MAX 4096u
GPtrArray *http_request_form(const HttpRequest *request, GError **error);
const char *http_form_value(const GPtrArray *form, const char *name);

/* ---- Who sends it ---- */

const struct http_route *http_request_route(const HttpRequest *request); /* that it matched */

/* NULL: nobody who said who; then the route is open to everybody, or the request is of this machine
 * and no token exists. */
const Principal *http_request_principal(const HttpRequest *request);
/* The principal's name, or NULL. */
const char *http_request_who(const HttpRequest *request);
/* What every form that posts must send in the field HTTP_FORM_TOKEN: made for this browser's
 * session. The layer refuses a form of a browser that lacks it. */
#define HTTP_FORM_TOKEN "form_token"
const char *http_request_form_token(const HttpRequest *request);
/* The name under which what a request says is kept: the principal's; where there is none, or it is
 * the token that all share (--write-token-file), what it says itself (or NULL). The caller frees
 * it.
 */
char *http_request_signed(const HttpRequest *request, const char *said);
/* Whether there is any token, so that somebody could sign in. */
bool http_request_can_sign_in(const HttpRequest *request);
/* Whether everybody may read what this request asks for. */
bool http_request_reads_open(const HttpRequest *request);
/* For the log of writes, where the address does not tell: whose project, and what. NULL: nothing.
 */
void http_request_note(HttpRequest *request, const char *project, const char *detail);
/* Before responding: gives this browser a session for so many seconds; NULL takes it away. */
void http_response_session(HttpRequest *request, const char *secret, int64_t seconds);

/* ---- The response ---- */

#define HTTP_JSON     "application/json; charset=utf-8"
#define HTTP_HTML     "text/html; charset=utf-8"
#define HTTP_CSV      "text/csv; charset=utf-8; header=present"
#define HTTP_NDJSON   "application/x-ndjson"
#define HTTP_SVG      "image/svg+xml; charset=utf-8"
#define HTTP_ATOM     "application/atom+xml; charset=utf-8"
#define HTTP_TEXT     "text/plain; charset=utf-8"
#define HTTP_MARKDOWN "text/markdown; charset=utf-8"

/* Answers with `body` (taken). Called once a request, as is each of the functions below it. Large
 * bodies are compressed, ETags compared, HEAD handled and Content-Length, Vary, Cache-Control,
 * security headers set by the layer. */
void http_respond(HttpRequest *request, unsigned status, const char *content_type, GString *body);
/* As http_respond for static bytes that live as long as the program. `brotli`: the same bytes in
 * that coding, for clients that name it; or NULL. */
struct http_static {
    const char *type;
    const unsigned char *bytes;
    size_t length;
    const unsigned char *brotli;
    size_t brotli_length;
};
void http_respond_static(HttpRequest *request, const struct http_static *content);
void http_respond_empty(HttpRequest *request, unsigned status);
/* 303: after a form, the browser gets `path`, which is made of encoded segments. */
void http_respond_see_other(HttpRequest *request, const char *path);

/* Answers 200 with a body that is made while it is sent: `first`, then what `next` appends to an
 * empty `out` each time the client has taken what was there, on a thread that runs handlers (its
 * http_request_thread). A piece has at least one byte unless it is the last. HTTP_PIECE_FAILED
 * breaks the connection, so that the client can tell. `free_state` is called once, in every case.
 * Not compressed. */
enum http_piece { HTTP_PIECE_MORE, HTTP_PIECE_LAST, HTTP_PIECE_FAILED };
struct http_pieces {
    enum http_piece (*next)(HttpRequest *request, void *state, GString *out);
    void *state;
    GDestroyNotify free_state;
};
void http_respond_pieces(HttpRequest *request, const char *content_type, GString *first,
                         const struct http_pieces *rest);
/* application/problem+json (RFC 9457) below /api, else an HTML page; the status by the error's
 * kind. `faults` may be NULL. */
void http_respond_error(HttpRequest *request, const GError *error, const Faults *faults);
void http_respond_status(HttpRequest *request, unsigned status, const char *detail_format, ...)
    G_GNUC_PRINTF(3, 4);

/* The answer may be shown by pages of other origins, as a picture or in a frame. `style`: the text
 * of its one <style>, whose digest the policy then allows; NULL: it has none. Of answers without
 * forms only; before http_not_modified. */
void http_response_embeddable(HttpRequest *request, const char *style);

/* Adds a header; before responding. Control characters in the value are refused (the header is left
 * out and logged). */
void http_response_header(HttpRequest *request, const char *name, const char *value);

/* Sets the strong ETag from (build, version, path, query, type) and answers 304 where the client
 * has it: then true, and the handler returns. */
bool http_not_modified(HttpRequest *request, int64_t version, const char *content_type);
/* The same, and where this answer was given before it is given again: then, too, true. Afterwards
 * http_respond keeps what it answers for the next one who asks. Only for answers that are the same
 * for everybody: that hold nothing of who asks, of the Host, or of the moment. */
bool http_answered(HttpRequest *request, int64_t version, const char *content_type);
/* The same as http_not_modified where a text tells the content, such as its digest. */
bool http_not_modified_content(HttpRequest *request, const char *content, const char *content_type);

/* The handler returns without an answer; later, any one thread responds and then calls
 * http_request_finish, after which it must not touch the request again. Call defer before the
 * request is handed to that thread, and touch nothing of the request after handing it over. Each
 * deferred request must be finished, also where its client is long gone: http_server_stop waits for
 * that. The deferring handler's thread state (http_request_thread) is not for the thread that
 * finishes. */
void http_request_defer(HttpRequest *request);
void http_request_finish(HttpRequest *request);

/* For handlers of POST that create something, first of all: where the header Idempotency-Key says
 * that this request was sent before, it is answered as it was then (with Idempotency-Replayed:
 * true; 409 while the first one is not answered, 422 where the key came with another request): then
 * true, and the handler returns. */
bool http_request_replayed(HttpRequest *request);
/* The key of Idempotency-Key, with or without the quotes of a structured field; NULL where the
 * header is absent or empty. The caller frees it. */
char *http_request_idempotency_key(const HttpRequest *request);

/* ---- Query values ---- */

/* The value as a whole number in [min, max]; where it is absent `*inout` stays as it is.
 * ERROR_SYNTAX names the parameter and the range. */
bool http_query_integer(const HttpRequest *request, const char *name, int64_t min, int64_t max,
                        int64_t *inout, GError **error);
/* RFC 3339; 0 where it is absent. */
bool http_query_time_ms(const HttpRequest *request, const char *name, int64_t *out_ms,
                        GError **error);
/* All values of a repeated parameter: char *, or NULL where there is none. */
GPtrArray *http_query_values(const HttpRequest *request, const char *name);
/* Percent-encodes for a path segment or a query value. */
void http_append_encoded(GString *out, const char *text);

/* ---- The server ---- */

/* What cannot be a problem+json, because libmicrohttpd answers it by itself (a short HTML body,
 * then it closes): a header line without a colon (400), headers over HTTP_CONNECTION_BYTES, or a
 * cookie of thousands of parts (431, or 414 for the target), a Content-Length that is no number
 * (400) or beyond 2^64 (413), a malformed chunk (400), an unknown HTTP version (505). What is
 * closed without any answer: a malformed request line, a connection that sends no whole request
 * line within idle_seconds_max + head_seconds_max, one that is silent for idle_seconds_max, and one
 * that takes longer than HTTP_SEND_FACTOR * request_seconds_max to read its answer. A request line
 * that was followed by no whole head within head_seconds_max, or by no whole request within
 * request_seconds_max, is answered 408. Where connections_max are open and a further one comes,
 * those are closed without an answer that have waited longest for a request or for the rest of its
 * head. */
#define HTTP_CONNECTION_BYTES (128u << 10)
#define HTTP_TARGET_BYTES_MAX (16u << 10) /* path and query; beyond it 414 */
#define HTTP_PAIRS_MAX        256u        /* query parameters of a request */
#define HTTP_SEND_FACTOR      10

/* What is to be said about an exchange when it ends. Values are as the client sent them: whoever
 * writes lines escapes them. */
struct http_log_entry {
    const char *request_id, *method, *path;
    const char *client; /* http_request_client_address */
    unsigned status;    /* 0: the connection ended before there was an answer */
    int64_t sent_bytes; /* of the body, after compression */
    int64_t duration_us;
    bool aborted; /* the client went away before it had the whole answer */
};

/* What was refused: an answer of 400 or more. `detail` says why, as its sender was told; values are
 * as the client sent them. */
struct http_refusal {
    unsigned status;
    const char *method, *path; /* "-": of a head that was never whole */
    const char *detail;
    const Faults *faults; /* or NULL */
};

/* A write that was asked for: when its handler begins (status 0), and when it was answered. Holds
 * no secret but what a client wrote into a path. */
struct http_audit_entry {
    const char *request_id, *who, *project, *method, *path,
        *detail;         /* who, project, detail: or NULL
                          */
    const char *address; /* of the client, or NULL */
    int64_t token_id;
    unsigned status;
    bool is_refused; /* it had no right to it */
};

/* Who reads without a credential: whoever speaks to a server on loopback itself, everybody, nobody.
 */
enum http_reads { HTTP_READS_LOOPBACK, HTTP_READS_ALL, HTTP_READS_PRINCIPALS };

struct http_options {
    const char *listen_host; /* "127.0.0.1", "::1", "0.0.0.0" … */
    uint16_t listen_port;    /* 0: any */
    const struct http_route *routes;
    size_t n_routes;
    void *app;
    HttpServer **server;  /* where to put the server before its first thread runs; may be NULL */
    const char *build_id; /* part of every ETag */
    const char *product;  /* "Breakeven 0.1.0", for the footer of error pages */
    /* a token that may all, or NULL */
    const char *write_token;
    /* asked in this order for whom a credential stands; ended by one without a function; may be
     * NULL */
    const struct principal_resolver *resolvers;
    /* At the start: whether there is any credential beside write_token that somebody could send. */
    bool has_tokens;
    /* Whether a token exists, so that writing needs one; on event threads; may be NULL. */
    bool (*tokens_exist)(void *thread, void *app);
    enum http_reads reads;
    /* Before the handler, on its thread: whether the principal, if there is one, may what is asked
     * for, beyond its scope; false: the request has been answered. May be NULL. */
    bool (*authorize)(HttpRequest *request);
    /* any thread; may be NULL */
    void (*audit)(const struct http_audit_entry *entry, void *app);
    /* "https://grafana.example.org": whose pages may read below /api; NULL-terminated, NULL: none
     */
    char *const *cors_origins;
    /* Whose word about the client counts, and in which header it is; NULL: nobody's. Outlives the
     * server. */
    const HttpProxies *proxies;
    enum http_proxy_header proxy_header;
    HttpTls *tls; /* NULL: plain HTTP. Outlives the server */
    /* for each thread that runs handlers, by http_server_start; may be NULL */
    void *(*thread_start)(void *app, GError **error);
    void (*thread_stop)(void *thread, void *app);
    /* on event threads; may be NULL */
    void (*access_log)(const struct http_log_entry *entry, void *app);
    void (*log)(const char *message, void *app); /* what is worth a line: any thread; may be NULL */
    void (*refused)(const struct http_refusal *refused, void *app); /* any thread; may be NULL */
    /* Renders HTML error pages; NULL: a plain one. */
    void (*error_page)(HttpRequest *request, unsigned status, const char *title, const char *detail,
                       GString *out);
    unsigned n_workers;           /* 0: 2 */
    unsigned connections_max;     /* 0: from RLIMIT_NOFILE */
    size_t body_bytes_max;        /* of one request, after decompression; 0: 16 MiB */
    size_t bodies_bytes_max;      /* of all requests in flight; beyond it 503; 0: 256 MiB */
    unsigned uploads_max;         /* under way at once; beyond it 503; 0: 256 */
    unsigned head_seconds_max;    /* until a request's head must be whole; 0: 20 */
    unsigned request_seconds_max; /* from the first byte to the whole request; 0: 60 */
    unsigned idle_seconds_max;    /* of a connection; 0: 60 */
    /* Of one client (http_clients.c), beyond them 429; 0: the default of --help. Requests that come
     * from this machine without a proxy are exempt, unless limit_loopback. */
    unsigned client_rate, client_uploads_max, client_connections_max;
    size_t client_bytes_max;
    bool limit_loopback;
};

/* a busy port is an error */
HttpServer *http_server_start(const struct http_options *options, GError **error);
uint16_t http_server_port(const HttpServer *server);
/* No new connections; waits until what is in flight has been answered, at most `seconds`. */
void http_server_drain(HttpServer *server, unsigned seconds);
void http_server_stop(HttpServer *server);

/* What a request was for, by its route; those without one, and those that waited for something to
 * happen (deferred reads), are told apart. */
enum http_class {
    HTTP_CLASS_PAGE,
    HTTP_CLASS_API,
    HTTP_CLASS_WRITE,
    HTTP_CLASS_WAIT,
    HTTP_CLASS_ASSET,
    HTTP_CLASS_SERVER, /* what is never kept: health, metrics */
    HTTP_CLASS_NONE,
    HTTP_CLASSES
};
extern const char *const http_class_names[HTTP_CLASSES];

/* Why a request or connection was turned away before its handler had a say. */
enum http_refused {
    HTTP_REFUSED_CLIENT_RATE,
    HTTP_REFUSED_CLIENT_UPLOADS,
    HTTP_REFUSED_CLIENT_BYTES,
    HTTP_REFUSED_CLIENT_CONNECTIONS,
    HTTP_REFUSED_UPLOADS,
    HTTP_REFUSED_BODIES,
    HTTP_REFUSED_WORKERS,
    HTTP_REFUSED_QUERY_TIME, /* given up in the middle */
    HTTP_REFUSED_LATE,       /* not whole in time */
    HTTP_REFUSED_IDLE,       /* a connection that waited longest, in a full house */
    HTTP_REFUSALS
};
extern const char *const http_refused_names[HTTP_REFUSALS];

struct http_status {
    gint64 requests, responses_by_class[6], bytes_sent, connections, connections_max, bodies_bytes;
    gint64 uploads, clients, waiting_for_worker;
    gint64 refused[HTTP_REFUSALS];
    gint64 errors[ERROR_KINDS]; /* answered, by kind */
    struct latency_counts latencies[HTTP_CLASSES];
};
void http_server_status(const HttpServer *server, struct http_status *out_status);
