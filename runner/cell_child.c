/* SPDX-License-Identifier: Apache-2.0
 * The child's side of a cell: measures one case and writes one frame to CELL_RESULT_FD. It knows no
 * plan and no other cell. One thread, besides those of the executor and the probe.
 *
 * A sample is taken in this order: probe, reference workload, then the cell between two readings of
 * what disturbs it. So the reference is measured beside each sample, by the same function that the
 * tasks run. */
#include "runner/benches/observe.h"
#include "runner/benches/session.h"
#include "runner/cell.h"
#include "runner/cell_document.h"
#include "runner/cell_frame.h"
#include "runner/cell_process.h"
#include "runner/executors/executors.h"
#include "runner/machine/cpus.h"
#include "runner/machine/placement.h"
#include "runner/result_merge.h"
#include "runner/sample/calibrate.h"
#include "runner/sample/noise.h"
#include "runner/sample/probe.h"
#include "schema/number.h"
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NS_PER_MS             1000000u
#define NS_PER_S              1e9
#define REFERENCE_DURATION_NS 8000000u
#define CALIBRATE_STEPS_MAX   64u

/* What is recorded beside each sample. */
enum column {
    HANDOFF,
    FIXED_LOOP,
    REFERENCE,
    FOREIGN_CPU,
    STEAL,
    THROTTLED,
    VOLUNTARY_SWITCHES,
    INVOLUNTARY_SWITCHES,
    ITERATIONS,
    USER_CPU,
    SYSTEM_CPU,
    WAKEUPS_PER_TASK,
    /* Of a pass of its own, the same for all samples of a process: */
    PEAK_CONCURRENCY,
    INLINE_SHARE,
    HELPED_SHARE,
    THREADS_WITH_TASKS,
    THREADS_CREATED,
    TASKS_PER_THREAD_MIN,
    TASKS_PER_THREAD_MAX,
    COLUMNS
};

static const struct {
    const char *name, *unit;
} columns[COLUMNS] = {
    [HANDOFF] = {"handoff", "ns"},
    [FIXED_LOOP] = {"fixed_loop", "ns"},
    [REFERENCE] = {"reference", "ns"},
    [FOREIGN_CPU] = {"foreign_cpu", "cpus"},
    [STEAL] = {"steal", "cpus"},
    [THROTTLED] = {"throttled", "ms"},
    [VOLUNTARY_SWITCHES] = {"voluntary_switches", ""},
    [INVOLUNTARY_SWITCHES] = {"involuntary_switches", ""},
    [ITERATIONS] = {"iterations", ""},
    [USER_CPU] = {"user_cpu", "ms"},
    [SYSTEM_CPU] = {"system_cpu", "ms"},
    [WAKEUPS_PER_TASK] = {"wakeups_per_task", ""},
    [PEAK_CONCURRENCY] = {"peak_concurrency", ""},
    [INLINE_SHARE] = {"inline_share", ""},
    [HELPED_SHARE] = {"helped_share", ""},
    [THREADS_WITH_TASKS] = {"threads_with_tasks", ""},
    [THREADS_CREATED] = {"threads_created", ""},
    [TASKS_PER_THREAD_MIN] = {"tasks_per_thread_min", ""},
    [TASKS_PER_THREAD_MAX] = {"tasks_per_thread_max", ""},
};

struct child {
    const struct bench *bench;
    struct cell_order order;
    void *state;
    struct workload reference;
    struct bench_timing *timings; /* one per sample */
    struct run_result *own;       /* what `measure` gave so far; NULL: nothing */
    char *placement_cpus;         /* where this process is bound to; NULL: nowhere */
    struct observed observed;     /* no tasks: nothing was */
    double *beside[COLUMNS];      /* one per sample; NULL once a value was not to be had */
};

static void child_clear(struct child *child)
{
    g_free(child->timings);
    g_free(child->placement_cpus);
    g_clear_pointer(&child->own, run_result_free);
    for (int column = 0; column < COLUMNS; column++) {
        g_free(child->beside[column]);
    }
}

static void child_record(struct child *child, enum column column, uint32_t sample, bool has,
                         double value)
{
    if (!has) {
        /* A list has a value for each sample or is not there at all. */
        g_clear_pointer(&child->beside[column], g_free);
    } else if (child->beside[column]) {
        child->beside[column][sample] = value;
    }
}

static bool child_calibrate(struct child *child, GError **error)
{
    uint64_t target_ns = (uint64_t)child->order.request.sample_ms * NS_PER_MS;
    uint64_t iterations = 1;
    bool done = child->order.request.iterations > 0;
    for (unsigned step = 0; !done && step < CALIBRATE_STEPS_MAX; step++) {
        struct bench_timing timing = {0};
        if (!child->bench->iterate(child->state, iterations, &timing, error)) {
            return false;
        }
        done = calibrate_step(iterations, timing.wall_ns, target_ns, &iterations);
        child->order.request.iterations = iterations;
    }
    return true;
}

static bool child_iterate(struct child *child, uint32_t sample, GError **error)
{
    struct bench_timing *timing = &child->timings[sample];
    uint64_t iterations = child->order.request.iterations;
    *timing = (struct bench_timing){0};
    if (!child->bench->iterate(child->state, iterations, timing, error)) {
        return false;
    }
    if (timing->wall_ns == 0 || timing->items == 0 || timing->iterations != iterations) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "%s measured nothing: %" G_GUINT64_FORMAT " items, %" G_GUINT64_FORMAT
                    " iterations in %" G_GUINT64_FORMAT " ns",
                    child->bench->name, timing->items, timing->iterations, timing->wall_ns);
        return false;
    }
    child_record(child, ITERATIONS, sample, true, (double)iterations);
    return true;
}

/* One call of the benchmark's own `measure`, added to those before it. */
static bool child_measure_own(struct child *child, uint32_t sample, GError **error)
{
    const struct bench_request request = {.sample_ms = child->order.request.sample_ms,
                                          .sample = sample};
    struct run_result *part = cell_result_new(child->bench, &child->order.values);
    bool measured = child->bench->measure(child->state, &request, part, error);
    if (measured && !child->own) {
        child->own = g_steal_pointer(&part);
    } else if (measured && !result_merge(child->own, part)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "%s: one sample has other metrics than the first", child->bench->name);
        measured = false;
    }
    g_clear_pointer(&part, run_result_free);
    return measured;
}

static void child_record_observed(struct child *child, uint32_t sample)
{
    const struct observed *observed = &child->observed;
    const double values[COLUMNS] = {
        [PEAK_CONCURRENCY] = observed->peak_concurrency,
        [INLINE_SHARE] = observed->inline_share,
        [HELPED_SHARE] = observed->helped_share,
        [THREADS_WITH_TASKS] = observed->threads_with_tasks,
        [THREADS_CREATED] = observed->threads_created,
        [TASKS_PER_THREAD_MIN] = (double)observed->tasks_per_thread_min,
        [TASKS_PER_THREAD_MAX] = (double)observed->tasks_per_thread_max,
    };
    for (enum column column = PEAK_CONCURRENCY; column < COLUMNS; column++) {
        child_record(child, column, sample, observed->tasks > 0, values[column]);
    }
}

/* A thread that sleeps is woken: so many wake-ups are as many voluntary switches. */
static void child_record_own(struct child *child, uint32_t sample, const struct noise *noise)
{
    uint64_t items = child->bench->measure ? 0 : child->timings[sample].items;
    child_record(child, VOLUNTARY_SWITCHES, sample, true, noise->voluntary_switches);
    child_record(child, INVOLUNTARY_SWITCHES, sample, true, noise->involuntary_switches);
    child_record(child, USER_CPU, sample, true, noise->user_cpu_ms);
    child_record(child, SYSTEM_CPU, sample, true, noise->system_cpu_ms);
    child_record(child, WAKEUPS_PER_TASK, sample, items > 0 && *child->order.values.executor,
                 items > 0 ? noise->voluntary_switches / (double)items : 0);
    child_record_observed(child, sample);
}

static bool child_take_sample(struct child *child, uint32_t sample, GError **error)
{
    struct probe probe;
    struct noise_reading before, after;
    struct noise noise;
    bool has_reference = !child->bench->own_costs;

    probe_take(&probe);
    double reference_ns =
        has_reference ? probe_reference_ns(&child->reference, REFERENCE_DURATION_NS) : 0;
    noise_read(&before);
    if (child->bench->measure ? !child_measure_own(child, sample, error)
                              : !child_iterate(child, sample, error)) {
        return false;
    }
    noise_read(&after);
    noise_between(&before, &after, &noise);
    child_record(child, HANDOFF, sample, probe.has_handoff, probe.handoff_ns);
    child_record(child, FIXED_LOOP, sample, true, probe.fixed_loop_ns);
    child_record(child, REFERENCE, sample, has_reference, reference_ns);
    child_record(child, FOREIGN_CPU, sample, noise.has_foreign, noise.foreign_cpus);
    child_record(child, STEAL, sample, noise.has_steal, noise.steal_cpus);
    child_record(child, THROTTLED, sample, noise.has_throttled, noise.throttled_ms);
    child_record_own(child, sample, &noise);
    if (child->bench->measure) {
        child_record(child, ITERATIONS, sample, false, 0);
    }
    return true;
}

static bool child_warm_up(struct child *child, GError **error)
{
    if (child->bench->measure) {
        return true; /* it has its own, or wants none */
    }
    if (!child_calibrate(child, error)) {
        return false;
    }
    /* The warm-up is a sample like the others, and dropped; its first iteration is observed. */
    struct bench_timing dropped = {0};
    uint64_t rest = child->order.request.iterations - 1;
    observe_begin();
    bool is_good = child->bench->iterate(child->state, 1, &dropped, error);
    child->observed = observe_end();
    return is_good && (rest == 0 || child->bench->iterate(child->state, rest, &dropped, error));
}

static bool child_measure(struct child *child, GError **error)
{
    if (!child_warm_up(child, error)) {
        return false;
    }
    for (uint32_t sample = 0; sample < child->order.request.samples; sample++) {
        if (!child_take_sample(child, sample, error)) {
            return false;
        }
    }
    return true;
}

static void child_add_metrics(const struct child *child, struct run_result *result)
{
    struct run_metric *rate = run_metric_new("items_per_second", "items/s", BETTER_HIGHER);
    struct run_metric *time = run_metric_new("real_time", "ns", BETTER_LOWER);
    struct run_metric *cpu = run_metric_new("cpu_time_per_item", "ns", BETTER_LOWER);
    for (uint32_t i = 0; i < child->order.request.samples; i++) {
        const struct bench_timing *timing = &child->timings[i];
        run_metric_add_sample(rate, (double)timing->items * NS_PER_S / (double)timing->wall_ns);
        run_metric_add_sample(time, (double)timing->wall_ns / (double)timing->iterations);
        run_metric_add_sample(cpu, (double)timing->cpu_ns / (double)timing->items);
    }
    run_result_take_metric(result, rate);
    run_result_take_metric(result, time);
    run_result_take_metric(result, cpu);
}

/* Histograms and bounds alone have nothing that it could stand beside. */
static bool has_samples(const struct run_result *result)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = g_ptr_array_index(result->metrics, i);
        if (metric->kind == METRIC_SAMPLES) {
            return true;
        }
    }
    return false;
}

static void child_add_beside(const struct child *child, struct run_result *result)
{
    for (int column = 0; column < COLUMNS && has_samples(result); column++) {
        if (child->beside[column]) {
            run_result_add_beside(result, columns[column].name, columns[column].unit,
                                  child->beside[column], child->order.request.samples);
        }
    }
}

/* What a reader must know of an executor to compare it with another. */
static const struct {
    uint64_t capability;
    const char *name;
} kinds[] = {
    {EXECUTOR_CALLER_HELPS, "caller_helps"},
    {EXECUTOR_ELASTIC, "elastic"},
    {EXECUTOR_GLOBAL, "global_threads"},
    {EXECUTOR_MAY_INLINE, "may_inline"},
    {EXECUTOR_SPINS, "spins"},
};

/* What a user sets in the environment to steer an executor: as much a part of it as its version. */
#define SETTINGS_BYTES_MAX 256u
static const char *const settings[] = {
    "GOMP_CPU_AFFINITY", "GOMP_SPINCOUNT", "MALLOC_ARENA_MAX", "OMP_DYNAMIC",     "OMP_NUM_THREADS",
    "OMP_PLACES",        "OMP_PROC_BIND",  "OMP_THREAD_LIMIT", "OMP_WAIT_POLICY",
};

static bool is_plain(const char *text)
{
    while (g_ascii_isprint(*text)) {
        text++;
    }
    return *text == '\0';
}

/* "OMP_PLACES=cores OMP_WAIT_POLICY=active", as much as a fact may hold; empty: none is set. */
static char *settings_text(void)
{
    g_autoptr(GString) text = g_string_new("");
    for (gsize i = 0; i < G_N_ELEMENTS(settings); i++) {
        const char *value = g_getenv(settings[i]);
        if (value && is_plain(value)) {
            g_string_append_printf(text, "%s%s=%s", text->len ? " " : "", settings[i], value);
        }
    }
    g_string_truncate(text, MIN(text->len, SETTINGS_BYTES_MAX));
    return g_strchomp(g_string_free(g_steal_pointer(&text), FALSE));
}

/* Facts that do not make the result's identity, with those of the benchmark (a map, or NULL). */
static char *child_info(const struct child *child, const char *own)
{
    struct cpus cpus;
    cpus_read("", &cpus);
    const char *executor = child->order.values.executor;
    const struct executor_ops *ops = *executor ? executor_load(executor, NULL) : NULL;
    g_autoptr(GString) info = g_string_new("{");
    g_string_append_printf(info, "\"bench_version\":%u", child->bench->version);
    if (ops && *ops->version) {
        g_string_append(info, ",\"library\":");
        json_append_string(info, ops->version);
    }
    for (gsize i = 0; ops && i < G_N_ELEMENTS(kinds); i++) {
        if (ops->capabilities & kinds[i].capability) {
            g_string_append_printf(info, ",\"%s\":true", kinds[i].name);
        }
    }
    if (ops && (ops->capabilities & EXECUTOR_THREAD_PER_TASK)) {
        g_string_append_printf(info, ",\"tasks_at_most\":%u", SESSION_SLOW_TASKS_MAX);
    }
    if (child->order.values.threads > cpus.effective) {
        g_string_append(info, ",\"oversubscribed\":true");
    }
    g_string_append_printf(info, ",\"samples_per_process\":%u", child->order.request.samples);
    if (child->placement_cpus) {
        g_string_append(info, ",\"placement_cpus\":");
        json_append_string(info, child->placement_cpus);
    }
    g_autofree char *set = settings_text();
    if (ops && *set) {
        g_string_append(info, ",\"settings\":");
        json_append_string(info, set);
    }
    g_autofree char *own_facts = own ? run_map_text(own) : NULL;
    if (own_facts && !g_str_equal(own_facts, "{}")) {
        g_string_append_printf(info, ",%s", own_facts + 1);
    } else {
        g_string_append_c(info, '}');
    }
    return run_map_text(info->str);
}

/* Before any other thread is there. The thread that submits has a place of its own. */
static bool child_place(struct child *child, GError **error)
{
    const struct bench_case *values = &child->order.values;
    return placement_apply(values->placement, values->threads + 1, &child->placement_cpus, error);
}

/* A library is asked for its name here, too: it may be another than when the plan was made. */
static bool child_setup(struct child *child, GError **error)
{
    if (*child->order.library) {
        const char *name = executor_resolve(child->order.library, error);
        if (!name) {
            return false;
        }
        if (!g_str_equal(name, child->order.values.executor)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "%s: it is now the executor %s, and was %s when the plan was made",
                        child->order.library, name, child->order.values.executor);
            return false;
        }
    }
    return child->bench->setup(&child->state, &child->order.values, error);
}

/* The result, with metrics or with an error. */
static struct run_result *child_result(struct child *child)
{
    struct run_result *result = cell_result_new(child->bench, &child->order.values);
    uint32_t n_samples = child->order.request.samples;
    g_autoptr(GError) error = NULL;
    child->timings = g_new0(struct bench_timing, n_samples);
    for (int column = 0; column < COLUMNS; column++) {
        child->beside[column] = g_new0(double, n_samples);
    }
    workload_init(&child->reference, child->order.values.task_cost);
    if (!child_place(child, &error) || !child_setup(child, &error)) {
        result->error = g_strdup(error->message);
        return result;
    }
    bool measured = child_measure(child, &error);
    child->bench->teardown(child->state);
    if (measured) {
        if (child->own) {
            run_result_free(result);
            result = g_steal_pointer(&child->own);
        } else {
            child_add_metrics(child, result);
        }
        child_add_beside(child, result);
        g_autofree char *own_info = g_steal_pointer(&result->info_json);
        result->info_json = child_info(child, own_info);
    } else {
        result->error = g_strdup(error->message);
    }
    return result;
}

static bool write_all(int fd, const guint8 *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

static void die_with_group(int signal_number)
{
    (void)signal_number;
    kill(0, SIGKILL);
}

/* When the parent dies, the whole group does: processes that a library started, too. False where
 * the parent is gone already. */
static bool follow_parent(pid_t parent)
{
    if (getpgrp() == getpid()) {
        struct sigaction action = {.sa_handler = die_with_group};
        sigaction(SIGTERM, &action, NULL);
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return getppid() == parent; /* it may have died before prctl */
}

static const struct bench *table_find(const struct bench *const *table, const char *name)
{
    for (; *table; table++) {
        if (g_str_equal((*table)->name, name)) {
            return *table;
        }
    }
    return NULL;
}

int cell_child_main_from(const struct bench *const *table, int argc, char **argv)
{
    struct child child = {0};
    if (!cell_order_parse(argc, argv, &child.order) || !follow_parent(child.order.parent)) {
        return CELL_EXIT_ORDER;
    }
    executors_load_here();
    child.bench = table_find(table, child.order.bench);
    if (!child.bench) {
        return CELL_EXIT_ORDER;
    }
    struct run_result *result = child_result(&child);
    uint64_t iterations = child.order.request.iterations;
    child_clear(&child);
    g_autoptr(GString) document = g_string_new(NULL);
    cell_document_print(result, document);
    g_autoptr(GByteArray) frame = cell_frame_pack(iterations, document->str, document->len);
    return write_all(CELL_RESULT_FD, frame->data, frame->len) ? 0 : CELL_EXIT_WRITE;
}

int cell_child_main(int argc, char **argv)
{
    return cell_child_main_from(benches, argc, argv);
}
