/* SPDX-License-Identifier: Apache-2.0
 * See compare_table.h. The request's thread. */
#include "server/pages/compare_table.h"

#include "server/pages/link.h"
#include "server/pages/series_parts.h"

#include <math.h>
#include <string.h>

/* ---- Words ----------------------------------------------------------------------------------- */

char *compare_words(const Comparison *comparison)
{
    static const struct {
        enum comparison_verdict verdict;
        const char *word;
    } words[] = {{COMPARISON_REGRESSED, "slower"}, {COMPARISON_IMPROVED, "faster"},
                 {COMPARISON_UNSURE, "unsure"},    {COMPARISON_UNCHANGED, "unchanged"},
                 {COMPARISON_MUTED, "muted"},      {COMPARISON_NONE, "without verdict"},
                 {COMPARISON_NEW, "new"},          {COMPARISON_MISSING, "not measured"}};
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        if (comparison->counts[words[i].verdict] > 0)
            g_string_append_printf(text, "%s%u %s", text->len > 0 ? ", " : "",
                                   comparison->counts[words[i].verdict], words[i].word);
    }
    if (text->len == 0)
        g_string_append(text, "nothing to compare");
    return g_string_free(g_steal_pointer(&text), FALSE);
}

void compare_table_tag(Html *html, enum comparison_verdict verdict)
{
    switch (verdict) {
    case COMPARISON_REGRESSED:
        html_literal(html, "<span class=\"tag worse\">▼ regressed</span>");
        break;
    case COMPARISON_IMPROVED:
        html_literal(html, "<span class=\"tag better\">▲ improved</span>");
        break;
    case COMPARISON_NEW:
    case COMPARISON_MISSING:
    case COMPARISON_UNSURE:
    case COMPARISON_UNCHANGED:
    case COMPARISON_MUTED:
        html_print(html, "<span class=\"tag\">%s</span>", comparison_verdict_name(verdict));
        break;
    case COMPARISON_NONE:
    case COMPARISON_VERDICTS:
        html_literal(html, "<span class=\"tag\">no direction</span>");
        break;
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void write_unsure(Html *html, const struct comparison_row *row)
{
    if (row->disturbed)
        html_literal(html, "the head’s runs are flagged, or tell no number");
    else if (row->result.runs_more > 0)
        html_print(html, "%u more %s of the head would decide", row->result.runs_more,
                   row->result.runs_more == 1 ? "run" : "runs");
    else
        html_literal(html, "the base has too few commits or too much noise to decide");
}

/* When the series was last judged, and on how much: "never" is not "nothing found". */
static void write_judged(Html *html, const struct comparison_row *row)
{
    if (!row->is_judged) {
        html_literal(html, "never judged");
        return;
    }
    html_print(html, "judged on %u commits, ", row->judged_commits);
    layout_time_ms(html, row->judged_ms);
}

static void write_note(Html *html, const struct comparison_row *row)
{
    char text[QUANTITY_TEXT_BYTES];
    html_literal(html, "<td class=\"note\">");
    if (row->verdict == COMPARISON_UNSURE) {
        write_unsure(html, row);
    } else if (row->verdict == COMPARISON_UNCHANGED) {
        quantity_ratio(fabs(row->result.detectable), text);
        html_print(html, "%s would have been seen", *text == '+' ? text + 1 : text);
    } else if (row->change_id > 0) {
        g_autofree char *changes = link_changes(row->series->project->name);
        g_autofree char *url = g_strdup_printf("%s?show=all#change-%" G_GINT64_FORMAT, changes,
                                               (gint64)row->change_id);
        html_literal(html, "<a");
        html_url(html, "href", url);
        html_print(html, ">change %" G_GINT64_FORMAT "</a>", (gint64)row->change_id);
    } else {
        write_judged(html, row);
    }
    html_literal(html, "</td>");
}

static void write_p(Html *html, const struct comparison_row *row)
{
    char p[G_ASCII_DTOSTR_BUF_SIZE];
    html_literal(html, "<td class=\"num n\" data-label=\"p\">");
    if (row->has_result && row->verdict != COMPARISON_NONE && isfinite(row->result.p))
        html_text(html, row->result.p < 0.001
                            ? "< 0.001"
                            : g_ascii_formatd(p, sizeof p, "%.3f", row->result.p));
    html_literal(html, "</td>");
}

static void write_effect(Html *html, const struct comparison_row *row)
{
    html_literal(html, "<td class=\"num\">");
    if (row && row->has_result)
        series_parts_effect(html, row->result.effect, row->result.low, row->result.high);
    html_literal(html, "</td><td>");
    if (row)
        compare_table_tag(html, row->verdict);
    html_literal(html, "</td>");
}

static void write_row(Html *html, const struct comparison_row *row)
{
    html_literal(html, "<tr>");
    series_parts_head(html, row->series);
    write_effect(html, row);
    html_literal(html, "<td class=\"num\">");
    if (row->has_result)
        series_parts_move(html, row->series, row->base.level, row->head.level);
    else
        series_parts_value(html, row->series, row->base.known || row->head.known,
                           row->base.known ? row->base.level : row->head.level);
    html_print(html, "</td><td class=\"num n\" data-label=\"n\">%u, %u</td>", row->base.n,
               row->head.n);
    write_p(html, row);
    write_note(html, row);
    html_literal(html, "</tr>");
}

static void write_level(Html *html, const struct store_series *series, const char *label,
                        const struct comparison_value *value)
{
    html_literal(html, "<td class=\"num\"");
    html_attr(html, "data-label", label);
    html_literal(html, ">");
    series_parts_value(html, series, value && value->known, value ? value->level : 0);
    html_literal(html, "</td>");
}

/* Three sides: the base's level, then of each head its level and what it says. */
static void write_wide_row(Html *html, const ComparisonSet *set,
                           const struct comparison_set_row *row)
{
    const struct comparison_row *lead = comparison_set_lead(row);
    g_autofree char *base = compare_side_name(&set->of[0]->base);
    html_literal(html, "<tr>");
    series_parts_head(html, lead->series);
    write_level(html, lead->series, base, &lead->base);
    for (guint i = 0; i < set->n; i++) {
        g_autofree char *name = compare_side_name(&set->of[i]->head);
        write_level(html, lead->series, name, row->of[i] ? &row->of[i]->head : NULL);
        write_effect(html, row->of[i]);
    }
    write_note(html, lead);
    html_literal(html, "</tr>");
}

static void write_wide_heads(Html *html, const struct compare_view *view)
{
    g_autofree char *base = compare_side_name(&view->set->of[0]->base);
    html_print(html, "<th scope=\"col\" class=\"num\">%s</th>", base);
    for (guint i = 0; i < view->set->n; i++) {
        g_autofree char *name = compare_side_name(&view->set->of[i]->head);
        html_print(html,
                   "<th scope=\"col\" class=\"num\">%s</th><th scope=\"col\" "
                   "class=\"num\">Effect, 95 %%</th><th scope=\"col\">Verdict</th>",
                   name);
    }
    html_literal(html, "<th scope=\"col\">Note</th>");
}

static void write_heads(Html *html, const struct compare_view *view, const char *label)
{
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    html_attr(html, "aria-label", label);
    html_literal(html, "><table class=\"compared stack\"><thead><tr><th scope=\"col\">Series</th>");
    if (view->set->n > 1)
        write_wide_heads(html, view);
    else
        html_literal(html, "<th scope=\"col\" class=\"num\">Effect, 95 %</th><th "
                           "scope=\"col\">Verdict</th><th scope=\"col\" class=\"num\">Base → "
                           "head</th><th scope=\"col\" class=\"num\">n</th><th scope=\"col\" "
                           "class=\"num\">p</th><th scope=\"col\">Note</th>");
    html_literal(html, "</tr></thead><tbody>");
}

/* The rows whose verdict is in `verdicts` (a bit each) and that the filters let through, in their
 * order. */
static bool write_rows(Html *html, const struct compare_view *view, guint verdicts,
                       const char *label, GError **error)
{
    guint n_shown = 0, n_all = 0;
    write_heads(html, view, label);
    for (guint i = 0; i < view->set->rows->len; i++) {
        const struct comparison_set_row *row =
            &g_array_index(view->set->rows, struct comparison_set_row, i);
        if (!compare_view_takes(view, row, verdicts) || n_all++ >= COMPARE_ROWS_MAX)
            continue;
        if (!store_snapshot_give_way(view->snapshot, error))
            return false;
        if (view->set->n > 1)
            write_wide_row(html, view->set, row);
        else
            write_row(html, row->of[0]);
        n_shown++;
    }
    html_literal(html, "</tbody></table></div>");
    if (n_all > n_shown)
        html_print(html,
                   "<p class=\"muted\">The first %u of %u are shown; as JSON or CSV this page has "
                   "all of them.</p>",
                   n_shown, n_all);
    return true;
}

static void write_nothing(Html *html, const struct compare_view *view)
{
    if (view->text)
        html_print(html,
                   "<p class=\"muted\">No such row holds “%s” in its benchmark, parameters, "
                   "machine and metric.</p>",
                   view->text);
    else if (view->show != COMPARE_SHOW_DIFFERENCES && view->show != COMPARE_SHOW_ALL)
        html_print(html, "<p class=\"muted\">No series is %s.</p>", compare_show_word(view->show));
    else
        html_literal(html, "<p class=\"muted\">Nothing found: no series that both sides have moved "
                           "by more than its noise.</p>");
}

bool compare_table_differences(Html *html, const struct compare_view *view, GError **error)
{
    guint verdicts = compare_view_verdicts(view);
    bool fine = true;
    html_literal(html, "<section class=\"card\" id=\"differences\"><h2>Differences</h2>");
    compare_filter_write(html, view);
    if (compare_view_count(view, verdicts) == 0)
        write_nothing(html, view);
    else
        fine = write_rows(html, view, verdicts, "Differences", error);
    html_literal(html, "</section>");
    return fine;
}

static bool write_folded(Html *html, const struct compare_view *view,
                         enum comparison_verdict verdict, const char *title, GError **error)
{
    guint n = compare_view_count(view, 1u << verdict);
    if (n == 0)
        return true;
    html_literal(html, "<details class=\"card fold\"");
    html_attr(html, "id",
              comparison_verdict_name(verdict) ? comparison_verdict_name(verdict) : "no-direction");
    html_print(html, "%s><summary><h2>%s <span class=\"n\">%u</span></h2></summary>",
               view->show == COMPARE_SHOW_ALL ? " open" : "", title, n);
    bool fine = write_rows(html, view, 1u << verdict, title, error);
    html_literal(html, "</details>");
    return fine;
}

bool compare_table_folded(Html *html, const struct compare_view *view, GError **error)
{
    static const struct {
        enum comparison_verdict verdict;
        const char *title;
    } folds[] = {{COMPARISON_MISSING, "Missing: the base has them, the head not"},
                 {COMPARISON_NEW, "New: the head has them, the base not"},
                 {COMPARISON_UNCHANGED, "Unchanged"},
                 {COMPARISON_MUTED, "Muted by a rule: shown, and never told"},
                 {COMPARISON_NONE, "No better direction stated: no verdict"}};
    if (view->show != COMPARE_SHOW_DIFFERENCES && view->show != COMPARE_SHOW_ALL)
        return true;
    for (guint i = 0; i < G_N_ELEMENTS(folds); i++) {
        if (!write_folded(html, view, folds[i].verdict, folds[i].title, error))
            return false;
    }
    return true;
}

/* ---- Means ----------------------------------------------------------------------------------- */

struct bench_count {
    const struct store_series *series; /* the first: says benchmark, metric, unit */
    guint counts[COMPARISON_VERDICTS];
};

static bool is_same(const struct store_series *series, const struct store_benchmark *benchmark,
                    const char *metric, const char *unit)
{
    return series->benchmark == benchmark && strcmp(series->metric, metric) == 0 &&
           strcmp(series->unit, unit) == 0;
}

static int compare_counts(gconstpointer a, gconstpointer b)
{
    const struct bench_count *left = (const struct bench_count *)a,
                             *right = (const struct bench_count *)b;
    int order = strcmp(left->series->benchmark->name, right->series->benchmark->name);
    if (order == 0)
        order = strcmp(left->series->metric, right->series->metric);
    return order != 0 ? order : strcmp(left->series->unit, right->series->unit);
}

/* One entry a (benchmark, metric, unit). */
static GArray *count_benches(const Comparison *comparison)
{
    g_autoptr(GHashTable) places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GArray *counts = g_array_new(FALSE, TRUE, sizeof(struct bench_count));
    for (guint i = 0; i < comparison->rows->len; i++) {
        const struct comparison_row *row =
            &g_array_index(comparison->rows, struct comparison_row, i);
        char *key =
            g_strdup_printf("%" G_GINT64_FORMAT "\n%s\n%s", (gint64)row->series->benchmark->id,
                            row->series->metric, row->series->unit);
        guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, key));
        if (place == 0) {
            struct bench_count count = {.series = row->series};
            g_array_append_val(counts, count);
            place = counts->len;
        }
        g_hash_table_insert(places, key, GUINT_TO_POINTER(place));
        g_array_index(counts, struct bench_count, place - 1).counts[row->verdict]++;
    }
    g_array_sort(counts, compare_counts);
    return counts;
}

/* Means are in the order of the counts. */
static const struct comparison_mean *mean_of(const Comparison *comparison,
                                             const struct store_series *series, guint *from)
{
    for (guint i = *from; i < comparison->means->len; i++) {
        const struct comparison_mean *mean =
            &g_array_index(comparison->means, struct comparison_mean, i);
        if (!is_same(series, mean->benchmark, mean->metric, mean->unit))
            continue;
        *from = i + 1;
        return mean;
    }
    return NULL;
}

static void write_count(Html *html, const struct bench_count *count,
                        const struct comparison_mean *mean)
{
    static const enum comparison_verdict shown[] = {COMPARISON_REGRESSED, COMPARISON_IMPROVED,
                                                    COMPARISON_UNSURE,    COMPARISON_UNCHANGED,
                                                    COMPARISON_NEW,       COMPARISON_MISSING};
    char text[QUANTITY_TEXT_BYTES];
    html_print(html, "<tr><th scope=\"row\">%s</th><td>%s", count->series->benchmark->name,
               count->series->metric);
    if (count->series->better != BETTER_UNKNOWN)
        html_print(html, " <span class=\"unit\">%s</span>",
                   count->series->better == BETTER_HIGHER ? "↑" : "↓");
    html_literal(html, "</td><td class=\"num\">");
    if (mean) {
        quantity_ratio(mean->ratio - 1, text);
        html_print(html, "<span class=\"value\">%s</span> <span class=\"n\">of %u</span>", text,
                   mean->n);
    }
    html_literal(html, "</td>");
    for (guint i = 0; i < G_N_ELEMENTS(shown); i++) {
        if (count->counts[shown[i]] > 0)
            html_print(html, "<td class=\"num\">%u</td>", count->counts[shown[i]]);
        else
            html_literal(html, "<td class=\"num none\">–</td>");
    }
    html_literal(html, "</tr>");
}

static void write_means(Html *html, const Comparison *comparison, const char *title, const char *id)
{
    g_autoptr(GArray) counts = count_benches(comparison);
    guint n_shown = MIN(counts->len, COMPARE_ROWS_MAX), from = 0;
    if (counts->len == 0)
        return;
    html_print(html, "<section class=\"card\" id=\"%s\"><h2>%s</h2>", id, title);
    html_literal(html, "<p class=\"muted\">Geometric mean of head / base over the series that both "
                       "have.</p><div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    html_attr(html, "aria-label", title);
    html_literal(
        html,
        "><table><thead><tr><th "
        "scope=\"col\">Benchmark</th><th scope=\"col\">Metric</th><th scope=\"col\" "
        "class=\"num\">Mean</th><th scope=\"col\" class=\"num\">Regressed</th><th scope=\"col\" "
        "class=\"num\">Improved</th><th scope=\"col\" class=\"num\">Unsure</th><th scope=\"col\" "
        "class=\"num\">Unchanged</th><th scope=\"col\" class=\"num\">New</th><th scope=\"col\" "
        "class=\"num\">Missing</th></tr></thead><tbody>");
    for (guint i = 0; i < n_shown; i++) {
        const struct bench_count *count = &g_array_index(counts, struct bench_count, i);
        write_count(html, count, mean_of(comparison, count->series, &from));
    }
    html_literal(html, "</tbody></table></div>");
    if (counts->len > n_shown)
        html_print(html,
                   "<p class=\"muted\">The first %u of %u are shown; GET /api/compare gives all of "
                   "them.</p>",
                   n_shown, counts->len);
    html_literal(html, "</section>");
}

void compare_table_means(Html *html, const struct compare_view *view)
{
    if (view->set->n == 1) {
        write_means(html, view->set->of[0], "By benchmark", "means");
        return;
    }
    for (guint i = 0; i < view->set->n; i++) {
        g_autofree char *name = compare_side_name(&view->set->of[i]->head);
        g_autofree char *title = g_strdup_printf("By benchmark: %s", name);
        write_means(html, view->set->of[i], title, i == 0 ? "means" : "means-also");
    }
}
