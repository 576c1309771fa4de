/* SPDX-License-Identifier: Apache-2.0
 * A disk that fails: preloaded into a program, it lets the k-th call on a file below
 * BREAKEVEN_FAULT_PATH fail with an errno (fault_control.h): writes, flushes, truncations, opens,
 * reads, removals. A write that fails has written its first half, as a disk does that runs full.
 * Only for tests. Any thread. */
#include "fault_control.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static struct fault_control *control;
static const char *folder;
static size_t folder_length;

__attribute__((constructor)) static void prepare(void)
{
    control = fault_control_map();
    folder = getenv("BREAKEVEN_FAULT_PATH");
    folder_length = folder ? strlen(folder) : 0;
}

static int is_below(const char *path)
{
    return folder_length > 0 && path && strncmp(path, folder, folder_length) == 0;
}

static int is_watched(int fd)
{
    char link[40], path[PATH_MAX];
    if (folder_length == 0 || atomic_load(&control->kinds) == 0)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = '\0';
    return is_below(path);
}

static int fails(int fd, int64_t kind)
{
    if (!is_watched(fd) || !fault_control_hits(control, kind))
        return 0;
    errno = (int)atomic_load(&control->code);
    return 1;
}

static int fails_at(const char *path, int64_t kind)
{
    if (!control || !is_below(path) || !fault_control_hits(control, kind))
        return 0;
    errno = (int)atomic_load(&control->code);
    return 1;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    static __typeof__(&pwrite) real;
    if (!real)
        real = REAL(pwrite);
    if (!fails(fd, FAULT_WRITE))
        return real(fd, bytes, n, at);
    int code = errno;
    ssize_t half = real(fd, bytes, n / 2, at);
    (void)half;
    errno = code;
    return -1;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    return pwrite(fd, bytes, n, at);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    static __typeof__(&write) real;
    if (!real)
        real = REAL(write);
    return control && fails(fd, FAULT_WRITE) ? -1 : real(fd, bytes, n);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
    static __typeof__(&pread) real;
    if (!real)
        real = REAL(pread);
    return fails(fd, FAULT_READ) ? -1 : real(fd, bytes, n, at);
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t at)
{
    return pread(fd, bytes, n, at);
}

int fsync(int fd)
{
    static __typeof__(&fsync) real;
    if (!real)
        real = REAL(fsync);
    return fails(fd, FAULT_SYNC) ? -1 : real(fd);
}

int fdatasync(int fd)
{
    static __typeof__(&fdatasync) real;
    if (!real)
        real = REAL(fdatasync);
    return fails(fd, FAULT_SYNC) ? -1 : real(fd);
}

int ftruncate(int fd, off_t length)
{
    static __typeof__(&ftruncate) real;
    if (!real)
        real = REAL(ftruncate);
    return fails(fd, FAULT_TRUNCATE) ? -1 : real(fd, length);
}

int ftruncate64(int fd, off64_t length)
{
    return ftruncate(fd, length);
}

int open(const char *path, int flags, ...)
{
    static __typeof__(&open) real;
    if (!real)
        real = REAL(open);
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return fails_at(path, FAULT_OPEN) ? -1 : real(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open(path, flags, mode);
}

int unlink(const char *path)
{
    static __typeof__(&unlink) real;
    if (!real)
        real = REAL(unlink);
    return fails_at(path, FAULT_NAME) ? -1 : real(path);
}

int rename(const char *from, const char *to)
{
    static __typeof__(&rename) real;
    if (!real)
        real = REAL(rename);
    return fails_at(to, FAULT_NAME) ? -1 : real(from, to);
}
