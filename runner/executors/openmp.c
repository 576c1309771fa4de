/* SPDX-License-Identifier: Apache-2.0
 * The executor `openmp`: explicit tasks in a parallel region of libgomp. The calls are those that
 * gcc makes of `omp parallel`, `omp task` and `omp taskgroup`, through prototypes of our own
 * (libgomp's ABI, which only grows), so it is the same with every compiler. The main thread is in
 * the region and runs the host's body; the other threads of the team run tasks at the region's end.
 *
 * libgomp runs a task at once, in submit, when the team has 64 tasks per thread waiting: then this
 * is not a measure of handing over; what share ran so is recorded by the host. */
#include "runner/executors/openmp.h"
#include "runner/executors/shared_library.h"
#include "runner/executors/task_item.h"
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define THREADS_MAX 1024u

static void (*gomp_parallel)(void (*function)(void *), void *data, unsigned threads,
                             unsigned flags);
static void (*gomp_task)(void (*function)(void *), void *data, void (*copy)(void *, void *),
                         long bytes, long alignment, bool is_deferred, unsigned flags,
                         void **depend, int priority, void *detach);
static void (*gomp_taskgroup_start)(void);
static void (*gomp_taskgroup_end)(void);
static void (*set_dynamic)(int is_dynamic);
static int (*get_thread_num)(void);
static int (*get_num_threads)(void);

static const struct shared_symbol symbols[] = {
    {"GOMP_parallel", &gomp_parallel},
    {"GOMP_task", &gomp_task},
    {"GOMP_taskgroup_start", &gomp_taskgroup_start},
    {"GOMP_taskgroup_end", &gomp_taskgroup_end},
    {"omp_set_dynamic", &set_dynamic},
    {"omp_get_thread_num", &get_thread_num},
    {"omp_get_num_threads", &get_num_threads},
    {NULL, NULL},
};

struct runner {
    uint32_t threads;
    bool is_shut;
    /* Of the region: */
    void (*body)(void *context);
    void *context;
    int failure;
};

static int openmp_create(void **out_self, const struct executor_config *config, char *message,
                         size_t message_size)
{
    if (config->threads < 1 || config->threads > THREADS_MAX) {
        snprintf(message, message_size, "threads must be 1 to %u, not %u", THREADS_MAX,
                 config->threads);
        return -EINVAL;
    }
    struct runner *runner = calloc(1, sizeof *runner);
    if (!runner) {
        snprintf(message, message_size, "no memory");
        return -ENOMEM;
    }
    set_dynamic(0);
    runner->threads = config->threads;
    *out_self = runner;
    return 0;
}

static void run_by_value(void *data)
{
    const struct task_item *item = data;
    item->task(item->argument);
}

static int openmp_submit(void *self, executor_task_fn task, void *argument)
{
    const struct runner *runner = self;
    if (runner->is_shut) {
        return -ESHUTDOWN;
    }
    struct task_item item = {task, argument}; /* copied: it is firstprivate */
    gomp_task(run_by_value, &item, NULL, sizeof item, _Alignof(struct task_item), true, 0, NULL, 0,
              NULL);
    return 0;
}

static int openmp_wait_all(void *self)
{
    (void)self;
    /* The end of a task group waits for its tasks and all that they made; a taskwait would wait for
     * the first only. */
    gomp_taskgroup_end();
    gomp_taskgroup_start();
    return 0;
}

static void region_main(void *data)
{
    struct runner *runner = data;
    if (get_thread_num() != 0) {
        return; /* to the barrier at the region's end, where tasks are run */
    }
    if (get_num_threads() != (int)runner->threads) {
        runner->failure = -EAGAIN; /* OMP_THREAD_LIMIT, or no more threads to be had */
        return;
    }
    gomp_taskgroup_start();
    runner->body(runner->context);
    gomp_taskgroup_end();
}

static int openmp_run_region(void *self, void (*body)(void *context), void *context)
{
    struct runner *runner = self;
    runner->body = body;
    runner->context = context;
    runner->failure = 0;
    gomp_parallel(region_main, runner, runner->threads, 0);
    return runner->failure;
}

static int openmp_shutdown(void *self)
{
    struct runner *runner = self;
    runner->is_shut = true; /* the region's end has waited */
    return 0;
}

static void openmp_destroy(void *self)
{
    free(self);
}

static struct executor_ops openmp_ops = {
    .abi = EXECUTOR_ABI,
    .size = sizeof openmp_ops,
    .capabilities = EXECUTOR_SUBMIT_WORKER | EXECUTOR_REUSABLE | EXECUTOR_CALLER_HELPS |
                    EXECUTOR_GLOBAL | EXECUTOR_MAY_INLINE | EXECUTOR_SPINS,
    .name = "openmp",
    .version = "",
    .create = openmp_create,
    .submit = openmp_submit,
    .wait_all = openmp_wait_all,
    .shutdown = openmp_shutdown,
    .destroy = openmp_destroy,
    .run_region = openmp_run_region,
};

const struct executor_ops *openmp_load(GError **error)
{
    if (!shared_library_bind("libgomp.so.1", OPENMP_INSTALL, symbols, error)) {
        return NULL;
    }
    openmp_ops.version = shared_library_version((const void *)(uintptr_t)get_thread_num);
    return &openmp_ops;
}
