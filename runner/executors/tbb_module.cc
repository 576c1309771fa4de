/* SPDX-License-Identifier: Apache-2.0
 * The executor `tbb`: a task_group in a task_arena of `threads` places, of which the main thread
 * has one and helps when it waits. The host's body runs inside the arena. oneTBB's threads belong
 * to the process. A module of its own, for it is C++; it knows no more of the runner than the
 * contract. */
#include "runner/executor.h"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>

namespace
{

constexpr unsigned threads_max = 1024;

struct runner {
    /* oneTBB makes no more threads than there are CPUs unless it is told to. */
    explicit runner(unsigned threads)
        : limit(oneapi::tbb::global_control::max_allowed_parallelism, threads),
          arena(static_cast<int>(threads), 1)
    {
        arena.initialize();
    }
    oneapi::tbb::global_control limit;
    oneapi::tbb::task_arena arena;
    oneapi::tbb::task_group group;
    bool is_shut = false;
};

/* What `call` returns; no exception leaves this file. */
template <typename Call> int guarded(Call call) noexcept
{
    try {
        return call();
    } catch (const std::bad_alloc &) {
        return -ENOMEM;
    } catch (const std::exception &) {
        return -EIO;
    }
}

int tbb_create(void **out_self, const executor_config *config, char *message, size_t message_size)
{
    unsigned threads = config->threads;
    if (threads < 1 || threads > threads_max) {
        std::snprintf(message, message_size, "threads must be 1 to %u, not %u", threads_max,
                      threads);
        return -EINVAL;
    }
    int failure = guarded([&] {
        *out_self = new runner(threads);
        return 0;
    });
    if (failure) {
        std::snprintf(message, message_size, "an arena of %u threads cannot be made", threads);
    }
    return failure;
}

int tbb_submit(void *self, executor_task_fn task, void *argument)
{
    auto *own = static_cast<runner *>(self);
    if (own->is_shut) {
        return -ESHUTDOWN;
    }
    return guarded([=] {
        own->group.run([=] { task(argument); });
        return 0;
    });
}

int tbb_wait_all(void *self)
{
    auto *own = static_cast<runner *>(self);
    return guarded([=] {
        own->group.wait();
        return 0;
    });
}

int tbb_run_region(void *self, void (*body)(void *context), void *context)
{
    auto *own = static_cast<runner *>(self);
    return guarded([=] {
        own->arena.execute([=] {
            body(context);
            own->group.wait();
        });
        return 0;
    });
}

int tbb_shutdown(void *self)
{
    static_cast<runner *>(self)->is_shut = true; /* the region's end has waited */
    return 0;
}

void tbb_destroy(void *self)
{
    delete static_cast<runner *>(self);
}

executor_ops make_ops()
{
    executor_ops ops{};
    ops.abi = EXECUTOR_ABI;
    ops.size = sizeof ops;
    ops.capabilities = EXECUTOR_SUBMIT_WORKER | EXECUTOR_REUSABLE | EXECUTOR_CALLER_HELPS |
                       EXECUTOR_GLOBAL;
    ops.name = "tbb";
    ops.version = TBB_runtime_version();
    ops.create = tbb_create;
    ops.submit = tbb_submit;
    ops.wait_all = tbb_wait_all;
    ops.shutdown = tbb_shutdown;
    ops.destroy = tbb_destroy;
    ops.run_region = tbb_run_region;
    return ops;
}

} // namespace

extern "C" const executor_ops *breakeven_executor(uint32_t host_abi)
{
    static const executor_ops ops = make_ops();
    return host_abi == EXECUTOR_ABI ? &ops : nullptr;
}
