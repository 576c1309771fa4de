/* SPDX-License-Identifier: Apache-2.0
 * The doctor's rules on machines that are made up, and that what is measured here is measured. */
#include "runner/doctor.h"
#include <glib/gstdio.h>
#include <string.h>

static const struct machine_costs good_costs = {
    .clock_cost_ns = 27,
    .clock_resolution_ns = 10,
    .null_syscall_ns = 185,
    .pairs = {{.first_cpu = 0, .second_cpu = 1, .has_handoff = true, .handoff_ns = 55}},
    .n_pairs = 1,
    .n_cpus = 2,
    .has_wake_same_cpu = true,
    .has_wake_cross_cpu = true,
    .wake_same_cpu_ns = 5800,
    .wake_cross_cpu_ns = 9000,
    .has_thread = true,
    .thread_create_ns = 26000,
};

#define GOOD_FACTS                                                                                 \
    "{\"clocksource\":\"tsc\",\"governor\":\"performance\",\"boost\":false,\"cores\":2,\"pus\":2," \
    "\"effective_cpus\":2,\"thp\":\"madvise\",\"aslr\":\"full\",\"mitigations\":\"aa; mds "        \
    "mitigated\"}"

static const struct doctor_moment idle = {.has_load = true, .has_pressure = true};

static const struct doctor_check *find(const GPtrArray *checks, const char *name)
{
    for (guint i = 0; i < checks->len; i++) {
        const struct doctor_check *check = g_ptr_array_index(checks, i);
        if (g_str_equal(check->name, name)) {
            return check;
        }
    }
    return NULL;
}

static GPtrArray *judge(const struct machine_costs *costs, const char *facts_text,
                        const struct doctor_moment *moment)
{
    json_t *facts = json_loads(facts_text, 0, NULL);
    g_assert_nonnull(facts);
    GPtrArray *checks = doctor_judge(costs, facts, moment);
    json_decref(facts);
    return checks;
}

static void test_a_good_machine(void)
{
    g_autoptr(GPtrArray) checks = judge(&good_costs, GOOD_FACTS, &idle);
    for (guint i = 0; i < checks->len; i++) {
        const struct doctor_check *check = g_ptr_array_index(checks, i);
        g_assert_cmpstr(check->advice, ==, NULL);
    }
    const char *const names[] = {"clock_cost",    "clock_resolution",
                                 "null_syscall",  "handoff_cpu0_cpu1",
                                 "wake_same_cpu", "wake_cross_cpu",
                                 "thread_create", "clocksource",
                                 "governor",      "turbo",
                                 "smt",           "quota",
                                 "thp",           "aslr",
                                 "mitigations",   "hypervisor",
                                 "load",          "cpu_pressure"};
    g_assert_cmpuint(checks->len, ==, G_N_ELEMENTS(names));
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_assert_nonnull(find(checks, names[i]));
    }
    g_assert_cmpstr(find(checks, "clock_cost")->value, ==, "27.0 ns");
    g_assert_cmpfloat(find(checks, "handoff_cpu0_cpu1")->number, ==, 55);
    g_assert_cmpstr(find(checks, "mitigations")->value, ==, "mds mitigated");
}

static void assert_advice(const char *facts, const char *name, const char *words)
{
    g_autoptr(GPtrArray) checks = judge(&good_costs, facts, &idle);
    const struct doctor_check *check = find(checks, name);
    g_assert_nonnull(check);
    g_assert_nonnull(check->advice);
    g_assert_nonnull(strstr(check->advice, words));
}

static void test_facts_that_disturb(void)
{
    assert_advice("{\"clocksource\":\"hpet\"}", "clocksource", "hpet");
    assert_advice("{\"governor\":\"powersave\"}", "governor", "cpupower");
    assert_advice("{\"boost\":true}", "turbo", "cpufreq/boost");
    assert_advice("{\"cores\":2,\"pus\":4}", "smt", "placement=scatter");
    assert_advice("{\"quota\":1.5}", "quota", "cpu.max");
    assert_advice("{\"thp\":\"always\"}", "thp", "madvise");
    assert_advice("{\"aslr\":\"off\"}", "aslr", "randomize_va_space");
    assert_advice("{\"hypervisor\":\"KVM\"}", "hypervisor", "probe");
}

static void test_costs_that_disturb(void)
{
    struct machine_costs costs = good_costs;
    costs.clock_cost_ns = 600;
    costs.clock_resolution_ns = 4000000;
    costs.null_syscall_ns = 2000;
    costs.wake_same_cpu_ns = 40000;
    costs.wake_cross_cpu_ns = 46000;
    costs.thread_create_ns = 300000;
    costs.pairs[0].has_handoff = false;
    const struct doctor_moment busy = {
        .has_load = true, .has_pressure = true, .load_1min = 0.61, .pressure_10s_percent = 1.5};
    const char *const names[] = {
        "clock_cost",        "clock_resolution", "null_syscall", "wake_same_cpu", "wake_cross_cpu",
        "handoff_cpu0_cpu1", "thread_create",    "load",         "cpu_pressure"};
    g_autoptr(GPtrArray) checks = judge(&costs, GOOD_FACTS, &busy);
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_assert_nonnull(find(checks, names[i])->advice);
    }
    g_assert_null(find(checks, "thp")->advice);
    costs.n_pairs = 0; /* one CPU */
    g_autoptr(GPtrArray) alone = judge(&costs, GOOD_FACTS, &idle);
    g_assert_nonnull(find(alone, "handoff")->advice);
}

static void test_moment(void)
{
    g_autofree char *root = g_dir_make_tmp("doctor-XXXXXX", NULL);
    g_autofree char *folder = g_build_filename(root, "proc/pressure", NULL);
    g_autofree char *load = g_build_filename(root, "proc/loadavg", NULL);
    g_autofree char *pressure = g_build_filename(folder, "cpu", NULL);
    struct doctor_moment moment;
    doctor_read_moment(root, &moment);
    g_assert_false(moment.has_load || moment.has_pressure);
    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    g_assert_true(g_file_set_contents(load, "1.25 9.00 10.54 17/158 15560\n", -1, NULL));
    g_assert_true(g_file_set_contents(
        pressure, "some avg10=98.87 avg60=88.43 avg300=81.83 total=3833507849\n", -1, NULL));
    doctor_read_moment(root, &moment);
    g_assert_true(moment.has_load && moment.has_pressure);
    g_assert_cmpfloat(moment.load_1min, ==, 1.25);
    g_assert_cmpfloat(moment.pressure_10s_percent, ==, 98.87);
    g_unlink(load);
    g_unlink(pressure);
    g_rmdir(folder);
    g_autofree char *proc = g_build_filename(root, "proc", NULL);
    g_rmdir(proc);
    g_rmdir(root);
}

/* Here, whatever the machine: everything is positive, and pairs are all pairs. */
static void test_measured(void)
{
    struct machine_costs costs;
    machine_costs_measure(&costs);
    size_t n = MIN(costs.n_cpus, MACHINE_COSTS_CPUS_MAX);
    g_assert_cmpuint(costs.n_pairs, ==, n * (n - 1) / 2);
    g_assert_cmpfloat(costs.clock_cost_ns, >, 0);
    g_assert_cmpfloat(costs.clock_resolution_ns, >, 0);
    g_assert_cmpfloat(costs.null_syscall_ns, >, 0);
    g_assert_true(costs.has_wake_same_cpu && costs.has_thread);
    g_assert_cmpfloat(costs.wake_same_cpu_ns, >, 0);
    g_assert_cmpfloat(costs.thread_create_ns, >, 0);
    g_assert_cmpint(costs.has_wake_cross_cpu, ==, n > 1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/doctor/good", test_a_good_machine);
    g_test_add_func("/doctor/facts", test_facts_that_disturb);
    g_test_add_func("/doctor/costs", test_costs_that_disturb);
    g_test_add_func("/doctor/moment", test_moment);
    g_test_add_func("/doctor/measured", test_measured);
    return g_test_run();
}
