/* SPDX-License-Identifier: Apache-2.0
 * Passes over task costs. Runs in the measuring thread, tasks in the executor's. */
#include "runner/benches/break_even_scan.h"
#include "runner/benches/bench_task.h"
#include "runner/measure/median.h"
#include "runner/sample/clock.h"
#include "runner/sample/tally.h"
#include "schema/error.h"
#include <string.h>

#define WORK_NS     200000u  /* what the plain calls of a pass should last */
#define BURST_NS    2000000u /* and its burst */
#define REPLY_NS    500000u  /* and its replies */
#define FIRST_TASKS 64u      /* in the pass that tells how many these are */
#define TASKS_MIN   16u
#define TASKS_MAX   40000u
#define REPLIES_MIN 3u
#define REPLIES_MAX 25u
#define TASKS_A_WAY 4u /* at least, for each thread */

struct pass {
    struct break_even_scan *scan;
    struct break_even_size *size;
    size_t index; /* of the pass */
    int submit_failure, wait_failure;
};

void break_even_scan_add(struct break_even_scan *scan, uint64_t task_cost)
{
    size_t place = 0;
    while (place < scan->n_sizes && scan->sizes[place].task_cost < task_cost) {
        place++;
    }
    bool is_there = place < scan->n_sizes && scan->sizes[place].task_cost == task_cost;
    if (is_there || scan->n_sizes == BREAK_EVEN_SIZES_MAX) {
        return;
    }
    memmove(&scan->sizes[place + 1], &scan->sizes[place],
            (scan->n_sizes - place) * sizeof scan->sizes[0]);
    scan->sizes[place] = (struct break_even_size){.task_cost = task_cost};
    scan->n_sizes++;
}

static double measure_work(const struct pass *pass)
{
    executor_task_fn task = bench_task_function();
    uint64_t start_ns = clock_wall_ns();
    for (uint64_t i = 0; i < pass->size->calls; i++) {
        task(bench_task_argument(i));
    }
    return (double)(clock_wall_ns() - start_ns) / (double)pass->size->calls;
}

static double measure_burst(struct pass *pass)
{
    const struct executor_ops *ops = pass->scan->session->ops;
    void *self = pass->scan->session->self;
    executor_task_fn task = bench_task_function();
    uint64_t start_ns = clock_wall_ns();
    for (uint64_t i = 0; i < pass->size->tasks && !pass->submit_failure; i++) {
        pass->submit_failure = ops->submit(self, task, bench_task_argument(i));
    }
    pass->wait_failure = ops->wait_all(self);
    return (double)(clock_wall_ns() - start_ns) / (double)pass->size->tasks;
}

static void measure_replies(struct pass *pass, double *out_push_ns, double *out_reply_ns)
{
    const struct executor_ops *ops = pass->scan->session->ops;
    void *self = pass->scan->session->self;
    executor_task_fn task = bench_task_function();
    double push_ns[REPLIES_MAX] = {0}, reply_ns[REPLIES_MAX] = {0};
    for (uint32_t i = 0; i < pass->size->replies && !pass->submit_failure; i++) {
        uint64_t start_ns = clock_wall_ns();
        pass->submit_failure = ops->submit(self, task, bench_task_argument(i));
        uint64_t pushed_ns = clock_wall_ns();
        pass->wait_failure = pass->wait_failure ? pass->wait_failure : ops->wait_all(self);
        reply_ns[i] = (double)(clock_wall_ns() - start_ns);
        push_ns[i] = (double)(pushed_ns - start_ns);
    }
    *out_push_ns = median_sorting(push_ns, pass->size->replies);
    *out_reply_ns = median_sorting(reply_ns, pass->size->replies);
}

/* Within the executor's region, where it has one. */
static void pass_body(void *context)
{
    struct pass *pass = context;
    struct break_even_size *size = pass->size;
    size_t index = pass->index;
    size->work_ns[index] = measure_work(pass);
    size->burst_ns[index] = measure_burst(pass);
    if (!pass->submit_failure && !pass->wait_failure) {
        measure_replies(pass, &size->push_ns[index], &size->reply_ns[index]);
    }
}

static uint64_t sum_to(uint64_t n)
{
    return n % 2 ? n * ((n - 1) / 2) : n / 2 * (n - 1);
}

/* Three series of tasks in one tally, each numbered from 0. */
static bool check_tally(const struct break_even_size *size, uint64_t passes_per_task,
                        GError **error)
{
    struct tally tally = tally_end();
    uint64_t tasks = size->calls + size->tasks + size->replies;
    uint64_t numbers = sum_to(size->calls) + sum_to(size->tasks) + sum_to(size->replies);
    bool is_right = tally.tasks == tasks && tally.number_sum == numbers &&
                    tally.passes == tasks * passes_per_task;
    if (!is_right) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "%" G_GUINT64_FORMAT " tasks were due, %" G_GUINT64_FORMAT
                    " ran: the executor lost some or ran some twice",
                    tasks, tally.tasks);
    }
    return is_right;
}

static bool measure_size(struct break_even_scan *scan, struct break_even_size *size, size_t index,
                         GError **error)
{
    struct pass pass = {.scan = scan, .size = size, .index = index};
    uint64_t passes_per_task = bench_task_prepare(size->task_cost)->passes;
    tally_begin();
    if (!session_run(scan->session, pass_body, &pass, error)) {
        return false;
    }
    if (pass.submit_failure) {
        return session_fail(scan->session->ops, "submit", pass.submit_failure, error);
    }
    if (pass.wait_failure) {
        return session_fail(scan->session->ops, "wait_all", pass.wait_failure, error);
    }
    return check_tally(size, passes_per_task, error);
}

static uint64_t times_in(double duration_ns, double once_ns, uint64_t min, uint64_t max)
{
    double times = duration_ns / (once_ns > 1 ? once_ns : 1);
    return times >= (double)max ? max : times <= (double)min ? min : (uint64_t)times;
}

/* A first pass with few tasks tells how many are enough. */
static bool set_counts(struct break_even_scan *scan, struct break_even_size *size, GError **error)
{
    uint64_t least = (uint64_t)scan->session->config.threads * TASKS_A_WAY;
    size->calls = TASKS_MIN;
    size->tasks = FIRST_TASKS;
    size->replies = REPLIES_MIN;
    if (!measure_size(scan, size, 0, error)) {
        return false;
    }
    size->calls = times_in(WORK_NS, size->work_ns[0], 1, TASKS_MAX);
    size->tasks = times_in(BURST_NS, size->burst_ns[0], MAX(least, TASKS_MIN), TASKS_MAX);
    size->replies = (uint32_t)times_in(REPLY_NS, size->reply_ns[0], REPLIES_MIN, REPLIES_MAX);
    return true;
}

static size_t draw(struct break_even_scan *scan, size_t n)
{
    scan->random = scan->random * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(scan->random >> 33) % n;
}

static void shuffle(struct break_even_scan *scan, size_t *order, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = draw(scan, i);
        size_t swapped = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swapped;
    }
}

bool break_even_scan_run(struct break_even_scan *scan, GError **error)
{
    size_t order[BREAK_EVEN_SIZES_MAX], n = 0;
    for (size_t i = 0; i < scan->n_sizes; i++) {
        if (scan->sizes[i].tasks == 0) {
            order[n++] = i;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (!set_counts(scan, &scan->sizes[order[i]], error)) {
            return false;
        }
    }
    for (size_t pass = 0; pass < scan->n_passes; pass++) {
        shuffle(scan, order, n);
        for (size_t i = 0; i < n; i++) {
            if (!measure_size(scan, &scan->sizes[order[i]], pass, error)) {
                return false;
            }
        }
    }
    return true;
}
