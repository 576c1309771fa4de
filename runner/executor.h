/* SPDX-License-Identifier: Apache-2.0
 * The plug-in contract: what a thing that runs tasks looks like to the benchmarks. This header is
 * all that a plug-in needs: it names no other header of this project, and compiles as C (from
 * gnu11), C++ and Objective-C.
 *
 * An executor is one constant table of functions, `struct executor_ops`. A plug-in is a shared
 * library that exports one symbol, breakeven_executor (below), which returns its table. The runner
 * loads it in a process of its own for each cell (`--executor ./libmine.so`), so it may crash,
 * hang, leak or keep global state without harm to other cells. `breakeven-runner check-executor
 * ./libmine.so` tests what is promised here. A library is never unloaded.
 *
 * Version: a table is tagged with EXECUTOR_ABI and its own size. The host reads only members that
 * lie below `size`; a later header only appends members, so a plug-in built against an older one
 * keeps working. Members that are not used are NULL, capabilities that are not had are not set.
 *
 * Threads: "the main thread" is the one that calls create; a process measures one case on it and
 * ends. create, wait_all, run_region, pump_main, shutdown and destroy are called from it only;
 * submit and submit_n from it, from tasks where EXECUTOR_SUBMIT_WORKER is declared, and from any
 * other thread where EXECUTOR_SUBMIT_ANY is; post_main from any thread. One executor exists at a
 * time in a process; create may follow destroy many times.
 *
 * Memory order: what was written before submit is seen by the task; what a task wrote is seen by
 * the main thread after the wait_all or shutdown that waited for it.
 *
 * Failures: functions that return int return 0, or a negative errno (such as -EAGAIN, -ENOMEM).
 * Nothing may print, exit or throw through these functions. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EXECUTOR_ABI 1u

/* A task returns, and throws nothing. */
typedef void (*executor_task_fn)(void *argument);

struct executor_config {
    uint32_t size;    /* sizeof(struct executor_config) of the host */
    uint32_t threads; /* threads that may run tasks, at least 1; of them one is the main thread
                         where EXECUTOR_CALLER_HELPS is declared */
};

enum executor_capability {
    EXECUTOR_SUBMIT_WORKER = 1 << 0, /* tasks may submit tasks; wait_all waits for those, too */
    EXECUTOR_REUSABLE = 1 << 1,      /* may be used again after wait_all */
    EXECUTOR_CALLER_HELPS = 1 << 2,  /* the main thread runs tasks too while it waits, and counts as
                                        one of `threads`: with 1 there is no other */
    EXECUTOR_NO_THREADS = 1 << 3,    /* runs each task at once, in submit: takes no `threads` */
    EXECUTOR_MAIN = 1 << 4,          /* has post_main and pump_main */
    EXECUTOR_BULK = 1 << 5,          /* has submit_n */
    EXECUTOR_GLOBAL = 1 << 6,        /* its threads belong to the process and outlive destroy */
    EXECUTOR_MAY_INLINE = 1 << 7,    /* submit may run the task at once, in the thread that calls */
    EXECUTOR_ELASTIC = 1 << 8,       /* decides itself how many threads run tasks: takes no
                                        `threads` (the host gives 1, which says nothing) */
    EXECUTOR_SPINS = 1 << 9,         /* its threads use CPU for a while, or for ever, when there is
                                        no task */
    EXECUTOR_SUBMIT_ANY = 1 << 10,   /* threads that are neither main nor its own may submit */
    EXECUTOR_THREAD_PER_TASK = 1 << 11 /* makes a thread for each task: benchmarks that would submit
                                          hundreds of thousands are cut short, and say so */
};

struct executor_ops {
    uint32_t abi;          /* EXECUTOR_ABI */
    uint32_t size;         /* sizeof(struct executor_ops) of the plug-in */
    uint64_t capabilities; /* enum executor_capability, or-ed */
    const char *name;      /* the value of the parameter `executor`, and so part of what a result is
                              told apart by: 1 to 64 of a-z 0-9 . _ -, not the name of one that
                              the runner has */
    const char *version;   /* of the library behind it; "" where there is none */

    /* Starts the threads: when it returns, tasks can be submitted. Where it fails it writes one
     * line that names what is wrong into `message` (NUL-terminated, cut to message_size) and makes
     * nothing. threads 0, or more than it can have, is -EINVAL. *out_self may be NULL in success.
     */
    int (*create)(void **out_self, const struct executor_config *config, char *message,
                  size_t message_size);
    /* Takes one task, to run exactly once with `argument`. May wait for room. Where it fails the
     * task never runs. After shutdown it fails (EXECUTOR_NO_THREADS: it may). */
    int (*submit)(void *self, executor_task_fn task, void *argument);
    /* Returns when every task submitted so far has run, and every task that those submitted. */
    int (*wait_all)(void *self);
    /* Runs what is queued, then stops and joins all threads that are not GLOBAL: the end of the
     * timed region of ThreadPoolSpawn. Called at most once; not inside run_region. */
    int (*shutdown)(void *self);
    /* After shutdown or without it; leaves no thread that is not GLOBAL; takes what create made. */
    void (*destroy)(void *self);

    /* From here on: NULL where it is not had. */

    /* EXECUTOR_BULK. Takes n tasks, one per argument, or fails and takes none. */
    int (*submit_n)(void *self, executor_task_fn task, void *const *arguments, size_t n);
    /* EXECUTOR_MAIN. Has the main thread run the task, exactly once, in a later pump_main (or
     * earlier where the main thread runs its library's loop, as in wait_all). */
    int (*post_main)(void *self, executor_task_fn task, void *argument);
    /* EXECUTOR_MAIN. Runs what was posted. Where nothing was, sleeps until something is, at most
     * timeout_ms (0: does not sleep, -1: no limit). Returns how many tasks ran, or -errno. It may
     * return 0 early. */
    int (*pump_main)(void *self, int timeout_ms);
    /* Optional with EXECUTOR_MAIN. A descriptor that polls readable when pump_main(self, 0) has
     * something to do; it belongs to the executor. Or -ENOTSUP. */
    int (*main_fd)(void *self);
    /* Where it is there, the host calls submit, submit_n and wait_all only in `body`, which this
     * calls once, in the main thread, within the library's parallel region or arena. Leaving it
     * waits for all tasks. May be called several times between create and shutdown. */
    int (*run_region)(void *self, void (*body)(void *context), void *context);
};

/* What a plug-in exports. Called once, before anything else. `host_abi` is the host's EXECUTOR_ABI;
 * NULL where the plug-in does not speak it. The table must live as long as the process. */
#define EXECUTOR_EXPORT __attribute__((visibility("default")))
EXECUTOR_EXPORT const struct executor_ops *breakeven_executor(uint32_t host_abi);
#define EXECUTOR_SYMBOL "breakeven_executor"

#ifdef __cplusplus
}
#endif
