/* SPDX-License-Identifier: Apache-2.0
 * What a chart's axes do with numbers: a value's place on a linear, logarithmic or asinh axis, and
 * where ticks stand. The script's chart (web/src/scale.ts) follows the same rules. Pure; any
 * thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define CHART_TICKS_MAX 64u

enum chart_scale_kind { CHART_LINEAR, CHART_LOG, CHART_ASINH };

struct chart_scale {
    enum chart_scale_kind kind;
    double threshold; /* of CHART_ASINH: the size below which it is nearly linear; > 0 */
};

/* Logarithmic where all values are positive (`lowest` is the least of them); where some are not,
 * asinh, which holds zero and the negative ones, too; `smallest` is the least size of a value that
 * is not zero. */
struct chart_scale chart_scale_log(double lowest, double smallest);

double chart_scale_forward(const struct chart_scale *scale, double value);
double chart_scale_back(const struct chart_scale *scale, double place);

struct chart_ticks {
    guint n;
    double at[CHART_TICKS_MAX]; /* values, ascending */
    double step;                /* 0: they are not evenly spaced */
};
/* Between two places (low < high), about `most` of them at most, round in units of `divisor`. */
void chart_scale_ticks(const struct chart_scale *scale, double low, double high, guint most,
                       double divisor, struct chart_ticks *out);

struct chart_moments {
    guint n;
    int64_t at_s[CHART_TICKS_MAX];
    bool has_hours; /* a day alone does not tell them apart */
};
/* Round moments between two (seconds since 1970): hours, days, weeks, or the first of every so
 * manieth month; at most `most` or one more. */
void chart_scale_moments(double low_s, double high_s, guint most, struct chart_moments *out);
