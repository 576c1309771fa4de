/* SPDX-License-Identifier: Apache-2.0
 * What a CI system tells about the job that it runs, by its environment variables. */
#pragma once

#include <glib.h>

struct ci_job {
    const char *system;       /* "github", "gitlab", …; NULL: none known */
    const char *branch;       /* or NULL */
    const char *pull_request; /* its number, or NULL */
    const char *base;         /* the branch it is to go into, or NULL */
    char *url;                /* of the job, or NULL; owned */
};

typedef const char *(*ci_lookup_fn)(const char *variable);

/* Pure but for `lookup` (g_getenv). Strings but for url live as long as the environment. */
struct ci_job ci_detect(ci_lookup_fn lookup);
void ci_job_clear(struct ci_job *job);

/* {"base":…,"ci":…,"pull_request":…,"url":…}: the run document's source; NULL where no system is
 * known. */
char *ci_source_json(const struct ci_job *job);
