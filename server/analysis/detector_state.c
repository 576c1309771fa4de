/* SPDX-License-Identifier: Apache-2.0
 * A detector's state as bytes. Places are written as distances from the newest commit, so that two
 * streams whose indices differ by a shift write the same bytes after the header. Pure. */
#include "server/analysis/detector_state.h"

#include "schema/error.h"

#include <math.h>
#include <string.h>

#define MAGIC        0x32444b42u /* "BKD2" */
#define HEADER_BYTES 12u         /* magic and the count of commits */

static void put_u32(GByteArray *out, guint32 value)
{
    guint32 little = GUINT32_TO_LE(value);
    g_byte_array_append(out, (const guint8 *)&little, sizeof little);
}

static void put_u64(GByteArray *out, guint64 value)
{
    guint64 little = GUINT64_TO_LE(value);
    g_byte_array_append(out, (const guint8 *)&little, sizeof little);
}

static void put_double(GByteArray *out, double value)
{
    guint64 bits;
    memcpy(&bits, &value, sizeof bits);
    put_u64(out, bits);
}

static void put_change(GByteArray *out, const Detector *detector,
                       const struct detector_change *change)
{
    put_u64(out, detector->n_seen - change->at);
    put_u64(out, detector->n_seen - change->raised_at);
    put_u64(out, detector->n_seen - change->told_at);
    put_u32(out, (guint32)change->kind);
    put_u32(out, (guint32)change->status | (change->told ? 0x100u : 0));
    const double numbers[] = {change->told_effect, change->effect, change->low, change->high,
                              change->before,      change->after,  change->p};
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
        put_double(out, numbers[i]);
    put_u32(out, change->n_before);
    put_u32(out, change->n_after);
}

static void put_tail(GByteArray *out, const Detector *detector)
{
    put_u32(out, detector->n_tail);
    for (guint i = 0; i < detector->n_tail; i++)
        put_double(out, detector->values[i]);
    guint n_marked = 0;
    for (guint i = 0; i < detector->n_tail; i++)
        n_marked += detector->marks[i] != 0;
    put_u32(out, n_marked);
    for (guint i = 0; i < detector->n_tail; i++) {
        if (detector->marks[i] != 0)
            put_u32(out, i << 8 | detector->marks[i]);
    }
}

GBytes *detector_save(const Detector *detector)
{
    GByteArray *out = g_byte_array_sized_new(4096);
    put_u32(out, MAGIC);
    put_u64(out, detector->n_seen);
    put_double(out, detector->unit);
    put_double(out, detector->noise);
    put_double(out, detector->factor);
    put_double(out, detector->level);
    for (guint i = 0; i < DETECTOR_TRIGGERS; i++)
        put_double(out, detector->refused[i]);
    put_tail(out, detector);
    put_u32(out, detector->n_changes);
    for (guint i = 0; i < detector->n_changes; i++)
        put_change(out, detector, &detector->changes[i]);
    return g_byte_array_free_to_bytes(out);
}

struct reader {
    const guint8 *bytes;
    gsize left;
    bool failed;
};

static guint32 get_u32(struct reader *reader)
{
    guint32 value = 0;
    if (reader->left < sizeof value) {
        reader->failed = true;
        return 0;
    }
    memcpy(&value, reader->bytes, sizeof value);
    reader->bytes += sizeof value;
    reader->left -= sizeof value;
    return GUINT32_FROM_LE(value);
}

static guint64 get_u64(struct reader *reader)
{
    guint64 low = get_u32(reader);
    return low | (guint64)get_u32(reader) << 32;
}

static double get_double(struct reader *reader)
{
    guint64 bits = get_u64(reader);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) {
        reader->failed = true;
        return 0;
    }
    return value;
}

static void get_tail(struct reader *reader, Detector *detector)
{
    guint32 n = get_u32(reader);
    if (n > DETECTOR_TAIL || n > detector->n_seen) {
        reader->failed = true;
        return;
    }
    detector->n_tail = n;
    for (guint i = 0; i < n; i++)
        detector->values[i] = get_double(reader);
    guint32 n_marked = get_u32(reader);
    for (guint i = 0; i < n_marked && !reader->failed; i++) {
        guint32 mark = get_u32(reader);
        if (mark >> 8 >= n)
            reader->failed = true;
        else
            detector->marks[mark >> 8] = (guint8)mark;
    }
}

static void get_change(struct reader *reader, const Detector *detector,
                       struct detector_change *change)
{
    guint64 age = get_u64(reader);
    change->at = detector->n_seen - age;
    change->raised_at = detector->n_seen - get_u64(reader);
    change->told_at = detector->n_seen - get_u64(reader);
    guint32 kind = get_u32(reader), status = get_u32(reader);
    change->told = (status & 0x100u) != 0;
    change->kind = (enum detector_kind)MIN(kind, (guint32)DETECTOR_PINNED);
    change->status = (enum detector_status)MIN(status & 0xffu, (guint32)DETECTOR_REVERTED);
    double *const numbers[] = {&change->told_effect, &change->effect, &change->low, &change->high,
                               &change->before,      &change->after,  &change->p};
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
        *numbers[i] = get_double(reader);
    change->n_before = get_u32(reader);
    change->n_after = get_u32(reader);
    if (age >= detector->n_tail || kind > DETECTOR_PINNED || (status & 0xffu) > DETECTOR_REVERTED)
        reader->failed = true; /* a place at the tail's very start has left the state already */
}

Detector *detector_restore(GBytes *state, const struct detector_settings *settings, GError **error)
{
    gsize n_bytes;
    struct reader reader = {(const guint8 *)g_bytes_get_data(state, &n_bytes), 0, false};
    reader.left = n_bytes;
    g_autoptr(Detector) detector = detector_new(settings);
    reader.failed = get_u32(&reader) != MAGIC;
    detector->n_seen = get_u64(&reader);
    detector->unit = get_double(&reader);
    detector->noise = get_double(&reader);
    detector->factor = get_double(&reader);
    detector->level = get_double(&reader);
    for (guint i = 0; i < DETECTOR_TRIGGERS; i++)
        detector->refused[i] = get_double(&reader);
    get_tail(&reader, detector);
    guint32 n_changes = get_u32(&reader);
    if (n_changes > DETECTOR_CHANGES_MAX)
        reader.failed = true;
    for (guint i = 0; i < n_changes && !reader.failed; i++)
        get_change(&reader, detector, &detector->changes[i]);
    if (reader.failed || reader.left != 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the saved state of a change detector is damaged or of another version; judge "
                    "the series' history again from its start");
        return NULL;
    }
    detector->n_changes = n_changes;
    detector_judge_units(detector);
    return g_steal_pointer(&detector);
}

bool detector_same_future(const Detector *a, const Detector *b)
{
    if (a->n_tail != b->n_tail || a->level != b->level || a->noise != b->noise ||
        memcmp(a->values, b->values, a->n_tail * sizeof a->values[0]) != 0)
        return false;
    g_autoptr(GBytes) left = detector_save(a);
    g_autoptr(GBytes) right = detector_save(b);
    gsize n_left, n_right;
    const guint8 *left_data = (const guint8 *)g_bytes_get_data(left, &n_left);
    const guint8 *right_data = (const guint8 *)g_bytes_get_data(right, &n_right);
    return n_left == n_right &&
           memcmp(left_data + HEADER_BYTES, right_data + HEADER_BYTES, n_left - HEADER_BYTES) == 0;
}

void detector_set_count(Detector *detector, guint64 count)
{
    detector_shift(detector, (gint64)(count - detector->n_seen));
}

void detector_shift_change(struct detector_change *change, gint64 shift)
{
    change->at += (guint64)shift;
    change->raised_at += (guint64)shift;
    change->told_at += (guint64)shift;
}

void detector_shift(Detector *detector, gint64 shift)
{
    detector->n_seen += (guint64)shift;
    for (guint i = 0; i < detector->n_changes; i++)
        detector_shift_change(&detector->changes[i], shift);
}
