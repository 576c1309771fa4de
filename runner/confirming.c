/* SPDX-License-Identifier: Apache-2.0
 * See confirming.h. */
#include "runner/confirming.h"

#include "schema/summary.h"
#include <math.h>
#include <string.h>

#define REFERENCE           "WorkloadCost"
#define REFERENCE_TASK_COST 1000u /* where a cell has no task cost of its own */

/* ---- What is measured ---- */

static const struct suspect *suspect_at(const Confirming *confirming, guint i)
{
    return &g_array_index(confirming->suspects, struct suspect, i);
}

static const struct cell *cell_at(const Plan *plan, guint i)
{
    return &g_array_index(plan->cells, struct cell, i);
}

/* The place of a number in a list, where it is put at the end if it is not there. */
static guint place_of(GArray *list, guint number)
{
    guint i = 0;
    while (i < list->len && g_array_index(list, guint, i) != number)
        i++;
    if (i == list->len)
        g_array_append_val(list, number);
    return i;
}

/* The workload alone, as the cell's tasks run it. False for a cell that is just that. */
static bool reference_of(const struct cell *cell, struct cell *out)
{
    *out = (struct cell){.bench = bench_find(REFERENCE)};
    out->values.task_cost = cell->values.task_cost ? cell->values.task_cost : REFERENCE_TASK_COST;
    memcpy(out->values.placement, cell->values.placement, sizeof out->values.placement);
    return out->bench && cell->bench != out->bench;
}

static void add_reference(GArray *cells, const struct cell *reference)
{
    for (guint i = 0; i < cells->len; i++) {
        const struct cell *cell = &g_array_index(cells, struct cell, i);
        if (cell->bench == reference->bench &&
            cell->values.task_cost == reference->values.task_cost &&
            strcmp(cell->values.placement, reference->values.placement) == 0)
            return;
    }
    g_array_append_val(cells, *reference);
}

/* The cell as the base's build has it; false where that was not given. */
static bool base_of(const struct cell *cell, const struct confirm_base *base, struct cell *out)
{
    *out = *cell;
    out->program = base->runner;
    for (guint i = 0; base->libraries && i < base->libraries->len; i++) {
        const struct confirm_library *library =
            &g_array_index(base->libraries, struct confirm_library, i);
        if (strcmp(library->name, cell->values.executor) == 0)
            out->library = library->path;
    }
    return out->program || out->library;
}

static Plan *plan_new(const Plan *measured, guint rounds)
{
    Plan *plan = g_new0(Plan, 1);
    plan->name = g_strdup(measured->name);
    plan->rounds = rounds;
    plan->samples = 1; /* each in a process of its own, so that none knows of another */
    plan->sample_ms = measured->sample_ms;
    plan->timeout_seconds = measured->timeout_seconds;
    plan->cell_ms = measured->cell_ms;
    plan->cells = g_array_new(FALSE, TRUE, sizeof(struct cell));
    return plan;
}

static void add_cells(Confirming *confirming, const Plan *measured, const struct confirm_base *base)
{
    GArray *cells = confirming->plan->cells;
    g_autoptr(GArray) bases = g_array_new(FALSE, FALSE, sizeof(struct cell));
    for (guint i = 0; i < confirming->cells->len; i++)
        g_array_append_val(cells, *cell_at(measured, g_array_index(confirming->cells, guint, i)));
    for (guint i = 0; i < confirming->cells->len; i++) {
        struct cell other;
        if (base_of(cell_at(confirming->plan, i), base, &other)) {
            g_array_append_val(bases, other);
            g_array_append_val(confirming->bases, i);
        } else if (reference_of(cell_at(confirming->plan, i), &other)) {
            add_reference(cells, &other);
        }
    }
    g_array_append_vals(cells, bases->data, bases->len);
    confirming->plan->retries = confirming->bases->len > 0 ? 0 : measured->retries;
}

Confirming *confirming_new(const json_t *comparison, const Plan *measured,
                           const struct confirm_base *base, guint rounds)
{
    guint n_strange = 0;
    g_autoptr(GArray) suspects = suspects_find(comparison, measured, &n_strange);
    if (suspects->len == 0)
        return NULL;
    Confirming *confirming = g_new0(Confirming, 1);
    confirming->suspects = g_steal_pointer(&suspects);
    confirming->cells = g_array_new(FALSE, FALSE, sizeof(guint));
    confirming->bases = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < confirming->suspects->len; i++)
        place_of(confirming->cells, suspect_at(confirming, i)->cell);
    confirming->plan = plan_new(measured, rounds);
    add_cells(confirming, measured, base);
    return confirming;
}

void confirming_free(Confirming *confirming)
{
    if (!confirming)
        return;
    g_array_unref(confirming->suspects);
    g_array_unref(confirming->cells);
    g_array_unref(confirming->bases);
    plan_free(confirming->plan);
    g_free(confirming);
}

/* ---- What it says ---- */

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

const char *confirming_decision(const json_t *row)
{
    return json_string_value(json_object_get(json_object_get(row, "confirm"), "decision"));
}

static bool is_higher_better(const json_t *row)
{
    return strcmp(text_of(row, "better"), "higher") == 0;
}

/* How many times worse an effect makes it, less one: of 100 items/s that become 50 (effect -0.5) as
 * of 100 ns that become 200 (effect 1) it is 1. NaN where there is no number. */
static double worse_of(const json_t *row, const char *key)
{
    const json_t *effect = json_object_get(row, key);
    if (!json_is_number(effect))
        return (double)NAN;
    double value = json_number_value(effect);
    return is_higher_better(row) ? 1 / (1 + value) - 1 : value;
}

/* And back: the metric's own effect. */
static double effect_of(const json_t *row, double worse)
{
    return is_higher_better(row) ? 1 / (1 + worse) - 1 : worse;
}

static void decide(json_t *row, const char *decision, const char *by, json_t *more)
{
    json_object_set_new(more, "decision", json_string(decision));
    json_object_set_new(more, "by", json_string(by));
    json_object_set_new(row, "confirm", more);
}

static void add_note(json_t *more, const char *note)
{
    json_object_set_new(more, "note", json_string(note));
}

static const struct run_metric *metric_of(const struct run_result *result, const json_t *row)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = (const struct run_metric *)result->metrics->pdata[i];
        if (strcmp(metric->name, text_of(row, "metric")) == 0 &&
            strcmp(metric->unit, text_of(row, "unit")) == 0)
            return metric->kind == METRIC_SAMPLES ? metric : NULL;
    }
    return NULL;
}

/* Not every metric's name leaves room. */
static void keep_base(struct run_result *head, const struct run_metric *base, guint n)
{
    g_autofree char *name = g_strconcat("base_", base->name, NULL);
    for (guint i = 0; i < head->beside->len; i++)
        if (strcmp(((const struct run_beside *)head->beside->pdata[i])->name, name) == 0)
            return;
    if (n == base->n_samples && head->beside->len < RUN_BESIDE_MAX &&
        strlen(name) <= RUN_NAME_BYTES_MAX)
        run_result_add_beside(head, name, base->unit, base->samples, n);
}

/* Times worse, less one: the median and its interval. */
static const char *decision_of(const struct summary *worse, double suspected, double least)
{
    if (worse->low > 0 && worse->center >= least)
        return "confirmed";
    return worse->high < least || worse->high < suspected ? "cleared" : "unsure";
}

/* By the rules of the project; a server that does not know of any says nothing. */
static double least_effect_of(const json_t *row)
{
    const json_t *least = json_object_get(row, "least_effect");
    return json_is_number(least) ? json_number_value(least) : CONFIRM_LEAST_EFFECT;
}

static void decide_by_pairs(json_t *row, const struct summary *worse)
{
    double ends[] = {effect_of(row, worse->low), effect_of(row, worse->high)};
    bool is_turned = ends[0] > ends[1];
    json_t *more = json_pack("{s:f, s:f, s:f, s:I}", "effect", effect_of(row, worse->center), "low",
                             ends[is_turned], "high", ends[!is_turned], "n", (json_int_t)worse->n);
    const char *decision = decision_of(worse, worse_of(row, "effect"), least_effect_of(row));
    decide(row, decision, "base", more);
}

/* How many times worse each of ours is than its partner of the base, less one. False where they
 * have no ratio, or are too few for an interval. */
static bool compare_pairs(const json_t *row, const struct run_metric *ours,
                          const struct run_metric *theirs, struct summary *out)
{
    bool is_turned = is_higher_better(row);
    guint n = MIN(ours->n_samples, theirs->n_samples);
    g_autofree double *worse = g_new(double, n + 1);
    for (guint i = 0; i < n; i++) {
        double better = is_turned ? ours->samples[i] : theirs->samples[i];
        double other = is_turned ? theirs->samples[i] : ours->samples[i];
        if (!(better > 0) || !(other > 0))
            return false;
        worse[i] = other / better - 1;
    }
    if (n >= SUMMARY_INTERVAL_SAMPLES_MIN)
        *out = summary_of_samples(worse, n);
    return n >= SUMMARY_INTERVAL_SAMPLES_MIN;
}

static void stay_unsure(json_t *row, const char *by, const char *note)
{
    json_t *more = json_object();
    add_note(more, note);
    decide(row, "unsure", by, more);
}

static json_int_t version_of(const struct run_result *result)
{
    json_t *info = result->info_json ? json_loads(result->info_json, 0, NULL) : NULL;
    json_int_t version = json_integer_value(json_object_get(info, "bench_version"));
    json_decref(info);
    return version;
}

/* One suspect whose cell was measured in both builds. */
static void pair_up(json_t *row, struct run_result *head, const struct run_result *base)
{
    const struct run_metric *ours = metric_of(head, row), *theirs = metric_of(base, row);
    struct summary worse;
    if (head->error || base->error) {
        g_autofree char *note =
            g_strdup_printf("%s: %s", base->error ? "the base's build" : "again",
                            base->error ? base->error : head->error);
        stay_unsure(row, "base", note);
        return;
    }
    if (version_of(head) != version_of(base)) {
        stay_unsure(row, "base", "the base's build measures another version of the benchmark");
        return;
    }
    if (!ours || !theirs)
        return; /* no samples that make pairs: the server decides */
    if (compare_pairs(row, ours, theirs, &worse))
        decide_by_pairs(row, &worse);
    else
        stay_unsure(row, "base", "values that have no ratio, or too few of them");
    keep_base(head, theirs, MIN(ours->n_samples, theirs->n_samples));
}

void confirming_pair(const Confirming *confirming, GPtrArray *results)
{
    guint n_bases = confirming->bases->len, first = confirming->plan->cells->len - n_bases;
    for (guint i = 0; i < confirming->suspects->len; i++) {
        const struct suspect *suspect = suspect_at(confirming, i);
        guint place = place_of(confirming->cells, suspect->cell);
        for (guint b = 0; b < n_bases; b++)
            if (g_array_index(confirming->bases, guint, b) == place)
                pair_up(suspect->row, (struct run_result *)results->pdata[place],
                        (const struct run_result *)results->pdata[first + b]);
    }
    if (n_bases > 0)
        g_ptr_array_remove_range(results, first, n_bases);
}

guint confirming_undecided(const Confirming *confirming)
{
    guint n = 0;
    for (guint i = 0; i < confirming->suspects->len; i++)
        n += confirming_decision(suspect_at(confirming, i)->row) == NULL;
    return n;
}

static const json_t *row_of_series(const json_t *comparison, const char *series)
{
    const json_t *rows = json_object_get(comparison, "series");
    for (size_t i = 0; i < json_array_size(rows); i++)
        if (strcmp(text_of(json_array_get(rows, i), "series"), series) == 0)
            return json_array_get(rows, i);
    return NULL;
}

/* How much worse the workload alone has become for a cell, by its wall time; 0: not that one knew.
 */
static double worse_reference(const json_t *comparison, const struct cell *cell)
{
    struct cell reference;
    const json_t *rows = json_object_get(comparison, "series");
    for (size_t i = 0; reference_of(cell, &reference) && i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *cost = json_object_get(json_object_get(row, "params"), "task_cost");
        if (strcmp(text_of(row, "bench"), REFERENCE) == 0 &&
            strcmp(text_of(row, "metric"), "real_time") == 0 &&
            strcmp(text_of(row, "verdict"), "regressed") == 0 &&
            json_number_value(cost) == (double)reference.values.task_cost)
            return fmax(worse_of(row, "effect"), 0);
    }
    return 0;
}

/* What the server says of the suspect's series now. */
static void judge_one(json_t *suspected, const json_t *row, double reference)
{
    const char *verdict = text_of(row, "verdict"), *decision = "cleared";
    json_t *more = json_object();
    for (const char *const *key = (const char *const[]){"effect", "low", "high", NULL}; *key; key++)
        json_object_set(more, *key, json_object_get(row, *key));
    json_object_set(more, "n", json_object_get(json_object_get(row, "head"), "n"));
    double least = worse_of(row, is_higher_better(row) ? "high" : "low");
    if (strcmp(verdict, "unsure") == 0) {
        decision = "unsure";
    } else if (strcmp(verdict, "regressed") == 0) {
        bool is_machine = (isfinite(least) ? least : worse_of(row, "effect")) <= reference;
        decision = is_machine && reference > 0 ? "cleared" : "confirmed";
        g_autofree char *note =
            g_strdup_printf("the workload alone is %.1f %% slower, too", 100 * reference);
        if (reference > 0)
            add_note(more, note);
    }
    decide(suspected, decision, "level", more);
}

void confirming_judge(const Confirming *confirming, const json_t *comparison)
{
    for (guint i = 0; i < confirming->suspects->len; i++) {
        const struct suspect *suspect = suspect_at(confirming, i);
        guint place = place_of(confirming->cells, suspect->cell);
        if (confirming_decision(suspect->row))
            continue;
        const json_t *row = row_of_series(comparison, text_of(suspect->row, "series"));
        double reference = worse_reference(comparison, cell_at(confirming->plan, place));
        if (row)
            judge_one(suspect->row, row, reference);
        else
            stay_unsure(suspect->row, "level", "the server has no verdict on the samples");
    }
}
