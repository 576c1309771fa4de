/* SPDX-License-Identifier: Apache-2.0
 * A server's comparison, asked for, shown, and made into an exit code. Main thread. */
#pragma once

#include "runner/options.h"
#include "runner/settings.h"
#include <jansson.h>

#define JUDGING_OPTIONS                                                                            \
    {                                                                                              \
        "fail-on", 0, OPTION_LIST, "VERDICT,…",                                                    \
            "Verdicts that fail: regressed (exit 1, the default), unsure (exit 5), or none"        \
    }

struct judging {
    bool on_regressed, on_unsure;
};
bool judging_parse(const Options *options, struct judging *out, GError **error);

/* GET of a path below the server, as JSON; waits at most `seconds`. NULL with ERROR_BUSY where
 * there was no answer, or ERROR_INVALID with what the server said. */
json_t *judging_fetch(const Settings *settings, const char *path, unsigned seconds, GError **error);

/* Prints warnings, the table (all rows with `all`) and one line; returns the exit code. */
int judging_show(const struct judging *judging, const json_t *comparison, bool all);

/* The verdict of a run that was just stored: waits for it, shows it. A regression that only this
 * one run shows does not fail by itself. COMMAND_FAILED with an error where there is none. */
int judging_gate(const struct judging *judging, const Settings *settings, const char *run_id,
                 GError **error);
