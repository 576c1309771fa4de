/* SPDX-License-Identifier: Apache-2.0
 * A file that somebody wants to post, made into a run: one of ours as it is, or a foreign format
 * put into an envelope. */
#pragma once

#include "runner/provenance.h"
#include "schema/formats/format.h"

#define POSTING_FORMAT "breakeven.run/1"

typedef struct posting {
    Run *run;
    GString *document;   /* its canonical text */
    GPtrArray *warnings; /* char *: what the format dropped */
} Posting;

/* `path` "-" is the standard input. `format` POSTING_FORMAT, a name of schema/formats or "auto";
 * `provenance` is needed for the latter, and fills the envelope; `id` or NULL: then the hash of
 * project, commit, machine and the file. Faults are in `faults`. */
Posting *posting_read(const char *path, const char *format, const Provenance *provenance,
                      const char *id, Faults *faults, GError **error);
/* Bytes of a foreign format that are at hand. */
struct posting_input {
    const GString *bytes;
    const struct format *format; /* NULL: recognised by the content */
    const char *id;              /* or NULL: the hash of project, commit, machine and the bytes */
    int64_t time_ms;             /* where the format says no time of its own */
    /* Fills what is known of the commit that the file says; NULL: nothing is. */
    void (*complete)(Run *run, void *user);
    void *user;
};

/* Takes the envelope: what it says stands above the file. ERROR_INVALID also where neither says the
 * project, the commit or the machine. */
Posting *posting_take(Run *envelope, const struct posting_input *input, Faults *faults,
                      GError **error);
void posting_free(Posting *posting);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Posting, posting_free)
