/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner list: what can be measured: benchmarks, executors and whether they are
 * installed, parameters, metrics. Main thread. */
#include "runner/command.h"

#include "runner/benches/bench.h"
#include "runner/executors/executors.h"
#include "runner/options.h"
#include "runner/show/console.h"
#include <jansson.h>

static const struct option_spec specs[] = {
    OPTION_ROW_JSON,
    {0},
};

static const struct option_usage usage = {
    .command = "list",
    .summary = "Lists benchmarks, executors, parameters and metrics.",
    .examples = "Examples:\n  breakeven-runner list\n  breakeven-runner list --json | jq -r "
                "'.executors[].name'\n",
    .specs = specs,
};

struct described {
    const char *name, *text, *extra; /* extra: a parameter's usual values, a metric's unit */
};

static const struct described parameters[] = {
    {"executor", "what runs the tasks (--executor)", ""},
    {"threads", "threads that may run tasks (--threads)", "1, 2, 4, 8"},
    {"task_cost", "shift-and-subtract steps of one task (--task-cost)", "1000, 10000, 100000"},
    {"placement", "where threads may run (--param placement=compact)",
     "none, compact, scatter, pu:N"},
};

static const struct described metrics[] = {
    {"items_per_second", "tasks over wall time; higher is better", "items/s"},
    {"real_time", "wall time of one iteration; lower is better", "ns"},
    {"cpu_time_per_item", "CPU time of the process over tasks; lower is better", "ns"},
    {"caller_break_even", "work of a task whose call costs as much as its submit", "ns"},
    {"reply_break_even", "work that is half of the time until the reply", "ns"},
    {"throughput_break_even", "work at which the threads match a plain call", "ns"},
    {"metg_50", "granularity at which the cores are half used: METG(50 %)", "ns"},
};

/* NULL where the executor is installed; else what to do. */
static char *absence_of(const struct executor_entry *entry)
{
    g_autoptr(GError) problem = NULL;
    struct executor_facts facts;
    if (executor_describe(entry->name, &facts, &problem))
        return NULL;
    return g_strdup(problem->message);
}

static void print_text(void)
{
    console_print("Benchmarks\n");
    for (const struct bench *const *bench = benches; *bench; bench++)
        console_print("  %-20s %s%s%s%s\n", (*bench)->name, (*bench)->description,
                      *(*bench)->executors ? " [" : "", (*bench)->executors,
                      *(*bench)->executors ? "]" : "");
    console_print("\nExecutors\n");
    for (const struct executor_entry *entry = executors; entry->name; entry++) {
        g_autofree char *absence = absence_of(entry);
        console_print("  %-20s %s%s%s\n", entry->name, entry->description, absence ? "; " : "",
                      absence ? absence : "");
    }
    console_print("\nParameters\n");
    for (gsize i = 0; i < G_N_ELEMENTS(parameters); i++)
        console_print("  %-20s %s%s%s\n", parameters[i].name, parameters[i].text,
                      *parameters[i].extra ? ": " : "", parameters[i].extra);
    for (const struct bench *const *bench = benches; *bench; bench++)
        for (const struct bench_param *own = (*bench)->params; own && own->name; own++)
            console_print("  %-20s of %s (--param %s=…): %s%s%s\n", own->name, (*bench)->name,
                          own->name, own->allowed, *own->values ? "; usually " : "", own->values);
    console_print("\nMetrics\n");
    for (gsize i = 0; i < G_N_ELEMENTS(metrics); i++)
        console_print("  %-20s %s (%s)\n", metrics[i].name, metrics[i].text, metrics[i].extra);
}

static json_t *strings_json(const char *list)
{
    json_t *array = json_array();
    g_auto(GStrv) items = g_strsplit(list, ",", -1);
    for (char **item = items; *item; item++)
        if (**item)
            json_array_append_new(array, json_string(g_strstrip(*item)));
    return array;
}

static json_t *described_json(const struct described *rows, gsize n, const char *extra_name)
{
    json_t *array = json_array();
    for (gsize i = 0; i < n; i++) {
        json_t *row = json_pack("{s:s, s:s}", "name", rows[i].name, "description", rows[i].text);
        if (*rows[i].extra)
            json_object_set_new(row, extra_name, json_string(rows[i].extra));
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *benches_json(void)
{
    json_t *array = json_array();
    for (const struct bench *const *bench = benches; *bench; bench++) {
        json_t *row = json_pack("{s:s, s:s, s:i}", "name", (*bench)->name, "description",
                                (*bench)->description, "version", (int)(*bench)->version);
        json_object_set_new(row, "executors", strings_json((*bench)->executors));
        json_object_set_new(row, "takes_threads", json_boolean((*bench)->takes_threads));
        json_t *own = json_object();
        for (const struct bench_param *param = (*bench)->params; param && param->name; param++)
            json_object_set_new(own, param->name,
                                json_pack("{s:s, s:o}", "allowed", param->allowed, "values",
                                          strings_json(param->values)));
        json_object_set_new(row, "params", own);
        json_array_append_new(array, row);
    }
    return array;
}

static json_t *executors_json(void)
{
    json_t *array = json_array();
    for (const struct executor_entry *entry = executors; entry->name; entry++) {
        g_autofree char *absence = absence_of(entry);
        json_t *row =
            json_pack("{s:s, s:s}", "name", entry->name, "description", entry->description);
        json_object_set_new(row, "installed", json_boolean(!absence));
        if (absence)
            json_object_set_new(row, "message", json_string(absence));
        json_array_append_new(array, row);
    }
    return array;
}

static void print_json(void)
{
    json_t *list = json_object();
    json_object_set_new(list, "benchmarks", benches_json());
    json_object_set_new(list, "executors", executors_json());
    json_object_set_new(list, "parameters",
                        described_json(parameters, G_N_ELEMENTS(parameters), "usual"));
    json_object_set_new(list, "metrics", described_json(metrics, G_N_ELEMENTS(metrics), "unit"));
    char *text = json_dumps(list, JSON_INDENT(2));
    console_print("%s\n", text);
    free(text);
    json_decref(list);
}

int command_list(int argc, char **argv, GError **error)
{
    int code = EXIT_FINE;
    g_autoptr(Options) options = command_begin(&usage, argc, argv, &code, error);
    if (!options)
        return code;
    if (options_flag(options, "json"))
        print_json();
    else
        print_text();
    return code;
}
