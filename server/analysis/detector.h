/* SPDX-License-Identifier: Apache-2.0
 * Finds where one series' level moves while its commits arrive one after the other, and remembers
 * what it has told. One detector is one series; it knows indices in commit order, not commits.
 * Pure: no clock, no store, no randomness; the same points give the same answers. One thread at a
 * time.
 *
 * The stream in commit order is the definition of what is found. A new commit costs work on the
 * last DETECTOR_TAIL values at most, however long the history is; all that the future depends on is
 * in the state, which can be written as bytes and read back. Where a value gives no reason to look
 * again, it costs a few hundred additions: the whole tail is segmented (segmenter.h) when means of
 * the last values leave the level, at values chosen by their own bits (so that two streams that
 * differ by one commit fall into step again), and at boundaries.
 *
 * A value is a commit's median; the noise is taken between commits. Values of one sign are judged
 * by their logarithms, so an effect is a ratio; a tail with values at or below zero is judged in
 * units of its median magnitude. */
#pragma once

#include "server/analysis/segmenter.h"

#include <glib.h>
#include <stdbool.h>

#define DETECTOR_TAIL        240u /* values that a judgement may look at */
#define DETECTOR_CHANGES_MAX 48u  /* within the tail; beyond, the oldest is settled early */
#define DETECTOR_START       8u   /* values before anything is said */
#define DETECTOR_TELL_WITHIN 60u  /* a change found later than this after its place is not news */
#define DETECTOR_SETTLE      80u  /* values at the tail's old end where nothing is judged again */
#define DETECTOR_SAME_WITHIN 5u   /* a change that moves by no more keeps its identity */
#define DETECTOR_ONE_WITHIN  10u  /* two moves one way no further apart are one (a ramp) */

struct detector_settings {
    double least_effect_ratio;             /* 0.02: moves below 2 % do not matter; 0: none given */
    double least_effect_absolute;          /* in the metric's unit; 0: none given */
    const struct segmenter_rules *rules;   /* NULL: segmenter_rules_default */
    const struct level_shift_table *table; /* shared by many detectors; NULL: it makes its own */
};

enum detector_mark {
    DETECTOR_MARK_BOUNDARY = 1, /* environment, benchmark or library changed before this commit */
    DETECTOR_MARK_PINNED = 2, /* people fixed a change here: it stays, whatever later values say */
    DETECTOR_MARK_QUIET = 4   /* people called a change here noise: none is told within 5 commits */
};

struct detector_point {
    double value;  /* finite */
    guint32 marks; /* of enum detector_mark */
};

enum detector_status {
    DETECTOR_CANDIDATE, /* shown, never told */
    DETECTOR_CONFIRMED, /* told once */
    DETECTOR_WITHDRAWN, /* told, and later values speak against it */
    DETECTOR_REVERTED   /* told, and a later change took the level back */
};

enum detector_kind {
    DETECTOR_CHANGE,
    DETECTOR_BOUNDARY, /* the level moved at a marked boundary */
    DETECTOR_PINNED    /* a change that people fixed */
};

/* An effect is relative: +0.05 says that the values rose by 5 %. */
struct detector_change {
    guint64 at;        /* index of the first commit at the new level */
    guint64 raised_at; /* index of the commit on whose arrival it was told, or became a candidate */
    guint64 told_at;   /* `at` and `effect` as they were told */
    double told_effect;
    enum detector_kind kind;
    enum detector_status status;
    bool told;
    double effect, low, high;  /* with its 95 % interval */
    double before, after;      /* levels in the metric's unit */
    double p;                  /* of the shift against correlated noise */
    guint32 n_before, n_after; /* commits behind the levels */
};

enum detector_news {
    DETECTOR_NEWS_CONFIRMED, /* tell it */
    DETECTOR_NEWS_WITHDRAWN, /* say so */
    DETECTOR_NEWS_RESTORED,  /* a withdrawn one holds again; nothing is told anew */
    DETECTOR_NEWS_REVERTED,
    DETECTOR_NEWS_SETTLED /* left the tail: final, and no longer part of the state */
};

struct detector_event {
    enum detector_news news;
    struct detector_change change;
};

/* What has been found of the level that holds now: enough to compare a new value without a history.
 */
struct detector_segment {
    guint64 start; /* index of its first commit, or of the first one still in the tail */
    guint n;       /* commits in it, at most DETECTOR_TAIL */
    double level;  /* median, in the metric's unit */
    double noise;  /* relative standard deviation of a commit's value about it */
};

#define DETECTOR_CLOSED_VALUES 80u /* behind the level of a closed segment, at most */
#define DETECTOR_OWN_NOISE     16u /* values from which on a segment's noise is its own */

/* A level that held until a change or a mark ended it: of its last values. */
struct detector_closed {
    guint64 start; /* index of its first commit, or of the first one still in the tail */
    guint64 end;   /* index of the first commit after it */
    guint n;
    double level, noise; /* as of a detector_segment */
};

typedef struct detector Detector;

Detector *detector_new(const struct detector_settings *settings);
void detector_free(Detector *detector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Detector, detector_free)

/* Takes the next commit. Appends struct detector_event to `events`. */
void detector_feed(Detector *detector, const struct detector_point *point, GArray *events);

/* Describes the last change that holds (effect, interval, p, levels) by all values that follow it;
 * decides nothing. It is no part of the stream, which does so where it decides: call it on a copy
 * that is shown and not fed again. */
void detector_refresh(Detector *detector);

/* Same state, of its own memory; NULL is never given. */
Detector *detector_copy(const Detector *detector);

guint64 detector_count(const Detector *detector); /* commits taken so far */

/* Changes within the tail, upwards by `at`: all kinds and states. Valid until the next call. */
const struct detector_change *detector_changes(const Detector *detector, guint *n_changes);

/* False before DETECTOR_START commits. */
bool detector_segment(const Detector *detector, struct detector_segment *segment);

/* By how much the level moved at a commit of the tail: of the medians of at most `reach` values
 * before it and from it on, as a logarithm (of values of both signs in units of their magnitude).
 * False where the tail has none before or after. */
bool detector_move_at(const Detector *detector, guint64 at, guint reach, double *out);

/* The segments that ended at or after detector_closed_from(), upwards; what ended before is final.
 * Array of struct detector_closed, to be freed by the caller; empty before DETECTOR_START commits.
 */
GArray *detector_closed(const Detector *detector);
guint64 detector_closed_from(const Detector *detector);

/* How often the whole tail has been segmented since the detector was made or restored, and how many
 * values these looked at: for tests of cost. */
struct detector_work {
    guint64 analyses, values_read;
};
struct detector_work detector_work(const Detector *detector);

/* The state as bytes, little-endian, with a version; at most DETECTOR_STATE_BYTES_MAX. */
#define DETECTOR_STATE_BYTES_MAX 10000u
GBytes *detector_save(const Detector *detector);

/* NULL with ERROR_INVALID where the bytes are not such a state; settings are given anew. */
Detector *detector_restore(GBytes *state, const struct detector_settings *settings, GError **error);

/* The same state in a history of `count` commits: all indices move. */
void detector_set_count(Detector *detector, guint64 count);

/* True where both will say the same, index shifts apart, to whatever comes next. */
bool detector_same_future(const Detector *a, const Detector *b);
