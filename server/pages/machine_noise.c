/* SPDX-License-Identifier: Apache-2.0
 * Which series are noisy on a machine: each has a stored level with its noise; the worst come
 * first. One stored row is read for each series, up to a maximum that is said. The request's
 * thread. */
#include "server/pages/machine_view.h"
#include "server/pages/series_now.h"
#include "server/pages/series_parts.h"

#define SERIES_MAX 20000u /* whose level is read */
#define CLASSES    4u     /* A to D */

struct noisy {
    const struct store_series *series;
    struct store_level level;
    char letter;
};

struct noises {
    GArray *known; /* struct noisy */
    guint n_of[CLASSES], n_unknown, n_unread;
};

static int compare_noisy(gconstpointer a, gconstpointer b)
{
    const struct noisy *left = (const struct noisy *)a, *right = (const struct noisy *)b;
    if (left->level.noise != right->level.noise)
        return left->level.noise > right->level.noise ? -1 : 1;
    return (left->series->id > right->series->id) - (left->series->id < right->series->id);
}

static bool take_series(struct noises *noises, const struct machine_view *view,
                        const struct store_series *series, GError **error)
{
    struct noisy one = {.series = series};
    bool is_judged = false;
    if (noises->known->len + noises->n_unknown >= SERIES_MAX) {
        noises->n_unread++;
        return true;
    }
    if (!store_series_level(view->snapshot, series->id, &one.level, &is_judged, error))
        return false;
    one.letter = is_judged ? series_now_noise_class(&one.level) : '\0';
    if (one.letter == '\0') {
        noises->n_unknown++;
        return true;
    }
    noises->n_of[one.letter - 'A']++;
    g_array_append_val(noises->known, one);
    return true;
}

static bool read_noises(struct noises *noises, const struct machine_view *view, GError **error)
{
    for (guint i = 0; i < view->history->projects->len; i++) {
        const GPtrArray *series =
            g_array_index(view->history->projects, struct machine_project, i).project->series;
        for (guint k = 0; k < series->len; k++) {
            const struct store_series *one = (const struct store_series *)series->pdata[k];
            if (one->machine == view->machine && !take_series(noises, view, one, error))
                return false;
        }
    }
    g_array_sort(noises->known, compare_noisy);
    return true;
}

static void write_counts(Html *html, const struct noises *noises)
{
    static const char *const says[] = {"up to 1 %", "to 3 %", "to 10 %", "more"};
    html_literal(html, "<p class=\"muted\">From commit to commit values move by themselves:");
    for (guint i = CLASSES; i > 0; i--) {
        if (noises->n_of[i - 1] > 0)
            html_print(html, " <b>%c</b> (%s) %u ·", 'A' + i - 1, says[i - 1], noises->n_of[i - 1]);
    }
    html_print(html, " not known of %u.", noises->n_unknown);
    if (noises->n_unread > 0)
        html_print(html, " <span class=\"warn\">%u further series were not looked at.</span>",
                   noises->n_unread);
    html_literal(html, "</p>");
}

static void write_row(Html *html, const struct noisy *one, bool with_project)
{
    char text[QUANTITY_TEXT_BYTES];
    quantity_ratio(one->level.noise, text);
    html_literal(html, "<tr>");
    series_parts_write(html, one->series, false);
    html_literal(html, "<td>");
    html_text(html, one->series->metric);
    html_literal(html, "</td>");
    if (with_project) {
        html_literal(html, "<td>");
        html_text(html, one->series->project->name);
        html_literal(html, "</td>");
    }
    html_print(html,
               "<td class=\"num\"><span class=\"noise\">%c</span> <span class=\"n\">%s</span></td>"
               "<td class=\"num\">%u</td></tr>",
               one->letter, *text == '+' ? text + 1 : text, one->level.n_commits);
}

static void write_table(Html *html, const struct machine_view *view, const struct noises *noises)
{
    bool with_project = view->history->projects->len > 1;
    struct layout_paging paging = layout_paging_of(view->request, "noise", noises->known->len, 500);
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Noise\">"
                       "<table><thead><tr><th scope=\"col\">Benchmark</th><th scope=\"col\">"
                       "Parameters</th><th scope=\"col\">Metric</th>");
    if (with_project)
        html_literal(html, "<th scope=\"col\">Project</th>");
    html_literal(html, "<th scope=\"col\" class=\"num\">Noise</th><th scope=\"col\" class=\"num\">"
                       "Commits judged</th></tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++)
        write_row(html, &g_array_index(noises->known, struct noisy, i), with_project);
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, view->request, &paging, "Series");
}

bool machine_noise_write(Html *html, const struct machine_view *view, GError **error)
{
    struct noises noises = {.known = g_array_new(FALSE, FALSE, sizeof(struct noisy))};
    bool fine = read_noises(&noises, view, error);
    if (fine && noises.known->len + noises.n_unknown > 0) {
        html_literal(html, "<section class=\"card\" id=\"noise\"><h2>Noise</h2>");
        write_counts(html, &noises);
        if (noises.known->len > 0)
            write_table(html, view, &noises);
        html_literal(html, "</section>");
    }
    g_array_unref(noises.known);
    return fine;
}

bool machine_noise_sheet(Sheet *sheet, const struct machine_view *view, GError **error)
{
    static const struct sheet_column columns[] = {
        SERIES_PARTS_COLUMNS,     {"project", "Project", false}, {"class", "Class", false},
        {"noise", "Noise", true}, {"commits", "Commits", true},  {0}};
    struct noises noises = {.known = g_array_new(FALSE, FALSE, sizeof(struct noisy))};
    bool fine = read_noises(&noises, view, error);
    sheet_table(sheet, "noise", "Noise", columns, SHEET_ROWS);
    for (guint i = 0; fine && i < noises.known->len; i++) {
        const struct noisy *one = &g_array_index(noises.known, struct noisy, i);
        series_parts_cells(sheet, one->series);
        sheet_text(sheet, one->series->project->name);
        sheet_text(sheet, (const char[]){one->letter, '\0'});
        sheet_share(sheet, one->level.noise);
        sheet_integer(sheet, one->level.n_commits);
    }
    sheet_table_end(sheet);
    g_array_unref(noises.known);
    return fine;
}
