/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner history: tells a server the commits of a project, so that unmeasured ones are
 * known and runs can be put in their order. Main thread. */
#include "runner/command.h"

#include "runner/envelope.h"
#include "runner/git.h"
#include "runner/interrupt.h"
#include "runner/report.h"
#include "runner/show/console.h"

#define BATCH_COMMITS       1000u
#define COMMITS_MAX_DEFAULT 100000u
#define COMMITS_MAX         1000000u

static const struct option_spec specs[] = {
    SETTINGS_OPTIONS_SERVER,
    {"project", 'p', OPTION_VALUE, "NAME", "Project (name of the git remote or folder)"},
    {"branch", 'b', OPTION_VALUE, "NAME",
     "Branch of the commits (what HEAD points at, where RANGE is not given)"},
    {"max", 0, OPTION_VALUE, "N", "At most N commits, the newest (100000)"},
    {0},
};

static const struct option_usage usage = {
    .command = "history",
    .arguments = "[RANGE]",
    .summary =
        "Sends what git log knows to a server. RANGE is as git rev-list takes it; default: HEAD.",
    .examples =
        "Examples:\n"
        "  breakeven-runner history --server http://127.0.0.1:8080\n"
        "  breakeven-runner history --server http://127.0.0.1:8080 v1.0..main --branch main\n"
        "\nExit: 0 fine, 2 usage, 4 not delivered, 130 interrupted\n",
    .specs = specs,
};

static bool send_batches(Delivery *delivery, const char *path, const GPtrArray *commits,
                         GError **error)
{
    for (guint from = 0; from < commits->len; from += BATCH_COMMITS) {
        GString *batch = envelope_commits(commits, from, MIN(from + BATCH_COMMITS, commits->len));
        bool is_good = delivery_post(delivery, path, batch->str, batch->len, error);
        g_string_free(batch, TRUE);
        if (!is_good)
            return false;
    }
    return true;
}

static char *commits_path(const char *project, const char *branch)
{
    g_autofree char *escaped_project = g_uri_escape_string(project, NULL, FALSE);
    g_autofree char *escaped_branch = branch ? g_uri_escape_string(branch, NULL, FALSE) : NULL;
    return g_strdup_printf("/api/projects/%s/commits%s%s", escaped_project,
                           branch ? "?branch=" : "", branch ? escaped_branch : "");
}

static int send_history(const Settings *settings, const char *project, const char *branch,
                        const GPtrArray *commits, GError **error)
{
    g_autoptr(Delivery) delivery = report_open_delivery(settings, error);
    if (!delivery)
        return COMMAND_FAILED;
    g_autofree char *path = commits_path(project, branch);
    g_autoptr(GError) problem = NULL;
    if (send_batches(delivery, path, commits, &problem)) {
        console_message("sent %u commits of project %s to %s", commits->len, project,
                        settings->server);
        return EXIT_FINE;
    }
    console_message("not delivered: %s", problem->message);
    return interrupt_requested() ? EXIT_INTERRUPTED : EXIT_UNDELIVERED;
}

static int history(const Options *options, const Settings *settings, GError **error)
{
    const GPtrArray *arguments = options_arguments(options);
    const char *range = arguments->len ? (const char *)arguments->pdata[0] : "HEAD";
    guint64 max = COMMITS_MAX_DEFAULT;
    if (!options_number(options, "max", 1, COMMITS_MAX, &max, error))
        return COMMAND_FAILED;
    g_autoptr(GitFacts) facts = git_read(NULL, 0, error);
    if (!facts)
        return COMMAND_FAILED;
    bool more = false;
    g_autoptr(GPtrArray) commits = git_log(range, (guint)max, &more, error);
    if (!commits)
        return COMMAND_FAILED;
    if (more)
        console_message("there are more commits; the newest %u are sent (--max sends more)",
                        commits->len);
    const char *branch = options_value(options, "branch");
    if (!branch && arguments->len == 0)
        branch = facts->branch;
    const char *project = settings->project ? settings->project : facts->project;
    if (project)
        return send_history(settings, project, branch, commits, error);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "the project is not known here; give --project NAME");
    return COMMAND_FAILED;
}

int command_history(int argc, char **argv, GError **error)
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
    if (!settings)
        return COMMAND_FAILED;
    if (options_arguments(options)->len > 1 || !settings->server) {
        if (!settings->server)
            g_set_error(
                error, BREAKEVEN_ERROR, ERROR_INVALID,
                "no server is named; give --server http://127.0.0.1:8080 or set BREAKEVEN_SERVER");
        else
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "history takes one range, as in history v1.0..main");
        return COMMAND_FAILED;
    }
    return history(options, settings, error);
}
