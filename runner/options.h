/* SPDX-License-Identifier: Apache-2.0
 * The command line of one command, read strictly: an option that is not known, one that is given
 * twice where one value is meant, a missing value, an empty item of a list and a left-over argument
 * are errors of one line that name the nearest right thing. GOptionContext does the reading and
 * prints the help. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>

enum option_kind {
    OPTION_FLAG,  /* no value; once */
    OPTION_VALUE, /* one value; once */
    OPTION_LIST   /* values separated by commas; may repeat */
};

struct option_spec {
    const char *name; /* long name without dashes */
    char letter;      /* or 0 */
    enum option_kind kind;
    const char *argument; /* what the value is, in capitals, for the help */
    const char *help;
};

struct option_usage {
    const char *command;
    const char *arguments;           /* "FILE…" or NULL where the command takes none */
    const char *summary;             /* above the options */
    const char *examples;            /* below the options */
    const struct option_spec *specs; /* ends with a row whose name is NULL; --help is added */
};

/* A row that several commands have. */
#define OPTION_ROW_JSON                                                                            \
    {                                                                                              \
        "json", 'j', OPTION_FLAG, NULL, "Print JSON"                                               \
    }

typedef struct options Options;

/* argv[0] is the command's name; argv is not changed. ERROR_INVALID. */
Options *options_parse(const struct option_usage *usage, int argc, char **argv, GError **error);
void options_free(Options *options);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Options, options_free)

char *options_help(const struct option_usage *usage);

bool options_flag(const Options *options, const char *name);
const char *options_value(const Options *options,
                          const char *name); /* NULL where it was not given */
const GPtrArray *options_list(const Options *options,
                              const char *name); /* char *; NULL where it was not given */
const GPtrArray *options_arguments(const Options *options); /* char *, what is no option */
/* The value as a whole number in [min, max]; `fallback` where it was not given. */
bool options_number(const Options *options, const char *name, guint64 min, guint64 max,
                    guint64 *inout_value, GError **error);
