/* SPDX-License-Identifier: Apache-2.0
 * See series_stream.h. Pure; one thread at a time. */
#include "server/work/series_stream.h"

#include "server/store/sample_blob.h"
#include <math.h>
#include <string.h>

#define STREAM_FORMAT 1u

SeriesStream *series_stream_new(const struct detector_settings *settings)
{
    SeriesStream *stream = g_new0(SeriesStream, 1);
    stream->detector = detector_new(settings);
    stream->commits = g_array_new(FALSE, FALSE, sizeof(int64_t));
    return stream;
}

void series_stream_free(SeriesStream *stream)
{
    if (!stream)
        return;
    detector_free(stream->detector);
    g_array_unref(stream->commits);
    g_free(stream);
}

SeriesStream *series_stream_copy(const SeriesStream *stream)
{
    SeriesStream *copy = g_memdup2(stream, sizeof *stream);
    copy->detector = detector_copy(stream->detector);
    copy->commits = g_array_copy(stream->commits);
    return copy;
}

void series_stream_set_count(SeriesStream *stream, guint64 count)
{
    detector_set_count(stream->detector, count);
}

static bool same_newest(const struct series_newest *a, const struct series_newest *b)
{
    return a->commit_id == b->commit_id && a->point.value == b->point.value &&
           a->point.marks == b->point.marks && a->environment == b->environment &&
           a->version == b->version;
}

bool series_stream_same(const SeriesStream *a, const SeriesStream *b)
{
    return same_newest(&a->newest, &b->newest) && a->environment == b->environment &&
           a->version == b->version && a->commits->len == b->commits->len &&
           memcmp(a->commits->data, b->commits->data, a->commits->len * sizeof(int64_t)) == 0 &&
           detector_same_future(a->detector, b->detector);
}

static void put_bits(GByteArray *out, double value)
{
    guint64 bits;
    memcpy(&bits, &value, sizeof bits);
    sample_blob_put_uint(out, bits);
}

static double get_bits(struct sample_blob_reader *reader)
{
    guint64 bits = sample_blob_get_uint(reader);
    double value;
    memcpy(&value, &bits, sizeof value);
    reader->damaged = reader->damaged || !isfinite(value);
    return reader->damaged ? 0 : value;
}

struct store_state *series_stream_save(const SeriesStream *stream, int64_t series_id)
{
    GByteArray *out = g_byte_array_sized_new(512);
    sample_blob_put_uint(out, STREAM_FORMAT);
    sample_blob_put_int(out, stream->newest.commit_id);
    put_bits(out, stream->newest.point.value);
    sample_blob_put_uint(out, stream->newest.point.marks);
    const int64_t numbers[] = {
        stream->newest.environment, stream->newest.version, stream->environment,    stream->version,
        stream->version_received,   stream->judged_seq,     stream->first_commit_id};
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
        sample_blob_put_int(out, numbers[i]);
    sample_blob_put_uint(out, stream->commits->len);
    int64_t previous = 0;
    for (guint i = 0; i < stream->commits->len; i++) {
        int64_t id = g_array_index(stream->commits, int64_t, i);
        sample_blob_put_int(out, id - previous);
        previous = id;
    }
    struct store_state *state = g_new0(struct store_state, 1);
    state->series_id = series_id;
    if (stream->commits->len > 0)
        state->commit_id = g_array_index(stream->commits, int64_t, stream->commits->len - 1);
    state->state = detector_save(stream->detector);
    state->tail = g_byte_array_free_to_bytes(out);
    return state;
}

static bool read_tail(SeriesStream *stream, struct sample_blob_reader *reader)
{
    if (sample_blob_get_uint(reader) != STREAM_FORMAT)
        return false;
    stream->newest.commit_id = sample_blob_get_int(reader);
    stream->newest.point.value = get_bits(reader);
    stream->newest.point.marks = (guint32)sample_blob_get_uint(reader);
    int64_t *const numbers[] = {&stream->newest.environment, &stream->newest.version,
                                &stream->environment,        &stream->version,
                                &stream->version_received,   &stream->judged_seq,
                                &stream->first_commit_id};
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
        *numbers[i] = sample_blob_get_int(reader);
    uint64_t n = sample_blob_get_uint(reader), seen = detector_count(stream->detector);
    if (reader->damaged || n != MIN(seen, DETECTOR_TAIL))
        return false;
    int64_t id = 0;
    for (uint64_t i = 0; i < n; i++) {
        id += sample_blob_get_int(reader);
        g_array_append_val(stream->commits, id);
    }
    return !reader->damaged && reader->at == reader->end;
}

SeriesStream *series_stream_restore(const struct store_state *state,
                                    const struct detector_settings *settings)
{
    g_autoptr(SeriesStream) stream = g_new0(SeriesStream, 1);
    stream->commits = g_array_sized_new(FALSE, FALSE, sizeof(int64_t), DETECTOR_TAIL + 1);
    stream->detector = detector_restore(state->state, settings, NULL);
    gsize length;
    const guint8 *bytes = g_bytes_get_data(state->tail, &length);
    struct sample_blob_reader reader = {.at = bytes, .end = bytes + length};
    return stream->detector && read_tail(stream, &reader) ? g_steal_pointer(&stream) : NULL;
}

void series_stream_settle(SeriesStream *stream, GArray *events)
{
    if (stream->newest.commit_id == 0)
        return;
    detector_feed(stream->detector, &stream->newest.point, events);
    if (stream->commits->len == DETECTOR_TAIL)
        g_array_remove_index(stream->commits, 0);
    g_array_append_val(stream->commits, stream->newest.commit_id);
    stream->newest = (struct series_newest){0};
}

/* Takes over a fact that is known; true where another was known before. */
static bool take_fact(int64_t *known, int64_t fact)
{
    bool changed = fact != 0 && *known != 0 && fact != *known;
    if (fact != 0)
        *known = fact;
    return changed;
}

void series_stream_push(SeriesStream *stream, const struct series_newest *newest)
{
    stream->newest = *newest;
    if (detector_count(stream->detector) == 0)
        stream->first_commit_id = newest->commit_id;
    bool moved = take_fact(&stream->environment, newest->environment);
    bool renewed = take_fact(&stream->version, newest->version);
    if (moved || renewed)
        stream->newest.point.marks |= DETECTOR_MARK_BOUNDARY;
}
