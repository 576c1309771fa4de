/* SPDX-License-Identifier: Apache-2.0
 * The server's drawing: ranges, one point alone, nothing at all, gaps, hostile names; what comes
 * out is well-formed XML. */
#include "server/pages/chart.h"
#include "server/pages/chart_marks.h"
#include "server/pages/chart_spark.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static char *draw(const struct chart *chart)
{
    Html *html = html_new();
    chart_render(html, chart);
    return g_string_free(html_finish(html), FALSE);
}

static void assert_is_well_formed(const char *text)
{
    g_autoptr(GError) error = NULL;
    const GMarkupParser parser = {NULL, NULL, NULL, NULL, NULL};
    GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, NULL, NULL);
    gboolean is_parsed = g_markup_parse_context_parse(context, text, -1, &error) &&
                         g_markup_parse_context_end_parse(context, &error);
    g_markup_parse_context_free(context);
    g_assert_no_error(error);
    g_assert_true(is_parsed);
    g_assert_null(strstr(text, "nan"));
    g_assert_null(strstr(text, "inf"));
}

static guint count(const char *text, const char *what)
{
    guint n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

/* The text of the first element that opens with `opening`, as far as its `d` attribute's end. */
static char *path_of(const char *text, const char *opening)
{
    const char *start = strstr(text, opening);
    g_assert_nonnull(start);
    start = strstr(start, " d=\"") + 4;
    return g_strndup(start, (gsize)(strchr(start, '"') - start));
}

static struct chart chart_of(const struct chart_line *line, const struct chart_column *columns,
                             guint n_columns)
{
    return (struct chart){.title = "t",
                          .summary = "s",
                          .lines = line,
                          .n_lines = line ? 1 : 0,
                          .columns = columns,
                          .n_columns = n_columns,
                          .unit = "ns",
                          .better = BETTER_LOWER};
}

static void test_range(void)
{
    struct chart_point points[] = {{0, 10, 8, 12, true, false}, {1, 20, 0, 0, false, false}};
    struct chart_line line = {.name = "l", .slot = 0, .points = points, .n_points = 2};
    struct chart_column columns[] = {{.label = "a", .sublabel = NULL, .is_empty = false},
                                     {.label = "b", .sublabel = NULL, .is_empty = false}};
    struct chart chart = chart_of(&line, columns, 2);
    struct chart_range range = chart_range_of(&chart);
    g_assert_cmpfloat_with_epsilon(range.low, 8 - 12 * 0.06, 1e-9);
    g_assert_cmpfloat_with_epsilon(range.high, 20 + 12 * 0.06, 1e-9);
    chart.from_zero = true;
    range = chart_range_of(&chart);
    g_assert_cmpfloat(range.low, ==, 0);
    line.n_points = 0;
    range = chart_range_of(&chart);
    g_assert_cmpfloat(range.low, <, range.high);
}

static void test_range_is_sane(void)
{
    const double centers[] = {0, 5, -5, 1e308, -1e308, 5e-324, HUGE_VAL};
    for (size_t i = 0; i < G_N_ELEMENTS(centers); i++) {
        struct chart_point point = {.center = centers[i]};
        struct chart_line line = {.name = "l", .slot = 0, .points = &point, .n_points = 1};
        struct chart_column column = {.label = "a", .sublabel = NULL, .is_empty = false};
        struct chart chart = chart_of(&line, &column, 1);
        struct chart_range range = chart_range_of(&chart);
        g_assert_true(range.low < range.high || fabs(centers[i]) > 1e307);
        g_assert_true(!isnan(range.low) && !isnan(range.high));
    }
    struct chart_point wide[] = {{0, 1.7e308, 0, 0, false, false},
                                 {1, -1.7e308, 0, 0, false, false}};
    struct chart_line line = {.name = "l", .slot = 0, .points = wide, .n_points = 2};
    struct chart_column columns[] = {{.label = "a", .sublabel = NULL, .is_empty = false},
                                     {.label = "b", .sublabel = NULL, .is_empty = false}};
    struct chart chart = chart_of(&line, columns, 2);
    g_autofree char *text = draw(&chart);
    assert_is_well_formed(text);
}

static void test_single_point(void)
{
    struct chart_point point = {0, 861, 850, 870, true, false};
    struct chart_line line = {.name = "threads 4", .slot = 0, .points = &point, .n_points = 1};
    struct chart_column column = {.label = "1a2b3c4", .sublabel = "2026-11-03", .is_empty = false};
    struct chart chart = chart_of(&line, &column, 1);
    g_autofree char *text = draw(&chart);
    assert_is_well_formed(text);
    g_autofree char *bars = path_of(text, "class=\"bars\"");
    g_assert_cmpuint(count(bars, "M"), ==, 3); /* a stem and two caps */
    g_autofree char *marks = path_of(text, "class=\"marks\"");
    g_assert_true(g_str_has_prefix(marks, "M558.6 ")); /* the middle, 562, less the radius */
    g_assert_nonnull(strstr(text, "1a2b3c4"));
    chart.standalone = true;
    g_autofree char *alone = draw(&chart);
    g_assert_nonnull(strstr(alone, "ns · lower is better ↓"));
    point.has_interval = false;
    g_autofree char *plain = draw(&chart);
    g_autofree char *no_bars = path_of(plain, "class=\"bars\"");
    g_assert_cmpstr(no_bars, ==, "");
}

static void test_nothing(void)
{
    struct chart chart = chart_of(NULL, NULL, 0);
    g_autofree char *text = draw(&chart);
    assert_is_well_formed(text);
}

static void test_gaps_and_bands(void)
{
    struct chart_point points[] = {{0, 10, 9, 11, true, false},
                                   {2, 12, 11, 13, true, false},
                                   {3, 11, 0, 0, false, false},
                                   {4, 10, 9, 11, true, false}};
    struct chart_line line = {.name = "l", .slot = 0, .points = points, .n_points = 4};
    struct chart_column columns[] = {{.label = "a", .sublabel = NULL, .is_empty = false},
                                     {.label = "b", .sublabel = NULL, .is_empty = true},
                                     {.label = "c", .sublabel = NULL, .is_empty = false},
                                     {.label = "d", .sublabel = NULL, .is_empty = false},
                                     {.label = "e", .sublabel = NULL, .is_empty = false}};
    struct chart chart = chart_of(&line, columns, 5);
    g_autofree char *text = draw(&chart);
    assert_is_well_formed(text);
    g_autofree char *gaps = path_of(text, "class=\"gaps\"");
    g_assert_cmpuint(count(gaps, "M"), ==, 1);
    g_autofree char *band = path_of(text, "class=\"band\"");
    g_assert_cmpuint(count(band, "Z"), ==, 1); /* only where both ends claim an interval */
    g_autofree char *stroke = path_of(text, "class=\"stroke\"");
    g_assert_cmpuint(count(stroke, "l"), ==, 3); /* the line goes on over a commit without data */
    g_assert_null(strstr(text, "class=\"bars\""));
}

static void test_hollow_points_are_not_joined(void)
{
    struct chart_point points[] = {
        {0, 10, 0, 0, false, false}, {1, 99, 0, 0, false, true}, {2, 12, 0, 0, false, false}};
    struct chart_line line = {.name = "l", .slot = 1, .points = points, .n_points = 3};
    struct chart_column columns[] = {{.label = "a", .sublabel = NULL, .is_empty = false},
                                     {.label = "b", .sublabel = NULL, .is_empty = false},
                                     {.label = "c", .sublabel = NULL, .is_empty = false}};
    struct chart chart = chart_of(&line, columns, 3);
    g_autofree char *text = draw(&chart);
    g_autofree char *stroke = path_of(text, "class=\"stroke\"");
    g_assert_cmpuint(count(stroke, "l"), ==, 1);
    g_autofree char *hollow = path_of(text, "class=\"hollow\"");
    g_assert_cmpuint(count(hollow, "Z"), ==, 1);
}

static void test_hostile_names(void)
{
    struct chart_point point = {0, 1, 0, 0, false, false};
    struct chart_line line = {
        .name = "</text><script>alert(1)</script>", .slot = 40, .points = &point, .n_points = 1};
    struct chart_column column = {.label = "\"><b>", .sublabel = "<&>"};
    struct chart chart = chart_of(&line, &column, 1);
    chart.title = "</title><script>";
    chart.unit = "<u>";
    chart.standalone = true;
    g_autofree char *text = draw(&chart);
    assert_is_well_formed(text);
    g_assert_null(strstr(text, "<script"));
    g_assert_null(strstr(text, "<b>"));
    g_assert_nonnull(strstr(text, "xmlns="));
}

/* A bar for each level; a note for each column, on rows of their own where they would touch. */
static void test_levels_and_notes(void)
{
    struct chart_point points[12];
    struct chart_column columns[12];
    for (guint i = 0; i < G_N_ELEMENTS(points); i++) {
        points[i] = (struct chart_point){.column = i, .center = i < 6 ? 10 : 12};
        columns[i] = (struct chart_column){.label = "a"};
    }
    const struct chart_level levels[] = {{0, 5, 10}, {6, 11, 12}};
    const struct chart_note notes[] = {
        {0, "<b>", 0}, {6, "+20 %", -1}, {7, "−3 %", 1}, {8, "+1 %", -1}, {11, "+2 %", -1}};
    struct chart_line line = {
        .name = "l", .points = points, .n_points = 12, .levels = levels, .n_levels = 2};
    struct chart chart = chart_of(&line, columns, 12);
    double high = chart_range_of(&chart).high;
    chart.notes = notes;
    chart.n_notes = G_N_ELEMENTS(notes);
    g_assert_cmpfloat(chart_range_of(&chart).high, >, high);
    g_autofree char *text = draw(&chart);
    assert_is_well_formed(text);
    g_autofree char *bars = path_of(text, "class=\"level\"");
    g_assert_cmpuint(count(bars, "M"), ==, 2);
    g_assert_cmpuint(count(text, "class=\"note worse\""), ==, 3);
    g_assert_nonnull(strstr(text, "&lt;b&gt;</text>"));
    g_assert_nonnull(strstr(text, "y=\"22\">▼ +20 %</text>"));
    g_assert_nonnull(strstr(text, "y=\"22\">▲ −3 %</text>"));
    chart.n_notes = 0;
    line.n_levels = 0;
    g_autofree char *plain = draw(&chart);
    g_assert_null(strstr(plain, "class=\"level\""));
    g_assert_null(strstr(plain, "class=\"note"));
}

/* With 200 columns neighbours touch, and the third row takes what is left. */
static void test_close_notes_are_on_rows(void)
{
    struct chart_column columns[200];
    for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
        columns[i] = (struct chart_column){.label = "a"};
    const struct chart_note notes[] = {
        {100, "a", -1}, {101, "b", -1}, {102, "c", -1}, {150, "d", -1}};
    struct chart chart = chart_of(NULL, columns, 200);
    chart.notes = notes;
    chart.n_notes = G_N_ELEMENTS(notes);
    g_autofree char *text = draw(&chart);
    const char *const expected[] = {"y=\"22\">▼ a<", "y=\"38\">▼ b<", "y=\"54\">▼ c<",
                                    "y=\"22\">▼ d<"};
    for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
        g_assert_nonnull(strstr(text, expected[i]));
}

/* Tenfold is as far everywhere; what is not positive gets an axis that holds it; a part of the y
 * axis is cut at its edges; columns stand where they say. */
static void test_axes(void)
{
    struct chart_point points[] = {
        {0, 1, 0, 0, false, false}, {1, 10, 0, 0, false, false}, {2, 100, 0, 0, false, false}};
    struct chart_line line = {.name = "l", .points = points, .n_points = 3};
    struct chart_column columns[] = {
        {.label = "a", .at = 0}, {.label = "b", .at = 30}, {.label = "c", .at = 40}};
    struct chart chart = chart_of(&line, columns, 3);
    chart.log = chart.placed = true;
    g_autofree char *text = draw(&chart);
    assert_is_well_formed(text);
    g_autofree char *stroke = path_of(text, "class=\"stroke\"");
    double x[3], y[3]; /* the first place, and the steps from there */
    g_assert_cmpint(
        sscanf(stroke, "M%lf %lfl%lf %lfl%lf %lf", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2]), ==,
        6);
    g_assert_cmpfloat_with_epsilon(y[1], y[2], 0.02);
    g_assert_cmpfloat_with_epsilon(x[1] / (x[1] + x[2]), 0.75, 0.001);
    points[0].center = -5;
    g_autofree char *negative = draw(&chart);
    assert_is_well_formed(negative);
    g_assert_cmpint(chart_scale_of(&chart).kind, ==, CHART_ASINH);
    chart.log = false;
    chart.has_window = true;
    chart.window = (struct chart_range){9, 11};
    g_autofree char *part = draw(&chart);
    assert_is_well_formed(part);
    g_assert_cmpuint(count(part, "<svg"), ==, 2);
    g_assert_null(strstr(part, ">100<"));
}

static char *spark(const double *values, guint n, guint marked, const double *level)
{
    const struct chart_spark drawn = {values, n, "a \"label\"", marked, level};
    Html *html = html_new();
    chart_spark_write(html, &drawn);
    return g_string_free(html_finish(html), FALSE);
}

static void test_sparkline(void)
{
    const double values[] = {1, 3, 2}, level = 5;
    g_autofree char *text = spark(values, 3, G_MAXUINT, NULL);
    assert_is_well_formed(text);
    g_autofree char *stroke = path_of(text, "class=\"stroke\"");
    g_assert_cmpstr(stroke, ==, "M4 24L60 4L116 14");
    g_assert_nonnull(strstr(text, "cx=\"116\" cy=\"14\""));
    g_autofree char *marked = spark(values, 3, 1, &level);
    assert_is_well_formed(marked);
    g_assert_nonnull(strstr(marked, "cx=\"60\" cy=\"14\""));
    g_autofree char *across = path_of(marked, "class=\"level\"");
    g_assert_cmpstr(across, ==, "M4 4L116 4");
    g_autofree char *one = spark(values, 1, G_MAXUINT, NULL);
    assert_is_well_formed(one);
    g_assert_nonnull(strstr(one, "cx=\"60\" cy=\"14\""));
    g_autofree char *none = spark(values, 0, G_MAXUINT, NULL);
    g_assert_cmpstr(none, ==, "");
}

/* A hundredth of noise takes a fifth of the height, not all of it. */
static void test_sparkline_is_as_flat_as_its_values(void)
{
    const double calm[] = {100, 101}, zeros[] = {0, 0}, huge[] = {-1e308, 1e308};
    g_autofree char *text = spark(calm, 2, G_MAXUINT, NULL);
    g_autofree char *stroke = path_of(text, "class=\"stroke\"");
    g_assert_cmpstr(stroke, ==, "M4 16L116 12");
    g_autofree char *flat = spark(zeros, 2, G_MAXUINT, NULL);
    g_autofree char *line = path_of(flat, "class=\"stroke\"");
    g_assert_cmpstr(line, ==, "M4 14L116 14");
    g_autofree char *wide = spark(huge, 2, G_MAXUINT, NULL);
    g_assert_null(strstr(wide, "nan"));
    g_assert_null(strstr(wide, "inf"));
}

/* After 4000 steps the line is where its last point is, to the tenth. */
static void test_steps_do_not_drift(void)
{
    Html *html = html_new();
    struct chart_pen pen = {0};
    for (guint i = 0; i <= 4000; i++)
        chart_pen_to(html, &pen, 74 + i * 0.24, 100 - i * 0.013);
    g_autofree char *path = g_string_free(html_finish(html), FALSE);
    g_auto(GStrv) steps = g_strsplit_set(path, "Ml", -1);
    double x = 0, y = 0;
    for (guint i = 1; steps[i]; i++) {
        char *end;
        x += g_ascii_strtod(steps[i], &end);
        y += g_ascii_strtod(end, NULL);
    }
    g_assert_cmpuint(g_strv_length(steps), ==, 4002);
    g_assert_cmpfloat_with_epsilon(x, 74 + 960, 0.051);
    g_assert_cmpfloat_with_epsilon(y, 100 - 52, 0.051);
}

static void test_many_columns_keep_their_labels_apart(void)
{
    g_autofree struct chart_column *columns = g_new0(struct chart_column, 5000);
    for (guint i = 0; i < 5000; i++)
        columns[i].label = "1a2b3c4";
    struct chart chart = chart_of(NULL, columns, 5000);
    g_autofree char *text = draw(&chart);
    g_assert_cmpuint(count(text, "1a2b3c4"), <=, 10);
    g_assert_cmpuint(count(text, "1a2b3c4"), >=, 4);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/chart/range", test_range);
    g_test_add_func("/chart/range-is-sane", test_range_is_sane);
    g_test_add_func("/chart/single-point", test_single_point);
    g_test_add_func("/chart/nothing", test_nothing);
    g_test_add_func("/chart/gaps-and-bands", test_gaps_and_bands);
    g_test_add_func("/chart/hollow-points-are-not-joined", test_hollow_points_are_not_joined);
    g_test_add_func("/chart/hostile-names", test_hostile_names);
    g_test_add_func("/chart/levels-and-notes", test_levels_and_notes);
    g_test_add_func("/chart/close-notes-are-on-rows", test_close_notes_are_on_rows);
    g_test_add_func("/chart/axes", test_axes);
    g_test_add_func("/chart/sparkline", test_sparkline);
    g_test_add_func("/chart/sparkline-is-flat", test_sparkline_is_as_flat_as_its_values);
    g_test_add_func("/chart/steps-do-not-drift", test_steps_do_not_drift);
    g_test_add_func("/chart/many-columns", test_many_columns_keep_their_labels_apart);
    return g_test_run();
}
