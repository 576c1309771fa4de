/* SPDX-License-Identifier: Apache-2.0
 * The run document: what was measured, put into the envelope of where it comes from. */
#pragma once

#include "runner/plan.h"
#include "runner/provenance.h"

/* A run with a new id and all that `provenance` says; its results, times and context are the
 * caller's to add. */
Run *envelope_new(const Provenance *provenance, GError **error);

/* {"plan":…,"rounds":…,"runner":…,"sample_ms":…,"samples":…,"seed":…,"argv":…} */
char *envelope_context(const Plan *plan, guint rounds, uint64_t seed, int argc, char **argv);

/* The canonical text, checked against the schema: what is sent can be stored. `faults` gets what is
 * wrong (ERROR_INVALID). */
GString *envelope_print(const Run *run, Faults *faults, GError **error);

/* {"commits":[…]} as POST /api/projects/{p}/commits takes it: commits [from, to) of an array of
 * struct run_commit *. */
GString *envelope_commits(const GPtrArray *commits, guint from, guint to);

int64_t envelope_now_ms(void); /* since 1970 UTC */
