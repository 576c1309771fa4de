/* SPDX-License-Identifier: Apache-2.0
 * Putting writes into the store's queue (see store.h): one function each. Any thread. */
#include "server/store/store_internal.h"

#include <string.h>

static void enqueue(Store *store, struct store_write *write)
{
    pthread_mutex_lock(&store->mutex);
    write->queued_us = g_get_monotonic_time();
    bool room = store->queued_bytes + write->bytes <= store->queue_bytes_max && !store->closing;
    if (room) {
        g_queue_push_tail(&store->waiting, write);
        store->queued_bytes += write->bytes;
        store->queued_writes++;
        pthread_cond_signal(&store->has_work);
    } else {
        store->runs_refused += write->kind == WRITE_RUN;
    }
    pthread_mutex_unlock(&store->mutex);
    if (room)
        return;
    write->error = g_error_new(BREAKEVEN_ERROR, ERROR_BUSY,
                               "too many writes are waiting for the disk; try again in a moment");
    store_answer(write);
}

/* So that an overloaded store does no work for what it will refuse. */
static bool queue_is_full(Store *store)
{
    pthread_mutex_lock(&store->mutex);
    bool full = store->queued_bytes >= store->queue_bytes_max;
    pthread_mutex_unlock(&store->mutex);
    return full;
}

void store_put_run(Store *store, Run *run, char *digest, store_done_fn done, void *user)
{
    struct store_write *write = store_write_new(WRITE_RUN, done, user);
    if (queue_is_full(store)) {
        run_free(run);
        g_free(digest);
        write->bytes = store->queue_bytes_max;
    } else {
        write->run = prepared_run_new(run, digest);
        write->bytes = write->run->bytes;
    }
    enqueue(store, write);
}

void store_delete_run(Store *store, char *id, store_done_fn done, void *user)
{
    struct store_write *write = store_write_new(WRITE_DELETION, done, user);
    write->name = id;
    write->bytes = sizeof *write;
    enqueue(store, write);
}

void store_put_commits(Store *store, char *project, char *branch, GPtrArray *commits,
                       store_done_fn done, void *user)
{
    struct store_write *write = store_write_new(WRITE_COMMITS, done, user);
    write->name = project;
    write->branch = branch;
    write->commits = commits;
    write->bytes = (gint64)sizeof *write + 1024 * (gint64)commits->len;
    enqueue(store, write);
}

void store_put_project(Store *store, struct store_project_settings *settings, store_done_fn done,
                       void *user)
{
    struct store_write *write = store_write_new(WRITE_PROJECT, done, user);
    write->settings = settings;
    write->bytes = sizeof *write;
    enqueue(store, write);
}

void store_put_judgement(Store *store, struct store_judgement *judgement, store_done_fn done,
                         void *user)
{
    struct store_write *write = store_write_new(WRITE_JUDGEMENT, done, user);
    write->judgement = judgement;
    write->bytes = (gint64)sizeof *write + 1024 * (gint64)judgement->levels->len;
    enqueue(store, write);
}

void store_put_triage(Store *store, struct store_triage_write *triage, store_done_fn done,
                      void *user)
{
    struct store_write *write = store_write_new(WRITE_TRIAGE, done, user);
    write->triage = triage;
    write->bytes = sizeof *write;
    enqueue(store, write);
}

void store_put_head(Store *store, struct store_head_write *head, store_done_fn done, void *user)
{
    struct store_write *write = store_write_new(WRITE_HEAD, done, user);
    write->head = head;
    write->bytes = sizeof *write;
    enqueue(store, write);
}

void store_put_annotation(Store *store, struct store_annotation_write *annotation,
                          store_done_fn done, void *user)
{
    struct store_write *write = store_write_new(WRITE_ANNOTATION, done, user);
    write->annotation = annotation;
    write->bytes = sizeof *write;
    enqueue(store, write);
}

void store_put_rename(Store *store, struct store_rename *rename, store_done_fn done, void *user)
{
    struct store_write *write = store_write_new(WRITE_RENAME, done, user);
    write->rename = rename;
    write->bytes =
        (gint64)sizeof *write + 1024 * (gint64)(rename->values ? rename->values->len : 0);
    enqueue(store, write);
}

void store_put_retention(Store *store, struct store_retention_write *retention, store_done_fn done,
                         void *user)
{
    struct store_write *write = store_write_new(WRITE_RETENTION, done, user);
    write->retention = retention;
    write->bytes = sizeof *write;
    enqueue(store, write);
}

void store_put_dropped(Store *store, GArray *dropped, store_done_fn done, void *user)
{
    struct store_write *write = store_write_new(WRITE_DROPPED, done, user);
    write->dropped = dropped;
    write->bytes = sizeof *write;
    for (guint i = 0; i < dropped->len; i++)
        write->bytes += g_array_index(dropped, struct store_dropped, i).results->len;
    enqueue(store, write);
}

void store_expire_run(Store *store, char *id, bool keeps_verdicts, store_done_fn done, void *user)
{
    struct store_write *write = store_write_new(WRITE_DELETION, done, user);
    write->name = id;
    write->is_expired = true;
    write->keeps_verdicts = keeps_verdicts;
    write->bytes = sizeof *write;
    enqueue(store, write);
}

static gint64 bytes_of_texts(const char *const *texts, gsize n)
{
    gint64 bytes = 0;
    for (gsize i = 0; i < n; i++)
        bytes += texts[i] ? (gint64)strlen(texts[i]) + 1 : 0;
    return bytes;
}

static gint64 bytes_of_names(char *const *names)
{
    gint64 bytes = 0;
    for (; names && *names; names++)
        bytes += (gint64)strlen(*names) + 1 + (gint64)sizeof *names;
    return bytes;
}

static gint64 bytes_of_access(const struct store_access_write *access)
{
    const struct store_token *token = access->token;
    const struct store_audit *audit = access->audit;
    gint64 bytes = (gint64)sizeof *access + bytes_of_texts((const char *const[]){access->who}, 1);
    if (token)
        bytes += (gint64)sizeof *token + bytes_of_names(token->branches) +
                 bytes_of_names(token->machines) +
                 bytes_of_texts((const char *const[]){token->project, token->scopes, token->note,
                                                      token->made_by, token->revoked_by},
                                5);
    if (audit)
        bytes += (gint64)sizeof *audit +
                 bytes_of_texts((const char *const[]){audit->request_id, audit->who, audit->project,
                                                      audit->address, audit->method, audit->path,
                                                      audit->detail},
                                7);
    return bytes;
}

void store_put_access(Store *store, struct store_access_write *access, store_done_fn done,
                      void *user)
{
    struct store_write *write = store_write_new(WRITE_ACCESS, done, user);
    write->access = access;
    write->bytes = (gint64)sizeof *write + bytes_of_access(access);
    enqueue(store, write);
}
