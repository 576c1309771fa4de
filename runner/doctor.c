/* SPDX-License-Identifier: Apache-2.0
 * The rules of the doctor. Each check has a name that scripts may rely on. Main thread. */
#include "runner/doctor.h"

#include "runner/machine/fact_file.h"
#include "runner/show/table.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_COST_FINE_NS    100.0
#define CLOCK_STEP_FINE_NS    100.0
#define SYSCALL_FINE_NS       500.0
#define HANDOFF_FINE_NS       400.0
#define WAKE_SAME_FINE_NS     15000.0
#define WAKE_CROSS_FINE_NS    25000.0
#define THREAD_FINE_NS        100000.0
#define LOAD_FINE_PER_CPU     0.3
#define PRESSURE_FINE_PERCENT 1.0
#define FILE_BYTES            512

void doctor_check_free(struct doctor_check *check)
{
    g_free(check->name);
    g_free(check->value);
    g_free(check->advice);
    g_free(check);
}

/* Takes value and advice. */
static struct doctor_check *add(GPtrArray *checks, const char *name, char *value, char *advice)
{
    struct doctor_check *check = g_new0(struct doctor_check, 1);
    check->name = g_strdup(name);
    check->value = value;
    check->advice = advice;
    g_ptr_array_add(checks, check);
    return check;
}

/* A time that is fine up to a limit. */
static void add_time(GPtrArray *checks, const char *name, double ns, double fine_ns,
                     const char *advice)
{
    struct doctor_check *check =
        add(checks, name, table_time(ns), ns <= fine_ns ? NULL : g_strdup(advice));
    check->number = ns;
    check->unit = "ns";
}

static void add_costs(GPtrArray *checks, const struct machine_costs *costs)
{
    add_time(checks, "clock_cost", costs->clock_cost_ns, CLOCK_COST_FINE_NS,
             "reading the clock needs a system call: see the check clocksource; latencies below a "
             "microsecond are mostly clock");
    add_time(checks, "clock_resolution", costs->clock_resolution_ns, CLOCK_STEP_FINE_NS,
             "the clock moves in coarse steps: see the check clocksource; no latency below a step "
             "can be told");
    add_time(checks, "null_syscall", costs->null_syscall_ns, SYSCALL_FINE_NS,
             "system calls are slow: a sandbox, a tracer or mitigations; every wake-up pays it. "
             "Measure outside of containers with seccomp filters, and not under strace or gdb");
}

static void add_pairs(GPtrArray *checks, const struct machine_costs *costs)
{
    for (size_t i = 0; i < costs->n_pairs; i++) {
        const struct machine_pair *pair = &costs->pairs[i];
        g_autofree char *name =
            g_strdup_printf("handoff_cpu%zu_cpu%zu", pair->first_cpu, pair->second_cpu);
        if (pair->has_handoff)
            add_time(checks, name, pair->handoff_ns, HANDOFF_FINE_NS,
                     "these CPUs are far from each other (two sockets, or moved apart by the "
                     "host): keep threads together with --param placement=compact");
        else
            add(checks, name, g_strdup("none in time"),
                g_strdup("one of the two CPUs did not come to run: other work holds it; stop that, "
                         "or measure when the machine is idle"));
    }
    if (costs->n_pairs == 0)
        add(checks, "handoff", g_strdup("one CPU"),
            g_strdup("with one CPU nothing runs at the same time: pools can only lose; allow this "
                     "process more CPUs"));
}

static void add_wakes(GPtrArray *checks, const struct machine_costs *costs)
{
    if (costs->has_wake_same_cpu)
        add_time(checks, "wake_same_cpu", costs->wake_same_cpu_ns, WAKE_SAME_FINE_NS,
                 "waking a thread on the same CPU is slow: other work runs there; stop it, or "
                 "measure when the machine is idle");
    if (costs->has_wake_cross_cpu)
        add_time(checks, "wake_cross_cpu", costs->wake_cross_cpu_ns, WAKE_CROSS_FINE_NS,
                 "waking another CPU is slow: an interrupt through a hypervisor, or a deep idle "
                 "state (cpupower idle-set -D 10 on bare metal). Look at latencies of same and "
                 "other CPU apart");
    if (costs->has_thread)
        add_time(checks, "thread_create", costs->thread_create_ns, THREAD_FINE_NS,
                 "making a thread is slow: other work holds the CPUs, or a memory limit is near");
}

static const char *fact(const json_t *facts, const char *name)
{
    return json_string_value(json_object_get(facts, name));
}

static void add_clocksource(GPtrArray *checks, const json_t *facts)
{
    const char *source = fact(facts, "clocksource");
    bool is_fine = !source || strcmp(source, "tsc") == 0 || strcmp(source, "arch_sys_counter") == 0;
    add(checks, "clocksource", g_strdup(source ? source : "not visible"),
        is_fine ? NULL
                : g_strdup_printf("the kernel gave up the CPU's own counter for %s; dmesg | grep "
                                  "-i tsc says why; try the kernel parameter tsc=reliable",
                                  source));
}

static void add_frequency(GPtrArray *checks, const json_t *facts)
{
    const char *governor = fact(facts, "governor");
    const json_t *boost = json_object_get(facts, "boost");
    bool is_fine = !governor || strcmp(governor, "performance") == 0;
    add(checks, "governor", g_strdup(governor ? governor : "not visible: the host decides"),
        is_fine ? NULL
                : g_strdup("the frequency follows the load, late: sudo cpupower frequency-set -g "
                           "performance"));
    add(checks, "turbo",
        g_strdup(json_is_true(boost)    ? "on"
                 : json_is_false(boost) ? "off"
                                        : "not visible: the host decides"),
        json_is_true(boost) ? g_strdup("the frequency depends on heat and neighbours: for steadier "
                                       "figures write 0 to /sys/devices/system/cpu/cpufreq/boost "
                                       "(or 1 to intel_pstate/no_turbo)")
                            : NULL);
}

static void add_cpus(GPtrArray *checks, const json_t *facts)
{
    const char *smt = fact(facts, "smt");
    double cores = json_number_value(json_object_get(facts, "cores"));
    double pus = json_number_value(json_object_get(facts, "pus"));
    double quota = json_number_value(json_object_get(facts, "quota"));
    bool shares = pus > cores && cores > 0;
    add(checks, "smt",
        g_strdup(shares ? "on"
                 : smt  ? smt
                        : "off"),
        shares ? g_strdup("hardware threads share cores: --param placement=scatter puts threads on "
                          "cores of their own; or write off to /sys/devices/system/cpu/smt/control")
               : NULL);
    add(checks, "quota", quota > 0 ? g_strdup_printf("%.2f CPUs", quota) : g_strdup("none"),
        quota > 0 ? g_strdup("a control group holds this process back when it has used its time, "
                             "for up to 100 ms: raise cpu.max, or give whole CPUs by cpuset")
                  : NULL);
}

static void add_memory(GPtrArray *checks, const json_t *facts)
{
    const char *thp = fact(facts, "thp"), *aslr = fact(facts, "aslr");
    bool is_always = thp && strcmp(thp, "always") == 0;
    bool is_off = aslr && strcmp(aslr, "off") == 0;
    add(checks, "thp", g_strdup(thp ? thp : "not visible"),
        is_always ? g_strdup("huge pages come and go behind one's back: write madvise to "
                             "/sys/kernel/mm/transparent_hugepage/enabled")
                  : NULL);
    add(checks, "aslr", g_strdup(aslr ? aslr : "not visible"),
        is_off
            ? g_strdup("all processes have one layout in memory, so a lucky or unlucky one stays "
                       "in every sample: write 2 to /proc/sys/kernel/randomize_va_space; each "
                       "round is a new process, and averages it")
            : NULL);
}

static void add_host(GPtrArray *checks, const json_t *facts)
{
    const char *mitigations = fact(facts, "mitigations"), *hypervisor = fact(facts, "hypervisor");
    const char *list = mitigations ? strchr(mitigations, ';') : NULL;
    add(checks, "mitigations",
        g_strdup(list          ? list + 2
                 : mitigations ? mitigations
                               : "none"),
        NULL); /* a fact of the environment: a change marks the line */
    add(checks, "hypervisor", g_strdup(hypervisor ? hypervisor : "none"),
        hypervisor ? g_strdup("a virtual machine: the host moves its CPUs unseen, and figures jump "
                              "between levels. Each sample has a probe beside it and is taken "
                              "again where that jumped; what must be told to a few percent needs "
                              "bare metal or dedicated CPUs")
                   : NULL);
}

void doctor_read_moment(const char *root, struct doctor_moment *out)
{
    char text[FILE_BYTES];
    g_autofree char *load = g_strconcat(root, "/proc/loadavg", NULL);
    g_autofree char *pressure = g_strconcat(root, "/proc/pressure/cpu", NULL);
    *out = (struct doctor_moment){0};
    if (fact_file_read(load, text, sizeof text)) {
        char *end = NULL;
        out->load_1min = g_ascii_strtod(text, &end);
        out->has_load = end != text;
    }
    if (fact_file_read(pressure, text, sizeof text) && g_str_has_prefix(text, "some avg10=")) {
        out->pressure_10s_percent = g_ascii_strtod(text + strlen("some avg10="), NULL);
        out->has_pressure = true;
    }
}

static void add_moment(GPtrArray *checks, const struct doctor_moment *moment, double cpus)
{
    if (moment->has_load) {
        bool is_fine = moment->load_1min <= LOAD_FINE_PER_CPU * cpus;
        struct doctor_check *check =
            add(checks, "load", g_strdup_printf("%.2f", moment->load_1min),
                is_fine ? NULL
                        : g_strdup("other work runs: stop it, or wait until the load of the last "
                                   "minute is low (top shows who it is)"));
        check->number = moment->load_1min;
        check->unit = "tasks";
    }
    if (moment->has_pressure) {
        bool is_fine = moment->pressure_10s_percent <= PRESSURE_FINE_PERCENT;
        struct doctor_check *check =
            add(checks, "cpu_pressure", g_strdup_printf("%.1f %%", moment->pressure_10s_percent),
                is_fine ? NULL
                        : g_strdup("in the last 10 s tasks had to wait for a CPU: something else "
                                   "is busy; stop it, or wait"));
        check->number = moment->pressure_10s_percent;
        check->unit = "%";
    }
}

GPtrArray *doctor_judge(const struct machine_costs *costs, const json_t *facts,
                        const struct doctor_moment *moment)
{
    GPtrArray *checks = g_ptr_array_new_with_free_func((GDestroyNotify)doctor_check_free);
    double cpus = json_number_value(json_object_get(facts, "effective_cpus"));
    add_costs(checks, costs);
    add_pairs(checks, costs);
    add_wakes(checks, costs);
    add_clocksource(checks, facts);
    add_frequency(checks, facts);
    add_cpus(checks, facts);
    add_memory(checks, facts);
    add_host(checks, facts);
    add_moment(checks, moment, cpus >= 1 ? cpus : 1);
    return checks;
}
