/* SPDX-License-Identifier: Apache-2.0
 * Where the threads of a measurement may run. The whole process is bound to a set of CPUs before
 * the executor is made, so that the threads of any library inherit it; which of the set's CPUs a
 * thread then runs on is the kernel's choice.
 *
 *   ""          not bound (a plan writes none)
 *   "compact"   as many CPUs as there are threads, next to each other: the hardware threads of one
 *               core first, then those of its caches
 *   "scatter"   as many CPUs as there are threads, as far from each other as they can be
 *   "pu:N"      the one CPU N, numbered as the kernel does
 *
 * Of the CPUs that this process may use; more threads than those are all of them. Threads are those
 * of the executor and the one that submits. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* ERROR_INVALID where the text is none of these. */
bool placement_check(const char *placement, GError **error);

/* Binds this process and verifies that the kernel did it: that it says so, and that this thread
 * runs there. `out_cpus` (NULL: not wanted) gets the set as text ("0-1"); free it with g_free.
 * ERROR_UNAVAILABLE where it cannot be. */
bool placement_apply(const char *placement, uint32_t threads, char **out_cpus, GError **error);

/* The set for a checked placement that binds, out of `allowed`. Pure. False, ERROR_UNAVAILABLE,
 * where a CPU is not there. */
struct hwloc_topology;
struct hwloc_bitmap_s;
bool placement_choose(struct hwloc_topology *topology, const struct hwloc_bitmap_s *allowed,
                      const char *placement, uint32_t threads, struct hwloc_bitmap_s *out_set,
                      GError **error);
