/* SPDX-License-Identifier: Apache-2.0
 * The run document from structure to canonical JSON, written straight into a buffer: this is the
 * hot half of storing a run (its digest) and of giving one back. The order of keys here is the
 * order in which people read the document. Any thread. */
#include "schema/number.h"
#include "schema/run.h"
#include "schema/timestamp.h"

#include <string.h>

/* Ends the piece before with a comma where there is one. */
static void separate(GString *out)
{
    char last = out->len ? out->str[out->len - 1] : '{';

    if (last != '{' && last != '[')
        g_string_append_c(out, ',');
}

/* `key` is one of ours: it needs no escapes. */
static void put_key(GString *out, const char *key)
{
    separate(out);
    g_string_append_c(out, '"');
    g_string_append(out, key);
    g_string_append_len(out, "\":", 2);
}

static void put_string(GString *out, const char *key, const char *value)
{
    if (!value)
        return;
    put_key(out, key);
    json_append_string(out, value);
}

static void put_json(GString *out, const char *key, const char *json)
{
    if (!json)
        return;
    put_key(out, key);
    g_string_append(out, json);
}

static void put_number(GString *out, const char *key, double value)
{
    put_key(out, key);
    number_append(out, value);
}

static void put_time(GString *out, const char *key, char *taken_text)
{
    put_string(out, key, taken_text);
    g_free(taken_text);
}

static void put_numbers(GString *out, const char *key, const double *values, uint32_t n)
{
    put_key(out, key);
    g_string_append_c(out, '[');
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            g_string_append_c(out, ',');
        number_append(out, values[i]);
    }
    g_string_append_c(out, ']');
}

static void put_member(GString *out, const char *name)
{
    separate(out);
    json_append_string(out, name);
    g_string_append_len(out, ":{", 2);
}

static void append_commit(GString *out, const struct run_commit *commit)
{
    g_string_append_c(out, '{');
    put_string(out, "sha", commit->sha);
    if (commit->parents) {
        put_key(out, "parents");
        g_string_append_c(out, '[');
        for (char **parent = commit->parents; *parent; parent++) {
            separate(out);
            json_append_string(out, *parent);
        }
        g_string_append_c(out, ']');
    }
    if (commit->has_time)
        put_time(out, "time", timestamp_format_s(commit->time_s));
    put_string(out, "author", commit->author);
    put_string(out, "subject", commit->subject);
    put_json(out, "trailers", commit->trailers_json);
    g_string_append_c(out, '}');
}

static void append_summary(GString *out, const struct run_metric *metric)
{
    put_key(out, "summary");
    g_string_append_c(out, '{');
    put_number(out, "center", metric->summary.center);
    if (metric->summary.has_low)
        put_number(out, "low", metric->summary.low);
    if (metric->summary.has_high)
        put_number(out, "high", metric->summary.high);
    if (metric->summary.has_n)
        put_number(out, "n", (double)metric->summary.n);
    put_string(out, "kind", metric->summary.is_mean ? "mean" : "median");
    g_string_append_c(out, '}');
}

static void append_histogram(GString *out, const struct run_metric *metric)
{
    put_key(out, "histogram");
    g_string_append_c(out, '{');
    put_number(out, "error", metric->histogram.error_ratio);
    put_key(out, "buckets");
    g_string_append_c(out, '[');
    for (uint32_t i = 0; i < metric->histogram.n_buckets; i++) {
        const struct run_bucket *bucket = &metric->histogram.buckets[i];

        separate(out);
        g_string_append_c(out, '[');
        number_append(out, bucket->low);
        g_string_append_c(out, ',');
        number_append(out, bucket->high);
        g_string_append_c(out, ',');
        number_append(out, (double)bucket->count);
        g_string_append_c(out, ']');
    }
    g_string_append(out, "]}");
}

static void append_censored(GString *out, const struct run_metric *metric)
{
    put_key(out, "censored");
    g_string_append_c(out, '{');
    put_number(out, metric->censored.above ? "above" : "below", metric->censored.limit);
    g_string_append_c(out, '}');
}

static void append_metric(GString *out, const struct run_metric *metric)
{
    put_member(out, metric->name);
    if (*metric->unit)
        put_string(out, "unit", metric->unit);
    put_string(out, "better", better_name(metric->better));
    switch (metric->kind) {
    case METRIC_SUMMARY:
        append_summary(out, metric);
        break;
    case METRIC_HISTOGRAM:
        append_histogram(out, metric);
        break;
    case METRIC_CENSORED:
        append_censored(out, metric);
        break;
    case METRIC_SAMPLES:
    default:
        put_numbers(out, "samples", metric->samples, metric->n_samples);
        break;
    }
    g_string_append_c(out, '}');
}

static void append_metrics(GString *out, const GPtrArray *metrics)
{
    if (!metrics->len)
        return;
    put_key(out, "metrics");
    g_string_append_c(out, '{');
    for (guint i = 0; i < metrics->len; i++)
        append_metric(out, (const struct run_metric *)g_ptr_array_index(metrics, i));
    g_string_append_c(out, '}');
}

static void append_flags(GString *out, const GPtrArray *flags)
{
    if (!flags->len)
        return;
    put_key(out, "flags");
    g_string_append_c(out, '[');
    for (guint i = 0; i < flags->len; i++) {
        separate(out);
        json_append_string(out, (const char *)g_ptr_array_index(flags, i));
    }
    g_string_append_c(out, ']');
}

static void append_beside(GString *out, const GPtrArray *list)
{
    if (!list->len)
        return;
    put_key(out, "beside");
    g_string_append_c(out, '{');
    for (guint i = 0; i < list->len; i++) {
        const struct run_beside *beside = (const struct run_beside *)g_ptr_array_index(list, i);

        put_member(out, beside->name);
        if (*beside->unit)
            put_string(out, "unit", beside->unit);
        put_numbers(out, "values", beside->values, beside->n_values);
        g_string_append_c(out, '}');
    }
    g_string_append_c(out, '}');
}

static void append_result(GString *out, const struct run_result *result)
{
    separate(out);
    g_string_append_c(out, '{');
    put_string(out, "bench", result->bench);
    put_key(out, "params");
    run_params_append(out, result->params);
    append_metrics(out, result->metrics);
    put_string(out, "error", result->error);
    put_json(out, "info", result->info_json);
    append_flags(out, result->flags);
    append_beside(out, result->beside);
    g_string_append_c(out, '}');
}

static void append_machine(GString *out, const Run *run)
{
    put_key(out, "machine");
    g_string_append_c(out, '{');
    put_string(out, "name", run->machine);
    put_json(out, "environment", run->environment_json);
    put_string(out, "topology", run->topology);
    g_string_append_c(out, '}');
}

static void append_history(GString *out, const GPtrArray *history)
{
    if (!history->len)
        return;
    put_key(out, "history");
    g_string_append_c(out, '[');
    for (guint i = 0; i < history->len; i++) {
        separate(out);
        append_commit(out, (const struct run_commit *)g_ptr_array_index(history, i));
    }
    g_string_append_c(out, ']');
}

void run_print(const Run *run, GString *out)
{
    g_string_append(out, "{\"schema\":\"" RUN_SCHEMA "\"");
    put_string(out, "id", run->id);
    put_string(out, "project", run->project);
    put_key(out, "commit");
    append_commit(out, &run->commit);
    put_string(out, "branch", run->branch);
    if (run->dirty)
        put_json(out, "dirty", "true");
    put_json(out, "source", run->source_json);
    append_history(out, run->history);
    append_machine(out, run);
    put_string(out, "reason", run->reason);
    put_time(out, "started", timestamp_format_ms(run->started_ms));
    if (run->finished_ms)
        put_time(out, "finished", timestamp_format_ms(run->finished_ms));
    put_json(out, "context", run->context_json);
    put_key(out, "results");
    g_string_append_c(out, '[');
    for (guint i = 0; i < run->results->len; i++)
        append_result(out, (const struct run_result *)g_ptr_array_index(run->results, i));
    g_string_append(out, "]}");
}

char *run_digest(const Run *run)
{
    g_autoptr(GString) text = g_string_sized_new(16384);

    run_print(run, text);
    return g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text->str, text->len);
}
