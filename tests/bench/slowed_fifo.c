/* SPDX-License-Identifier: Apache-2.0
 * A plug-in for prove_detection.ts: the pool `fifo`, slower by as many percent of its own time as
 * the environment's SLOWED_PERCENT says (none: 0). After each task its thread waits actively for
 * that share of the time since its last one ended, so a cell takes about so much longer whatever
 * its tasks cost; of a gap without work, at most a task's time counts. Where nothing is added the
 * clock is read all the same. Any thread. */
#include "runner/executor.h"
#include "runner/pool/thread_pool.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S 1000000000u
#define PERCENT  100u

static uint64_t percent;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void run_slowed(const struct thread_pool_task *task)
{
    static _Thread_local uint64_t ended_ns;
    uint64_t begun_ns = now_ns();
    task->function.plain(task->argument);
    uint64_t done_ns = now_ns(), own_ns = done_ns - begun_ns;
    uint64_t around_ns = begun_ns - ended_ns < own_ns ? begun_ns - ended_ns : own_ns;
    uint64_t until_ns = done_ns + (own_ns + around_ns) * percent / PERCENT;
    do {
        ended_ns = now_ns();
    } while (ended_ns < until_ns);
}

static const struct thread_pool_task_kind slowed_kind = {.run = run_slowed};

static int slowed_create(void **out_self, const struct executor_config *config, char *message,
                         size_t message_size)
{
    ThreadPool *pool = NULL;
    const char *text = getenv("SLOWED_PERCENT");
    percent = text ? strtoull(text, NULL, 10) : 0;
    int failure = thread_pool_create(&pool, (int)config->threads);
    if (failure) {
        snprintf(message, message_size, "a pool of %u threads cannot be made", config->threads);
    }
    *out_self = pool;
    return failure;
}

static int slowed_submit(void *self, executor_task_fn task, void *argument)
{
    struct thread_pool_task slowed = {
        .kind = &slowed_kind, .function.plain = task, .argument = argument};
    return thread_pool_spawn_task(self, &slowed);
}

static int slowed_wait_all(void *self)
{
    return thread_pool_wait_idle(self);
}

static int slowed_shutdown(void *self)
{
    return thread_pool_shutdown(self, true);
}

static void slowed_destroy(void *self)
{
    thread_pool_destroy(self);
}

const struct executor_ops *breakeven_executor(uint32_t host_abi)
{
    static const struct executor_ops ops = {
        .abi = EXECUTOR_ABI,
        .size = sizeof ops,
        .capabilities = EXECUTOR_SUBMIT_WORKER | EXECUTOR_SUBMIT_ANY | EXECUTOR_REUSABLE,
        .name = "slowed",
        .version = "",
        .create = slowed_create,
        .submit = slowed_submit,
        .wait_all = slowed_wait_all,
        .shutdown = slowed_shutdown,
        .destroy = slowed_destroy,
    };
    return host_abi == EXECUTOR_ABI ? &ops : NULL;
}
