/* SPDX-License-Identifier: Apache-2.0
 * Tells a server what git knows: commits in batches, the ancestry of a run since the last commit
 * that the server knows, where a branch points. Main thread. */
#pragma once

#include "runner/deliver/delivery.h"
#include "runner/settings.h"
#include "schema/run.h"

/* Sends commits (struct run_commit *) in batches; `branch` or NULL. */
bool history_send(Delivery *delivery, const char *project, const char *branch,
                  const GPtrArray *commits, GError **error);

/* Says that a branch holds a commit: the server's head moves there unless it is further already. */
bool history_tell_head(Delivery *delivery, const char *project, const char *branch, const char *sha,
                       GError **error);

/* Whether the branch is at that commit: the remote's, or where the remote has none of that name,
 * this clone's. A commit that nobody else has yet is no head. */
bool history_is_head(const char *branch, const char *sha);

/* Before a run is delivered: what lies between its commit and the commits that the server knows, as
 * far as that is more than the run carries itself. It costs a question; where that or anything else
 * fails, the run goes on its way all the same. Says where a shallow clone does not reach so far. */
void history_before_run(Delivery *delivery, const Settings *settings, const Run *run);

/* After it was stored: that its branch holds its commit, where this clone says so. Not of a pull
 * request, whose branch may be another repository's, and not of a dirty tree. */
void history_after_run(Delivery *delivery, const Run *run);

/* A message where this clone is shallow; `what` says what is missing by that. */
void history_say_shallow(const char *what);
