/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner check-executor: whether an executor, of the runner's own or from a library of a
 * user's, keeps what runner/executor.h promises. Main thread. */
#include "runner/command.h"

#include "runner/executors/conformance.h"
#include "runner/executors/executors.h"
#include "runner/options.h"
#include "runner/show/console.h"
#include <jansson.h>

#define MS_PER_S          1000u
#define TIMEOUT_DEFAULT_S 20u
#define TIMEOUT_MAX_S     3600u

static const struct option_spec specs[] = {
    OPTION_ROW_JSON,
    {"timeout", 0, OPTION_VALUE, "SECONDS", "After which a check counts as hanging (default 20)"},
    {0},
};

static const struct option_usage usage = {
    .command = "check-executor",
    .arguments = "NAME|LIBRARY…",
    .summary = "Tests whether executors keep the contract of runner/executor.h, each check in a "
               "process of its own.",
    .examples = "Examples:\n  breakeven-runner check-executor fifo tbb\n"
                "  breakeven-runner check-executor ./libmine.so\n"
                "Exit status: 0 all is kept, 1 something is not, 2 there is no such executor.\n",
    .specs = specs,
};

static const char *const state_names[] = {
    [CONFORMANCE_PASSED] = "ok",
    [CONFORMANCE_FAILED] = "FAILED",
    [CONFORMANCE_NOT_ASKED] = "-",
};

static void print_text(const struct executor_facts *facts, const GArray *outcomes)
{
    console_print("%s%s%s\n", facts->name, *facts->version ? " " : "", facts->version);
    for (guint i = 0; i < outcomes->len; i++) {
        const struct conformance_outcome *outcome =
            &g_array_index(outcomes, struct conformance_outcome, i);
        console_print("  %-7s %-13s %s%s%s\n", state_names[outcome->state], outcome->check,
                      outcome->promise, outcome->message ? ": " : "",
                      outcome->message ? outcome->message : "");
    }
}

static json_t *executor_json(const struct executor_facts *facts, const GArray *outcomes)
{
    json_t *checks = json_array();
    for (guint i = 0; i < outcomes->len; i++) {
        const struct conformance_outcome *outcome =
            &g_array_index(outcomes, struct conformance_outcome, i);
        const char *state = outcome->state == CONFORMANCE_PASSED   ? "passed"
                            : outcome->state == CONFORMANCE_FAILED ? "failed"
                                                                   : "not asked";
        json_t *row = json_pack("{s:s, s:s, s:s}", "check", outcome->check, "promise",
                                outcome->promise, "state", state);
        if (outcome->message) {
            json_object_set_new(row, "message", json_string(outcome->message));
        }
        json_array_append_new(checks, row);
    }
    return json_pack("{s:s, s:s, s:b, s:o}", "name", facts->name, "version", facts->version,
                     "passed", conformance_passed(outcomes), "checks", checks);
}

static bool check_one(const char *text, guint timeout_ms, json_t *list, bool *inout_passed,
                      GError **error)
{
    struct executor_facts facts;
    const char *name = executor_resolve(text, error);
    if (!name || !executor_describe(name, &facts, error)) {
        return false;
    }
    g_autoptr(GArray) outcomes = conformance_run(name, timeout_ms, error);
    if (!outcomes) {
        return false;
    }
    *inout_passed = *inout_passed && conformance_passed(outcomes);
    if (list) {
        json_array_append_new(list, executor_json(&facts, outcomes));
    } else {
        print_text(&facts, outcomes);
    }
    return true;
}

static int check_all(const Options *options, GError **error)
{
    guint64 timeout_s = TIMEOUT_DEFAULT_S;
    const GPtrArray *texts = options_arguments(options);
    if (!options_number(options, "timeout", 1, TIMEOUT_MAX_S, &timeout_s, error)) {
        return COMMAND_FAILED;
    }
    if (texts->len == 0) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_INVALID,
                            "check-executor needs the name of an executor, or the path of a "
                            "library such as ./libmine.so; breakeven-runner list names them");
        return COMMAND_FAILED;
    }
    json_t *list = options_flag(options, "json") ? json_array() : NULL;
    bool passed = true, checked = true;
    for (guint i = 0; checked && i < texts->len; i++) {
        checked = check_one((const char *)texts->pdata[i], (guint)timeout_s * MS_PER_S, list,
                            &passed, error);
    }
    if (checked && list) {
        char *text = json_dumps(list, JSON_INDENT(2));
        console_print("%s\n", text);
        free(text);
    }
    json_decref(list);
    return !checked ? COMMAND_FAILED : passed ? EXIT_FINE : EXIT_REGRESSED;
}

int command_check_executor(int argc, char **argv, GError **error)
{
    int code = EXIT_FINE;
    g_autoptr(Options) options = command_begin(&usage, argc, argv, &code, error);
    return options ? check_all(options, error) : code;
}
