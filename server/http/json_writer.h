/* SPDX-License-Identifier: Apache-2.0
 * Writes JSON straight into a GString: commas, quotes and nesting are kept right, no tree is built.
 * For answers with many rows. Knows no resource. Plain data on the caller's stack; one thread at a
 * time.
 *
 * Every function takes the member's key, or NULL for an element of an array. Keys are literals of
 * ours and are not escaped. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define JSON_WRITER_DEPTH_MAX 32u

struct json_writer {
    GString *out; /* borrowed */
    guint depth;
    bool is_array[JSON_WRITER_DEPTH_MAX], has_items[JSON_WRITER_DEPTH_MAX];
    const GPtrArray *only; /* see json_writer_only */
    guint only_depth;
    gsize kept; /* where the text of a member that is left out begins, plus 1; 0: none */
};

#define JSON_WRITER_INIT(string)                                                                   \
    {                                                                                              \
        .out = (string)                                                                            \
    }

/* Of objects `depth` levels deep only the members whose key is among `keys` (char *, borrowed;
 * NULL: all) stay: others are written, and taken back. */
void json_writer_only(struct json_writer *writer, const GPtrArray *keys, guint depth);

void json_writer_object(struct json_writer *writer,
                        const char *key); /* opens {; at most JSON_WRITER_DEPTH_MAX deep */
void json_writer_array(struct json_writer *writer, const char *key); /* opens [ */
void json_writer_end(struct json_writer *writer); /* closes what was opened last */

void json_writer_string(struct json_writer *writer, const char *key,
                        const char *text); /* NULL: null. Valid UTF-8 */
/* The same for a text of ours that needs no escape, such as a sha. */
void json_writer_plain(struct json_writer *writer, const char *key, const char *text,
                       size_t length);
void json_writer_number(struct json_writer *writer, const char *key,
                        double value); /* not finite: null */
void json_writer_integer(struct json_writer *writer, const char *key, int64_t value);
void json_writer_bool(struct json_writer *writer, const char *key, bool value);
void json_writer_null(struct json_writer *writer, const char *key);
void json_writer_raw(struct json_writer *writer, const char *key,
                     const char *json); /* a whole JSON value as text; NULL: null */

/* Opens a member whose key is not ours: escaped. The value follows by a call with key NULL. */
void json_writer_key(struct json_writer *writer, const char *key);
