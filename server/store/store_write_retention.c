/* SPDX-License-Identifier: Apache-2.0
 * Writes of how long data is kept (part of store_write.h), and what a document is without its
 * samples. The writer thread runs the writes; dropping is pure and runs on the thread of whoever
 * prepares it. */
#include "schema/summary.h"
#include "server/store/store_write.h"
#include <string.h>

void store_retention_write_free(struct store_retention_write *write)
{
    if (!write)
        return;
    g_free(write->project);
    g_free(write);
}

void store_dropped_free(GArray *dropped)
{
    for (guint i = 0; i < dropped->len; i++)
        g_byte_array_unref(g_array_index(dropped, struct store_dropped, i).results);
    g_array_unref(dropped);
}

/* ---- A document without samples
 * ------------------------------------------------------------------------------- */

static struct run_metric *summary_of(const struct run_result *result,
                                     const struct run_metric *metric)
{
    struct summary summary = summary_in_result(result, metric);
    struct run_metric *shorter = run_metric_new(metric->name, metric->unit, metric->better);
    shorter->kind = METRIC_SUMMARY;
    shorter->summary.center = summary.center;
    shorter->summary.has_low = shorter->summary.has_high = summary.has_interval;
    shorter->summary.low = summary.low;
    shorter->summary.high = summary.high;
    shorter->summary.has_n = summary.n > 0;
    shorter->summary.n = summary.n;
    return shorter;
}

void store_drop_samples(Run *document)
{
    for (guint i = 0; i < document->results->len; i++) {
        struct run_result *result = document->results->pdata[i];
        for (guint m = 0; m < result->metrics->len; m++) {
            struct run_metric *metric = result->metrics->pdata[m];
            if (metric->kind != METRIC_SAMPLES && metric->kind != METRIC_HISTOGRAM)
                continue;
            result->metrics->pdata[m] = summary_of(result, metric);
            run_metric_free(metric);
        }
        g_ptr_array_set_size(result->beside, 0);
    }
}

/* ---- Writes
 * ----------------------------------------------------------------------------------------------------
 */

static bool set_retention(struct store_writer *writer, struct catalogue_project *project,
                          const struct store_retention *retention, GError **error)
{
    staging_set_retention(&writer->staging, project, retention);
    return sqlite_retention_set(writer->retentions, project->pub.id, retention, error);
}

bool store_write_retention(struct store_writer *writer, struct store_write *write, GError **error)
{
    const struct store_retention_write *said = write->retention;
    struct catalogue_project *project = staging_find_project(&writer->staging, said->project);
    if (!project) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "no project is named \"%s\"; GET /api/projects lists them", said->project);
        return false;
    }
    struct store_retention retention = project->pub.retention;
    if (said->has_rules)
        retention.rules = said->rules;
    if (said->done_ms > 0)
        retention.done_ms = said->done_ms;
    write->receipt.outcome = STORE_UPDATED;
    return set_retention(writer, project, &retention, error);
}

bool store_write_count_expired(struct store_writer *writer, struct catalogue_project *project,
                               GError **error)
{
    struct store_retention retention = project->pub.retention;
    retention.n_deleted++;
    return set_retention(writer, project, &retention, error);
}

static struct store_run *run_to_drop(const struct store_writer *writer, int64_t seq)
{
    const GPtrArray *runs = writer->catalogue->runs;
    guint position = catalogue_runs_position(runs, seq);
    struct store_run *run = position < runs->len ? runs->pdata[position] : NULL;
    return run && run->seq == seq && !run->samples_dropped ? run : NULL;
}

bool store_write_dropped(struct store_writer *writer, struct store_write *write, GError **error)
{
    int64_t now_ms = g_get_real_time() / 1000;
    struct catalogue_project *project = NULL;
    guint n = 0;
    for (guint i = 0; i < write->dropped->len; i++) {
        const struct store_dropped *dropped =
            &g_array_index(write->dropped, struct store_dropped, i);
        struct store_run *run = run_to_drop(writer, dropped->run_seq);
        if (!run)
            continue;
        if (!sqlite_retention_drop(writer->retentions, run->seq, dropped->results, now_ms, error))
            return false;
        staging_drop_samples(&writer->staging, run);
        project = (struct catalogue_project *)run->project;
        n++;
    }
    write->receipt.outcome = n > 0 ? STORE_UPDATED : STORE_UNCHANGED;
    write->receipt.n_series = n;
    if (!project)
        return true;
    struct store_retention retention = project->pub.retention;
    retention.n_dropped += n;
    return set_retention(writer, project, &retention, error);
}
