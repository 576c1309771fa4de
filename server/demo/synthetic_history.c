/* SPDX-License-Identifier: Apache-2.0
 * See synthetic_history.h: splitmix64 (Steele, Lea & Flood, OOPSLA 2014), normal numbers
 * by Box and Muller. */
#include "server/demo/synthetic_history.h"

#include <math.h>
#include <stdlib.h>

double synthetic_uniform(guint64 *state)
{
    *state += 0x9E3779B97F4A7C15u;
    guint64 bits = *state;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    bits ^= bits >> 31;
    return (double)(bits >> 11) * 0x1p-53;
}

double synthetic_normal(guint64 *state)
{
    double radius = sqrt(-2 * log(1 - synthetic_uniform(state)));
    return radius * cos(2 * G_PI * synthetic_uniform(state));
}

static double heavy(guint64 *state)
{
    double squares = 0, top = synthetic_normal(state);
    for (int i = 0; i < 3; i++) {
        double value = synthetic_normal(state);
        squares += value * value;
    }
    return top / sqrt(squares / 3) / sqrt(3.0);
}

static double level_at(const struct synthetic_plan *plan, guint commit)
{
    double level = log(SYNTHETIC_LEVEL);
    for (guint i = 0; i < plan->n_moves; i++) {
        const struct synthetic_move *move = &plan->moves[i];
        guint length = MAX(move->length, 1u);
        if (commit < move->at)
            continue;
        guint done = MIN(commit - move->at + 1, length);
        level += log1p(move->ratio) * done / length;
    }
    return level;
}

static double between(struct synthetic_stream *stream)
{
    const struct synthetic_plan *plan = &stream->plan;
    double half = plan->deviation / sqrt(2.0), draw = synthetic_normal(&stream->state);
    switch (plan->noise) {
    case SYNTHETIC_HEAVY:
        return half * heavy(&stream->state);
    case SYNTHETIC_CORRELATED:
        stream->wave = 0.5 * stream->wave + sqrt(0.75) * draw;
        return half * stream->wave;
    case SYNTHETIC_DRIFT:
        stream->walk += 0.0015 * synthetic_normal(&stream->state);
        return half * draw + stream->walk;
    case SYNTHETIC_BIMODAL:
        return half * draw + (synthetic_uniform(&stream->state) < 0.3 ? 4 * plan->deviation : 0);
    case SYNTHETIC_SPIKY:
        if (synthetic_uniform(&stream->state) < 0.03)
            draw += 10 + 20 * synthetic_uniform(&stream->state);
        return half * draw;
    case SYNTHETIC_NORMAL:
    case SYNTHETIC_N_NOISES:
        break;
    }
    return half * draw;
}

static int compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

void synthetic_stream_start(struct synthetic_stream *stream, const struct synthetic_plan *plan)
{
    *stream =
        (struct synthetic_stream){.plan = *plan, .state = plan->seed * 0xD1342543DE82EF95u + 1};
    stream->plan.n_samples = CLAMP(plan->n_samples, 1u, SYNTHETIC_SAMPLES_MAX);
}

guint synthetic_stream_next(struct synthetic_stream *stream, double samples[SYNTHETIC_SAMPLES_MAX])
{
    const struct synthetic_plan *plan = &stream->plan;
    double middle = level_at(plan, stream->commit++) + between(stream);
    for (guint i = 0; i < plan->n_samples; i++) {
        double own = plan->noise == SYNTHETIC_HEAVY ? heavy(&stream->state)
                                                    : synthetic_normal(&stream->state);
        samples[i] = middle + plan->deviation / sqrt(2.0) * own;
    }
    return plan->n_samples;
}

void synthetic_history(const struct synthetic_plan *plan, double *values, guint n_values)
{
    struct synthetic_stream stream;
    synthetic_stream_start(&stream, plan);
    for (guint commit = 0; commit < n_values; commit++) {
        double samples[SYNTHETIC_SAMPLES_MAX];
        guint n = synthetic_stream_next(&stream, samples);
        qsort(samples, n, sizeof samples[0], compare_numbers);
        values[commit] = exp(samples[(n - 1) / 2] / 2 + samples[n / 2] / 2);
    }
}
