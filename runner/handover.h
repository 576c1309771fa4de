/* SPDX-License-Identifier: Apache-2.0
 * What becomes of a run that was just measured: the document to the standard output or a file, to
 * the server, and what the gate says of it. Main thread. */
#pragma once

#include "runner/gating.h"
#include "runner/provenance.h"

struct handover {
    const Options *options; /* json, out */
    const Settings *settings;
    Delivery *delivery;            /* NULL: nothing is sent */
    const struct gating_run *gate; /* NULL: nobody asked for it */
};

/* Whether the options want a document at all, and so a commit that it is of. */
bool handover_wants_document(const Options *options, const Settings *settings);

/* The project's name, where nobody gave it and a document is wanted. */
void handover_say_project(const Provenance *provenance);

/* The exit code, or COMMAND_FAILED with an error. The document goes on its way even where the file
 * cannot be written: then EXIT_UNDELIVERED, where nothing worse is to be said. */
int handover_run(const struct handover *handover, const Run *run, GError **error);
