/* SPDX-License-Identifier: Apache-2.0
 * Reads histories by the tables of document.h. A commit's samples become their median here, so that
 * no more than one commit's are held. Any thread. */
#include "schema/detect_history.h"

#include "schema/document.h"

struct samples {
    double values[DETECT_HISTORY_SAMPLES_MAX];
    guint32 n;
};

struct draft {
    char *better;
    bool has_least_effect;
    double least_effect_ratio, least_effect_absolute;
    GArray *commits;
    json_t *boundaries; /* borrowed; read after the commits are known */
};

static void series_free(gpointer data)
{
    struct detect_history_series *series = (struct detect_history_series *)data;
    g_free(series->name);
    g_array_unref(series->commits);
    g_free(series);
}

void detect_history_free(DetectHistory *history)
{
    if (!history)
        return;
    g_ptr_array_unref(history->series);
    g_free(history);
}

static int compare_numbers(gconstpointer a, gconstpointer b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void take_sample(struct reading at, const char *key, json_t *value, void *user)
{
    struct samples *samples = (struct samples *)user;
    (void)key;
    if (document_number(at, value, &samples->values[samples->n]))
        samples->n++;
}

static void take_commit(struct reading at, const char *key, json_t *value, void *user)
{
    GArray *commits = (GArray *)user;
    struct detect_history_commit commit = {0};
    g_autofree struct samples *samples = g_new(struct samples, 1);
    (void)key;
    samples->n = 0;
    document_each_element(at, value, DETECT_HISTORY_SAMPLES_MAX, take_sample, samples);
    commit.n_samples = samples->n;
    if (samples->n > 0) {
        qsort(samples->values, samples->n, sizeof(double), compare_numbers);
        double lower = samples->values[(samples->n - 1) / 2],
               upper = samples->values[samples->n / 2];
        commit.median = lower / 2 + upper / 2;
    }
    g_array_append_val(commits, commit);
}

static void take_samples(struct reading at, json_t *value, const struct field *field, void *member)
{
    GArray **commits = (GArray **)member;
    (void)field;
    document_each_element(at, value, DETECT_HISTORY_COMMITS_MAX, take_commit, *commits);
}

static void take_effect(struct reading at, json_t *value, const struct field *field, void *member)
{
    double *effect = (double *)member;
    (void)field;
    if (document_number(at, value, effect) && *effect < 0) {
        document_fault(at, "must be 0 or more; 0.02 is 2 %%");
        *effect = 0;
    }
}

static void take_ratio(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct draft *draft = (struct draft *)member;
    draft->has_least_effect = true;
    take_effect(at, value, field, &draft->least_effect_ratio);
}

static void take_boundaries(struct reading at, json_t *value, const struct field *field,
                            void *member)
{
    (void)at;
    (void)field;
    *(json_t **)member = value;
}

static const char *const better_names[] = {"lower", "higher", NULL};

static const struct field series_fields[] = {
    {"better", false, document_take_choice, offsetof(struct draft, better), 0, better_names},
    {"least_effect", false, take_ratio, 0, 0, NULL},
    {"least_effect_absolute", false, take_effect, offsetof(struct draft, least_effect_absolute), 0,
     NULL},
    {"samples", true, take_samples, offsetof(struct draft, commits), 0, NULL},
    {"boundaries", false, take_boundaries, offsetof(struct draft, boundaries), 0, NULL},
};
static const struct field_table series_table = {"a series", series_fields,
                                                G_N_ELEMENTS(series_fields)};

static void take_boundary(struct reading at, const char *key, json_t *value, void *user)
{
    GArray *commits = (GArray *)user;
    int64_t index;
    (void)key;
    if (!document_whole(at, value, 0, &index))
        return;
    if (index >= commits->len)
        document_fault(at, "must be the index of a commit, below %u", commits->len);
    else
        g_array_index(commits, struct detect_history_commit, index).is_boundary = true;
}

static void take_series(struct reading at, const char *key, json_t *value, void *user)
{
    DetectHistory *history = (DetectHistory *)user;
    struct draft draft = {.commits =
                              g_array_new(FALSE, FALSE, sizeof(struct detect_history_commit))};
    document_read(at, value, &series_table, &draft);
    if (draft.boundaries) {
        struct place place = {at.place, "boundaries", 0};
        document_each_element((struct reading){at.faults, &place}, draft.boundaries,
                              DETECT_HISTORY_COMMITS_MAX, take_boundary, draft.commits);
    }
    struct detect_history_series *series = g_new0(struct detect_history_series, 1);
    series->name = g_strdup(key);
    series->better = !draft.better ? 0 : g_str_equal(draft.better, "higher") ? 1 : -1;
    series->has_least_effect = draft.has_least_effect;
    series->least_effect_ratio = draft.least_effect_ratio;
    series->least_effect_absolute = draft.least_effect_absolute;
    series->commits = draft.commits;
    g_free(draft.better);
    g_ptr_array_add(history->series, series);
}

static void take_all_series(struct reading at, json_t *value, const struct field *field,
                            void *member)
{
    (void)field;
    document_each_member(at, value, DETECT_HISTORY_SERIES_MAX, take_series,
                         *(DetectHistory **)member);
}

static const struct field history_fields[] = {{"series", true, take_all_series, 0, 0, NULL}};
static const struct field_table history_table = {"the document", history_fields,
                                                 G_N_ELEMENTS(history_fields)};

DetectHistory *detect_history_parse(const char *bytes, size_t n_bytes, GError **error)
{
    json_t *tree = document_load(bytes, n_bytes, error);
    if (!tree)
        return NULL;
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(DetectHistory) history = g_new0(DetectHistory, 1);
    DetectHistory *target = history;
    history->series = g_ptr_array_new_with_free_func(series_free);
    struct place place = {0};
    document_read((struct reading){faults, &place}, tree, &history_table, &target);
    json_decref(tree);
    if (!document_conclude(faults, error))
        return NULL;
    return g_steal_pointer(&history);
}
