/* SPDX-License-Identifier: Apache-2.0
 * Idempotency-Key: what was created once is not created again by the same request sent twice. The
 * answer that a key got is kept in memory and given again, for a day, as long as there is room (the
 * oldest goes first), until the server ends. Only what succeeded is kept: after a failure the
 * client may try again with the same key. Any thread; the table has one lock. */
#include "server/http/http_internal.h"

#define KEY_BYTES_MAX  255u
#define KEYS_MAX       10000u
#define KEPT_BYTES_MAX ((size_t)16 << 20)
#define KEPT_US        (24 * G_TIME_SPAN_HOUR)

struct http_kept {
    char *name;    /* of the key, its sender and address: its place in the table */
    char *content; /* digest of the request */
    gint64 since_us;
    GList *link; /* in the order of arrival */
    bool is_answered;
    unsigned status;
    char *content_type; /* NULL: no body */
    GBytes *body;
    GPtrArray *headers; /* struct http_pair * */
};

char *http_request_idempotency_key(const HttpRequest *request)
{
    const char *value = http_request_header(request, "Idempotency-Key");
    if (!value)
        return NULL;
    g_autofree char *key = g_strstrip(g_strdup(value));
    size_t length = strlen(key);
    if (length >= 2 && key[0] == '"' && key[length - 1] == '"')
        return length > 2 ? g_strndup(key + 1, length - 2) : NULL;
    return length > 0 ? g_steal_pointer(&key) : NULL;
}

static void kept_free(gpointer item)
{
    struct http_kept *kept = item;
    g_free(kept->name);
    g_free(kept->content);
    g_free(kept->content_type);
    g_clear_pointer(&kept->body, g_bytes_unref);
    g_clear_pointer(&kept->headers, g_ptr_array_unref);
    g_free(kept);
}

void http_once_init(struct http_once *once)
{
    pthread_mutex_init(&once->lock, NULL);
    once->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, kept_free);
    g_queue_init(&once->order);
}

void http_once_clear(struct http_once *once)
{
    g_queue_clear(&once->order);
    g_clear_pointer(&once->by_name, g_hash_table_unref);
    pthread_mutex_destroy(&once->lock);
}

/* Of texts, each with its NUL, so that no two lists run together. */
static char *digest_of(const char *const *parts, gsize n_parts, const char *bytes, size_t length)
{
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    for (gsize i = 0; i < n_parts; i++)
        g_checksum_update(checksum, (const guchar *)parts[i], (gssize)strlen(parts[i]) + 1);
    g_checksum_update(checksum, (const guchar *)bytes, (gssize)length);
    return g_strdup(g_checksum_get_string(checksum));
}

static size_t kept_bytes(const struct http_kept *kept)
{
    return sizeof *kept + 256 + (kept->body ? g_bytes_get_size(kept->body) : 0);
}

/* ---- Under the lock ---- */

static void kept_drop(struct http_once *once, struct http_kept *kept)
{
    once->bytes -= kept_bytes(kept);
    g_queue_delete_link(&once->order, kept->link);
    g_hash_table_remove(once->by_name, kept->name);
}

/* The oldest go where there are too many or where their day is over; one that waits for its answer
 * stays. */
static void make_room(struct http_once *once, gint64 now_us)
{
    for (GList *at = once->order.head; at;) {
        struct http_kept *kept = at->data;
        bool over = g_hash_table_size(once->by_name) > KEYS_MAX || once->bytes > KEPT_BYTES_MAX ||
                    now_us - kept->since_us > KEPT_US;
        at = at->next;
        if (!over)
            return;
        if (kept->is_answered)
            kept_drop(once, kept);
    }
}

static struct http_kept *kept_add(struct http_once *once, const char *name, const char *content)
{
    struct http_kept *kept = g_new0(struct http_kept, 1);
    kept->name = g_strdup(name);
    kept->content = g_strdup(content);
    kept->since_us = g_get_monotonic_time();
    g_queue_push_tail(&once->order, kept);
    kept->link = once->order.tail;
    g_hash_table_insert(once->by_name, kept->name, kept);
    once->bytes += kept_bytes(kept);
    make_room(once, kept->since_us);
    return kept;
}

/* What is to be said to a request whose key is known. */
struct replay {
    bool is_answered, is_other;
    unsigned status;
    char *content_type;
    GBytes *body;
    GPtrArray *headers;
};

static void replay_take(struct replay *replay, const struct http_kept *kept, const char *content)
{
    replay->is_other = strcmp(kept->content, content) != 0;
    replay->is_answered = kept->is_answered;
    if (!kept->is_answered || replay->is_other)
        return;
    replay->status = kept->status;
    replay->content_type = g_strdup(kept->content_type);
    replay->body = kept->body ? g_bytes_ref(kept->body) : NULL;
    replay->headers = http_pairs_copy(kept->headers);
}

/* ---- Its users ---- */

static void replay_send(HttpRequest *request, struct replay *replay)
{
    if (replay->is_other) {
        http_respond_status(request, 422,
                            "Idempotency-Key: another request came with this key; a new request "
                            "needs a key of its own");
    } else if (!replay->is_answered) {
        http_respond_status(request, 409,
                            "Idempotency-Key: the request that came first with this key is not "
                            "answered yet; ask again in a moment");
    } else {
        for (guint i = 0; i < replay->headers->len; i++) {
            const struct http_pair *pair = g_ptr_array_index(replay->headers, i);
            http_response_header(request, pair->name, pair->value);
        }
        http_response_header(request, "Idempotency-Replayed", "true");
        if (replay->body)
            http_respond(request, replay->status, replay->content_type,
                         g_string_new_len(g_bytes_get_data(replay->body, NULL),
                                          (gssize)g_bytes_get_size(replay->body)));
        else
            http_respond_empty(request, replay->status);
    }
    g_free(replay->content_type);
    g_clear_pointer(&replay->body, g_bytes_unref);
    g_clear_pointer(&replay->headers, g_ptr_array_unref);
}

bool http_request_replayed(HttpRequest *request)
{
    struct http_once *once = &request->server->once;
    g_autofree char *key = http_request_idempotency_key(request);
    const char *sender = http_request_header(request, "Authorization");
    size_t length;
    const char *body = http_request_body(request, &length);
    if (!key)
        return false;
    if (strlen(key) > KEY_BYTES_MAX) {
        http_respond_status(request, 400, "Idempotency-Key: has %zu bytes; up to %u are taken",
                            strlen(key), KEY_BYTES_MAX);
        return true;
    }
    const char *const names[] = {key, sender ? sender : "", request->method, request->path};
    g_autofree char *name = digest_of(names, G_N_ELEMENTS(names), "", 0);
    g_autofree char *content = digest_of((const char *const[]){request->query}, 1, body, length);
    struct replay replay = {0};
    pthread_mutex_lock(&once->lock);
    const struct http_kept *known = g_hash_table_lookup(once->by_name, name);
    if (known)
        replay_take(&replay, known, content);
    else
        request->kept_name = g_strdup(kept_add(once, name, content)->name);
    pthread_mutex_unlock(&once->lock);
    if (known)
        replay_send(request, &replay);
    return known != NULL;
}

void http_once_keep(HttpRequest *request)
{
    struct http_once *once = &request->server->once;
    const struct http_answer *answer = &request->answer;
    if (!request->kept_name)
        return;
    pthread_mutex_lock(&once->lock);
    struct http_kept *kept = g_hash_table_lookup(once->by_name, request->kept_name);
    if (kept && (!answer->given || answer->status >= 300)) {
        kept_drop(once, kept);
    } else if (kept) {
        once->bytes -= kept_bytes(kept);
        kept->is_answered = true;
        kept->status = answer->status;
        kept->content_type = g_strdup(answer->content_type);
        kept->body = answer->bytes ? g_bytes_new(answer->bytes, answer->length) : NULL;
        kept->headers = http_pairs_copy(answer->headers);
        once->bytes += kept_bytes(kept);
        make_room(once, g_get_monotonic_time());
    }
    pthread_mutex_unlock(&once->lock);
    g_clear_pointer(&request->kept_name, g_free);
}
