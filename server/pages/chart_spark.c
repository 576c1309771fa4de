/* SPDX-License-Identifier: Apache-2.0
 * See chart_spark.h. Colours are presentation attributes, as in chart.c. */
#include "server/pages/chart_spark.h"

#include "server/pages/chart_marks.h"

#include <math.h>

#define WIDTH  120.0
#define HEIGHT 28.0
#define PAD    4.0

struct box {
    double low, high;
    guint n;
};

static void box_include(struct box *box, double value)
{
    box->low = MIN(box->low, value);
    box->high = MAX(box->high, value);
}

static struct box box_of(const double *values, guint n, const double *level)
{
    struct box box = {values[0], values[0], n};
    for (guint i = 1; i < n; i++)
        box_include(&box, values[i]);
    if (level)
        box_include(&box, *level);
    double least = CHART_SPARK_SPAN * MAX(fabs(box.low), fabs(box.high));
    double air = (least - (box.high - box.low)) / 2;
    if (air > 0) {
        box.low -= air;
        box.high += air;
    }
    return box;
}

static double x_of(const struct box *box, guint i)
{
    return box->n == 1 ? WIDTH / 2 : PAD + (WIDTH - 2 * PAD) * i / (box->n - 1);
}

static double y_of(const struct box *box, double value)
{
    double span = box->high - box->low;
    return span > 0 && isfinite(span) ? PAD + (HEIGHT - 2 * PAD) * (box->high - value) / span
                                      : HEIGHT / 2;
}

static void write_level(Html *html, const struct box *box, double level)
{
    html_literal(html, "<path class=\"level\" fill=\"none\" stroke=\"#8b94a3\" d=\"");
    chart_path_to(html, TRUE, PAD, y_of(box, level));
    chart_path_to(html, FALSE, WIDTH - PAD, y_of(box, level));
    html_literal(html, "\"/>");
}

void chart_spark_write(Html *html, const struct chart_spark *spark)
{
    guint n = MIN(spark->n_values, CHART_SPARK_VALUES_MAX), left_out = spark->n_values - n;
    const double *values = spark->values + left_out;
    if (n == 0)
        return;
    struct box box = box_of(values, n, spark->level);
    guint marked = spark->marked >= left_out && spark->marked < spark->n_values
                       ? spark->marked - left_out
                       : n - 1;
    html_literal(
        html,
        "<svg class=\"spark\" width=\"120\" height=\"28\" viewBox=\"0 0 120 28\" role=\"img\"");
    html_attr(html, "aria-label", spark->label);
    html_literal(html, ">");
    if (spark->level)
        write_level(html, &box, *spark->level);
    html_literal(html, "<path class=\"stroke\" fill=\"none\" stroke=\"#0072b2\" "
                       "stroke-width=\"1.5\" stroke-linejoin=\"round\" d=\"");
    for (guint i = 0; i < n; i++)
        chart_path_to(html, i == 0, x_of(&box, i), y_of(&box, values[i]));
    html_literal(html, "\"/><circle class=\"last\" fill=\"#0072b2\" r=\"2.6\" cx=\"");
    html_coordinate(html, x_of(&box, marked));
    html_literal(html, "\" cy=\"");
    html_coordinate(html, y_of(&box, values[marked]));
    html_literal(html, "\"/></svg>");
}
