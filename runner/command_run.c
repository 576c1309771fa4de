/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner run: all that can be wrong is found before the first cell is measured; then
 * rounds, the table, the document, its delivery. Main thread. */
#include "runner/command.h"

#include "runner/envelope.h"
#include "runner/handover.h"
#include "runner/interrupt.h"
#include "runner/machine/machine.h"
#include "runner/out_file.h"
#include "runner/report.h"
#include "runner/rounds.h"
#include "runner/show/aa_table.h"
#include "runner/show/console.h"
#include "runner/show/progress.h"
#include "runner/show/result_tables.h"
#include "runner/show/seed_tables.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const struct option_spec specs[] = {
    SETTINGS_OPTIONS_SERVER,
    SETTINGS_OPTIONS_IDENTITY,
    PROVENANCE_OPTIONS,
    {"quick", 'q', OPTION_FLAG, NULL, "The whole matrix in about 45 s: at least 3 rounds"},
    {"plan", 0, OPTION_VALUE, "PLAN",
     "quick, default, full, seeds, or a file (format: runner/plan.h)"},
    {"bench", 0, OPTION_LIST, "NAME,…", "Only these benchmarks"},
    {"executor", 0, OPTION_LIST, "NAME,…", "Only these executors"},
    {"threads", 't', OPTION_LIST, "N,…", "Only these numbers of threads"},
    {"task-cost", 0, OPTION_LIST, "N,…", "Only these task costs"},
    {"param", 0, OPTION_LIST, "NAME=VALUE,…",
     "Only these values of further parameters, as in pause_us=300,placement=compact"},
    {"repetitions", 'r', OPTION_VALUE, "N", "Exactly N rounds"},
    {"time-budget", 0, OPTION_VALUE, "SECONDS",
     "Go on with rounds while one more is likely to fit"},
    {"seed", 0, OPTION_VALUE, "N", "Seed of the rounds' orders (random; it is recorded)"},
    {"json", 'j', OPTION_FLAG, NULL, "Print the run document instead of the table"},
    {"out", 'o', OPTION_VALUE, "FILE", "Write the run document to FILE"},
    {"aa", 0, OPTION_FLAG, NULL,
     "Measure everything twice, interleaved; print what difference can be resolved"},
    GATING_OPTIONS,
    {"dry-run", 'n', OPTION_FLAG, NULL, "Print the cells that would be measured, and stop"},
    {0},
};

static const struct option_usage usage = {
    .command = "run",
    .summary = "Measures the plan's cells, each in a process of its own, prints a table, and posts "
               "the run where a server is named.",
    .examples =
        "Examples:\n"
        "  breakeven-runner run --quick\n"
        "  breakeven-runner run --bench ThreadPoolSpawn --threads 2,8 --repetitions 10\n"
        "  breakeven-runner run --plan seeds   # both published tables, beside this machine's\n"
        "  breakeven-runner run --quick --aa   # how small a change can this machine tell?\n"
        "  breakeven-runner run --server https://bench.example.org --machine ci-7   # in "
        "CI, after a merge\n"
        "  breakeven-runner run --quick --gate --confirm --base-runner base/breakeven-runner   # "
        "on a pull request\n"
        "\nExit: 0 fine, 1 regressed (with --gate), 2 usage, 3 some cell could not be measured, 4 "
        "not delivered (it waits in the spool) or a file or the standard output not written (a "
        "message says which), 5 unsure (with --gate --fail-on unsure), 130 interrupted\n",
    .specs = specs,
};

struct job {
    Options *options;
    Settings *settings;
    Provenance *provenance; /* NULL where no document is wanted and git knows nothing */
    Plan *plan;
    Machine *machine;
    Delivery *delivery; /* NULL: nothing is sent */
    struct gating gating;
    uint64_t seed;
    int argc;
    char **argv;
    struct progress progress;
    double begin_s;
};

static void job_clear(struct job *job)
{
    options_free(job->options);
    settings_free(job->settings);
    provenance_free(job->provenance);
    plan_free(job->plan);
    if (job->machine)
        machine_free(job->machine);
    delivery_close(job->delivery);
    gating_clear(&job->gating);
}

typedef struct job job_t;
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(job_t, job_clear)

static double now_s(void)
{
    gint64 now_us = g_get_monotonic_time();
    return (double)now_us / (double)G_USEC_PER_SEC;
}

static bool take_plan(struct job *job, GError **error)
{
    const Options *options = job->options;
    const char *file = options_value(options, "plan");
    bool is_quick = options_flag(options, "quick");
    if (file && is_quick) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--quick and --plan name two plans; give one of them");
        return false;
    }
    struct plan_filter filter = {
        .benches = options_list(options, "bench"),
        .executors = options_list(options, "executor"),
        .threads = options_list(options, "threads"),
        .task_costs = options_list(options, "task-cost"),
        .params = options_list(options, "param"),
    };
    bool is_file = file && !plan_is_built_in(file);
    job->plan = is_file ? plan_read_file(file, &filter, error)
                        : plan_built_in(file       ? file
                                        : is_quick ? "quick"
                                                   : "default",
                                        &filter, error);
    if (!job->plan)
        return false;
    guint64 rounds = job->plan->rounds, budget_s = job->plan->budget_seconds;
    if (!options_number(options, "repetitions", 1, PLAN_ROUNDS_MAX, &rounds, error) ||
        !options_number(options, "time-budget", 1, 86400, &budget_s, error))
        return false;
    if (options_value(options, "repetitions") && !options_value(options, "time-budget"))
        budget_s = 0;
    job->plan->rounds = (guint)rounds;
    job->plan->budget_seconds = (guint)budget_s;
    return true;
}

static bool take_seed(struct job *job, GError **error)
{
    uint32_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "no random bits for a seed: %s",
                    g_strerror(errno));
        return false;
    }
    guint64 seed = random;
    if (!options_number(job->options, "seed", 0, (1ull << 53) - 1, &seed, error))
        return false;
    job->seed = seed;
    return true;
}

static bool wants_document(const struct job *job)
{
    return !options_flag(job->options, "aa") &&
           handover_wants_document(job->options, job->settings);
}

/* A table alone can be had anywhere; a document needs its commit. */
static bool take_provenance(struct job *job, GError **error)
{
    g_autoptr(GError) problem = NULL;
    job->provenance = provenance_gather(job->options, job->settings, &problem);
    bool is_usage = g_error_matches(problem, BREAKEVEN_ERROR, ERROR_INVALID) ||
                    options_value(job->options, "commit");
    if (!job->provenance && (wants_document(job) || is_usage)) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    if (job->provenance && wants_document(job))
        handover_say_project(job->provenance);
    return true;
}

/* An A/A run is about the machine: it makes no document, whatever a site has set. */
static bool take_aa(struct job *job, GError **error)
{
    if (!options_flag(job->options, "aa"))
        return true;
    const char *clash = options_value(job->options, "server") ? "--server"
                        : options_flag(job->options, "gate")  ? "--gate"
                        : options_value(job->options, "out")  ? "--out"
                                                              : NULL;
    if (clash) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--aa measures the machine, not the commit, and makes no run document: leave "
                    "%s out",
                    clash);
        return false;
    }
    g_clear_pointer(&job->settings->server, g_free);
    return plan_double(job->plan, error);
}

static bool prepare(struct job *job, GError **error)
{
    const char *out = options_value(job->options, "out");
    job->settings = settings_read(job->options, error);
    return job->settings && gating_parse(job->options, job->settings, &job->gating, error) &&
           take_plan(job, error) && gating_check(&job->gating, job->options, job->plan, error) &&
           take_seed(job, error) && (!out || out_file_check("out", out, error)) &&
           take_aa(job, error);
}

static bool prepare_to_measure(struct job *job, GError **error)
{
    if (!take_provenance(job, error))
        return false;
    job->machine = machine_read(error);
    if (!job->machine)
        return false;
    if (!job->settings->server)
        return true;
    job->delivery = report_open_delivery(job->settings, error);
    return job->delivery != NULL;
}

static void on_cell(guint round, guint cell, const char *name, void *user)
{
    struct job *job = (struct job *)user;
    job->progress.round = round;
    job->progress.cell = cell;
    job->progress.elapsed_s = now_s() - job->begin_s;
    progress_cell(&job->progress, name);
}

static void on_round(guint round, double round_s, void *user)
{
    struct job *job = (struct job *)user;
    job->progress.round = round;
    progress_round_done(&job->progress, round_s);
}

static void measure(struct job *job, const Plan *plan, struct rounds_outcome *outcome)
{
    job->begin_s = now_s();
    job->progress = (struct progress){
        .rounds = plan->budget_seconds ? 0 : plan->rounds,
        .cells = plan->cells->len,
        .budget_s = plan->budget_seconds,
    };
    struct rounds_watch watch = {
        .measure = cell_measure,
        .stopped = interrupt_requested,
        .now_s = now_s,
        .cell_begins = on_cell,
        .round_done = on_round,
        .user = job,
    };
    rounds_run(plan, job->seed, &watch, outcome);
    progress_end();
}

static Run *make_run(const struct job *job, const Plan *plan, struct rounds_outcome *outcome,
                     int64_t started_ms, GError **error)
{
    Run *run = envelope_new(job->provenance, error);
    if (!run)
        return NULL;
    run->started_ms = started_ms;
    run->finished_ms = envelope_now_ms();
    run->environment_json = g_strdup(job->machine->environment_json);
    run->topology = g_strdup(job->machine->topology_xml);
    run->context_json = envelope_context(plan, outcome->rounds, job->seed, job->argc, job->argv);
    g_ptr_array_unref(run->results);
    run->results = g_steal_pointer(&outcome->results);
    return run;
}

/* For the gate: the same commit, measured once more. */
static Run *measure_again(const Plan *plan, const char *reason, void *user, GError **error)
{
    struct job *job = (struct job *)user;
    struct rounds_outcome outcome = {0};
    int64_t started_ms = envelope_now_ms();
    job->seed++;
    measure(job, plan, &outcome);
    Run *run = outcome.stopped ? NULL : make_run(job, plan, &outcome, started_ms, error);
    rounds_outcome_clear(&outcome);
    if (!run)
        return NULL;
    g_free(run->reason);
    run->reason = g_strdup(reason);
    g_ptr_array_set_size(run->history, 0); /* it is known */
    return run;
}

static int hand_over(struct job *job, const Run *run, GError **error)
{
    struct gating_run gate = {
        .gating = &job->gating,
        .settings = job->settings,
        .delivery = job->delivery,
        .plan = job->plan,
        .run = run,
        .is_message = options_flag(job->options, "json"),
        .measure = measure_again,
        .user = job,
    };
    struct handover handover = {.options = job->options,
                                .settings = job->settings,
                                .delivery = job->delivery,
                                .gate = job->gating.is_wanted ? &gate : NULL};
    return handover_run(&handover, run, error);
}

static void print_seeds(const GPtrArray *results)
{
    GString *tables = seed_tables_draw(results);
    console_print("\n%s", tables->str);
    g_string_free(tables, TRUE);
}

static void print_aa(const struct job *job, const GPtrArray *results)
{
    bool is_json = options_flag(job->options, "json");
    GString *text = is_json ? aa_table_json(results) : aa_table_draw(results);
    console_print("%s%s", text->str, is_json ? "\n" : "");
    g_string_free(text, TRUE);
}

static int finish(struct job *job, struct rounds_outcome *outcome, int64_t started_ms,
                  GError **error)
{
    guint n_errors = outcome->n_errors;
    if (outcome->n_again > 0)
        console_message("%u times a cell was measured again, because something disturbed it",
                        outcome->n_again);
    bool is_json = options_flag(job->options, "json");
    if (options_flag(job->options, "aa")) {
        print_aa(job, outcome->results);
    } else if (!is_json) {
        GString *table = result_tables_draw(outcome->results, job->machine->effective_cpus);
        console_write(table->str, table->len);
        g_string_free(table, TRUE);
        if (strcmp(job->plan->name, "seeds") == 0)
            print_seeds(outcome->results);
    }
    int code = EXIT_FINE;
    if (wants_document(job)) {
        g_autoptr(Run) run = make_run(job, job->plan, outcome, started_ms, error);
        code = run ? hand_over(job, run, error) : COMMAND_FAILED;
    }
    if (code == EXIT_FINE && n_errors > 0) {
        console_message("%u of the cells could not be measured", n_errors);
        code = EXIT_UNMEASURED;
    }
    return code;
}

static int print_cells(const Plan *plan)
{
    for (guint i = 0; i < plan->cells->len; i++) {
        const struct cell *cell = &g_array_index(plan->cells, struct cell, i);
        g_autofree char *name = bench_case_name(cell->bench, &cell->values);
        console_print("%s\n", name);
    }
    double length_s = plan_length_s(plan);
    if (length_s > 0)
        console_message("%u cells, at least %u rounds: about %.1f min", plan->cells->len,
                        plan->rounds, length_s / 60);
    return EXIT_FINE;
}

int command_run(int argc, char **argv, GError **error)
{
    g_auto(job_t) job = {.argc = argc, .argv = argv};
    int code = EXIT_FINE;
    job.options = command_begin(&usage, argc, argv, &code, error);
    if (!job.options)
        return code;
    if (!prepare(&job, error))
        return COMMAND_FAILED;
    if (options_flag(job.options, "dry-run"))
        return print_cells(job.plan);
    if (!prepare_to_measure(&job, error))
        return COMMAND_FAILED;
    int64_t started_ms = envelope_now_ms();
    struct rounds_outcome outcome = {0};
    measure(&job, job.plan, &outcome);
    code = EXIT_INTERRUPTED;
    if (outcome.stopped)
        console_message("interrupted: nothing was sent");
    else
        code = finish(&job, &outcome, started_ms, error);
    rounds_outcome_clear(&outcome);
    return code;
}
