/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner machine: the facts that a run says about this machine, its topology, and the
 * doctor: what its primitives cost, and what stands in the way of steady figures. Main thread. */
#include "runner/command.h"

#include "runner/doctor.h"
#include "runner/machine/machine.h"
#include "runner/options.h"
#include "runner/show/console.h"
#include <jansson.h>

static const struct option_spec specs[] = {
    OPTION_ROW_JSON,
    {0},
};

static const struct option_usage usage = {
    .command = "machine",
    .summary =
        "Shows what a run says about this machine: the facts that move results, and the topology. "
        "Measures what clock, system calls, hand-offs, wake-ups and threads cost (about a second), "
        "and says for each and for what disturbs measuring that it is fine, or what to do.",
    .examples = "Examples:\n  breakeven-runner machine\n  breakeven-runner machine --json | jq "
                ".environment\n"
                "  breakeven-runner machine --json | jq '.checks[] | select(.fine | not)'\n",
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

static void print_checks(const GPtrArray *checks)
{
    guint n_advice = 0;
    console_print("\nFit to measure?\n");
    for (guint i = 0; i < checks->len; i++) {
        const struct doctor_check *check = (const struct doctor_check *)checks->pdata[i];
        console_print("  %-20s %-5s %s\n", check->name, check->advice ? "look" : "fine",
                      check->value);
        if (check->advice)
            console_print("  %-20s       %s\n", "", check->advice);
        n_advice += check->advice != NULL;
    }
    console_print(n_advice ? "  %u of %u checks have something to do\n" : "  all is fine\n",
                  n_advice, checks->len);
}

static bool print_text(const Machine *machine, const json_t *facts, const GPtrArray *checks,
                       GError **error)
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
    print_checks(checks);
    return true;
}

static json_t *checks_json(const GPtrArray *checks)
{
    json_t *array = json_array();
    for (guint i = 0; i < checks->len; i++) {
        const struct doctor_check *check = (const struct doctor_check *)checks->pdata[i];
        json_t *row = json_pack("{s:s, s:s, s:b}", "name", check->name, "value", check->value,
                                "fine", check->advice == NULL);
        if (check->unit) {
            json_object_set_new(row, "number", json_real(check->number));
            json_object_set_new(row, "unit", json_string(check->unit));
        }
        if (check->advice)
            json_object_set_new(row, "advice", json_string(check->advice));
        json_array_append_new(array, row);
    }
    return array;
}

static void print_json(const Machine *machine, json_t *facts, const GPtrArray *checks)
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
    json_object_set_new(object, "checks", checks_json(checks));
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
    struct machine_costs costs;
    struct doctor_moment moment;
    doctor_read_moment("", &moment); /* before its own work adds to it */
    machine_costs_measure(&costs);
    g_autoptr(GPtrArray) checks = doctor_judge(&costs, facts, &moment);
    bool is_good = true;
    if (is_json)
        print_json(machine, facts, checks);
    else
        is_good = print_text(machine, facts, checks, error);
    json_decref(facts);
    return is_good ? EXIT_FINE : COMMAND_FAILED;
}

int command_machine(int argc, char **argv, GError **error)
{
    int code = EXIT_FINE;
    g_autoptr(Options) options = command_begin(&usage, argc, argv, &code, error);
    return options ? show(options_flag(options, "json"), error) : code;
}
