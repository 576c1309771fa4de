/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner compare: what a commit, a branch or a run changed against another, as the server
 * sees it. Main thread. */
#include "runner/command.h"

#include "runner/git.h"
#include "runner/interrupt.h"
#include "runner/judging.h"
#include "runner/show/console.h"

static const struct option_spec specs[] = {
    SETTINGS_OPTIONS_SERVER,
    {"project", 'p', OPTION_VALUE, "NAME", "Project (name of the git remote or folder)"},
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
    .examples = "Examples:\n"
                "  breakeven-runner compare main my-branch --server http://127.0.0.1:8080\n"
                "  breakeven-runner compare 1f3a9c2 HEAD-OF-CI --fail-on regressed,unsure\n"
                "\nExit: 0 fine, 1 regressed, 2 usage, 4 no answer from the server, 5 unsure (only "
                "when asked), 130 interrupted\n",
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
    int code;
    if (options_flag(options, "json")) {
        char *text = json_dumps(comparison, JSON_COMPACT);
        console_print("%s\n", text ? text : "null");
        free(text);
        const json_t *counts = json_object_get(comparison, "counts");
        bool regressed = json_integer_value(json_object_get(counts, "regressed")) > 0;
        bool unsure = json_integer_value(json_object_get(counts, "unsure")) > 0;
        code = regressed && judging.on_regressed ? EXIT_REGRESSED
               : unsure && judging.on_unsure     ? EXIT_UNSURE
                                                 : EXIT_FINE;
    } else {
        code = judging_show(&judging, comparison, options_flag(options, "all"));
    }
    json_decref(comparison);
    return code;
}

static bool check(const Options *options, const Settings *settings, GError **error)
{
    if (options_arguments(options)->len != 2)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "compare takes two: BASE and HEAD, as in compare main my-branch");
    else if (!settings->server)
        g_set_error(
            error, BREAKEVEN_ERROR, ERROR_INVALID,
            "no server is named; give --server http://127.0.0.1:8080 or set BREAKEVEN_SERVER");
    else
        return true;
    return false;
}

int command_compare(int argc, char **argv, GError **error)
{
    g_autoptr(Options) options = options_parse(&usage, argc, argv, error);
    if (!options)
        return COMMAND_FAILED;
    if (options_flag(options, "help")) {
        g_autofree char *help = options_help(&usage);
        console_print("%s", help);
        return EXIT_FINE;
    }
    g_autoptr(Settings) settings = settings_read(options, error);
    if (!settings || !check(options, settings, error))
        return COMMAND_FAILED;
    if (settings->project)
        return compare(options, settings, settings->project, error);
    g_autoptr(GitFacts) facts = git_read(NULL, 0, NULL);
    if (facts && facts->project)
        return compare(options, settings, facts->project, error);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "the project is not known here; give --project NAME");
    return COMMAND_FAILED;
}
