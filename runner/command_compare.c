/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner compare: what a commit, a branch or a run changed against another, as the server
 * sees it. Main thread. */
#include "runner/command.h"

#include "runner/interrupt.h"
#include "runner/judging.h"
#include "runner/show/console.h"

static const struct option_spec specs[] = {
    SETTINGS_OPTIONS_SERVER,
    SETTINGS_OPTION_PROJECT,
    {"machine", 'm', OPTION_VALUE, "NAME", "Only what this machine measured"},
    JUDGING_OPTIONS,
    {"all", 'a', OPTION_FLAG, NULL, "List unchanged series too"},
    {"json", 'j', OPTION_FLAG, NULL, "Print the server's answer instead of the table"},
    {0},
};

static const struct option_usage usage = {
    .command = "compare",
    .arguments = "BASE HEAD",
    .summary = "Compares two commits, branches or runs; a commit or branch from the merge base on. "
               "Prints a table, worst first, and one line.",
    .examples =
        "Examples:\n"
        "  breakeven-runner compare main my-branch --server http://127.0.0.1:8080\n"
        "  breakeven-runner compare 1f3a9c2 HEAD-OF-CI --fail-on regressed,unsure\n"
        "  breakeven-runner compare main my-branch --junit changes.xml --markdown changes.md\n"
        "\nExit: 0 fine, 1 regressed, 2 usage, 4 no answer from the server, or a file or the "
        "standard output not written (a message says which), 5 unsure (only when asked), "
        "130 interrupted\n",
    .specs = specs,
};

static void append_query(GString *path, char before, const char *name, const char *value)
{
    g_autofree char *escaped = g_uri_escape_string(value, NULL, FALSE);
    g_string_append_printf(path, "%c%s=%s", before, name, escaped);
}

static char *path_of(const Options *options, const char *project)
{
    const GPtrArray *arguments = options_arguments(options);
    const char *machine = options_value(options, "machine");
    GString *path = g_string_new("/api/compare");
    append_query(path, '?', "project", project);
    append_query(path, '&', "base", (const char *)arguments->pdata[0]);
    append_query(path, '&', "head", (const char *)arguments->pdata[1]);
    if (machine)
        append_query(path, '&', "machine", machine);
    return g_string_free(path, FALSE);
}

static int compare(const Options *options, const Settings *settings, const char *project,
                   GError **error)
{
    struct judging judging;
    if (!judging_parse(options, &judging, error))
        return COMMAND_FAILED;
    g_autofree char *path = path_of(options, project);
    json_t *comparison = judging_fetch(settings, path, 0, error);
    if (!comparison)
        return interrupt_requested() ? EXIT_INTERRUPTED : COMMAND_FAILED;
    struct judging_view view = {.all = options_flag(options, "all"),
                                .is_message = options_flag(options, "json")};
    if (view.is_message) {
        char *text = json_dumps(comparison, JSON_COMPACT);
        console_print("%s\n", text ? text : "null");
        free(text);
    }
    int code = judging_conclude(&judging, settings, comparison, view);
    json_decref(comparison);
    return code;
}

static bool check(const Options *options, const Settings *settings, GError **error)
{
    if (options_arguments(options)->len != 2)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "compare takes two: BASE and HEAD, as in compare main my-branch");
    else
        return command_needs_server(settings, error);
    return false;
}

int command_compare(int argc, char **argv, GError **error)
{
    int code = EXIT_FINE;
    g_autoptr(Options) options = command_begin(&usage, argc, argv, &code, error);
    if (!options)
        return code;
    g_autoptr(Settings) settings = settings_read(options, error);
    if (!settings || !check(options, settings, error))
        return COMMAND_FAILED;
    g_autofree char *project = command_project(settings, error);
    return project ? compare(options, settings, project, error) : COMMAND_FAILED;
}
