/* SPDX-License-Identifier: Apache-2.0
 * The table of benchmarks, and what is common to them: the names of their cases and which cases can
 * be. Measures nothing. Any thread. */
#include "runner/benches/bench.h"
#include "runner/executors/executors.h"
#include "runner/machine/placement.h"
#include "runner/sample/workload.h"
#include "schema/error.h"

const struct bench *const benches[] = {
    &bench_workload_cost,
    &bench_serial_task_group,
    &bench_thread_pool_spawn,
    &bench_threaded_task_group,
    &bench_dispatch_push,
    &bench_dispatch_start,
    &bench_dispatch_reply,
    &bench_break_even,
    &bench_fork_join,
    &bench_nested,
    &bench_multi_producer,
    &bench_blocking,
    &bench_mixed,
    &bench_tick,
    &bench_idle,
    &bench_create_destroy,
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
    for (guint i = 0; bench->params && bench->params[i].name; i++) {
        if (*cell->own[i]) {
            g_string_append_printf(name, "/%s:%s", bench->params[i].name, cell->own[i]);
        }
    }
    if (*cell->placement) {
        g_string_append_printf(name, "/placement:%s", cell->placement);
    }
    return g_string_free(name, FALSE);
}

const char *bench_case_own(const struct bench *bench, const struct bench_case *cell,
                           const char *name)
{
    for (guint i = 0; bench->params && bench->params[i].name; i++) {
        if (g_str_equal(bench->params[i].name, name)) {
            return cell->own[i];
        }
    }
    return "";
}

/* Of alternatives, one after the other in the table, a case has one. */
static bool check_own(const struct bench *bench, const struct bench_case *cell, GError **error)
{
    guint n_given = 0;
    for (guint i = 0; bench->params && bench->params[i].name; i++) {
        const struct bench_param *param = &bench->params[i];
        const char *value = cell->own[i];
        n_given = (param->is_alternative ? n_given : 0) + (*value != '\0');
        bool is_last = !param[1].name || !param[1].is_alternative;
        if (*value && !param->allows(value)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s: %s must be %s, not %s",
                        bench->name, param->name, param->allowed, value);
            return false;
        }
        if (is_last && n_given != 1) {
            g_set_error(
                error, BREAKEVEN_ERROR, ERROR_INVALID, "%s: %s %s (%s)", bench->name, param->name,
                n_given ? "stands in place of another: give one" : "is missing", param->allowed);
            return false;
        }
    }
    return placement_check(cell->placement, error);
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

/* What a benchmark asks of an executor, in the words of a message. */
static const struct {
    uint64_t capability;
    const char *needed, *refused;
} words[] = {
    {EXECUTOR_SUBMIT_WORKER, "lets tasks submit tasks", NULL},
    {EXECUTOR_SUBMIT_ANY, "lets any thread submit", NULL},
    {EXECUTOR_REUSABLE, "can be used again after waiting", NULL},
    {EXECUTOR_MAIN, "can post to the main thread", NULL},
    {EXECUTOR_NO_THREADS, NULL, "has threads"},
    {EXECUTOR_ELASTIC, NULL, "has a number of threads that can be chosen"},
    {EXECUTOR_CALLER_HELPS, NULL, "leaves the main thread free"},
};

static bool check_capabilities(const struct bench *bench, const char *executor,
                               uint64_t capabilities, GError **error)
{
    for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
        bool has = capabilities & words[i].capability;
        const char *asked = !has && (bench->needs & words[i].capability)    ? words[i].needed
                            : has && (bench->refuses & words[i].capability) ? words[i].refused
                                                                            : NULL;
        if (asked) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "%s needs an executor that %s; %s does not", bench->name, asked, executor);
            return false;
        }
    }
    return true;
}

static bool check_executor(const struct bench *bench, const char *executor,
                           struct executor_facts *out, GError **error)
{
    if (!*executor) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s needs an executor, such as %s",
                    bench->name, bench->executors);
        return false;
    }
    if (bench->only_those && !executor_is_listed(bench, executor)) {
        if (executor_resolve(executor, error)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "%s runs on executor %s only, not on %s", bench->name, bench->executors,
                        executor);
        }
        return false;
    }
    g_autoptr(GError) problem = NULL;
    if (executor_describe(executor, out, &problem)) {
        return check_capabilities(bench, executor, out->capabilities, error);
    }
    if (g_error_matches(problem, BREAKEVEN_ERROR, ERROR_UNAVAILABLE)) {
        g_prefix_error(&problem, "executor %s: ", executor);
    }
    g_propagate_error(error, g_steal_pointer(&problem));
    return false;
}

bool bench_takes_threads(const struct bench *bench, uint64_t capabilities)
{
    return bench->takes_threads && !(capabilities & (EXECUTOR_NO_THREADS | EXECUTOR_ELASTIC));
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
    if (!check_task_cost(bench, cell, error) || !check_own(bench, cell, error)) {
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
    struct executor_facts facts;
    return check_executor(bench, cell->executor, &facts, error) &&
           check_threads(bench, cell, bench_takes_threads(bench, facts.capabilities), error);
}
