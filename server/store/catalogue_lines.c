/* SPDX-License-Identifier: Apache-2.0
 * See catalogue_lines.h. */
#include "server/store/catalogue_lines.h"
#include "server/store/catalogue_rules.h"
#include <string.h>

/* ---- The rules
 * ----------------------------------------------------------------------------------------------------
 */

/* What a benchmark's name stands for at once; NULL: for nothing else. */
static struct store_benchmark *benchmark_target(const struct line_rules *rules,
                                                const struct store_benchmark *benchmark)
{
    const struct catalogue_project *project = (struct catalogue_project *)benchmark->project;
    if (rules->benchmark && rules->project == project &&
        strcmp(rules->benchmark, benchmark->name) == 0)
        return (struct store_benchmark *)(guintptr)rules->benchmark_target;
    return g_hash_table_lookup(project->benchmark_aliases, benchmark->name);
}

struct store_benchmark *line_benchmark(const struct line_rules *rules,
                                       const struct store_benchmark *benchmark)
{
    struct store_benchmark *target;
    while ((target = benchmark_target(rules, benchmark)))
        benchmark = target;
    return (struct store_benchmark *)(guintptr)benchmark;
}

struct store_machine *line_machine(const struct line_rules *rules, struct store_machine *machine)
{
    for (;;) {
        bool is_set = rules->machine && strcmp(rules->machine, machine->name) == 0;
        struct store_machine *target =
            is_set ? rules->machine_target
                   : g_hash_table_lookup(rules->catalogue->machine_aliases, machine->name);
        if (!target)
            return machine;
        machine = target;
    }
}

char *line_value_key(const char *bench, const char *param, const char *value)
{
    return g_strconcat(bench, "\n", param, "\n", value, NULL); /* names hold no line end */
}

const char *line_value(const struct line_rules *rules, const struct store_benchmark *benchmark,
                       const char *param, const char *value)
{
    const struct catalogue_project *project = (struct catalogue_project *)benchmark->project;
    GHashTable *aliases =
        rules->values && rules->project == project ? rules->values : project->value_aliases;
    if (g_hash_table_size(aliases) == 0)
        return value;
    g_autofree char *key = line_value_key(benchmark->name, param, value);
    const char *target = g_hash_table_lookup(aliases, key);
    return target ? target : value;
}

char *line_params_text(const struct line_rules *rules, const struct store_benchmark *benchmark,
                       const GPtrArray *params)
{
    const struct store_benchmark *shown = line_benchmark(rules, benchmark);
    ParamDefaults *defaults = ((struct catalogue_project *)benchmark->project)->defaults;
    g_autofree struct run_param *values = g_new0(struct run_param, params->len + 1);
    g_autoptr(GPtrArray) kept = g_ptr_array_sized_new(params->len + 1);
    for (guint i = 0; i < params->len; i++) {
        const struct run_param *param = params->pdata[i];
        const char *own = line_value(rules, benchmark, param->name, param->value);
        const char *value = line_value(rules, shown, param->name, own);
        values[i] = (struct run_param){param->name, (char *)(guintptr)value};
        g_ptr_array_add(kept, &values[i]);
    }
    char *shorter = param_defaults_identity(defaults, shown->name, kept);
    return shorter ? shorter : run_params_text(kept);
}

/* ---- Plans
 * --------------------------------------------------------------------------------------------------------
 */

static char *names_key(const struct line_names *names)
{
    return g_strdup_printf("%" G_GINT64_FORMAT "\n%" G_GINT64_FORMAT "\n%s\n%s\n%s",
                           names->benchmark->id, names->machine->id, names->params_text,
                           names->metric, names->unit);
}

char *line_series_key(const struct store_series *series)
{
    const struct line_names names = {series->benchmark, series->machine, series->params_text,
                                     series->metric, series->unit};
    return names_key(&names);
}

static void free_group(gpointer item)
{
    struct line_group *group = item;
    if (!group)
        return;
    g_free((gpointer)(guintptr)group->names.params_text);
    g_ptr_array_unref(group->parts);
    g_free(group);
}

static bool has_rules(const struct line_rules *rules, const struct catalogue_project *project)
{
    return rules->benchmark || rules->machine || rules->values || project->defaults ||
           g_hash_table_size(project->benchmark_aliases) > 0 ||
           g_hash_table_size(project->value_aliases) > 0 ||
           g_hash_table_size(rules->catalogue->machine_aliases) > 0;
}

static void place(const struct line_rules *rules, GHashTable *by_key, GPtrArray *groups,
                  struct catalogue_series *series)
{
    struct line_names names = {
        .benchmark = line_benchmark(rules, series->pub.benchmark),
        .machine = line_machine(rules, series->pub.machine),
        .params_text = line_params_text(rules, series->pub.benchmark, series->pub.params),
        .metric = series->pub.metric,
        .unit = series->pub.unit};
    char *key = names_key(&names);
    struct line_group *group = g_hash_table_lookup(by_key, key);
    if (group) {
        g_free(key);
        g_free((gpointer)(guintptr)names.params_text);
        g_ptr_array_add(group->parts, series);
        return;
    }
    group = g_new0(struct line_group, 1);
    *group = (struct line_group){.names = names,
                                 .parts = g_ptr_array_new(),
                                 .line = g_hash_table_lookup(rules->catalogue->joined_by_key, key)};
    g_ptr_array_add(group->parts, series);
    g_ptr_array_add(groups, group);
    g_hash_table_insert(by_key, key, group);
}

/* Several series, or one that is shown under names other than its own. */
static bool is_joined(const struct line_group *group)
{
    const struct store_series *first = group->parts->pdata[0];
    const struct line_names *names = &group->names;
    return group->parts->len > 1 || first->benchmark != names->benchmark ||
           first->machine != names->machine || strcmp(first->params_text, names->params_text) != 0;
}

static void keep_groups(struct line_plan *plan, bool (*keeps)(const struct line_group *group))
{
    GPtrArray *kept = g_ptr_array_new_with_free_func(free_group);
    for (guint i = 0; i < plan->groups->len; i++) {
        if (keeps(plan->groups->pdata[i]))
            g_ptr_array_add(kept, g_steal_pointer(&plan->groups->pdata[i]));
    }
    g_ptr_array_unref(plan->groups);
    plan->groups = kept;
}

struct line_plan *line_plan_new(const struct line_rules *rules,
                                const struct catalogue_project *project)
{
    struct line_plan *plan = g_new0(struct line_plan, 1);
    plan->project = project;
    plan->groups = g_ptr_array_new_with_free_func(free_group);
    g_autoptr(GHashTable) by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const GPtrArray *all = rules->catalogue->series_by_id;
    for (guint i = 0; i < all->len; i++) {
        struct catalogue_series *series = all->pdata[i];
        const struct catalogue_project *of =
            series ? (struct catalogue_project *)series->pub.project : NULL;
        if (of && !series->is_joined && (!project || of == project) && has_rules(rules, of))
            place(rules, by_key, plan->groups, series);
    }
    keep_groups(plan, is_joined);
    return plan;
}

void line_plan_free(struct line_plan *plan)
{
    if (!plan)
        return;
    g_ptr_array_unref(plan->groups);
    g_free(plan);
}

struct catalogue_series *line_series_new(int64_t id, const struct line_names *names)
{
    struct catalogue_series *line =
        catalogue_series_new(id, names->benchmark, names->machine, names->params_text);
    line->pub.metric = g_strdup(names->metric);
    line->pub.unit = g_strdup(names->unit);
    line->is_joined = true;
    line->line = NULL; /* not shown yet */
    return line;
}

bool line_is_affected(const Catalogue *catalogue, const struct catalogue_series *series)
{
    const struct line_rules rules = {.catalogue = catalogue};
    if (!has_rules(&rules, (const struct catalogue_project *)series->pub.project))
        return false;
    g_autofree char *params_text =
        line_params_text(&rules, series->pub.benchmark, series->pub.params);
    g_autofree char *key = line_series_key(&series->pub);
    return line_benchmark(&rules, series->pub.benchmark) != series->pub.benchmark ||
           line_machine(&rules, series->pub.machine) != series->pub.machine ||
           strcmp(params_text, series->pub.params_text) != 0 ||
           g_hash_table_contains(catalogue->joined_by_key, key);
}

/* ---- Applying
 * -----------------------------------------------------------------------------------------------------
 */

static bool is_of(const struct line_plan *plan, const struct store_project *project)
{
    return !plan->project || &plan->project->pub == project;
}

/* Every series is shown as itself, no joined one is. */
static void part_all(Catalogue *catalogue, const struct line_plan *plan)
{
    for (guint i = 0; i < catalogue->series_by_id->len; i++) {
        struct catalogue_series *series = catalogue->series_by_id->pdata[i];
        if (!series || !is_of(plan, series->pub.project))
            continue;
        bool was_hidden = series->line != series;
        series->line = series->is_joined ? NULL : series;
        if (was_hidden && !series->is_joined)
            catalogue_rules_apply(series);
    }
}

static void show_group(const struct line_group *group)
{
    struct catalogue_series *line = group->line;
    g_clear_pointer(&line->pub.parts, g_ptr_array_unref);
    line->pub.parts = g_ptr_array_ref(group->parts);
    line->pub.n_points = 0;
    line->pub.last_run_seq = 0;
    line->better = BETTER_UNKNOWN;
    line->line = line;
    for (guint i = 0; i < group->parts->len; i++) {
        struct catalogue_series *part = group->parts->pdata[i];
        part->line = line;
        line->pub.n_points += part->pub.n_points;
        line->pub.last_run_seq = MAX(line->pub.last_run_seq, part->pub.last_run_seq);
        if (line->better == BETTER_UNKNOWN)
            line->better = part->better;
    }
    catalogue_rules_apply(line);
}

/* A joined series that is not shown now: whoever asks for it is given what its first part is shown
 * as. */
static void redirect_hidden(Catalogue *catalogue, const struct line_plan *plan)
{
    for (guint i = 0; i < catalogue->series_by_id->len; i++) {
        struct catalogue_series *series = catalogue->series_by_id->pdata[i];
        if (!series || !series->is_joined || series->line || !is_of(plan, series->pub.project) ||
            !series->pub.parts)
            continue;
        series->line = ((const struct catalogue_series *)series->pub.parts->pdata[0])->line;
    }
}

static void relist_series(Catalogue *catalogue, const struct line_plan *plan)
{
    for (guint i = 0; i < catalogue->benchmarks->len; i++) {
        struct store_benchmark *benchmark = catalogue->benchmarks->pdata[i];
        if (is_of(plan, benchmark->project))
            g_ptr_array_set_size(benchmark->series, 0);
    }
    for (guint i = 0; i < catalogue->projects->len; i++) {
        struct store_project *project = catalogue->projects->pdata[i];
        if (!is_of(plan, project))
            continue;
        g_ptr_array_set_size(project->series, 0);
        g_ptr_array_set_size(project->benchmarks, 0);
    }
    for (guint i = 0; i < catalogue->series_by_id->len; i++) {
        struct catalogue_series *series = catalogue->series_by_id->pdata[i];
        if (!series || series->line != series || !is_of(plan, series->pub.project))
            continue;
        g_ptr_array_add(series->pub.project->series, series);
        g_ptr_array_add(series->pub.benchmark->series, series);
    }
}

static gint compare_benchmarks(gconstpointer a, gconstpointer b)
{
    const struct store_benchmark *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

/* Benchmarks that are shown: by their own name, with a series or a case that failed. */
static void relist_benchmarks(Catalogue *catalogue, const struct line_plan *plan)
{
    const struct line_rules rules = {.catalogue = catalogue};
    g_autoptr(GHashTable) failed = g_hash_table_new(NULL, NULL);
    for (guint p = 0; p < catalogue->projects->len; p++) {
        struct catalogue_project *project = catalogue->projects->pdata[p];
        for (guint i = 0; is_of(plan, &project->pub) && i < project->cases->len; i++) {
            const struct catalogue_case *error_case = project->cases->pdata[i];
            g_hash_table_add(failed, line_benchmark(&rules, error_case->benchmark));
        }
    }
    for (guint i = 0; i < catalogue->benchmarks->len; i++) {
        struct store_benchmark *benchmark = catalogue->benchmarks->pdata[i];
        if (is_of(plan, benchmark->project) && line_benchmark(&rules, benchmark) == benchmark &&
            (benchmark->series->len > 0 || g_hash_table_contains(failed, benchmark)))
            g_ptr_array_add(benchmark->project->benchmarks, benchmark);
    }
    for (guint p = 0; p < catalogue->projects->len; p++) {
        struct store_project *project = catalogue->projects->pdata[p];
        if (is_of(plan, project))
            g_ptr_array_sort(project->benchmarks, compare_benchmarks);
    }
}

void line_plan_apply(Catalogue *catalogue, const struct line_plan *plan)
{
    part_all(catalogue, plan);
    for (guint i = 0; i < plan->groups->len; i++)
        show_group(plan->groups->pdata[i]);
    redirect_hidden(catalogue, plan);
    relist_series(catalogue, plan);
    relist_benchmarks(catalogue, plan);
    if (!plan->project)
        catalogue_relist_machines(catalogue);
}

static bool has_line(const struct line_group *group)
{
    return group->line != NULL;
}

void line_plan_restore(Catalogue *catalogue)
{
    const struct line_rules rules = {.catalogue = catalogue};
    g_autoptr(LinePlan) plan = line_plan_new(&rules, NULL);
    guint n_groups = plan->groups->len;
    keep_groups(plan, has_line);
    line_plan_apply(catalogue, plan);
    catalogue->lines_moved = plan->groups->len < n_groups;
}
