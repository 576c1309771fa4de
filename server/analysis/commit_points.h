/* SPDX-License-Identifier: Apache-2.0
 * From the points of single runs to the one point a commit has on a graph. Pure: arrays in, arrays
 * out; knows no store, no clock, no request. Any thread.
 *
 * The value of a commit is the median of its runs' medians. Runs of a clean tree go before those of
 * a dirty one (a dirty tree is not the commit), and among these the unflagged before the flagged:
 * only the best class that the commit has is used, and the point says which that was. The interval
 * is the span of the used runs' intervals, n is their sum. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* One run's point of one series. */
struct commit_point_input {
    guint position;           /* of the run's commit in the project's commit order */
    double center, low, high; /* low and high only where has_interval */
    bool has_interval;
    bool flagged, dirty;
    int censored;       /* 0; +1: the value lies above center; -1: below it */
    int64_t n;          /* samples behind it; 0 where not known */
    int64_t run_seq;    /* order of receipt; unique within the input */
    const char *branch; /* borrowed; may be NULL */
};

struct commit_point {
    guint position;
    double center, low, high; /* low <= center <= high where has_interval */
    bool has_interval;
    bool flagged; /* all its runs are flagged (of the clean ones, where it has any) */
    bool dirty;   /* all its runs are of a dirty tree */
    int censored; /* as above; of an even count the two in the middle decide together */
    int64_t n;
    guint n_runs;          /* behind the value */
    guint n_runs_left_out; /* of the same commit, of a worse class */
    int64_t last_run_seq;  /* the latest of those behind the value */
    const char *branch;    /* borrowed from an input: `preferred_branch` where a used run is of it,
                              else the latest run's */
};

/* Array of struct commit_point in order of position, one for each position that occurs. `inputs` in
 * any order; it is not changed. `preferred_branch` may be NULL. O(n log n), O(n) where the inputs
 * are in order already. The caller frees it with g_array_unref. */
GArray *commit_points_build(const struct commit_point_input *inputs, size_t n_inputs,
                            const char *preferred_branch);

#define COMMIT_POINTS_BUCKETS_MIN 2u

/* The same points where there are at most 2 * n_buckets; else the first, the last, and of each of
 * n_buckets - 1 stretches of equally many points the lowest and the highest, so that no spike is
 * lost: at most 2 * n_buckets points, in order. n_buckets is at least COMMIT_POINTS_BUCKETS_MIN. A
 * new array; `points` is not changed. */
GArray *commit_points_buckets(const GArray *points, guint n_buckets);
