/* SPDX-License-Identifier: Apache-2.0
 * Which commits are of a branch: the first-parent chain of its head, and how all others stand to
 * it. Works on what readers see; the writer thread keeps the default branch's answer in each
 * commit, under the write lock. Must not know of SQL. */
#pragma once

#include "server/store/catalogue.h"
#include "server/store/store_branches.h"

/* Where a chain begins, and what a force-push took from it: the commit where the head was before.
 */
struct branch_line_top {
    const struct store_commit *head, *dropped; /* each may be NULL */
};
struct branch_line_top branch_line_top(const struct store_head *head); /* NULL: no top */

/* enum store_line of each commit by position; all STORE_LINE_UNKNOWN without a head. The caller
 * frees it. */
guint8 *branch_line_states(const struct store_project *project, struct branch_line_top top);

/* Brings commit->line of the default branch up to date, from position `first` on where what lies
 * below is still true, else of all. */
void branch_line_update(struct catalogue_project *project, guint first);

/* Whether any run would come to or go from the default branch with that top. */
bool branch_line_differs(const struct store_project *project, struct branch_line_top top);

/* Whether a measured commit stands STORE_LINE_UNKNOWN to a default branch whose head is known. */
bool branch_line_has_unknown(const struct store_project *project);
