/* SPDX-License-Identifier: Apache-2.0
 * Several runs of one upload: all are stored, each whole or not at all, then the request is
 * answered once. The runs are put from the request's thread; the answer is given on whichever
 * thread ends the last of them. */
#pragma once

#include "server/http/http.h"
#include "server/store/store.h"

#define UPLOAD_RUNS_MAX 10000u

struct upload_outcome {
    guint n_runs, n_created, n_known, n_refused;
    guint n_results;
    GPtrArray *ids;      /* char *, of the runs in their order */
    GPtrArray *warnings; /* char * */
    GError *error;       /* of the first that was refused, or NULL */
};

/* Responds; the request is finished after it. */
typedef void (*upload_answer_fn)(HttpRequest *request, const struct upload_outcome *outcome);

/* `runs` (Run *, at least one) and `warnings` (char *) are taken. */
void upload_runs_store(HttpRequest *request, GPtrArray *runs, GPtrArray *warnings,
                       upload_answer_fn answer);
