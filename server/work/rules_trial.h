/* SPDX-License-Identifier: Apache-2.0
 * What rules would have told in a project's last commits, before they are saved: each series that
 * they judge otherwise than the present ones is judged twice from its start, and the two answers
 * are compared. Writes nothing. Bounded: it stops where values_max is reached, and says so. Reads
 * through short snapshots of the caller's reader, one a series; one thread at a time. */
#pragma once

#include "schema/rules.h"
#include "server/store/store_changes.h"

#define RULES_TRIAL_COMMITS     200u
#define RULES_TRIAL_COMMITS_MAX 10000u
#define RULES_TRIAL_VALUES_MAX  200000u /* a second or two of a worker */
#define RULES_TRIAL_ROWS_MAX    1000u

enum rules_trial_what {
    RULES_TRIAL_ADDED,  /* would have been told, and was not to be */
    RULES_TRIAL_GONE,   /* would not have been told */
    RULES_TRIAL_TURNED, /* told by both, worse by one and better, or nothing, by the other */
    RULES_TRIAL_SAME,
    RULES_TRIAL_WHATS
};
/* "added", "gone", "turned", "same" */
const char *rules_trial_what_name(enum rules_trial_what what);

struct rules_trial_row { /* a change that the two do not tell alike */
    enum rules_trial_what what;
    int64_t series_id;
    int64_t good_commit_id, bad_commit_id; /* good 0: not known */
    int64_t told_commit_id;                /* on whose arrival it is told */
    guint index;                           /* of the bad commit among those of the series */
    bool is_boundary;         /* the environment moved: told once for all series that it moves */
    double effect, low, high; /* as it was told */
    int verdict_now, verdict_then; /* -1 worse, +1 better, 0 no direction: by the present rules, and
                                      by those tried */
};

struct rules_trial_series { /* one that the rules judge otherwise */
    int64_t series_id;
    guint counts[RULES_TRIAL_WHATS];
};

typedef struct rules_trial {
    guint commits;                   /* looked at: the project's last */
    guint n_touched, n_tried;        /* series that the rules judge otherwise; of them looked at */
    bool is_cut;                     /* not all could be looked at */
    guint counts[RULES_TRIAL_WHATS]; /* changes */
    GArray *rows;   /* struct rules_trial_row: added, gone, turned; the largest effects of each
                       first, at most RULES_TRIAL_ROWS_MAX */
    GArray *series; /* struct rules_trial_series: those tried, most differences first */
} RulesTrial;
void rules_trial_free(RulesTrial *trial);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RulesTrial, rules_trial_free)

struct rules_trial_request {
    const char *project;
    const GPtrArray *rules; /* struct rule *: the whole list that would be saved */
    guint commits;          /* 1 to RULES_TRIAL_COMMITS_MAX */
    guint values_max;       /* usually RULES_TRIAL_VALUES_MAX */
};

/* NULL with ERROR_NOT_FOUND where there is no such project, or where the store cannot be read. */
RulesTrial *rules_trial_run(StoreReader *reader, const struct rules_trial_request *request,
                            GError **error);
