/* SPDX-License-Identifier: Apache-2.0
 * What is known of commits, and what a document told of them. Facts fill gaps and never overwrite
 * others: a contradicting fact is refused with a warning, as is a parent that would close a cycle;
 * a time beyond tomorrow is clamped. But what only a bound one told (struct run_commit) gives way
 * to the first word of anybody else, so that what is known in the end does not depend on who came
 * first; the word of another bound one does not. A parent that nobody told of becomes a commit
 * known by its sha only.
 *
 * A document's own commits come back as it told them: the column run_samples.commits holds, for the
 * run's commit and then each of its history, which facts it told (their values are those of the
 * commit, since facts that do not give way never change) or, where it told something else, the told
 * values. Packed as in sample_blob.h: per commit a head, zigzag(id - previous id) * 4 + new mask *
 * 2 + spelled; a byte of told facts where it is not that of the commit before; where spelled, sha
 * and values instead of an id. */
#pragma once

#include "server/store/staging.h"

/* What one write tells. */
struct commit_telling {
    struct staging *staging;
    struct catalogue_project *project;
    const char *branch;  /* or NULL */
    bool is_aside;       /* a pull request tells it: what a commit expects of itself is not taken */
    int64_t now_s;       /* by the server's clock */
    bool is_bound;       /* what was told last was a bound one's word */
    GPtrArray *linked;   /* struct order_commit * that got parents */
    GPtrArray *warnings; /* char *; at most COMMIT_WARNINGS_MAX are added */
    guint n_warnings;
};

#define COMMIT_WARNINGS_MAX 50u

void commit_telling_init(struct commit_telling *telling, struct staging *staging,
                         struct catalogue_project *project, GPtrArray *warnings);
void commit_telling_clear(struct commit_telling *telling);

/* Finds or adds the commit and fills what is told. */
struct catalogue_commit *commit_telling_tell(struct commit_telling *telling,
                                             const struct run_commit *told);

/* After all have been told: takes back the parents that would close cycles. `mark` is where the
 * write's changes begin. */
void commit_telling_settle(struct commit_telling *telling, guint mark);

/* ---- A document's commits
 * ----------------------------------------------------------------------------------------- */

/* `known` are those that commit_telling_tell returned, the run's own first. */
GByteArray *commit_telling_pack(const Run *run, const GPtrArray *known);

/* Fills run->commit and run->history under the read lock. False where the bytes are damaged. */
bool commit_telling_unpack(const Catalogue *catalogue, const void *bytes, size_t length, Run *run);
