/* SPDX-License-Identifier: Apache-2.0
 * A line of values without axes, 120 x 28, for a row of a table. What lies within the least span
 * is drawn as flat as it is: a sparkline that stretches noise to its height tells of changes that
 * are none. Pure; any thread. */
#pragma once

#include "server/pages/html.h"

#define CHART_SPARK_VALUES_MAX 200u
#define CHART_SPARK_SPAN       0.05 /* the least span, as a share of the largest magnitude */

struct chart_spark {
    const double *values; /* finite */
    guint n_values;       /* 0: nothing is drawn; at most CHART_SPARK_VALUES_MAX of the last */
    const char *label;    /* for who does not see it */
    guint marked;         /* the value with a dot; G_MAXUINT: the last */
    const double *level;  /* a pale line across at this value, or NULL */
};

void chart_spark_write(Html *html, const struct chart_spark *spark);
