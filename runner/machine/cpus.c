/* SPDX-License-Identifier: Apache-2.0
 * Counts usable CPUs from the kernel's count, this thread's affinity mask and the control groups'
 * quota. Any thread. */
#include "runner/machine/cpus.h"
#include "runner/machine/cgroup.h"
#include <glib.h>
#include <math.h>
#include <sched.h>
#include <unistd.h>

static void list_print(const cpu_set_t *set, char list[CPUS_LIST_BYTES])
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, set)) {
            continue;
        }
        size_t first = cpu;
        while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, set)) {
            cpu++;
        }
        g_string_append_printf(text, text->len ? ",%zu" : "%zu", first);
        if (cpu > first) {
            g_string_append_printf(text, "-%zu", cpu);
        }
    }
    g_strlcpy(list, text->str, CPUS_LIST_BYTES);
}

void cpus_read(const char *root, struct cpus *out)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    *out = (struct cpus){.online = online > 0 ? (uint32_t)online : 1};
    out->affinity = out->online;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        out->affinity = (uint32_t)CPU_COUNT(&set);
        list_print(&set, out->list);
    }
    out->quota = cgroup_quota_cpus(root);
    out->effective = MIN(out->online, out->affinity);
    double quota_cpus = ceil(out->quota);
    if (quota_cpus > 0 && quota_cpus < out->effective) {
        out->effective = (uint32_t)quota_cpus;
    }
    out->effective = MAX(out->effective, 1);
}
