/* SPDX-License-Identifier: Apache-2.0
 * Making a run ready for the writer (see prepared_run.h): summaries, digests, packing. Pure but for
 * the clock; runs on the thread that posts, so that the one writer need not do it. */
#include "server/store/prepared_run.h"
#include "server/store/sample_blob.h"
#include <string.h>

#define RESULT_BYTES 1024 /* of structures, about */

static size_t text_bytes(const char *text)
{
    return text ? strlen(text) : 0;
}

static gint64 estimate_bytes(const PreparedRun *prepared)
{
    const Run *run = prepared->run;
    size_t bytes = sizeof *run + text_bytes(run->topology) + text_bytes(run->environment_json) +
                   text_bytes(run->context_json) + text_bytes(run->source_json) +
                   2 * (size_t)prepared->results->len + (size_t)run->results->len * RESULT_BYTES +
                   (size_t)run->history->len * RESULT_BYTES;
    return (gint64)bytes;
}

PreparedRun *prepared_run_new(Run *run, char *digest)
{
    PreparedRun *prepared = g_new0(PreparedRun, 1);
    prepared->run = run;
    prepared->digest = digest;
    prepared->received_ms = g_get_real_time() / 1000;
    prepared->n_samples = run_count_samples(run);
    if (run->environment_json)
        prepared->environment_digest = run_environment_digest(run->environment_json);
    if (run->topology)
        prepared->topology_digest =
            g_compute_checksum_for_string(G_CHECKSUM_SHA256, run->topology, -1);
    run_pull_request(run, &prepared->pull_request, &prepared->base);
    prepared->params_texts = g_new0(char *, run->results->len + 1);
    prepared->summaries = g_array_new(FALSE, FALSE, sizeof(struct summary));
    for (guint i = 0; i < run->results->len; i++) {
        const struct run_result *result = run->results->pdata[i];
        prepared->params_texts[i] = run_params_text(result->params);
        prepared->n_errors += result->error != NULL;
        for (guint m = 0; m < result->metrics->len; m++) {
            struct summary summary = summary_in_result(result, result->metrics->pdata[m]);
            g_array_append_val(prepared->summaries, summary);
        }
    }
    prepared->results = sample_blob_encode(run);
    prepared->bytes = estimate_bytes(prepared);
    return prepared;
}

void prepared_run_free(PreparedRun *prepared)
{
    if (!prepared)
        return;
    run_free(prepared->run);
    g_free(prepared->digest);
    g_free(prepared->environment_digest);
    g_free(prepared->topology_digest);
    g_free(prepared->pull_request);
    g_free(prepared->base);
    g_strfreev(prepared->params_texts);
    g_array_unref(prepared->summaries);
    g_byte_array_unref(prepared->results);
    g_free(prepared);
}
