/* SPDX-License-Identifier: Apache-2.0
 * A disk with a cache that forgets: preloaded into a program, it writes down what the program does
 * to the files below BREAKEVEN_FAULT_PATH (it ends in a slash), in order, into the file
 * BREAKEVEN_FAULT_LOG. After the program was killed, tests/faults/support/power.ts lays out what a
 * loss of power might have left: all that was flushed, and any part of the rest. Nothing is flushed
 * in truth, it only takes a disk's time. With BREAKEVEN_FAULT_LIES the disk says that it flushed
 * and did not. Only for tests. Any thread; one lock keeps the order. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define FLUSH_US 4000 /* as a disk takes: the power is to go in between, too */

/* The order and size of these are known to power.ts, too. */
enum {
    RECORD_WRITE = 1,
    RECORD_TRUNCATE,
    RECORD_SYNC_BEGINS,
    RECORD_SYNC_DONE,
    RECORD_CREATE,
    RECORD_UNLINK
};
struct record {
    uint32_t kind, path_bytes;
    int64_t offset; /* of a write; the new size; the number of a flush */
    int64_t data_bytes;
};

static const char *folder;
static size_t folder_length;
static int log_fd = -1, lies;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t last_sync; /* under the lock */

__attribute__((constructor)) static void prepare(void)
{
    const char *path = getenv("BREAKEVEN_FAULT_LOG");
    lies = getenv("BREAKEVEN_FAULT_LIES") != NULL;
    log_fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    folder = log_fd >= 0 ? getenv("BREAKEVEN_FAULT_PATH") : NULL;
    folder_length = folder ? strlen(folder) : 0;
}

/* Below the folder, or the folder itself, whose flush keeps names. */
static int is_below(const char *path)
{
    return folder_length > 0 && path &&
           (strncmp(path, folder, folder_length) == 0 ||
            (strncmp(path, folder, folder_length - 1) == 0 && !path[folder_length - 1]));
}

/* The path of a watched file; 0 where it is none. */
static int path_of(int fd, char path[PATH_MAX])
{
    char link[40];
    if (folder_length == 0)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0)
        return 0;
    path[length] = '\0';
    return is_below(path);
}

/* One record, in one piece. Under the lock. */
static void note(uint32_t kind, const char *path, int64_t offset, const void *data, size_t n)
{
    struct record record = {kind, (uint32_t)strlen(path), offset, (int64_t)n};
    struct iovec parts[3] = {
        {&record, sizeof record}, {(void *)path, record.path_bytes}, {(void *)data, n}};
    ssize_t written = writev(log_fd, parts, n > 0 ? 3 : 2);
    if (written != (ssize_t)(sizeof record + record.path_bytes + n))
        abort(); /* the test would judge by half the truth */
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    static __typeof__(&pwrite) real;
    char path[PATH_MAX];
    if (!real)
        real = REAL(pwrite);
    if (!path_of(fd, path))
        return real(fd, bytes, n, at);
    pthread_mutex_lock(&lock);
    note(RECORD_WRITE, path, at, bytes, n);
    ssize_t written = real(fd, bytes, n, at);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    return pwrite(fd, bytes, n, at);
}

int ftruncate(int fd, off_t length)
{
    static __typeof__(&ftruncate) real;
    char path[PATH_MAX];
    if (!real)
        real = REAL(ftruncate);
    if (!path_of(fd, path))
        return real(fd, length);
    pthread_mutex_lock(&lock);
    note(RECORD_TRUNCATE, path, length, NULL, 0);
    int code = real(fd, length);
    pthread_mutex_unlock(&lock);
    return code;
}

int ftruncate64(int fd, off64_t length)
{
    return ftruncate(fd, length);
}

/* A flush holds what was written before it began, once it is done. */
static int flush(const char *path)
{
    pthread_mutex_lock(&lock);
    int64_t number = ++last_sync;
    note(RECORD_SYNC_BEGINS, path, number, NULL, 0);
    pthread_mutex_unlock(&lock);
    usleep(FLUSH_US);
    pthread_mutex_lock(&lock);
    if (!lies)
        note(RECORD_SYNC_DONE, path, number, NULL, 0);
    pthread_mutex_unlock(&lock);
    return 0;
}

int fsync(int fd)
{
    char path[PATH_MAX];
    return path_of(fd, path) ? flush(path) : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
    char path[PATH_MAX];
    return path_of(fd, path) ? flush(path) : REAL(fdatasync)(fd);
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
    if (!(flags & O_CREAT) || !is_below(path) || access(path, F_OK) == 0)
        return real(path, flags, mode);
    pthread_mutex_lock(&lock);
    note(RECORD_CREATE, path, 0, NULL, 0);
    int fd = real(path, flags, mode);
    pthread_mutex_unlock(&lock);
    return fd;
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
    if (!is_below(path))
        return real(path);
    pthread_mutex_lock(&lock);
    note(RECORD_UNLINK, path, 0, NULL, 0);
    int code = real(path);
    pthread_mutex_unlock(&lock);
    return code;
}
