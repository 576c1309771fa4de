/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner: finds the command, prints its error, ends with its exit code. The same program,
 * started by itself with CELL_ARGUMENT, is the process that measures one cell. Main thread. */
#include "runner/cell.h"
#include "runner/command.h"
#include "runner/interrupt.h"
#include "runner/nearest.h"
#include "runner/show/console.h"
#include <string.h>

static const struct command commands[] = {
    {"run", "measure, show, post", command_run},
    {"exec", "run any benchmark, or time a command, and post it", command_exec},
    {"list", "what can be measured", command_list},
    {"machine", "facts of this machine", command_machine},
    {"post", "send files of results, or what waits in the spool", command_post},
    {"import", "bring a history that another system kept", command_import},
    {"compare", "what a commit, branch or run changed against another", command_compare},
    {"history", "tell a server a project's commits", command_history},
    {"check-executor", "whether an executor keeps the contract", command_check_executor},
};

static void print_help(void)
{
    console_print("Usage:\n  breakeven-runner COMMAND [OPTION…]\n\nMeasures how thread pools and "
                  "dispatchers behave, and posts the "
                  "results.\n\nCommands:\n");
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
        console_print("  %-14s %s\n", commands[i].name, commands[i].summary);
    console_print("\nOptions stand above the environment (BREAKEVEN_SERVER, BREAKEVEN_PROJECT, "
                  "BREAKEVEN_MACHINE, BREAKEVEN_TOKEN, …),\nand it above the key file "
                  "$XDG_CONFIG_HOME/breakeven/runner.conf ([runner], server = …).\n");
    console_print("\nExample:\n  breakeven-runner run --quick\n\nbreakeven-runner COMMAND --help "
                  "shows the options of a command; "
                  "--version the version.\n");
}

/* A failure by its kind: what was asked for cannot be, the machine failed to do it, or the disk
 * could not keep it. */
static int exit_code_of(const GError *error)
{
    if (g_error_matches(error, BREAKEVEN_ERROR, ERROR_INTERNAL))
        return EXIT_UNMEASURED;
    if (g_error_matches(error, BREAKEVEN_ERROR, ERROR_FULL) ||
        g_error_matches(error, BREAKEVEN_ERROR, ERROR_BUSY))
        return EXIT_UNDELIVERED;
    return EXIT_USAGE;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    int code = command->run(argc, argv, &error);
    if (code != COMMAND_FAILED)
        return code;
    console_message("%s", error->message);
    return exit_code_of(error);
}

static int find_and_run(int argc, char **argv)
{
    const char *names[G_N_ELEMENTS(commands)];
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++) {
        names[i] = commands[i].name;
        if (strcmp(argv[1], commands[i].name) == 0)
            return run_command(&commands[i], argc - 1, argv + 1);
    }
    g_autofree char *hint = nearest_hint(argv[1], names, G_N_ELEMENTS(names), "");
    console_message("there is no %s \"%s\"%s%s", argv[1][0] == '-' ? "option" : "command", argv[1],
                    hint, *hint ? "" : "; breakeven-runner --help lists the commands");
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], CELL_ARGUMENT) == 0)
        return cell_child_main(argc, argv);
    interrupt_install();
    int code = EXIT_FINE;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
                     strcmp(argv[1], "help") == 0)) {
        print_help();
    } else if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        console_print("breakeven-runner %s\n", BREAKEVEN_VERSION);
    } else if (argc > 1) {
        code = find_and_run(argc, argv);
    } else {
        console_message("a command is missing; breakeven-runner --help lists them, "
                        "breakeven-runner run --quick measures");
        code = EXIT_USAGE;
    }
    if (!console_flush()) {
        console_message("the standard output cannot be written");
        return code == EXIT_FINE ? EXIT_UNDELIVERED : code;
    }
    return code;
}
