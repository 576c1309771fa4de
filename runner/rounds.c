/* SPDX-License-Identifier: Apache-2.0
 * The loop over rounds and cells, and the putting together of what they gave. It knows no terminal
 * and no document. Main thread. */
#include "runner/rounds.h"

#include "runner/cell_document.h"
#include "runner/disturbance.h"
#include "runner/result_merge.h"
#include <string.h>

#define AGAIN_SHARE 4u /* one of so many cells and rounds may be measured again */

struct cell_state {
    struct run_result *result; /* NULL before its first round */
    uint64_t iterations;       /* 0: not calibrated */
};

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

void rounds_order(uint64_t seed, guint round, guint *out_order, guint n)
{
    uint64_t state = seed + round;
    state = next_random(&state);
    for (guint i = 0; i < n; i++)
        out_order[i] = i;
    for (guint i = n; i > 1; i--) {
        guint j = (guint)(next_random(&state) % i);
        guint swapped = out_order[i - 1];
        out_order[i - 1] = out_order[j];
        out_order[j] = swapped;
    }
}

static void take_part(struct cell_state *state, struct run_result *part)
{
    if (!state->result) {
        state->result = part;
        return;
    }
    struct run_result *whole = state->result;
    if (part->error)
        whole->error = g_strdup(part->error);
    else if (!result_merge(whole, part))
        whole->error = g_strdup(
            "a later round gave other metrics than the first; this is an error of the benchmark");
    run_result_free(part);
}

static struct run_result *not_started(const struct cell *cell, const GError *problem)
{
    struct run_result *result = cell_result_new(cell->bench, &cell->values);
    result->error = g_strdup_printf("not measured: %s", problem ? problem->message : "no process");
    return result;
}

static void measure_cell(const Plan *plan, guint index, struct cell_state *state,
                         const struct rounds_watch *watch)
{
    struct cell_request request = {
        .iterations = state->iterations,
        .samples = plan->samples,
        .sample_ms = plan->sample_ms,
        .timeout_seconds = plan->timeout_seconds,
    };
    const struct cell *cell = &g_array_index(plan->cells, struct cell, index);
    g_autoptr(GError) problem = NULL;
    struct run_result *part = watch->measure(cell, &request, &state->iterations, &problem);
    if (!part)
        part = not_started(cell, problem);
    if (watch->stopped())
        run_result_free(part); /* killed on the way: not the cell's fault */
    else
        take_part(state, part);
}

/* What is the same for all rounds. */
struct measuring {
    const Plan *plan;
    const struct rounds_watch *watch;
    struct cell_state *states;
    struct run_result **results; /* those of the states, for looking at all of them */
    double begin_s;
    guint n_again; /* that were measured again because they were disturbed */
};

static bool wants_again(const struct measuring *run, guint index)
{
    const Plan *plan = run->plan;
    const struct run_result *result = run->results[index];
    double elapsed_s = run->watch->now_s() - run->begin_s;
    if (!result || result->error || run->watch->stopped() ||
        run->n_again >= plan->cells->len * plan->rounds / AGAIN_SHARE ||
        (plan->budget_seconds > 0 && elapsed_s > plan->budget_seconds))
        return false;
    double usual_ns = disturbance_usual_handoff(run->results, plan->cells->len, result);
    return disturbance_in_last(result, plan->samples, usual_ns);
}

static void measure_until_calm(struct measuring *run, guint index)
{
    struct cell_state *state = &run->states[index];
    measure_cell(run->plan, index, state, run->watch);
    run->results[index] = state->result;
    for (guint again = 0; again < run->plan->retries && wants_again(run, index); again++) {
        measure_cell(run->plan, index, state, run->watch);
        run->n_again++;
    }
}

static void run_round(struct measuring *run, guint round, const guint *order)
{
    const Plan *plan = run->plan;
    const struct rounds_watch *watch = run->watch;
    double begin_s = watch->now_s();
    guint n = plan->cells->len;
    for (guint i = 0; i < n && !watch->stopped(); i++) {
        const struct cell_state *state = &run->states[order[i]];
        if (state->result && state->result->error)
            continue;
        const struct cell *cell = &g_array_index(plan->cells, struct cell, order[i]);
        g_autofree char *name = bench_case_name(cell->bench, &cell->values);
        watch->cell_begins(round, i + 1, name, watch->user);
        measure_until_calm(run, order[i]);
    }
    if (!watch->stopped())
        watch->round_done(round, watch->now_s() - begin_s, watch->user);
}

/* A further round is begun where the plan asks for it, or where the budget is likely to hold one as
 * long as those before it. */
static bool wants_round(const Plan *plan, guint done, double elapsed_s)
{
    if (done < plan->rounds)
        return true;
    if (plan->budget_seconds == 0 || done >= PLAN_ROUNDS_MAX ||
        (done + 1) * plan->samples > RUN_SAMPLES_MAX)
        return false;
    return elapsed_s + elapsed_s / done <= plan->budget_seconds;
}

static bool all_failed(const struct cell_state *states, guint n)
{
    for (guint i = 0; i < n; i++)
        if (!states[i].result || !states[i].result->error)
            return false;
    return true;
}

void rounds_run(const Plan *plan, uint64_t seed, const struct rounds_watch *watch,
                struct rounds_outcome *out_outcome)
{
    guint n = plan->cells->len;
    g_autofree struct cell_state *states = g_new0(struct cell_state, n);
    g_autofree guint *order = g_new(guint, n);
    double begin_s = watch->now_s();
    g_autofree struct run_result **results = g_new0(struct run_result *, n);
    struct measuring run = {
        .plan = plan, .watch = watch, .states = states, .results = results, .begin_s = begin_s};
    *out_outcome = (struct rounds_outcome){0};
    while (!watch->stopped() && !all_failed(states, n) &&
           wants_round(plan, out_outcome->rounds, watch->now_s() - begin_s)) {
        rounds_order(seed, out_outcome->rounds, order, n);
        run_round(&run, out_outcome->rounds + 1, order);
        out_outcome->rounds++;
    }
    out_outcome->stopped = watch->stopped();
    out_outcome->n_again = run.n_again;
    out_outcome->results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    for (guint i = 0; i < n; i++) {
        if (!states[i].result)
            continue;
        g_ptr_array_add(out_outcome->results, states[i].result);
        out_outcome->n_errors += states[i].result->error != NULL;
    }
    disturbance_mark(out_outcome->results);
}

void rounds_outcome_clear(struct rounds_outcome *outcome)
{
    g_clear_pointer(&outcome->results, g_ptr_array_unref);
}
