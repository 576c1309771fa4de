/* SPDX-License-Identifier: Apache-2.0
 * The executors `performselector` and `nsthread` of GNUstep: a thread for each task, by
 * performSelectorInBackground or by detachNewThreadSelector (EXECUTOR_DETACHES), at most `threads`
 * alive at once: submit waits for room, so tasks may not submit. Main work goes by
 * performSelectorOnMainThread to the main thread's run loop. A module of its own, for it is
 * Objective-C; it knows no more of the runner than the contract. */
#include "runner/executor.h"

#import <Foundation/Foundation.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 1024u

#ifdef EXECUTOR_DETACHES
#define EXECUTOR_NAME "nsthread"
#else
#define EXECUTOR_NAME "performselector"
#endif
/* Both modules may be in one process, and Objective-C has one name space: the class gets a name
 * for each. */
#ifdef EXECUTOR_DETACHES
#define Job BreakevenDetachedJob
#else
#define Job BreakevenBackgroundJob
#endif

struct runner {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t threads, n_alive;
    BOOL is_shut;
    int n_pumped; /* main thread only */
};

@interface Job : NSObject {
@public
    struct runner *runner;
    executor_task_fn task;
    void *argument;
}
- (void)runInBackground:(id)unused;
- (void)runOnMain:(id)unused;
@end

@implementation Job
- (void)runInBackground:(id)unused
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    (void)unused;
    task(argument);
    struct runner *of = runner;
    [pool release];
    pthread_mutex_lock(&of->mutex);
    of->n_alive--;
    pthread_cond_broadcast(&of->changed);
    pthread_mutex_unlock(&of->mutex);
}

- (void)runOnMain:(id)unused
{
    (void)unused;
    task(argument);
    runner->n_pumped++;
}
@end

static Job *job_new(struct runner *runner, executor_task_fn task, void *argument)
{
    Job *job = [Job new];
    job->runner = runner;
    job->task = task;
    job->argument = argument;
    return job;
}

static void do_nothing(void *argument)
{
    (void)argument;
}

/* Classes are initialised at their first use, under the runtime's lock; NSRunLoop's takes a lock of
 * GNUstep's there, and performSelectorOnMainThread takes the two the other way round. So a first
 * use by two threads at once can be a deadlock (seen with GNUstep 1.28): all is used once by the
 * main thread, before there is another. */
static void use_once(struct runner *runner)
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    Job *job = job_new(runner, do_nothing, NULL);
    [NSThread currentThread];
    [[NSRunLoop currentRunLoop] runMode:NSDefaultRunLoopMode beforeDate:[NSDate date]];
    [job performSelectorOnMainThread:@selector(runOnMain:) withObject:nil waitUntilDone:NO];
    [[NSRunLoop currentRunLoop] runMode:NSDefaultRunLoopMode beforeDate:[NSDate date]];
    [job release];
    [pool release];
}

static int gnustep_create(void **out_self, const struct executor_config *config, char *message,
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
    pthread_mutex_init(&runner->mutex, NULL);
    pthread_cond_init(&runner->changed, NULL);
    runner->threads = config->threads;
    use_once(runner);
    *out_self = runner;
    return 0;
}

static void start_thread(Job *job)
{
#ifdef EXECUTOR_DETACHES
    [NSThread detachNewThreadSelector:@selector(runInBackground:) toTarget:job withObject:nil];
#else
    [job performSelectorInBackground:@selector(runInBackground:) withObject:nil];
#endif
}

static int gnustep_submit(void *self, executor_task_fn task, void *argument)
{
    struct runner *runner = self;
    if (runner->is_shut) {
        return -ESHUTDOWN;
    }
    pthread_mutex_lock(&runner->mutex);
    while (runner->n_alive >= runner->threads) {
        pthread_cond_wait(&runner->changed, &runner->mutex);
    }
    runner->n_alive++;
    pthread_mutex_unlock(&runner->mutex);
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    Job *job = job_new(runner, task, argument);
    int failure = 0;
    @try {
        start_thread(job);
    }
    @catch (NSException *exception) {
        failure = -EAGAIN;
    }
    [job release]; /* its thread holds it */
    [pool release];
    if (failure) {
        pthread_mutex_lock(&runner->mutex);
        runner->n_alive--;
        pthread_mutex_unlock(&runner->mutex);
    }
    return failure;
}

static int gnustep_wait_all(void *self)
{
    struct runner *runner = self;
    pthread_mutex_lock(&runner->mutex);
    while (runner->n_alive > 0) {
        pthread_cond_wait(&runner->changed, &runner->mutex);
    }
    pthread_mutex_unlock(&runner->mutex);
    return 0;
}

static int gnustep_shutdown(void *self)
{
    struct runner *runner = self;
    runner->is_shut = YES;
    return gnustep_wait_all(runner); /* the threads are detached: they end by themselves */
}

static void gnustep_destroy(void *self)
{
    struct runner *runner = self;
    gnustep_wait_all(runner);
    pthread_cond_destroy(&runner->changed);
    pthread_mutex_destroy(&runner->mutex);
    free(runner);
}

static int gnustep_post_main(void *self, executor_task_fn task, void *argument)
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    Job *job = job_new(self, task, argument);
    [job performSelectorOnMainThread:@selector(runOnMain:) withObject:nil waitUntilDone:NO];
    [job release];
    [pool release];
    return 0;
}

static int gnustep_pump_main(void *self, int timeout_ms)
{
    struct runner *runner = self;
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    NSDate *until = timeout_ms < 0 ? [NSDate distantFuture]
                                   : [NSDate dateWithTimeIntervalSinceNow:timeout_ms / 1000.0];
    runner->n_pumped = 0;
    [[NSRunLoop currentRunLoop] runMode:NSDefaultRunLoopMode beforeDate:until];
    [pool release];
    return runner->n_pumped;
}

static struct executor_ops gnustep_ops = {
    .abi = EXECUTOR_ABI,
    .size = sizeof gnustep_ops,
    .capabilities = EXECUTOR_REUSABLE | EXECUTOR_MAIN | EXECUTOR_THREAD_PER_TASK,
    .name = EXECUTOR_NAME,
    .version = "",
    .create = gnustep_create,
    .submit = gnustep_submit,
    .wait_all = gnustep_wait_all,
    .shutdown = gnustep_shutdown,
    .destroy = gnustep_destroy,
    .post_main = gnustep_post_main,
    .pump_main = gnustep_pump_main,
};

const struct executor_ops *breakeven_executor(uint32_t host_abi)
{
    static char version[32];
    static NSAutoreleasePool *pool; /* of the main thread, for what the library makes in passing */
    if (host_abi != EXECUTOR_ABI) {
        return NULL;
    }
    if (!pool) {
        pool = [NSAutoreleasePool new];
        snprintf(version, sizeof version, "%d.%d.%d", GNUSTEP_BASE_MAJOR_VERSION,
                 GNUSTEP_BASE_MINOR_VERSION, GNUSTEP_BASE_SUBMINOR_VERSION);
        gnustep_ops.version = version;
    }
    return &gnustep_ops;
}
