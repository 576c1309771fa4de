/* SPDX-License-Identifier: Apache-2.0
 * What a command of the runner is: one file command_NAME.c, one row of the table in main.c. A
 * command returns its exit code, or COMMAND_FAILED with an error, which main.c prints as one line
 * and maps to an exit code. */
#pragma once

#include "runner/settings.h"

/* The exit codes of the program. 1 ("regressed") and 5 ("could not tell") belong to commands that
 * compare. */
enum exit_code {
    EXIT_FINE = 0,
    EXIT_REGRESSED = 1,
    EXIT_USAGE = 2,      /* what was asked for cannot be: nothing was measured, nothing was sent */
    EXIT_UNMEASURED = 3, /* some cell could not be measured; the others were, and were posted */
    /* Something did not get where it should: the document is in the spool, or in its rejected/; the
     * server gives no answer; a file (--out, --junit, --markdown) or the standard output cannot be
     * written. A message says which. */
    EXIT_UNDELIVERED = 4,
    EXIT_UNSURE = 5,
    EXIT_INTERRUPTED = 130 /* by SIGINT or SIGTERM: nothing was sent */
};

#define COMMAND_FAILED (-1)

struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv, GError **error); /* argv[0] is the command's name */
};

/* Reads the command line. NULL where that is all: --help was asked for and is printed (*out_code
 * EXIT_FINE), or it is wrong (COMMAND_FAILED, with an error). */
Options *command_begin(const struct option_usage *usage, int argc, char **argv, int *out_code,
                       GError **error);

/* False with an error where no server is named. */
bool command_needs_server(const Settings *settings, GError **error);

/* The project that the settings or git name; NULL with an error where none does. */
char *command_project(const Settings *settings, GError **error);

int command_run(int argc, char **argv, GError **error);
int command_exec(int argc, char **argv, GError **error);
int command_check_executor(int argc, char **argv, GError **error);
int command_list(int argc, char **argv, GError **error);
int command_machine(int argc, char **argv, GError **error);
int command_post(int argc, char **argv, GError **error);
int command_compare(int argc, char **argv, GError **error);
int command_import(int argc, char **argv, GError **error);
int command_history(int argc, char **argv, GError **error);
