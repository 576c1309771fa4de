/* SPDX-License-Identifier: Apache-2.0
 * How far series have been judged: "checked and nothing found" is never the same as "not checked".
 * Reads the store inside the request's snapshot. */
#pragma once

#include "server/pages/layout.h"

typedef struct judged_note {
    guint n_series, n_judged;
    guint commits_min, commits_max; /* that the judged ones were judged on */
    int64_t last_ms;                /* the latest judgement */
    guint n_waiting;                /* runs that wait, of the project */
    bool is_waiting_bounded;        /* there may be more */
} JudgedNote;

/* Of `series` (struct store_series *, of one project). */
bool judged_note_read(StoreSnapshot *snapshot, const GPtrArray *series, JudgedNote *out,
                      GError **error);

/* "230 of 230 series judged on 12 to 55 commits, the last … ; 2 runs wait". */
void judged_note_write(Html *html, const JudgedNote *note);
