/* SPDX-License-Identifier: Apache-2.0
 * What every command begins with. Main thread. */
#include "runner/command.h"

#include "runner/git.h"
#include "runner/show/console.h"

Options *command_begin(const struct option_usage *usage, int argc, char **argv, int *out_code,
                       GError **error)
{
    g_autoptr(Options) options = options_parse(usage, argc, argv, error);
    *out_code = options ? EXIT_FINE : COMMAND_FAILED;
    if (!options || !options_flag(options, "help"))
        return g_steal_pointer(&options);
    g_autofree char *help = options_help(usage);
    console_print("%s", help);
    return NULL;
}

bool command_needs_server(const Settings *settings, GError **error)
{
    if (!settings->server)
        g_set_error(
            error, BREAKEVEN_ERROR, ERROR_INVALID,
            "no server is named; give --server http://127.0.0.1:8080 or set BREAKEVEN_SERVER");
    return settings->server != NULL;
}

char *command_project(const Settings *settings, GError **error)
{
    g_autoptr(GitFacts) facts = settings->project ? NULL : git_read(NULL, 0, NULL);
    const char *project = settings->project ? settings->project : facts ? facts->project : NULL;
    if (!project)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the project is not known here; give --project NAME");
    return g_strdup(project);
}
