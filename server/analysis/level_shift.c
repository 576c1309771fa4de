/* SPDX-License-Identifier: Apache-2.0
 * The Kalman filter of one state run for all members of the grid at once. Pure; any thread. */
#include "server/analysis/level_shift.h"

#include <math.h>

#define MEMBERS LEVEL_SHIFT_MEMBERS

struct member {
    double phi;
    double drive; /* variance of u's steps, in units of e's variance */
    double start; /* variance of the first u */
    double cost;  /* 2 ln of how much less it is believed beforehand than the first */
};

/* Stationary members: variance of u is 0.5, 1, 4 times that of e. */
#define STATIONARY(phi, share, cost)                                                               \
    {                                                                                              \
        phi, (share) * (1 - (phi) * (phi)), share, cost                                            \
    }
static const struct member grid[MEMBERS] = {
    {0, 0, 0, 0},           STATIONARY(0.5, 0.5, 1),  STATIONARY(0.5, 1, 1),
    STATIONARY(0.5, 4, 1),  STATIONARY(0.8, 0.25, 1), STATIONARY(0.8, 0.5, 1),
    STATIONARY(0.8, 1, 1),  STATIONARY(0.8, 4, 1),    STATIONARY(0.95, 0.25, 1),
    STATIONARY(0.95, 1, 1), {1, 0.001, 0, 1},         {1, 0.003, 0, 1},
    {1, 0.01, 0, 1},        {1, 0.03, 0, 1},          {1, 0.1, 0, 1},
    {1, 0.3, 0, 1},
};

/* Weighted sums over the filter's innovations of the values (y), the constant (c), the step (s). */
struct sums {
    double yy[MEMBERS], yc[MEMBERS], cc[MEMBERS], ys[MEMBERS], cs[MEMBERS], ss[MEMBERS];
    double log_f[MEMBERS];
};

struct filter {
    double y[MEMBERS], c[MEMBERS], s[MEMBERS];
};

void level_shift_prepare(struct level_shift_table *table)
{
    for (guint g = 0; g < MEMBERS; g++) {
        double variance = grid[g].start, logs = 0;
        for (guint i = 0; i < LEVEL_SHIFT_REACH; i++) {
            double f = variance + 1;
            table->weight[i][g] = 1 / f;
            table->gain[i][g] = grid[g].phi * variance / f;
            logs += log(f);
            table->log_f[i][g] = logs;
            variance = table->gain[i][g] * grid[g].phi + grid[g].drive;
        }
    }
}

static void filter_value(struct filter *filter, struct sums *sums, const double *weight,
                         const double *gain, const double value[2])
{
    for (guint g = 0; g < MEMBERS; g++) {
        double vy = value[0] - filter->y[g], vc = 1 - filter->c[g], vs = value[1] - filter->s[g];
        double wy = vy * weight[g], wc = vc * weight[g];
        sums->yy[g] += vy * wy;
        sums->yc[g] += vc * wy;
        sums->ys[g] += vs * wy;
        sums->cc[g] += vc * wc;
        sums->cs[g] += vs * wc;
        sums->ss[g] += vs * vs * weight[g];
        filter->y[g] = grid[g].phi * filter->y[g] + gain[g] * vy;
        filter->c[g] = grid[g].phi * filter->c[g] + gain[g] * vc;
        filter->s[g] = grid[g].phi * filter->s[g] + gain[g] * vs;
    }
}

static void filter_values(const struct level_shift_table *table, struct sums *sums,
                          const double *values, guint n_values, const guint shifted[2])
{
    struct filter filter = {0};
    for (guint i = 0; i < n_values; i++) {
        const double value[2] = {values[i] - values[0], i >= shifted[0] && i < shifted[1] ? 1 : 0};
        filter_value(&filter, sums, table->weight[i], table->gain[i], value);
    }
    for (guint g = 0; g < MEMBERS; g++)
        sums->log_f[g] += table->log_f[n_values - 1][g];
}

/* Adds what a stretch with a level of its own says of the noise: its squares about that level. */
static void add_stretch(const struct level_shift_input *input,
                        const struct level_shift_stretch *stretch, double squares[MEMBERS],
                        double log_f[MEMBERS])
{
    struct sums sums = {0};
    guint n = stretch->end - stretch->start;
    const guint none[2] = {n, n};
    filter_values(input->table, &sums, input->values + stretch->start, n, none);
    for (guint g = 0; g < MEMBERS; g++) {
        squares[g] += sums.yy[g] - sums.yc[g] * sums.yc[g] / sums.cc[g];
        log_f[g] += sums.log_f[g];
    }
}

struct level_shift level_shift_fit(const struct level_shift_input *input)
{
    struct sums sums = {0};
    struct level_shift fit = {0};
    double beside[MEMBERS] = {0};
    const guint shifted[2] = {input->at - input->start,
                              (input->until > 0 ? input->until : input->end) - input->start};
    filter_values(input->table, &sums, input->values + input->start, input->end - input->start,
                  shifted);
    double n = input->end - input->start;
    for (guint i = 0; i < input->n_beside; i++) {
        add_stretch(input, &input->beside[i], beside, sums.log_f);
        n += input->beside[i].end - input->beside[i].start - 1.0;
    }
    double least = n * input->floor * input->floor;
    double best_without = HUGE_VAL, best_with = HUGE_VAL;
    for (guint g = 0; g < MEMBERS; g++) {
        double without = beside[g] + sums.yy[g] - sums.yc[g] * sums.yc[g] / sums.cc[g];
        double s = sums.ss[g] - sums.cs[g] * sums.cs[g] / sums.cc[g];
        double ys = sums.ys[g] - sums.cs[g] * sums.yc[g] / sums.cc[g];
        double with = without - ys * ys / s;
        /* the floor is a scale per value, under this member a value's variance is 1 + start */
        double bound = least / (1 + grid[g].start);
        double cost_without = n * log(fmax(without, bound)) + sums.log_f[g] + grid[g].cost;
        double cost_with = n * log(fmax(with, bound)) + sums.log_f[g] + grid[g].cost;
        best_without = fmin(best_without, cost_without);
        if (cost_with < best_with) {
            best_with = cost_with;
            fit.shift = ys / s;
            fit.error = sqrt(fmax(with, bound) / (n - 2) / s);
            fit.phi = grid[g].phi;
            fit.share = grid[g].phi < 1 ? grid[g].start : grid[g].drive;
        }
    }
    fit.freedom = n - 2;
    fit.ratio = fmax(0, best_without - best_with);
    fit.t = sqrt(fit.freedom * expm1(fit.ratio / n));
    return fit;
}
