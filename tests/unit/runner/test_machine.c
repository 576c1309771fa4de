/* SPDX-License-Identifier: Apache-2.0
 * The machine's facts: on this machine what can be compared with another source, and on made-up
 * folders what this machine has not. */
#include "runner/machine/cgroup.h"
#include "runner/machine/cpus.h"
#include "runner/machine/fact_file.h"
#include "runner/machine/kernel_facts.h"
#include "runner/machine/machine.h"
#include "runner/machine/topology.h"
#include <ftw.h>
#include <hwloc.h>
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A folder that stands for the root of a machine. */
static char *root;

static void root_new(void)
{
    root = g_dir_make_tmp("breakeven-root-XXXXXX", NULL);
    g_assert_nonnull(root);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static void root_free(void)
{
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    g_clear_pointer(&root, g_free);
}

static void put(const char *path, const char *text)
{
    g_autofree char *file = g_strconcat(root, path, NULL);
    g_autofree char *folder = g_path_get_dirname(file);
    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    g_assert_true(g_file_set_contents(file, text, -1, NULL));
}

static void test_no_cgroup(void)
{
    double throttled_ms;
    root_new();
    g_assert_cmpfloat(cgroup_quota_cpus(root), ==, 0);
    g_assert_false(cgroup_throttled_ms(root, &throttled_ms));
    root_free();
}

/* The tightest limit on the way up binds; any level may be the one that holds tasks back. */
static void test_cgroup_v2(void)
{
    double throttled_ms;
    root_new();
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.stat", "usage_usec 9\nnr_throttled 1\nthrottled_usec 2500\n");
    put("/sys/fs/cgroup/a/cpu.stat", "usage_usec 9\nnr_throttled 1\nthrottled_usec 1000\n");
    put("/sys/fs/cgroup/cpu.stat", "usage_usec 9\n");
    g_assert_cmpfloat(cgroup_quota_cpus(root), ==, 1.5);
    g_assert_true(cgroup_throttled_ms(root, &throttled_ms));
    g_assert_cmpfloat(throttled_ms, ==, 3.5);
    put("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
    g_assert_cmpfloat(cgroup_quota_cpus(root), ==, 0.5);
    put("/sys/fs/cgroup/a/b/cpu.max", "rubbish\n");
    g_assert_cmpfloat(cgroup_quota_cpus(root), ==, 1.5);
    root_free();
}

/* A container that sees only its own group, under a path that is the host's. */
static void test_cgroup_v2_in_a_container(void)
{
    root_new();
    put("/proc/self/cgroup", "0::/host/docker/123\n");
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    g_assert_cmpfloat(cgroup_quota_cpus(root), ==, 2);
    root_free();
}

static void test_cgroup_v1(void)
{
    double throttled_ms;
    root_new();
    put("/proc/self/cgroup", "9:memory:/x\n4:cpuset:/y\n3:cpu,cpuacct:/a\n0::/\n");
    put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.stat",
        "nr_periods 5\nnr_throttled 1\nthrottled_time 7000000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    g_assert_cmpfloat(cgroup_quota_cpus(root), ==, 2.5);
    g_assert_true(cgroup_throttled_ms(root, &throttled_ms));
    g_assert_cmpfloat(throttled_ms, ==, 7);
    root_free();
}

static void test_effective_cpus(void)
{
    cpu_set_t before, one;
    struct cpus cpus;
    root_new();
    cpus_read(root, &cpus);
    g_assert_cmpint(cpus.online, ==, sysconf(_SC_NPROCESSORS_ONLN));
    g_assert_cmpfloat(cpus.quota, ==, 0);
    g_assert_cmpuint(cpus.effective, ==, MIN(cpus.online, cpus.affinity));
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/cpu.max", "30000 100000\n"); /* less than one CPU is one */
    cpus_read(root, &cpus);
    g_assert_cmpfloat(cpus.quota, ==, 0.3);
    g_assert_cmpuint(cpus.effective, ==, 1);
    put("/sys/fs/cgroup/cpu.max", "102400000 100000\n"); /* more than there are changes nothing */
    cpus_read(root, &cpus);
    g_assert_cmpuint(cpus.effective, ==, MIN(cpus.online, cpus.affinity));

    g_assert_cmpint(sched_getaffinity(0, sizeof before, &before), ==, 0);
    int cpu = sched_getcpu();
    g_autofree char *number = g_strdup_printf("%d", cpu);
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    g_assert_cmpint(sched_setaffinity(0, sizeof one, &one), ==, 0);
    cpus_read(root, &cpus);
    g_assert_cmpint(sched_setaffinity(0, sizeof before, &before), ==, 0);
    g_assert_cmpuint(cpus.affinity, ==, 1);
    g_assert_cmpuint(cpus.effective, ==, 1);
    g_assert_cmpstr(cpus.list, ==, number);
    root_free();
}

static void test_fact_files(void)
{
    char buffer[16];
    uint64_t value = 0;
    root_new();
    put("/one", "  some text \n\n");
    g_autofree char *file = g_strconcat(root, "/one", NULL);
    g_assert_true(fact_file_read(file, buffer, sizeof buffer));
    g_assert_cmpstr(buffer, ==, "  some text");
    g_assert_true(fact_file_read(file, buffer, 5)); /* no more than there is room for */
    g_assert_cmpstr(buffer, ==, "  so");
    g_assert_false(fact_file_read("/proc/there/is/none", buffer, sizeof buffer));
    g_assert_true(fact_file_field("aa 1\na 22\n", "a", &value));
    g_assert_cmpuint(value, ==, 22);
    g_assert_false(fact_file_field("aa 1\n", "a", &value));
    g_assert_false(fact_file_field("a x\n", "a", &value));
    root_free();
}

static json_t *kernel_facts(void)
{
    g_autoptr(Facts) facts = facts_new();
    kernel_facts_add(facts, root);
    g_autofree char *text = facts_print(facts);
    json_t *tree = json_loads(text, 0, NULL);
    g_assert_nonnull(tree);
    return tree;
}

static void assert_fact(json_t *tree, const char *name, const char *expected)
{
    g_assert_cmpstr(json_string_value(json_object_get(tree, name)), ==, expected);
}

static void test_kernel_facts(void)
{
    root_new();
    json_t *tree = kernel_facts();
    assert_fact(tree, "governor", NULL); /* not known is left out */
    assert_fact(tree, "aslr", NULL);
    g_assert_null(json_object_get(tree, "boost"));
    g_assert_nonnull(json_object_get(tree, "kernel")); /* from a system call */
    json_decref(tree);

    put("/proc/sys/kernel/randomize_va_space", "2\n");
    put("/proc/meminfo", "MemTotal:       16255332 kB\nMemFree: 1 kB\n");
    put("/proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0xa0011d5\ncpu MHz\t: 1\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
    put("/sys/devices/system/cpu/cpufreq/boost", "0\n");
    put("/sys/devices/system/cpu/smt/control", "on\n");
    put("/sys/devices/system/cpu/vulnerabilities/mds", "Vulnerable: no microcode\n");
    put("/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n");
    put("/sys/devices/system/cpu/vulnerabilities/spectre_v1", "Mitigation: barriers\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    tree = kernel_facts();
    assert_fact(tree, "aslr", "full");
    assert_fact(tree, "memory", "16 GiB");
    assert_fact(tree, "microcode", "0xa0011d5");
    assert_fact(tree, "governor", "performance");
    assert_fact(tree, "smt", "on");
    assert_fact(tree, "thp", "madvise");
    g_assert_true(json_is_false(json_object_get(tree, "boost")));
    g_autofree char *mitigations =
        g_strdup(json_string_value(json_object_get(tree, "mitigations")));
    g_assert_true(g_str_has_suffix(mitigations, "; mds vulnerable, spectre_v1 mitigated"));
    json_decref(tree);

    put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    put("/sys/devices/system/cpu/vulnerabilities/spectre_v1", "Mitigation: other barriers\n");
    tree = kernel_facts();
    assert_fact(tree, "governor", "mixed");
    g_assert_cmpstr(json_string_value(json_object_get(tree, "mitigations")), !=, mitigations);
    json_decref(tree);
    root_free();
}

static void test_facts_are_canonical(void)
{
    g_autoptr(Facts) facts = facts_new();
    g_autofree char *long_text = g_strnfill(1000, 'x');
    facts_add_text(facts, "zeta", "b\xff\n\"c\"");
    facts_add_number(facts, "alpha", 2.5);
    facts_add_text(facts, "empty", "");
    facts_add_text(facts, "none", NULL);
    facts_add_bool(facts, "middle", true);
    g_autofree char *text = facts_print(facts);
    g_assert_cmpstr(text, ==,
                    "{\"alpha\":2.5,\"middle\":true,\"zeta\":\"b\xef\xbf\xbd \\\"c\\\"\"}");
    facts_add_text(facts, "long", long_text);
    g_autofree char *longer = facts_print(facts);
    g_assert_cmpuint(strlen(longer), ==,
                     strlen(text) + FACT_TEXT_BYTES_MAX + strlen("\"long\":\"\","));
}

static void test_machine(void)
{
    GError *error = NULL;
    g_autoptr(Machine) machine = machine_read(&error);
    g_assert_no_error(error);
    g_assert_cmpuint(machine->effective_cpus, >=, 1);
    g_assert_cmpuint(machine->effective_cpus, <=, machine->online_cpus);
    g_assert_cmpuint(machine->cores, >=, 1);
    g_assert_cmpuint(machine->pus, >=, machine->cores);
    json_t *tree = json_loads(machine->environment_json, JSON_REJECT_DUPLICATES, NULL);
    g_assert_nonnull(tree);
    g_autofree char *canonical = json_dumps(tree, JSON_COMPACT | JSON_SORT_KEYS);
    g_assert_cmpstr(machine->environment_json, ==, canonical);
    const char *const facts[] = {"cores",      "effective_cpus", "affinity", "kernel",
                                 "policy",     "nice",           "compiler", "compiler_flags",
                                 "build_type", "libc",           "memory",   "architecture"};
    for (unsigned i = 0; i < G_N_ELEMENTS(facts); i++) {
        g_assert_nonnull(json_object_get(tree, facts[i]));
    }
    json_decref(tree);
    g_autofree char *digest = run_environment_digest(machine->environment_json);
    g_assert_cmpuint(strlen(digest), ==, 64);
}

/* The same machine gives the same bytes, and no names of host or process. */
static void test_topology(void)
{
    GError *error = NULL;
    char host[256] = "";
    g_autoptr(Machine) machine = machine_read(&error);
    g_autoptr(Machine) again = machine_read(&error);
    g_assert_no_error(error);
    g_assert_cmpstr(machine->topology_xml, ==, again->topology_xml);
    g_assert_cmpstr(machine->environment_json, ==, again->environment_json);
    g_assert_nonnull(strstr(machine->topology_xml, "<topology"));
    g_assert_null(strstr(machine->topology_xml, "HostName"));
    g_assert_null(strstr(machine->topology_xml, "ProcessName"));
    g_assert_null(strstr(machine->topology_xml, "test_machine"));
    g_assert_null(strstr(machine->topology_xml, "local_memory"));
    g_assert_null(strstr(machine->topology_xml, "page_type"));
    g_assert_true(g_str_has_suffix(machine->topology_xml, "</topology>\n"));
    g_assert_cmpint(gethostname(host, sizeof host - 1), ==, 0);
    g_autofree char *as_value = g_strdup_printf("value=\"%s\"", host);
    g_assert_null(strstr(machine->topology_xml, as_value));
    g_assert_cmpuint(strlen(machine->topology_xml), <=, RUN_TOPOLOGY_BYTES_MAX);
}

/* What is left of the XML is still a topology. */
static void test_topology_can_be_read(void)
{
    GError *error = NULL;
    hwloc_topology_t tree;
    g_autoptr(Machine) machine = machine_read(&error);
    g_assert_no_error(error);
    size_t size = strlen(machine->topology_xml) + 1;
    g_assert_cmpint(hwloc_topology_init(&tree), ==, 0);
    g_assert_cmpint(hwloc_topology_set_xmlbuffer(tree, machine->topology_xml, (int)size), ==, 0);
    g_assert_cmpint(hwloc_topology_load(tree), ==, 0);
    g_assert_cmpint(hwloc_get_nbobjs_by_type(tree, HWLOC_OBJ_PU), ==, machine->pus);
    hwloc_topology_destroy(tree);
}

static void test_drawing(void)
{
    GError *error = NULL;
    g_autofree char *drawing = machine_draw(&error);
    g_assert_no_error(error);
    g_autoptr(Machine) machine = machine_read(&error);
    g_assert_true(g_str_has_prefix(drawing, "Machine"));
    g_assert_true(g_str_has_suffix(drawing, "\n"));
    unsigned pus = 0;
    for (const char *found = strstr(drawing, "PU "); found; found = strstr(found + 1, "PU ")) {
        pus++;
    }
    g_assert_cmpuint(pus, ==, machine->pus);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/machine/cgroup/none", test_no_cgroup);
    g_test_add_func("/machine/cgroup/v2", test_cgroup_v2);
    g_test_add_func("/machine/cgroup/v2-in-a-container", test_cgroup_v2_in_a_container);
    g_test_add_func("/machine/cgroup/v1", test_cgroup_v1);
    g_test_add_func("/machine/effective-cpus", test_effective_cpus);
    g_test_add_func("/machine/fact-files", test_fact_files);
    g_test_add_func("/machine/kernel-facts", test_kernel_facts);
    g_test_add_func("/machine/facts-are-canonical", test_facts_are_canonical);
    g_test_add_func("/machine/read", test_machine);
    g_test_add_func("/machine/topology", test_topology);
    g_test_add_func("/machine/topology-can-be-read", test_topology_can_be_read);
    g_test_add_func("/machine/drawing", test_drawing);
    return g_test_run();
}
