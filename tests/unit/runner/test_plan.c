/* SPDX-License-Identifier: Apache-2.0
 * Plans: the built-in ones, the file's form, filters, and faults of one line that name what is
 * wrong. */
#include "runner/plan.h"
#include <string.h>

static const struct plan_filter no_filter;

static Plan *parse(const char *text, const struct plan_filter *filter, char **out_message)
{
    g_autoptr(GError) error = NULL;
    Plan *plan = plan_parse(text, strlen(text), "test.plan", filter, &error);
    g_assert_true((plan == NULL) == (error != NULL));
    if (error) {
        g_assert_null(strchr(error->message, '\n'));
        *out_message = g_strdup(error->message);
    }
    return plan;
}

/* The cells' names, joined by spaces. */
static char *cell_names(const Plan *plan)
{
    GString *names = g_string_new(NULL);
    for (guint i = 0; i < plan->cells->len; i++) {
        const struct cell *cell = &g_array_index(plan->cells, struct cell, i);
        g_autofree char *name = bench_case_name(cell->bench, &cell->values);
        g_string_append_printf(names, "%s%s", i ? " " : "", name);
    }
    return g_string_free(names, FALSE);
}

#define HEAD "[plan]\nname = t\nrounds = 2\n"

static void test_built_in(void)
{
    g_autoptr(Plan) quick = plan_built_in("quick", &no_filter, NULL);
    g_autoptr(Plan) whole = plan_built_in("default", &no_filter, NULL);
    g_assert_cmpstr(quick->name, ==, "quick");
    g_assert_cmpuint(quick->rounds, ==, 3);
    g_assert_cmpuint(quick->budget_seconds, ==, 45);
    g_assert_cmpstr(whole->name, ==, "default");
    g_assert_cmpuint(whole->budget_seconds, ==, 280);
    /* WorkloadCost 3, ThreadPoolSpawn direct 3 and fifo 12, SerialTaskGroup 3, ThreadedTaskGroup 12
     */
    g_assert_cmpuint(quick->cells->len, ==, 33);
    /* and ThreadPoolSpawn on steal, three latencies on three executors with two pauses */
    g_assert_cmpuint(whole->cells->len, ==, 33 + 12 + 18 + 2);
    /* Each says what a cell may take; the default plan is five minutes at most. */
    const char *const names[] = {"quick", "default", "full", "seeds"};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(Plan) plan = plan_built_in(names[i], &no_filter, NULL);
        g_assert_true(plan_is_built_in(names[i]));
        g_assert_cmpstr(plan->name, ==, names[i]);
        g_assert_cmpuint(plan->cell_ms, >, 0);
        g_assert_cmpfloat(plan_length_s(plan), >, 0);
    }
    g_assert_cmpfloat(plan_length_s(quick), <=, 45);
    g_assert_cmpfloat(plan_length_s(whole), <=, 300);
    g_assert_false(plan_is_built_in("quick.plan"));
}

/* Every executor that is there, where it can be: the others are passed over, not faults. */
static void test_installed(void)
{
    g_autoptr(Plan) plan = parse(HEAD "[cells a]\nbench=ThreadedTaskGroup,ThreadPoolSpawn\n"
                                      "executor=installed\nthreads=2\ntask-cost=1000\n",
                                 &no_filter, NULL);
    g_autofree char *names = cell_names(plan);
    g_assert_nonnull(strstr(names, "ThreadPoolSpawn/executor:direct/task_cost:1000"));
    g_assert_null(strstr(names, "ThreadedTaskGroup/executor:direct"));
    g_assert_nonnull(strstr(names, " ThreadPoolSpawn/executor:fifo/threads:2/task_cost:1000"));
}

static void test_lists_are_multiplied_out(void)
{
    g_autoptr(Plan) plan =
        parse("# comment\n" HEAD "samples = 4 # of each cell\nsample-ms=7\ntimeout=9\n"
              "[cells a]\nbench=ThreadPoolSpawn\nexecutor = direct, fifo\nthreads=1, "
              "3\ntask-cost=1000,2000\n"
              "[cells]\nbench=WorkloadCost\ntask-cost = 5000\n",
              &no_filter, NULL);
    g_assert_cmpuint(plan->samples, ==, 4);
    g_assert_cmpuint(plan->sample_ms, ==, 7);
    g_assert_cmpuint(plan->timeout_seconds, ==, 9);
    g_autofree char *names = cell_names(plan);
    g_assert_cmpstr(
        names, ==,
        "ThreadPoolSpawn/executor:direct/task_cost:1000 "
        "ThreadPoolSpawn/executor:direct/task_cost:2000 "
        "ThreadPoolSpawn/executor:fifo/threads:1/task_cost:1000 "
        "ThreadPoolSpawn/executor:fifo/threads:1/task_cost:2000 "
        "ThreadPoolSpawn/executor:fifo/threads:3/task_cost:1000 "
        "ThreadPoolSpawn/executor:fifo/threads:3/task_cost:2000 WorkloadCost/task_cost:5000");
}

static void test_defaults_of_a_group(void)
{
    g_autoptr(Plan) plan =
        parse(HEAD "[cells a]\nbench = SerialTaskGroup, ThreadedTaskGroup\n", &no_filter, NULL);
    g_assert_cmpuint(plan->cells->len, ==, 3 + 12);
}

/* Placement is a parameter of every benchmark; what is not bound has none. */
static void test_placement(void)
{
    g_autoptr(Plan) plan =
        parse(HEAD "[cells a]\nbench=ThreadPoolSpawn\nexecutor=fifo\nthreads=2\ntask-cost=1000\n"
                   "placement = none, compact, pu:0\n",
              &no_filter, NULL);
    g_autofree char *names = cell_names(plan);
    g_assert_cmpstr(names, ==,
                    "ThreadPoolSpawn/executor:fifo/threads:2/task_cost:1000 "
                    "ThreadPoolSpawn/executor:fifo/threads:2/task_cost:1000/placement:compact "
                    "ThreadPoolSpawn/executor:fifo/threads:2/task_cost:1000/placement:pu:0");
    g_autoptr(GPtrArray) params = g_ptr_array_new();
    g_ptr_array_add(params, (gpointer)(guintptr) "placement=scatter");
    const struct plan_filter filter = {.params = params};
    g_autoptr(Plan) filtered =
        parse(HEAD "[cells a]\nbench=WorkloadCost\ntask-cost=1000\n", &filter, NULL);
    g_autofree char *filtered_names = cell_names(filtered);
    g_assert_cmpstr(filtered_names, ==, "WorkloadCost/task_cost:1000/placement:scatter");
}

static void assert_param_refused(const char *assignment, const char *words)
{
    g_autoptr(GPtrArray) params = g_ptr_array_new();
    g_ptr_array_add(params, (gpointer)(guintptr)assignment);
    const struct plan_filter filter = {.params = params};
    g_autofree char *message = NULL;
    g_assert_null(parse(HEAD "[cells a]\nbench=WorkloadCost\ntask-cost=1000\n", &filter, &message));
    g_assert_nonnull(strstr(message, words));
}

static void test_param_faults(void)
{
    assert_param_refused("placment=compact", "did you mean placement");
    assert_param_refused("placement", "a value is missing");
    assert_param_refused("placement=", "a value is missing");
    assert_param_refused("placement=near", "must be none, compact, scatter or pu:N");
}

static void test_faults(void)
{
    static const struct {
        const char *text;
        const char *parts[3];
    } cases[] = {
        {"", {"[plan]", NULL}},
        {"nonsense", {"test.plan", NULL}},
        {HEAD, {"no cells", NULL}},
        {"[plan]\nrounds=2\n[cells a]\nbench=WorkloadCost\n", {"name is missing", NULL}},
        {"[plan]\nname = a b\nrounds=2\n", {"name cannot be used", NULL}},
        {"[plan]\nname = t\n[cells a]\nbench=WorkloadCost\n", {"rounds is missing", NULL}},
        {"[plan]\nname = t\nrounds = many\n", {"rounds = many", "1 to 1000", NULL}},
        {"[plan]\nname = t\nrounds = 0\n", {"rounds = 0", NULL}},
        {HEAD "sample-ms = 0\n", {"sample-ms = 0", NULL}},
        {HEAD "round = 3\n", {"\"round\"", "did you mean rounds?", NULL}},
        {HEAD "rounds = 3\n", {"line 4", "rounds is there twice", NULL}},
        {HEAD "[cells a]\nbench=WorkloadCost\n[cells a]\nbench=WorkloadCost\n",
         {"[cells a]", "twice", NULL}},
        {HEAD "[cell a]\nbench=WorkloadCost\n", {"[cell a]", NULL}},
        {HEAD "[cells a]\nexecutor=fifo\n", {"[cells a]", "bench is missing", NULL}},
        {HEAD "[cells a]\nbench=WorkloadCost\ncost=3\n", {"\"cost\"", NULL}},
        {HEAD "[cells a]\nbench=ThreadPoolSpwan\n",
         {"\"ThreadPoolSpwan\"", "did you mean ThreadPoolSpawn?", NULL}},
        {HEAD "[cells a]\nbench=ThreadPoolSpawn\nexecutor=fito\n",
         {"\"fito\"", "did you mean fifo?", NULL}},
        {HEAD "[cells a]\nbench=ThreadPoolSpawn\nexecutor=fifo,\n", {"empty item", NULL}},
        {HEAD "[cells a]\nbench=ThreadPoolSpawn\nthreads=0\n", {"threads", "\"0\"", NULL}},
        {HEAD "[cells a]\nbench=ThreadPoolSpawn\nthreads=2.5\n", {"threads", "\"2.5\"", NULL}},
        {HEAD "[cells a]\nbench=ThreadPoolSpawn\ntask-cost=x\n", {"task-cost", "\"x\"", NULL}},
        {HEAD "[cells a]\nbench=ThreadPoolSpawn\ntask-cost=1\n", {"[cells a]", "task_cost", NULL}},
        {HEAD "[cells a]\nbench=ThreadedTaskGroup\nexecutor=direct\n",
         {"ThreadedTaskGroup", "direct", NULL}},
        {HEAD "[cells a]\nbench=WorkloadCost\nexecutor=fifo\n",
         {"WorkloadCost takes no executor", NULL}},
        {HEAD "[cells a]\nbench=WorkloadCost\n[cells b]\nbench=WorkloadCost\n",
         {"[cells b]", "WorkloadCost/task_cost:1000", "twice"}},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *message = NULL;
        g_autoptr(Plan) plan = parse(cases[i].text, &no_filter, &message);
        if (plan)
            g_error("accepted: %s", cases[i].text);
        for (gsize p = 0; p < 3 && cases[i].parts[p]; p++)
            if (!strstr(message, cases[i].parts[p]))
                g_error("%s: \"%s\" lacks \"%s\"", cases[i].text, message, cases[i].parts[p]);
    }
}

static void test_no_plan_at_all(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(plan_parse("[plan]\0name=x", 13, "zero.plan", &no_filter, &error));
    g_assert_nonnull(strstr(error->message, "zero.plan"));
    g_clear_error(&error);
    g_assert_null(plan_parse("\xff", 1, "bytes.plan", &no_filter, &error));
    g_clear_error(&error);
    g_assert_null(plan_read_file("/nonexistent/x.plan", &no_filter, &error));
    g_assert_nonnull(strstr(error->message, "/nonexistent/x.plan"));
}

static GPtrArray *list_of(const char *text)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) items = g_strsplit(text, ",", -1);
    for (char **item = items; *item; item++)
        g_ptr_array_add(list, g_strdup(*item));
    return list;
}

/* The quick plan's cells under the filters ("" for none): their names, or the message. */
static char *filtered(const char *bench, const char *executor, const char *threads,
                      const char *cost)
{
    GPtrArray *lists[4] = {list_of(bench), list_of(executor), list_of(threads), list_of(cost)};
    struct plan_filter filter = {
        .benches = *bench ? lists[0] : NULL,
        .executors = *executor ? lists[1] : NULL,
        .threads = *threads ? lists[2] : NULL,
        .task_costs = *cost ? lists[3] : NULL,
    };
    g_autoptr(GError) error = NULL;
    g_autoptr(Plan) plan = plan_built_in("quick", &filter, &error);
    char *text = plan ? cell_names(plan) : g_strconcat("! ", error->message, NULL);
    for (int i = 0; i < 4; i++)
        g_ptr_array_unref(lists[i]);
    return text;
}

static void test_filters(void)
{
    static const struct {
        const char *bench, *executor, *threads, *cost, *names;
    } cases[] = {
        {"WorkloadCost", "", "", "1000", "WorkloadCost/task_cost:1000"},
        {"", "direct", "", "1000",
         "ThreadPoolSpawn/executor:direct/task_cost:1000 "
         "SerialTaskGroup/executor:direct/task_cost:1000"},
        /* values that the plan does not hold take the place of its own */
        {"ThreadPoolSpawn", "fifo", "3", "5000",
         "ThreadPoolSpawn/executor:fifo/threads:3/task_cost:5000"},
        /* a cell without the parameter does not match */
        {"", "", "2", "1000",
         "ThreadPoolSpawn/executor:fifo/threads:2/task_cost:1000 "
         "ThreadedTaskGroup/executor:fifo/threads:2/task_cost:1000"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *names =
            filtered(cases[i].bench, cases[i].executor, cases[i].threads, cases[i].cost);
        g_assert_cmpstr(names, ==, cases[i].names);
    }
}

static void test_filters_leave_nothing_out_in_silence(void)
{
    static const struct {
        const char *bench, *executor, *threads, *cost, *part;
    } cases[] = {
        {"Nothing", "", "", "", "--bench: there is no benchmark \"Nothing\""},
        {"", "nothing", "", "", "--executor: there is no executor \"nothing\""},
        {"", "", "0", "", "--threads: threads \"0\""},
        {"", "", "x", "", "--threads: threads \"x\""},
        {"", "", "", "-1", "--task-cost: task-cost \"-1\""},
        {"", "", "", "1,1000", "--task-cost 1: "},
        {"WorkloadCost,ThreadPoolSpawn", "", "2", "", "--bench WorkloadCost: "},
        {"WorkloadCost", "fifo", "", "", "--bench WorkloadCost: "},
        {"ThreadPoolSpawn", "direct", "2", "", "takes no threads"},
        {"ThreadedTaskGroup", "direct", "", "", "direct"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text =
            filtered(cases[i].bench, cases[i].executor, cases[i].threads, cases[i].cost);
        if (*text != '!' || !strstr(text, cases[i].part))
            g_error("case %zu: \"%s\" lacks \"%s\"", i, text, cases[i].part);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/plan/built-in", test_built_in);
    g_test_add_func("/plan/installed", test_installed);
    g_test_add_func("/plan/lists", test_lists_are_multiplied_out);
    g_test_add_func("/plan/group-defaults", test_defaults_of_a_group);
    g_test_add_func("/plan/placement", test_placement);
    g_test_add_func("/plan/param-faults", test_param_faults);
    g_test_add_func("/plan/faults", test_faults);
    g_test_add_func("/plan/no-plan", test_no_plan_at_all);
    g_test_add_func("/plan/filters", test_filters);
    g_test_add_func("/plan/filters-not-silent", test_filters_leave_nothing_out_in_silence);
    return g_test_run();
}
