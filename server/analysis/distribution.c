/* SPDX-License-Identifier: Apache-2.0
 * Tail probabilities by their textbook series. Knows only numbers; pure; any thread. */
#include "server/analysis/distribution.h"

#include <float.h>
#include <math.h>

#define FRACTION_STEPS_MAX  300
#define QUANTILE_HALVINGS   200
#define QUANTILE_RATIO_STOP 1e-12

static double away_from_zero(double value)
{
    return fabs(value) < DBL_MIN ? DBL_MIN : value;
}

static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), h = d;
    for (int step = 1; step <= FRACTION_STEPS_MAX; step++) {
        double m = step;
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        h *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        h *= d * c;
        if (fabs(d * c - 1) < DBL_EPSILON)
            break;
    }
    return h;
}

/* ln Γ without the global sign that lgamma() writes. */
static double log_gamma(double value)
{
    int sign;
    return lgamma_r(value, &sign);
}

static double beta_regularised(double a, double b, double x)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double distribution_t_two_sided(double t, double freedom)
{
    if (isnan(t))
        return 1;
    return beta_regularised(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double distribution_t_quantile(double p, double freedom)
{
    if (p >= 1)
        return 0;
    double low = 0, high = 1;
    for (int i = 0; i < QUANTILE_HALVINGS && distribution_t_two_sided(high, freedom) > p; i++) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < QUANTILE_HALVINGS && high - low > QUANTILE_RATIO_STOP * high; i++) {
        double middle = (low + high) / 2;
        if (distribution_t_two_sided(middle, freedom) > p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

double distribution_t_95(double freedom)
{
    const double z = 1.959963984540054, square = z * z;
    double v = fmax(freedom, 3);
    double first = z * (square + 1) / 4;
    double second = z * ((5 * square + 16) * square + 3) / 96;
    double third = z * (((3 * square + 19) * square + 17) * square - 15) / 384;
    return z + first / v + second / (v * v) + third / (v * v * v);
}

double distribution_normal_above(double z)
{
    return erfc(z / sqrt(2.0)) / 2;
}

/* 2 / C(n_left + n_right, n_left): both ways in which the sides can lie wholly apart. */
static double p_wholly_apart(guint n_left, guint n_right)
{
    double log_ways = log_gamma((double)n_left + n_right + 1) - log_gamma((double)n_left + 1) -
                      log_gamma((double)n_right + 1);
    return fmin(1, 2 * exp(-log_ways));
}

struct rank_sum {
    double pairs_won; /* pairs in which the left is larger, ties count one half */
    double ties;      /* sum of t^3 - t over groups of t equal values */
};

static struct rank_sum rank_merge(const double *left, guint n_left, const double *right,
                                  guint n_right)
{
    struct rank_sum sum = {0, 0};
    guint i = 0, j = 0;
    while (i < n_left || j < n_right) {
        double value = j >= n_right || (i < n_left && left[i] <= right[j]) ? left[i] : right[j];
        guint i_start = i, j_start = j;
        while (i < n_left && left[i] <= value)
            i++;
        while (j < n_right && right[j] <= value)
            j++;
        double in_left = i - i_start, in_right = j - j_start, tied = in_left + in_right;
        sum.pairs_won += in_left * (j_start + in_right / 2);
        sum.ties += tied * tied * tied - tied;
    }
    return sum;
}

double distribution_rank_two_sided(const double *left, guint n_left, const double *right,
                                   guint n_right)
{
    if (n_left == 0 || n_right == 0)
        return 1;
    if (left[n_left - 1] < right[0] || right[n_right - 1] < left[0])
        return p_wholly_apart(n_left, n_right);
    double n = (double)n_left + n_right, product = (double)n_left * n_right;
    struct rank_sum sum = rank_merge(left, n_left, right, n_right);
    double variance = product / 12 * (n + 1 - sum.ties / (n * (n - 1)));
    if (!(variance > 0))
        return 1;
    double distance = fabs(sum.pairs_won - product / 2) - 0.5;
    double p =
        distance <= 0 ? 1 : fmin(1, 2 * distribution_normal_above(distance / sqrt(variance)));
    return fmax(p, p_wholly_apart(n_left, n_right));
}
