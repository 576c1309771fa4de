/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner exec: runs a command and posts what it measured, or how long it took. All that
 * can be wrong with the options is found before the command runs. Main thread. */
#include "runner/command.h"

#include "runner/disturbance.h"
#include "runner/envelope.h"
#include "runner/foreign_bench.h"
#include "runner/handover.h"
#include "runner/interrupt.h"
#include "runner/machine/machine.h"
#include "runner/out_file.h"
#include "runner/report.h"
#include "runner/show/console.h"
#include "runner/show/metric_table.h"
#include "runner/timing.h"
#include "schema/text.h"
#include <string.h>

#define WARMUPS_DEFAULT   1u
#define RUNS_DEFAULT      10u
#define SECONDS_DEFAULT   3u
#define SECONDS_MAX       86400u
#define TIMEOUT_DEFAULT_S 3600u

static const struct option_spec specs[] = {
    SETTINGS_OPTIONS_SERVER,
    SETTINGS_OPTIONS_IDENTITY,
    PROVENANCE_OPTIONS,
    {"format", 'f', OPTION_VALUE, "NAME",
     "The command is a benchmark: its output has this format, or auto"},
    {"results", 0, OPTION_VALUE, "FILE",
     "With --format: the command writes its results to FILE, not to its standard output"},
    {"bench", 0, OPTION_VALUE, "NAME", "Name of the benchmark (the command line)"},
    {"param", 0, OPTION_LIST, "NAME=VALUE,…", "Parameters of the benchmark"},
    {"warmup", 'w', OPTION_VALUE, "N", "Executions before those that count (1)"},
    {"repetitions", 'r', OPTION_VALUE, "N", "Exactly N executions"},
    {"min-runs", 0, OPTION_VALUE, "N", "At least N executions (10) …"},
    {"min-time", 0, OPTION_VALUE, "SECONDS", "… that together last at least so long (3)"},
    {"timeout", 0, OPTION_VALUE, "SECONDS", "After which an execution counts as hanging (3600)"},
    {"show-output", 0, OPTION_FLAG, NULL, "Show what the command prints"},
    {"json", 'j', OPTION_FLAG, NULL, "Print the run document instead of the table"},
    {"out", 'o', OPTION_VALUE, "FILE", "Write the run document to FILE"},
    {"gate", 0, OPTION_FLAG, NULL, "Wait for the server's verdict on the run, and show it"},
    JUDGING_OPTIONS,
    {0},
};

static const struct option_usage usage = {
    .command = "exec",
    .arguments = "-- COMMAND [ARGUMENT…]",
    .summary = "Runs a command and posts what comes of it, with what disturbed it meanwhile "
               "(CPU that others took, pressure, the probe).\n"
               "With --format the command is a benchmark of its own. Without it the command itself "
               "is timed, each execution in a\nprocess of its own: wall time, and CPU time and "
               "memory of the process apart. No shell is between; for one write\n"
               "exec -- sh -c '…'.",
    .examples =
        "Examples:\n"
        "  breakeven-runner exec --server http://127.0.0.1:8080 -- ./build.sh\n"
        "  breakeven-runner exec --server http://127.0.0.1:8080 --format google-benchmark -- "
        "./bench --benchmark_format=json\n"
        "  breakeven-runner exec --format auto --results out.json -- cargo bench\n"
        "\nExit: 0 fine, 1 regressed (with --gate), 2 usage, 3 the command failed (what it "
        "measured all the same is posted), 4 not delivered (it waits in the spool) or a file or "
        "the standard output not written (a message says which), 5 unsure (with --gate --fail-on "
        "unsure), 130 interrupted\n",
    .specs = specs,
};

struct job {
    Options *options;
    Settings *settings;
    Provenance *provenance; /* NULL where no document is wanted and git knows nothing */
    Machine *machine;
    Delivery *delivery; /* NULL: nothing is sent */
    struct gating gating;
    const struct format *format; /* NULL: timed, or recognised by the content */
    bool is_foreign;
    char **arguments; /* of the command */
    char *line;       /* the same as one text */
    struct timing_request timing;
};

static void job_clear(struct job *job)
{
    options_free(job->options);
    settings_free(job->settings);
    provenance_free(job->provenance);
    if (job->machine)
        machine_free(job->machine);
    delivery_close(job->delivery);
    gating_clear(&job->gating);
    g_strfreev(job->arguments);
    g_free(job->line);
}

typedef struct job job_t;
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(job_t, job_clear)

/* ---- Options ---- */

/* Those that only one of the two ways has. */
static bool check_ways(const struct job *job, GError **error)
{
    static const char *const timed[] = {"bench",    "param",    "warmup",      "repetitions",
                                        "min-runs", "min-time", "show-output", NULL};
    for (const char *const *name = timed; *name && job->is_foreign; name++)
        if (options_flag(job->options, *name)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "--%s is for timing a command; with --format the benchmark says it itself",
                        *name);
            return false;
        }
    if (!job->is_foreign && options_flag(job->options, "results")) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--results goes with --format: it names the file that the benchmark writes");
        return false;
    }
    return true;
}

static bool check_param(const char *text, GError **error)
{
    const char *equals = strchr(text, '=');
    g_autofree char *name = equals ? g_strndup(text, (gsize)(equals - text)) : NULL;
    g_autofree char *problem = equals ? text_name_problem(name, strlen(name), RUN_NAME_BYTES_MAX)
                                      : g_strdup("has no =; write it like --param size=10");
    if (equals && !problem)
        problem = text_value_problem(equals + 1, strlen(equals + 1), RUN_NAME_BYTES_MAX);
    if (problem)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "--param %s: it %s", text, problem);
    return !problem;
}

static bool take_bench(struct job *job, GError **error)
{
    const char *given = options_value(job->options, "bench");
    const GPtrArray *params = options_list(job->options, "param");
    job->timing.bench = given ? given : job->line;
    job->timing.params = params;
    g_autofree char *problem =
        text_name_problem(job->timing.bench, strlen(job->timing.bench), RUN_BENCH_BYTES_MAX);
    if (problem)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the benchmark's name \"%s\" %s; name it: --bench NAME", job->timing.bench,
                    problem);
    for (guint i = 0; params && !problem && i < params->len; i++)
        if (!check_param((const char *)params->pdata[i], error))
            return false;
    return !problem;
}

static bool take_counts(struct job *job, GError **error)
{
    const Options *options = job->options;
    guint64 warmups = WARMUPS_DEFAULT, runs = RUNS_DEFAULT, seconds = SECONDS_DEFAULT, exactly = 0,
            timeout = TIMEOUT_DEFAULT_S;
    if (!options_number(options, "warmup", 0, RUN_SAMPLES_MAX, &warmups, error) ||
        !options_number(options, "min-runs", 1, RUN_SAMPLES_MAX, &runs, error) ||
        !options_number(options, "min-time", 0, SECONDS_MAX, &seconds, error) ||
        !options_number(options, "repetitions", 1, RUN_SAMPLES_MAX, &exactly, error) ||
        !options_number(options, "timeout", 1, SECONDS_MAX, &timeout, error))
        return false;
    if (exactly && (options_flag(options, "min-runs") || options_flag(options, "min-time"))) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--repetitions says exactly how many; leave --min-runs and --min-time out");
        return false;
    }
    job->timing.warmups = (guint)warmups;
    job->timing.runs_min = (guint)(exactly ? exactly : runs);
    job->timing.runs_max = exactly ? (guint)exactly : RUN_SAMPLES_MAX;
    job->timing.seconds_min = (double)seconds;
    job->timing.timeout_seconds = (guint)timeout;
    return true;
}

static bool take_command(struct job *job, GError **error)
{
    const GPtrArray *arguments = options_arguments(job->options);
    if (arguments->len == 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "exec needs a command, as in exec -- ./build.sh");
        return false;
    }
    job->arguments = g_new0(char *, (gsize)arguments->len + 1);
    for (guint i = 0; i < arguments->len; i++)
        job->arguments[i] = g_strdup((const char *)arguments->pdata[i]);
    g_autofree char *line = g_strjoinv(" ", job->arguments);
    g_autofree char *valid = g_utf8_make_valid(line, -1);
    job->line = g_utf8_normalize(valid, -1, G_NORMALIZE_NFC);
    job->timing.arguments = (const char *const *)job->arguments;
    return true;
}

static bool take_format(struct job *job, GError **error)
{
    const char *name = options_value(job->options, "format");
    job->is_foreign = name != NULL;
    return !name || foreign_bench_format(name, &job->format, error);
}

static void say_execution(guint run, guint warmups, void *user)
{
    (void)user;
    g_autofree char *line = run <= warmups ? g_strdup_printf("warm-up %u of %u", run, warmups)
                                           : g_strdup_printf("execution %u", run - warmups);
    console_progress(line);
}

static bool prepare(struct job *job, GError **error)
{
    const char *out = options_value(job->options, "out");
    job->settings = settings_read(job->options, error);
    if (!job->settings || !gating_parse(job->options, job->settings, &job->gating, error) ||
        !take_command(job, error) || !take_format(job, error) || !check_ways(job, error) ||
        !take_counts(job, error) || (!job->is_foreign && !take_bench(job, error)) ||
        (out && !out_file_check("out", out, error)))
        return false;
    job->timing.shows_output = options_flag(job->options, "show-output");
    job->timing.stopped = interrupt_requested;
    job->timing.begins = say_execution;
    return true;
}

/* A table alone can be had anywhere; a document needs its commit. */
static bool prepare_document(struct job *job, GError **error)
{
    bool is_wanted = handover_wants_document(job->options, job->settings);
    if (is_wanted || job->is_foreign) {
        g_autoptr(GError) problem = NULL;
        job->provenance = provenance_gather(job->options, job->settings, &problem);
        if (!job->provenance && is_wanted) {
            g_propagate_error(error, g_steal_pointer(&problem));
            return false;
        }
    }
    if (!is_wanted)
        return true;
    handover_say_project(job->provenance);
    job->machine = machine_read(error);
    if (job->machine && job->settings->server)
        job->delivery = report_open_delivery(job->settings, error);
    return job->machine && (job->delivery || !job->settings->server);
}

/* ---- The run ---- */

static Run *timed_run(const struct job *job, GError **error)
{
    g_autoptr(Run) run = job->provenance ? envelope_new(job->provenance, error) : run_new();
    struct run_result *result = run ? timing_run(&job->timing, error) : NULL;
    console_progress(NULL);
    if (!result)
        return NULL;
    g_ptr_array_add(run->results, result);
    disturbance_mark(run->results);
    return g_steal_pointer(&run);
}

static Run *execute(const struct job *job, bool *out_failed, GError **error)
{
    if (!job->is_foreign)
        return timed_run(job, error);
    const struct foreign_request request = {
        .arguments = (const char *const *)job->arguments,
        .format = job->format,
        .results_path = options_value(job->options, "results"),
        .timeout_seconds = job->timing.timeout_seconds,
        .provenance = job->provenance,
    };
    return foreign_bench_take(&request, out_failed, error);
}

static void add_facts(const struct job *job, Run *run, int64_t started_ms)
{
    if (run->started_ms == 0)
        run->started_ms = started_ms;
    run->finished_ms = MAX(envelope_now_ms(), run->started_ms);
    foreign_bench_add_context(run, job->line);
    if (!job->machine)
        return;
    foreign_bench_add_environment(run, job->machine->environment_json);
    if (!run->topology)
        run->topology = g_strdup(job->machine->topology_xml);
}

static bool any_error(const Run *run)
{
    for (guint i = 0; i < run->results->len; i++)
        if (((const struct run_result *)run->results->pdata[i])->error)
            return true;
    return false;
}

static int hand_over(struct job *job, Run *run, GError **error)
{
    bool is_json = options_flag(job->options, "json");
    struct gating_run gate = {.gating = &job->gating,
                              .settings = job->settings,
                              .delivery = job->delivery,
                              .run = run,
                              .is_message = is_json};
    struct handover handover = {.options = job->options,
                                .settings = job->settings,
                                .delivery = job->delivery,
                                .gate = job->gating.is_wanted ? &gate : NULL};
    if (!is_json) {
        GString *table = metric_table_draw(run->results);
        console_write(table->str, table->len);
        g_string_free(table, TRUE);
    }
    return handover_wants_document(job->options, job->settings)
               ? handover_run(&handover, run, error)
               : EXIT_FINE;
}

static int exec(struct job *job, GError **error)
{
    int64_t started_ms = envelope_now_ms();
    bool failed = false;
    g_autoptr(GError) problem = NULL;
    g_autoptr(Run) run = execute(job, &failed, &problem);
    if (interrupt_requested()) {
        console_message("interrupted: nothing was sent");
        return EXIT_INTERRUPTED;
    }
    if (!run) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return COMMAND_FAILED;
    }
    add_facts(job, run, started_ms);
    int code = hand_over(job, run, error);
    if (code != EXIT_FINE || !(failed || any_error(run)))
        return code;
    console_message("%s: %s", job->line, failed ? "the command failed" : "not all was measured");
    return EXIT_UNMEASURED;
}

int command_exec(int argc, char **argv, GError **error)
{
    g_auto(job_t) job = {0};
    int code = EXIT_FINE;
    job.options = command_begin(&usage, argc, argv, &code, error);
    if (!job.options)
        return code;
    if (!prepare(&job, error) || !prepare_document(&job, error))
        return COMMAND_FAILED;
    return exec(&job, error);
}
