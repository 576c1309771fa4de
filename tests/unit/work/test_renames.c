/* SPDX-License-Identifier: Apache-2.0
 * Names that stand for others: one line in points, changes and filters, judged as one; and taken
 * back, everything is as it was before, to the last digit. */
#include "server/store/store_changes.h"
#include "work_fixture.h"

/* ---- Runs and renames
 * ------------------------------------------------------------------------------------------
 */

struct names {
    const char *bench, *executor, *machine;
};

static Run *named_run(struct bench_work *at, const struct names *names, guint commit, double value)
{
    Run *run = run_at(at, commit, value);
    struct run_result *result = run->results->pdata[0];
    g_free(result->bench);
    result->bench = g_strdup(names->bench);
    struct run_param *param = result->params->pdata[0];
    g_free(param->value);
    param->value = g_strdup(names->executor);
    g_free(run->machine);
    run->machine = g_strdup(names->machine);
    return run;
}

static void put_named(struct bench_work *at, const struct names *names, guint first, guint end,
                      double level)
{
    for (guint commit = first; commit < end; commit++)
        put(at, named_run(at, names, commit, noisy(level, commit)));
}

static const struct names old_names = {"Old", "fifo", "box"}, new_names = {"New", "fifo", "box"};

/* The code of the error, or -1; the message, where one is wanted. */
static int put_rename(struct bench_work *at, struct store_rename *rename, char **out_message)
{
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_rename(at->fixture.store, rename, outcome_done, &outcome);
    outcome_wait(&outcome);
    int code = outcome.code;
    if (out_message)
        *out_message = g_strdup(outcome.message);
    else
        g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
    settle(at);
    return code;
}

static struct store_rename *rename_of(enum store_rename_kind kind, const char *name,
                                      const char *target)
{
    struct store_rename *rename = g_new0(struct store_rename, 1);
    rename->kind = kind;
    rename->project = kind == STORE_RENAME_MACHINE ? NULL : g_strdup("demo");
    rename->name = g_strdup(name);
    rename->target = g_strdup(target);
    rename->values = g_ptr_array_new();
    return rename;
}

static struct store_rename *rename_value(const char *bench, const char *value, const char *target)
{
    struct store_rename *rename = rename_of(STORE_RENAME_VALUES, bench, NULL);
    struct store_value_name *name = g_new0(struct store_value_name, 1);
    *name = (struct store_value_name){g_strdup("executor"), g_strdup(value), g_strdup(target)};
    g_ptr_array_add(rename->values, name);
    return rename;
}

static void set_defaults(struct bench_work *at, const char *json)
{
    struct store_project_settings *settings = g_new0(struct store_project_settings, 1);
    settings->name = g_strdup("demo");
    settings->param_defaults_json = g_strdup(json);
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_project(at->fixture.store, settings, outcome_done, &outcome);
    outcome_wait(&outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
    settle(at);
}

/* ---- Everything that is seen, as text
 * -------------------------------------------------------------------------- */

static void dump_points(StoreSnapshot *snapshot, const struct store_series *series, GString *out)
{
    g_autoptr(GArray) points = store_series_points(snapshot, series->id, NULL);
    for (guint i = 0; i < points->len; i++) {
        const struct store_point *point = &g_array_index(points, struct store_point, i);
        g_assert_cmpint(point->series_id, ==, series->id);
        g_string_append_printf(out, " %" G_GINT64_FORMAT "=%a", point->run_seq, point->center);
    }
    g_string_append_c(out, '\n');
}

static void dump_level(StoreSnapshot *snapshot, const struct store_series *series, GString *out)
{
    struct store_level level;
    bool found;
    g_assert_true(store_series_level(snapshot, series->id, &level, &found, NULL));
    if (found)
        g_string_append_printf(out, "  level %u %u %a %a base %u %a %a\n", level.n_commits, level.n,
                               level.level, level.noise, level.base_n, level.base_level,
                               level.base_noise);
}

static void dump_changes(StoreSnapshot *snapshot, const struct store_project *project, GString *out)
{
    g_autoptr(GPtrArray) changes = store_project_changes(snapshot, project->id, 0, 1000, NULL);
    for (guint i = 0; i < changes->len; i++) {
        const struct store_change *change = changes->pdata[i];
        g_string_append_printf(
            out,
            "change %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " at %" G_GINT64_FORMAT
            " %s %s %a %a %a told %" G_GINT64_FORMAT " %s %s %s\n",
            change->id, change->series_id, change->bad_commit_id,
            store_change_kind_name(change->kind), store_change_status_name(change->status),
            change->effect, change->before, change->after, change->told_ms,
            store_triage_name(change->triage), change->note, change->who);
    }
}

static char *dump(struct bench_work *at)
{
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    GString *out = g_string_new(NULL);
    const struct store_project *project = store_project_find(snapshot, "demo");
    for (guint i = 0; i < project->benchmarks->len; i++)
        g_string_append_printf(
            out, "benchmark %s\n",
            ((const struct store_benchmark *)project->benchmarks->pdata[i])->name);
    const GPtrArray *machines = store_machines(snapshot);
    for (guint i = 0; i < machines->len; i++) {
        const struct store_machine *machine = machines->pdata[i];
        g_string_append_printf(out, "machine %s %u\n", machine->name, machine->n_runs);
    }
    for (guint i = 0; i < project->series->len; i++) {
        const struct store_series *series = project->series->pdata[i];
        g_string_append_printf(out, "series %" G_GINT64_FORMAT " %s %s %s %u %" G_GINT64_FORMAT,
                               series->id, series->benchmark->name, series->params_text,
                               series->machine->name, series->n_points, series->last_run_seq);
        dump_points(snapshot, series, out);
        dump_level(snapshot, series, out);
    }
    dump_changes(snapshot, project, out);
    return g_string_free(out, FALSE);
}

struct line {
    guint n_series, n_points, n_changes, n_commits;
    struct store_change change; /* the first; texts are not kept */
    int64_t id;
};

static struct line only_line(struct bench_work *at)
{
    struct line line = {0};
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    const struct store_project *project = store_project_find(snapshot, "demo");
    line.n_series = project->series->len;
    const struct store_series *series = project->series->pdata[0];
    line.id = series->id;
    g_autoptr(GArray) points = store_series_points(snapshot, series->id, NULL);
    line.n_points = points->len;
    g_assert_cmpuint(series->n_points, ==, points->len);
    struct store_level level;
    bool found;
    g_assert_true(store_series_level(snapshot, series->id, &level, &found, NULL));
    line.n_commits = found ? level.n_commits : 0;
    g_autoptr(GPtrArray) changes = store_project_changes(snapshot, project->id, 0, 1000, NULL);
    line.n_changes = changes->len;
    if (changes->len > 0)
        line.change = *(const struct store_change *)changes->pdata[0];
    return line;
}

static void acknowledge(struct bench_work *at, int64_t id)
{
    struct store_triage_write *write = g_new0(struct store_triage_write, 1);
    *write = (struct store_triage_write){.change_ids = g_array_new(FALSE, FALSE, sizeof(int64_t)),
                                         .has_triage = true,
                                         .triage = STORE_TRIAGE_ACKNOWLEDGED,
                                         .note = g_strdup("known"),
                                         .who = g_strdup("an engineer")};
    g_array_append_val(write->change_ids, id);
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_triage(at->fixture.store, write, outcome_done, &outcome);
    outcome_wait(&outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
    settle(at);
}

/* A step in the old name's history, and its end under the new name. */
static int64_t put_history(struct bench_work *at)
{
    put_named(at, &old_names, 0, 20, 100);
    put_named(at, &old_names, 20, 36, 130);
    int64_t change = only_line(at).change.id;
    g_assert_cmpint(change, >, 0);
    acknowledge(at, change);
    put_named(at, &new_names, 36, 50, 130);
    return change;
}

/* ---- Tests
 * ------------------------------------------------------------------------------------------------------
 */

static guint n_found(struct bench_work *at, const char *bench, const char *executor,
                     const char *machine)
{
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    struct store_filter filter = {0};
    bool more;
    filter.benches = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(filter.benches, g_strdup(bench));
    filter.machines = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(filter.machines, g_strdup(machine));
    struct store_param_filter *param = g_new0(struct store_param_filter, 1);
    param->name = g_strdup("executor");
    param->values = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(param->values, g_strdup(executor));
    filter.params = g_ptr_array_new();
    g_ptr_array_add(filter.params, param);
    g_autoptr(GPtrArray) series = store_series_select(snapshot, &filter);
    g_autoptr(GPtrArray) runs = store_runs_select(snapshot, &filter, 0, 1000, &more, NULL);
    guint n = series->len == 1 ? runs->len : 0;
    store_filter_clear(&filter);
    return n;
}

static void test_one_line(void)
{
    struct bench_work at;
    begin(&at);
    int64_t change = put_history(&at);
    g_autofree char *document = stored_document(at.fixture.store, 1);
    g_assert_cmpuint(only_line(&at).n_series, ==, 2);
    put_rename(&at, rename_of(STORE_RENAME_BENCHMARK, "Old", "New"), NULL);
    for (guint round = 0; round < 2; round++) { /* the second time after a restart */
        struct line line = only_line(&at);
        g_assert_cmpuint(line.n_series, ==, 1);
        g_assert_cmpuint(line.n_points, ==, 50);
        g_assert_cmpuint(line.n_commits, ==, 50);
        g_assert_cmpuint(line.n_changes, ==, 1); /* the names' border is none */
        g_assert_cmpint(line.change.triage, ==, STORE_TRIAGE_ACKNOWLEDGED);
        g_assert_cmpint(line.change.told_ms, >, 0);
        g_assert_cmpint(line.change.series_id, ==, line.id);
        g_assert_cmpuint(n_found(&at, "Old", "fifo", "box"), ==, 50);
        g_assert_cmpuint(n_found(&at, "New", "fifo", "box"), ==, 50);
        g_autoptr(StoreReader) reader = must_read(at.fixture.store);
        StoreSnapshot *snapshot = must_begin(reader);
        g_assert_cmpint(store_series_by_id(snapshot, 1)->id, ==, line.id); /* old links hold */
        struct store_change *shown = store_change_by_id(snapshot, change, NULL);
        g_assert_cmpint(shown->id, ==, line.change.id);
        store_change_free(shown);
        store_snapshot_end(snapshot);
        g_clear_pointer(&reader, store_reader_free);
        restart(&at);
    }
    g_autofree char *same = stored_document(at.fixture.store, 1);
    g_assert_cmpstr(same, ==, document);
    put(&at, named_run(&at, &old_names, 50, 131)); /* both names go on */
    put(&at, named_run(&at, &new_names, 51, 131));
    g_assert_cmpuint(only_line(&at).n_points, ==, 52);
    g_assert_cmpuint(only_line(&at).n_commits, ==, 52);
    end(&at);
}

static void check_undo(struct bench_work *at, struct store_rename *there, struct store_rename *back)
{
    g_autofree char *before = dump(at);
    put_rename(at, there, NULL);
    g_autofree char *joined = dump(at);
    g_assert_cmpstr(joined, !=, before);
    put_rename(at, back, NULL);
    g_autofree char *after = dump(at);
    g_assert_cmpstr(after, ==, before);
    restart(at);
    g_autofree char *restarted = dump(at);
    g_assert_cmpstr(restarted, ==, before);
}

static void test_undo(void)
{
    struct bench_work at;
    begin(&at);
    put_history(&at);
    put_named(&at, &(struct names){"Old", "fifo", "shed"}, 0, 30, 50);
    put_named(&at, &(struct names){"Old", "fifo2", "box"}, 50, 62, 130);
    check_undo(&at, rename_of(STORE_RENAME_BENCHMARK, "Old", "New"),
               rename_of(STORE_RENAME_BENCHMARK, "Old", NULL));
    check_undo(&at, rename_of(STORE_RENAME_MACHINE, "shed", "box"),
               rename_of(STORE_RENAME_MACHINE, "shed", NULL));
    check_undo(&at, rename_value("Old", "fifo2", "fifo"), rename_value("Old", "fifo2", NULL));
    struct store_rename *new_name = rename_of(STORE_RENAME_MACHINE, "shed", "hut");
    new_name->is_new = true;
    check_undo(&at, new_name, rename_of(STORE_RENAME_MACHINE, "shed", NULL));
    new_name = rename_of(STORE_RENAME_BENCHMARK, "New", "Newest");
    new_name->is_new = true;
    put_rename(&at, rename_of(STORE_RENAME_BENCHMARK, "Old", "New"), NULL);
    check_undo(&at, new_name, rename_of(STORE_RENAME_BENCHMARK, "New", NULL));
    end(&at);
}

/* What people say while names are joined is not lost when they part again. */
static void test_said_meanwhile(void)
{
    struct bench_work at;
    begin(&at);
    put_named(&at, &old_names, 0, 20, 100);
    put_named(&at, &old_names, 20, 36, 130);
    int64_t change = only_line(&at).change.id;
    put_named(&at, &new_names, 36, 40, 130);
    put_rename(&at, rename_of(STORE_RENAME_BENCHMARK, "Old", "New"), NULL);
    acknowledge(&at, change); /* by its old id */
    g_assert_cmpint(only_line(&at).change.triage, ==, STORE_TRIAGE_ACKNOWLEDGED);
    put_rename(&at, rename_of(STORE_RENAME_BENCHMARK, "Old", NULL), NULL);
    g_assert_cmpint(only_line(&at).change.id, ==, change);
    g_assert_cmpint(only_line(&at).change.triage, ==, STORE_TRIAGE_ACKNOWLEDGED);
    end(&at);
}

/* Two cases of one run would be one; names in a circle; names that are not there. */
static void test_refused(void)
{
    struct bench_work at;
    begin(&at);
    put_named(&at, &old_names, 0, 3, 100);
    Run *both = named_run(&at, &old_names, 3, 100);
    struct run_result *other = run_result_new("New");
    run_result_add_param(other, "executor", "fifo");
    struct run_metric *metric = run_metric_new("real_time", "ns", BETTER_LOWER);
    run_metric_add_sample(metric, 100);
    run_result_take_metric(other, metric);
    g_ptr_array_add(both->results, other);
    put(&at, both);
    put_named(&at, &(struct names){"Third", "fifo", "box"}, 0, 3, 100);
    g_autofree char *before = dump(&at);
    g_autofree char *shared = NULL;
    g_assert_cmpint(put_rename(&at, rename_of(STORE_RENAME_BENCHMARK, "Old", "New"), &shared), ==,
                    ERROR_CONFLICT);
    g_assert_nonnull(strstr(shared, "run run-4 holds both"));
    g_autofree char *same = dump(&at);
    g_assert_cmpstr(same, ==, before);
    put_rename(&at, rename_of(STORE_RENAME_BENCHMARK, "Third", "Old"), NULL);
    g_autofree char *circle = NULL, *self = NULL, *unknown = NULL, *known = NULL;
    g_assert_cmpint(put_rename(&at, rename_of(STORE_RENAME_BENCHMARK, "Old", "Third"), &circle), ==,
                    ERROR_CONFLICT);
    g_assert_cmpint(put_rename(&at, rename_of(STORE_RENAME_BENCHMARK, "Old", "Old"), &self), ==,
                    ERROR_CONFLICT);
    g_assert_cmpint(put_rename(&at, rename_of(STORE_RENAME_BENCHMARK, "Old", "Nwe"), &unknown), ==,
                    ERROR_NOT_FOUND);
    struct store_rename *taken = rename_of(STORE_RENAME_BENCHMARK, "Old", "New");
    taken->is_new = true;
    g_assert_cmpint(put_rename(&at, taken, &known), ==, ERROR_CONFLICT);
    g_autofree char *values = NULL;
    put_rename(&at, rename_value("New", "fifo2", "fifo"), NULL);
    g_assert_cmpint(put_rename(&at, rename_value("New", "fifo", "fifo2"), &values), ==,
                    ERROR_CONFLICT);
    end(&at);
}

/* A name that is told before the first run under it: its runs join the line at once. */
static void test_in_advance(void)
{
    struct bench_work at;
    begin(&at);
    put_named(&at, &old_names, 0, 12, 100);
    struct store_rename *rename = rename_of(STORE_RENAME_BENCHMARK, "Old", "New");
    rename->is_new = true;
    put_rename(&at, rename, NULL);
    g_assert_cmpuint(n_found(&at, "New", "fifo", "box"), ==, 12);
    int64_t id = only_line(&at).id;
    put_named(&at, &new_names, 12, 24, 100);
    settle(&at);
    g_assert_cmpuint(only_line(&at).n_series, ==, 1);
    g_assert_cmpint(only_line(&at).id, ==, id);
    g_assert_cmpuint(only_line(&at).n_commits, ==, 24);
    /* Another case of the old name, which comes later, too. */
    put_named(&at, &(struct names){"New", "steal", "box"}, 0, 6, 100);
    put_named(&at, &(struct names){"Old", "steal", "box"}, 6, 12, 100);
    settle(&at);
    g_assert_cmpuint(n_found(&at, "Old", "steal", "box"), ==, 12);
    end(&at);
}

/* A default that is told after the parameter came cuts no history. */
static void test_default(void)
{
    struct bench_work at;
    begin(&at);
    put_named(&at, &old_names, 0, 20, 100);
    for (guint commit = 20; commit < 40; commit++) {
        Run *run = named_run(&at, &old_names, commit, noisy(100, commit));
        run_result_add_param(run->results->pdata[0], "mode", "fast");
        put(&at, run);
    }
    g_assert_cmpuint(only_line(&at).n_series, ==, 2);
    g_autofree char *before = dump(&at);
    set_defaults(&at, "{\"Old\":{\"mode\":\"fast\"}}");
    struct line line = only_line(&at);
    g_assert_cmpuint(line.n_series, ==, 1);
    g_assert_cmpuint(line.n_points, ==, 40);
    g_assert_cmpuint(line.n_commits, ==, 40);
    g_assert_cmpuint(line.n_changes, ==, 0);
    set_defaults(&at, "");
    g_autofree char *after = dump(&at);
    g_assert_cmpstr(after, ==, before);
    end(&at);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/renames/one_line", test_one_line);
    g_test_add_func("/renames/undo", test_undo);
    g_test_add_func("/renames/said_meanwhile", test_said_meanwhile);
    g_test_add_func("/renames/refused", test_refused);
    g_test_add_func("/renames/in_advance", test_in_advance);
    g_test_add_func("/renames/default", test_default);
    return g_test_run();
}
