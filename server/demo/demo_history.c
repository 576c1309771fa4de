/* SPDX-License-Identifier: Apache-2.0
 * See demo_history.h. Each series has a stream of its own, which moves on at every commit, measured
 * or not. */
#include "server/demo/demo_history.h"

#include "server/demo/demo_machine.h"
#include "server/demo/demo_plan.h"

#include <math.h>
#include <string.h>

#define SAMPLES         8u
#define HOURS_BETWEEN   8 /* commits */
#define PULL_REQUEST_AT (DEMO_COMMITS - 1u)
#define PULL_REQUEST    DEMO_COMMITS /* its own number */
#define DISTURBED_SHARE 0.004

/* Beside the usual cost of a task, others are measured now and then: their series came later. */
#define USUAL_COST  1000u
#define STEP_NS     0.35 /* of work */
#define SWEPT_FIRST 200u
#define SWEPT_EVERY 4u
#define SWEPT_AT    3u /* so that the newest commit of each machine is one */

/* One benchmark with its parameters on one machine. */
struct demo_case {
    const struct demo_bench *bench;
    guint machine;
    char *params[3]; /* "threads=4", or NULL */
    double ns;       /* of one item */
    double bytes;    /* of one item; 0: none are counted */
    bool is_swept;   /* measured now and then */
    struct synthetic_stream stream;
};

struct demo_history {
    struct demo_options options;
    GPtrArray *cases; /* struct demo_case *, by machine */
    char *topologies[DEMO_MACHINES];
    guint commit, machine;
    guint64 random, swept_random;
};

static void case_free(gpointer data)
{
    struct demo_case *one = data;
    for (guint i = 0; i < G_N_ELEMENTS(one->params); i++)
        g_free(one->params[i]);
    g_free(one);
}

void demo_history_free(DemoHistory *history)
{
    if (!history)
        return;
    g_ptr_array_unref(history->cases);
    for (guint machine = 0; machine < DEMO_MACHINES; machine++)
        g_free(history->topologies[machine]);
    g_free(history);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static bool has_param(const struct demo_case *one, const char *param)
{
    for (guint i = 0; param && i < G_N_ELEMENTS(one->params); i++)
        if (g_strcmp0(one->params[i], param) == 0)
            return true;
    return !param;
}

static void plan_moves(const struct demo_case *one, struct synthetic_plan *plan)
{
    for (guint i = 0; i < demo_n_moves && plan->n_moves < SYNTHETIC_MOVES_MAX; i++) {
        const struct demo_move *move = &demo_moves[i];
        if ((move->machine == DEMO_EVERYWHERE || move->machine == one->machine) &&
            demo_move_takes(move, one->bench->name) && has_param(one, move->param))
            plan->moves[plan->n_moves++] = move->move;
    }
}

/* Takes the parameters. */
static void add_case(DemoHistory *history, struct demo_case from)
{
    struct demo_case *one = g_new(struct demo_case, 1);
    *one = from;
    struct synthetic_plan plan = {.seed = history->options.seed * 1000 + history->cases->len,
                                  .noise = one->bench->noise,
                                  .deviation =
                                      one->bench->deviation * demo_machines[one->machine].deviation,
                                  .n_samples = SAMPLES};
    plan_moves(one, &plan);
    synthetic_stream_start(&one->stream, &plan);
    g_ptr_array_add(history->cases, one);
}

/* More threads wait for each other more. */
static double time_with(double ns, guint threads)
{
    return ns * (0.35 + 0.65 / threads + 0.03 * threads);
}

static void add_threads(DemoHistory *history, struct demo_case from)
{
    const double ns = from.ns;
    for (guint threads = 1; threads <= 8; threads *= 2) {
        from.params[1] = g_strdup_printf("threads=%u", threads);
        from.ns = time_with(ns, threads);
        add_case(history, from);
    }
}

static const struct {
    const char *name;
    double speed;
} executors[] = {{"fifo", 1}, {"steal", 1.3}};

/* What handing over takes is in the time at the usual cost; more work is shared by the threads. */
static void add_executor(DemoHistory *history, struct demo_case from, guint executor, guint cost)
{
    const struct demo_machine *machine = &demo_machines[from.machine];
    const double ns = from.ns, more_ns = STEP_NS * machine->time * (cost - USUAL_COST);
    from.is_swept = cost != USUAL_COST;
    for (guint threads = 1; threads <= 8; threads *= 2) {
        from.params[0] = g_strdup_printf("executor=%s", executors[executor].name);
        from.params[1] = g_strdup_printf("threads=%u", threads);
        from.params[2] = g_strdup_printf("task_cost=%u", cost);
        from.ns = time_with(ns, threads) / executors[executor].speed +
                  more_ns / MIN(threads, machine->cores);
        add_case(history, from);
    }
}

/* The plain call at each cost, and each executor at the unusual ones. */
static void add_sweep(DemoHistory *history, struct demo_case from)
{
    static const guint costs[] = {USUAL_COST, 5000, 20000, 100000};
    for (guint c = 0; c < G_N_ELEMENTS(costs); c++) {
        struct demo_case plain = from;
        plain.is_swept = true;
        plain.params[0] = g_strdup("executor=direct");
        plain.params[2] = g_strdup_printf("task_cost=%u", costs[c]);
        plain.ns = STEP_NS * demo_machines[from.machine].time * costs[c];
        add_case(history, plain);
        for (guint e = 0; costs[c] != USUAL_COST && e < G_N_ELEMENTS(executors); e++)
            add_executor(history, from, e, costs[c]);
    }
}

static void add_sizes(DemoHistory *history, struct demo_case from)
{
    static const struct {
        const char *param;
        double bytes, time;
    } sizes[] = {{"bytes=64", 64, 1.7}, {"bytes=4096", 4096, 1}, {"bytes=1048576", 1 << 20, 1.25}};
    const double ns = from.ns;
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        from.params[0] = g_strdup(sizes[i].param);
        from.bytes = sizes[i].bytes;
        from.ns = ns * sizes[i].time * sizes[i].bytes;
        add_case(history, from);
    }
}

static void add_files(DemoHistory *history, struct demo_case from)
{
    static const struct {
        const char *param;
        double bytes;
    } files[] = {{"file=orders", 23e3}, {"file=places", 2.1e6}, {"file=unicode", 410e3}};
    const double ns = from.ns;
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        from.params[0] = g_strdup(files[i].param);
        from.bytes = files[i].bytes;
        from.ns = ns * files[i].bytes;
        add_case(history, from);
    }
}

static struct demo_case case_of(const struct demo_bench *bench, guint machine)
{
    return (struct demo_case){
        .bench = bench, .machine = machine, .ns = bench->ns * demo_machines[machine].time};
}

static void add_cases(DemoHistory *history, const struct demo_bench *bench, guint machine)
{
    struct demo_case from = case_of(bench, machine);
    switch (bench->params) {
    case DEMO_ALONE:
        add_case(history, from);
        break;
    case DEMO_THREADS:
        add_threads(history, from);
        break;
    case DEMO_EXECUTORS:
        for (guint e = 0; e < G_N_ELEMENTS(executors); e++)
            add_executor(history, from, e, USUAL_COST);
        break;
    case DEMO_BYTES:
        add_sizes(history, from);
        break;
    case DEMO_FILES:
        add_files(history, from);
        break;
    }
}

DemoHistory *demo_history_new(const struct demo_options *options)
{
    DemoHistory *history = g_new0(DemoHistory, 1);
    history->options = *options;
    history->random = options->seed;
    history->swept_random = options->seed + 1;
    history->cases = g_ptr_array_new_with_free_func(case_free);
    for (guint machine = 0; machine < DEMO_MACHINES; machine++) {
        history->topologies[machine] = demo_machine_topology(machine);
        for (guint i = 0; i < demo_n_benches; i++)
            add_cases(history, &demo_benches[i], machine);
    }
    /* After all others, whose noise is then the same as it would be without these. */
    for (guint machine = 0; machine < DEMO_MACHINES; machine++)
        for (guint i = 0; i < demo_n_benches; i++)
            if (demo_benches[i].params == DEMO_EXECUTORS)
                add_sweep(history, case_of(&demo_benches[i], machine));
    return history;
}

/* ---- Which runs there are -------------------------------------------------------------------- */

static bool is_measured(guint commit, guint machine)
{
    const struct demo_machine *with = &demo_machines[machine];
    if (commit == PULL_REQUEST)
        return machine == 0;
    return commit < with->end && commit % with->every == 0 &&
           (with->miss_every == 0 || commit % with->miss_every != with->miss_every - 1);
}

guint demo_history_n_runs(void)
{
    guint n = 0;
    for (guint commit = 0; commit <= PULL_REQUEST; commit++)
        for (guint machine = 0; machine < DEMO_MACHINES; machine++)
            n += is_measured(commit, machine) ? 1 : 0;
    return n;
}

/* ---- Commits --------------------------------------------------------------------------------- */

static char *sha_of(const DemoHistory *history, guint commit)
{
    g_autofree char *text =
        g_strdup_printf("demo %" G_GUINT64_FORMAT " commit %u", history->options.seed, commit);
    return g_compute_checksum_for_string(G_CHECKSUM_SHA1, text, -1);
}

static int64_t time_of(const DemoHistory *history, guint commit)
{
    int64_t hours = 1 + HOURS_BETWEEN * (int64_t)(DEMO_COMMITS - 1 - commit);
    return history->options.end_s - hours * 3600 + (int64_t)(commit * 677 % 1800);
}

static void fill_commit(const DemoHistory *history, guint number, struct run_commit *commit)
{
    bool is_aside = number == PULL_REQUEST;
    guint parent = is_aside ? PULL_REQUEST_AT : number - 1;
    commit->sha = sha_of(history, number);
    commit->parents = g_new0(char *, 2);
    if (number > 0)
        commit->parents[0] = sha_of(history, parent);
    commit->has_time = true;
    commit->time_s = is_aside ? time_of(history, parent) + 1200 : time_of(history, number);
    commit->author = g_strdup(demo_author(number));
    commit->subject = g_strdup(is_aside ? "pool: a wider queue" : demo_subject(number));
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Five digits, so that a document is short, and the same whatever the last bit of a logarithm is.
 */
static double rounded(double value)
{
    double unit = pow(10, floor(log10(value)) - 4);
    return unit < 1 ? round(value / unit) / round(1 / unit) : round(value / unit) * unit;
}

static struct run_metric *metric_of(const struct demo_case *one, const double *ns)
{
    struct run_metric *metric = one->bytes > 0
                                    ? run_metric_new("bytes_per_second", "B/s", BETTER_HIGHER)
                                    : run_metric_new("real_time", "ns", BETTER_LOWER);
    for (guint i = 0; i < SAMPLES; i++)
        run_metric_add_sample(metric, rounded(one->bytes > 0 ? one->bytes * 1e9 / ns[i] : ns[i]));
    return metric;
}

static struct run_metric *rate_of(const double *ns)
{
    struct run_metric *metric = run_metric_new("items_per_second", "items/s", BETTER_HIGHER);
    for (guint i = 0; i < SAMPLES; i++)
        run_metric_add_sample(metric, rounded(1e9 / ns[i]));
    return metric;
}

static void add_param(struct run_result *result, const char *param)
{
    const char *equals = param ? strchr(param, '=') : NULL;
    if (!equals)
        return;
    g_autofree char *name = g_strndup(param, (gsize)(equals - param));
    run_result_add_param(result, name, equals + 1);
}

static struct run_result *result_of(DemoHistory *history, struct demo_case *one)
{
    double ns[SYNTHETIC_SAMPLES_MAX];
    double factor = history->commit == PULL_REQUEST && has_param(one, "executor=steal") ? 0.93 : 1;
    guint64 *random = one->is_swept ? &history->swept_random : &history->random;
    bool is_disturbed = synthetic_uniform(random) < DISTURBED_SHARE;
    guint n = synthetic_stream_next(&one->stream, ns);
    for (guint i = 0; i < n; i++)
        ns[i] = one->ns * exp(ns[i]) / SYNTHETIC_LEVEL * (is_disturbed && i % 2 ? 1.4 : 1) * factor;
    struct run_result *result = run_result_new(one->bench->name);
    for (guint i = 0; i < G_N_ELEMENTS(one->params); i++)
        add_param(result, one->params[i]);
    run_result_take_metric(result, metric_of(one, ns));
    if (one->bench->params == DEMO_EXECUTORS)
        run_result_take_metric(result, rate_of(ns));
    if (is_disturbed)
        run_result_add_flag(result, "disturbed");
    if (one->bench->params == DEMO_EXECUTORS && !one->is_swept) {
        const struct demo_moment at = {history->options.seed, history->machine, history->commit};
        demo_machine_probe(result, &at, SAMPLES);
    }
    return result;
}

static bool is_there(const struct demo_case *one, guint commit)
{
    if (one->is_swept && commit != PULL_REQUEST &&
        (commit < SWEPT_FIRST || commit % SWEPT_EVERY != SWEPT_AT))
        return false;
    return commit >= one->bench->first && (one->bench->end == 0 || commit < one->bench->end);
}

/* All streams of the machine move on; those that are measured give a result. */
static void fill_results(DemoHistory *history, GPtrArray *results)
{
    double unused[SYNTHETIC_SAMPLES_MAX];
    for (guint i = 0; i < history->cases->len; i++) {
        struct demo_case *one = history->cases->pdata[i];
        if (one->machine != history->machine)
            continue;
        bool is_shown = is_there(one, history->commit);
        if (one->is_swept && !is_shown) {
            synthetic_stream_next(&one->stream, unused);
            continue;
        }
        struct run_result *result = result_of(history, one);
        if (is_shown)
            g_ptr_array_add(results, result);
        else
            run_result_free(result);
    }
}

static void add_error(GPtrArray *results)
{
    struct run_result *result = run_result_new("ThreadPoolSpawn");
    run_result_add_param(result, "executor", "tbb");
    run_result_add_param(result, "threads", "4");
    run_result_add_param(result, "task_cost", "1000");
    result->error = g_strdup("executor tbb: not installed (apt install libtbb12)");
    g_ptr_array_add(results, result);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static char *environment_of(const struct demo_machine *machine, guint commit)
{
    bool is_new = machine->new_kernel && commit >= machine->kernel_at;
    g_autofree char *text =
        g_strdup_printf("{\"cpu\":\"%s\",\"cores\":%u,\"effective_cpus\":%u,\"kernel\":\"%s\","
                        "\"governor\":\"performance\",\"compiler\":\"gcc 12.2\"}",
                        machine->cpu, machine->cores, machine->cores,
                        is_new ? machine->new_kernel : machine->kernel);
    return run_map_text(text);
}

static Run *make_run(DemoHistory *history)
{
    guint number = history->commit;
    const struct demo_machine *machine = &demo_machines[history->machine];
    Run *run = run_new();
    run->project = g_strdup(DEMO_PROJECT);
    run->machine = g_strdup(machine->name);
    fill_commit(history, number, &run->commit);
    run->id = g_strdup_printf("demo-%.12s-%s", run->commit.sha, machine->name);
    run->branch = g_strdup(number == PULL_REQUEST ? "wider-queue" : "main");
    run->reason = g_strdup(number == PULL_REQUEST ? "pull-request"
                           : machine->every > 1   ? "nightly"
                                                  : "merge");
    for (guint back = 1; back <= 2 && back <= number && number < PULL_REQUEST; back++) {
        struct run_commit *before = run_commit_new();
        fill_commit(history, number - back, before);
        g_ptr_array_add(run->history, before);
    }
    run->environment_json = environment_of(machine, number);
    run->topology = g_strdup(history->topologies[history->machine]);
    run->started_ms = (run->commit.time_s + 300 + 60 * history->machine) * 1000;
    run->finished_ms = run->started_ms + 412000 + number * 7919 % 30000;
    fill_results(history, run->results);
    if (machine->every > 1)
        add_error(run->results);
    return run;
}

static void skip_streams(DemoHistory *history)
{
    double samples[SYNTHETIC_SAMPLES_MAX];
    for (guint i = 0; i < history->cases->len; i++) {
        struct demo_case *one = history->cases->pdata[i];
        if (one->machine == history->machine)
            synthetic_stream_next(&one->stream, samples);
    }
}

Run *demo_history_next(DemoHistory *history)
{
    Run *run = NULL;
    while (!run && history->commit <= PULL_REQUEST) {
        if (is_measured(history->commit, history->machine))
            run = make_run(history);
        else
            skip_streams(history);
        history->machine = (history->machine + 1) % DEMO_MACHINES;
        history->commit += history->machine == 0 ? 1 : 0;
    }
    return run;
}
