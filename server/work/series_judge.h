/* SPDX-License-Identifier: Apache-2.0
 * Judges one series after a run came or went: feeds its detector, and says what of its changes is
 * new. Reads through a snapshot, writes nothing: what is to be written goes into a judgement. The
 * work thread runs it.
 *
 * The stream is one value per measured commit of the default branch, in commit order: the median of
 * its unflagged runs of a clean tree. A commit at the end costs a bounded tail; a commit in the
 * past restarts from the last checkpoint before it. */
#pragma once

#include "server/analysis/detector.h"
#include "server/store/store_changes.h"

#define SERIES_JUDGE_CHECKPOINT_VALUES 128u

struct series_judge {
    StoreSnapshot *snapshot;
    struct store_judgement *judgement; /* what is found is added to it */
    struct detector_settings settings;
    /* Of the run that came; NULL: the series is judged anew. */
    const struct store_run *run;
    const GArray *commit_runs; /* int64_t seqs of the eligible runs of its commit and machine */
    bool by_rule;              /* judged anew because a rule changed */
    GHashTable *ahead;  /* of runs that wait: series id -> GArray of struct store_series_version */
    int64_t until_seq;  /* later runs are not looked at: what they measured is not known yet */
    guint64 *n_commits; /* counted up by the commits that are streamed; NULL: nobody counts */
};

/* The branch whose history is judged: the project's default one, or where no run is of it that of
 * its first run. */
const char *series_judge_branch(const struct store_project *project);

/* A run of a pull request, or one that was made because something was suspected. */
bool series_judge_is_aside(const struct store_run *run);

/* Whether a run is part of that history. */
bool series_judge_takes(const struct store_run *run, const char *branch);

/* The start of a hexadecimal digest as a number; 0 of none. */
int64_t series_judge_digest(const char *hex);

/* `point` is the run's, `version` the digest of what it measured (0: not known). */
bool series_judge_run(const struct series_judge *judge, const struct store_series *series,
                      const struct store_point *point, int64_t version, GError **error);

/* What detectors with other settings would have said: each is fed the whole history, with what
 * people decided, as series_judge_anew does. Nothing is kept. */
struct series_rehearsal {
    struct detector_settings settings;
    GArray *events; /* struct detector_event are appended */
};
/* `commits`: const struct store_commit * are appended, those that the events' indices stand for. */
bool series_judge_rehearse(const struct series_judge *judge, const struct store_series *series,
                           struct series_rehearsal rehearsals[2], GPtrArray *commits,
                           GError **error);

/* From the start: after a run went, or people decided about a change. */
bool series_judge_anew(const struct series_judge *judge, const struct store_series *series,
                       GError **error);
