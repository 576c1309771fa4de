/* SPDX-License-Identifier: Apache-2.0
 * Grand Central Dispatch through prototypes of our own: no header, no blocks, so it builds
 * everywhere. The library decides how many threads run tasks: about as many as CPUs, more when
 * they block for seconds; they belong to the process. Its main queue is served by the main thread
 * through the event handle that the library exports for run loops, not by dispatch_main(), which on
 * Linux ends the main thread and runs the queue elsewhere.
 *
 * submit and post_main by any thread, the others by the main thread of the process. */
#include "runner/executors/libdispatch.h"
#include "runner/executors/outstanding.h"
#include "runner/executors/shared_library.h"
#include "runner/executors/task_item.h"
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define DEFAULT_PRIORITY 0
#define FOREVER          (~(uint64_t)0)
#define DIGEST_CHARS     12

typedef void *dispatch_object;

static dispatch_object (*get_global_queue)(intptr_t priority, uintptr_t flags);
static dispatch_object (*queue_create)(const char *label, dispatch_object attributes);
static void (*async_f)(dispatch_object queue, void *context, void (*work)(void *));
static dispatch_object (*group_create)(void);
static void (*group_async_f)(dispatch_object group, dispatch_object queue, void *context,
                             void (*work)(void *));
static intptr_t (*group_wait)(dispatch_object group, uint64_t timeout);
static void (*release)(dispatch_object object);
static char *main_queue; /* the queue itself: an exported variable */
static int (*get_main_queue_handle)(void);
static void (*main_queue_callback)(void *message);

static const struct shared_symbol symbols[] = {
    {"dispatch_get_global_queue", &get_global_queue},
    {"dispatch_queue_create", &queue_create},
    {"dispatch_async_f", &async_f},
    {"dispatch_group_create", &group_create},
    {"dispatch_group_async_f", &group_async_f},
    {"dispatch_group_wait", &group_wait},
    {"dispatch_release", &release},
    {"_dispatch_main_q", &main_queue},
    {"_dispatch_get_main_queue_handle_4CF", &get_main_queue_handle},
    {"_dispatch_main_queue_callback_4CF", &main_queue_callback},
    {NULL, NULL},
};

struct runner {
    dispatch_object queue; /* the global queue is not ours to release */
    dispatch_object group; /* NULL: tasks are counted */
    struct outstanding outstanding;
    bool owns_queue, is_shut;
    int main_fd, n_pumped; /* main thread only */
};

struct counted {
    struct runner *runner;
    struct task_item item;
};

static int create_on(void **out_self, dispatch_object queue, bool owns_queue, bool has_group,
                     char *message, size_t message_size)
{
    struct runner *runner = calloc(1, sizeof *runner);
    if (!runner || !queue) {
        free(runner);
        snprintf(message, message_size, "libdispatch gave no queue");
        return -ENOMEM;
    }
    runner->queue = queue;
    runner->owns_queue = owns_queue;
    runner->group = has_group ? group_create() : NULL;
    runner->main_fd = get_main_queue_handle();
    outstanding_init(&runner->outstanding);
    *out_self = runner;
    return 0;
}

static int libdispatch_create(void **out_self, const struct executor_config *config, char *message,
                              size_t message_size)
{
    (void)config;
    return create_on(out_self, get_global_queue(DEFAULT_PRIORITY, 0), false, false, message,
                     message_size);
}

static int libdispatch_create_group(void **out_self, const struct executor_config *config,
                                    char *message, size_t message_size)
{
    (void)config;
    return create_on(out_self, get_global_queue(DEFAULT_PRIORITY, 0), false, true, message,
                     message_size);
}

static int libdispatch_create_serial(void **out_self, const struct executor_config *config,
                                     char *message, size_t message_size)
{
    (void)config;
    return create_on(out_self, queue_create("breakeven", NULL), true, false, message, message_size);
}

static void run_counted(void *context)
{
    struct counted counted = *(struct counted *)context;
    free(context);
    counted.item.task(counted.item.argument);
    outstanding_done(&counted.runner->outstanding);
}

static struct counted *counted_new(struct runner *runner, executor_task_fn task, void *argument)
{
    struct counted *counted = malloc(sizeof *counted);
    if (counted) {
        *counted = (struct counted){runner, {task, argument}};
    }
    return counted;
}

static int libdispatch_submit(void *self, executor_task_fn task, void *argument)
{
    struct runner *runner = self;
    if (runner->is_shut) {
        return -ESHUTDOWN;
    }
    struct counted *counted = counted_new(runner, task, argument);
    if (!counted) {
        return -ENOMEM;
    }
    outstanding_add(&runner->outstanding, 1);
    async_f(runner->queue, counted, run_counted);
    return 0;
}

static int libdispatch_submit_group(void *self, executor_task_fn task, void *argument)
{
    struct runner *runner = self;
    if (runner->is_shut) {
        return -ESHUTDOWN;
    }
    group_async_f(runner->group, runner->queue, argument, task);
    return 0;
}

static int libdispatch_wait_all(void *self)
{
    struct runner *runner = self;
    if (runner->group) {
        return group_wait(runner->group, FOREVER) == 0 ? 0 : -ETIMEDOUT;
    }
    outstanding_wait(&runner->outstanding);
    return 0;
}

static int libdispatch_shutdown(void *self)
{
    struct runner *runner = self;
    int failure = libdispatch_wait_all(runner);
    runner->is_shut = true;
    return failure;
}

static void libdispatch_destroy(void *self)
{
    struct runner *runner = self;
    libdispatch_wait_all(runner);
    if (runner->group) {
        release(runner->group);
    }
    if (runner->owns_queue) {
        release(runner->queue);
    }
    outstanding_clear(&runner->outstanding);
    free(runner);
}

static void run_posted(void *context)
{
    struct counted counted = *(struct counted *)context;
    free(context);
    counted.item.task(counted.item.argument);
    counted.runner->n_pumped++;
}

static int libdispatch_post_main(void *self, executor_task_fn task, void *argument)
{
    struct counted *counted = counted_new(self, task, argument);
    if (!counted) {
        return -ENOMEM;
    }
    async_f(main_queue, counted, run_posted);
    return 0;
}

static int libdispatch_pump_main(void *self, int timeout_ms)
{
    struct runner *runner = self;
    struct pollfd polled = {.fd = runner->main_fd, .events = POLLIN};
    uint64_t count;
    runner->n_pumped = 0;
    if (poll(&polled, 1, timeout_ms) <= 0) {
        return 0;
    }
    /* The handle is an event counter that the library adds to and never reads: left unread, it
     * would poll readable for ever. */
    if (read(runner->main_fd, &count, sizeof count) != sizeof count) {
        return 0;
    }
    main_queue_callback(NULL);
    return runner->n_pumped;
}

static int libdispatch_main_fd(void *self)
{
    const struct runner *runner = self;
    return runner->main_fd;
}

#define TABLE(id, create_it, submit_it)                                                            \
    {                                                                                              \
        .abi = EXECUTOR_ABI, .size = sizeof(struct executor_ops),                                  \
        .capabilities = EXECUTOR_SUBMIT_WORKER | EXECUTOR_SUBMIT_ANY | EXECUTOR_REUSABLE |         \
                        EXECUTOR_MAIN | EXECUTOR_GLOBAL | EXECUTOR_ELASTIC,                        \
        .name = id, .version = "", .create = create_it, .submit = submit_it,                       \
        .wait_all = libdispatch_wait_all, .shutdown = libdispatch_shutdown,                        \
        .destroy = libdispatch_destroy, .post_main = libdispatch_post_main,                        \
        .pump_main = libdispatch_pump_main, .main_fd = libdispatch_main_fd,                        \
    }

static struct executor_ops global_ops =
    TABLE("libdispatch", libdispatch_create, libdispatch_submit);
static struct executor_ops group_ops =
    TABLE("libdispatch-group", libdispatch_create_group, libdispatch_submit_group);
static struct executor_ops serial_ops =
    TABLE("libdispatch-serial", libdispatch_create_serial, libdispatch_submit);

static const struct executor_ops *load_as(struct executor_ops *ops, GError **error)
{
    const char *path = g_getenv(LIBDISPATCH_VARIABLE);
    if (!shared_library_bind(path && *path ? path : "libdispatch.so", LIBDISPATCH_INSTALL, symbols,
                             error)) {
        return NULL;
    }
    ops->version = shared_library_digest(main_queue, DIGEST_CHARS);
    return ops;
}

const struct executor_ops *libdispatch_load(GError **error)
{
    return load_as(&global_ops, error);
}

const struct executor_ops *libdispatch_load_group(GError **error)
{
    return load_as(&group_ops, error);
}

const struct executor_ops *libdispatch_load_serial(GError **error)
{
    return load_as(&serial_ops, error);
}
