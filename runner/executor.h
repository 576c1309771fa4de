/* SPDX-License-Identifier: Apache-2.0
 * The plug-in contract: what a thing that runs tasks looks like to the benchmarks. An executor is one constant table of functions.
 * The table is versioned and size-tagged: the host reads only members that lie below `size`, so a plug-in built against an
 * older header keeps working. Plain C; also compiles as C++ and Objective-C.
 *
 * Threads: create, wait_all and destroy are called from one thread, the main thread of a process that measures one cell and ends.
 * submit is called from that thread, and from workers where EXECUTOR_SUBMIT_WORKER is declared. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EXECUTOR_ABI 1u

typedef void (*executor_task_fn)(void *argument);

struct executor_config {
    uint32_t size;    /* sizeof(struct executor_config) of the host */
    uint32_t threads; /* threads that may run tasks, at least 1 */
};

enum executor_capability {
    EXECUTOR_SUBMIT_WORKER = 1 << 0, /* tasks may submit tasks */
    EXECUTOR_REUSABLE = 1 << 1,      /* may be used again after wait_all */
    EXECUTOR_CALLER_HELPS = 1 << 2,  /* the thread that waits runs tasks too, and counts as one of `threads` */
    EXECUTOR_NO_THREADS = 1 << 3     /* runs each task at once, in submit: takes no parameter `threads` */
};

struct executor_ops {
    uint32_t abi;          /* EXECUTOR_ABI */
    uint32_t size;         /* sizeof(struct executor_ops) of the plug-in */
    uint64_t capabilities; /* enum executor_capability, or-ed */
    const char *name;
    const char *version; /* of the library behind it; "" where there is none */

    /* All return 0 or -errno. create writes a message that names what is wrong into `message` when it fails. */
    int (*create)(void **out_self, const struct executor_config *config, char *message, size_t message_size);
    int (*submit)(void *self, executor_task_fn task, void *argument);
    int (*wait_all)(void *self); /* returns when every task submitted so far has run */
    /* Runs what is queued, then stops and joins all threads: the end of the timed region of ThreadPoolSpawn. Called at most once. */
    int (*shutdown)(void *self);
    void (*destroy)(void *self); /* after shutdown or without it; leaves no thread; takes what create made */
};

#ifdef __cplusplus
}
#endif
