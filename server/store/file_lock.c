/* SPDX-License-Identifier: Apache-2.0
 * The lock beside a store (see file_lock.h). Runs on the thread that opens the store. */
#include "server/store/file_lock.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

int file_lock_take(const char *path, GError **error)
{
    g_autofree char *lock_path = g_strconcat(path, ".lock", NULL);
    int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "cannot make %s: %s; the folder of the store must exist and be writable",
                    lock_path, g_strerror(errno));
        return -1;
    }
    /* The lock goes with the open file, so it ends with the process whatever its end is. The file
     * stays: removing it would let two servers hold two files of one name. */
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_CONFLICT,
                "another server has the store %s open (it holds %s); stop it, or give this one "
                "another file",
                path, lock_path);
    close(fd);
    return -1;
}
