/* SPDX-License-Identifier: Apache-2.0
 * What the kernel and the firmware say that moves results: scheduling, frequency, mitigations,
 * clocks, and the like. */
#pragma once

#include "runner/machine/facts.h"

/* `root`: "" for this machine; tests give a folder that holds proc/ and sys/. Of this process:
 * policy, priority, nice. */
void kernel_facts_add(Facts *facts, const char *root);

/* "compiler", "compiler_flags", "build_type" of the timed code, and "libc". */
void kernel_facts_add_build(Facts *facts);
