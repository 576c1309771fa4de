/* SPDX-License-Identifier: Apache-2.0
 * What happened lately and is worth a look: a bounded list in memory, the oldest goes first. The
 * same thing again right after itself is counted, not kept twice, so that one client that repeats
 * itself does not push all else out. Any thread. Knows no request and no store. */
#pragma once

#include <glib.h>
#include <stdint.h>

#define RECENT_NOTES_MAX      50u
#define RECENT_NOTE_CHARS_MAX 400u /* of each text; what is longer ends with … */

struct recent_note {
    int64_t at_ms;     /* since 1970 UTC: the last time */
    unsigned status;   /* of HTTP; 0: none */
    const char *where; /* "POST /api/runs", or NULL */
    const char *text;
    guint n; /* how often in a row; adding takes it for 1 */
};

typedef struct recent_notes RecentNotes;

RecentNotes *recent_notes_new(void);
void recent_notes_free(RecentNotes *notes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RecentNotes, recent_notes_free)

/* Copies its texts; what is no UTF-8 in them is replaced. */
void recent_notes_add(RecentNotes *notes, const struct recent_note *note);

/* struct recent_note *, newest first, each owned by the array. *out_total: how many were added
 * since the start, repetitions included. */
GPtrArray *recent_notes_copy(RecentNotes *notes, guint64 *out_total);
