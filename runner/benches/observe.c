/* SPDX-License-Identifier: Apache-2.0
 * Counters of an observed pass; see the header for threads. */
#include "runner/benches/observe.h"
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS_MAX 4096u /* further ones share the last counter */

static bool is_on;
static uint32_t n_foreign; /* main thread only */
static pthread_t main_thread;
static atomic_bool main_waits;
static atomic_uint now, peak, claimed, pass, alive_max;
static atomic_uint_least64_t counts[THREADS_MAX], inline_tasks, helped_tasks;
static _Thread_local unsigned own_pass, own_slot;

bool observe_is_on(void)
{
    return is_on;
}

void observe_begin(void)
{
    unsigned used = atomic_exchange(&claimed, 0);
    for (unsigned i = 0; i < used && i < THREADS_MAX; i++) {
        atomic_store(&counts[i], 0);
    }
    atomic_store(&now, 0);
    atomic_store(&peak, 0);
    atomic_store(&alive_max, 0);
    atomic_store(&inline_tasks, 0);
    atomic_store(&helped_tasks, 0);
    atomic_fetch_add(&pass, 1);
    n_foreign = 0;
    main_thread = pthread_self();
    is_on = true;
}

void observe_waiting(bool is_waiting)
{
    if (is_on) {
        atomic_store(&main_waits, is_waiting);
        observe_note_threads();
    }
}

void observe_foreign_threads(uint32_t threads)
{
    n_foreign = threads;
}

void observe_note_threads(void)
{
    unsigned n = 0;
    DIR *folder = is_on ? opendir("/proc/self/task") : NULL;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        n += entry->d_name[0] != '.';
    }
    if (folder) {
        closedir(folder);
    }
    if (n > atomic_load(&alive_max)) {
        atomic_store(&alive_max, n);
    }
}

void observe_task_enter(void)
{
    unsigned pass_now = atomic_load(&pass);
    if (own_pass != pass_now) {
        own_pass = pass_now;
        unsigned slot = atomic_fetch_add(&claimed, 1);
        own_slot = slot < THREADS_MAX ? slot : THREADS_MAX - 1;
    }
    atomic_fetch_add(&counts[own_slot], 1);
    if (pthread_equal(pthread_self(), main_thread)) {
        atomic_fetch_add(atomic_load(&main_waits) ? &helped_tasks : &inline_tasks, 1);
    }
    unsigned at_once = atomic_fetch_add(&now, 1) + 1;
    unsigned most = atomic_load(&peak);
    while (at_once > most && !atomic_compare_exchange_weak(&peak, &most, at_once)) {
    }
}

void observe_task_leave(void)
{
    atomic_fetch_sub(&now, 1);
}

struct observed observe_end(void)
{
    struct observed out = {.peak_concurrency = atomic_load(&peak),
                           .threads_with_tasks = atomic_load(&claimed)};
    is_on = false;
    for (unsigned i = 0; i < out.threads_with_tasks && i < THREADS_MAX; i++) {
        uint64_t tasks = atomic_load(&counts[i]);
        out.tasks += tasks;
        if (i == 0 || tasks < out.tasks_per_thread_min) {
            out.tasks_per_thread_min = tasks;
        }
        if (tasks > out.tasks_per_thread_max) {
            out.tasks_per_thread_max = tasks;
        }
    }
    uint64_t at_once = atomic_load(&inline_tasks), helped = atomic_load(&helped_tasks);
    uint32_t seen = atomic_load(&alive_max);
    uint32_t alive = seen > n_foreign ? seen - n_foreign : 0;
    uint32_t others = out.threads_with_tasks - (at_once + helped > 0 ? 1 : 0);
    out.threads_created = alive > others + 1 ? alive - 1 : others;
    out.inline_share = out.tasks ? (double)at_once / (double)out.tasks : 0;
    out.helped_share = out.tasks ? (double)helped / (double)out.tasks : 0;
    return out;
}
