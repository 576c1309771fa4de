/* SPDX-License-Identifier: Apache-2.0
 * A benchmark of somebody else's, run once: its results out of its output, with what disturbed it
 * beside the samples. Main thread. */
#pragma once

#include "runner/provenance.h"
#include "schema/formats/format.h"

/* The format of that name; *out NULL for "auto". False with an error that names the nearest. */
bool foreign_bench_format(const char *name, const struct format **out, GError **error);

struct foreign_request {
    const char *const *arguments; /* NULL-terminated; the first is the program */
    const struct format *format;  /* NULL: recognised by the content */
    const char *results_path;     /* file that the command writes; NULL: its standard output */
    guint timeout_seconds;
    const Provenance *provenance; /* NULL: the run has no envelope */
};

/* Says the format's warnings and faults as messages. *out_failed: the command did not end well, but
 * there are results. NULL with an error: ERROR_INTERNAL where the command failed and there are
 * none. */
Run *foreign_bench_take(const struct foreign_request *request, bool *out_failed, GError **error);

/* {"command": line, "runner": version} to the run's context. */
void foreign_bench_add_context(Run *run, const char *line);
/* This machine's facts to those that the format has given; this machine's stand above them. */
void foreign_bench_add_environment(Run *run, const char *facts_json);
