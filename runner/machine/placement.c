/* SPDX-License-Identifier: Apache-2.0
 * Choosing CPUs and binding to them. Knows no benchmark. The main thread of a process that
 * measures, before it has other threads. */
#include "runner/machine/placement.h"
#include "schema/error.h"
#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <string.h>

#define PU_PREFIX    "pu:"
#define PU_MAX       65535u
#define LOOKS_MAX    100u /* at where this thread runs, until it has moved */
#define THREADS_MOST 4096u

static bool is_pu(const char *placement, uint64_t *out_pu)
{
    return g_str_has_prefix(placement, PU_PREFIX) &&
           g_ascii_string_to_unsigned(placement + strlen(PU_PREFIX), 10, 0, PU_MAX, out_pu, NULL);
}

bool placement_check(const char *placement, GError **error)
{
    uint64_t pu;
    if (!*placement || g_str_equal(placement, "compact") || g_str_equal(placement, "scatter") ||
        is_pu(placement, &pu)) {
        return true;
    }
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "placement must be none, compact, scatter or pu:N (one CPU, as in pu:0), not %s",
                placement);
    return false;
}

/* The allowed ones in the order of the topology: neighbours follow each other. */
static void choose_compact(hwloc_topology_t topology, hwloc_const_bitmap_t allowed, uint32_t n,
                           hwloc_bitmap_t out_set)
{
    hwloc_obj_t pu = NULL;
    while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) && n > 0) {
        if (hwloc_bitmap_isset(allowed, pu->os_index)) {
            hwloc_bitmap_set(out_set, pu->os_index);
            n--;
        }
    }
}

static bool choose_scatter(hwloc_topology_t topology, hwloc_const_bitmap_t allowed, uint32_t n,
                           hwloc_bitmap_t out_set)
{
    g_autofree hwloc_bitmap_t *parts = g_new0(hwloc_bitmap_t, n);
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    bool done = hwloc_distrib(topology, &root, 1, parts, n, INT32_MAX, 0) == 0;
    for (uint32_t i = 0; done && i < n; i++) {
        hwloc_bitmap_and(parts[i], parts[i], allowed);
        hwloc_bitmap_singlify(parts[i]);
        hwloc_bitmap_or(out_set, out_set, parts[i]);
        hwloc_bitmap_free(parts[i]);
    }
    /* Parts of which no CPU is allowed leave threads over: they take the next that are. */
    for (int cpu = hwloc_bitmap_first(allowed);
         done && cpu >= 0 && hwloc_bitmap_weight(out_set) < (int)n;
         cpu = hwloc_bitmap_next(allowed, cpu)) {
        hwloc_bitmap_set(out_set, (unsigned)cpu);
    }
    return done;
}

bool placement_choose(hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
                      const char *placement, uint32_t threads, hwloc_bitmap_t out_set,
                      GError **error)
{
    uint64_t pu;
    int n_allowed = hwloc_bitmap_weight(allowed);
    uint32_t n = MIN(MAX(threads, 1), (uint32_t)MAX(n_allowed, 1));
    hwloc_bitmap_zero(out_set);
    if (is_pu(placement, &pu)) {
        hwloc_bitmap_set(out_set, (unsigned)pu);
        if (hwloc_bitmap_isset(allowed, (unsigned)pu)) {
            return true;
        }
        char text[256] = "";
        hwloc_bitmap_list_snprintf(text, sizeof text, allowed);
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "placement %s: this process may use the CPUs %s", placement, text);
        return false;
    }
    if (g_str_equal(placement, "compact")) {
        choose_compact(topology, allowed, n, out_set);
    } else if (!choose_scatter(topology, allowed, n, out_set)) {
        hwloc_bitmap_zero(out_set);
    }
    if (hwloc_bitmap_iszero(out_set)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "placement %s: hwloc finds no CPUs to choose from", placement);
        return false;
    }
    return true;
}

/* The kernel may take a moment to move this thread. */
static bool runs_within(hwloc_topology_t topology, hwloc_const_bitmap_t set)
{
    hwloc_bitmap_t at = hwloc_bitmap_alloc();
    bool is_within = false;
    for (unsigned look = 0; at && !is_within && look < LOOKS_MAX; look++) {
        sched_yield();
        is_within = hwloc_get_last_cpu_location(topology, at, HWLOC_CPUBIND_THREAD) == 0 &&
                    hwloc_bitmap_isincluded(at, set);
    }
    hwloc_bitmap_free(at);
    return is_within;
}

static bool bind_and_verify(hwloc_topology_t topology, hwloc_const_bitmap_t set,
                            const char *placement, GError **error)
{
    if (hwloc_set_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) != 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "placement %s: the kernel refuses to bind this process: %s", placement,
                    g_strerror(errno));
        return false;
    }
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();
    bool is_bound = hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) == 0 &&
                    hwloc_bitmap_isequal(bound, set) && runs_within(topology, set);
    hwloc_bitmap_free(bound);
    if (!is_bound) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "placement %s: this process is not where it was bound to", placement);
    }
    return is_bound;
}

static bool choose_and_bind(hwloc_topology_t topology, const char *placement, uint32_t threads,
                            char **out_cpus, GError **error)
{
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc(), set = hwloc_bitmap_alloc();
    if (hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_PROCESS) != 0) {
        hwloc_bitmap_copy(allowed, hwloc_topology_get_allowed_cpuset(topology));
    }
    bool done = placement_choose(topology, allowed, placement, threads, set, error) &&
                bind_and_verify(topology, set, placement, error);
    if (done && out_cpus) {
        char text[256] = "";
        hwloc_bitmap_list_snprintf(text, sizeof text, set);
        *out_cpus = g_strdup(text);
    }
    hwloc_bitmap_free(allowed);
    hwloc_bitmap_free(set);
    return done;
}

bool placement_apply(const char *placement, uint32_t threads, char **out_cpus, GError **error)
{
    hwloc_topology_t topology;
    if (!*placement) {
        return true;
    }
    if (hwloc_topology_init(&topology) != 0) {
        topology = NULL;
    }
    if (!topology || hwloc_topology_load(topology) != 0) {
        if (topology) {
            hwloc_topology_destroy(topology);
        }
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "placement %s: the machine's topology cannot be read", placement);
        return false;
    }
    bool done = choose_and_bind(topology, placement, MIN(threads, THREADS_MOST), out_cpus, error);
    hwloc_topology_destroy(topology);
    return done;
}
