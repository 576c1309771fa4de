/* SPDX-License-Identifier: Apache-2.0
 * What the runner asks of the kernel and valgrind 3.19 has no answer for: preloaded into a runner
 * that valgrind runs, it starts the program that BREAKEVEN_SELF names where /proc/self/exe is asked
 * for (that would be valgrind), and makes of pidfd_open the end of a pipe that the child holds the
 * other end of. Only for tests. One child at a time, as runner/child_process.c has it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHILD_FD_MIN 40 /* above what a child's own descriptors are put on */

typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
                     const posix_spawnattr_t *, char *const[], char *const[]);

static int child_end = -1;

int posix_spawnp(pid_t *out_pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
    static spawn_fn *real;
    const char *self = getenv("BREAKEVEN_SELF");
    int ends[2];
    if (!real)
        real = (spawn_fn *)dlsym(RTLD_NEXT, "posix_spawnp");
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    int inherited = fcntl(ends[1], F_DUPFD, CHILD_FD_MIN); /* without close-on-exec */
    close(ends[1]);
    if (self && strcmp(file, "/proc/self/exe") == 0)
        file = self;
    int failure = real(out_pid, file, actions, attributes, argv, env);
    close(inherited);
    if (child_end >= 0)
        close(child_end);
    child_end = ends[0];
    return failure;
}

int pidfd_open(pid_t pid, unsigned flags)
{
    (void)pid;
    (void)flags;
    int fd = child_end;
    child_end = -1;
    if (fd < 0)
        errno = ESRCH;
    return fd;
}
