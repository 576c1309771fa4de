/* SPDX-License-Identifier: Apache-2.0
 * See rename_suggestions.h. The thread of whoever asks. */
#include "server/work/rename_suggestions.h"

#include <math.h>
#include <string.h>

#define NAME_BYTES_MAX 64u
#define LEVELS_MAX     16u /* pairs of series whose levels are compared */

/* ---- Names */

double rename_suggestions_likeness(const char *a, const char *b)
{
    size_t n = MIN(strlen(a), NAME_BYTES_MAX), m = MIN(strlen(b), NAME_BYTES_MAX);
    guint row[NAME_BYTES_MAX + 1];
    if (n == 0 || m == 0)
        return 0;
    for (guint k = 0; k <= m; k++)
        row[k] = k;
    for (size_t i = 1; i <= n; i++) {
        guint diagonal = row[0];
        row[0] = (guint)i;
        for (size_t k = 1; k <= m; k++) {
            guint above = row[k];
            bool same = g_ascii_tolower(a[i - 1]) == g_ascii_tolower(b[k - 1]);
            row[k] = MIN(MIN(above, row[k - 1]) + 1, diagonal + (same ? 0 : 1));
            diagonal = above;
        }
    }
    return 1 - (double)row[m] / (double)MAX(n, m);
}

/* ---- Who went and who came */

struct span {
    const struct store_benchmark *benchmark;
    int64_t first_seq, last_seq; /* of its runs */
};

static gint compare_last(gconstpointer a, gconstpointer b)
{
    const struct span *left = a, *right = b;
    return left->last_seq > right->last_seq ? -1 : left->last_seq < right->last_seq;
}

static GArray *spans_of(StoreSnapshot *snapshot, const struct store_project *project,
                        GError **error)
{
    g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(struct span));
    for (guint i = 0; i < project->benchmarks->len; i++) {
        struct span span = {.benchmark = project->benchmarks->pdata[i]};
        for (guint k = 0; k < span.benchmark->series->len; k++) {
            const struct store_series *series = span.benchmark->series->pdata[k];
            span.last_seq = MAX(span.last_seq, series->last_run_seq);
        }
        if (span.last_seq > 0)
            g_array_append_val(spans, span);
    }
    g_array_sort(spans, compare_last);
    g_array_set_size(spans, MIN(spans->len, RENAME_BENCHMARKS_MAX));
    for (guint i = 0; i < spans->len; i++) {
        struct span *span = &g_array_index(spans, struct span, i);
        if (!store_benchmark_first_run(snapshot, span->benchmark, &span->first_seq, error))
            return NULL;
    }
    return g_steal_pointer(&spans);
}

static guint runs_before(const GPtrArray *runs, int64_t seq)
{
    guint low = 0, high = runs->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (((const struct store_run *)runs->pdata[middle])->seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many runs of the project came after one and before another. */
static guint runs_between(const struct store_project *project, int64_t after, int64_t before)
{
    guint first = runs_before(project->runs, after + 1), end = runs_before(project->runs, before);
    return end - MIN(first, end);
}

/* ---- Cases */

static char *case_key(const struct store_series *series)
{
    return g_strdup_printf("%" G_GINT64_FORMAT "\n%s\n%s\n%s", series->machine->id,
                           series->params_text, series->metric, series->unit);
}

static gint compare_ratios(gconstpointer a, gconstpointer b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* The level of the one over that of the other, where both have one. */
static bool add_ratio(StoreSnapshot *snapshot, const struct store_series *old,
                      const struct store_series *new, GArray *ratios, GError **error)
{
    struct store_level before, after;
    bool has_before, has_after;
    if (!store_series_level(snapshot, old->id, &before, &has_before, error) ||
        !store_series_level(snapshot, new->id, &after, &has_after, error))
        return false;
    if (!has_before || !has_after || before.n == 0 || after.n == 0 || !(before.level > 0) ||
        !(after.level > 0))
        return true;
    double ratio = after.level / before.level;
    g_array_append_val(ratios, ratio);
    return true;
}

/* Counts the series that would be one line; compares some of their levels. */
static bool compare_cases(StoreSnapshot *snapshot, struct rename_suggestion *suggestion,
                          GError **error)
{
    g_autoptr(GHashTable) old = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GArray) ratios = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < suggestion->old->series->len; i++)
        g_hash_table_insert(old, case_key(suggestion->old->series->pdata[i]),
                            suggestion->old->series->pdata[i]);
    for (guint i = 0; i < suggestion->new->series->len; i++) {
        const struct store_series *series = suggestion->new->series->pdata[i];
        g_autofree char *key = case_key(series);
        const struct store_series *match = g_hash_table_lookup(old, key);
        suggestion->n_cases += match != NULL;
        if (match && ratios->len < LEVELS_MAX && !add_ratio(snapshot, match, series, ratios, error))
            return false;
    }
    g_array_sort(ratios, compare_ratios);
    suggestion->n_levels = ratios->len;
    if (ratios->len > 0)
        suggestion->level_ratio = g_array_index(ratios, double, ratios->len / 2);
    return true;
}

static bool is_likely(const struct rename_suggestion *suggestion)
{
    guint most = MAX(suggestion->old->series->len, suggestion->new->series->len);
    double ratio = suggestion->level_ratio;
    bool near = suggestion->n_levels == 0 ||
                (ratio <= RENAME_LEVEL_RATIO_MOST && ratio >= 1 / RENAME_LEVEL_RATIO_MOST);
    return suggestion->n_cases > 0 && 2 * suggestion->n_cases >= most && near;
}

static gint compare_suggestions(gconstpointer a, gconstpointer b)
{
    const struct rename_suggestion *left = a, *right = b;
    if (left->likeness != right->likeness)
        return left->likeness > right->likeness ? -1 : 1;
    return strcmp(left->old->name, right->old->name);
}

/* What came after `old` went. */
static bool add_of(StoreSnapshot *snapshot, const struct span *old, const GArray *spans,
                   GArray *suggestions, GError **error)
{
    for (guint i = 0; i < spans->len; i++) {
        const struct span *new = &g_array_index(spans, struct span, i);
        if (new->first_seq <= old->last_seq)
            continue;
        struct rename_suggestion suggestion = {.old = old->benchmark, .new = new->benchmark};
        suggestion.likeness =
            rename_suggestions_likeness(old->benchmark->name, new->benchmark->name);
        if (suggestion.likeness < RENAME_LIKENESS_LEAST ||
            runs_between(old->benchmark->project, old->last_seq, new->first_seq) >
                RENAME_RUNS_BETWEEN_MOST)
            continue;
        if (!compare_cases(snapshot, &suggestion, error))
            return false;
        if (is_likely(&suggestion))
            g_array_append_val(suggestions, suggestion);
    }
    return true;
}

GArray *rename_suggestions_find(StoreSnapshot *snapshot, const struct store_project *project,
                                GError **error)
{
    g_autoptr(GArray) suggestions = g_array_new(FALSE, FALSE, sizeof(struct rename_suggestion));
    g_autoptr(GArray) spans = spans_of(snapshot, project, error);
    if (!spans)
        return NULL;
    for (guint i = 0; i < spans->len; i++)
        if (!add_of(snapshot, &g_array_index(spans, struct span, i), spans, suggestions, error))
            return NULL;
    g_array_sort(suggestions, compare_suggestions);
    g_array_set_size(suggestions, MIN(suggestions->len, RENAME_SUGGESTIONS_MAX));
    return g_steal_pointer(&suggestions);
}
