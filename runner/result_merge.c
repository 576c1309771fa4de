/* SPDX-License-Identifier: Apache-2.0
 * The merging of results: first whether all of it fits, then all of it. It knows no benchmark and
 * no plan. Pure; any thread. */
#include "runner/result_merge.h"

#include <string.h>

static struct run_metric *metric_at(const struct run_result *result, guint index)
{
    return (struct run_metric *)result->metrics->pdata[index];
}

/* How many samples each of a result's metrics stands for: a bound stands for as many as its
 * neighbours have. */
static uint32_t sample_count(const struct run_result *result)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = metric_at(result, i);
        if (metric->kind == METRIC_SAMPLES)
            return metric->n_samples;
    }
    return 1;
}

/* Histograms. */

static bool same_bucket(const struct run_bucket *a, const struct run_bucket *b)
{
    return a->low == b->low && a->high == b->high;
}

/* Walks through both lists in ascending order and writes their union to `out`, which may be NULL.
 * Its length, or 0 where buckets overlap without being the same. */
static uint32_t unite_buckets(const struct run_metric *a, const struct run_metric *b,
                              struct run_bucket *out)
{
    uint32_t i = 0, j = 0, n = 0;
    double reached = 0;
    while (i < a->histogram.n_buckets || j < b->histogram.n_buckets) {
        const struct run_bucket *left =
            i < a->histogram.n_buckets ? &a->histogram.buckets[i] : NULL;
        const struct run_bucket *right =
            j < b->histogram.n_buckets ? &b->histogram.buckets[j] : NULL;
        bool both = left && right && same_bucket(left, right);
        bool take_left = left && (!right || left->low <= right->low);
        struct run_bucket next = take_left ? *left : *right;
        if (both)
            next.count += right->count;
        if (n > 0 && next.low < reached)
            return 0;
        i += take_left;
        j += both || !take_left;
        reached = next.high;
        if (out)
            out[n] = next;
        n++;
    }
    return n;
}

static bool histograms_fit(const struct run_metric *a, const struct run_metric *b)
{
    uint32_t n = unite_buckets(a, b, NULL);
    return n > 0 && n <= RUN_BUCKETS_MAX && a->histogram.error_ratio == b->histogram.error_ratio;
}

static void merge_histogram(struct run_metric *to, const struct run_metric *from)
{
    uint32_t n = unite_buckets(to, from, NULL);
    struct run_bucket *buckets = g_new0(struct run_bucket, n);
    unite_buckets(to, from, buckets);
    g_free(to->histogram.buckets);
    to->histogram.buckets = buckets;
    to->histogram.n_buckets = n;
}

/* Samples and bounds. */

static void append_samples(struct run_metric *to, const struct run_metric *from)
{
    for (uint32_t s = 0; s < from->n_samples; s++)
        run_metric_add_sample(to, from->samples[s]);
}

static void append_bound(struct run_metric *to, double limit, uint32_t times)
{
    for (uint32_t s = 0; s < times; s++)
        run_metric_add_sample(to, limit);
}

static void turn_into_samples(struct run_metric *metric, uint32_t times)
{
    double limit = metric->censored.limit;
    metric->kind = METRIC_SAMPLES;
    append_bound(metric, limit, times);
}

static void weaken_bound(struct run_metric *to, const struct run_metric *from)
{
    bool is_weaker = to->censored.above ? from->censored.limit < to->censored.limit
                                        : from->censored.limit > to->censored.limit;
    if (is_weaker)
        to->censored.limit = from->censored.limit;
}

/* Whether these two can be put together. */
static bool metrics_fit(const struct run_metric *a, const struct run_metric *b)
{
    if (strcmp(a->name, b->name) != 0 || strcmp(a->unit, b->unit) != 0)
        return false;
    bool a_ranks = a->kind == METRIC_SAMPLES || a->kind == METRIC_CENSORED;
    bool b_ranks = b->kind == METRIC_SAMPLES || b->kind == METRIC_CENSORED;
    if (a_ranks && b_ranks)
        return a->kind != b->kind || a->kind == METRIC_SAMPLES ||
               a->censored.above == b->censored.above;
    return a->kind == METRIC_HISTOGRAM && b->kind == METRIC_HISTOGRAM && histograms_fit(a, b);
}

static struct run_metric *find_like(const struct run_result *result, const struct run_metric *like)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        struct run_metric *metric = metric_at(result, i);
        if (strcmp(metric->name, like->name) == 0 && strcmp(metric->unit, like->unit) == 0)
            return metric;
    }
    return NULL;
}

/* Whether each metric of `of` has its like in `in`, but for histograms. Counts those that have
 * none.
 */
static bool has_likes(const struct run_result *of, const struct run_result *in, guint *out_lonely)
{
    *out_lonely = 0;
    for (guint i = 0; i < of->metrics->len; i++) {
        const struct run_metric *metric = metric_at(of, i);
        const struct run_metric *like = find_like(in, metric);
        if (like ? !metrics_fit(metric, like) : metric->kind != METRIC_HISTOGRAM)
            return false;
        *out_lonely += like == NULL;
    }
    return true;
}

static bool results_fit(const struct run_result *whole, const struct run_result *part)
{
    guint n_old, n_new;
    return sample_count(whole) + sample_count(part) <= RUN_SAMPLES_MAX &&
           has_likes(whole, part, &n_old) && has_likes(part, whole, &n_new) &&
           whole->metrics->len + n_new <= RUN_METRICS_MAX;
}

static struct run_metric *copy_histogram(const struct run_metric *metric)
{
    struct run_metric *copy = run_metric_new(metric->name, metric->unit, metric->better);
    copy->kind = METRIC_HISTOGRAM;
    copy->histogram = metric->histogram;
    copy->histogram.buckets = g_memdup2(
        metric->histogram.buckets, metric->histogram.n_buckets * sizeof *metric->histogram.buckets);
    return copy;
}

static void add_flag_once(struct run_result *result, const char *flag)
{
    if (!g_ptr_array_find_with_equal_func(result->flags, flag, g_str_equal, NULL))
        run_result_add_flag(result, flag);
}

static void merge_metric(struct run_metric *to, uint32_t n_to, const struct run_metric *from,
                         uint32_t n_from)
{
    if (to->kind == METRIC_HISTOGRAM) {
        merge_histogram(to, from);
        return;
    }
    if (to->kind == METRIC_CENSORED && from->kind == METRIC_CENSORED) {
        weaken_bound(to, from);
        return;
    }
    if (to->kind == METRIC_CENSORED)
        turn_into_samples(to, n_to);
    if (from->kind == METRIC_CENSORED)
        append_bound(to, from->censored.limit, n_from);
    else
        append_samples(to, from);
}

/* What stands beside the samples. */

static const struct run_beside *find_beside(const struct run_result *result,
                                            const struct run_beside *like)
{
    for (guint i = 0; i < result->beside->len; i++) {
        const struct run_beside *beside = (const struct run_beside *)result->beside->pdata[i];
        if (strcmp(beside->name, like->name) == 0 && strcmp(beside->unit, like->unit) == 0)
            return beside;
    }
    return NULL;
}

/* A list has a value for each sample or is not there: what only some rounds could record (a probe
 * that found no second CPU in time) goes. */
static void merge_beside(struct run_result *whole, const struct run_result *part)
{
    for (guint i = whole->beside->len; i > 0; i--) {
        struct run_beside *to = (struct run_beside *)whole->beside->pdata[i - 1];
        const struct run_beside *from = find_beside(part, to);
        if (!from) {
            g_ptr_array_remove_index(whole->beside, i - 1);
            continue;
        }
        to->values = g_renew(double, to->values, (gsize)to->n_values + from->n_values);
        memcpy(to->values + to->n_values, from->values, from->n_values * sizeof(double));
        to->n_values += from->n_values;
    }
}

bool result_merge(struct run_result *whole, const struct run_result *part)
{
    if (!results_fit(whole, part))
        return false;
    uint32_t n_whole = sample_count(whole), n_part = sample_count(part);
    for (guint i = 0; i < part->metrics->len; i++) {
        const struct run_metric *from = metric_at(part, i);
        struct run_metric *to = find_like(whole, from);
        if (!to) {
            run_result_take_metric(whole, copy_histogram(from));
            continue;
        }
        if (to->kind != from->kind)
            add_flag_once(whole, RESULT_FLAG_PARTLY_CENSORED);
        merge_metric(to, n_whole, from, n_part);
    }
    merge_beside(whole, part);
    for (guint i = 0; i < part->flags->len; i++)
        add_flag_once(whole, (const char *)part->flags->pdata[i]);
    return true;
}
