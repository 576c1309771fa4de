/* SPDX-License-Identifier: Apache-2.0
 * Where measurements come from: project, machine, commit and its history, branch, reason. Put
 * together from options and settings, git and the CI system's variables, in this order. */
#pragma once

#include "runner/settings.h"
#include "schema/run.h"

typedef struct provenance {
    char *project,
        *project_from; /* project_from: where the name comes from when nobody gave it, else NULL */
    char *machine;
    struct run_commit *commit;
    GPtrArray *history; /* struct run_commit *, newest first; may be empty */
    char *branch;       /* or NULL */
    bool dirty;
    char *source_json; /* or NULL */
    char *reason;
} Provenance;

/* Rows for a command's table of options. */
#define PROVENANCE_OPTIONS                                                                         \
    {"commit", 'c', OPTION_VALUE, "SHA", "Commit that is measured (HEAD)"},                        \
        {"branch", 'b', OPTION_VALUE, "NAME",                                                      \
         "Branch (what HEAD points at, or what the CI system says)"},                              \
        {"parents", 0, OPTION_LIST, "SHA,…", "Parents of the commit, or none"},                    \
        {"time", 0, OPTION_VALUE, "TIME", "Committer date of the commit, RFC 3339"},               \
    {                                                                                              \
        "reason", 0, OPTION_VALUE, "WHY",                                                          \
            "merge, nightly, manual, pull-request, backfill, bisect or confirm"                    \
    }

/* ERROR_INVALID, or what git says: see git_read. */
Provenance *provenance_gather(const Options *options, const Settings *settings, GError **error);
void provenance_free(Provenance *provenance);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Provenance, provenance_free)
