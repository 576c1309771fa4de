/* SPDX-License-Identifier: Apache-2.0
 * See demo_fill.h. Some runs are on their way at once, so that the writer commits them together. */
#include "server/demo/demo_fill.h"

#include "server/demo/demo_triage.h"

#include <pthread.h>

#define RUNS_AT_ONCE   32u
#define WAIT_MS        250 /* between two signs of progress */
#define TELL_RUNS_EACH 8u

struct filling {
    const struct demo_fill *fill;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Under the mutex. */
    guint n_sent, n_stored;
    int64_t last_seq;
    GError *error;         /* the first */
    bool waited, finished; /* finished: the last run no longer waits to be judged */
};

static bool tell(const struct demo_fill *fill, enum demo_step step, guint n_done, guint n_all,
                 GError **error)
{
    if (fill->progress(step, n_done, n_all, fill->user))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_BUSY, "stopped at %u of %u runs", n_done, n_all);
    return false;
}

static void on_stored(const struct store_receipt *receipt, void *user)
{
    struct filling *filling = user;
    pthread_mutex_lock(&filling->mutex);
    filling->n_stored++;
    filling->last_seq = MAX(filling->last_seq, receipt->run_seq);
    if (receipt->error && !filling->error)
        filling->error = g_error_copy(receipt->error);
    pthread_cond_signal(&filling->changed);
    pthread_mutex_unlock(&filling->mutex);
}

static void on_waited(StoreReader *reader, void *user)
{
    struct filling *filling = user;
    g_autoptr(StoreSnapshot) snapshot = reader ? store_snapshot_begin(reader, NULL) : NULL;
    bool is_waiting = true;
    if (snapshot && !store_is_waiting(snapshot, filling->last_seq, &is_waiting, NULL))
        is_waiting = true;
    pthread_mutex_lock(&filling->mutex);
    filling->waited = true;
    filling->finished = !is_waiting;
    pthread_cond_signal(&filling->changed);
    pthread_mutex_unlock(&filling->mutex);
}

/* Until at most `n_open` runs are on their way. False where one was refused. */
static bool await_stored(struct filling *filling, guint n_open)
{
    pthread_mutex_lock(&filling->mutex);
    while (filling->n_sent - filling->n_stored > n_open)
        pthread_cond_wait(&filling->changed, &filling->mutex);
    bool fine = !filling->error;
    pthread_mutex_unlock(&filling->mutex);
    return fine;
}

/* The document as it would come over the wire. */
static Run *through_document(const Run *made, GError **error)
{
    g_autoptr(GString) document = g_string_new(NULL);
    g_autoptr(Faults) faults = faults_new();
    run_print(made, document);
    return run_parse(document->str, document->len, faults, error);
}

static bool send(struct filling *filling, const Run *made, GError **error)
{
    Run *run = through_document(made, error);
    if (!run)
        return false;
    pthread_mutex_lock(&filling->mutex);
    filling->n_sent++;
    pthread_mutex_unlock(&filling->mutex);
    store_put_run(filling->fill->store, run, run_digest(run), on_stored, filling);
    return true;
}

static bool send_all(struct filling *filling, GError **error)
{
    const struct demo_fill *fill = filling->fill;
    g_autoptr(DemoHistory) history = demo_history_new(&fill->options);
    guint n_all = demo_history_n_runs();
    bool fine = true;
    for (guint n = 0; fine; n++) {
        g_autoptr(Run) made = demo_history_next(history);
        if (!made)
            break;
        fine = (n % TELL_RUNS_EACH != 0 || tell(fill, DEMO_STORED, n, n_all, error)) &&
               send(filling, made, error) && await_stored(filling, RUNS_AT_ONCE);
    }
    return await_stored(filling, 0) && fine;
}

/* The runs judged so far: the work thread takes them in the order of their receipt. */
static guint n_judged(const struct filling *filling)
{
    struct work_status status;
    work_status(filling->fill->work, &status);
    return (guint)status.runs_judged;
}

static bool await_judged(struct filling *filling, GError **error)
{
    const struct demo_fill *fill = filling->fill;
    bool fine = true, finished = false;
    while (fine && !finished) {
        filling->waited = false;
        work_wait(fill->work, filling->last_seq, WAIT_MS, on_waited, filling);
        pthread_mutex_lock(&filling->mutex);
        while (!filling->waited)
            pthread_cond_wait(&filling->changed, &filling->mutex);
        finished = filling->finished;
        pthread_mutex_unlock(&filling->mutex);
        fine = tell(fill, DEMO_JUDGED, n_judged(filling), filling->n_stored, error);
    }
    return fine;
}

/* What people have said of it meanwhile. */
static bool triage(struct filling *filling, GError **error)
{
    Store *store = filling->fill->store;
    g_autoptr(StoreReader) reader = store_reader_new(store, error);
    StoreSnapshot *snapshot = reader ? store_snapshot_begin(reader, error) : NULL;
    g_autoptr(GPtrArray) writes = snapshot ? demo_triage_writes(snapshot, error) : NULL;
    g_clear_pointer(&snapshot, store_snapshot_end);
    for (guint i = 0; writes && i < writes->len; i++) {
        pthread_mutex_lock(&filling->mutex);
        filling->n_sent++;
        pthread_mutex_unlock(&filling->mutex);
        store_put_triage(store, writes->pdata[i], on_stored, filling);
    }
    return writes && await_stored(filling, 0);
}

bool demo_fill(const struct demo_fill *fill, GError **error)
{
    struct filling filling = {
        .fill = fill, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    bool fine =
        send_all(&filling, error) && await_judged(&filling, error) && triage(&filling, error);
    if (filling.error && error && !*error)
        g_propagate_error(error, g_steal_pointer(&filling.error));
    g_clear_error(&filling.error);
    pthread_cond_destroy(&filling.changed);
    pthread_mutex_destroy(&filling.mutex);
    return fine;
}
