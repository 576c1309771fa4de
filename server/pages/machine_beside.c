/* SPDX-License-Identifier: Apache-2.0
 * What runs recorded beside their samples of the machine itself: how far apart two CPUs were and
 * how long a fixed loop took. No commit changes either, so where they move it is the machine. The
 * documents of a bounded number of the latest runs are read. The request's thread. */
#include "server/pages/chart.h"
#include "server/pages/machine_view.h"

#include "server/work/machine_probe.h"

#include <math.h>

#define RUNS_MAX    40u    /* the latest ones, whose documents are read … */
#define RESULTS_MAX 12000u /* … as long as they hold no more results than this */

struct probed {
    const struct store_run *run;
    struct machine_probe probe;
};

/* Array of struct probed by time, without runs that recorded nothing; NULL with an error. */
static GArray *read_probes(const struct machine_view *view, GError **error)
{
    const GPtrArray *runs = view->history->runs;
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct probed));
    guint n_results = 0;
    for (guint i = runs->len; i > 0 && runs->len - i < RUNS_MAX; i--) {
        struct probed one = {.run = (const struct store_run *)runs->pdata[i - 1]};
        n_results += one.run->n_results;
        if (n_results > RESULTS_MAX && found->len > 0)
            break;
        if (!machine_probe_of_run(view->snapshot, one.run->seq, &one.probe, error))
            return NULL;
        if (isfinite(one.probe.handoff_ns) || isfinite(one.probe.fixed_loop_ns))
            g_array_prepend_val(found, one);
    }
    return g_steal_pointer(&found);
}

struct measure {
    const char *name, *what;
    bool is_handoff; /* else the fixed loop */
};

static const struct measure measures[] = {
    {"Hand-off distance", "one way of a cache line between two CPUs", true},
    {"Fixed loop", "a loop whose work never changes", false}};

static double value_of(const struct probed *one, const struct measure *measure)
{
    return measure->is_handoff ? one->probe.handoff_ns : one->probe.fixed_loop_ns;
}

/* What a chart borrows, of one measure. */
struct drawing {
    GArray *points;  /* struct chart_point */
    GArray *columns; /* struct chart_column */
    GStringChunk *texts;
};

static void drawing_fill(struct drawing *drawing, const GArray *probes,
                         const struct measure *measure)
{
    for (guint i = 0; i < probes->len; i++) {
        const struct probed *one = &g_array_index(probes, struct probed, i);
        double value = value_of(one, measure);
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(machine_run_ms(one->run) / 1000);
        g_autofree char *day = time ? g_date_time_format(time, "%Y-%m-%d") : NULL;
        struct chart_column column = {
            .label = g_string_chunk_insert_len(drawing->texts, one->run->commit->sha, 7),
            .sublabel = day ? g_string_chunk_insert_const(drawing->texts, day) : NULL,
            .is_empty = !isfinite(value)};
        struct chart_point point = {.column = i, .center = value};
        g_array_append_val(drawing->columns, column);
        if (isfinite(value))
            g_array_append_val(drawing->points, point);
    }
}

static char *summary_of(const GArray *points)
{
    double first = g_array_index(points, struct chart_point, 0).center;
    double last = g_array_index(points, struct chart_point, points->len - 1).center;
    g_autofree char *from = quantity_text(first, "ns"), *to = quantity_text(last, "ns");
    return g_strdup_printf("%s at the first of %u runs, %s at the last.", from, points->len, to);
}

static void write_chart(Html *html, const GArray *probes, const struct measure *measure)
{
    struct drawing drawing = {g_array_new(FALSE, FALSE, sizeof(struct chart_point)),
                              g_array_new(FALSE, FALSE, sizeof(struct chart_column)),
                              g_string_chunk_new(1024)};
    drawing_fill(&drawing, probes, measure);
    if (drawing.points->len > 0) {
        g_autofree char *summary = summary_of(drawing.points);
        struct chart_line line = {
            .name = measure->name,
            .points = (const struct chart_point *)(const void *)drawing.points->data,
            .n_points = drawing.points->len};
        struct chart chart = {.title = measure->name,
                              .summary = summary,
                              .lines = &line,
                              .n_lines = 1,
                              .columns =
                                  (const struct chart_column *)(const void *)drawing.columns->data,
                              .n_columns = drawing.columns->len,
                              .unit = "ns",
                              .better = BETTER_LOWER};
        struct chart_range range = chart_range_of(&chart);
        struct quantity_scale scale = quantity_scale_for("ns", range.high);
        html_print(html,
                   "<figure class=\"plain\"><figcaption><h3>%s</h3><span class=\"direction\">%s, "
                   "%s</span></figcaption><div class=\"scroll chart\" tabindex=\"0\" "
                   "role=\"group\" aria-label=\"Chart: %s\">",
                   measure->name, scale.label, measure->what, measure->name);
        chart_render(html, &chart);
        html_literal(html, "</div></figure>");
    }
    g_array_unref(drawing.points);
    g_array_unref(drawing.columns);
    g_string_chunk_free(drawing.texts);
}

static void write_value(Html *html, double value)
{
    html_literal(html, "<td class=\"num\">");
    if (isfinite(value)) {
        g_autofree char *text = quantity_text(value, "ns");
        html_text(html, text);
    } else {
        html_literal(html, "<span class=\"none\">not recorded</span>");
    }
    html_literal(html, "</td>");
}

static void write_table(Html *html, const GArray *probes)
{
    html_literal(html, "<details class=\"fold\"><summary>The values</summary><div "
                       "class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Values of the "
                       "probe\"><table><thead><tr><th scope=\"col\">Run of</th><th "
                       "scope=\"col\">Measured</th>");
    for (guint m = 0; m < G_N_ELEMENTS(measures); m++)
        html_print(html, "<th scope=\"col\" class=\"num\">%s</th>", measures[m].name);
    html_literal(html, "</tr></thead><tbody>");
    for (guint i = probes->len; i > 0; i--) {
        const struct probed *one = &g_array_index(probes, struct probed, i - 1);
        html_literal(html, "<tr><th scope=\"row\">");
        layout_commit(html, one->run->commit);
        html_literal(html, "</th><td class=\"when\">");
        layout_time_ms(html, machine_run_ms(one->run));
        html_literal(html, "</td>");
        for (guint m = 0; m < G_N_ELEMENTS(measures); m++)
            write_value(html, value_of(one, &measures[m]));
        html_literal(html, "</tr>");
    }
    html_literal(html, "</tbody></table></div></details>");
}

bool machine_probes_write(Html *html, const struct machine_view *view, GError **error)
{
    g_autoptr(GArray) probes = read_probes(view, error);
    if (!probes)
        return false;
    html_literal(html, "<section class=\"card\" id=\"probe\"><h2>The machine itself</h2>");
    if (probes->len == 0) {
        html_literal(html, "<p class=\"muted\">Its latest runs recorded nothing of it. The runner "
                           "measures two things beside each sample that no commit changes: how "
                           "far apart two CPUs are, and a fixed loop.</p></section>");
        return true;
    }
    html_print(html,
               "<p class=\"muted\">Beside their samples the last %u runs recorded what no "
               "commit changes: where it moves, it is the machine. Each value is a run’s "
               "median.</p><div class=\"pair\">",
               probes->len);
    for (guint m = 0; m < G_N_ELEMENTS(measures); m++)
        write_chart(html, probes, &measures[m]);
    html_literal(html, "</div>");
    write_table(html, probes);
    html_literal(html, "</section>");
    return true;
}

bool machine_probes_sheet(Sheet *sheet, const struct machine_view *view, GError **error)
{
    static const struct sheet_column columns[] = {
        {"commit", "Run of", false},           {"run", NULL, false},
        {"measured", "Measured", false},       {"handoff_ns", "Hand-off distance", true},
        {"fixed_loop_ns", "Fixed loop", true}, {0}};
    g_autoptr(GArray) probes = read_probes(view, error);
    if (!probes)
        return false;
    sheet_table(sheet, "probes", "The machine itself", columns, SHEET_ROWS);
    for (guint i = probes->len; i > 0; i--) {
        const struct probed *one = &g_array_index(probes, struct probed, i - 1);
        sheet_commit(sheet, one->run->commit);
        sheet_text(sheet, one->run->id);
        sheet_time_ms(sheet, machine_run_ms(one->run));
        sheet_number(sheet, one->probe.handoff_ns, "ns");
        sheet_number(sheet, one->probe.fixed_loop_ns, "ns");
    }
    sheet_table_end(sheet);
    return true;
}
