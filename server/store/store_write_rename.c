/* SPDX-License-Identifier: Apache-2.0
 * Names that stand for others, and the lines that are shown then (part of store_write.h). What was
 * found in a line that goes is handed over to what is shown in its place; nothing of it is removed,
 * so that a name that is taken back leaves everything as it was. The writer thread runs it, alone
 * in its transaction. */
#include "server/store/store_write.h"
#include <string.h>

void store_rename_free(struct store_rename *rename)
{
    if (!rename)
        return;
    for (guint i = 0; rename->values && i < rename->values->len; i++) {
        struct store_value_name *value = rename->values->pdata[i];
        g_free(value->param);
        g_free(value->value);
        g_free(value->target);
        g_free(value);
    }
    g_clear_pointer(&rename->values, g_ptr_array_unref);
    g_free(rename->project);
    g_free(rename->name);
    g_free(rename->target);
    g_free(rename);
}

static bool conflict(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool conflict(GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_CONFLICT, message);
    return false;
}

static bool not_found(GError **error, const char *what, const char *name, const char *hint)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "no %s is named \"%s\"; %s", what, name,
                hint);
    return false;
}

static struct staging_rename *staging_rename_new(struct catalogue_project *project)
{
    struct staging_rename *staged = g_new0(struct staging_rename, 1);
    staged->project = project;
    staged->fresh = g_ptr_array_new();
    return staged;
}

/* ---- Which name
 * -----------------------------------------------------------------------------------------------
 */

/* What is to be done: at the end of the chain, or nothing since it is so already. */
struct name_change {
    struct staging_rename *staged;
    struct line_rules rules;
    bool is_known; /* it was so before */
};

#define RENAME_HINT "to rename it in advance send {\"rename\": …}"

static bool find_benchmark_target(struct store_writer *writer, const struct store_rename *rename,
                                  struct name_change *change, GError **error)
{
    struct staging *staging = &writer->staging;
    struct catalogue_project *project = change->staged->project;
    struct store_benchmark *target = staging_find_benchmark(staging, project, rename->target);
    if (!target && !rename->is_new)
        return not_found(error, "benchmark", rename->target, RENAME_HINT);
    if (target && rename->is_new && g_ptr_array_find(project->pub.benchmarks, target, NULL))
        return conflict(error,
                        "a benchmark is named \"%s\" already; to show \"%s\" with it send "
                        "{\"alias_of\": …}",
                        rename->target, rename->name);
    for (const struct store_benchmark *next = target; next;
         next = g_hash_table_lookup(project->benchmark_aliases, next->name))
        if (strcmp(next->name, rename->name) == 0)
            return conflict(error, "\"%s\" stands for \"%s\" already: names in a circle",
                            rename->target, rename->name);
    if (!target)
        target = staging_add_benchmark(staging, project, rename->target);
    change->staged->benchmark_target = target;
    return true;
}

static bool plan_benchmark(struct store_writer *writer, const struct store_rename *rename,
                           struct name_change *change, GError **error)
{
    struct catalogue_project *project = change->staged->project;
    struct store_benchmark *before = g_hash_table_lookup(project->benchmark_aliases, rename->name);
    if (!staging_find_benchmark(&writer->staging, project, rename->name) && !before)
        return not_found(error, "benchmark", rename->name, "GET /api/benchmarks lists them");
    if (rename->target && !find_benchmark_target(writer, rename, change, error))
        return false;
    change->staged->benchmark = g_strdup(rename->name);
    change->rules.benchmark = rename->name;
    change->rules.benchmark_target = change->staged->benchmark_target;
    change->is_known = before == change->staged->benchmark_target;
    return true;
}

static bool find_machine_target(struct store_writer *writer, const struct store_rename *rename,
                                struct name_change *change, GError **error)
{
    const Catalogue *catalogue = writer->catalogue;
    struct store_machine *target = staging_find_machine(&writer->staging, rename->target);
    if (!target && !rename->is_new)
        return not_found(error, "machine", rename->target, RENAME_HINT);
    if (target && rename->is_new && g_ptr_array_find(catalogue->machines, target, NULL))
        return conflict(error,
                        "a machine is named \"%s\" already; to show \"%s\" with it send "
                        "{\"alias_of\": …}",
                        rename->target, rename->name);
    for (const struct store_machine *next = target; next;
         next = g_hash_table_lookup(catalogue->machine_aliases, next->name))
        if (strcmp(next->name, rename->name) == 0)
            return conflict(error, "\"%s\" stands for \"%s\" already: names in a circle",
                            rename->target, rename->name);
    if (!target)
        target = staging_add_machine(&writer->staging, rename->target);
    change->staged->machine_target = target;
    return true;
}

static bool plan_machine(struct store_writer *writer, const struct store_rename *rename,
                         struct name_change *change, GError **error)
{
    struct store_machine *before =
        g_hash_table_lookup(writer->catalogue->machine_aliases, rename->name);
    if (!staging_find_machine(&writer->staging, rename->name) && !before)
        return not_found(error, "machine", rename->name, "GET /api/machines lists them");
    if (rename->target && !find_machine_target(writer, rename, change, error))
        return false;
    change->staged->machine = g_strdup(rename->name);
    change->rules.machine = rename->name;
    change->rules.machine_target = change->staged->machine_target;
    change->is_known = before == change->staged->machine_target;
    return true;
}

/* Whether the value stands for itself in the end. */
static bool is_circle(GHashTable *values, const char *bench, const struct store_value_name *value)
{
    const char *next = value->target;
    for (guint steps = 0; next && steps <= g_hash_table_size(values); steps++) {
        if (strcmp(next, value->value) == 0)
            return true;
        g_autofree char *key = line_value_key(bench, value->param, next);
        next = g_hash_table_lookup(values, key);
    }
    return next != NULL;
}

static bool plan_values(struct store_writer *writer, const struct store_rename *rename,
                        struct name_change *change, GError **error)
{
    struct catalogue_project *project = change->staged->project;
    if (!staging_find_benchmark(&writer->staging, project, rename->name))
        return not_found(error, "benchmark", rename->name, "GET /api/benchmarks lists them");
    GHashTable *values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    change->staged->values = values;
    change->rules.values = values;
    GHashTableIter iterator;
    gpointer key, target;
    g_hash_table_iter_init(&iterator, project->value_aliases);
    while (g_hash_table_iter_next(&iterator, &key, &target))
        g_hash_table_insert(values, g_strdup(key), g_strdup(target));
    change->is_known = true;
    for (guint i = 0; i < rename->values->len; i++) {
        const struct store_value_name *value = rename->values->pdata[i];
        char *name = line_value_key(rename->name, value->param, value->value);
        if (g_strcmp0(g_hash_table_lookup(values, name), value->target) != 0)
            change->is_known = false;
        if (value->target) {
            g_hash_table_replace(values, name, g_strdup(value->target));
        } else {
            g_hash_table_remove(values, name);
            g_free(name);
        }
    }
    for (guint i = 0; i < rename->values->len; i++) {
        const struct store_value_name *value = rename->values->pdata[i];
        if (is_circle(values, rename->name, value))
            return conflict(error, "%s: \"%s\" and \"%s\" stand for each other: values in a circle",
                            value->param, value->value, value->target);
    }
    return true;
}

/* ---- The lines
 * ------------------------------------------------------------------------------------------------
 */

/* Two parts that are not shown as one yet must not share a run. */
static bool check_pair(struct store_writer *writer, const struct catalogue_series *one,
                       const struct catalogue_series *other, GError **error)
{
    int64_t seq;
    if (one->pub.machine != other->pub.machine || one->line == other->line)
        return true;
    if (!sqlite_rename_shared_run(writer->renames, one->pub.id, other->pub.id, &seq, error))
        return false;
    guint position = catalogue_runs_position(writer->catalogue->runs, seq);
    if (seq == 0 || position >= writer->catalogue->runs->len)
        return true;
    const struct store_run *run = writer->catalogue->runs->pdata[position];
    return conflict(error,
                    "run %s holds both %s %s and %s %s, which would be one case of one run; they "
                    "stay apart",
                    run->id, one->pub.benchmark->name, one->pub.params_text,
                    other->pub.benchmark->name, other->pub.params_text);
}

static bool check_plan(struct store_writer *writer, const LinePlan *plan, GError **error)
{
    for (guint i = 0; i < plan->groups->len; i++) {
        const struct line_group *group = plan->groups->pdata[i];
        for (guint a = 0; a < group->parts->len; a++)
            for (guint b = a + 1; b < group->parts->len; b++)
                if (!check_pair(writer, group->parts->pdata[a], group->parts->pdata[b], error))
                    return false;
    }
    return true;
}

static guint n_parts(const struct catalogue_series *series)
{
    return series->pub.parts ? series->pub.parts->len : 1;
}

static bool hand_over(struct store_writer *writer, const struct catalogue_series *from,
                      const struct catalogue_series *to, guint n_parts_to, GError **error)
{
    const struct sqlite_handover handover = {from->pub.id, to->pub.id, n_parts_to < n_parts(from)};
    return sqlite_rename_hand_over(writer->renames, writer->verdicts, &handover, error);
}

static bool rejudge(struct store_writer *writer, const struct catalogue_series *line,
                    guint *inout_lines, GError **error)
{
    ++*inout_lines;
    return sqlite_verdict_add_rejudge(writer->verdicts, line->pub.id, error);
}

/* What the parts of a group were shown as until now hands over to its line. */
static bool write_group(struct store_writer *writer, struct line_group *group, GPtrArray *fresh,
                        guint *inout_lines, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    if (!group->line) {
        group->line = line_series_new(++writer->catalogue->last.series, &group->names);
        g_ptr_array_add(fresh, group->line);
        if (!sqlite_rename_add_joined(writer->renames, group->line, error))
            return false;
    }
    for (guint i = 0; i < group->parts->len; i++) {
        const struct catalogue_series *part = group->parts->pdata[i];
        if (part->line == group->line || !g_hash_table_add(seen, part->line))
            continue;
        if (!hand_over(writer, part->line, group->line, group->parts->len, error))
            return false;
    }
    return g_hash_table_size(seen) == 0 || rejudge(writer, group->line, inout_lines, error);
}

/* Series that are shown by themselves again. */
static bool write_parted(struct store_writer *writer, const LinePlan *plan, guint *inout_lines,
                         GError **error)
{
    g_autoptr(GHashTable) grouped = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < plan->groups->len; i++) {
        const struct line_group *group = plan->groups->pdata[i];
        for (guint p = 0; p < group->parts->len; p++)
            g_hash_table_add(grouped, group->parts->pdata[p]);
    }
    const GPtrArray *all = writer->catalogue->series_by_id;
    for (guint i = 0; i < all->len; i++) {
        const struct catalogue_series *series = all->pdata[i];
        if (!series || series->is_joined || series->line == series ||
            g_hash_table_contains(grouped, series) ||
            (plan->project && &plan->project->pub != series->pub.project))
            continue;
        if (!hand_over(writer, series->line, series, 1, error) ||
            !rejudge(writer, series, inout_lines, error))
            return false;
    }
    return true;
}

static bool write_plan(struct store_writer *writer, struct staging_rename *staged, guint *out_lines,
                       GError **error)
{
    bool fine = true;
    *out_lines = 0;
    for (guint i = 0; fine && i < staged->plan->groups->len; i++)
        fine = write_group(writer, staged->plan->groups->pdata[i], staged->fresh, out_lines, error);
    return fine && write_parted(writer, staged->plan, out_lines, error);
}

/* A machine's series, or a default's, are of any project. */
static void touch_all(struct store_writer *writer)
{
    for (guint i = 0; i < writer->catalogue->projects->len; i++)
        staging_touch(&writer->staging,
                      ((const struct store_project *)writer->catalogue->projects->pdata[i])->id);
}

bool store_write_lines(struct store_writer *writer, GError **error)
{
    const struct line_rules rules = {.catalogue = writer->catalogue};
    struct staging_rename *staged = staging_rename_new(NULL);
    guint n_lines;
    staged->plan = line_plan_new(&rules, NULL);
    staging_rename(&writer->staging, staged);
    if (!write_plan(writer, staged, &n_lines, error))
        return false;
    touch_all(writer);
    return true;
}

/* ---- The whole
 * ------------------------------------------------------------------------------------------------
 */

static bool write_names(struct store_writer *writer, const struct store_rename *rename,
                        const struct staging_rename *staged, guint mark, GError **error)
{
    for (guint i = mark; i < writer->staging.changes->len; i++) {
        const struct staging_change *change = writer->staging.changes->pdata[i];
        if ((change->kind == STAGED_BENCHMARK &&
             !sqlite_writer_add_benchmark(writer->rows, change->object, error)) ||
            (change->kind == STAGED_MACHINE &&
             !sqlite_writer_add_machine(writer->rows, change->object, error)))
            return false;
    }
    if (rename->kind == STORE_RENAME_BENCHMARK)
        return sqlite_rename_benchmark(writer->renames, staged->project->pub.id, rename->name,
                                       staged->benchmark_target, error);
    if (rename->kind == STORE_RENAME_MACHINE)
        return sqlite_rename_machine(writer->renames, rename->name, staged->machine_target, error);
    bool fine = true;
    for (guint i = 0; fine && i < rename->values->len; i++) {
        const struct store_value_name *value = rename->values->pdata[i];
        const struct sqlite_value_name name = {staged->project->pub.id, rename->name, value->param,
                                               value->value};
        fine = sqlite_rename_value(writer->renames, &name, value->target, error);
    }
    return fine;
}

static bool find_names(struct store_writer *writer, const struct store_rename *rename,
                       struct name_change *change, GError **error)
{
    struct catalogue_project *project =
        rename->project ? staging_find_project(&writer->staging, rename->project) : NULL;
    if (rename->project && !project)
        return not_found(error, "project", rename->project, "GET /api/projects lists them");
    change->staged = staging_rename_new(project);
    change->rules = (struct line_rules){.catalogue = writer->catalogue, .project = project};
    return rename->kind == STORE_RENAME_BENCHMARK ? plan_benchmark(writer, rename, change, error)
           : rename->kind == STORE_RENAME_MACHINE ? plan_machine(writer, rename, change, error)
                                                  : plan_values(writer, rename, change, error);
}

bool store_write_rename(struct store_writer *writer, struct store_write *write, GError **error)
{
    const struct store_rename *rename = write->rename;
    guint mark = writer->staging.changes->len;
    struct name_change change = {0};
    bool fine = find_names(writer, rename, &change, error);
    if (fine && !change.is_known) {
        change.staged->plan = line_plan_new(&change.rules, change.staged->project);
        fine = check_plan(writer, change.staged->plan, error);
    }
    if (!fine || change.is_known) {
        write->receipt.outcome = STORE_UNCHANGED;
        g_clear_pointer(&change.staged, staging_rename_free);
        return fine;
    }
    struct staging_rename *staged = change.staged;
    fine = write_names(writer, rename, staged, mark, error);
    staging_rename(&writer->staging, staged); /* whose undo frees it */
    write->receipt.outcome = STORE_UPDATED;
    if (!fine || !write_plan(writer, staged, &write->receipt.n_series, error))
        return false;
    if (!staged->project)
        touch_all(writer);
    return true;
}

bool store_write_shown_change(struct store_writer *writer, int64_t id, int64_t *out, GError **error)
{
    struct store_change *change = sqlite_verdict_change(writer->verdicts, id, error);
    if (!change)
        return false;
    *out = id;
    const struct catalogue_series *series =
        (struct catalogue_series *)catalogue_series_at(writer->catalogue, change->series_id);
    store_change_free(change);
    if (!series || series->line == series)
        return true;
    g_autoptr(GArray) twins = sqlite_rename_twins(writer->renames, id, error);
    for (guint i = 0; twins && i < twins->len; i++) {
        int64_t twin_id = g_array_index(twins, int64_t, i);
        struct store_change *twin = sqlite_verdict_change(writer->verdicts, twin_id, NULL);
        const struct catalogue_series *of =
            twin
                ? (struct catalogue_series *)catalogue_series_at(writer->catalogue, twin->series_id)
                : NULL;
        store_change_free(twin);
        if (of && of->line == of)
            *out = twin_id;
    }
    return twins != NULL;
}
