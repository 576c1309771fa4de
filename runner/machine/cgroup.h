/* SPDX-License-Identifier: Apache-2.0
 * What the control groups of this process allow and have done to it: version 2, and the cpu
 * controller of version 1. Limits of enclosing groups count: the tightest binds, and any of them
 * throttles. `root` is "" for this machine; tests give a folder that holds proc/self/cgroup and
 * sys/fs/cgroup. */
#pragma once

#include <stdbool.h>

/* CPUs' worth of time; 0 where there is no limit or none is known. */
double cgroup_quota_cpus(const char *root);

/* How long tasks of these groups have been held back so far, in milliseconds. False where the
 * kernel does not say. */
bool cgroup_throttled_ms(const char *root, double *out_ms);
