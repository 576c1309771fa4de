/* SPDX-License-Identifier: Apache-2.0
 * The executor `glib`: an exclusive GThreadPool, whose threads start in create and end in shutdown
 * (GLib is told to keep none for later). It has no wait that leaves the pool in use, so tasks are
 * counted. Its main thread is GLib's default main context. submit and post_main by any thread, the
 * others by the main thread. */
#include "runner/executors/glib.h"
#include "runner/executors/outstanding.h"
#include "runner/executors/task_item.h"
#include <errno.h>
#include <stdio.h>

#define THREADS_MAX 1024u

struct runner {
    struct outstanding outstanding;
    GThreadPool *pool; /* NULL after shutdown */
    int n_pumped;      /* main thread only */
};

static void run_item(gpointer item, gpointer data)
{
    struct runner *runner = data;
    task_item_run(item);
    outstanding_done(&runner->outstanding);
}

static int glib_create(void **out_self, const struct executor_config *config, char *message,
                       size_t message_size)
{
    if (config->threads < 1 || config->threads > THREADS_MAX) {
        snprintf(message, message_size, "threads must be 1 to %u, not %u", THREADS_MAX,
                 config->threads);
        return -EINVAL;
    }
    struct runner *runner = g_new0(struct runner, 1);
    g_autoptr(GError) problem = NULL;
    outstanding_init(&runner->outstanding);
    g_thread_pool_set_max_unused_threads(0);
    runner->pool = g_thread_pool_new(run_item, runner, (gint)config->threads, TRUE, &problem);
    if (!problem) {
        *out_self = runner;
        return 0;
    }
    snprintf(message, message_size, "%s", problem->message);
    if (runner->pool) {
        g_thread_pool_free(runner->pool, TRUE, TRUE);
    }
    outstanding_clear(&runner->outstanding);
    g_free(runner);
    return -EAGAIN;
}

static int glib_submit(void *self, executor_task_fn task, void *argument)
{
    struct runner *runner = self;
    if (!runner->pool) {
        return -ESHUTDOWN;
    }
    struct task_item *item = task_item_new(task, argument);
    if (!item) {
        return -ENOMEM;
    }
    outstanding_add(&runner->outstanding, 1);
    /* It can fail only to start a thread, and then has the task queued all the same; an exclusive
     * pool has all its threads from the beginning. */
    g_thread_pool_push(runner->pool, item, NULL);
    return 0;
}

static int glib_wait_all(void *self)
{
    struct runner *runner = self;
    outstanding_wait(&runner->outstanding);
    return 0;
}

static int glib_shutdown(void *self)
{
    struct runner *runner = self;
    outstanding_wait(&runner->outstanding); /* tasks may submit tasks until the last has run */
    g_thread_pool_free(runner->pool, FALSE, TRUE);
    runner->pool = NULL;
    return 0;
}

static void glib_destroy(void *self)
{
    struct runner *runner = self;
    if (runner->pool) {
        glib_shutdown(runner);
    }
    outstanding_clear(&runner->outstanding);
    g_free(runner);
}

struct posted {
    struct runner *runner;
    struct task_item item;
};

static gboolean run_posted(gpointer data)
{
    struct posted *posted = data;
    struct task_item item = task_item_get(&posted->item);
    item.task(item.argument);
    posted->runner->n_pumped++;
    return G_SOURCE_REMOVE;
}

static int glib_post_main(void *self, executor_task_fn task, void *argument)
{
    struct posted *posted = g_new(struct posted, 1);
    posted->runner = self;
    task_item_set(&posted->item, task, argument);
    /* Not g_main_context_invoke: it runs at once in whatever thread finds the context free. */
    GSource *source = g_idle_source_new();
    g_source_set_priority(source, G_PRIORITY_DEFAULT);
    g_source_set_callback(source, run_posted, posted, g_free);
    g_source_attach(source, NULL);
    g_source_unref(source);
    return 0;
}

static gboolean time_is_up(gpointer data)
{
    (void)data;
    return G_SOURCE_CONTINUE; /* it has woken the loop; glib_pump_main removes it */
}

static int glib_pump_main(void *self, int timeout_ms)
{
    struct runner *runner = self;
    guint timer = timeout_ms > 0 ? g_timeout_add((guint)timeout_ms, time_is_up, NULL) : 0;
    runner->n_pumped = 0;
    g_main_context_iteration(NULL, timeout_ms != 0);
    while (g_main_context_iteration(NULL, FALSE)) {
    }
    if (timer) {
        g_source_remove(timer);
    }
    return runner->n_pumped;
}

static const struct executor_ops glib_ops = {
    .abi = EXECUTOR_ABI,
    .size = sizeof glib_ops,
    .capabilities =
        EXECUTOR_SUBMIT_WORKER | EXECUTOR_SUBMIT_ANY | EXECUTOR_REUSABLE | EXECUTOR_MAIN,
    .name = "glib",
    .version = "",
    .create = glib_create,
    .submit = glib_submit,
    .wait_all = glib_wait_all,
    .shutdown = glib_shutdown,
    .destroy = glib_destroy,
    .post_main = glib_post_main,
    .pump_main = glib_pump_main,
};

const struct executor_ops *glib_load(GError **error)
{
    static struct executor_ops ops;
    static char version[48];
    (void)error;
    if (!ops.abi) {
        snprintf(version, sizeof version, "%u.%u.%u", glib_major_version, glib_minor_version,
                 glib_micro_version);
        ops = glib_ops;
        ops.version = version;
    }
    return &ops;
}
