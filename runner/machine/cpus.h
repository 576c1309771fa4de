/* SPDX-License-Identifier: Apache-2.0
 * How many CPUs this process can really use. */
#pragma once

#include <stdint.h>

#define CPUS_LIST_BYTES 512

struct cpus {
    uint32_t online;            /* at least 1 */
    uint32_t affinity;          /* in the calling thread's mask; at least 1 */
    double quota;               /* control groups' limit; 0: none */
    uint32_t effective;         /* min(online, affinity, ceil(quota)), at least 1 */
    char list[CPUS_LIST_BYTES]; /* the mask: "0-3,8" */
};

/* `root`: as for cgroup_quota_cpus. */
void cpus_read(const char *root, struct cpus *out);
