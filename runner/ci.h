/* SPDX-License-Identifier: Apache-2.0
 * What a CI system tells about the job that it runs, by the variables and files that it documents:
 * one row of a table for each system. */
#pragma once

#include "runner/ci_facts.h"

/* All strings but `system` are owned; each may be NULL. */
struct ci_job {
    const char *system; /* "github", "gitlab", …; NULL: none known, and nothing else is set */
    char *commit;       /* 40 or 64 hex: of a pull request its head, not the commit that merges it
                           for trying */
    char *branch;       /* the pull request's own */
    char *pull_request; /* its number */
    char *base_branch;  /* that the pull request is to go into */
    char *base;         /* commit of it, or the first digits */
    char *url;          /* of the job */
};

struct ci_job ci_detect(ci_lookup_fn lookup);
void ci_job_clear(struct ci_job *job);

/* {"base":…,"ci":…,"pull_request":…,"url":…}: the run document's source; NULL where no system is
 * known. `base` is a whole sha or NULL. */
char *ci_source_json(const struct ci_job *job, const char *base);
