/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner machine: the facts that a run says about this machine, and its topology. Main
 * thread. */
#include "runner/command.h"

#include "runner/machine/machine.h"
#include "runner/options.h"
#include "runner/show/console.h"
#include <jansson.h>

static const struct option_spec specs[] = {
    {"json", 'j', OPTION_FLAG, NULL, "Print JSON"},
    {0},
};

static const struct option_usage usage = {
    .command = "machine",
    .summary =
        "Shows what a run says about this machine: the facts that move results, and the topology.",
    .examples = "Examples:\n  breakeven-runner machine\n  breakeven-runner machine --json | jq "
                ".environment\n",
    .specs = specs,
};

static void print_facts(const json_t *facts)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(guintptr)facts, name, value)
    {
        if (json_is_string(value)) {
            console_print("  %-24s %s\n", name, json_string_value(value));
            continue;
        }
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
        console_print("  %-24s %s\n", name, text);
        free(text);
    }
}

static bool print_text(const Machine *machine, const json_t *facts, GError **error)
{
    g_autofree char *topology = machine_draw(error);
    if (!topology)
        return false;
    console_print("Host       %s\n", g_get_host_name());
    console_print("CPU        %s\n", machine->cpu_model ? machine->cpu_model : "not known");
    console_print("Cores      %u cores, %u threads, %u %s\n", machine->cores, machine->pus,
                  machine->packages, machine->packages == 1 ? "package" : "packages");
    console_print("Caches     %s\n", machine->caches ? machine->caches : "not known");
    console_print("Usable     %u %s (online %u, affinity %u, ", machine->effective_cpus,
                  machine->effective_cpus == 1 ? "CPU" : "CPUs", machine->online_cpus,
                  machine->affinity_cpus);
    if (machine->quota_cpus > 0)
        console_print("quota %.2f)\n", machine->quota_cpus);
    else
        console_print("no quota)\n");
    console_print("\nFacts of a run\n");
    print_facts(facts);
    console_print("\nTopology\n%s", topology);
    return true;
}

static void print_json(const Machine *machine, json_t *facts)
{
    json_t *object = json_object();
    json_object_set(object, "environment", facts);
    json_object_set_new(object, "online_cpus", json_integer(machine->online_cpus));
    json_object_set_new(object, "affinity_cpus", json_integer(machine->affinity_cpus));
    json_object_set_new(object, "quota_cpus",
                        machine->quota_cpus > 0 ? json_real(machine->quota_cpus) : json_null());
    json_object_set_new(object, "effective_cpus", json_integer(machine->effective_cpus));
    json_object_set_new(object, "cores", json_integer(machine->cores));
    json_object_set_new(object, "pus", json_integer(machine->pus));
    json_object_set_new(object, "packages", json_integer(machine->packages));
    json_object_set_new(object, "cpu", json_string(machine->cpu_model ? machine->cpu_model : ""));
    json_object_set_new(object, "caches", json_string(machine->caches ? machine->caches : ""));
    json_object_set_new(object, "topology",
                        json_string(machine->topology_xml ? machine->topology_xml : ""));
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    console_print("%s\n", text);
    free(text);
    json_decref(object);
}

static int show(bool is_json, GError **error)
{
    g_autoptr(Machine) machine = machine_read(error);
    if (!machine)
        return COMMAND_FAILED;
    json_t *facts = json_loads(machine->environment_json, 0, NULL);
    bool is_good = true;
    if (is_json)
        print_json(machine, facts);
    else
        is_good = print_text(machine, facts, error);
    json_decref(facts);
    return is_good ? EXIT_FINE : COMMAND_FAILED;
}

int command_machine(int argc, char **argv, GError **error)
{
    g_autoptr(Options) options = options_parse(&usage, argc, argv, error);
    if (!options)
        return COMMAND_FAILED;
    if (!options_flag(options, "help"))
        return show(options_flag(options, "json"), error);
    g_autofree char *help = options_help(&usage);
    console_print("%s", help);
    return EXIT_FINE;
}
