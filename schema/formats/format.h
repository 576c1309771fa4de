/* SPDX-License-Identifier: Apache-2.0
 * Foreign benchmark formats: each is one file here and one row of the table in format.c. A parser
 * turns the bytes into results of a run whose envelope (id, project, commit, machine) the caller
 * fills from the request. Nothing is lost in silence: what is dropped is a warning. */
#pragma once

#include "schema/run.h"

struct format {
    const char *name;        /* as in ?format= */
    const char *description; /* one line for --help and the API index */
    /* Appends to run->results, fills run->context_json and run->started_ms where the file has them,
     * and adds warnings (char *). False: ERROR_SYNTAX or ERROR_INVALID with every fault. */
    bool (*parse)(const char *bytes, size_t length, Run *run, GPtrArray *warnings, Faults *faults,
                  GError **error);
};

extern const struct format *const formats[]; /* NULL-terminated */

const struct format *format_find(const char *name); /* NULL where there is none of that name */
char *format_names(void);                           /* "google-benchmark, …" for messages */
