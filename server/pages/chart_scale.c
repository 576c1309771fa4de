/* SPDX-License-Identifier: Apache-2.0
 * See chart_scale.h. Pure; any thread. */
#include "server/pages/chart_scale.h"

#include "server/pages/quantity.h"

#include <math.h>

#define HOUR_S  3600.0
#define DAY_S   (24 * HOUR_S)
#define MONTH_S (30.4 * DAY_S)

#define DECADES_MIN 3u

struct chart_scale chart_scale_log(double lowest, double smallest)
{
    if (lowest > 0)
        return (struct chart_scale){CHART_LOG, 0};
    return (struct chart_scale){CHART_ASINH, smallest > 0 && isfinite(smallest) ? smallest : 1};
}

double chart_scale_forward(const struct chart_scale *scale, double value)
{
    switch (scale->kind) {
    case CHART_LOG:
        return log10(value);
    case CHART_ASINH:
        return asinh(value / scale->threshold);
    case CHART_LINEAR:
        break;
    }
    return value;
}

double chart_scale_back(const struct chart_scale *scale, double place)
{
    switch (scale->kind) {
    case CHART_LOG:
        return pow(10, place);
    case CHART_ASINH:
        return sinh(place) * scale->threshold;
    case CHART_LINEAR:
        break;
    }
    return place;
}

/* ---- Ticks ----------------------------------------------------------------------------------- */

struct bounds {
    double low, high; /* in shown units */
};

static void take(struct chart_ticks *out, const struct bounds *bounds, double value)
{
    double slack_low = fabs(bounds->low) * 1e-9, slack_high = fabs(bounds->high) * 1e-9;
    if (value >= bounds->low - slack_low && value <= bounds->high + slack_high) {
        if (out->n < CHART_TICKS_MAX)
            out->at[out->n] = value;
        out->n++;
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Factors of every `stride`th power of ten from `least` on, both signs and zero where `least` is a
 * threshold. */
static void take_decades(struct chart_ticks *out, const struct bounds *bounds, double least,
                         bool is_signed, guint stride)
{
    static const double factors[] = {1, 2, 5};
    guint n_factors = stride == 0 ? 3 : 1;
    double biggest = fmax(fabs(bounds->low), fabs(bounds->high));
    double first = floor(log10(least)), last = ceil(log10(biggest));
    out->n = 0;
    if (is_signed)
        take(out, bounds, 0);
    /* NOLINTNEXTLINE(cert-flp30-c): whole numbers, at most some hundred */
    for (double k = first; k <= last; k += MAX(stride, 1)) {
        for (guint i = 0; i < n_factors; i++) {
            double value = factors[i] * pow(10, k);
            take(out, bounds, value);
            if (is_signed)
                take(out, bounds, -value);
        }
    }
    if (out->n <= CHART_TICKS_MAX)
        qsort(out->at, out->n, sizeof out->at[0], compare_doubles);
}

/* False where decades give too few to read by, or cannot be told. */
static bool decades(const struct chart_scale *scale, const struct bounds *bounds, guint most,
                    double divisor, struct chart_ticks *out)
{
    static const guint strides[] = {0, 1, 2, 5, 10, 50, 100}; /* 0: with twos and fives */
    bool is_signed = scale->kind == CHART_ASINH;
    double least = is_signed ? scale->threshold / divisor : bounds->low;
    if (!(least > 0) || !isfinite(bounds->low) || !isfinite(bounds->high))
        return false;
    out->step = 0;
    for (guint i = 0; i < G_N_ELEMENTS(strides); i++) {
        take_decades(out, bounds, least, is_signed, strides[i]);
        if (out->n <= most)
            return out->n >= DECADES_MIN;
    }
    return false;
}

void chart_scale_ticks(const struct chart_scale *scale, double low, double high, guint most,
                       double divisor, struct chart_ticks *out)
{
    const struct bounds bounds = {chart_scale_back(scale, low) / divisor,
                                  chart_scale_back(scale, high) / divisor};
    bool found = scale->kind != CHART_LINEAR && decades(scale, &bounds, most, divisor, out);
    if (!found) {
        double step = quantity_step(bounds.low, bounds.high, most);
        double first = ceil(bounds.low / step - 1e-9);
        out->n = 0;
        out->step = step * divisor;
        for (guint i = 0; i < CHART_TICKS_MAX; i++) {
            double value = (first + i) * step;
            if (value > bounds.high * (1 + 1e-12) && value > bounds.high)
                break;
            out->at[out->n++] = fabs(value) < step / 1e6 ? 0 : value;
        }
    }
    for (guint i = 0; i < out->n; i++)
        out->at[i] *= divisor;
}

/* ---- Moments --------------------------------------------------------------------------------- */

static void take_months(double low_s, double high_s, gint months, struct chart_moments *out)
{
    g_autoptr(GDateTime) low = g_date_time_new_from_unix_utc((gint64)low_s);
    if (!low)
        return;
    gint month = g_date_time_get_month(low); /* the next first of a month that counts */
    gint ahead = (month + months - 1) / months * months + 1 - month;
    g_autoptr(GDateTime) first = g_date_time_new_utc(g_date_time_get_year(low), month, 1, 0, 0, 0);
    for (gint i = 0; first && i < (gint)CHART_TICKS_MAX; i++) {
        g_autoptr(GDateTime) at = g_date_time_add_months(first, ahead + i * months);
        gint64 at_s = at ? g_date_time_to_unix(at) : 0;
        if (!at || (double)at_s > high_s)
            break;
        out->at_s[out->n++] = at_s;
    }
}

void chart_scale_moments(double low_s, double high_s, guint most, struct chart_moments *out)
{
    static const double steps[] = {HOUR_S, 6 * HOUR_S, DAY_S, 2 * DAY_S, 7 * DAY_S, 14 * DAY_S};
    double span = fmax(1, high_s - low_s);
    most = CLAMP(most, 1, CHART_TICKS_MAX - 2);
    out->n = 0;
    out->has_hours = false;
    for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
        if (span / steps[i] > most)
            continue;
        out->has_hours = steps[i] < DAY_S;
        /* NOLINTNEXTLINE(cert-flp30-c): whole seconds below 2^53, at most `most` */
        for (double at = ceil(low_s / steps[i]) * steps[i]; at <= high_s; at += steps[i])
            if (out->n < CHART_TICKS_MAX)
                out->at_s[out->n++] = (int64_t)at;
        return;
    }
    gint months = 1;
    while (span / (MONTH_S * months) > most && months < 12000)
        months *= months == 1 ? 3 : 2;
    take_months(low_s, high_s, months, out);
}
