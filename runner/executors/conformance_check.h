/* SPDX-License-Identifier: Apache-2.0
 * One check of conformance: what it is given, and the table. Runs in the main thread of a child
 * process that ends after it, so a check that fails leaves things as they are. */
#pragma once

#include "runner/executor.h"
#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>

#define CONFORMANCE_TASKS_MAX 10000u
/* In `needs`: beside the bits of enum executor_capability. */
#define CONFORMANCE_NEEDS_REGION (UINT64_C(1) << 63)

struct conformance;

struct conformance_check {
    const char *name, *promise;
    uint64_t needs;   /* asked only of executors that declare all of these */
    uint64_t without; /* and none of these */
    void (*run)(struct conformance *conformance);
};

struct conformance {
    const struct executor_ops *ops;
    void *self;
    uint32_t threads;
    GString *fault; /* the first; empty: none so far */
};

extern const struct conformance_check conformance_use_checks[];  /* tasks: end with name NULL */
extern const struct conformance_check conformance_life_checks[]; /* threads, errors, idling */

/* The fault, where there is none yet. Returns false. */
G_GNUC_PRINTF(2, 3)
bool conformance_fails(struct conformance *conformance, const char *format, ...);

bool conformance_create(struct conformance *conformance, uint32_t threads);
void conformance_destroy(struct conformance *conformance);
/* `body` in the executor's region, where it has one. */
bool conformance_in_region(struct conformance *conformance, void (*body)(void *context));
bool conformance_submit(struct conformance *conformance, executor_task_fn task, void *argument);
bool conformance_wait(struct conformance *conformance);
uint32_t conformance_tasks(const struct conformance *conformance); /* a sensible number */
bool conformance_has(const struct conformance *conformance, uint64_t capabilities);
void conformance_sleep_ms(uint32_t ms);
