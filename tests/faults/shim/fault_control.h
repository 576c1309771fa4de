/* SPDX-License-Identifier: Apache-2.0
 * What a test says to a shim inside the server, and hears from it: one page of a file that both map
 * (BREAKEVEN_FAULT_CONTROL). Only for tests; knows no program. Any thread: the fields are atomic.
 */
#pragma once

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAULT_CONTROL_BYTES 4096

/* The order and size of these are known to tests/faults/support/shim.ts, too. */
struct fault_control {
    _Atomic int64_t countdown; /* the call that fails: 1 is the next one; 0: none */
    _Atomic int64_t hits;      /* calls that failed */
    _Atomic int64_t calls;     /* that were counted */
    _Atomic int64_t kinds;     /* a mask of FAULT_…: which calls count */
    _Atomic int64_t code;      /* errno of the failure */
    _Atomic int64_t is_sticky; /* 1: after the first failure all of them fail, until it is 0 */
    _Atomic int64_t offset_s;  /* the wall clock goes before (or after) the true one by so much */
};

enum {
    FAULT_WRITE = 1,
    FAULT_SYNC = 2,
    FAULT_TRUNCATE = 4,
    FAULT_OPEN = 8,
    FAULT_READ = 16,
    FAULT_NAME = 32
};

/* fault_memory's kinds: whose allocations. */
enum {
    FAULT_OF_SQLITE = 1,
    FAULT_OF_JANSSON = 2,
    FAULT_OF_MICROHTTPD = 4,
    FAULT_OF_INPUT = 8 /* GLib's g_try_… */
};

/* Without the file nothing ever fails. */
static inline struct fault_control *fault_control_map(void)
{
    static struct fault_control none;
    const char *path = getenv("BREAKEVEN_FAULT_CONTROL");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return &none;
    void *page = mmap(NULL, FAULT_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return page == MAP_FAILED ? &none : (struct fault_control *)page;
}

/* True where this call, of these kinds, is to fail. */
static inline int fault_control_hits(struct fault_control *control, int64_t kind)
{
    if (!(atomic_load(&control->kinds) & kind))
        return 0;
    atomic_fetch_add(&control->calls, 1);
    int64_t before = atomic_load(&control->countdown);
    if (before <= 0 || atomic_fetch_sub(&control->countdown, 1) != 1)
        return 0;
    if (atomic_load(&control->is_sticky))
        atomic_store(&control->countdown, 1);
    atomic_fetch_add(&control->hits, 1);
    return 1;
}
