/* SPDX-License-Identifier: Apache-2.0
 * A server's comparison: asked for, shown, reported, and made into an exit code. Main thread. */
#pragma once

#include "runner/options.h"
#include "runner/settings.h"
#include <jansson.h>

#define JUDGING_OPTIONS                                                                            \
    {"fail-on", 0, OPTION_LIST, "VERDICT,…",                                                       \
     "Verdicts that fail: regressed (exit 1, the default), unsure (exit 5), or none"},             \
        {"junit", 0, OPTION_VALUE, "FILE", "Write a JUnit report: a test case for each series"},   \
    {                                                                                              \
        "markdown", 0, OPTION_VALUE, "FILE", "Write the table as Markdown"                         \
    }

struct judging {
    bool on_regressed, on_unsure;
    const char *junit, *markdown; /* the options' own, or NULL */
};
/* The files are checked, too. */
bool judging_parse(const Options *options, struct judging *out, GError **error);

/* GET of a path below the server, as JSON; waits at most `seconds`. NULL with ERROR_BUSY where
 * there was no answer, or ERROR_INVALID with what the server said. */
json_t *judging_fetch(const Settings *settings, const char *path, unsigned seconds, GError **error);

struct judging_view {
    bool all;        /* unchanged series are listed, too */
    bool is_message; /* the standard output is a document's: one line goes to the messages */
    bool is_gate;    /* of a run that was just stored: what this run alone shows fails nothing, but
                        where it was confirmed (runner/confirming.h) */
};

/* Shows the comparison and writes the reports, those of GitHub too where it runs this: the table to
 * the step's summary, what fails as annotations. Marks each series that fails with "fails": true.
 * Returns the exit code: what the verdicts say, or EXIT_UNDELIVERED where they are fine and a
 * report could not be written. */
int judging_conclude(const struct judging *judging, const Settings *settings, json_t *comparison,
                     struct judging_view view);
