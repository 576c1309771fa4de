/* SPDX-License-Identifier: Apache-2.0
 * What a detector holds. Only detector*.c and their tests look inside. */
#pragma once

#include "server/analysis/detector.h"
#include "server/analysis/level_shift.h"

#define DETECTOR_TRIGGERS 14u /* lengths of moves that are looked for at each value */

struct detector {
    struct detector_settings settings;
    guint64 n_seen;
    guint n_tail;
    double values[DETECTOR_TAIL]; /* as they came, oldest first */
    double judged[DETECTOR_TAIL]; /* the same as logarithms or in units of `unit`; derived */
    guint8 marks[DETECTOR_TAIL];
    double unit;                 /* of judged values; 0: they are logarithms */
    double noise, factor, level; /* of the last segmentation, in judged units; noise 0: none yet */
    /* Squared deviations of the moves that the last segmentation saw and did not believe, by their
     * length; 0: none stands. */
    double refused[DETECTOR_TRIGGERS];
    guint n_changes;
    struct detector_change changes[DETECTOR_CHANGES_MAX];
    /* Not part of the state: */
    struct detector_work work;
    struct level_shift_table *own_table; /* where the settings give none; made when needed */
};

static inline guint64 detector_tail_start(const Detector *detector)
{
    return detector->n_seen - detector->n_tail;
}

/* Fills `judged` from `values` and `unit`. */
void detector_judge_units(Detector *detector);

/* Segments the tail and brings `changes` in line with what it finds. */
void detector_analyse(Detector *detector, GArray *events);

/* True where the last value gives reason to segment the tail. */
bool detector_needs_analysis(Detector *detector);

/* Remembers, after a segmentation, the moves that it did not believe. */
void detector_note_refused(Detector *detector);

/* Moves all indices by `shift`: the same state in a history with so many commits more before it. */
void detector_shift(Detector *detector, gint64 shift);
void detector_shift_change(struct detector_change *change, gint64 shift);
