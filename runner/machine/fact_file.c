/* SPDX-License-Identifier: Apache-2.0
 * Reading the kernel's small files without allocating. Knows nothing of what they say; any thread.
 */
#include "runner/machine/fact_file.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool fact_file_read(const char *path, char *buffer, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    size_t length = 0;
    ssize_t got = 1;
    while (got > 0 && length < size - 1) {
        got = read(fd, buffer + length, size - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    if (got < 0) {
        return false;
    }
    while (length > 0 && isspace((unsigned char)buffer[length - 1])) {
        length--;
    }
    buffer[length] = '\0';
    return true;
}

bool fact_file_field(const char *text, const char *name, uint64_t *out_value)
{
    size_t length = strlen(name);
    const char *line = text;
    while (line) {
        if (strncmp(line, name, length) == 0 && isspace((unsigned char)line[length])) {
            char *end;
            errno = 0;
            unsigned long long value = strtoull(line + length, &end, 10);
            if (errno == 0 && end != line + length) {
                *out_value = value;
                return true;
            }
        }
        const char *newline = strchr(line, '\n');
        line = newline ? newline + 1 : NULL;
    }
    return false;
}
