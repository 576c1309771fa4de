/* SPDX-License-Identifier: Apache-2.0
 * Answers that are given again. A strong entity tag says all that an answer depends on: the data's
 * version, path, query, type and coding. So where the same tag comes up again, the bytes that were
 * sent under it are sent again: neither read, nor printed, nor compressed. Only what handlers ask
 * for by http_answered is kept, the least recently used goes first. Any thread; one lock. */
#include "server/http/http_internal.h"

#define KEPT_BYTES_MAX   ((size_t)16 << 20)
#define ANSWER_BYTES_MAX ((size_t)1 << 20)

struct http_kept_bytes {
    char *tag; /* with the suffix of its coding: its place in the table */
    GBytes *bytes;
    GPtrArray *headers; /* struct http_pair *: those that its handler added */
    GList *link;        /* most recently used first */
};

static size_t cost(const struct http_kept_bytes *kept)
{
    return sizeof *kept + 128 + g_bytes_get_size(kept->bytes);
}

static void kept_free(gpointer item)
{
    struct http_kept_bytes *kept = item;
    g_free(kept->tag);
    g_bytes_unref(kept->bytes);
    g_ptr_array_unref(kept->headers);
    g_free(kept);
}

void http_answers_init(struct http_answers *answers)
{
    pthread_mutex_init(&answers->lock, NULL);
    answers->by_tag = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, kept_free);
    g_queue_init(&answers->order);
}

void http_answers_clear(struct http_answers *answers)
{
    g_queue_clear(&answers->order);
    g_clear_pointer(&answers->by_tag, g_hash_table_unref);
    pthread_mutex_destroy(&answers->lock);
}

/* A new reference, or NULL; and a copy of the headers. */
static GBytes *look_up(struct http_answers *answers, const char *tag, GPtrArray **out_headers)
{
    GBytes *bytes = NULL;
    pthread_mutex_lock(&answers->lock);
    struct http_kept_bytes *kept = g_hash_table_lookup(answers->by_tag, tag);
    if (kept) {
        g_queue_unlink(&answers->order, kept->link);
        g_queue_push_head_link(&answers->order, kept->link);
        bytes = g_bytes_ref(kept->bytes);
        *out_headers = http_pairs_copy(kept->headers);
    }
    pthread_mutex_unlock(&answers->lock);
    return bytes;
}

static void add(struct http_answers *answers, const char *tag, const struct http_answer *answer)
{
    pthread_mutex_lock(&answers->lock);
    if (!g_hash_table_contains(answers->by_tag, tag)) {
        struct http_kept_bytes *kept = g_new0(struct http_kept_bytes, 1);
        kept->tag = g_strdup(tag);
        kept->bytes = g_bytes_ref(answer->shared);
        kept->headers = http_pairs_copy(answer->headers);
        g_queue_push_head(&answers->order, kept);
        kept->link = answers->order.head;
        g_hash_table_insert(answers->by_tag, kept->tag, kept);
        answers->bytes += cost(kept);
    }
    while (answers->bytes > KEPT_BYTES_MAX) {
        struct http_kept_bytes *oldest = g_queue_pop_tail(&answers->order);
        answers->bytes -= cost(oldest);
        g_hash_table_remove(answers->by_tag, oldest->tag);
    }
    pthread_mutex_unlock(&answers->lock);
}

bool http_answered(HttpRequest *request, int64_t version, const char *content_type)
{
    struct http_answer *answer = &request->answer;
    if (http_not_modified(request, version, content_type))
        return true;
    if (!answer->etag)
        return false;
    bool takes_gzip = http_gzip_accepted(http_request_header(request, "Accept-Encoding"));
    for (int coding = takes_gzip ? HTTP_CODING_GZIP : HTTP_CODING_IDENTITY; coding >= 0; coding--) {
        g_autofree char *tag = http_etag_opaque(answer->etag, (enum http_coding)coding);
        g_autoptr(GPtrArray) headers = NULL;
        GBytes *bytes = look_up(&request->server->answers, tag, &headers);
        /* One that was not compressed on request is not what a client that takes gzip would get. */
        if (bytes && takes_gzip && coding == HTTP_CODING_IDENTITY &&
            g_bytes_get_size(bytes) > HTTP_GZIP_MIN_BYTES)
            g_clear_pointer(&bytes, g_bytes_unref);
        if (!bytes)
            continue;
        http_answer_begin(request, 200, content_type);
        answer->coding = (enum http_coding)coding;
        g_ptr_array_unref(answer->headers);
        answer->headers = g_steal_pointer(&headers);
        http_answer_share(answer, bytes);
        return true;
    }
    answer->is_kept = true;
    return false;
}

void http_answers_keep(HttpRequest *request)
{
    struct http_answer *answer = &request->answer;
    if (!answer->is_kept || !answer->etag || answer->status != 200 ||
        answer->length > ANSWER_BYTES_MAX || !answer->bytes)
        return;
    g_autofree char *tag = http_etag_opaque(answer->etag, answer->coding);
    GBytes *bytes = g_bytes_new_take(answer->bytes, answer->length);
    http_answer_share(answer, bytes);
    add(&request->server->answers, tag, answer);
}
