/* SPDX-License-Identifier: Apache-2.0
 * See machine_probe.h. Each measure is compared case by case, since the reference workload is as
 * long as the case's tasks; the median over the cases is the measure's move. The work thread's. */
#include "server/work/machine_probe.h"

#include "server/analysis/series_noise.h"

#include <math.h>
#include <string.h>

#define SURE_DEVIATIONS 4.0

static const char *const measures[] = {"fixed_loop", "reference", "handoff"};
#define N_MEASURES G_N_ELEMENTS(measures)

/* Case -> GArray of double: logarithms, NAN where a run has no value, one for each run. */
struct readings {
    GHashTable *cases[N_MEASURES];
    guint n_runs;
};

static void free_list(gpointer list)
{
    g_array_unref(list);
}

static void take_value(struct readings *readings, guint measure, const char *name, double value)
{
    GArray *list = g_hash_table_lookup(readings->cases[measure], name);
    if (!list) {
        list = g_array_new(FALSE, FALSE, sizeof(double));
        g_hash_table_insert(readings->cases[measure], g_strdup(name), list);
    }
    const double none = (double)NAN;
    while (list->len < readings->n_runs)
        g_array_append_val(list, none);
    if (list->len == readings->n_runs)
        g_array_append_val(list, value);
}

static char *name_of(const struct run_result *result)
{
    GString *name = g_string_new(result->bench);
    for (guint i = 0; i < result->params->len; i++) {
        const struct run_param *param = result->params->pdata[i];
        g_string_append_printf(name, "\n%s\n%s", param->name, param->value);
    }
    return g_string_free(name, FALSE);
}

static double median_of(const struct run_beside *beside)
{
    g_autofree double *values = g_memdup2(beside->values, beside->n_values * sizeof(double));
    double median = series_noise_median(values, beside->n_values);
    return median > 0 ? log(median) : (double)NAN;
}

static void take_result(struct readings *readings, const struct run_result *result)
{
    g_autofree char *name = name_of(result);
    for (guint i = 0; i < result->beside->len; i++) {
        const struct run_beside *beside = result->beside->pdata[i];
        for (guint m = 0; m < N_MEASURES; m++)
            if (strcmp(beside->name, measures[m]) == 0 && beside->n_values > 0)
                take_value(readings, m, name, median_of(beside));
    }
}

/* A run that is gone or cannot be read says nothing. */
static void read_runs(StoreReader *reader, const GArray *seqs, struct readings *readings)
{
    for (guint i = 0; i < seqs->len; i++) {
        g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(reader, NULL);
        int64_t seq = g_array_index(seqs, int64_t, i);
        g_autoptr(Run) run = snapshot && store_run_by_seq(snapshot, seq)
                                 ? store_run_document(snapshot, seq, NULL)
                                 : NULL;
        for (guint k = 0; run && k < run->results->len; k++)
            take_result(readings, run->results->pdata[k]);
        readings->n_runs++;
    }
}

/* The median of the numbers among values[start, end); false where there are none. */
static bool median_between(const GArray *values, guint start, guint end, double *out)
{
    g_autoptr(GArray) known = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = start; i < MIN(end, values->len); i++) {
        double value = g_array_index(values, double, i);
        if (isfinite(value))
            g_array_append_val(known, value);
    }
    *out = series_noise_median((double *)(void *)known->data, known->len);
    return known->len > 0;
}

/* How far run `run` lies from the median of the runs before, over all cases. */
static double deviation_of_run(GHashTable *cases, guint run, guint n_before)
{
    g_autoptr(GArray) off = g_array_new(FALSE, FALSE, sizeof(double));
    GHashTableIter iterator;
    gpointer list;
    g_hash_table_iter_init(&iterator, cases);
    while (g_hash_table_iter_next(&iterator, NULL, &list)) {
        double before, now;
        if (median_between(list, 0, n_before, &before) &&
            median_between(list, run, run + 1, &now)) {
            now -= before;
            g_array_append_val(off, now);
        }
    }
    return off->len > 0 ? series_noise_median((double *)(void *)off->data, off->len) : (double)NAN;
}

static double move_of(GHashTable *cases, guint n_before, guint n_runs)
{
    g_autoptr(GArray) runs = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < n_runs; i++) {
        double off = deviation_of_run(cases, i, n_before);
        g_array_append_val(runs, off);
    }
    double after, spread = 0;
    guint n_known = 0;
    if (!median_between(runs, n_before, n_runs, &after))
        return 0;
    for (guint i = 0; i < n_before; i++) {
        double off = g_array_index(runs, double, i);
        spread += isfinite(off) ? off * off : 0;
        n_known += isfinite(off) ? 1 : 0;
    }
    if (n_known < 3)
        return 0;
    double noise = fmax(sqrt(spread / (n_known - 1)), SERIES_NOISE_FLOOR);
    double error = noise * sqrt(1.0 / n_known + 1.0 / (n_runs - n_before));
    return fabs(after) >= SURE_DEVIATIONS * error ? after : 0;
}

double machine_probe_move(StoreReader *reader, const GArray *before, const GArray *after)
{
    struct readings readings = {.n_runs = 0};
    double most = 0;
    for (guint m = 0; m < N_MEASURES; m++)
        readings.cases[m] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_list);
    read_runs(reader, before, &readings);
    read_runs(reader, after, &readings);
    for (guint m = 0; m < N_MEASURES; m++) {
        double move = move_of(readings.cases[m], before->len, readings.n_runs);
        if (fabs(move) > fabs(most))
            most = move;
        g_hash_table_unref(readings.cases[m]);
    }
    return most;
}

/* ---- One run --------------------------------------------------------------------------------- */

/* The median over all results; NAN where none recorded `name`. */
static double median_beside(const Run *run, const char *name)
{
    g_autoptr(GArray) medians = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < run->results->len; i++) {
        const GPtrArray *all = ((const struct run_result *)run->results->pdata[i])->beside;
        for (guint k = 0; k < all->len; k++) {
            const struct run_beside *beside = all->pdata[k];
            double median = strcmp(beside->name, name) == 0 && beside->n_values > 0
                                ? median_of(beside)
                                : (double)NAN;
            if (isfinite(median))
                g_array_append_val(medians, median);
        }
    }
    double median;
    return median_between(medians, 0, medians->len, &median) ? exp(median) : (double)NAN;
}

bool machine_probe_of_run(StoreSnapshot *snapshot, int64_t run_seq, struct machine_probe *out,
                          GError **error)
{
    g_autoptr(Run) run = store_run_document(snapshot, run_seq, error);
    if (!run)
        return false;
    out->handoff_ns = median_beside(run, "handoff");
    out->fixed_loop_ns = median_beside(run, "fixed_loop");
    return true;
}
