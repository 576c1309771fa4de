/* SPDX-License-Identifier: Apache-2.0
 * See demo_machine.h. Each moment has its own stream of numbers, so that nothing else of the
 * history depends on them. */
#include "server/demo/demo_machine.h"

#include "server/demo/demo_plan.h"

#include <math.h>

#define KIB          1024u
#define SAMPLES_MAX  SYNTHETIC_SAMPLES_MAX
#define HANDOFF_MOVE 0.07 /* what the new kernel does to it, as to locks */

static const struct {
    guint packages, caches, cores, threads; /* of the one before */
    guint l1_kib, l2_kib, l3_kib;           /* l3_kib 0: the second level is shared by the cores */
    const char *model;
    double handoff_ns, fixed_loop_ns;
} shapes[DEMO_MACHINES] = {{2, 4, 8, 2, 48, 1024, 32 * KIB, "64 cores, 3.25 GHz", 58, 30770},
                           {1, 2, 8, 2, 32, 512, 32 * KIB, "16 cores, 3.6 GHz", 42, 27780},
                           {1, 1, 4, 1, 32, 2 * KIB, 0, "4 cores, 2.4 GHz", 96, 41700}};

/* ---- Topology -------------------------------------------------------------------------------- */

static void open_cache(GString *xml, guint level, guint kib, bool is_data)
{
    g_string_append_printf(xml,
                           "<object type=\"L%uCache\" cache_size=\"%u\" depth=\"%u\" "
                           "cache_linesize=\"64\" cache_type=\"%u\">",
                           level, kib * KIB, level, is_data ? 1u : 0u);
}

static void append_core(GString *xml, guint machine, guint core, guint n_cores)
{
    bool has_third = shapes[machine].l3_kib > 0;
    if (has_third)
        open_cache(xml, 2, shapes[machine].l2_kib, false);
    open_cache(xml, 1, shapes[machine].l1_kib, true);
    g_string_append_printf(xml, "<object type=\"Core\" os_index=\"%u\">", core);
    for (guint thread = 0; thread < shapes[machine].threads; thread++)
        g_string_append_printf(xml, "<object type=\"PU\" os_index=\"%u\"/>",
                               core + thread * n_cores);
    g_string_append(xml, has_third ? "</object></object></object>" : "</object></object>");
}

static void append_package(GString *xml, guint machine, guint package)
{
    guint in_package = shapes[machine].caches * shapes[machine].cores;
    guint n_cores = shapes[machine].packages * in_package;
    bool has_third = shapes[machine].l3_kib > 0;
    g_string_append_printf(xml,
                           "<object type=\"Package\" os_index=\"%u\"><info name=\"CPUModel\" "
                           "value=\"%s\"/><object type=\"NUMANode\" os_index=\"%u\"/>",
                           package, shapes[machine].model, package);
    for (guint cache = 0; cache < shapes[machine].caches; cache++) {
        open_cache(xml, has_third ? 3 : 2,
                   has_third ? shapes[machine].l3_kib : shapes[machine].l2_kib, false);
        for (guint core = 0; core < shapes[machine].cores; core++)
            append_core(xml, machine, package * in_package + cache * shapes[machine].cores + core,
                        n_cores);
        g_string_append(xml, "</object>");
    }
    g_string_append(xml, "</object>");
}

char *demo_machine_topology(guint machine)
{
    GString *xml = g_string_new("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
                                "<topology version=\"2.0\"><object type=\"Machine\" "
                                "os_index=\"0\">");
    for (guint package = 0; package < shapes[machine].packages; package++)
        append_package(xml, machine, package);
    g_string_append(xml, "</object></topology>");
    return g_string_free(xml, FALSE);
}

/* ---- Probe ----------------------------------------------------------------------------------- */

/* To a hundredth of a nanosecond, so that the last bit of an exponential does not show. */
static double hundredths(double value)
{
    return round(value * 100) / 100;
}

void demo_machine_probe(struct run_result *result, const struct demo_moment *at, guint n_samples)
{
    const struct demo_machine *machine = &demo_machines[at->machine];
    guint64 state = at->seed * 1000003 + at->commit * 31 + at->machine;
    double handoff[SAMPLES_MAX], loop[SAMPLES_MAX];
    bool has_moved = machine->new_kernel && at->commit >= machine->kernel_at;
    double level = shapes[at->machine].handoff_ns * (has_moved ? 1 + HANDOFF_MOVE : 1);
    for (guint i = 0; i < n_samples && i < SAMPLES_MAX; i++) {
        double noise = machine->deviation * synthetic_normal(&state);
        handoff[i] = hundredths(level * exp(0.02 * noise));
        loop[i] =
            hundredths(shapes[at->machine].fixed_loop_ns * exp(0.002 * synthetic_normal(&state)));
    }
    run_result_add_beside(result, "handoff", "ns", handoff, MIN(n_samples, SAMPLES_MAX));
    run_result_add_beside(result, "fixed_loop", "ns", loop, MIN(n_samples, SAMPLES_MAX));
}
