/* SPDX-License-Identifier: Apache-2.0
 * Facts from /proc, /sys and system calls. What cannot be read is left out: a fact that is missing
 * is not known, never zero. Knows nothing of benchmarks; the thread that measures, whose scheduling
 * policy is the one that counts. */
#include "runner/machine/kernel_facts.h"
#include "runner/machine/fact_file.h"
#include <errno.h>
#include <gnu/libc-version.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define CPUS_LOOKED_AT_MAX     4096u
#define VULNERABILITIES_MAX    128u
#define MITIGATIONS_SUM_DIGITS 12
#define KIB_PER_GIB            (1024.0 * 1024.0)
#define CPUID_HYPERVISOR       0x40000000u
#define CPUID_HYPERVISOR_BIT   (1u << 31)

static char *read_text(const char *root, const char *path)
{
    char buffer[FACT_FILE_BYTES_MAX];
    g_autofree char *file = g_strconcat(root, path, NULL);
    return fact_file_read(file, buffer, sizeof buffer) ? g_strdup(buffer) : NULL;
}

static void add_file(Facts *facts, const char *name, const char *root, const char *path)
{
    g_autofree char *text = read_text(root, path);
    facts_add_text(facts, name, text);
}

/* "always [madvise] never": what is in brackets. */
static void add_chosen(Facts *facts, const char *name, const char *root, const char *path)
{
    g_autofree char *text = read_text(root, path);
    char *open = text ? strchr(text, '[') : NULL;
    char *close = open ? strchr(open, ']') : NULL;
    if (close) {
        *close = '\0';
        facts_add_text(facts, name, open + 1);
    }
}

static void add_aslr(Facts *facts, const char *root)
{
    g_autofree char *text = read_text(root, "/proc/sys/kernel/randomize_va_space");
    if (text) {
        facts_add_text(facts, "aslr",
                       *text == '0'   ? "off"
                       : *text == '1' ? "without heap"
                                      : "full");
    }
}

static void add_boost(Facts *facts, const char *root)
{
    g_autofree char *boost = read_text(root, "/sys/devices/system/cpu/cpufreq/boost");
    g_autofree char *no_turbo = read_text(root, "/sys/devices/system/cpu/intel_pstate/no_turbo");
    if (boost) {
        facts_add_bool(facts, "boost", *boost == '1');
    } else if (no_turbo) {
        facts_add_bool(facts, "boost", *no_turbo == '0');
    }
}

/* One word for all CPUs, or "mixed". */
static void add_of_all_cpus(Facts *facts, const char *name, const char *root, const char *file)
{
    g_autofree char *common = NULL;
    for (unsigned cpu = 0; cpu < CPUS_LOOKED_AT_MAX; cpu++) {
        g_autofree char *path =
            g_strdup_printf("/sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu, file);
        g_autofree char *text = read_text(root, path);
        if (!text) {
            break;
        }
        if (common && !g_str_equal(common, text)) {
            facts_add_text(facts, name, "mixed");
            return;
        }
        if (!common) {
            common = g_steal_pointer(&text);
        }
    }
    facts_add_text(facts, name, common);
}

static gint compare_texts(gconstpointer left, gconstpointer right)
{
    const char *const *a = left;
    const char *const *b = right;
    return strcmp(*a, *b);
}

/* "1f0a…; mds vulnerable, spectre_v2 mitigated": what this CPU is affected by, and a sum that
 * changes with any word of the kernel's. */
static void add_mitigations(Facts *facts, const char *root)
{
    g_autofree char *folder = g_strconcat(root, "/sys/devices/system/cpu/vulnerabilities", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    if (!dir) {
        return;
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name = g_dir_read_name(dir); name && names->len < VULNERABILITIES_MAX;
         name = g_dir_read_name(dir)) {
        g_ptr_array_add(names, g_strdup(name));
    }
    g_ptr_array_sort(names, compare_texts);
    g_autoptr(GString) list = g_string_new(NULL);
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        g_autofree char *path = g_strconcat("/sys/devices/system/cpu/vulnerabilities/", name, NULL);
        g_autofree char *text = read_text(root, path);
        g_autofree char *line = g_strdup_printf("%s: %s\n", name, text ? text : "");
        g_checksum_update(sum, (const guchar *)line, -1);
        if (text && !g_str_has_prefix(text, "Not affected")) {
            bool mitigated = g_str_has_prefix(text, "Mitigation");
            g_string_append_printf(list, "%s%s %s", list->len ? ", " : "", name,
                                   mitigated ? "mitigated" : "vulnerable");
        }
    }
    g_autofree char *text =
        g_strdup_printf("%.*s; %s", MITIGATIONS_SUM_DIGITS, g_checksum_get_string(sum),
                        list->len ? list->str : "nothing affects it");
    facts_add_text(facts, "mitigations", text);
}

/* Who is beneath: a virtual machine's name for itself, or "none". */
static void add_hypervisor(Facts *facts)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) {
        return;
    }
    if (!(ecx & CPUID_HYPERVISOR_BIT)) {
        facts_add_text(facts, "hypervisor", "none");
        return;
    }
    unsigned name[4] = {0};
    __cpuid(CPUID_HYPERVISOR, eax, name[0], name[1], name[2]);
    char text[sizeof name];
    memcpy(text, name, sizeof text);
    facts_add_text(facts, "hypervisor", *text ? text : "unnamed");
#else
    (void)facts; /* there is no sure way to tell: not known */
#endif
}

static void add_policy(Facts *facts)
{
    static const struct {
        int policy;
        const char *name;
    } policies[] = {{SCHED_OTHER, "other"},
                    {SCHED_BATCH, "batch"},
                    {SCHED_IDLE, "idle"},
                    {SCHED_FIFO, "fifo"},
                    {SCHED_RR, "rr"}};
    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    for (unsigned i = 0; i < G_N_ELEMENTS(policies); i++) {
        if (policies[i].policy == policy) {
            facts_add_text(facts, "policy", policies[i].name);
        }
    }
    struct sched_param param;
    if (sched_getparam(0, &param) == 0) {
        facts_add_number(facts, "priority", param.sched_priority);
    }
    errno = 0;
    int nice_value = getpriority(PRIO_PROCESS, 0);
    if (errno == 0) {
        facts_add_number(facts, "nice", nice_value);
    }
}

static void add_kernel(Facts *facts)
{
    static const char *const models[] = {"PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT"};
    struct utsname names;
    if (uname(&names) != 0) {
        return;
    }
    facts_add_text(facts, "kernel", names.release);
    facts_add_text(facts, "architecture", names.machine);
    for (unsigned i = 0; i < G_N_ELEMENTS(models); i++) {
        if (strstr(names.version, models[i])) {
            facts_add_text(facts, "preemption", models[i]);
            return;
        }
    }
}

/* Whole GiB: what firmware and kernel keep for themselves differs a little from boot to boot. */
static void add_memory(Facts *facts, const char *root)
{
    uint64_t kib;
    g_autofree char *text = read_text(root, "/proc/meminfo");
    if (text && fact_file_field(text, "MemTotal:", &kib)) {
        g_autofree char *size = g_strdup_printf("%.0f GiB", ceil((double)kib / KIB_PER_GIB));
        facts_add_text(facts, "memory", size);
    }
}

static void add_microcode(Facts *facts, const char *root)
{
    g_autofree char *text = read_text(root, "/proc/cpuinfo");
    char *line = text ? strstr(text, "\nmicrocode") : NULL;
    char *value = line ? strchr(line, ':') : NULL;
    if (value) {
        value[strcspn(value, "\n")] = '\0';
        facts_add_text(facts, "microcode", value + 1);
    }
}

void kernel_facts_add(Facts *facts, const char *root)
{
    add_kernel(facts);
    add_policy(facts);
    add_hypervisor(facts);
    add_aslr(facts, root);
    add_boost(facts, root);
    add_mitigations(facts, root);
    add_memory(facts, root);
    add_microcode(facts, root);
    add_of_all_cpus(facts, "governor", root, "scaling_governor");
    add_of_all_cpus(facts, "cpu_driver", root, "scaling_driver");
    add_chosen(facts, "thp", root, "/sys/kernel/mm/transparent_hugepage/enabled");
    add_file(facts, "smt", root, "/sys/devices/system/cpu/smt/control");
    add_file(facts, "clocksource", root,
             "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    add_file(facts, "isolated_cpus", root, "/sys/devices/system/cpu/isolated");
    add_file(facts, "nohz_full", root, "/sys/devices/system/cpu/nohz_full");
    g_autofree char *autogroup = read_text(root, "/proc/sys/kernel/sched_autogroup_enabled");
    if (autogroup) {
        facts_add_bool(facts, "autogroup", *autogroup == '1');
    }
    long page_bytes = sysconf(_SC_PAGESIZE);
    facts_add_number(facts, "page_bytes", (double)page_bytes);
}

void kernel_facts_add_build(Facts *facts)
{
#if defined(__clang__)
    facts_add_text(facts, "compiler", "clang " __clang_version__);
#else
    facts_add_text(facts, "compiler", "gcc " __VERSION__);
#endif
    facts_add_text(facts, "compiler_flags", MACHINE_COMPILER_FLAGS);
    facts_add_text(facts, "build_type", MACHINE_BUILD_TYPE);
    g_autofree char *libc = g_strconcat("glibc ", gnu_get_libc_version(), NULL);
    facts_add_text(facts, "libc", libc);
}
