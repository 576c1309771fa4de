/* SPDX-License-Identifier: Apache-2.0
 * Foreign benchmark formats: each is one file here and one row of the table in format.c. A format
 * turns what a tool printed into results of a run whose envelope (id, project, commit, machine) the
 * caller fills, from the request or from what the file itself says. Nothing is lost in silence:
 * what is dropped is a warning. Any thread. */
#pragma once

#include "schema/run.h"

#define FORMAT_AUTO "auto" /* in the place of a name: recognised by the content */

struct format_input; /* format_input.h */
struct import;       /* import.h */

struct format {
    const char *name;        /* as in ?format= */
    const char *description; /* one line for --help and the API index */
    const char *media_type;  /* of its files; a plain text is taken for each of them */
    const char *samples;     /* what stands for samples */
    /* Whether the file is one of this format, by its content alone: no two say yes to one file.
     * NULL: the content does not tell, it is taken by its name only. */
    bool (*recognise)(const struct format_input *input);
    /* Faults, warnings and results go into the import. */
    void (*take)(struct import *import, const struct format_input *input);
};

extern const struct format *const formats[]; /* NULL-terminated */

const struct format *format_find(const char *name); /* NULL where there is none of that name */
char *format_names(void);                           /* "google-benchmark, …" for messages */

struct format_reading {
    const struct format *format; /* NULL: recognised by the content, and then set */
    Run *run;            /* gets results, context, started; and of project, commit, branch, machine
                            what the file says and nobody has set */
    GPtrArray *warnings; /* gets char * */
    Faults *faults;
};

/* False: ERROR_SYNTAX or ERROR_INVALID with every fault in reading->faults; the run is then good
 * for nothing. What is taken keeps every rule of the run document. */
bool format_read(struct format_reading *reading, const char *bytes, size_t length, GError **error);

/* Sets the direction of every metric of that name (NULL: of all), and says of how many. */
guint format_set_better(Run *run, const char *metric, enum better better);
