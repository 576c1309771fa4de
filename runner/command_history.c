/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner history: tells a server the commits of a project, so that unmeasured ones are
 * known and runs can be put in their order. Main thread. */
#include "runner/command.h"

#include "runner/git.h"
#include "runner/history.h"
#include "runner/interrupt.h"
#include "runner/report.h"
#include "runner/show/console.h"

#define COMMITS_MAX_DEFAULT 100000u
#define COMMITS_MAX         1000000u

static const struct option_spec specs[] = {
    SETTINGS_OPTIONS_SERVER,
    SETTINGS_OPTION_PROJECT,
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

struct telling {
    const char *project;
    const char *branch; /* or NULL */
    const char *range;
};

/* The newest commit of a range: what stands right of its dots. */
static char *tip_of(const char *range)
{
    const char *dots = g_strrstr(range, "..");
    const char *tip = dots ? dots + 2 : range;
    return git_resolve(*tip ? tip : "HEAD");
}

static bool tell_head(Delivery *delivery, const struct telling *telling, GError **error)
{
    g_autofree char *tip = telling->branch ? tip_of(telling->range) : NULL;
    if (!tip)
        return true;
    if (history_is_head(telling->branch, tip))
        return history_tell_head(delivery, telling->project, telling->branch, tip, error);
    console_message("where branch %s points was not told: %.12s is not where the remote's is",
                    telling->branch, tip);
    return true;
}

static int send_history(const Settings *settings, const struct telling *telling,
                        const GPtrArray *commits, GError **error)
{
    g_autoptr(Delivery) delivery = report_open_delivery(settings, error);
    if (!delivery)
        return COMMAND_FAILED;
    g_autoptr(GError) problem = NULL;
    if (history_send(delivery, telling->project, telling->branch, commits, &problem) &&
        tell_head(delivery, telling, &problem)) {
        console_message("sent %u commits of project %s to %s", commits->len, telling->project,
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
    history_say_shallow("and holds only the newest commits of its history: those before them stay "
                        "unknown to the server");
    g_autofree char *project = command_project(settings, error);
    const struct telling telling = {.project = project, .branch = branch, .range = range};
    return project ? send_history(settings, &telling, commits, error) : COMMAND_FAILED;
}

int command_history(int argc, char **argv, GError **error)
{
    int code = EXIT_FINE;
    g_autoptr(Options) options = command_begin(&usage, argc, argv, &code, error);
    if (!options)
        return code;
    g_autoptr(Settings) settings = settings_read(options, error);
    if (!settings)
        return COMMAND_FAILED;
    if (!command_needs_server(settings, error))
        return COMMAND_FAILED;
    if (options_arguments(options)->len <= 1)
        return history(options, settings, error);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "history takes one range, as in history v1.0..main");
    return COMMAND_FAILED;
}
