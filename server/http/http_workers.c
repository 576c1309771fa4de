/* SPDX-License-Identifier: Apache-2.0
 * The pool that runs slow handlers, and the rules by which a suspended request comes back to its
 * event thread.
 *
 * A request is resumed exactly once: by the worker, where its handler did not defer it; else by
 * whichever of http_request_defer and http_request_finish comes second. After that it may be gone
 * at any moment, so a worker holds a reference while it looks. */
#include "server/http/http_internal.h"

#define READS_IN_A_ROW 4u

/* What a question is answered from may be removed while it is read (ERROR_OVERTAKEN): then it is
 * asked again, and answered from what is there now. No event thread sleeps here: what reads rows is
 * a worker's. */
static void handle(HttpRequest *request)
{
    void (*handler)(HttpRequest *) = request->match->route->handler;
    bool is_read = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    guint repeats =
        is_read && request->match->route->speed == HTTP_SLOW ? ERROR_OVERTAKEN_REPEATS : 0;
    bool overtaken = is_read;
    for (guint i = 0; overtaken && i <= repeats; i++) {
        if (i > 0)
            g_usleep(ERROR_OVERTAKEN_WAIT_US(i - 1));
        overtaken = false;
        request->out_overtaken = i < repeats ? &overtaken : NULL;
        handler(request); /* deferred, it may be another thread's from here on */
    }
    if (!is_read)
        handler(request);
}

void http_workers_handle(HttpRequest *request, void *app_thread)
{
    g_autoptr(GError) error = NULL;
    request->app_thread = app_thread;
    bool (*authorize)(HttpRequest *) = request->server->options.authorize;
    if (!http_body_decode(request, &error)) {
        http_respond_error(request, error, NULL);
    } else if (http_principal_owns_form(request) && (!authorize || authorize(request))) {
        http_principal_audit(request, false);
        handle(request);
    }
}

void http_workers_resume(HttpRequest *request)
{
    HttpServer *server = request->server;
    struct http_loop *loop = request->connection->loop;
    MHD_resume_connection(request->mhd); /* from here on the request is its event thread's */
    http_loop_wake(loop);                /* libmicrohttpd wakes no loop that is not its own */
    http_server_leave(server);
}

void http_request_defer(HttpRequest *request)
{
    if (!request->suspended) { /* then this is its event thread */
        request->suspended = true;
        MHD_suspend_connection(request->mhd);
    }
    if (atomic_fetch_or(&request->phase, HTTP_PHASE_DEFERRED) & HTTP_PHASE_FINISHED)
        http_workers_resume(request);
}

void http_request_finish(HttpRequest *request)
{
    if (atomic_fetch_or(&request->phase, HTTP_PHASE_FINISHED) & HTTP_PHASE_DEFERRED)
        http_workers_resume(request);
}

/* ---- The queues ---- */

static enum http_worker_kind kind_of(const HttpRequest *request)
{
    return request->is_upload ? HTTP_WORKER_UPLOADS : HTTP_WORKER_READS;
}

bool http_workers_push(struct http_workers *workers, HttpRequest *request)
{
    struct http_worker_queue *queue = &workers->queues[kind_of(request)];
    pthread_mutex_lock(&workers->lock);
    bool room = workers->n_waiting < HTTP_QUEUE_MAX;
    if (room) {
        request->next = NULL;
        if (queue->tail)
            queue->tail->next = request;
        else
            queue->head = request;
        queue->tail = request;
        workers->n_waiting++;
        pthread_cond_signal(&workers->wake);
    }
    pthread_mutex_unlock(&workers->lock);
    return room;
}

guint http_workers_waiting(struct http_workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    guint n = workers->n_waiting;
    pthread_mutex_unlock(&workers->lock);
    return n;
}

/* Reads go first, since people wait for them, but not for ever: after READS_IN_A_ROW of them an
 * upload has its turn. And one worker always is for reads, where there are several. NULL: there is
 * nothing that may be taken now. Under the lock. */
static struct http_worker_queue *queue_next(struct http_workers *workers)
{
    struct http_worker_queue *reads = &workers->queues[HTTP_WORKER_READS];
    struct http_worker_queue *uploads = &workers->queues[HTTP_WORKER_UPLOADS];
    guint uploading_max = MAX(workers->server->options.n_workers, 2u) - 1;
    bool may_upload = uploads->head && workers->n_uploading < uploading_max;
    if (may_upload && (!reads->head || workers->n_taken >= READS_IN_A_ROW))
        return uploads;
    return reads->head ? reads : NULL;
}

static HttpRequest *workers_take(struct http_workers *workers)
{
    struct http_worker_queue *queue;
    HttpRequest *request = NULL;
    pthread_mutex_lock(&workers->lock);
    while (!(queue = queue_next(workers)) && !workers->stop)
        pthread_cond_wait(&workers->wake, &workers->lock);
    if (queue) {
        bool is_upload = queue == &workers->queues[HTTP_WORKER_UPLOADS];
        request = queue->head;
        queue->head = request->next;
        queue->tail = queue->head ? queue->tail : NULL;
        workers->n_waiting--;
        workers->n_uploading += is_upload;
        workers->n_taken = is_upload ? 0 : workers->n_taken + 1;
    }
    pthread_mutex_unlock(&workers->lock);
    return request;
}

/* An upload was handled: another one may be waiting for that. */
static void upload_ended(struct http_workers *workers)
{
    pthread_mutex_lock(&workers->lock);
    workers->n_uploading--;
    pthread_cond_signal(&workers->wake);
    pthread_mutex_unlock(&workers->lock);
}

struct worker_start {
    struct http_workers *workers;
    void *app_thread;
};

static void *worker_main(void *data)
{
    g_autofree struct worker_start *start = data;
    HttpRequest *request;
    while ((request = workers_take(start->workers))) {
        if (request->stage ==
            HTTP_STAGE_SEND) { /* always a read: another piece of what is being sent */
            http_stream_make(request, start->app_thread);
            http_workers_resume(request);
            continue;
        }
        bool is_upload = kind_of(request) == HTTP_WORKER_UPLOADS;
        http_request_ref(request);
        http_workers_handle(request, start->app_thread);
        if (is_upload)
            upload_ended(start->workers);
        if (!(atomic_load(&request->phase) & HTTP_PHASE_DEFERRED))
            http_workers_resume(request);
        http_request_unref(request);
    }
    return NULL;
}

bool http_workers_start(struct http_workers *workers, HttpServer *server, GError **error)
{
    const struct http_options *options = &server->options;
    workers->server = server;
    for (unsigned i = 0; i < options->n_workers; i++) {
        void *app_thread = NULL;
        if (options->thread_start && !(app_thread = options->thread_start(options->app, error)))
            return false;
        workers->app_threads[workers->n_threads++] = app_thread;
        struct worker_start *start = g_new(struct worker_start, 1);
        *start = (struct worker_start){workers, app_thread};
        if (pthread_create(&workers->threads[i], NULL, worker_main, start) != 0) {
            g_free(start);
            g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                        "cannot start worker thread %u of %u", i + 1, options->n_workers);
            return false;
        }
        workers->n_started++;
    }
    return true;
}

void http_workers_stop(struct http_workers *workers)
{
    const struct http_options *options = &workers->server->options;
    pthread_mutex_lock(&workers->lock);
    workers->stop = true;
    pthread_cond_broadcast(&workers->wake);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->n_started; i++)
        pthread_join(workers->threads[i], NULL);
    for (unsigned i = 0; i < workers->n_threads; i++)
        if (options->thread_stop)
            options->thread_stop(workers->app_threads[i], options->app);
    workers->n_started = workers->n_threads = 0;
}
