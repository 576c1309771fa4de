/* SPDX-License-Identifier: Apache-2.0
 * Reads plans and multiplies their lists out into cells. It knows benchmarks and executors by their
 * tables only. Pure but for plan_read_file; main thread. */
#include "runner/plan.h"

#include "runner/executors/executors.h"
#include "runner/nearest.h"
#include "runner/plan_file.h"
#include "runner/plan_params.h"
#include <string.h>

#define INSTALLED     "installed"
#define THREADS_MAX   4096u
#define TASK_COST_MAX 1000000000000ull

static const char *const default_threads[] = {"1", "2", "4", "8", NULL};
static const char *const default_task_costs[] = {"1000", "10000", "100000", NULL};

/* One [cells …] group with the filter applied. */
struct axes {
    const char *origin; /* "quick.plan, [cells spawn]" */
    const struct plan_filter *filter;
    GStrv threads, task_costs;
    const PlanFile *file;
    const char *group;
    bool is_any_executor; /* those that are installed: a cell that one cannot be is passed over */
    GHashTable *refusals; /* "--threads 3" → why a cell that the filter asks for cannot be */
};

static bool list_holds(const GPtrArray *list, const char *text)
{
    return !list ||
           g_ptr_array_find_with_equal_func((GPtrArray *)(guintptr)list, text, g_str_equal, NULL);
}

static GStrv list_copy(const GPtrArray *list)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (guint i = 0; i < list->len; i++)
        g_strv_builder_add(builder, (const char *)list->pdata[i]);
    return g_strv_builder_end(builder);
}

static bool add_cell(Plan *plan, struct axes *axes, const struct cell *cell, GError **error)
{
    g_autofree char *name = bench_case_name(cell->bench, &cell->values);
    for (guint i = 0; i < plan->cells->len; i++) {
        const struct cell *other = &g_array_index(plan->cells, struct cell, i);
        if (other->bench == cell->bench && other->values.threads == cell->values.threads &&
            other->values.task_cost == cell->values.task_cost &&
            strcmp(other->values.executor, cell->values.executor) == 0 &&
            strcmp(other->values.placement, cell->values.placement) == 0 &&
            memcmp(other->values.own, cell->values.own, sizeof cell->values.own) == 0) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "%s: the cell %s is in the plan twice", axes->origin, name);
            return false;
        }
    }
    if (plan->cells->len >= PLAN_CELLS_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s: the plan has more than %u cells",
                    axes->origin, PLAN_CELLS_MAX);
        return false;
    }
    g_array_append_val(plan->cells, *cell);
    return true;
}

static void note_refusal(struct axes *axes, const struct cell *cell, const char *message)
{
    g_hash_table_insert(axes->refusals, g_strdup_printf("--bench %s", cell->bench->name),
                        g_strdup(message));
    g_hash_table_insert(axes->refusals, g_strdup_printf("--executor %s", cell->values.executor),
                        g_strdup(message));
    g_hash_table_insert(axes->refusals, g_strdup_printf("--threads %u", cell->values.threads),
                        g_strdup(message));
    g_hash_table_insert(axes->refusals,
                        g_strdup_printf("--task-cost %" G_GUINT64_FORMAT, cell->values.task_cost),
                        g_strdup(message));
    if (*cell->values.placement)
        g_hash_table_insert(axes->refusals,
                            g_strdup_printf("--param placement=%s", cell->values.placement),
                            g_strdup(message));
    for (guint i = 0; cell->bench->params && cell->bench->params[i].name; i++)
        g_hash_table_insert(
            axes->refusals,
            g_strdup_printf("--param %s=%s", cell->bench->params[i].name, cell->values.own[i]),
            g_strdup(message));
}

/* A combination that the plan itself holds and that cannot be is a fault of the plan; one that only
 * the filter makes is passed over, for other benchmarks may have it. */
static bool check_cell(struct axes *axes, const struct cell *cell, bool *out_take, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    *out_take = bench_case_check(cell->bench, &cell->values, &refusal);
    if (*out_take)
        return true;
    const struct plan_filter *filter = axes->filter;
    bool is_filtered = filter->executors || filter->threads || filter->task_costs || filter->params;
    if (is_filtered || axes->is_any_executor) {
        note_refusal(axes, cell, refusal->message);
        return true;
    }
    if (g_error_matches(refusal, BREAKEVEN_ERROR, ERROR_UNAVAILABLE)) {
        *out_take =
            true; /* an executor that is not installed: measuring it gives a result that says so */
        return true;
    }
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s: %s", axes->origin, refusal->message);
    return false;
}

static bool read_value(const char *text, const char *what, guint64 max, guint64 *out_value,
                       GError **error)
{
    guint64 min = strcmp(what, "threads") == 0 ? 1 : 0;
    if (g_ascii_string_to_unsigned(text, 10, min, max, out_value, NULL))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "%s \"%s\" is not a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
                what, text, min, max);
    return false;
}

/* Every combination of the further parameters. */
static bool add_params(Plan *plan, struct axes *axes, struct cell cell, GError **error)
{
    g_auto(PlanParams) params = {0};
    bool is_good = plan_params_begin(&params, cell.bench, axes->file, axes->group,
                                     axes->filter->params, error);
    while (is_good && plan_params_next(&params, &cell.values)) {
        bool take = false;
        is_good =
            check_cell(axes, &cell, &take, error) && (!take || add_cell(plan, axes, &cell, error));
    }
    return is_good;
}

static bool add_costs(Plan *plan, struct axes *axes, struct cell cell, GError **error)
{
    if (cell.bench->own_costs) {
        if (axes->filter->task_costs) {
            g_autofree char *message = g_strdup_printf(
                "%s goes through task costs by itself; leave --task-cost out", cell.bench->name);
            note_refusal(axes, &cell, message);
            return true;
        }
        return add_params(plan, axes, cell, error);
    }
    for (char **cost = axes->task_costs; *cost; cost++) {
        if (!read_value(*cost, "task-cost", TASK_COST_MAX, &cell.values.task_cost, error) ||
            !add_params(plan, axes, cell, error))
            return false;
    }
    return true;
}

static bool takes_threads(const struct bench *bench, const char *executor)
{
    struct executor_facts facts;
    bool is_known = *executor && executor_describe(executor, &facts, NULL);
    return bench_takes_threads(bench, is_known ? facts.capabilities : 0);
}

static bool add_threads(Plan *plan, struct axes *axes, struct cell cell, GError **error)
{
    if (!takes_threads(cell.bench, cell.values.executor)) {
        if (!axes->filter->threads)
            return add_costs(plan, axes, cell, error);
        g_autofree char *message =
            g_strdup_printf("%s%s%s takes no threads; leave --threads out", cell.bench->name,
                            *cell.values.executor ? " on executor " : "", cell.values.executor);
        note_refusal(axes, &cell, message);
        return true;
    }
    for (char **text = axes->threads; *text; text++) {
        guint64 threads = 0;
        if (!read_value(*text, "threads", THREADS_MAX, &threads, error))
            return false;
        cell.values.threads = (uint32_t)threads;
        if (!add_costs(plan, axes, cell, error))
            return false;
    }
    return true;
}

/* The name of an executor that is given by name or as the path of a library. */
static const char *resolve_executor(const char *name, const char *origin, GError **error)
{
    g_autoptr(GError) problem = NULL;
    const char *resolved = executor_resolve(name, &problem);
    if (resolved)
        return resolved;
    if (!g_error_matches(problem, BREAKEVEN_ERROR, ERROR_NOT_FOUND)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "%s: %s", origin, problem->message);
        return NULL;
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const struct executor_entry *entry = executors; entry->name; entry++)
        g_ptr_array_add(names, (gpointer)(guintptr)entry->name);
    g_autofree char *hint = nearest_hint(name, (const char *const *)names->pdata, names->len, "");
    g_autofree char *all = executor_names();
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "%s: there is no executor \"%s\"%s (there are: %s; a library is given by a path "
                "with a slash, such as ./libmine.so)",
                origin, name, hint, all);
    return NULL;
}

static GStrv installed_executors(void)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (const struct executor_entry *entry = executors; entry->name; entry++) {
        struct executor_facts facts;
        if (executor_describe(entry->name, &facts, NULL))
            g_strv_builder_add(builder, entry->name);
    }
    return g_strv_builder_end(builder);
}

/* The executors of a group for one benchmark: the group's, or the benchmark's own; the filter's
 * where it names any. */
static bool add_executors(Plan *plan, struct axes *axes, const struct bench *bench, GStrv own,
                          GError **error)
{
    const struct plan_filter *filter = axes->filter;
    struct cell cell = {.bench = bench};
    if (*bench->executors == '\0') {
        if (own) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s: %s takes no executor",
                        axes->origin, bench->name);
            return false;
        }
        return filter->executors ? true : add_threads(plan, axes, cell, error);
    }
    axes->is_any_executor = own && g_str_equal(own[0], INSTALLED);
    g_auto(GStrv) names = filter->executors       ? list_copy(filter->executors)
                          : axes->is_any_executor ? installed_executors()
                          : own                   ? g_strdupv(own)
                                                  : plan_file_split(bench->executors);
    for (char **name = names; *name; name++) {
        const char *resolved =
            resolve_executor(*name, filter->executors ? "--executor" : axes->origin, error);
        if (!resolved)
            return false;
        g_strlcpy(cell.values.executor, resolved, BENCH_EXECUTOR_MAX);
        if (!add_threads(plan, axes, cell, error))
            return false;
    }
    return true;
}

static const struct bench *find_bench(const char *name, const char *origin, GError **error)
{
    const struct bench *bench = bench_find(name);
    if (bench)
        return bench;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const struct bench *const *known = benches; *known; known++)
        g_ptr_array_add(names, (gpointer)(guintptr)(*known)->name);
    g_autofree char *hint = nearest_hint(name, (const char *const *)names->pdata, names->len, "");
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s: there is no benchmark \"%s\"%s%s",
                origin, name, hint, *hint ? "" : "; breakeven-runner list names them");
    return NULL;
}

static bool add_group(Plan *plan, PlanFile *file, const char *group, struct axes *axes,
                      GError **error)
{
    g_autofree char *origin = g_strdup_printf("%s, [%s]", plan_file_origin(file), group);
    axes->origin = origin;
    axes->file = file;
    axes->group = group;
    g_auto(GStrv) bench_names = NULL, own = NULL, threads = NULL, task_costs = NULL;
    if (!plan_file_list(file, group, "bench", &bench_names, error) ||
        !plan_file_list(file, group, "executor", &own, error) ||
        !plan_file_list(file, group, "threads", &threads, error) ||
        !plan_file_list(file, group, "task-cost", &task_costs, error))
        return false;
    if (!bench_names) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s: bench is missing; write bench = ThreadPoolSpawn", origin);
        return false;
    }
    const struct plan_filter *filter = axes->filter;
    g_auto(GStrv) used_threads = filter->threads ? list_copy(filter->threads)
                                 : threads       ? g_strdupv(threads)
                                                 : g_strdupv((GStrv)(guintptr)default_threads);
    g_auto(GStrv) used_costs = filter->task_costs ? list_copy(filter->task_costs)
                               : task_costs       ? g_strdupv(task_costs)
                                                  : g_strdupv((GStrv)(guintptr)default_task_costs);
    axes->threads = used_threads;
    axes->task_costs = used_costs;
    for (char **name = bench_names; *name; name++) {
        const struct bench *bench = find_bench(*name, origin, error);
        if (!bench)
            return false;
        if (list_holds(filter->benches, bench->name) &&
            !add_executors(plan, axes, bench, own, error))
            return false;
    }
    return true;
}

/* What the command line names must exist, whatever the plan holds. */
static bool check_filter(const struct plan_filter *filter, GError **error)
{
    for (guint i = 0; filter->benches && i < filter->benches->len; i++)
        if (!find_bench((const char *)filter->benches->pdata[i], "--bench", error))
            return false;
    for (guint i = 0; filter->executors && i < filter->executors->len; i++) {
        const char *name = (const char *)filter->executors->pdata[i];
        const char *resolved = resolve_executor(name, "--executor", error);
        if (!resolved)
            return false;
        g_autoptr(GError) problem = NULL;
        struct executor_facts facts;
        if (!executor_describe(resolved, &facts, &problem)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "--executor %s: %s", name,
                        problem->message);
            return false;
        }
    }
    guint64 value = 0;
    for (guint i = 0; filter->threads && i < filter->threads->len; i++)
        if (!read_value((const char *)filter->threads->pdata[i], "threads", THREADS_MAX, &value,
                        error)) {
            g_prefix_error(error, "--threads: ");
            return false;
        }
    for (guint i = 0; filter->task_costs && i < filter->task_costs->len; i++)
        if (!read_value((const char *)filter->task_costs->pdata[i], "task-cost", TASK_COST_MAX,
                        &value, error)) {
            g_prefix_error(error, "--task-cost: ");
            return false;
        }
    for (guint i = 0; filter->params && i < filter->params->len; i++)
        if (!plan_params_check((const char *)filter->params->pdata[i], error))
            return false;
    return true;
}

static bool cell_has(const struct cell *cell, const char *option, const char *value)
{
    if (strcmp(option, "--bench") == 0)
        return strcmp(cell->bench->name, value) == 0;
    if (strcmp(option, "--executor") == 0)
        return g_strcmp0(cell->values.executor, executor_resolve(value, NULL)) == 0;
    if (strcmp(option, "--param") == 0)
        return plan_params_match(cell->bench, &cell->values, value);
    bool is_threads = strcmp(option, "--threads") == 0;
    return g_ascii_strtoull(value, NULL, 10) ==
           (is_threads ? cell->values.threads : cell->values.task_cost);
}

/* Whatever the command line names is in some cell: nothing that was asked for is left out in
 * silence. */
static bool check_used(const Plan *plan, const struct axes *axes, const char *option,
                       const GPtrArray *values, GError **error)
{
    for (guint i = 0; values && i < values->len; i++) {
        const char *value = (const char *)values->pdata[i];
        bool is_used = false;
        for (guint c = 0; !is_used && c < plan->cells->len; c++)
            is_used = cell_has(&g_array_index(plan->cells, struct cell, c), option, value);
        if (is_used)
            continue;
        g_autofree char *key = g_strdup_printf("%s %s", option, value);
        const char *refusal = (const char *)g_hash_table_lookup(axes->refusals, key);
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s: %s", key,
                    refusal ? refusal
                            : "no cell of the plan has it together with the other options");
        return false;
    }
    return true;
}

static bool check_cells(const Plan *plan, const struct axes *axes, const PlanFile *file,
                        GError **error)
{
    const struct plan_filter *filter = axes->filter;
    if (!check_used(plan, axes, "--bench", filter->benches, error) ||
        !check_used(plan, axes, "--executor", filter->executors, error) ||
        !check_used(plan, axes, "--threads", filter->threads, error) ||
        !check_used(plan, axes, "--task-cost", filter->task_costs, error) ||
        !check_used(plan, axes, "--param", filter->params, error))
        return false;
    if (plan->cells->len > 0)
        return true;
    g_set_error(
        error, BREAKEVEN_ERROR, ERROR_INVALID,
        "%s: the plan has no cells; add a group like [cells spawn] with bench = ThreadPoolSpawn",
        plan_file_origin(file));
    return false;
}

static bool read_head(Plan *plan, const PlanFile *file, GError **error)
{
    plan->samples = 1;
    plan->sample_ms = 100;
    plan->timeout_seconds = 60;
    plan->retries = 1;
    return plan_file_name(file, &plan->name, error) &&
           plan_file_number(file, "rounds", (struct plan_range){1, PLAN_ROUNDS_MAX, true},
                            &plan->rounds, error) &&
           plan_file_number(file, "time-budget", (struct plan_range){1, 86400, false},
                            &plan->budget_seconds, error) &&
           plan_file_number(file, "samples", (struct plan_range){1, 100, false}, &plan->samples,
                            error) &&
           plan_file_number(file, "sample-ms", (struct plan_range){1, 60000, false},
                            &plan->sample_ms, error) &&
           plan_file_number(file, "timeout", (struct plan_range){1, 3600, false},
                            &plan->timeout_seconds, error) &&
           plan_file_number(file, "retries", (struct plan_range){0, 10, false}, &plan->retries,
                            error) &&
           plan_file_number(file, "cell-ms", (struct plan_range){1, 3600000, false}, &plan->cell_ms,
                            error);
}

Plan *plan_parse(const char *text, gsize length, const char *origin,
                 const struct plan_filter *filter, GError **error)
{
    if (!check_filter(filter, error))
        return NULL;
    g_autofree const char **more_keys = plan_params_keys();
    g_autoptr(PlanFile) file =
        plan_file_parse(text, length, origin, (const char *const *)more_keys, error);
    if (!file)
        return NULL;
    g_autoptr(Plan) plan = g_new0(Plan, 1);
    plan->cells = g_array_new(FALSE, TRUE, sizeof(struct cell));
    if (!read_head(plan, file, error))
        return NULL;
    g_autoptr(GHashTable) refusals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    struct axes axes = {.filter = filter, .refusals = refusals};
    bool is_good = true;
    for (guint i = 0; is_good && plan_file_group(file, i); i++)
        is_good = add_group(plan, file, plan_file_group(file, i), &axes, error);
    return is_good && check_cells(plan, &axes, file, error) ? g_steal_pointer(&plan) : NULL;
}

Plan *plan_read_file(const char *path, const struct plan_filter *filter, GError **error)
{
    g_autofree char *text = NULL;
    gsize length = 0;
    g_autoptr(GError) problem = NULL;
    if (!g_file_get_contents(path, &text, &length, &problem)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "--plan: %s", problem->message);
        return NULL;
    }
    g_autofree char *origin = g_path_get_basename(path);
    return plan_parse(text, length, origin, filter, error);
}

/* Embedded by the build: runner/plans/. */
extern const unsigned char runner_plan_quick[], runner_plan_default[], runner_plan_full[],
    runner_plan_seeds[];
extern const size_t runner_plan_quick_length, runner_plan_default_length, runner_plan_full_length,
    runner_plan_seeds_length;

static const struct built_in {
    const char *name;
    const unsigned char *text;
    const size_t *length;
} built_ins[] = {
    {"quick", runner_plan_quick, &runner_plan_quick_length},
    {"default", runner_plan_default, &runner_plan_default_length},
    {"full", runner_plan_full, &runner_plan_full_length},
    {"seeds", runner_plan_seeds, &runner_plan_seeds_length},
};

static const struct built_in *find_built_in(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(built_ins); i++)
        if (strcmp(built_ins[i].name, name) == 0)
            return &built_ins[i];
    return NULL;
}

bool plan_is_built_in(const char *name)
{
    return find_built_in(name) != NULL;
}

Plan *plan_built_in(const char *name, const struct plan_filter *filter, GError **error)
{
    const struct built_in *built_in = find_built_in(name);
    if (!built_in) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "there is no built-in plan %s", name);
        return NULL;
    }
    g_autofree char *origin = g_strdup_printf("the built-in plan %s", name);
    return plan_parse((const char *)built_in->text, *built_in->length, origin, filter, error);
}

bool plan_double(Plan *plan, GError **error)
{
    guint n = plan->cells->len;
    if (n > PLAN_CELLS_MAX / 2) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--aa: twice %u cells are more than the %u that a plan may have", n,
                    PLAN_CELLS_MAX);
        return false;
    }
    for (guint i = 0; i < n; i++) {
        struct cell cell = g_array_index(plan->cells, struct cell, i);
        g_array_append_val(plan->cells, cell);
    }
    plan->retries = 0;
    return true;
}

double plan_length_s(const Plan *plan)
{
    double rounds_s = (double)plan->cells->len * plan->rounds * plan->cell_ms / 1000;
    return plan->cell_ms ? MAX(rounds_s, plan->budget_seconds) : 0;
}

void plan_free(Plan *plan)
{
    if (!plan)
        return;
    g_free(plan->name);
    g_array_unref(plan->cells);
    g_free(plan);
}
