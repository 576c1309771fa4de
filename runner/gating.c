/* SPDX-License-Identifier: Apache-2.0
 * See gating.h. Main thread. */
#include "runner/gating.h"

#include "runner/command.h"
#include "runner/executors/plugin.h"
#include "runner/interrupt.h"
#include "runner/report.h"
#include "runner/show/console.h"
#include "runner/show/table.h"
#include <string.h>
#include <unistd.h>

#define WAIT_SECONDS  60u
#define GRACE_SECONDS 10u

/* ---- Options ---- */

static bool check_runner(const char *path, GError **error)
{
    if (!path || (g_file_test(path, G_FILE_TEST_IS_REGULAR) && access(path, X_OK) == 0))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "--base-runner %s: there is no program; give the path of the base's "
                "breakeven-runner",
                path);
    return false;
}

/* An option without what it belongs to would do nothing in silence. */
static bool check_company(const Options *options, GError **error)
{
    static const char *const pairs[][2] = {
        {"fail-on", "gate"},           {"junit", "gate"},          {"markdown", "gate"},
        {"confirm", "gate"},           {"base-runner", "confirm"}, {"base-executor", "confirm"},
        {"confirm-rounds", "confirm"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(pairs); i++) {
        if (!options_flag(options, pairs[i][0]) || options_flag(options, pairs[i][1]))
            continue;
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "--%s goes with --%s", pairs[i][0],
                    pairs[i][1]);
        return false;
    }
    return true;
}

bool gating_parse(const Options *options, const Settings *settings, struct gating *out,
                  GError **error)
{
    guint64 rounds = CONFIRM_ROUNDS_DEFAULT;
    *out = (struct gating){.is_wanted = options_flag(options, "gate"),
                           .confirms = options_flag(options, "confirm")};
    out->base.runner = options_value(options, "base-runner");
    if (!check_company(options, error) || !check_runner(out->base.runner, error) ||
        !options_number(options, "confirm-rounds", CONFIRM_ROUNDS_MIN, CONFIRM_ROUNDS_MAX, &rounds,
                        error))
        return false;
    out->rounds = (guint)rounds;
    if (out->is_wanted && !settings->server) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--gate asks a server; give --server http://127.0.0.1:8080 or set "
                    "BREAKEVEN_SERVER");
        return false;
    }
    return judging_parse(options, &out->judging, error);
}

static bool plan_has(const Plan *plan, const char *executor)
{
    for (guint i = 0; i < plan->cells->len; i++)
        if (strcmp(g_array_index(plan->cells, struct cell, i).values.executor, executor) == 0)
            return true;
    return false;
}

/* The library's own name; it is loaded in a child only, so that it may be called what the head's
 * is. */
static bool add_library(GArray *libraries, const char *text, const Plan *plan, GError **error)
{
    struct confirm_library library = {0};
    struct executor_facts facts;
    if (!strchr(text, '/')) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--base-executor %s: a library is given by a path with a slash, such as "
                    "./libmine.so",
                    text);
        return false;
    }
    g_autofree char *path = g_canonicalize_filename(text, NULL);
    library.path = g_intern_string(path);
    if (!plugin_describe(path, NULL, &facts, error)) {
        g_prefix_error(error, "--base-executor: ");
        return false;
    }
    if (!plan_has(plan, facts.name)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--base-executor %s: its name is %s, which no cell of the plan runs on", text,
                    facts.name);
        return false;
    }
    memcpy(library.name, facts.name, sizeof library.name);
    g_array_append_val(libraries, library);
    return true;
}

bool gating_check(struct gating *gating, const Options *options, const Plan *plan, GError **error)
{
    const GPtrArray *texts = options_list(options, "base-executor");
    gating->base.libraries = g_array_new(FALSE, TRUE, sizeof(struct confirm_library));
    for (guint i = 0; texts && i < texts->len; i++)
        if (!add_library(gating->base.libraries, (const char *)texts->pdata[i], plan, error))
            return false;
    return true;
}

void gating_clear(struct gating *gating)
{
    g_clear_pointer(&gating->base.libraries, g_array_unref);
}

/* ---- Measuring again ---- */

/* Names the run whose suspects these are. */
static void add_context(Run *run, const char *id)
{
    json_t *context = run->context_json ? json_loads(run->context_json, 0, NULL) : json_object();
    json_object_set_new(context, "confirms", json_string(id));
    char *text = json_dumps(context, JSON_COMPACT | JSON_SORT_KEYS);
    g_free(run->context_json);
    run->context_json = g_strdup(text);
    free(text);
    json_decref(context);
}

static json_t *fetch_verdict(const Settings *settings, const char *run_id, GError **error)
{
    g_autofree char *escaped = g_uri_escape_string(run_id, NULL, FALSE);
    g_autofree char *path = g_strdup_printf("/api/runs/%s/verdict?wait=%u", escaped, WAIT_SECONDS);
    return judging_fetch(settings, path, WAIT_SECONDS + GRACE_SECONDS, error);
}

/* Sends the run, and lets the server decide what is not decided yet. */
static int post_again(const struct gating_run *request, const Confirming *confirming, Run *run,
                      GError **error)
{
    g_autoptr(GError) problem = NULL;
    GString *document = report_document(run, error);
    if (!document)
        return COMMAND_FAILED;
    int code = report_send(request->delivery, request->settings, run, document, false, error);
    g_string_free(document, TRUE);
    if (code == COMMAND_FAILED || code == EXIT_INTERRUPTED)
        return code;
    bool asks = code == EXIT_FINE && confirming_undecided(confirming) > 0;
    json_t *verdict = asks ? fetch_verdict(request->settings, run->id, &problem) : NULL;
    if (problem)
        console_message("%s", problem->message);
    confirming_judge(confirming, json_object_get(verdict, "comparison"));
    json_decref(verdict);
    return interrupt_requested() ? EXIT_INTERRUPTED : code;
}

static void count_decision(const Confirming *confirming, const char *decision, GString *out)
{
    guint n = 0;
    for (guint i = 0; i < confirming->suspects->len; i++) {
        const json_t *row = g_array_index(confirming->suspects, struct suspect, i).row;
        n += g_strcmp0(confirming_decision(row), decision) == 0;
    }
    if (n > 0)
        g_string_append_printf(out, "%s %u %s", out->len ? "," : "", n, decision);
}

/* Says it in the sentence, which stands in every report. */
static void add_to_sentence(json_t *comparison, const Confirming *confirming)
{
    const char *before = json_string_value(json_object_get(comparison, "sentence"));
    g_autoptr(GString) counts = g_string_new(NULL);
    for (const char *const *word = (const char *const[]){"confirmed", "cleared", "unsure", NULL};
         *word; word++)
        count_decision(confirming, *word, counts);
    g_autofree char *after =
        g_strdup_printf("%s; measured again:%s", before ? before : "", counts->str);
    json_object_set_new(comparison, "sentence", json_string(after));
}

static void say_beginning(const Confirming *confirming, const struct gating *gating)
{
    guint n = confirming->cells->len, n_bases = confirming->bases->len;
    console_message("%u %s slower; measuring again in %u rounds, beside %s", n,
                    n == 1 ? "cell looks" : "cells look", gating->rounds,
                    n_bases == n  ? "the base's build"
                    : n_bases > 0 ? "the base's build where it has them"
                                  : "the plain workload");
}

/* EXIT_FINE where the suspects are decided, or there are none. */
static int confirm(const struct gating_run *request, json_t *comparison, GError **error)
{
    const struct gating *gating = request->gating;
    g_autoptr(Confirming) confirming =
        confirming_new(comparison, request->plan, &gating->base, gating->rounds);
    if (!confirming)
        return EXIT_FINE;
    say_beginning(confirming, gating);
    g_autoptr(GError) problem = NULL;
    g_autoptr(Run) run = request->measure(confirming->plan, "confirm", request->user, &problem);
    if (!run && !problem) {
        console_message("interrupted: the run is stored, what it suspects is not confirmed");
        return EXIT_INTERRUPTED;
    }
    if (!run) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return COMMAND_FAILED;
    }
    confirming_pair(confirming, run->results);
    add_context(run, request->run->id);
    int code = post_again(request, confirming, run, error);
    add_to_sentence(comparison, confirming);
    return code;
}

/* ---- The gate ---- */

/* What could not be measured, for the reports. */
static void add_errors(json_t *comparison, const Run *run)
{
    json_t *errors = json_array();
    for (guint i = 0; i < run->results->len; i++) {
        const struct run_result *result = (const struct run_result *)run->results->pdata[i];
        g_autofree char *name = result->error ? table_name(result) : NULL;
        if (name)
            json_array_append_new(errors,
                                  json_pack("{s:s, s:s}", "name", name, "message", result->error));
    }
    json_object_set_new(comparison, "errors", errors);
}

/* Reports are written all the same. */
static json_t *nothing_judged(const Run *run)
{
    g_autofree char *sentence =
        g_strdup_printf("the run is stored, but was not judged within %u s: nothing can be said "
                        "of it yet",
                        WAIT_SECONDS);
    return json_pack("{s:s, s:s, s:[], s:[]}", "project", run->project, "sentence", sentence,
                     "warnings", "series");
}

static int conclude(const struct gating_run *request, json_t *verdict, GError **error)
{
    const struct gating *gating = request->gating;
    json_t *comparison = json_object_get(verdict, "comparison");
    bool is_judged = json_is_object(comparison);
    comparison = is_judged ? json_incref(comparison) : nothing_judged(request->run);
    int confirmed = is_judged && gating->confirms ? confirm(request, comparison, error) : EXIT_FINE;
    int code = confirmed;
    if (confirmed == EXIT_FINE || confirmed == EXIT_UNDELIVERED) {
        struct judging_view view = {.is_message = request->is_message, .is_gate = true};
        add_errors(comparison, request->run);
        code = judging_conclude(&gating->judging, request->settings, comparison, view);
    }
    if (code == EXIT_FINE)
        code = !is_judged && gating->judging.on_unsure ? EXIT_UNSURE : confirmed;
    json_decref(comparison);
    return code;
}

int gating_run(const struct gating_run *request, GError **error)
{
    json_t *verdict = fetch_verdict(request->settings, request->run->id, error);
    if (!verdict)
        return interrupt_requested() ? EXIT_INTERRUPTED : COMMAND_FAILED;
    int code = conclude(request, verdict, error);
    json_decref(verdict);
    return code;
}
