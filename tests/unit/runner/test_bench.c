/* SPDX-License-Identifier: Apache-2.0
 * The benchmarks: which cases can be, what an iteration is, and that a wrong executor cannot pass
 * for a fast one. */
#include "runner/benches/bench.h"
#include "runner/benches/bench_task.h"
#include "runner/benches/spawn_round.h"
#include "runner/executors/executors.h"
#include "schema/error.h"
#include "tests/unit/runner/sanitized.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct bench_case case_of(const char *executor, uint32_t threads, uint64_t task_cost)
{
    struct bench_case cell = {.threads = threads, .task_cost = task_cost};
    g_strlcpy(cell.executor, executor, sizeof cell.executor);
    return cell;
}

static void test_tables(void)
{
    const char *const names[] = {"WorkloadCost", "SerialTaskGroup", "ThreadPoolSpawn",
                                 "ThreadedTaskGroup"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        const struct bench *bench = bench_find(names[i]);
        g_assert_nonnull(bench);
        g_assert_cmpstr(bench->name, ==, names[i]);
        g_assert_cmpuint(bench->version, >=, 1);
        g_auto(GStrv) listed = g_strsplit(bench->executors, ",", -1);
        for (char **name = listed; *name; name++) {
            g_assert_nonnull(executor_find(*name));
        }
    }
    g_assert_null(bench_find("ThreadPool"));
    g_assert_null(executor_find("tpp"));
    g_autofree char *executor_list = executor_names();
    g_assert_true(g_str_has_prefix(executor_list, "direct, "));
    g_autofree char *bench_list = bench_names();
    g_assert_true(g_str_has_prefix(
        bench_list, "WorkloadCost, SerialTaskGroup, ThreadPoolSpawn, ThreadedTaskGroup"));
}

static void assert_name(const char *bench, struct bench_case cell, const char *expected)
{
    g_autofree char *name = bench_case_name(bench_find(bench), &cell);
    g_assert_cmpstr(name, ==, expected);
}

static void test_names(void)
{
    assert_name("ThreadPoolSpawn", case_of("fifo", 4, 1000),
                "ThreadPoolSpawn/executor:fifo/threads:4/task_cost:1000");
    assert_name("ThreadPoolSpawn", case_of("direct", 0, 1000),
                "ThreadPoolSpawn/executor:direct/task_cost:1000");
    assert_name("WorkloadCost", case_of("", 0, 100000), "WorkloadCost/task_cost:100000");
}

/* As many tasks as Arrow's benchmark submits. */
static void test_items_per_iteration(void)
{
    const struct {
        uint64_t task_cost, spawn, group;
    } cases[] = {{1000, 200001, 10001}, {10000, 20001, 1001}, {100000, 2001, 101}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct bench_case cell = case_of("fifo", 1, cases[i].task_cost);
        g_assert_cmpuint(bench_thread_pool_spawn.items_per_iteration(&cell), ==, cases[i].spawn);
        g_assert_cmpuint(bench_threaded_task_group.items_per_iteration(&cell), ==, cases[i].group);
        g_assert_cmpuint(bench_serial_task_group.items_per_iteration(&cell), ==, cases[i].group);
        g_assert_cmpuint(bench_workload_cost.items_per_iteration(&cell), ==, 1);
    }
}

static void assert_refused(const char *bench, struct bench_case cell, enum breakeven_error kind,
                           const char *words)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(bench_case_check(bench_find(bench), &cell, &error));
    g_assert_error(error, BREAKEVEN_ERROR, (int)kind);
    if (!strstr(error->message, words)) {
        g_error("\"%s\" does not say \"%s\"", error->message, words);
    }
}

static void test_case_check(void)
{
    const struct {
        const char *bench, *executor;
        uint32_t threads;
    } good[] = {{"WorkloadCost", "", 0},
                {"SerialTaskGroup", "direct", 0},
                {"ThreadPoolSpawn", "direct", 0},
                {"ThreadPoolSpawn", "fifo", 8},
                {"ThreadedTaskGroup", "fifo", 1}};
    for (unsigned i = 0; i < G_N_ELEMENTS(good); i++) {
        struct bench_case cell = case_of(good[i].executor, good[i].threads, 1000);
        g_assert_true(bench_case_check(bench_find(good[i].bench), &cell, NULL));
    }
    assert_refused("ThreadPoolSpawn", case_of("fifo", 0, 1000), ERROR_INVALID,
                   "threads must be 1 to 1024, not 0");
    assert_refused("ThreadPoolSpawn", case_of("fifo", 1025, 1000), ERROR_INVALID, "not 1025");
    assert_refused("ThreadPoolSpawn", case_of("direct", 2, 1000), ERROR_INVALID,
                   "executor direct takes no threads");
    assert_refused("ThreadPoolSpawn", case_of("tpp", 2, 1000), ERROR_NOT_FOUND,
                   "there are direct, ");
    assert_refused("ThreadPoolSpawn", case_of("", 2, 1000), ERROR_INVALID, "needs an executor");
    assert_refused("ThreadPoolSpawn", case_of("fifo", 2, 0), ERROR_INVALID,
                   "task_cost must be 32 to");
    assert_refused("ThreadPoolSpawn", case_of("fifo", 2, 1u << 31), ERROR_INVALID,
                   "task_cost must be");
    assert_refused("WorkloadCost", case_of("fifo", 0, 1000), ERROR_INVALID, "takes no executor");
    assert_refused("WorkloadCost", case_of("", 2, 1000), ERROR_INVALID, "takes no threads");
    assert_refused("SerialTaskGroup", case_of("fifo", 0, 1000), ERROR_INVALID,
                   "runs on executor direct only");
    assert_refused("ThreadedTaskGroup", case_of("direct", 0, 1000), ERROR_INVALID,
                   "ThreadedTaskGroup needs an executor that has threads; direct does not");
}

static void assert_measures(const char *name, struct bench_case cell, uint64_t iterations)
{
    const struct bench *bench = bench_find(name);
    struct bench_timing timing = {0};
    GError *error = NULL;
    void *state = NULL;
    g_assert_true(bench->setup(&state, &cell, &error));
    g_assert_no_error(error);
    g_assert_true(bench->iterate(state, iterations, &timing, &error));
    g_assert_no_error(error);
    g_assert_true(bench->iterate(state, 1, &timing, &error));
    bench->teardown(state);
    g_assert_cmpuint(timing.iterations, ==, iterations + 1);
    g_assert_cmpuint(timing.items, ==, (iterations + 1) * bench->items_per_iteration(&cell));
    g_assert_cmpuint(timing.wall_ns, >, 0);
    g_assert_cmpuint(timing.cpu_ns, >, 0);
}

static void test_benches_measure(void)
{
    assert_measures("WorkloadCost", case_of("", 0, 1000), 500);
    assert_measures("SerialTaskGroup", case_of("direct", 0, 50000), 3);
    assert_measures("ThreadedTaskGroup", case_of("fifo", 3, 50000), 5);
    assert_measures("ThreadPoolSpawn", case_of("direct", 0, 10000000), 1);
    assert_measures("ThreadPoolSpawn", case_of("fifo", 2, 1000000), 1);
}

/* An executor with faults, on top of a plain call. */
static struct {
    uint64_t submitted;
    int create_result, submit_result, shutdown_result;
    const char *message;
    enum { FAULT_NONE, FAULT_LOSES, FAULT_REPEATS, FAULT_SWAPS, FAULT_REFUSES } fault;
    int destroyed;
} faulty;

static int faulty_create(void **out_self, const struct executor_config *config, char *message,
                         size_t message_size)
{
    g_assert_cmpuint(config->size, ==, sizeof *config);
    *out_self = &faulty;
    if (faulty.create_result && faulty.message) {
        snprintf(message, message_size, "%s", faulty.message);
    }
    return faulty.create_result;
}

static int faulty_submit(void *self, executor_task_fn task, void *argument)
{
    static void *previous;
    bool hit = faulty.submitted++ == 500;
    g_assert_true(self == &faulty);
    if (hit && faulty.fault == FAULT_REFUSES) {
        return faulty.submit_result;
    }
    if (hit && faulty.fault == FAULT_LOSES) {
        return 0;
    }
    if (hit && faulty.fault == FAULT_REPEATS) {
        task(argument);
    }
    task(hit && faulty.fault == FAULT_SWAPS ? previous : argument);
    previous = argument;
    return 0;
}

static int faulty_shutdown(void *self)
{
    (void)self;
    return faulty.shutdown_result;
}

static void faulty_destroy(void *self)
{
    (void)self;
    faulty.destroyed++;
}

static const struct executor_ops faulty_ops = {
    .abi = EXECUTOR_ABI,
    .size = sizeof faulty_ops,
    .capabilities = EXECUTOR_NO_THREADS,
    .name = "faulty",
    .version = "",
    .create = faulty_create,
    .submit = faulty_submit,
    .wait_all = faulty_shutdown,
    .shutdown = faulty_shutdown,
    .destroy = faulty_destroy,
};

/* Runs 1000 tasks on the executor; NULL where that is well. */
static char *faulty_complaint(void)
{
    const struct workload *workload = bench_task_prepare(64);
    const struct spawn_round round = {.ops = &faulty_ops,
                                      .config = {.size = sizeof round.config, .threads = 1},
                                      .n_tasks = 1000,
                                      .passes_per_task = workload->passes};
    struct bench_timing timing = {0};
    g_autoptr(GError) error = NULL;
    faulty.submitted = 0;
    faulty.destroyed = 0;
    bool well = spawn_round_iterate(&round, 2, &timing, &error);
    g_assert_true(well == !error);
    return error ? g_strdup(error->message) : NULL;
}

static void assert_complaint(const char *words)
{
    g_autofree char *complaint = faulty_complaint();
    g_assert_nonnull(complaint);
    if (!strstr(complaint, words)) {
        g_error("\"%s\" does not say \"%s\"", complaint, words);
    }
}

static void test_wrong_executors(void)
{
    g_autofree char *none = faulty_complaint();
    g_assert_null(none);
    g_assert_cmpint(faulty.destroyed, ==, 2);

    faulty.fault = FAULT_LOSES;
    assert_complaint("1000 tasks were submitted, 999 ran");
    faulty.fault = FAULT_REPEATS;
    assert_complaint("1000 tasks were submitted, 1001 ran");
    faulty.fault = FAULT_SWAPS;
    assert_complaint("lost some and ran others twice");
    faulty.fault = FAULT_REFUSES;
    faulty.submit_result = -EAGAIN;
    assert_complaint("executor faulty: submit failed: Resource temporarily unavailable");
    g_assert_cmpint(faulty.destroyed, ==, 1);
    faulty.submit_result = 17;
    assert_complaint("no -errno");
    faulty.fault = FAULT_NONE;
    faulty.shutdown_result = -EDEADLK;
    assert_complaint("executor faulty: shutdown failed");
    faulty.shutdown_result = 0;
    faulty.create_result = -ENOMEM;
    assert_complaint("executor faulty: create failed: Cannot allocate memory");
    g_assert_cmpint(faulty.destroyed, ==, 0);
    faulty.message = "needs a licence";
    assert_complaint("executor faulty: needs a licence");
}

static void count_task(void *counter)
{
    g_atomic_int_inc((gint *)counter);
}

struct contract {
    const struct executor_ops *ops;
    void *self;
    gint ran;
};

static void run_contract(void *context)
{
    struct contract *contract = context;
    int before = g_atomic_int_get(&contract->ran);
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < 1000; i++) {
            g_assert_cmpint(contract->ops->submit(contract->self, count_task, &contract->ran), ==,
                            0);
        }
        g_assert_cmpint(contract->ops->wait_all(contract->self), ==, 0);
        g_assert_cmpint(g_atomic_int_get(&contract->ran), ==, before + round * 1000);
    }
}

/* Each executor of the table that is on this machine runs tasks, waits, and ends. What a library
 * does inside is not seen by ThreadSanitizer, so there only those in C of our own are run. */
static void test_executor_contract(void)
{
    for (const struct executor_entry *entry = executors; entry->name; entry++) {
        g_autoptr(GError) error = NULL;
        if (IS_THREAD_SANITIZED && entry->install) {
            continue;
        }
        const struct executor_ops *ops = entry->load(&error);
        if (!ops) {
            g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE);
            g_assert_true(g_str_has_prefix(error->message, "not installed: "));
            g_test_message("%s: %s", entry->name, error->message);
            continue;
        }
        g_assert_cmpuint(ops->abi, ==, EXECUTOR_ABI);
        g_assert_cmpuint(ops->size, ==, sizeof *ops);
        g_assert_cmpstr(ops->name, ==, entry->name);
        const struct executor_config config = {.size = sizeof config, .threads = 3};
        char message[256] = "";
        struct contract contract = {.ops = ops};
        g_assert_cmpint(ops->create(&contract.self, &config, message, sizeof message), ==, 0);
        if (ops->run_region) {
            g_assert_cmpint(ops->run_region(contract.self, run_contract, &contract), ==, 0);
        } else {
            run_contract(&contract);
        }
        for (int i = 0; !ops->run_region && i < 1000; i++) {
            g_assert_cmpint(ops->submit(contract.self, count_task, &contract.ran), ==, 0);
        }
        g_assert_cmpint(ops->shutdown(contract.self), ==, 0);
        g_assert_cmpint(g_atomic_int_get(&contract.ran), ==, ops->run_region ? 3000 : 4000);
        ops->destroy(contract.self);
    }
}

static void test_fifo_says_what_is_wrong(void)
{
    const struct executor_ops *ops = executor_find("fifo")->load(NULL);
    const struct executor_config config = {.size = sizeof config, .threads = 1u << 20};
    char message[256] = "";
    void *self;
    g_assert_cmpint(ops->create(&self, &config, message, sizeof message), ==, -EINVAL);
    g_assert_cmpstr(message, ==, "a pool takes 1 to 65536 threads, not 1048576");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bench/tables", test_tables);
    g_test_add_func("/bench/names", test_names);
    g_test_add_func("/bench/items-per-iteration", test_items_per_iteration);
    g_test_add_func("/bench/case-check", test_case_check);
    g_test_add_func("/bench/benches-measure", test_benches_measure);
    g_test_add_func("/bench/wrong-executors", test_wrong_executors);
    g_test_add_func("/bench/executor-contract", test_executor_contract);
    g_test_add_func("/bench/fifo-says-what-is-wrong", test_fifo_says_what_is_wrong);
    return g_test_run();
}
