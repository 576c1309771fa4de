/* SPDX-License-Identifier: Apache-2.0
 * The probe: a ball that two pinned threads pass to each other through one cache line, and a fixed
 * loop. Both are medians of short chunks, so that an interruption spoils a chunk and not the
 * answer. Knows no benchmark; no spin here lasts beyond the budget. */
#include "runner/sample/probe.h"
#include "runner/measure/median.h"
#include "runner/sample/clock.h"
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define CACHE_LINE_BYTES      64
#define HANDOFF_CHUNKS        32u
#define HANDOFF_ROUNDS        100u       /* there and back, per chunk: 6 to 60 us */
#define HANDOFF_ENOUGH_CHUNKS 8u         /* will do where more would take longer than … */
#define HANDOFF_SOFT_NS       15000000u  /* … this; and on a busy machine, */
#define HANDOFF_HARD_NS       150000000u /* where the helper waits for its turn, at most this */
#define TURN_STOP             UINT_MAX
#define SPINS_PER_LOOK        1024u /* at the clock */
#define FIXED_LOOP_CALLS      48u
#define REFERENCE_CHUNKS      8u

struct ball {
    _Alignas(CACHE_LINE_BYTES) atomic_uint turn; /* odd: the helper's; even: the prober's */
    _Alignas(CACHE_LINE_BYTES) uint64_t deadline_ns;
};

/* Acquire pairs with the release of the other side's store: that pair is what is timed. */
static bool ball_wait(struct ball *ball, unsigned turn)
{
    for (unsigned spins = 1;; spins++) {
        unsigned now = atomic_load_explicit(&ball->turn, memory_order_acquire);
        if (now == turn || now == TURN_STOP) {
            return now == turn;
        }
        if (spins % SPINS_PER_LOOK == 0 && clock_wall_ns() > ball->deadline_ns) {
            return false;
        }
    }
}

static void *helper_main(void *argument)
{
    struct ball *ball = argument;
    for (unsigned turn = 1; turn < 2 * (HANDOFF_CHUNKS + 1) * HANDOFF_ROUNDS; turn += 2) {
        if (!ball_wait(ball, turn)) {
            break;
        }
        atomic_store_explicit(&ball->turn, turn + 1, memory_order_release);
    }
    return NULL;
}

/* One chunk; false where time ran out. */
static bool handoff_chunk(struct ball *ball, unsigned chunk, double *out_ns)
{
    uint64_t start_ns = clock_wall_ns();
    for (unsigned round = 0; round < HANDOFF_ROUNDS; round++) {
        unsigned turn = 2 * (chunk * HANDOFF_ROUNDS + round) + 1;
        atomic_store_explicit(&ball->turn, turn, memory_order_release);
        if (!ball_wait(ball, turn + 1)) {
            return false;
        }
    }
    *out_ns = (double)(clock_wall_ns() - start_ns) / (2 * HANDOFF_ROUNDS);
    return true;
}

static bool handoff_measure(struct ball *ball, double *out_ns)
{
    double chunks[HANDOFF_CHUNKS];
    size_t n_chunks = 0;
    uint64_t soft_ns = clock_wall_ns() + HANDOFF_SOFT_NS;
    /* Chunk 0 waits for the helper to be there; it is not kept. */
    for (unsigned chunk = 0; chunk <= HANDOFF_CHUNKS; chunk++) {
        double chunk_ns;
        if (n_chunks >= HANDOFF_ENOUGH_CHUNKS && clock_wall_ns() > soft_ns) {
            break;
        }
        if (!handoff_chunk(ball, chunk, &chunk_ns)) {
            break;
        }
        if (chunk > 0) {
            chunks[n_chunks++] = chunk_ns;
        }
    }
    if (n_chunks == 0) {
        return false;
    }
    *out_ns = median_sorting(chunks, n_chunks);
    return true;
}

static size_t next_cpu(const cpu_set_t *set, size_t from)
{
    size_t cpu = from;
    while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, set)) {
        cpu++;
    }
    return cpu;
}

static bool pin_thread(pthread_t thread, size_t cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return pthread_setaffinity_np(thread, sizeof one, &one) == 0;
}

bool probe_handoff(size_t first, size_t second, double *out_ns)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return false;
    }
    struct ball ball = {.deadline_ns = clock_wall_ns() + HANDOFF_HARD_NS};
    atomic_init(&ball.turn, 0);
    pthread_t helper;
    if (pthread_create(&helper, NULL, helper_main, &ball) != 0) {
        return false;
    }
    bool pinned = pin_thread(helper, second) && pin_thread(pthread_self(), first);
    bool measured = pinned && handoff_measure(&ball, out_ns);
    pthread_setaffinity_np(pthread_self(), sizeof allowed, &allowed);
    atomic_store_explicit(&ball.turn, TURN_STOP, memory_order_release);
    pthread_join(helper, NULL);
    return measured;
}

static bool handoff_take(double *out_ns)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
        return false;
    }
    size_t first = next_cpu(&allowed, 0);
    return probe_handoff(first, next_cpu(&allowed, first + 1), out_ns);
}

static double calls_ns(const struct workload *workload, uint64_t calls)
{
    uint64_t start_ns = clock_wall_ns();
    for (uint64_t i = 0; i < calls; i++) {
        workload_run(workload);
    }
    return (double)(clock_wall_ns() - start_ns) / (double)calls;
}

void probe_take(struct probe *out)
{
    struct workload fixed;
    workload_init(&fixed, PROBE_FIXED_TASK_COST);
    double calls[FIXED_LOOP_CALLS];
    for (unsigned i = 0; i < FIXED_LOOP_CALLS; i++) {
        calls[i] = calls_ns(&fixed, 1);
    }
    out->fixed_loop_ns = median_sorting(calls, FIXED_LOOP_CALLS);
    out->has_handoff = handoff_take(&out->handoff_ns);
}

double probe_reference_ns(const struct workload *workload, uint64_t duration_ns)
{
    double chunks[REFERENCE_CHUNKS];
    double call_ns = calls_ns(workload, 1);
    double wanted = (double)duration_ns / REFERENCE_CHUNKS / (call_ns > 1 ? call_ns : 1);
    uint64_t calls = wanted > 1 ? (uint64_t)wanted : 1;
    for (unsigned i = 0; i < REFERENCE_CHUNKS; i++) {
        chunks[i] = calls_ns(workload, calls);
    }
    return median_sorting(chunks, REFERENCE_CHUNKS);
}
