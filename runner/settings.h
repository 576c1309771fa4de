/* SPDX-License-Identifier: Apache-2.0
 * What a site sets once: key file < environment < option. The file is
 * $XDG_CONFIG_HOME/breakeven/runner.conf or --config FILE:
 *
 *   [runner]
 *   server = https://bench.example.org
 *   project = breakeven
 *   machine = ci-7
 *   spool-dir = /var/spool/breakeven
 *   token-file = /etc/breakeven/token
 *   deliver-timeout = 60
 *
 * The same names are options (--server) and variables (BREAKEVEN_SERVER). A token itself comes from
 * BREAKEVEN_TOKEN or a file, never from the command line, and is never printed. An empty variable
 * counts as not set. */
#pragma once

#include "runner/options.h"

typedef struct settings {
    char *server;  /* http or https, no slash at its end; NULL: nothing is sent */
    char *project; /* or NULL */
    char *machine; /* or NULL */
    char *spool_dir;
    char *token;           /* or NULL */
    guint deliver_seconds; /* how long to try, retries and all; 0: one attempt */
} Settings;

/* The options that settings_read looks at: rows for a command's table. */
#define SETTINGS_OPTIONS_SERVER                                                                    \
    {"server", 's', OPTION_VALUE, "URL", "The server to post to, as in http://127.0.0.1:8080"},    \
        {"token-file", 0, OPTION_VALUE, "FILE", "File that holds the token (or BREAKEVEN_TOKEN)"}, \
        {"spool-dir", 0, OPTION_VALUE, "DIR", "Where documents wait until they are delivered"},    \
        {"deliver-timeout", 0, OPTION_VALUE, "SECONDS", "How long to try to deliver (60)"},        \
    {                                                                                              \
        "config", 0, OPTION_VALUE, "FILE", "Key file ($XDG_CONFIG_HOME/breakeven/runner.conf)"     \
    }
#define SETTINGS_OPTION_PROJECT                                                                    \
    {                                                                                              \
        "project", 'p', OPTION_VALUE, "NAME", "Project (name of the git remote or folder)"         \
    }
#define SETTINGS_OPTIONS_IDENTITY                                                                  \
    SETTINGS_OPTION_PROJECT,                                                                       \
    {                                                                                              \
        "machine", 'm', OPTION_VALUE, "NAME", "Machine (host name; must be given where CI is set)" \
    }

Settings *settings_read(const Options *options, GError **error);
void settings_free(Settings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Settings, settings_free)

/* True where the variable CI says that a CI system runs this: set, and not empty, 0 or false. */
gboolean settings_in_ci(void);
