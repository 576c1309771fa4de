/* SPDX-License-Identifier: Apache-2.0
 * The machine that measures, as a structure: topology, usable CPUs, and all facts as the run
 * document's environment. Knows nothing of benchmarks; runs in the thread that measures. */
#include "runner/machine/machine.h"
#include "runner/machine/cpus.h"
#include "runner/machine/facts.h"
#include "runner/machine/kernel_facts.h"
#include "runner/machine/topology.h"

static char *environment(const Machine *machine, const struct cpus *cpus,
                         const struct topology_counts *counts)
{
    g_autoptr(Facts) facts = facts_new();
    facts_add_text(facts, "cpu", machine->cpu_model);
    facts_add_text(facts, "caches", machine->caches);
    facts_add_number(facts, "packages", counts->packages);
    facts_add_number(facts, "cores", counts->cores);
    facts_add_number(facts, "pus", counts->pus);
    facts_add_number(facts, "numa_nodes", counts->numa_nodes);
    facts_add_number(facts, "online_cpus", cpus->online);
    facts_add_text(facts, "affinity", cpus->list);
    facts_add_number(facts, "affinity_cpus", cpus->affinity);
    if (cpus->quota > 0) {
        facts_add_number(facts, "quota", cpus->quota);
    }
    facts_add_number(facts, "effective_cpus", cpus->effective);
    kernel_facts_add(facts, "");
    kernel_facts_add_build(facts);
    return facts_print(facts);
}

Machine *machine_read(GError **error)
{
    g_autoptr(Topology) topology = topology_load(error);
    if (!topology) {
        return NULL;
    }
    char *xml = topology_xml(topology, error);
    if (!xml) {
        return NULL;
    }
    Machine *machine = g_new0(Machine, 1);
    machine->topology_xml = xml;
    const struct topology_counts counts = topology_count(topology);
    struct cpus cpus;
    cpus_read("", &cpus);
    machine->online_cpus = cpus.online;
    machine->affinity_cpus = cpus.affinity;
    machine->quota_cpus = cpus.quota;
    machine->effective_cpus = cpus.effective;
    machine->cores = counts.cores;
    machine->pus = counts.pus;
    machine->packages = counts.packages;
    machine->cpu_model = topology_cpu_model(topology);
    machine->caches = topology_caches(topology);
    machine->environment_json = environment(machine, &cpus, &counts);
    return machine;
}

void machine_free(Machine *machine)
{
    if (machine) {
        g_free(machine->cpu_model);
        g_free(machine->caches);
        g_free(machine->environment_json);
        g_free(machine->topology_xml);
        g_free(machine);
    }
}

char *machine_draw(GError **error)
{
    g_autoptr(Topology) topology = topology_load(error);
    return topology ? topology_draw(topology) : NULL;
}
