/* SPDX-License-Identifier: Apache-2.0
 * The table of benchmarks, and what is common to them: the names of their cases and which cases can
 * be. Measures nothing. Any thread. */
#include "runner/benches/bench.h"
#include "runner/executors/executors.h"
#include "runner/sample/workload.h"
#include "schema/error.h"

const struct bench *const benches[] = {
    &bench_workload_cost,
    &bench_serial_task_group,
    &bench_thread_pool_spawn,
    &bench_threaded_task_group,
    NULL,
};

const struct bench *bench_find(const char *name)
{
    for (const struct bench *const *bench = benches; *bench; bench++) {
        if (g_str_equal((*bench)->name, name)) {
            return *bench;
        }
    }
    return NULL;
}

char *bench_names(void)
{
    GString *names = g_string_new(NULL);
    for (const struct bench *const *bench = benches; *bench; bench++) {
        g_string_append_printf(names, "%s%s", names->len ? ", " : "", (*bench)->name);
    }
    return g_string_free(names, FALSE);
}

char *bench_case_name(const struct bench *bench, const struct bench_case *cell)
{
    GString *name = g_string_new(bench->name);
    if (*cell->executor) {
        g_string_append_printf(name, "/executor:%s", cell->executor);
    }
    if (cell->threads) {
        g_string_append_printf(name, "/threads:%u", cell->threads);
    }
    if (!bench->own_costs) {
        g_string_append_printf(name, "/task_cost:%" G_GUINT64_FORMAT, cell->task_cost);
    }
    return g_string_free(name, FALSE);
}

static bool check_threads(const struct bench *bench, const struct bench_case *cell, bool takes,
                          GError **error)
{
    if (!takes && cell->threads) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s%s%s takes no threads: leave threads out", bench->name,
                    *cell->executor ? " on executor " : "", cell->executor);
        return false;
    }
    if (takes && (cell->threads < 1 || cell->threads > BENCH_THREADS_MAX)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s on executor %s: threads must be 1 to %u, not %u", bench->name,
                    cell->executor, BENCH_THREADS_MAX, cell->threads);
        return false;
    }
    return true;
}

static bool executor_is_listed(const struct bench *bench, const char *executor)
{
    g_auto(GStrv) listed = g_strsplit(bench->executors, ",", -1);
    return g_strv_contains((const char *const *)listed, executor);
}

static const struct executor_entry *check_executor(const struct bench *bench, const char *executor,
                                                   GError **error)
{
    if (!*executor) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s needs an executor, such as %s",
                    bench->name, bench->executors);
        return NULL;
    }
    const struct executor_entry *entry = executor_find(executor);
    if (!entry) {
        g_autofree char *names = executor_names();
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "executor %s: there is none of that name; there are %s", executor, names);
        return NULL;
    }
    if (bench->only_those && !executor_is_listed(bench, executor)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s runs on executor %s only, not on %s",
                    bench->name, bench->executors, executor);
        return NULL;
    }
    return entry;
}

static bool check_task_cost(const struct bench *bench, const struct bench_case *cell,
                            GError **error)
{
    if (bench->own_costs) {
        if (cell->task_cost) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "%s goes through task costs by itself: leave task_cost out", bench->name);
        }
        return !cell->task_cost;
    }
    if (cell->task_cost < WORKLOAD_TASK_COST_MIN || cell->task_cost > WORKLOAD_TASK_COST_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s: task_cost must be %u to %u steps of the workload, not %" G_GUINT64_FORMAT,
                    bench->name, WORKLOAD_TASK_COST_MIN, WORKLOAD_TASK_COST_MAX, cell->task_cost);
        return false;
    }
    return true;
}

bool bench_case_check(const struct bench *bench, const struct bench_case *cell, GError **error)
{
    if (!check_task_cost(bench, cell, error)) {
        return false;
    }
    if (!*bench->executors) {
        if (*cell->executor) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "%s takes no executor: leave out executor %s", bench->name, cell->executor);
            return false;
        }
        return check_threads(bench, cell, bench->takes_threads, error);
    }
    const struct executor_entry *entry = check_executor(bench, cell->executor, error);
    const struct executor_ops *ops = entry ? entry->load(error) : NULL;
    if (!ops) {
        return false;
    }
    bool takes_threads = bench->takes_threads && !(ops->capabilities & EXECUTOR_NO_THREADS);
    return check_threads(bench, cell, takes_threads, error);
}
