/* SPDX-License-Identifier: Apache-2.0
 * The break-even question as a picture, in the executors' view of the matrix: efficiency against
 * task cost, a line an executor, a sentence that says what it shows, the same as a table, and
 * METG(50 %) by executor and threads. `threads` and `reference` in the address. */
#include "server/pages/matrix_view.h"

#include "server/pages/arrow_2019.h"
#include "server/pages/chart.h"
#include "server/pages/link.h"
#include "server/pages/matrix_chart.h"

#include <string.h>

#define COSTS_MAX      24u /* columns of the table of the curves; further ones are counted */
#define THREADS_MAX    32u /* numbers of threads to choose by; likewise */
#define NAMED_MAX      6u  /* in the sentence */
#define REFERENCE_SLOT (CHART_SLOTS - 1)
#define REFERENCE_NAME "Arrow 2019 (8-core AMD)"

struct curves {
    const struct matrix_cells *cells;
    const struct matrix_bench *bench;
    GPtrArray *all_threads; /* const char *, in the order of the rows */
    guint n_threads;        /* of those before the maximum */
    const char *threads;    /* the chosen one; "" where there are none */
    double cores;
    bool with_reference;
    GArray *lines; /* struct matrix_line */
    GArray *costs; /* double, ascending: of all lines, at most COSTS_MAX */
    guint n_costs; /* before that maximum */
};

/* ---- What is drawn --------------------------------------------------------------------------- */

static const char *choose_threads(const struct matrix_cells *cells, const GPtrArray *all)
{
    const char *asked = http_request_query(cells->view->request, "threads");
    g_autofree char *usable = g_strdup_printf("%.0f", cells->effective_cpus);
    const char *const wanted[] = {asked, usable};
    for (guint w = 0; w < G_N_ELEMENTS(wanted); w++)
        for (guint i = 0; wanted[w] && i < all->len; i++)
            if (strcmp((const char *)g_ptr_array_index(all, i), wanted[w]) == 0)
                return (const char *)g_ptr_array_index(all, i);
    return all->len > 0 ? (const char *)g_ptr_array_index(all, all->len - 1) : "";
}

static void line_clear(struct matrix_line *line)
{
    g_array_unref((GArray *)(guintptr)line->points);
}

/* Takes the points; a line without any is none. */
static void add_line(GArray *lines, struct matrix_line line)
{
    if (line.points->len > 0)
        g_array_append_val(lines, line);
    else
        line_clear(&line);
}

static GArray *lines_of(const struct curves *curves)
{
    const struct matrix_cells *cells = curves->cells;
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct matrix_line));
    g_array_set_clear_func(lines, (GDestroyNotify)line_clear);
    for (guint e = 0; e < cells->matrix->executors->len; e++) {
        if (matrix_is_yardstick(cells->matrix, e))
            continue; /* it is the level that the others are held against */
        struct matrix_line line = {
            .name = (const char *)g_ptr_array_index(cells->matrix->executors, e),
            .slot = e % CHART_SLOTS,
            .cores = curves->cores,
            .points = matrix_efficiency(cells->matrix, curves->bench, e, curves->threads,
                                        cells->effective_cpus)};
        add_line(lines, line);
    }
    if (curves->with_reference) {
        struct matrix_line line = {
            .name = REFERENCE_NAME,
            .slot = REFERENCE_SLOT,
            .cores = matrix_cores(curves->threads, ARROW_2019_CORES),
            .points = arrow_2019_efficiency(curves->bench->benchmark->name, curves->threads)};
        add_line(lines, line);
    }
    return lines;
}

static int compare_doubles(gconstpointer a, gconstpointer b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static const struct matrix_line *line_at(const GArray *lines, guint i)
{
    return &g_array_index(lines, struct matrix_line, i);
}

static void collect_costs(struct curves *curves)
{
    g_autoptr(GArray) every = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint l = 0; l < curves->lines->len; l++) {
        const GArray *points = line_at(curves->lines, l)->points;
        for (guint i = 0; i < points->len; i++)
            g_array_append_val(every, g_array_index(points, struct efficiency_point, i).task_cost);
    }
    g_array_sort(every, compare_doubles);
    for (guint i = 0; i < every->len; i++) {
        double cost = g_array_index(every, double, i);
        if (i > 0 && cost <= g_array_index(every, double, i - 1))
            continue;
        if (curves->n_costs++ < COSTS_MAX)
            g_array_append_val(curves->costs, cost);
    }
}

static void curves_init(struct curves *curves, const struct matrix_cells *cells,
                        const struct matrix_bench *bench)
{
    *curves = (struct curves){.cells = cells, .bench = bench};
    curves->all_threads = matrix_threads(bench, THREADS_MAX, &curves->n_threads);
    curves->threads = choose_threads(cells, curves->all_threads);
    curves->cores = matrix_cores(curves->threads, cells->effective_cpus);
    curves->with_reference =
        arrow_2019_has(bench->benchmark->name) &&
        g_strcmp0(http_request_query(cells->view->request, "reference"), ARROW_2019) == 0;
    curves->costs = g_array_new(FALSE, FALSE, sizeof(double));
    curves->lines = lines_of(curves);
    collect_costs(curves);
}

static void curves_clear(struct curves *curves)
{
    g_ptr_array_unref(curves->all_threads);
    g_array_unref(curves->lines);
    g_array_unref(curves->costs);
}

/* A curve needs two points. */
static bool has_curve(const struct curves *curves)
{
    for (guint l = 0; l < curves->lines->len; l++)
        if (line_at(curves->lines, l)->points->len > 1)
            return true;
    return false;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static struct efficiency_crossing crossing_of(const GArray *points, double threshold)
{
    return efficiency_crossing_of((const struct efficiency_point *)(const void *)points->data,
                                  points->len, threshold);
}

/* "9.9 µs", "below 1.4 µs", "not reached up to 140 µs". The caller frees it. */
static char *reach_text(const struct efficiency_crossing *at, double scale)
{
    g_autofree char *time = quantity_text(at->work_ns * scale, "ns");
    return g_strdup_printf("%s%s",
                           at->reach == EFFICIENCY_BELOW    ? "below "
                           : at->reach == EFFICIENCY_BEYOND ? "not reached up to "
                                                            : "",
                           time);
}

/* METG(50 %) is a granularity: at the threshold, the work over it. */
static char *metg_text(const GArray *points)
{
    const struct efficiency_crossing at = crossing_of(points, MATRIX_METG);
    return reach_text(&at, 1 / MATRIX_METG);
}

static char *sentence_of(const struct curves *curves)
{
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "METG(50 %%), the smallest tasks that use half of %.0f %s at ",
                           curves->cores, curves->cores > 1 ? "cores" : "core");
    if (*curves->threads)
        g_string_append_printf(text, "%s %s: ", curves->threads,
                               strcmp(curves->threads, "1") == 0 ? "thread" : "threads");
    else
        g_string_append(text, "any number of threads: ");
    for (guint l = 0; l < curves->lines->len && l < NAMED_MAX; l++) {
        g_autofree char *metg = metg_text(line_at(curves->lines, l)->points);
        g_string_append_printf(text, "%s%s %s", l > 0 ? ", " : "", line_at(curves->lines, l)->name,
                               metg);
    }
    if (curves->lines->len > NAMED_MAX)
        g_string_append_printf(text, " and %u more in the table", curves->lines->len - NAMED_MAX);
    g_string_append_c(text, '.');
    return g_string_free(text, FALSE);
}

/* ---- Choices --------------------------------------------------------------------------------- */

static void write_choices(Html *html, const struct curves *curves)
{
    const struct matrix_view *view = curves->cells->view;
    html_literal(html, "<nav class=\"choices\"");
    g_autofree char *label =
        g_strdup_printf("Threads and reference of %s", curves->bench->benchmark->name);
    html_attr(html, "aria-label", label);
    html_literal(html, "><span>threads</span>");
    for (guint i = 0; i < curves->all_threads->len; i++) {
        const char *threads = (const char *)g_ptr_array_index(curves->all_threads, i);
        if (*threads)
            matrix_choice_write(html, view, "threads", threads,
                                strcmp(threads, curves->threads) == 0);
    }
    if (arrow_2019_has(curves->bench->benchmark->name)) {
        g_autofree char *url = link_query(http_request_query_pairs(view->request), "reference",
                                          curves->with_reference ? NULL : ARROW_2019);
        html_literal(html, "<span>reference</span><a class=\"button\"");
        html_url(html, "href", url);
        if (curves->with_reference)
            html_literal(html, " aria-current=\"true\"");
        html_literal(html, ">Arrow’s table of 2019</a>");
    }
    if (curves->n_threads > curves->all_threads->len)
        html_print(html, "<span>the first %u of %u numbers of threads</span>",
                   curves->all_threads->len, curves->n_threads);
    html_literal(html, "</nav>");
}

static void write_reference_note(Html *html, const struct curves *curves)
{
    if (!curves->with_reference)
        return;
    g_autoptr(GArray) points =
        arrow_2019_efficiency(curves->bench->benchmark->name, curves->threads);
    html_literal(html, "<p class=\"hint\">");
    if (points->len == 0)
        html_print(html,
                   "Arrow’s table of 2019 has no row at %s threads: it measured 1, 2, 4 and "
                   "8.",
                   *curves->threads ? curves->threads : "no");
    else
        html_literal(html, "Arrow’s table: thread-pool-benchmark of Apache Arrow at ARROW-4177, "
                           "January 2019, on an 8-core AMD processor, where a step of work took "
                           "0.72 ns. Compare shapes and times, not steps.");
    html_literal(html, "</p>");
}

/* ---- Figure and tables ----------------------------------------------------------------------- */

static void write_figure(Html *html, const struct curves *curves)
{
    g_autofree char *sentence = sentence_of(curves);
    g_autofree char *title =
        g_strdup_printf("Efficiency of %s against task cost, %s threads",
                        curves->bench->benchmark->name, *curves->threads ? curves->threads : "no");
    const struct matrix_chart chart = {
        .title = title,
        .summary = sentence,
        .lines = (const struct matrix_line *)(const void *)curves->lines->data,
        .n_lines = curves->lines->len,
        .cores = curves->cores};
    html_literal(html, "<figure class=\"efficiency\"><figcaption class=\"sentence\">");
    html_text(html, sentence);
    html_literal(html, "</figcaption><ul class=\"legend-list\">");
    for (guint l = 0; l < curves->lines->len; l++) {
        html_literal(html, "<li>");
        chart_legend_mark(html, chart.lines[l].slot);
        html_print(html, "<span>%s</span></li>", chart.lines[l].name);
    }
    html_literal(html, "</ul><div class=\"chart\" tabindex=\"0\" role=\"region\"");
    html_attr(html, "aria-label", title);
    html_literal(html, ">");
    matrix_chart_render(html, &chart);
    html_literal(html, "</div></figure>");
}

static void write_efficiencies(Html *html, const struct curves *curves,
                               const struct matrix_line *line)
{
    guint at = 0;
    for (guint c = 0; c < curves->costs->len; c++) {
        double cost = g_array_index(curves->costs, double, c);
        while (at < line->points->len &&
               g_array_index(line->points, struct efficiency_point, at).task_cost < cost)
            at++;
        const struct efficiency_point *point =
            at < line->points->len ? &g_array_index(line->points, struct efficiency_point, at)
                                   : NULL;
        if (point && point->task_cost <= cost)
            html_print(html, "<td class=\"num\">%.3g %%</td>", 100 * point->efficiency);
        else
            html_literal(html, "<td class=\"num none\">–</td>");
    }
}

static void write_curve_row(Html *html, const struct curves *curves, const struct matrix_line *line)
{
    const struct efficiency_crossing metg = crossing_of(line->points, MATRIX_METG);
    const struct efficiency_crossing break_even = crossing_of(line->points, 1 / line->cores);
    g_autofree char *metg_time = reach_text(&metg, 1 / MATRIX_METG);
    g_autofree char *break_even_time = reach_text(&break_even, 1);
    html_literal(html, "<tr><th scope=\"row\">");
    html_text(html, line->name);
    html_print(html, "</th><td class=\"num\">%s</td>", metg_time);
    if (metg.reach == EFFICIENCY_AT)
        html_print(html, "<td class=\"num\">%.0f</td>", metg.task_cost);
    else
        html_literal(html, "<td class=\"num none\">–</td>");
    if (line->cores > 1)
        html_print(html, "<td class=\"num\">%s</td>", break_even_time);
    else
        html_literal(html, "<td class=\"num none\">one core gains nothing</td>");
    write_efficiencies(html, curves, line);
    html_literal(html, "</tr>");
}

static void begin_table(Html *html, const char *label)
{
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    html_attr(html, "aria-label", label);
    html_literal(html, "><table class=\"matrix\"><thead><tr><th scope=\"col\">Executor</th>");
}

static void write_curve_table(Html *html, const struct curves *curves)
{
    g_autofree char *label = g_strdup_printf(
        "Efficiency of %s by executor and task cost, as a table", curves->bench->benchmark->name);
    begin_table(html, label);
    html_literal(html, "<th scope=\"col\" class=\"num\">METG(50 %)</th><th scope=\"col\" "
                       "class=\"num\">at task_cost</th><th scope=\"col\" class=\"num\">Break-even "
                       "work</th>");
    for (guint c = 0; c < curves->costs->len; c++)
        html_print(html, "<th scope=\"col\" class=\"num\">%.10g</th>",
                   g_array_index(curves->costs, double, c));
    html_literal(html, "</tr></thead><tbody>");
    for (guint l = 0; l < curves->lines->len; l++)
        write_curve_row(html, curves, line_at(curves->lines, l));
    html_literal(html, "</tbody></table></div>");
    if (curves->n_costs > curves->costs->len)
        html_print(html,
                   "<p class=\"muted\">%u of %u task costs are in this table; the drawing has "
                   "all.</p>",
                   curves->costs->len, curves->n_costs);
}

static void write_metg_row(Html *html, const struct curves *curves, guint executor)
{
    const struct matrix_cells *cells = curves->cells;
    html_literal(html, "<tr><th scope=\"row\">");
    html_text(html, (const char *)g_ptr_array_index(cells->matrix->executors, executor));
    html_literal(html, "</th>");
    for (guint t = 0; t < curves->all_threads->len; t++) {
        g_autoptr(GArray) points = matrix_efficiency(
            cells->matrix, curves->bench, executor,
            (const char *)g_ptr_array_index(curves->all_threads, t), cells->effective_cpus);
        g_autofree char *metg = points->len > 0 ? metg_text(points) : NULL;
        html_print(html, "<td class=\"num%s\">%s</td>", metg ? "" : " none", metg ? metg : "–");
    }
    html_literal(html, "</tr>");
}

static void write_metg_table(Html *html, const struct curves *curves)
{
    const struct matrix_cells *cells = curves->cells;
    if (curves->all_threads->len < 2)
        return;
    g_autofree char *label =
        g_strdup_printf("METG(50 %%) of %s by threads", curves->bench->benchmark->name);
    html_literal(html, "<h3>METG(50 %) by threads</h3>");
    begin_table(html, label);
    for (guint t = 0; t < curves->all_threads->len; t++) {
        const char *threads = (const char *)g_ptr_array_index(curves->all_threads, t);
        html_print(html, "<th scope=\"col\" class=\"num\">%s</th>", *threads ? threads : "none");
    }
    html_literal(html, "</tr></thead><tbody>");
    for (guint e = 0; e < cells->matrix->executors->len; e++)
        if (!matrix_is_yardstick(cells->matrix, e) && matrix_has_executor(curves->bench, e))
            write_metg_row(html, curves, e);
    html_literal(html, "</tbody></table></div>");
}

void matrix_efficiency_write(Html *html, const struct matrix_cells *cells,
                             const struct matrix_bench *bench)
{
    struct curves curves;
    curves_init(&curves, cells, bench);
    if (has_curve(&curves)) {
        html_literal(html, "<h3>Efficiency against task cost</h3>");
        write_choices(html, &curves);
        write_figure(html, &curves);
        write_reference_note(html, &curves);
        write_curve_table(html, &curves);
        html_literal(html, "<p class=\"hint\">Efficiency: tasks a second over those of as many "
                           "plain calls as there are cores in use. METG: a task’s share of the "
                           "cores’ time where that is 50 %; break-even: the work of a task from "
                           "which on as much is done as by one plain call.</p>");
        write_metg_table(html, &curves);
    }
    curves_clear(&curves);
}
