/* SPDX-License-Identifier: Apache-2.0
 * No memory: preloaded into a program, it lets the k-th allocation fail (fault_control.h) that
 * libsqlite3, libjansson or libmicrohttpd makes, or that goes through GLib's g_try_…, which memory
 * whose size comes from input is taken with (jansson's own among it, told by who asked). GLib's
 * other allocations end the program when they fail, and are left alone. Only for tests. Any thread.
 */
#include "fault_control.h"
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <string.h>

#define RANGES_MAX  16
#define EARLY_BYTES (1 << 20)
#define CALLERS     8

static struct fault_control *control;
static struct {
    uintptr_t from, to;
    int64_t kind;
} ranges[RANGES_MAX];
static int n_ranges;

/* dlsym allocates before it has found the allocator, and a sanitizer looks for functions before its
 * own can be found. */
static char early[EARLY_BYTES] __attribute__((aligned(16)));
static size_t early_used;
static __thread int is_looking;

static void *take_early(size_t n)
{
    size_t start = (early_used + 15) & ~(size_t)15;
    if (start + n + 16 > EARLY_BYTES)
        return NULL;
    early_used = start + n;
    return early + start;
}

static int is_early(const void *at)
{
    return (const char *)at >= early && (const char *)at < early + EARLY_BYTES;
}

static void *find(const char *name)
{
    is_looking = 1;
    void *found = dlsym(RTLD_NEXT, name);
    is_looking = 0;
    return found;
}

static int take_ranges(struct dl_phdr_info *object, size_t size, void *user)
{
    static const struct {
        const char *name;
        int64_t kind;
    } libraries[] = {{"libsqlite3", FAULT_OF_SQLITE},
                     {"libjansson", FAULT_OF_JANSSON},
                     {"libmicrohttpd", FAULT_OF_MICROHTTPD}};
    (void)size, (void)user;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        for (int p = 0; strstr(object->dlpi_name, libraries[i].name) && p < object->dlpi_phnum;
             p++) {
            const ElfW(Phdr) *part = &object->dlpi_phdr[p];
            if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || n_ranges == RANGES_MAX)
                continue;
            ranges[n_ranges].kind = libraries[i].kind;
            ranges[n_ranges].from = object->dlpi_addr + part->p_vaddr;
            ranges[n_ranges++].to = object->dlpi_addr + part->p_vaddr + part->p_memsz;
        }
    return 0;
}

__attribute__((constructor)) static void prepare(void)
{
    void *callers[1];
    backtrace(callers, 1); /* it loads what it needs the first time */
    dl_iterate_phdr(take_ranges, NULL);
    control = fault_control_map();
}

static int fails(int64_t kind)
{
    if (!control || !fault_control_hits(control, kind))
        return 0;
    errno = ENOMEM;
    return 1;
}

static int fails_for(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    if (!control || atomic_load(&control->kinds) == 0)
        return 0;
    for (int i = 0; i < n_ranges; i++)
        if (at >= ranges[i].from && at < ranges[i].to)
            return fails(ranges[i].kind);
    return 0;
}

void *malloc(size_t n)
{
    static void *(*real)(size_t);
    if (is_looking)
        return take_early(n);
    if (!real)
        real = (void *(*)(size_t))find("malloc");
    if (!real)
        return take_early(n);
    return fails_for(__builtin_return_address(0)) ? NULL : real(n);
}

void *calloc(size_t n, size_t size)
{
    static void *(*real)(size_t, size_t);
    if (is_looking)
        return take_early(n * size); /* never used before: zero */
    if (!real)
        real = (void *(*)(size_t, size_t))find("calloc");
    if (!real)
        return take_early(n * size);
    return fails_for(__builtin_return_address(0)) ? NULL : real(n, size);
}

void *realloc(void *at, size_t n)
{
    static void *(*real)(void *, size_t);
    if (is_looking || is_early(at)) {
        void *moved = is_looking ? take_early(n) : malloc(n);
        if (moved && at)
            memcpy(moved, at, n); /* it may copy what lies behind, which is ours, too */
        return moved;
    }
    if (!real)
        real = (void *(*)(void *, size_t))find("realloc");
    if (!real)
        return NULL;
    return fails_for(__builtin_return_address(0)) ? NULL : real(at, n);
}

void free(void *at)
{
    static void (*real)(void *);
    if (!at || is_early(at))
        return;
    if (!real)
        real = (void (*)(void *))find("free");
    if (real)
        real(at);
}

/* ---- GLib's, for sizes that come from input ---- */

/* The documents' memory is jansson's, and taken by a function of the program that it calls. */
static int64_t kind_of_input(void)
{
    void *callers[CALLERS];
    int n = backtrace(callers, CALLERS);
    for (int c = 0; c < n; c++)
        for (int i = 0; i < n_ranges; i++)
            if (ranges[i].kind == FAULT_OF_JANSSON && (uintptr_t)callers[c] >= ranges[i].from &&
                (uintptr_t)callers[c] < ranges[i].to)
                return FAULT_OF_JANSSON;
    return FAULT_OF_INPUT;
}

static int fails_for_input(void)
{
    int64_t wanted = control ? atomic_load(&control->kinds) : 0;
    return wanted & (FAULT_OF_JANSSON | FAULT_OF_INPUT) ? fails(kind_of_input()) : 0;
}

void *g_try_malloc(size_t n);
void *g_try_malloc(size_t n)
{
    static void *(*real)(size_t);
    if (!real)
        real = (void *(*)(size_t))find("g_try_malloc");
    return fails_for_input() ? NULL : real(n);
}

void *g_try_realloc(void *at, size_t n);
void *g_try_realloc(void *at, size_t n)
{
    static void *(*real)(void *, size_t);
    if (!real)
        real = (void *(*)(void *, size_t))find("g_try_realloc");
    return fails_for_input() ? NULL : real(at, n);
}
