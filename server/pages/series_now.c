/* SPDX-License-Identifier: Apache-2.0
 * See series_now.h. */
#include "server/pages/series_now.h"

#include "server/pages/chart_spark.h"
#include "server/pages/series_parts.h"

#include <math.h>

#define FAR_DEVIATIONS 3.0 /* of the noise: from here on a difference has an arrow */

SeriesNow *series_now_read(StoreSnapshot *snapshot, const RecentRuns *recent,
                           const struct store_series *series, GError **error)
{
    g_autoptr(SeriesNow) now = g_new0(SeriesNow, 1);
    now->series = series;
    now->points = recent_runs_points(recent, snapshot, series, error);
    if (!now->points ||
        !store_series_level(snapshot, series->id, &now->level, &now->is_judged, error))
        return NULL;
    now->reference = recent_reference_of(now->points);
    return g_steal_pointer(&now);
}

void series_now_free(SeriesNow *now)
{
    if (!now)
        return;
    if (now->points)
        g_array_unref(now->points);
    g_free(now);
}

char series_now_noise_class(const struct store_level *level)
{
    static const double limits[] = {0.01, 0.03, 0.10};
    char letter = 'A';
    if (level->n == 0 || !(level->noise > 0) || level->level == 0)
        return '\0'; /* of nothing there is no share */
    for (guint i = 0; i < G_N_ELEMENTS(limits) && level->noise > limits[i]; i++)
        letter++;
    return letter;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void write_trend(Html *html, const SeriesNow *now)
{
    double values[RECENT_COMMITS];
    guint n = 0;
    for (guint i = 0; i < now->points->len && n < G_N_ELEMENTS(values); i++)
        values[n++] = g_array_index(now->points, struct commit_point, i).center;
    g_autofree char *label = g_strdup_printf("Last %u values", n);
    const struct chart_spark spark = {
        values, n, label, G_MAXUINT,
        now->reference.n >= RECENT_REFERENCE_MIN ? &now->reference.value : NULL};
    html_literal(html, "<td class=\"trend\">");
    chart_spark_write(html, &spark);
    html_literal(html, "</td>");
}

static void write_newest(Html *html, const SeriesNow *now)
{
    html_literal(html, "<td class=\"num newest\">");
    if (now->points->len == 0) {
        html_literal(html, "<span class=\"none\">not measured lately</span></td>");
        return;
    }
    const struct commit_point *point =
        &g_array_index(now->points, struct commit_point, now->points->len - 1);
    const struct layout_value value = {.center = point->center, .censored = point->censored};
    struct quantity_scale scale = quantity_scale_for(now->series->unit, fabs(point->center));
    layout_value(html, &value, &scale);
    series_parts_unit(html, now->series, &scale);
    if (point->has_interval) {
        char low[QUANTITY_TEXT_BYTES], high[QUANTITY_TEXT_BYTES];
        quantity_format(point->low, &scale, low);
        quantity_format(point->high, &scale, high);
        html_print(html, " <span class=\"interval\">%s – %s</span>", low, high);
    }
    html_literal(html, "</td>");
}

/* -1 worse, +1 better, 0 near, or no direction stated. */
static int far_direction(const SeriesNow *now)
{
    double ratio = now->reference.ratio, noise = now->is_judged ? now->level.noise : 0;
    bool is_far = noise > 0 && fabs(log1p(fmax(ratio, -0.999))) > FAR_DEVIATIONS * noise;
    if (!is_far || now->series->better == BETTER_UNKNOWN)
        return 0;
    return (ratio > 0) == (now->series->better == BETTER_HIGHER) ? 1 : -1;
}

static void write_distance(Html *html, const SeriesNow *now)
{
    char text[QUANTITY_TEXT_BYTES];
    html_literal(html, "<td class=\"num\" data-label=\"To reference\">");
    if (!isfinite(now->reference.ratio)) {
        html_literal(html, "<span class=\"none\">–</span></td>");
        return;
    }
    int direction = far_direction(now);
    quantity_ratio(now->reference.ratio, text);
    html_print(html, "<span class=\"effect%s\">%s%s</span></td>",
               direction < 0   ? " worse"
               : direction > 0 ? " better"
                               : "",
               direction < 0   ? "▼ "
               : direction > 0 ? "▲ "
                               : "",
               text);
}

static void write_noise(Html *html, const SeriesNow *now)
{
    char letter = now->is_judged ? series_now_noise_class(&now->level) : '\0';
    char text[QUANTITY_TEXT_BYTES];
    html_literal(html, "<td class=\"num\" data-label=\"Noise\">");
    if (letter == '\0') {
        html_literal(html, "<span class=\"none\">–</span></td>");
        return;
    }
    quantity_ratio(now->level.noise, text);
    html_print(html, "<span class=\"noise\">%c</span> <span class=\"n\">%s</span></td>", letter,
               *text == '+' ? text + 1 : text);
}

static void write_judged(Html *html, const SeriesNow *now)
{
    html_literal(html, "<td class=\"when\" data-label=\"Judged\">");
    if (now->is_judged)
        layout_time_ms(html, now->level.judged_ms);
    else
        html_literal(html, "<span class=\"none\">not yet</span>");
    html_literal(html, "</td>");
}

void series_now_heads(Html *html)
{
    html_literal(html, "<th scope=\"col\">Trend</th><th scope=\"col\" class=\"num\">Newest "
                       "value</th><th scope=\"col\" class=\"num\">To reference</th><th "
                       "scope=\"col\" class=\"num\">Noise</th><th scope=\"col\">Judged</th>");
}

void series_now_cells(Html *html, const SeriesNow *now)
{
    write_trend(html, now);
    write_newest(html, now);
    write_distance(html, now);
    write_noise(html, now);
    write_judged(html, now);
}

void series_now_legend(Html *html)
{
    html_print(html,
               "<p class=\"hint\"><span>Reference: the median of the %u commits before the newest "
               "one (the pale line); ▲ ▼ where the newest lies further from it than the noise "
               "explains.</span> <span>Noise, from commit to commit: A up to 1 %%, B 3 %%, C "
               "10 %%, D more.</span></p>",
               RECENT_REFERENCE_COMMITS);
}

void series_now_sheet(Sheet *sheet, const SeriesNow *now)
{
    static const struct commit_point none = {
        .center = (double)NAN, .low = (double)NAN, .high = (double)NAN};
    const GPtrArray *commits = now->series->project->commits;
    guint n = now->points->len;
    const struct commit_point *last =
        n > 0 ? &g_array_index(now->points, struct commit_point, n - 1) : &none;
    bool has_reference = now->reference.n >= RECENT_REFERENCE_MIN;
    char letter[2] = {now->is_judged ? series_now_noise_class(&now->level) : '\0', '\0'};
    sheet_commit(sheet, n > 0 && last->position < commits->len
                            ? (const struct store_commit *)commits->pdata[last->position]
                            : NULL);
    sheet_number(sheet, last->center, now->series->unit);
    sheet_number(sheet, last->has_interval ? last->low : (double)NAN, now->series->unit);
    sheet_number(sheet, last->has_interval ? last->high : (double)NAN, now->series->unit);
    sheet_number(sheet, has_reference ? now->reference.value : (double)NAN, now->series->unit);
    sheet_ratio(sheet, now->reference.ratio);
    sheet_share(sheet, letter[0] != '\0' ? now->level.noise : (double)NAN);
    sheet_text(sheet, letter[0] != '\0' ? letter : NULL);
    sheet_time_ms(sheet, now->is_judged ? now->level.judged_ms : 0);
}
