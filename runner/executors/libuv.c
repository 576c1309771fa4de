/* SPDX-License-Identifier: Apache-2.0
 * The executor `libuv`: uv_queue_work. Its pool is one for the process, made at the first use with
 * as many threads as the environment says then, so a process has one number of threads; they end
 * with it. Tasks are submitted by the loop's thread, the main thread, which also hears of each
 * task's end in its loop: that is part of what it costs. Prototypes of our own (libuv's ABI is one
 * for all of version 1; `data` is the first member of its structures, by its documentation). */
#include "runner/executors/libuv.h"
#include "runner/executors/shared_library.h"
#include "runner/executors/task_item.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS_MAX 1024u /* libuv's own */

enum uv_numbers {
    UV_RUN_DEFAULT = 0,
    UV_RUN_ONCE = 1,
    UV_RUN_NOWAIT = 2,
    UV_ASYNC = 1,
    UV_WORK = 7
};

struct uv_thing { /* a request, a handle or a loop: opaque behind its first member */
    void *data;
};

static const char *(*uv_version_string)(void);
static size_t (*uv_loop_size)(void);
static size_t (*uv_req_size)(int type);
static size_t (*uv_handle_size)(int type);
static int (*uv_loop_init)(struct uv_thing *loop);
static int (*uv_loop_close)(struct uv_thing *loop);
static int (*uv_run)(struct uv_thing *loop, int mode);
static int (*uv_backend_fd)(const struct uv_thing *loop);
static int (*uv_queue_work)(struct uv_thing *loop, struct uv_thing *request,
                            void (*work)(struct uv_thing *),
                            void (*after)(struct uv_thing *, int status));
static int (*uv_async_init)(struct uv_thing *loop, struct uv_thing *handle,
                            void (*heard)(struct uv_thing *));
static int (*uv_async_send)(struct uv_thing *handle);
static void (*uv_close)(struct uv_thing *handle, void (*closed)(struct uv_thing *));
static void (*uv_ref)(struct uv_thing *handle);
static void (*uv_unref)(struct uv_thing *handle);

static const struct shared_symbol symbols[] = {
    {"uv_version_string", &uv_version_string},
    {"uv_loop_size", &uv_loop_size},
    {"uv_req_size", &uv_req_size},
    {"uv_handle_size", &uv_handle_size},
    {"uv_loop_init", &uv_loop_init},
    {"uv_loop_close", &uv_loop_close},
    {"uv_run", &uv_run},
    {"uv_backend_fd", &uv_backend_fd},
    {"uv_queue_work", &uv_queue_work},
    {"uv_async_init", &uv_async_init},
    {"uv_async_send", &uv_async_send},
    {"uv_close", &uv_close},
    {"uv_ref", &uv_ref},
    {"uv_unref", &uv_unref},
    {NULL, NULL},
};

static uint32_t threads_of_process; /* 0: the pool is not made yet */

struct posted {
    struct posted *next;
    struct task_item item;
};

struct runner {
    struct uv_thing *loop, *wake;
    size_t request_bytes; /* the task's item lies behind the request */
    bool is_shut;
    pthread_mutex_t mutex; /* of the posted */
    struct posted *first_posted, **last_posted;
    int n_pumped; /* main thread only */
};

static void run_request(struct uv_thing *request)
{
    const struct runner *runner = request->data;
    struct task_item item;
    memcpy(&item, (const char *)request + runner->request_bytes, sizeof item);
    item.task(item.argument);
}

static void free_request(struct uv_thing *request, int status)
{
    (void)status;
    free(request);
}

static void run_posted(struct uv_thing *wake)
{
    struct runner *runner = wake->data;
    pthread_mutex_lock(&runner->mutex);
    struct posted *posted = runner->first_posted;
    runner->first_posted = NULL;
    runner->last_posted = &runner->first_posted;
    pthread_mutex_unlock(&runner->mutex);
    while (posted) {
        struct posted *next = posted->next;
        posted->item.task(posted->item.argument);
        free(posted);
        posted = next;
        runner->n_pumped++;
    }
}

static int check_threads(uint32_t threads, char *message, size_t message_size)
{
    if (threads < 1 || threads > THREADS_MAX) {
        snprintf(message, message_size, "threads must be 1 to %u, not %u", THREADS_MAX, threads);
        return -EINVAL;
    }
    if (threads_of_process && threads_of_process != threads) {
        snprintf(message, message_size,
                 "its pool has %u threads already: one number of threads in a process",
                 threads_of_process);
        return -ENOTSUP;
    }
    return 0;
}

static int open_loop(struct runner *runner)
{
    runner->request_bytes = uv_req_size(UV_WORK);
    runner->loop = calloc(1, uv_loop_size());
    runner->wake = calloc(1, uv_handle_size(UV_ASYNC));
    if (!runner->loop || !runner->wake) {
        return -ENOMEM;
    }
    int failure = uv_loop_init(runner->loop);
    failure = failure ? failure : uv_async_init(runner->loop, runner->wake, run_posted);
    runner->wake->data = runner;
    if (!failure) {
        uv_unref(runner->wake); /* wait_all ends when no task is left */
    }
    return failure;
}

static int libuv_create(void **out_self, const struct executor_config *config, char *message,
                        size_t message_size)
{
    char number[16];
    int failure = check_threads(config->threads, message, message_size);
    if (failure) {
        return failure;
    }
    snprintf(number, sizeof number, "%u", config->threads);
    /* NOLINTBEGIN(concurrency-mt-unsafe): libuv reads it there; a cell's process has one thread now
     */
    struct runner *runner = calloc(1, sizeof *runner);
    failure = runner && setenv("UV_THREADPOOL_SIZE", number, 1) == 0 ? open_loop(runner) : -ENOMEM;
    if (failure) {
        snprintf(message, message_size, "cannot make a loop: %s", strerror(-failure));
        /* NOLINTEND(concurrency-mt-unsafe) */
        if (runner) {
            free(runner->loop);
            free(runner->wake);
            free(runner);
        }
        return failure;
    }
    threads_of_process = config->threads;
    pthread_mutex_init(&runner->mutex, NULL);
    runner->last_posted = &runner->first_posted;
    *out_self = runner;
    return 0;
}

static int libuv_submit(void *self, executor_task_fn task, void *argument)
{
    struct runner *runner = self;
    struct task_item item = {task, argument};
    if (runner->is_shut) {
        return -ESHUTDOWN;
    }
    struct uv_thing *request = malloc(runner->request_bytes + sizeof item);
    if (!request) {
        return -ENOMEM;
    }
    request->data = runner;
    memcpy((char *)request + runner->request_bytes, &item, sizeof item);
    int failure = uv_queue_work(runner->loop, request, run_request, free_request);
    if (failure) {
        free(request);
    }
    return failure;
}

static int libuv_wait_all(void *self)
{
    struct runner *runner = self;
    return uv_run(runner->loop, UV_RUN_DEFAULT);
}

static int libuv_shutdown(void *self)
{
    struct runner *runner = self;
    runner->is_shut = true;
    return libuv_wait_all(runner);
}

static void libuv_destroy(void *self)
{
    struct runner *runner = self;
    uv_close(runner->wake, NULL);
    uv_run(runner->loop, UV_RUN_DEFAULT);
    uv_loop_close(runner->loop);
    while (runner->first_posted) {
        struct posted *posted = runner->first_posted;
        runner->first_posted = posted->next;
        free(posted);
    }
    pthread_mutex_destroy(&runner->mutex);
    free(runner->wake);
    free(runner->loop);
    free(runner);
}

static int libuv_post_main(void *self, executor_task_fn task, void *argument)
{
    struct runner *runner = self;
    struct posted *posted = malloc(sizeof *posted);
    if (!posted) {
        return -ENOMEM;
    }
    *posted = (struct posted){NULL, {task, argument}};
    pthread_mutex_lock(&runner->mutex);
    *runner->last_posted = posted;
    runner->last_posted = &posted->next;
    pthread_mutex_unlock(&runner->mutex);
    return uv_async_send(runner->wake);
}

static int libuv_pump_main(void *self, int timeout_ms)
{
    struct runner *runner = self;
    runner->n_pumped = 0;
    uv_ref(runner->wake); /* without it a loop that has nothing to do does not look at all */
    uv_run(runner->loop, timeout_ms < 0 ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    if (timeout_ms > 0 && runner->n_pumped == 0) {
        struct pollfd polled = {.fd = uv_backend_fd(runner->loop), .events = POLLIN};
        poll(&polled, 1, timeout_ms);
        uv_run(runner->loop, UV_RUN_NOWAIT);
    }
    uv_unref(runner->wake);
    return runner->n_pumped;
}

static int libuv_main_fd(void *self)
{
    const struct runner *runner = self;
    return uv_backend_fd(runner->loop);
}

static struct executor_ops libuv_ops = {
    .abi = EXECUTOR_ABI,
    .size = sizeof libuv_ops,
    .capabilities = EXECUTOR_REUSABLE | EXECUTOR_MAIN | EXECUTOR_GLOBAL,
    .name = "libuv",
    .version = "",
    .create = libuv_create,
    .submit = libuv_submit,
    .wait_all = libuv_wait_all,
    .shutdown = libuv_shutdown,
    .destroy = libuv_destroy,
    .post_main = libuv_post_main,
    .pump_main = libuv_pump_main,
    .main_fd = libuv_main_fd,
};

const struct executor_ops *libuv_load(GError **error)
{
    if (!shared_library_bind("libuv.so.1", LIBUV_INSTALL, symbols, error)) {
        return NULL;
    }
    libuv_ops.version = uv_version_string();
    return &libuv_ops;
}
