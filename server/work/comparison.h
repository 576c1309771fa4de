/* SPDX-License-Identifier: Apache-2.0
 * What a head (a run, a commit, a branch) says against a base, series by series: from the points of
 * the head's own runs and the levels that are stored, so that no history is read. Pages and API
 * show the same. Reads through the caller's snapshot; what it gives is valid until that ends. */
#pragma once

#include "server/analysis/verdict.h"
#include "server/store/store_changes.h"

enum comparison_verdict {
    COMPARISON_REGRESSED,
    COMPARISON_IMPROVED,
    COMPARISON_UNSURE,
    COMPARISON_NEW,
    COMPARISON_MISSING,
    COMPARISON_UNCHANGED,
    COMPARISON_MUTED, /* a rule mutes the series: it has an effect, and nobody fails for it */
    COMPARISON_NONE,  /* the metric has no better direction: no verdict */
    COMPARISON_VERDICTS
};
/* "regressed" …; NULL for COMPARISON_NONE. */
const char *comparison_verdict_name(enum comparison_verdict verdict);

struct comparison_side {
    const struct store_run *run; /* NULL: the commit's runs */
    const struct store_commit *commit;
    char *branch; /* that was named, or NULL */
    /* whose measurements are meant, where one was named; NULL: all */
    const struct store_machine *machine;
    bool is_machine; /* nothing else was named: the commit is what it measured last */
};

struct comparison_value {
    bool known;
    double level;
    double noise; /* relative, between commits; 0: not known, since too few were judged */
    guint n;      /* commits (or runs) behind it */
};

struct comparison_row {
    const struct store_series *series; /* the head's; where that has none, the base's */
    /* the base's: the same but between two machines; NULL: it has none */
    const struct store_series *base_series;
    enum comparison_verdict verdict;
    struct comparison_value base, head;
    bool has_result; /* both sides are known */
    /* Where has_result. Without a known noise only the effect is known: the rest is NaN, the
     * verdict unsure. Runs of one commit do not tell how a commit's value moves. */
    struct verdict_result result;
    bool disturbed;       /* the head's runs are all flagged, or tell no number */
    int64_t change_id;    /* a change that lies between, or 0 */
    bool is_judged;       /* the series has been judged ever … */
    guint judged_commits; /* … on so many commits … */
    int64_t judged_ms;    /* … at that time */
};

struct comparison_mean { /* of one metric of a benchmark */
    const struct store_benchmark *benchmark;
    const char *metric, *unit;
    enum better better;
    double ratio; /* geometric mean of head / base */
    guint n;
};

typedef struct comparison {
    const struct store_project *project;
    const struct store_filter *filter; /* borrowed: which series; NULL: all */
    struct comparison_side base, head;
    bool is_across; /* two machines, case by case: rows have a series on each */
    const struct store_commit *merge_base; /* what was compared with, where that is not base */
    const struct store_commit *measured;   /* whose runs stand for it: the nearest; NULL: none */
    guint n_behind;                        /* first parents from it back to `measured` */
    bool is_base_proven;                   /* `measured` is an ancestor of it, or it itself */
    GPtrArray *base_runs, *head_runs;      /* struct store_run * that stand for the sides */
    guint counts[COMPARISON_VERDICTS];
    GArray *rows;        /* struct comparison_row, worst first */
    GArray *means;       /* struct comparison_mean, by benchmark and metric */
    GPtrArray *warnings; /* char * */
} Comparison;
void comparison_free(Comparison *comparison);
/* The least relative effect that matters to a row, by the rules of its series: the relative one, or
 * the absolute one against the base's level where that is known and asks for more. */
double comparison_least_effect(const struct comparison_row *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Comparison, comparison_free)

struct comparison_request {
    const struct store_project *project;
    /* A run's id, a branch, a sha of 7 digits or more, one of those @ a machine, or a machine
     * (machine:NAME where something else is called so). Two machines are compared at the newest
     * commit that both have measured. */
    const char *base, *head;
    const char *machine; /* or NULL: all that the head was measured on */
    /* Of the series only these are compared, and judged together; NULL: all. Outlives the
     * comparison. */
    const struct store_filter *filter;
};

/* NULL with ERROR_NOT_FOUND or ERROR_INVALID that names what is wrong with which side. */
Comparison *comparison_new(StoreSnapshot *snapshot, const struct comparison_request *request,
                           GError **error);

/* A run against what held before its commit; of another branch, against where it left. */
Comparison *comparison_of_run(StoreSnapshot *snapshot, const struct store_run *run, GError **error);

/* One line: "2 regressed, 1 improved, 40 unchanged; worst +12.4 % …" The caller frees it. */
char *comparison_sentence(const Comparison *comparison);
