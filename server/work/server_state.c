/* SPDX-License-Identifier: Apache-2.0
 * See server_state.h. The request's thread. */
#include "server/work/server_state.h"

static void add_rows(struct server_state *state, const char *what, guint64 n)
{
    if (state->n_rows < SERVER_STATE_ROWS)
        state->rows[state->n_rows++] = (struct server_rows){what, n};
}

/* The catalogue knows each series' points and each run's samples. */
static void count_rows(struct server_state *state, StoreSnapshot *snapshot)
{
    const GPtrArray *projects = store_projects(snapshot);
    guint64 n_benchmarks = 0, n_points = 0, n_results = 0, n_samples = 0, n_annotations = 0;
    for (guint i = 0; i < projects->len; i++) {
        const struct store_project *project = projects->pdata[i];
        n_benchmarks += project->benchmarks->len;
        n_annotations += project->annotations->len;
        for (guint k = 0; k < project->series->len; k++)
            n_points += ((const struct store_series *)project->series->pdata[k])->n_points;
        for (guint k = 0; k < project->runs->len; k++) {
            const struct store_run *run = project->runs->pdata[k];
            n_results += run->n_results;
            n_samples += run->samples_dropped ? 0 : run->n_samples;
        }
    }
    add_rows(state, "projects", state->store.n_projects);
    add_rows(state, "machines", state->store.n_machines);
    add_rows(state, "benchmarks", n_benchmarks);
    add_rows(state, "series", state->store.n_series);
    add_rows(state, "commits", state->store.n_commits);
    add_rows(state, "runs", state->store.n_runs);
    add_rows(state, "results", n_results);
    add_rows(state, "points", n_points);
    add_rows(state, "samples", n_samples);
    add_rows(state, "annotations", n_annotations);
}

static struct server_queue queue_of(const GArray *entries)
{
    return (struct server_queue){.n = entries->len,
                                 .is_bounded = entries->len == SERVER_STATE_QUEUE_MAX};
}

static bool read_queues(struct server_state *state, StoreSnapshot *snapshot, GError **error)
{
    g_autoptr(GArray) runs = store_analysis_queue(snapshot, SERVER_STATE_QUEUE_MAX, error);
    g_autoptr(GArray) series =
        runs ? store_rejudge_queue(snapshot, SERVER_STATE_QUEUE_MAX, error) : NULL;
    if (!series)
        return false;
    state->runs = queue_of(runs);
    state->series = queue_of(series);
    const struct store_run *first =
        runs->len > 0 ? store_run_by_seq(snapshot, g_array_index(runs, int64_t, 0)) : NULL;
    state->runs.oldest_ms = first ? first->received_ms : 0;
    return true;
}

bool server_state_read(struct server_state *out, Store *store, Work *work, StoreReader *reader,
                       GError **error)
{
    *out = (struct server_state){.engine = store_engine(), .schema = store_schema()};
    /* Before the snapshot, which holds the lock that this takes. */
    store_status(store, &out->store);
    work_status(work, &out->work);
    retention_status(work_retention(work), &out->retention);
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(reader, error);
    if (!snapshot)
        return false;
    count_rows(out, snapshot);
    return read_queues(out, snapshot, error);
}
