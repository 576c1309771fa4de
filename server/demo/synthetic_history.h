/* SPDX-License-Identifier: Apache-2.0
 * Benchmark histories with known truth: planted steps and ramps under noise of known kinds, the
 * same for a seed on every machine; the demonstration shows them, and tests judge by them. Pure. On
 * the scale of logarithms a commit's value is level + between
 * + the median of its samples' own deviations; half of the variance lies between commits and half
 * within a commit. */
#pragma once

#include <glib.h>

enum synthetic_noise {
    SYNTHETIC_NORMAL,
    SYNTHETIC_SPIKY,      /* 3 % of the commits are slower by up to several times the noise */
    SYNTHETIC_HEAVY,      /* tails of Student's t with 3 degrees of freedom */
    SYNTHETIC_BIMODAL,    /* 30 % of the commits in a mode that is slower by 4 deviations */
    SYNTHETIC_DRIFT,      /* on top, a random walk of about 3 % over 400 commits */
    SYNTHETIC_CORRELATED, /* between commits an autoregression with coefficient 0.5 */
    SYNTHETIC_N_NOISES
};

#define SYNTHETIC_MOVES_MAX 8u

struct synthetic_move {
    guint at;     /* the first commit at the new level, or of the ramp */
    guint length; /* 0 or 1: a step; else the commits of the ramp */
    double ratio; /* +0.1: the values rise by 10 % */
};

struct synthetic_plan {
    guint64 seed;
    enum synthetic_noise noise;
    double deviation; /* of one sample, relative */
    guint n_samples;  /* of a commit, 1 to 32 */
    struct synthetic_move moves[SYNTHETIC_MOVES_MAX];
    guint n_moves;
};

/* The commits of a plan one after the other. */
struct synthetic_stream {
    struct synthetic_plan plan;
    guint64 state;
    double wave, walk; /* of the noise that remembers */
    guint commit;      /* the next one */
};

#define SYNTHETIC_LEVEL       1000.0 /* before the first move */
#define SYNTHETIC_SAMPLES_MAX 32u

void synthetic_stream_start(struct synthetic_stream *stream, const struct synthetic_plan *plan);

/* Writes the logarithms of the next commit's samples in the order measured: as many as it returns,
 * plan.n_samples. */
guint synthetic_stream_next(struct synthetic_stream *stream, double samples[SYNTHETIC_SAMPLES_MAX]);

/* Writes the commits' medians, about SYNTHETIC_LEVEL in level before the first move. */
void synthetic_history(const struct synthetic_plan *plan, double *values, guint n_values);

/* A number in [0, 1), from a state of the caller's. */
double synthetic_uniform(guint64 *state);
double synthetic_normal(guint64 *state);
