/* SPDX-License-Identifier: Apache-2.0
 * See upload_runs.h. Receipts come on the writer's thread, or at once on the request's where the
 * queue is full: what they share is behind a lock. */
#include "server/api/upload_runs.h"

#include "schema/run.h"
#include "server/context.h"
#include <pthread.h>

#define WARNINGS_MAX 50u

struct upload {
    HttpRequest *request;
    upload_answer_fn answer;
    pthread_mutex_t lock;
    guint n_waiting;
    guint n_more_warnings;
    struct upload_outcome outcome;
};

static void upload_free(struct upload *upload)
{
    g_ptr_array_unref(upload->outcome.ids);
    g_ptr_array_unref(upload->outcome.warnings);
    g_clear_error(&upload->outcome.error);
    pthread_mutex_destroy(&upload->lock);
    g_free(upload);
}

static void warning_add(struct upload *upload, const char *warning)
{
    if (upload->outcome.warnings->len < WARNINGS_MAX)
        g_ptr_array_add(upload->outcome.warnings, g_strdup(warning));
    else
        upload->n_more_warnings++;
}

static void receipt_take(struct upload *upload, const struct store_receipt *receipt)
{
    struct upload_outcome *outcome = &upload->outcome;
    for (guint i = 0; receipt->warnings && i < receipt->warnings->len; i++)
        warning_add(upload, (const char *)g_ptr_array_index(receipt->warnings, i));
    if (receipt->outcome == STORE_REFUSED) {
        outcome->n_refused++;
        if (!outcome->error && receipt->error)
            outcome->error = g_error_copy(receipt->error);
    } else if (receipt->outcome == STORE_UNCHANGED) {
        outcome->n_known++;
    } else {
        outcome->n_created++;
    }
}

static void upload_answer(struct upload *upload)
{
    if (upload->n_more_warnings)
        g_ptr_array_add(upload->outcome.warnings,
                        g_strdup_printf("and %u further warnings", upload->n_more_warnings));
    upload->answer(upload->request, &upload->outcome);
    http_request_finish(upload->request);
    upload_free(upload);
}

static void run_done(const struct store_receipt *receipt, void *user)
{
    struct upload *upload = (struct upload *)user;
    pthread_mutex_lock(&upload->lock);
    receipt_take(upload, receipt);
    bool is_last = --upload->n_waiting == 0;
    pthread_mutex_unlock(&upload->lock);
    if (is_last)
        upload_answer(upload);
}

static struct upload *upload_new(HttpRequest *request, const GPtrArray *runs, GPtrArray *warnings,
                                 upload_answer_fn answer)
{
    struct upload *upload = g_new0(struct upload, 1);
    struct upload_outcome *outcome = &upload->outcome;
    upload->request = request;
    upload->answer = answer;
    upload->n_waiting = outcome->n_runs = runs->len;
    pthread_mutex_init(&upload->lock, NULL);
    outcome->warnings = warnings;
    outcome->ids = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < runs->len; i++) {
        const Run *run = (const Run *)g_ptr_array_index(runs, i);
        g_ptr_array_add(outcome->ids, g_strdup(run->id));
        outcome->n_results += run->results->len;
    }
    return upload;
}

/* After the last put the upload may be gone. */
void upload_runs_store(HttpRequest *request, GPtrArray *runs, GPtrArray *warnings,
                       upload_answer_fn answer)
{
    Store *store = context_of(request)->store;
    struct upload *upload = upload_new(request, runs, warnings, answer);
    guint n_runs = 0;
    gpointer *taken = g_ptr_array_steal(runs, NULL);
    n_runs = upload->outcome.n_runs;
    g_ptr_array_unref(runs);
    http_request_defer(request);
    for (guint i = 0; i < n_runs; i++) {
        Run *run = (Run *)taken[i];
        store_put_run(store, run, run_digest(run), run_done, upload);
    }
    g_free(taken);
}
