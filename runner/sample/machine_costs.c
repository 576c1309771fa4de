/* SPDX-License-Identifier: Apache-2.0
 * Timing of clocks, system calls, hand-offs, wake-ups and threads. Every loop is bounded by its
 * count; a thread that waits for another gives up its CPU. Main thread. */
#include "runner/sample/machine_costs.h"
#include "runner/measure/median.h"
#include "runner/sample/clock.h"
#include "runner/sample/probe.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_READINGS   20000u
#define PROCESS_READINGS 2000u
#define STEP_READINGS    5000u
#define CALL_CHUNKS      20u
#define CALLS_PER_CHUNK  500u
#define WAKES            101u
#define WAKE_REST_NS     100000 /* until the sleeper surely sleeps */
#define THREADS          51u
#define CACHE_LINE_BYTES 64

static double clock_step_ns(void)
{
    uint64_t least = UINT64_MAX, before = clock_wall_ns();
    for (unsigned i = 0; i < STEP_READINGS; i++) {
        uint64_t now = clock_wall_ns();
        if (now > before && now - before < least) {
            least = now - before;
        }
        before = now;
    }
    return least == UINT64_MAX ? 0 : (double)least;
}

static double null_syscall_ns(void)
{
    double chunks[CALL_CHUNKS];
    for (unsigned chunk = 0; chunk < CALL_CHUNKS; chunk++) {
        uint64_t start_ns = clock_wall_ns();
        for (unsigned i = 0; i < CALLS_PER_CHUNK; i++) {
            syscall(SYS_getppid);
        }
        chunks[chunk] = (double)(clock_wall_ns() - start_ns) / CALLS_PER_CHUNK;
    }
    return median_sorting(chunks, CALL_CHUNKS);
}

static void take_pairs(const cpu_set_t *allowed, struct machine_costs *out)
{
    size_t cpus[MACHINE_COSTS_CPUS_MAX], n = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && n < MACHINE_COSTS_CPUS_MAX; cpu++) {
        if (CPU_ISSET(cpu, allowed)) {
            cpus[n++] = cpu;
        }
    }
    for (size_t a = 0; a < n; a++) {
        for (size_t b = a + 1; b < n; b++) {
            struct machine_pair *pair = &out->pairs[out->n_pairs++];
            pair->first_cpu = cpus[a];
            pair->second_cpu = cpus[b];
            pair->has_handoff = probe_handoff(cpus[a], cpus[b], &pair->handoff_ns);
        }
    }
}

/* Wake-ups. */

struct alarm_clock {
    _Alignas(CACHE_LINE_BYTES) _Atomic uint32_t turn; /* the futex */
    _Alignas(CACHE_LINE_BYTES) atomic_uint done;
    uint64_t woke_ns[WAKES];
};

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void *sleeper_main(void *argument)
{
    struct alarm_clock *alarm = argument;
    for (uint32_t i = 0; i < WAKES; i++) {
        while (atomic_load_explicit(&alarm->turn, memory_order_acquire) <= i) {
            futex(&alarm->turn, FUTEX_WAIT, i);
        }
        alarm->woke_ns[i] = clock_wall_ns();
        atomic_store_explicit(&alarm->done, i + 1, memory_order_release);
    }
    return NULL;
}

static bool pin_thread(pthread_t thread, size_t cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return pthread_setaffinity_np(thread, sizeof one, &one) == 0;
}

static bool wake_ns(size_t waker_cpu, size_t sleeper_cpu, double *out_ns)
{
    struct alarm_clock alarm = {0};
    double waits[WAKES];
    cpu_set_t allowed;
    pthread_t sleeper;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 ||
        pthread_create(&sleeper, NULL, sleeper_main, &alarm) != 0) {
        return false;
    }
    bool pinned = pin_thread(sleeper, sleeper_cpu) && pin_thread(pthread_self(), waker_cpu);
    for (uint32_t i = 0; i < WAKES; i++) {
        const struct timespec rest = {.tv_nsec = WAKE_REST_NS};
        nanosleep(&rest, NULL);
        uint64_t start_ns = clock_wall_ns();
        atomic_store_explicit(&alarm.turn, i + 1, memory_order_release);
        futex(&alarm.turn, FUTEX_WAKE, 1);
        while (atomic_load_explicit(&alarm.done, memory_order_acquire) <= i) {
            sched_yield(); /* on the same CPU the sleeper needs it */
        }
        waits[i] = (double)(alarm.woke_ns[i] - start_ns);
    }
    pthread_join(sleeper, NULL);
    pthread_setaffinity_np(pthread_self(), sizeof allowed, &allowed);
    *out_ns = median_sorting(waits, WAKES);
    return pinned;
}

static void *note_now(void *argument)
{
    uint64_t *at_ns = argument;
    *at_ns = clock_wall_ns();
    return NULL;
}

static bool thread_create_ns(double *out_ns)
{
    double waits[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_t thread;
        uint64_t runs_ns = 0, start_ns = clock_wall_ns();
        if (pthread_create(&thread, NULL, note_now, &runs_ns) != 0) {
            return false;
        }
        pthread_join(thread, NULL);
        waits[i] = (double)(runs_ns - start_ns);
    }
    *out_ns = median_sorting(waits, THREADS);
    return true;
}

void machine_costs_measure(struct machine_costs *out)
{
    cpu_set_t allowed;
    *out = (struct machine_costs){
        .clock_cost_ns = clock_wall_cost_ns(CLOCK_READINGS),
        .process_clock_cost_ns = clock_process_cpu_cost_ns(PROCESS_READINGS),
        .clock_resolution_ns = clock_step_ns(),
        .null_syscall_ns = null_syscall_ns(),
    };
    out->has_thread = thread_create_ns(&out->thread_create_ns);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;
    }
    out->n_cpus = (size_t)CPU_COUNT(&allowed);
    take_pairs(&allowed, out);
    size_t first = 0;
    while (first + 1 < CPU_SETSIZE && !CPU_ISSET(first, &allowed)) {
        first++;
    }
    out->has_wake_same_cpu = wake_ns(first, first, &out->wake_same_cpu_ns);
    out->has_wake_cross_cpu =
        out->n_pairs > 0 &&
        wake_ns(out->pairs[0].first_cpu, out->pairs[0].second_cpu, &out->wake_cross_cpu_ns);
}
