/* SPDX-License-Identifier: Apache-2.0
 * The pool `steal` beside the other executors, on two CPUs: prints a line for each aim that it has.
 *
 *   bench_pools [ROUNDS] [CELL…]     (default 9 rounds, all cells; names as in the first column)
 *
 * In every round each executor measures each cell once, in a process of its own, in an order that
 * is shuffled anew; what is compared with each other comes one after the other. What is compared is
 * the ratio within a round, so that a machine that changes its speed changes both; a line gives the
 * median of the rounds' ratios and its distribution-free interval (95 %, from 6 rounds on). "best"
 * is the best of fifo, glib, libuv and tbb in that round, so it may be another one each time. Where
 * others use the machine, run it as `chrt --rr 1 bench_pools`, which takes the CPUs from them; say
 * so beside the figures. */
#include "runner/benches/bench.h"
#include "runner/benches/bench_task.h"
#include "runner/benches/session.h"
#include "runner/executors/executors.h"
#include "runner/sample/clock.h"
#include "runner/sample/tally.h"
#include "schema/summary.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS_DEFAULT 9u
#define ROUNDS_MAX     200u
#define BATCH_NS       20e6 /* of tasks; a warm-up batch, then the median of these: */
#define BATCHES        11u
#define TASKS_MAX      400000u
#define TASKS_MIN      200u
#define CHILD_SECONDS  60u
#define CALIBRATION    (1u << 22) /* steps of the workload */
#define SAMPLE_MS      100u
#define IDLE_SECONDS   10u

/* The executors: the one that is judged first. */
static const char *const names[] = {"steal", "fifo", "glib", "libuv", "tbb"};
enum { EXECUTORS = G_N_ELEMENTS(names) };

enum kind {
    BURST,  /* tasks per second of submit one by one, then wait_all */
    PLAINS, /* the same of `threads` pinned loops of plain calls */
    BENCH,  /* items per second of a benchmark of the runner */
    METG,   /* the upper end of the interval of METG(50 %), in ns */
    IDLE    /* context switches of all workers in IDLE_SECONDS */
};

struct cell {
    const char *name;
    enum kind kind;
    double work_ns; /* BURST, PLAINS */
    uint32_t threads;
    const char *bench; /* BENCH */
    const char *to;    /* what it is compared with: "best", another cell, or NULL: nothing */
    double aim;        /* the ratio's lower bound, or the value's upper bound */
    unsigned group;    /* cells of one group are measured one after the other */
    bool alone;        /* only the first executor */
};

static const struct cell cells[] = {
    {"0/2", BURST, 0, 2, NULL, "best", 5, 0, false},
    {"100ns/2", BURST, 100, 2, NULL, "best", 2, 1, false},
    {"1us/2", BURST, 1000, 2, NULL, "plain/2", 0.93, 3, true},
    {"10us/2", BURST, 10000, 2, NULL, "best", 0.95, 4, false},
    {"100us/2", BURST, 100000, 2, NULL, "best", 0.95, 5, false},
    {"ForkJoin/2", BENCH, 0, 2, "ForkJoin", "best", 0.95, 6, false},
    {"Mixed/2", BENCH, 0, 2, "Mixed", "best", 0.95, 7, false},
    {"plain/2", PLAINS, 1000, 2, NULL, NULL, 0, 3, true},
    {"250ns/2", BURST, 250, 2, NULL, NULL, 0, 2, true},
    {"0/8", BURST, 0, 8, NULL, "0/2", 0.85, 0, true},
    {"100ns/8", BURST, 100, 8, NULL, "100ns/2", 0.85, 1, true},
    {"250ns/8", BURST, 250, 8, NULL, "250ns/2", 0.85, 2, true},
    {"1us/8", BURST, 1000, 8, NULL, "1us/2", 0.85, 3, true},
    {"10us/8", BURST, 10000, 8, NULL, "10us/2", 0.85, 4, true},
    {"Nested/2", BENCH, 0, 2, "Nested", "best", 0.5, 8, false},
    {"METG/2", METG, 0, 2, "BreakEven", NULL, 250, 9, true},
    {"Idle/8", IDLE, 0, 8, NULL, NULL, 0, 10, true},
};
#define GROUPS 11u
enum { CELLS = G_N_ELEMENTS(cells) };

/* What a round gave; NAN: nothing. */
static double values[ROUNDS_MAX][CELLS][EXECUTORS];
static bool is_wanted[CELLS];

/* ---- In a child ---------------------------------------------------------------------- */

static double calls_ns(uint64_t calls)
{
    uint64_t start_ns = clock_wall_ns();
    for (uint64_t i = 0; i < calls; i++) {
        bench_task_run(bench_task_argument(i));
    }
    return (double)(clock_wall_ns() - start_ns) / (double)calls;
}

/* Steps of the workload that take so long now. */
static uint64_t steps_of(double work_ns)
{
    bench_task_prepare(CALIBRATION / 64);
    calls_ns(4);
    return (uint64_t)(work_ns * (CALIBRATION / 64) / calls_ns(32));
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *list, size_t n)
{
    qsort(list, n, sizeof *list, compare_doubles);
    return n % 2 ? list[n / 2] : (list[n / 2 - 1] + list[n / 2]) / 2;
}

struct burst {
    struct session session;
    uint64_t passes, n_tasks;
    double rate;
    bool is_right;
};

static double burst_once(struct burst *burst, uint64_t n_tasks)
{
    const struct executor_ops *ops = burst->session.ops;
    int failure = 0;
    tally_begin();
    uint64_t start_ns = clock_wall_ns();
    for (uint64_t i = 0; i < n_tasks; i++) {
        failure |= ops->submit(burst->session.self, bench_task_run, bench_task_argument(i));
    }
    failure |= ops->wait_all(burst->session.self);
    double rate = (double)n_tasks * 1e9 / (double)(clock_wall_ns() - start_ns);
    struct tally tally = tally_end();
    burst->is_right =
        burst->is_right && !failure && tally_check(&tally, n_tasks, burst->passes, NULL);
    return rate;
}

static void burst_body(void *context)
{
    struct burst *burst = context;
    double rates[BATCHES];
    double first = burst_once(burst, TASKS_MIN * 10);
    double n = first * BATCH_NS / 1e9;
    burst->n_tasks = n < TASKS_MIN ? TASKS_MIN : n > TASKS_MAX ? TASKS_MAX : (uint64_t)n;
    burst_once(burst, burst->n_tasks);
    for (unsigned i = 0; i < BATCHES; i++) {
        rates[i] = burst_once(burst, burst->n_tasks);
    }
    burst->rate = median(rates, BATCHES);
}

static double measure_burst(const struct cell *cell, const char *executor)
{
    struct burst burst = {.is_right = true};
    struct bench_case values_of = {.threads = cell->threads};
    g_autoptr(GError) error = NULL;
    g_strlcpy(values_of.executor, executor, sizeof values_of.executor);
    uint64_t steps = steps_of(cell->work_ns);
    burst.passes = bench_task_prepare(steps)->passes;
    bool done = session_prepare(&burst.session, &values_of, &error) &&
                session_open(&burst.session, &error) &&
                session_run(&burst.session, burst_body, &burst, &error);
    if (!done || !burst.is_right) {
        fprintf(stderr, "%s: %s\n", executor, error ? error->message : "tasks were lost");
        return (double)NAN;
    }
    session_close(&burst.session);
    return burst.rate;
}

struct loop {
    pthread_t thread;
    pthread_barrier_t *start;
    unsigned index;
    double rate;
};

static size_t cpu_of(unsigned index)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &set) && index-- == 0) {
            return cpu;
        }
    }
    return 0;
}

static void *loop_main(void *argument)
{
    struct loop *loop = argument;
    pthread_barrier_wait(loop->start);
    loop->rate = 1e9 / calls_ns(40000);
    return NULL;
}

static double measure_plains(const struct cell *cell)
{
    struct loop loops[2];
    pthread_barrier_t start;
    bench_task_prepare(steps_of(cell->work_ns));
    tally_begin();
    pthread_barrier_init(&start, NULL, G_N_ELEMENTS(loops));
    size_t cpus[2] = {cpu_of(0), cpu_of(1)};
    for (unsigned i = 0; i < G_N_ELEMENTS(loops); i++) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpus[i], &one);
        loops[i] = (struct loop){.start = &start, .index = i};
        pthread_create(&loops[i].thread, NULL, loop_main, &loops[i]);
        pthread_setaffinity_np(loops[i].thread, sizeof one, &one);
    }
    double sum = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(loops); i++) {
        pthread_join(loops[i].thread, NULL);
        sum += loops[i].rate;
    }
    return sum;
}

/* The first value of each parameter of its own. */
static void set_own(const struct bench *bench, struct bench_case *values_of)
{
    for (unsigned i = 0; bench->params && bench->params[i].name; i++) {
        const char *list = bench->params[i].values;
        size_t length = strcspn(list, ",");
        if (!bench->params[i].is_alternative && length < BENCH_VALUE_BYTES) {
            memcpy(values_of->own[i], list, length);
        }
    }
}

static double rate_of(const struct bench *bench, void *state, GError **error)
{
    double rates[BATCHES];
    struct bench_timing first = {0};
    if (!bench->iterate(state, 1, &first, error)) {
        return (double)NAN;
    }
    double wanted = BATCH_NS / (double)first.wall_ns;
    uint64_t iterations = wanted > 1 ? (uint64_t)wanted : 1;
    for (unsigned i = 0; i < BATCHES; i++) {
        struct bench_timing timing = {0};
        if (!bench->iterate(state, iterations, &timing, error)) {
            return (double)NAN;
        }
        rates[i] = (double)timing.items * 1e9 / (double)timing.wall_ns;
    }
    return median(rates, BATCHES);
}

static double end_beside(const struct bench *bench, void *state, GError **error)
{
    const struct bench_request request = {.sample_ms = SAMPLE_MS * 2};
    struct run_result *result = run_result_new(bench->name);
    double end = (double)NAN;
    if (bench->measure(state, &request, result, error)) {
        for (guint i = 0; i < result->beside->len; i++) {
            const struct run_beside *beside = g_ptr_array_index(result->beside, i);
            end = g_str_equal(beside->name, "metg_50_high") ? beside->values[0] : end;
        }
    }
    run_result_free(result);
    return end;
}

static double measure_bench(const struct cell *cell, const char *executor)
{
    const struct bench *bench = bench_find(cell->bench);
    struct bench_case values_of = {.threads = cell->threads};
    g_autoptr(GError) error = NULL;
    void *state;
    if (!bench) {
        return (double)NAN;
    }
    g_strlcpy(values_of.executor, executor, sizeof values_of.executor);
    values_of.task_cost = bench->own_costs ? 0 : 1000;
    set_own(bench, &values_of);
    if (!bench->setup(&state, &values_of, &error)) {
        fprintf(stderr, "%s: %s\n", cell->name, error->message);
        return (double)NAN;
    }
    double value =
        bench->measure ? end_beside(bench, state, &error) : rate_of(bench, state, &error);
    if (error) {
        fprintf(stderr, "%s on %s: %s\n", cell->name, executor, error->message);
    }
    bench->teardown(state);
    return value;
}

/* Of all threads but the calling one. */
static double switches(void)
{
    double sum = 0;
    g_autoptr(GDir) tasks = g_dir_open("/proc/self/task", 0, NULL);
    for (const char *name; tasks && (name = g_dir_read_name(tasks));) {
        g_autofree char *path = g_strdup_printf("/proc/self/task/%s/status", name);
        g_autofree char *text = NULL;
        if (atoi(name) == getpid() || !g_file_get_contents(path, &text, NULL, NULL)) {
            continue;
        }
        for (const char *line = text; (line = strstr(line, "ctxt_switches:")); line++) {
            sum += strtod(line + strlen("ctxt_switches:"), NULL);
        }
    }
    return sum;
}

static double measure_idle(const struct cell *cell, const char *executor)
{
    struct burst burst = {.is_right = true};
    struct bench_case values_of = {.threads = cell->threads};
    g_strlcpy(values_of.executor, executor, sizeof values_of.executor);
    burst.passes = bench_task_prepare(1000)->passes;
    if (!session_prepare(&burst.session, &values_of, NULL) || !session_open(&burst.session, NULL)) {
        return (double)NAN;
    }
    burst_once(&burst, TASKS_MIN);
    sleep(1); /* until all sleep */
    double before = switches();
    sleep(IDLE_SECONDS);
    double value = switches() - before;
    session_close(&burst.session);
    return value;
}

static double measure(const struct cell *cell, const char *executor)
{
    executors_load_here();
    switch (cell->kind) {
    case BURST:
        return measure_burst(cell, executor);
    case PLAINS:
        return measure_plains(cell);
    case BENCH:
    case METG:
        return measure_bench(cell, executor);
    case IDLE:
        break;
    }
    return measure_idle(cell, executor);
}

/* ---- The rounds ---------------------------------------------------------------------- */

/* In a process of its own: some libraries have one pool for the process, and none may leave
 * anything for the next. */
static double measure_apart(const struct cell *cell, const char *executor)
{
    int ends[2];
    double value = (double)NAN;
    fflush(NULL);
    if (pipe(ends) != 0) {
        return value;
    }
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(CHILD_SECONDS);
        value = measure(cell, executor);
        _exit(write(ends[1], &value, sizeof value) == sizeof value ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &value, sizeof value) != sizeof value) {
        fprintf(stderr, "%s on %s: no answer\n", cell->name, executor);
        value = (double)NAN;
    }
    close(ends[0]);
    if (child > 0) {
        waitpid(child, NULL, 0);
    }
    return value;
}

static bool is_measured(unsigned round, unsigned cell, unsigned executor)
{
    bool is_once = cells[cell].kind == IDLE && round > 0;
    return is_wanted[cell] && !is_once && (executor == 0 || !cells[cell].alone);
}

static void shuffle(unsigned *order, unsigned n, GRand *random)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned j = (unsigned)g_rand_int_range(random, 0, (gint32)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

static void run_round(unsigned round, GRand *random)
{
    unsigned groups[GROUPS], order[CELLS * EXECUTORS];
    shuffle(groups, GROUPS, random);
    shuffle(order, CELLS * EXECUTORS, random);
    for (unsigned group = 0; group < GROUPS; group++) {
        for (unsigned i = 0; i < CELLS * EXECUTORS; i++) {
            unsigned cell = order[i] / EXECUTORS, executor = order[i] % EXECUTORS;
            if (cells[cell].group == groups[group]) {
                values[round][cell][executor] = is_measured(round, cell, executor)
                                                    ? measure_apart(&cells[cell], names[executor])
                                                    : (double)NAN;
            }
        }
    }
}

/* ---- The table ----------------------------------------------------------------------- */

static unsigned cell_named(const char *name)
{
    unsigned found = CELLS;
    for (unsigned cell = 0; cell < CELLS; cell++) {
        found = g_str_equal(cells[cell].name, name) ? cell : found;
    }
    return found;
}

/* What the first executor is compared with in this round; NAN: nothing. */
static double other_of(unsigned round, unsigned cell)
{
    if (!g_str_equal(cells[cell].to, "best")) {
        return values[round][cell_named(cells[cell].to)][0];
    }
    double best = (double)NAN;
    for (unsigned executor = 1; executor < EXECUTORS; executor++) {
        best = fmax(best, values[round][cell][executor]); /* of a number and NAN: the number */
    }
    return best;
}

static double median_of(unsigned rounds, unsigned cell, unsigned executor)
{
    double list[ROUNDS_MAX];
    size_t n = 0;
    for (unsigned round = 0; round < rounds; round++) {
        if (!isnan(values[round][cell][executor])) {
            list[n++] = values[round][cell][executor];
        }
    }
    return n ? median(list, n) : (double)NAN;
}

static void print_values(unsigned rounds, unsigned cell)
{
    for (unsigned executor = 0; executor < EXECUTORS; executor++) {
        double value = median_of(rounds, cell, executor);
        if (isnan(value)) {
            printf(" %9s", "-");
        } else if (cells[cell].kind == METG || cells[cell].kind == IDLE) {
            printf(" %9.0f", value);
        } else {
            printf(" %8.4gM", value / 1e6);
        }
    }
}

static void print_cell(unsigned rounds, unsigned cell)
{
    double list[ROUNDS_MAX];
    size_t n = 0;
    for (unsigned round = 0; round < rounds; round++) {
        double value = values[round][cell][0];
        double ratio = cells[cell].to ? value / other_of(round, cell) : value;
        if (!isnan(ratio)) {
            list[n++] = ratio;
        }
    }
    printf("%-10s", cells[cell].name);
    print_values(rounds, cell);
    if (n == 0 || cells[cell].aim == 0) {
        printf(cells[cell].kind == IDLE && n ? "  switches in %u s: %.0f%s\n" : "\n", IDLE_SECONDS,
               n ? list[0] : 0, n && list[0] == 0 ? "  reached" : "  MISSED");
        return;
    }
    struct summary summary = summary_of_samples(list, n);
    double low = summary.has_interval ? summary.low : (double)NAN;
    double high = summary.has_interval ? summary.high : (double)NAN;
    bool is_reached = cells[cell].to ? low >= cells[cell].aim : high <= cells[cell].aim;
    printf("  %-8s %7.3g [%.3g .. %.3g]  aim %s %g  %s\n", cells[cell].to ? cells[cell].to : "ns",
           summary.center, low, high, cells[cell].to ? ">=" : "<=", cells[cell].aim,
           is_reached ? "reached" : "MISSED");
}

static bool read_arguments(int argc, char **argv, unsigned *out_rounds)
{
    int first = 1;
    *out_rounds = ROUNDS_DEFAULT;
    if (argc > 1 && g_ascii_isdigit(argv[1][0])) {
        *out_rounds = (unsigned)CLAMP(atoi(argv[1]), 1, (int)ROUNDS_MAX);
        first = 2;
    }
    for (unsigned cell = 0; cell < CELLS; cell++) {
        is_wanted[cell] = argc <= first;
    }
    for (int i = first; i < argc; i++) {
        unsigned cell = cell_named(argv[i]);
        if (cell == CELLS) {
            fprintf(stderr, "bench_pools: there is no cell \"%s\"\n", argv[i]);
            return false;
        }
        is_wanted[cell] = true;
        if (cells[cell].to && !g_str_equal(cells[cell].to, "best")) {
            is_wanted[cell_named(cells[cell].to)] = true;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    unsigned rounds;
    if (!read_arguments(argc, argv, &rounds)) {
        return 2;
    }
    int policy = sched_getscheduler(0);
    double load[1] = {0};
    getloadavg(load, 1);
    g_autoptr(GRand) random = g_rand_new_with_seed(4711);
    for (unsigned round = 0; round < rounds; round++) {
        run_round(round, random);
        fprintf(stderr, "round %u of %u\n", round + 1, rounds);
    }
    printf("%u rounds, policy %s, load %.1f at the start; tasks/s (METG: ns)\n%-10s", rounds,
           policy == SCHED_RR      ? "SCHED_RR"
           : policy == SCHED_OTHER ? "normal"
                                   : "other",
           load[0], "cell");
    for (unsigned executor = 0; executor < EXECUTORS; executor++) {
        printf(" %9s", names[executor]);
    }
    printf("  %-8s %7s\n", "to", "median [95 %]");
    for (unsigned cell = 0; cell < CELLS; cell++) {
        if (is_wanted[cell]) {
            print_cell(rounds, cell);
        }
    }
    return 0;
}
