/* SPDX-License-Identifier: Apache-2.0
 * The packed form of a run's results at rest: two byte strings per run.
 *
 * The directory says which series each result's metrics belong to:
 *   version, n_results, per result: n_metrics * 2 + spelled [bench, params text where spelled],
 * n_metrics series ids. `spelled` is set where the names are not those of the first series
 * (aliases, parameter defaults, results without metrics). The body holds the rest, in the
 * document's order: errors, info, flags, samples, what was recorded beside them. Both: unsigned
 * LEB128 integers; series ids as zigzag differences; floating point as little-endian IEEE 754, 8
 * bytes each, or 4 where all numbers of an array are exact in that; strings once, later uses by
 * their number. Pure: no SQL, no lock; reading trusts no byte of what it reads. */
#pragma once

#include "schema/run.h"

/* ---- Bytes, shared with the other packed columns
 * ------------------------------------------------------------------ */

void sample_blob_put_uint(GByteArray *out, uint64_t value);
void sample_blob_put_int(GByteArray *out, int64_t value); /* zigzag */
void sample_blob_put_text(GByteArray *out, const char *text);

struct sample_blob_reader {
    const guint8 *at, *end;
    bool damaged; /* sticks; all further reads give 0 or "" */
};

uint64_t sample_blob_get_uint(struct sample_blob_reader *reader);
int64_t sample_blob_get_int(struct sample_blob_reader *reader);
char *sample_blob_get_text(struct sample_blob_reader *reader); /* owned by the caller */

/* ---- The directory
 * ------------------------------------------------------------------------------------------------
 */

struct sample_directory {
    GByteArray *bytes; /* NULL before the start */
    int64_t previous_id;
};

void sample_directory_start(struct sample_directory *directory, guint n_results);
/* `bench` and `params_text` are NULL where they are those of the first series. */
void sample_directory_add_result(struct sample_directory *directory, const char *bench,
                                 const char *params_text, guint n_metrics);
void sample_directory_add_series(struct sample_directory *directory, int64_t series_id);

struct sample_directory_result {
    char *bench, *params_text; /* NULL: those of the first series */
    guint n_metrics;
    int64_t *series_ids;
};
void sample_directory_result_free(struct sample_directory_result *result);

/* Array of struct sample_directory_result *; NULL where the bytes are damaged. */
GPtrArray *sample_directory_parse(const void *bytes, size_t length);

/* ---- The body
 * -----------------------------------------------------------------------------------------------------
 */

GByteArray *sample_blob_encode(const Run *run);

/* Fills `results` (struct run_result *, with the bench, params and metrics' names of the directory
 * already in them). False where the bytes are damaged. */
bool sample_blob_decode(const void *bytes, size_t length, GPtrArray *results);
