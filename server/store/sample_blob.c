/* SPDX-License-Identifier: Apache-2.0
 * Packing a run's results and reading them back (see sample_blob.h). Must not know of SQL, the
 * catalogue or locks; encoding runs on the thread that posts, decoding on the thread that reads. */
#include "server/store/sample_blob.h"
#include <string.h>

#define BLOB_VERSION 1

enum { RESULT_HAS_ERROR = 1, RESULT_HAS_INFO = 2, RESULT_HAS_FLAGS = 4, RESULT_HAS_BESIDE = 8 };
enum { SUMMARY_HAS_LOW = 1, SUMMARY_HAS_HIGH = 2, SUMMARY_HAS_N = 4, SUMMARY_IS_MEAN = 8 };

/* ---- Bytes
 * --------------------------------------------------------------------------------------------------------
 */

void sample_blob_put_uint(GByteArray *out, uint64_t value)
{
    guint8 buffer[10];
    guint length = 0;
    while (value >= 0x80) {
        buffer[length++] = (guint8)(value | 0x80);
        value >>= 7;
    }
    buffer[length++] = (guint8)value;
    g_byte_array_append(out, buffer, length);
}

void sample_blob_put_int(GByteArray *out, int64_t value)
{
    uint64_t sign = value < 0 ? UINT64_MAX : 0;
    sample_blob_put_uint(out, ((uint64_t)value << 1) ^ sign);
}

void sample_blob_put_text(GByteArray *out, const char *text)
{
    size_t length = strlen(text);
    sample_blob_put_uint(out, length);
    g_byte_array_append(out, (const guint8 *)text, (guint)length);
}

static size_t bytes_left(const struct sample_blob_reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

static const guint8 *take(struct sample_blob_reader *reader, uint64_t length)
{
    if (reader->damaged || length > bytes_left(reader)) {
        reader->damaged = true;
        return NULL;
    }
    const guint8 *bytes = reader->at;
    reader->at += length;
    return bytes;
}

uint64_t sample_blob_get_uint(struct sample_blob_reader *reader)
{
    uint64_t value = 0;
    for (guint shift = 0; shift < 64; shift += 7) {
        const guint8 *byte = take(reader, 1);
        if (!byte)
            return 0;
        value |= (uint64_t)(*byte & 0x7f) << shift;
        if (*byte < 0x80)
            return value;
    }
    reader->damaged = true;
    return 0;
}

int64_t sample_blob_get_int(struct sample_blob_reader *reader)
{
    uint64_t value = sample_blob_get_uint(reader);
    return (int64_t)((value >> 1) ^ (~(value & 1) + 1));
}

char *sample_blob_get_text(struct sample_blob_reader *reader)
{
    uint64_t length = sample_blob_get_uint(reader);
    const guint8 *bytes = take(reader, length);
    return g_strndup(bytes ? (const char *)bytes : "", bytes ? (gsize)length : 0);
}

/* A count of things of at least `bytes_each`: more than the bytes left can hold is damage, so that
 * nothing is allocated for it. */
static guint get_count(struct sample_blob_reader *reader, size_t bytes_each)
{
    uint64_t count = sample_blob_get_uint(reader);
    if (count > bytes_left(reader) / bytes_each) {
        reader->damaged = true;
        return 0;
    }
    return (guint)count;
}

static void put_double(GByteArray *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = GUINT64_TO_LE(bits);
    g_byte_array_append(out, (const guint8 *)&bits, sizeof bits);
}

static double get_double(struct sample_blob_reader *reader)
{
    const guint8 *bytes = take(reader, sizeof(uint64_t));
    if (!bytes)
        return 0;
    uint64_t bits;
    memcpy(&bits, bytes, sizeof bits);
    bits = GUINT64_FROM_LE(bits);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool exact_in_float(const double *values, guint n)
{
    for (guint i = 0; i < n; i++) {
        /* Beyond the range of a float the conversion itself would be undefined. */
        if (!(values[i] >= -0x1p127 && values[i] <= 0x1p127))
            return false;
        double back = (double)(float)values[i];
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*): bits; -0 is not 0 */
        if (memcmp(&back, &values[i], sizeof back) != 0)
            return false;
    }
    return true;
}

static void put_doubles(GByteArray *out, const double *values, guint n)
{
    bool narrow = exact_in_float(values, n);
    sample_blob_put_uint(out, (uint64_t)n << 1 | narrow);
    if (!narrow && G_BYTE_ORDER == G_LITTLE_ENDIAN) {
        g_byte_array_append(out, (const guint8 *)values, (guint)(n * sizeof values[0]));
        return;
    }
    for (guint i = 0; i < n; i++) {
        if (narrow) {
            float value = (float)values[i];
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            bits = GUINT32_TO_LE(bits);
            g_byte_array_append(out, (const guint8 *)&bits, sizeof bits);
        } else {
            put_double(out, values[i]);
        }
    }
}

static double get_float(struct sample_blob_reader *reader)
{
    const guint8 *bytes = take(reader, sizeof(uint32_t));
    if (!bytes)
        return 0;
    uint32_t bits;
    memcpy(&bits, bytes, sizeof bits);
    bits = GUINT32_FROM_LE(bits);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double *get_doubles(struct sample_blob_reader *reader, uint32_t *out_n)
{
    uint64_t head = sample_blob_get_uint(reader);
    bool narrow = head & 1;
    size_t width = narrow ? sizeof(float) : sizeof(double);
    *out_n = 0;
    if (head >> 1 > bytes_left(reader) / width) {
        reader->damaged = true;
        return NULL;
    }
    uint32_t n = (uint32_t)(head >> 1);
    double *values = g_new(double, MAX(n, 1));
    for (uint32_t i = 0; i < n; i++)
        values[i] = narrow ? get_float(reader) : get_double(reader);
    *out_n = n;
    return values;
}

/* ---- Strings by number
 * -------------------------------------------------------------------------------------------- */

static void put_shared(GByteArray *out, GHashTable *numbers, const char *text)
{
    gpointer number;
    if (g_hash_table_lookup_extended(numbers, text, NULL, &number)) {
        sample_blob_put_uint(out, GPOINTER_TO_UINT(number));
        return;
    }
    guint next = g_hash_table_size(numbers);
    /* The key lives as long as the run that is encoded. */
    g_hash_table_insert(numbers, (gpointer)(guintptr)text, GUINT_TO_POINTER(next));
    sample_blob_put_uint(out, next);
    sample_blob_put_text(out, text);
}

static char *get_shared(struct sample_blob_reader *reader, GPtrArray *texts)
{
    uint64_t number = sample_blob_get_uint(reader);
    if (number > texts->len)
        reader->damaged = true;
    if (reader->damaged)
        return g_strdup("");
    if (number == texts->len)
        g_ptr_array_add(texts, sample_blob_get_text(reader));
    return g_strdup(texts->pdata[number]);
}

/* ---- The directory
 * ------------------------------------------------------------------------------------------------
 */

void sample_directory_start(struct sample_directory *directory, guint n_results)
{
    directory->bytes = g_byte_array_sized_new(64);
    directory->previous_id = 0;
    sample_blob_put_uint(directory->bytes, BLOB_VERSION);
    sample_blob_put_uint(directory->bytes, n_results);
}

void sample_directory_add_result(struct sample_directory *directory, const char *bench,
                                 const char *params_text, guint n_metrics)
{
    sample_blob_put_uint(directory->bytes, (uint64_t)n_metrics << 1 | (bench != NULL));
    if (bench) {
        sample_blob_put_text(directory->bytes, bench);
        sample_blob_put_text(directory->bytes, params_text);
    }
}

void sample_directory_add_series(struct sample_directory *directory, int64_t series_id)
{
    sample_blob_put_int(directory->bytes, series_id - directory->previous_id);
    directory->previous_id = series_id;
}

void sample_directory_result_free(struct sample_directory_result *result)
{
    g_free(result->bench);
    g_free(result->params_text);
    g_free(result->series_ids);
    g_free(result);
}

static void free_directory_result(gpointer result)
{
    sample_directory_result_free(result);
}

GPtrArray *sample_directory_parse(const void *bytes, size_t length)
{
    struct sample_blob_reader reader = {.at = bytes, .end = (const guint8 *)bytes + length};
    if (sample_blob_get_uint(&reader) != BLOB_VERSION)
        return NULL;
    guint n_results = get_count(&reader, 1);
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func(free_directory_result);
    int64_t id = 0;
    for (guint i = 0; i < n_results && !reader.damaged; i++) {
        struct sample_directory_result *result = g_new0(struct sample_directory_result, 1);
        g_ptr_array_add(results, result);
        uint64_t head = sample_blob_get_uint(&reader);
        if (head & 1) {
            result->bench = sample_blob_get_text(&reader);
            result->params_text = sample_blob_get_text(&reader);
        }
        if (head >> 1 > bytes_left(&reader) || (!(head & 1) && head >> 1 == 0)) {
            reader.damaged = true;
            break;
        }
        result->n_metrics = (guint)(head >> 1);
        result->series_ids = g_new(int64_t, MAX(result->n_metrics, 1));
        for (guint m = 0; m < result->n_metrics; m++)
            result->series_ids[m] = id += sample_blob_get_int(&reader);
    }
    return reader.damaged ? NULL : g_steal_pointer(&results);
}

/* ---- The body
 * -----------------------------------------------------------------------------------------------------
 */

static void put_metric(GByteArray *out, const struct run_metric *metric)
{
    sample_blob_put_uint(out, (uint64_t)metric->kind | (uint64_t)metric->better << 2);
    switch (metric->kind) {
    case METRIC_SAMPLES:
        put_doubles(out, metric->samples, metric->n_samples);
        break;
    case METRIC_SUMMARY:
        sample_blob_put_uint(out, (metric->summary.has_low ? SUMMARY_HAS_LOW : 0u) |
                                      (metric->summary.has_high ? SUMMARY_HAS_HIGH : 0u) |
                                      (metric->summary.has_n ? SUMMARY_HAS_N : 0u) |
                                      (metric->summary.is_mean ? SUMMARY_IS_MEAN : 0u));
        put_double(out, metric->summary.center);
        put_double(out, metric->summary.low);
        put_double(out, metric->summary.high);
        sample_blob_put_int(out, metric->summary.n);
        break;
    case METRIC_HISTOGRAM:
        put_double(out, metric->histogram.error_ratio);
        sample_blob_put_uint(out, metric->histogram.n_buckets);
        for (guint i = 0; i < metric->histogram.n_buckets; i++) {
            const struct run_bucket *bucket = &metric->histogram.buckets[i];
            put_double(out, bucket->low);
            put_double(out, bucket->high);
            sample_blob_put_int(out, bucket->count);
        }
        break;
    case METRIC_CENSORED:
        sample_blob_put_uint(out, metric->censored.above);
        put_double(out, metric->censored.limit);
        break;
    }
}

static void get_histogram(struct sample_blob_reader *reader, struct run_metric *metric)
{
    metric->histogram.error_ratio = get_double(reader);
    guint n = get_count(reader, 2 * sizeof(double) + 1);
    metric->histogram.buckets = g_new0(struct run_bucket, MAX(n, 1));
    metric->histogram.n_buckets = n;
    for (guint i = 0; i < n; i++) {
        struct run_bucket *bucket = &metric->histogram.buckets[i];
        bucket->low = get_double(reader);
        bucket->high = get_double(reader);
        bucket->count = sample_blob_get_int(reader);
    }
}

static void get_metric(struct sample_blob_reader *reader, struct run_metric *metric)
{
    uint64_t head = sample_blob_get_uint(reader);
    metric->kind = (enum metric_kind)(head & 3);
    metric->better = (enum better)((head >> 2) & 3);
    switch (metric->kind) {
    case METRIC_SAMPLES:
        g_free(metric->samples);
        metric->samples = get_doubles(reader, &metric->n_samples);
        break;
    case METRIC_SUMMARY: {
        uint64_t has = sample_blob_get_uint(reader);
        metric->summary.has_low = has & SUMMARY_HAS_LOW;
        metric->summary.has_high = has & SUMMARY_HAS_HIGH;
        metric->summary.has_n = has & SUMMARY_HAS_N;
        metric->summary.is_mean = has & SUMMARY_IS_MEAN;
        metric->summary.center = get_double(reader);
        metric->summary.low = get_double(reader);
        metric->summary.high = get_double(reader);
        metric->summary.n = sample_blob_get_int(reader);
        break;
    }
    case METRIC_HISTOGRAM:
        get_histogram(reader, metric);
        break;
    case METRIC_CENSORED:
        metric->censored.above = sample_blob_get_uint(reader);
        metric->censored.limit = get_double(reader);
        break;
    }
}

static void put_result(GByteArray *out, GHashTable *numbers, const struct run_result *result)
{
    sample_blob_put_uint(out, (result->error ? RESULT_HAS_ERROR : 0u) |
                                  (result->info_json ? RESULT_HAS_INFO : 0u) |
                                  (result->flags->len ? RESULT_HAS_FLAGS : 0u) |
                                  (result->beside->len ? RESULT_HAS_BESIDE : 0u));
    if (result->error)
        put_shared(out, numbers, result->error);
    if (result->info_json)
        put_shared(out, numbers, result->info_json);
    if (result->flags->len) {
        sample_blob_put_uint(out, result->flags->len);
        for (guint i = 0; i < result->flags->len; i++)
            put_shared(out, numbers, result->flags->pdata[i]);
    }
    for (guint i = 0; i < result->metrics->len; i++)
        put_metric(out, result->metrics->pdata[i]);
    if (result->beside->len) {
        sample_blob_put_uint(out, result->beside->len);
        for (guint i = 0; i < result->beside->len; i++) {
            const struct run_beside *beside = result->beside->pdata[i];
            put_shared(out, numbers, beside->name);
            put_shared(out, numbers, beside->unit);
            put_doubles(out, beside->values, beside->n_values);
        }
    }
}

GByteArray *sample_blob_encode(const Run *run)
{
    GByteArray *out = g_byte_array_sized_new(4096);
    g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
    sample_blob_put_uint(out, BLOB_VERSION);
    for (guint i = 0; i < run->results->len; i++)
        put_result(out, numbers, run->results->pdata[i]);
    return out;
}

static void get_result(struct sample_blob_reader *reader, GPtrArray *texts,
                       struct run_result *result)
{
    uint64_t has = sample_blob_get_uint(reader);
    if (has & RESULT_HAS_ERROR)
        result->error = get_shared(reader, texts);
    if (has & RESULT_HAS_INFO)
        result->info_json = get_shared(reader, texts);
    if (has & RESULT_HAS_FLAGS) {
        guint n = get_count(reader, 1);
        for (guint i = 0; i < n && !reader->damaged; i++)
            g_ptr_array_add(result->flags, get_shared(reader, texts));
    }
    for (guint i = 0; i < result->metrics->len; i++)
        get_metric(reader, result->metrics->pdata[i]);
    if (has & RESULT_HAS_BESIDE) {
        guint n = get_count(reader, 3);
        for (guint i = 0; i < n && !reader->damaged; i++) {
            g_autofree char *name = get_shared(reader, texts);
            g_autofree char *unit = get_shared(reader, texts);
            uint32_t n_values;
            g_autofree double *values = get_doubles(reader, &n_values);
            if (values)
                run_result_add_beside(result, name, unit, values, n_values);
        }
    }
}

bool sample_blob_decode(const void *bytes, size_t length, GPtrArray *results)
{
    if (!bytes) /* SQLite's blob of no bytes */
        return false;
    struct sample_blob_reader reader = {.at = bytes, .end = (const guint8 *)bytes + length};
    if (sample_blob_get_uint(&reader) != BLOB_VERSION)
        return false;
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < results->len && !reader.damaged; i++)
        get_result(&reader, texts, results->pdata[i]);
    return !reader.damaged && reader.at == reader.end;
}
