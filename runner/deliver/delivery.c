/* SPDX-License-Identifier: Apache-2.0
 * The order of things: spool, lock, oldest first, attempt, back off, attempt. One process at a time
 * delivers from a spool; others wait for it within their own patience. Main thread. */
#include "runner/deliver/delivery.h"

#include "runner/deliver/answer.h"
#include "runner/deliver/http_client.h"
#include "runner/deliver/retry.h"
#include "runner/deliver/spool.h"
#include <string.h>
#include <sys/random.h>

#define POLL_MS              50u
#define EXCHANGE_SECONDS_MIN 10 /* an answer may take that long, however short the patience */
#define EXCHANGE_SECONDS_MAX 120

struct delivery {
    struct delivery_options options;
    char *server;
    HttpClient *client;
    Spool *spool;
    int64_t deadline_us; /* monotonic; 0 before the first attempt */
};

/* One document's fate at the server. */
struct attempt {
    enum retry_verdict verdict;
    bool may_skip; /* the next document may fare better */
    char *message; /* why it is not stored */
    struct http_answer answer;
};

static void attempt_clear(struct attempt *attempt)
{
    g_free(attempt->message);
    http_answer_clear(&attempt->answer);
    *attempt = (struct attempt){0};
}

typedef struct attempt attempt_t;
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(attempt_t, attempt_clear)

static void say_closed(const struct delivery_options *options)
{
    g_autofree char *text = g_strdup_printf(
        "others could look into the spool folder %s; it has mode 0700 now", options->spool_dir);
    options->notice(text);
}

Delivery *delivery_open(const struct delivery_options *options, GError **error)
{
    g_autoptr(Delivery) delivery = g_new0(Delivery, 1);
    delivery->options = *options;
    delivery->server = g_strdup(options->server);
    delivery->spool = spool_open(options->spool_dir, options->server, error);
    if (!delivery->spool)
        return NULL;
    if (spool_was_open(delivery->spool) && options->notice)
        say_closed(options);
    struct http_client_options client = {.token = options->token, .stopped = options->stopped};
    delivery->client = http_client_new(&client, error);
    return delivery->client ? g_steal_pointer(&delivery) : NULL;
}

void delivery_close(Delivery *delivery)
{
    if (!delivery)
        return;
    http_client_free(delivery->client);
    spool_close(delivery->spool);
    g_free(delivery->server);
    g_free(delivery);
}

void delivery_receipt_clear(struct delivery_receipt *receipt)
{
    g_free(receipt->page);
    g_free(receipt->message);
    g_free(receipt->kept);
    if (receipt->warnings)
        g_ptr_array_unref(receipt->warnings);
    *receipt = (struct delivery_receipt){0};
}

/* Patience is one for all documents, so that many of them do not wait many times; a success renews
 * it. */
static void renew_patience(Delivery *delivery)
{
    delivery->deadline_us =
        g_get_monotonic_time() + (int64_t)delivery->options.seconds * G_USEC_PER_SEC;
}

static void begin_patience(Delivery *delivery)
{
    if (delivery->deadline_us == 0)
        renew_patience(delivery);
}

/* False where the wait would outlast the patience, or was interrupted. */
static bool wait_ms(const Delivery *delivery, uint32_t delay_ms)
{
    int64_t until_us = g_get_monotonic_time() + (int64_t)delay_ms * 1000;
    if (until_us > delivery->deadline_us)
        return false;
    while (g_get_monotonic_time() < until_us) {
        if (delivery->options.stopped())
            return false;
        g_usleep(MIN(POLL_MS, delay_ms) * 1000);
    }
    return !delivery->options.stopped();
}

static double random_share(void)
{
    uint32_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
        random = (uint32_t)g_get_monotonic_time();
    return random / 4294967296.0;
}

static void say_retry(const Delivery *delivery, const char *why, uint32_t delay_ms)
{
    g_autofree char *message =
        g_strdup_printf("%s: %s; trying again in %.1f s", delivery->server, why, delay_ms / 1000.0);
    delivery->options.notice(message);
}

typedef void (*send_fn)(HttpClient *client, const char *url, const char *bytes, gsize length,
                        struct http_answer *out_answer);

/* A server that takes the connection and never answers is not waited for longer than one that is
 * away. */
static unsigned exchange_seconds(const Delivery *delivery)
{
    int64_t left_s = (delivery->deadline_us - g_get_monotonic_time()) / G_USEC_PER_SEC;
    return (unsigned)CLAMP(left_s, EXCHANGE_SECONDS_MIN, EXCHANGE_SECONDS_MAX);
}

/* Sends until there is an answer that stands, or patience ends. */
static void send_patiently(Delivery *delivery, send_fn send, const char *path, GBytes *body,
                           struct attempt *out)
{
    g_autofree char *url = g_strconcat(delivery->server, path, NULL);
    gsize length;
    const char *bytes = (const char *)g_bytes_get_data(body, &length);
    for (unsigned n = 0;; n++) {
        attempt_clear(out);
        http_client_limit(delivery->client, exchange_seconds(delivery));
        send(delivery->client, url, bytes, length, &out->answer);
        out->verdict = retry_judge(out->answer.status);
        if (out->verdict == RETRY_STORED) {
            renew_patience(delivery);
            return;
        }
        out->may_skip = retry_may_skip(out->answer.status);
        out->message =
            out->answer.failure
                ? g_strdup(out->answer.failure)
                : answer_problem(out->answer.status, out->answer.body->str, out->answer.body->len);
        if (out->verdict != RETRY_AGAIN || delivery->options.stopped())
            return;
        uint32_t delay_ms = retry_delay_ms(n, out->answer.retry_after_s, random_share());
        if (g_get_monotonic_time() + (int64_t)delay_ms * 1000 > delivery->deadline_us)
            return;
        say_retry(delivery, out->message, delay_ms);
        if (!wait_ms(delivery, delay_ms))
            return;
    }
}

static void post_patiently(Delivery *delivery, const char *path, const char *bytes, gsize length,
                           struct attempt *out)
{
    g_autoptr(GBytes) body = g_bytes_new_static(bytes, length);
    send_patiently(delivery, http_client_post, path, body, out);
    if (out->verdict != RETRY_STORED)
        return;
    const GString *answer = out->answer.body;
    if (answer_is_receipt(answer->str, answer->len))
        return;
    out->verdict = RETRY_DENIED;
    out->message = answer_problem(out->answer.status, answer->str, answer->len);
}

static void fill_receipt(const Delivery *delivery, struct attempt *attempt,
                         struct delivery_receipt *receipt)
{
    static const enum delivery_outcome outcomes[] = {
        [RETRY_STORED] = DELIVERY_STORED,
        [RETRY_AGAIN] = DELIVERY_WAITS,
        [RETRY_REFUSED] = DELIVERY_REFUSED,
        [RETRY_DENIED] = DELIVERY_WAITS,
    };
    receipt->outcome = outcomes[attempt->verdict];
    receipt->message = g_steal_pointer(&attempt->message);
    if (receipt->outcome != DELIVERY_STORED)
        return;
    const GString *body = attempt->answer.body;
    receipt->page = answer_page(delivery->server, body->str, body->len);
    receipt->warnings = answer_warnings(body->str, body->len);
}

/* Delivers one entry and clears it away. False with an error where the spool fails; an entry that
 * is gone counts as delivered. */
static bool deliver_entry(Delivery *delivery, const char *name, struct attempt *out, GError **error)
{
    gsize length = 0;
    g_autoptr(GError) problem = NULL;
    g_autofree char *bytes = spool_read(delivery->spool, name, &length, &problem);
    if (!bytes) {
        out->verdict = problem ? RETRY_AGAIN : RETRY_STORED;
        out->may_skip = true;
        out->message = problem ? g_strdup(problem->message) : NULL;
        return true;
    }
    post_patiently(delivery, "/api/runs", bytes, length, out);
    if (out->verdict == RETRY_STORED)
        return spool_remove(delivery->spool, name, error);
    if (out->verdict == RETRY_REFUSED)
        return spool_reject(delivery->spool, name, out->message, error);
    return true;
}

static bool lock_patiently(Delivery *delivery, GError **error)
{
    g_autoptr(GError) problem = NULL;
    while (!spool_try_lock(delivery->spool, &problem)) {
        if (problem) {
            g_propagate_error(error, g_steal_pointer(&problem));
            return false;
        }
        if (!wait_ms(delivery, POLL_MS)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_BUSY,
                        "another process is delivering from the spool %s",
                        spool_directory(delivery->spool));
            return false;
        }
    }
    return true;
}

static void say_fate(const Delivery *delivery, const char *name, const struct attempt *attempt)
{
    g_autofree char *message = NULL;
    if (attempt->verdict == RETRY_STORED)
        message = g_strdup_printf("delivered %s, which waited in the spool", name);
    else if (attempt->verdict == RETRY_REFUSED)
        message = g_strdup_printf(
            "%s refused %s, which waited in the spool: %s; it is in %s/rejected", delivery->server,
            name, attempt->message, spool_directory(delivery->spool));
    else
        message = g_strdup_printf("%s still waits in the spool: %s", name, attempt->message);
    delivery->options.notice(message);
}

/* Entries in order until `own` (NULL: to the end); `own` itself is left to the caller. False where
 * the server takes nothing now, with why in *out_obstacle, or with an error. */
static bool deliver_before(Delivery *delivery, const char *own, struct delivery_totals *totals,
                           char **out_obstacle, GError **error)
{
    g_autoptr(GPtrArray) names = spool_entries(delivery->spool, &totals->others, error);
    if (!names)
        return false;
    totals->waiting = names->len;
    for (guint i = 0; i < names->len; i++) {
        const char *name = (const char *)names->pdata[i];
        if (own && strcmp(name, own) >= 0)
            break;
        g_auto(attempt_t) attempt = {0};
        if (!deliver_entry(delivery, name, &attempt, error))
            return false;
        say_fate(delivery, name, &attempt);
        totals->stored += attempt.verdict == RETRY_STORED;
        totals->refused += attempt.verdict == RETRY_REFUSED;
        bool is_settled = attempt.verdict == RETRY_STORED || attempt.verdict == RETRY_REFUSED;
        totals->waiting -= is_settled;
        if (!is_settled && !attempt.may_skip) {
            *out_obstacle = g_steal_pointer(&attempt.message);
            return false;
        }
    }
    return true;
}

/* Another process may have delivered the entry while this one waited for the lock. */
static bool deliver_own(Delivery *delivery, const char *name, const GString *document,
                        struct delivery_receipt *receipt, GError **error)
{
    g_autofree char *rejection = spool_rejection(delivery->spool, name);
    if (rejection) {
        receipt->outcome = DELIVERY_REFUSED;
        receipt->message = g_steal_pointer(&rejection);
        return true;
    }
    g_auto(attempt_t) attempt = {0};
    post_patiently(delivery, "/api/runs", document->str, document->len, &attempt);
    bool is_good = true;
    if (attempt.verdict == RETRY_STORED)
        is_good = spool_remove(delivery->spool, name, error);
    else if (attempt.verdict == RETRY_REFUSED)
        is_good = spool_reject(delivery->spool, name, attempt.message, error);
    fill_receipt(delivery, &attempt, receipt);
    return is_good;
}

/* The spool has no room: what was measured goes out at once, and into a file elsewhere if the
 * server does not take it. */
static bool send_unspooled(Delivery *delivery, const char *id, const GString *document,
                           struct delivery_receipt *receipt, const GError *cause, GError **error)
{
    g_auto(attempt_t) attempt = {0};
    g_autofree char *notice = g_strdup_printf("%s; sending it without", cause->message);
    delivery->options.notice(notice);
    post_patiently(delivery, "/api/runs", document->str, document->len, &attempt);
    fill_receipt(delivery, &attempt, receipt);
    if (receipt->outcome == DELIVERY_STORED)
        return true;
    receipt->kept = spool_rescue(id, document->str, document->len);
    if (receipt->kept)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, cause->code,
                "%s; nor is there room in the present folder, and %s does not take it: %s",
                cause->message, delivery->server, receipt->message);
    return false;
}

bool delivery_send(Delivery *delivery, const char *id, const char *bytes, gsize length,
                   struct delivery_receipt *out_receipt, GError **error)
{
    *out_receipt = (struct delivery_receipt){.outcome = DELIVERY_WAITS};
    begin_patience(delivery);
    g_autoptr(GError) problem = NULL;
    g_autofree char *name = spool_add(delivery->spool, id, bytes, length, &problem);
    g_autofree char *obstacle = NULL;
    struct delivery_totals totals = {0};
    g_autoptr(GString) document = g_string_new_len(bytes, (gssize)length);
    if (!name) {
        bool is_sent = send_unspooled(delivery, id, document, out_receipt, problem, error);
        if (!is_sent)
            delivery_receipt_clear(out_receipt);
        return is_sent;
    }
    if (lock_patiently(delivery, &problem) &&
        deliver_before(delivery, name, &totals, &obstacle, &problem) &&
        deliver_own(delivery, name, document, out_receipt, &problem))
        return true;
    if (problem)
        delivery->options.notice(problem->message);
    if (!out_receipt->message && out_receipt->outcome == DELIVERY_WAITS)
        out_receipt->message = obstacle  ? g_steal_pointer(&obstacle)
                               : problem ? g_strdup(problem->message)
                                         : NULL;
    return true;
}

bool delivery_drain(Delivery *delivery, struct delivery_totals *out_totals, GError **error)
{
    *out_totals = (struct delivery_totals){0};
    begin_patience(delivery);
    if (!lock_patiently(delivery, error))
        return false;
    g_autoptr(GError) problem = NULL;
    g_autofree char *obstacle = NULL;
    if (!deliver_before(delivery, NULL, out_totals, &obstacle, &problem) && problem) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    return true;
}

/* Without the spool. */
static bool send_now(Delivery *delivery, send_fn send, const char *path, GBytes *body,
                     GError **error)
{
    begin_patience(delivery);
    g_auto(attempt_t) attempt = {0};
    send_patiently(delivery, send, path, body, &attempt);
    if (attempt.verdict == RETRY_STORED)
        return true;
    int code = attempt.answer.status == 404       ? ERROR_NOT_FOUND
               : attempt.verdict == RETRY_REFUSED ? ERROR_INVALID
                                                  : ERROR_BUSY;
    g_set_error(error, BREAKEVEN_ERROR, code, "%s: %s", delivery->server, attempt.message);
    return false;
}

bool delivery_post(Delivery *delivery, const char *path, const char *bytes, gsize length,
                   GError **error)
{
    g_autoptr(GBytes) body = g_bytes_new_static(bytes, length);
    return send_now(delivery, http_client_post, path, body, error);
}

bool delivery_put(Delivery *delivery, const char *path, const char *bytes, gsize length,
                  GError **error)
{
    g_autoptr(GBytes) body = g_bytes_new_static(bytes, length);
    return send_now(delivery, http_client_put, path, body, error);
}
