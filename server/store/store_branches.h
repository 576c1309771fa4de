/* SPDX-License-Identifier: Apache-2.0
 * Heads of branches, which commits and runs are of a branch, and annotations on commits. A part of
 * store.h's interface: the same threads, snapshots and ownership.
 *
 * A branch whose head is known is the first-parent chain of that head, whatever its runs call
 * themselves. Where a head is not known, or the parents between it and a commit are not, what a run
 * says of its branch counts; a run that says nothing is of the default branch. */
#pragma once

#include "server/store/store.h"

/* ---- Heads -------------------------------------------------------------------------------- */

#define STORE_HEADS_MAX 10000u /* of a project */

enum store_head_move {
    STORE_MOVE_MADE,
    STORE_MOVE_FORWARD,  /* to a descendant */
    STORE_MOVE_FORCED,   /* to no descendant */
    STORE_MOVE_UNPROVEN, /* the parents between are not known */
};
const char *store_head_move_name(enum store_head_move move); /* the words of schema and API */
bool store_head_move_parse(const char *word, enum store_head_move *out);

struct store_head {
    char *branch;
    struct store_commit *commit;
    struct store_commit *before; /* where it was, or NULL */
    enum store_head_move move;   /* how it came from there */
    int64_t moved_ms;
    char *who; /* or NULL */
};
void store_head_free(struct store_head *head);

struct store_head_write {
    char *project, *branch;
    char *sha;     /* NULL: the head is removed */
    char *who;     /* or NULL */
    bool at_least; /* the branch holds this commit: the head stays where it descends from it */
};
void store_head_write_free(struct store_head_write *write);

/* Takes it. Makes the project and the commit where they are new. ERROR_NOT_FOUND where a head that
 * is not there is to be removed; ERROR_CONFLICT beyond STORE_HEADS_MAX. A head that moves has what
 * it changes in the judged history judged anew. */
void store_put_head(Store *store, struct store_head_write *write, store_done_fn done, void *user);

const struct store_head *store_head_find(const struct store_project *project, const char *branch);

enum store_ancestry { STORE_ANCESTRY_NO, STORE_ANCESTRY_YES, STORE_ANCESTRY_UNKNOWN };
/* Whether `older` is `newer` or an ancestor of it. */
enum store_ancestry store_ancestry(const struct store_commit *older,
                                   const struct store_commit *newer);

/* ---- What is of a branch ------------------------------------------------------------------ */

/* Its source names one, or its reason is "pull-request". */
bool store_run_is_of_pull_request(const struct store_run *run);

/* A run counts by its commit's standing, or where that says nothing by what the run says of itself.
 * A pull request's run says nothing of the default branch, whatever its own branch is called; and
 * what was posted by one who may not speak for the default branch never counts for it. */
bool store_run_is_of(const struct store_run *run, const char *branch, bool is_default,
                     enum store_line line);

typedef struct store_branch {
    const struct store_project *project;
    const char *name; /* borrowed */
    bool is_default;
    const struct store_head *head; /* or NULL */
    guint8 *line; /* enum store_line by position; NULL: the commits' own, or none is known */
} StoreBranch;

/* Valid until the snapshot ends; clear it before. Linear in the project's commits for a branch with
 * a head that is not the default one. */
void store_branch_open(StoreBranch *branch, const struct store_project *project, const char *name);
void store_branch_clear(StoreBranch *branch);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StoreBranch, store_branch_clear)

enum store_line store_branch_line(const StoreBranch *branch, const struct store_commit *commit);
bool store_branch_has_run(const StoreBranch *branch, const struct store_run *run);

/* ---- Annotations -------------------------------------------------------------------------- */

#define STORE_ANNOTATIONS_MAX      10000u /* of a project, removed ones included */
#define STORE_ANNOTATION_BYTES_MAX 1024u

struct store_annotation {
    int64_t id;
    struct store_commit *first, *last; /* the ends of the range, in any order */
    struct store_benchmark *benchmark; /* NULL: of all */
    struct store_machine *machine;     /* NULL: of all */
    char *text;
    char *who; /* or NULL */
    int64_t made_ms;
    char *removed_by;   /* or NULL */
    int64_t removed_ms; /* 0: it stands */
};
void store_annotation_free(struct store_annotation *annotation);

struct store_annotation_write {
    char *project;
    int64_t id;            /* to be removed; 0: it is made */
    char *first, *last;    /* full shas of known commits */
    char *bench, *machine; /* or NULL */
    char *text, *who;      /* who: or NULL */
};
void store_annotation_write_free(struct store_annotation_write *write);

/* Takes it. ERROR_NOT_FOUND names what is not there; ERROR_CONFLICT beyond STORE_ANNOTATIONS_MAX.
 */
void store_put_annotation(Store *store, struct store_annotation_write *write, store_done_fn done,
                          void *user);

const struct store_annotation *store_annotation_find(const struct store_project *project,
                                                     int64_t id);
/* Of what it is said, as that is shown where renames join it to others; NULL: of all. */
const struct store_benchmark *store_annotation_benchmark(const struct store_annotation *annotation);
const struct store_machine *store_annotation_machine(StoreSnapshot *snapshot,
                                                     const struct store_annotation *annotation);
/* Whether it stands and says something of the series. */
bool store_annotation_applies(StoreSnapshot *snapshot, const struct store_annotation *annotation,
                              const struct store_series *series);
