/* SPDX-License-Identifier: Apache-2.0
 * Handing over, waiting, timing, counting. Main thread. */
#include "runner/benches/warm_round.h"
#include "runner/benches/bench_task.h"
#include "runner/benches/observe.h"
#include "runner/machine/cpus.h"
#include "runner/sample/stopwatch.h"
#include "runner/sample/tally.h"

uint32_t warm_round_width(const struct bench_case *cell)
{
    struct cpus cpus;
    cpus_read("", &cpus);
    return cell->threads ? cell->threads : cpus.effective > 0 ? cpus.effective : 1;
}

int warm_round_submit(const struct warm_round *round, uint64_t first, uint64_t end)
{
    const struct executor_ops *ops = round->session.ops;
    executor_task_fn task = bench_task_function();
    int failure = 0;
    for (uint64_t i = first; i < end && !failure; i++) {
        failure = ops->submit(round->session.self, task, bench_task_argument(i));
    }
    return failure;
}

bool warm_round_open(struct warm_round *round, const struct bench *bench,
                     const struct bench_case *cell, uint64_t items, GError **error)
{
    if (!bench_case_check(bench, cell, error) || !session_prepare(&round->session, cell, error)) {
        return false;
    }
    const struct workload *workload = bench_task_prepare(cell->task_cost);
    round->n_tasks = items;
    round->passes_per_task = workload->passes;
    round->total_passes = items * workload->passes;
    round->width = warm_round_width(cell);
    return session_open(&round->session, error);
}

struct loop {
    struct warm_round *round;
    uint64_t iterations;
    struct bench_timing *timing;
    GError *problem;
};

static bool loop_once(struct loop *loop)
{
    struct warm_round *round = loop->round;
    const struct executor_ops *ops = round->session.ops;
    uint64_t unused_ns = 0;
    struct stopwatch watch;
    tally_begin();
    stopwatch_start(&watch);
    int submit_failure = round->hand_over(round, loop->timing);
    observe_waiting(true);
    int wait_failure = ops->wait_all(round->session.self);
    observe_waiting(false);
    if (round->times_itself) {
        stopwatch_stop(&watch, &unused_ns, &loop->timing->cpu_ns);
    } else {
        stopwatch_stop(&watch, &loop->timing->wall_ns, &loop->timing->cpu_ns);
    }
    if (submit_failure || wait_failure) {
        return session_fail(ops, submit_failure ? "submit" : "wait_all",
                            submit_failure ? submit_failure : wait_failure, &loop->problem);
    }
    const struct tally tally = tally_end();
    loop->timing->items += tally.tasks;
    loop->timing->iterations++;
    return tally_check_total(&tally, round->n_tasks, round->total_passes, &loop->problem);
}

static void loop_run(void *context)
{
    struct loop *loop = context;
    for (uint64_t i = 0; i < loop->iterations && loop_once(loop); i++) {
    }
}

bool warm_round_iterate(struct warm_round *round, uint64_t iterations, struct bench_timing *timing,
                        GError **error)
{
    struct loop loop = {.round = round, .iterations = iterations, .timing = timing};
    if (!session_run(&round->session, loop_run, &loop, error)) {
        g_clear_error(&loop.problem);
        return false;
    }
    if (loop.problem) {
        g_propagate_error(error, loop.problem);
        return false;
    }
    return true;
}

void warm_round_close(struct warm_round *round)
{
    session_close(&round->session);
}
