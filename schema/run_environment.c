/* SPDX-License-Identifier: Apache-2.0
 * Which facts of a machine move results. A changed digest is marked on every line of the machine,
 * so what changes by itself (load, uptime, temperature, host name, current frequency) must not be
 * in the table. Any thread. */
#include "schema/document.h"
#include "schema/number.h"
#include "schema/run.h"

#include <string.h>

/* Names as the runner's machine facts and other senders use them; sorted, so that the digest does
 * not depend on their order. */
static const char *const facts[] = {
    "affinity",       /* the CPUs this process may use */
    "affinity_cpus",  /* how many those are */
    "architecture",   /* x86_64, aarch64 */
    "aslr",           /* address randomisation: layout effects */
    "autogroup",      /* whether the kernel groups tasks by session */
    "boost",          /* whether the CPU may exceed its base frequency */
    "build_type",     /* optimised or not */
    "caches",         /* sizes and sharing */
    "clocksource",    /* tsc, kvm-clock, hpet: what a clock read costs */
    "compiler",       /* name and version */
    "compiler_flags", /* what it was told */
    "cores",          /* physical ones */
    "cpu",            /* model */
    "cpu_driver",     /* who scales the frequency */
    "cpus",           /* logical ones */
    "effective_cpus", /* min(online, affinity, quota) */
    "governor",       /* how the frequency is chosen */
    "hypervisor",     /* none, kvm, xen, … */
    "isolated_cpus",  /* kept free by the kernel */
    "kernel",         /* release */
    "libc",           /* name and version: malloc, memcpy, locks */
    "memory",         /* installed */
    "microcode",      /* revision */
    "mitigations",    /* what the kernel does against speculative execution */
    "nice",           /* of the measuring process */
    "nohz_full",      /* CPUs without a timer tick */
    "numa_nodes",     /* memories */
    "online_cpus",    /* not switched off */
    "packages",       /* sockets */
    "page_bytes",     /* size of a page */
    "policy",         /* scheduling policy */
    "preemption",     /* the kernel's model */
    "priority",       /* within the policy */
    "pus",            /* hardware threads */
    "quota",          /* the cgroup's CPU limit */
    "quota_cpus",     /* the same as a number of CPUs */
    "smt",            /* hyper-threading on or off */
    "thp",            /* transparent huge pages */
    "turbo",          /* as boost, by another name */
};

static bool fact_is_known(const json_t *value)
{
    const char *text = json_string_value(value);

    return value && !(text && (*text == '\0' || strcmp(text, "unknown") == 0));
}

char *run_environment_digest(const char *environment_json)
{
    g_autoptr(GString) text = g_string_new("{");
    json_t *tree =
        environment_json ? document_load(environment_json, strlen(environment_json), NULL) : NULL;

    if (!environment_json)
        return NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(facts); i++) {
        json_t *value = json_object_get(tree, facts[i]);

        if (!fact_is_known(value))
            continue;
        json_append_string(text, facts[i]);
        g_string_append_c(text, ':');
        document_append_scalar(text, value);
        g_string_append_c(text, ',');
    }
    json_decref(tree);
    return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, (gssize)text->len);
}

char *run_map_text(const char *json_text)
{
    static const struct place top = {0};
    g_autoptr(Faults) faults = faults_new();
    json_t *tree = document_load(json_text, strlen(json_text), NULL);
    char *text = NULL;

    if (!tree)
        return NULL;
    document_take_scalars((struct reading){.faults = faults, .place = &top}, tree, NULL, &text);
    json_decref(tree);
    if (!text && faults->found == 0)
        text = g_strdup("{}");
    return text;
}
