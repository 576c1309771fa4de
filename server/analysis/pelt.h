/* SPDX-License-Identifier: Apache-2.0
 * The segmentation of a row of numbers with the least squared error plus a price per segment:
 * PELT (Killick, Fearnhead & Eckley, Optimal detection of changepoints with a linear computational
 * cost, JASA 107, 2012), with the cost of a segment's mean. Pure; any thread. */
#pragma once

#include <glib.h>

#define PELT_VALUES_MAX  1024u
#define PELT_SEGMENT_MIN 2u

/* Finds the segmentation of `values` (n_values <= PELT_VALUES_MAX) that minimises the sum of
 * squares about the segments' means plus `price` per segment; no segment is shorter than
 * PELT_SEGMENT_MIN. Writes the first index of each segment but the first, upwards, into `starts`
 * (room for n_values) and returns their number. */
guint pelt_segment(const double *values, guint n_values, double price, guint *starts);
