/* SPDX-License-Identifier: Apache-2.0
 * What all lists share: limit, cursor, fields, `next` in the body and as a Link header, JSON, CSV
 * or NDJSON, ETag, and the order in which these happen. A resource says how to find its items and
 * how one of them is written. Runs on the request's thread.
 *
 * A cursor names the last row that was given, by what orders the list; the next page starts after
 * it. So rows that arrive meanwhile neither repeat nor hide others. It is opaque to the client. A
 * page ends early where its text passes API_LIST_BYTES_MAX; `next` then leads on, so nothing is cut
 * in silence.
 *
 * What was given is given again to whoever asks the same (http_answered): a list holds nothing of
 * who asks, and `open` says a version that changes with whatever its rows show.
 *
 * CSV and NDJSON have no place for `next`: without `limit` they are the whole list, made page by
 * page while it is sent, each page from a snapshot of its own. */
#pragma once

#include "server/api/api_write.h"
#include "server/context.h"

#define API_LIST_LIMIT_DEFAULT 100
#define API_LIST_LIMIT_MAX     1000
#define API_LIST_BYTES_MAX     (8u << 20)
#define API_LIST_PIECE_BYTES   (1u << 20) /* of what is made while it is sent */
#define API_LIST_FIELDS_MAX    3u

struct api_list {
    HttpRequest *request;
    StoreSnapshot *snapshot; /* while a page is made */
    enum http_format format;
    guint limit;
    char **after;     /* the cursor's fields; NULL on the first page */
    GPtrArray *items; /* what collect found: the page's items first; at most a few beyond `limit`
                         need be there */
    bool has_more;    /* collect: there are items beyond those in `items` */
    void *user;       /* the resource's own */
    /* Of api_list.c. */
    const struct api_list_spec *spec;
    GPtrArray *fields; /* char *: the members or columns that are asked for; NULL: all */
    bool is_whole;     /* all pages, while they are sent */
};

struct api_list_spec {
    /* Between its rows writers go first: its items are runs, commits, series or its own. */
    bool gives_way;
    const char *plural;    /* the array's name in the answer; its first letter marks the cursor */
    guint n_cursor_fields; /* 1 to API_LIST_FIELDS_MAX */
    guint limit_default, limit_max; /* of a page in JSON; 0: those above */
    const char *const *members;     /* of a row in JSON, NULL-terminated: what `fields` may name */
    const char *const *columns;     /* of the CSV, NULL-terminated */
    /* Resolves what the request names and says the data's version for the ETag; NULL: all data.
     * Before any work; again for each further page. */
    bool (*open)(struct api_list *list, int64_t *out_version, GError **error);
    /* Fills list->items (an empty array without ownership of its elements, to be replaced where
     * they are owned). */
    bool (*collect)(struct api_list *list, GError **error);
    bool (*write_json)(struct api_list *list, gconstpointer item, struct json_writer *writer,
                       GError **error);
    bool (*write_csv)(struct api_list *list, gconstpointer item, struct csv_writer *writer,
                      GError **error);
    /* The fields that name an item's place; fills at most n_cursor_fields strings that the caller
     * frees. */
    void (*place)(gconstpointer item, char *fields[API_LIST_FIELDS_MAX]);
    GDestroyNotify free_user; /* NULL: `user` is not api_list_serve's, and no list is sent whole */
};

/* Answers the request, in every case. Takes `user` where spec->free_user says how; `spec` outlives
 * the answer. */
void api_list_serve(HttpRequest *request, const struct api_list_spec *spec, void *user);

/* Reads fields=a,b: NULL where it is absent. Each must be one of `known` (NULL-terminated);
 * ERROR_SYNTAX names those. False: the error is set. */
bool api_list_fields(const HttpRequest *request, const char *const *known, GPtrArray **out,
                     GError **error);

/* For lists in order of name: the index of the first of `items` whose name is after the cursor. */
typedef const char *(*api_list_name_fn)(gconstpointer item);
void api_list_collect_by_name(struct api_list *list, const GPtrArray *items, api_list_name_fn name);

/* The order of a project's commits: where one is to the place that a cursor names by the two texts
 * of its key and sha. */
int api_list_compare_commit(const struct store_commit *commit, char *const place[2]);

/* The cursor's text from its fields, and back; pure. NULL: not a cursor of this list. */
char *api_list_cursor_encode(char mark, const char *const *fields, guint n_fields);
char **api_list_cursor_decode(char mark, const char *text, guint n_fields);
