/* SPDX-License-Identifier: Apache-2.0
 * Reading a JSON document by tables of fields: each field has a name, a taker that checks its value
 * and stores it, and the offset of the member it fills. Every fault is found in one pass, with its
 * place. Knows JSON, but no document in particular. The only recursion is that of the tables
 * themselves, whose depth is fixed; jansson bounds its own at 2048. Any thread. */
#pragma once

#include "schema/error.h"
#include "schema/fault.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOCUMENT_WHOLE_MAX                                                                         \
    INT64_C(9007199254740992) /* 2^53: whole numbers beyond it would lose digits */
#define DOCUMENT_TREE_BYTES_MAX                                                                    \
    ((uint64_t)512 << 20) /* of the parsed tree, estimated before it is built */

/* Where a value stands: linked through the callers' stacks, so that naming a place costs nothing
 * until there is a fault. */
struct place {
    const struct place *up; /* NULL: the whole document */
    const char *key;        /* NULL: an element of an array */
    size_t index;
};

struct reading {
    Faults *faults;
    const struct place *place;
};

struct field {
    const char *name;
    bool required;
    /* Stores into `member` (the target plus offset); adds a fault where the value is wrong. */
    void (*take)(struct reading at, json_t *value, const struct field *field, void *member);
    size_t offset;
    size_t bytes_max;           /* of strings */
    const char *const *choices; /* NULL-terminated, for document_take_choice */
};

struct field_table {
    const char *what; /* "a commit" */
    const struct field *fields;
    size_t n_fields; /* at most 32 */
};

/* NULL: ERROR_TOO_LARGE, ERROR_BUSY where memory ran out, or ERROR_SYNTAX that says line, column
 * and byte offset (malformed JSON, invalid UTF-8, duplicate keys, bare NaN, nesting beyond 2048).
 */
json_t *document_load(const char *bytes, size_t length, GError **error);

void document_fault(struct reading at, const char *format, ...) G_GNUC_PRINTF(2, 3);

const char *document_type_name(const json_t *value); /* "an object" */

/* Sets ERROR_INVALID that counts the faults and names the first; true where there are none. */
bool document_conclude(const Faults *faults, GError **error);

/* Fills `target` by the table; unknown fields and missing required ones are faults. False where
 * value is no object. */
bool document_read(struct reading at, json_t *value, const struct field_table *table, void *target);

/* Iterating with places. The callback gets each member or element; false (with a fault) where value
 * is not of that type or has more than n_max entries. Keys are checked as names. */
typedef void (*document_each_fn)(struct reading at, const char *key, json_t *value, void *user);
bool document_each_member(struct reading at, json_t *value, size_t n_max, document_each_fn each,
                          void *user);
bool document_each_element(struct reading at, json_t *value, size_t n_max, document_each_fn each,
                           void *user);

/* Numbers: finite by JSON's grammar; whole ones within ±2^53. False with a fault. */
bool document_number(struct reading at, json_t *value, double *out_value);
bool document_whole(struct reading at, json_t *value, int64_t minimum, int64_t *out_value);

/* Takers. Strings replace what the member holds. */
void document_take_name(struct reading at, json_t *value, const struct field *field,
                        void *member); /* char * */
void document_take_text(struct reading at, json_t *value, const struct field *field,
                        void *member); /* char *, any characters */
void document_take_line(struct reading at, json_t *value, const struct field *field,
                        void *member); /* char *, not empty */
void document_take_unit(struct reading at, json_t *value, const struct field *field,
                        void *member); /* char *, may be "" */
void document_take_choice(struct reading at, json_t *value, const struct field *field,
                          void *member); /* char * */
void document_take_sha(struct reading at, json_t *value, const struct field *field,
                       void *member); /* char * */
void document_take_bool(struct reading at, json_t *value, const struct field *field,
                        void *member); /* bool */
void document_take_time_ms(struct reading at, json_t *value, const struct field *field,
                           void *member); /* int64_t */
void document_take_scalars(struct reading at, json_t *value, const struct field *field,
                           void *member); /* char *: canonical JSON */

/* A scalar as canonical JSON text, appended; false where it is none. */
bool document_append_scalar(GString *out, const json_t *value);

/* The object's keys sorted bytewise; they live as long as the object. */
GPtrArray *document_sorted_keys(json_t *object);
