/* SPDX-License-Identifier: Apache-2.0
 * Small text files of the kernel, as under /proc and /sys, read whole into a buffer of the caller.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACT_FILE_BYTES_MAX 16384u

/* Reads up to size-1 bytes, ends them with a NUL and takes white space off the end. False where it
 * cannot be read. */
bool fact_file_read(const char *path, char *buffer, size_t size);

/* The number after "name " at the start of a line, as in cpu.stat and memory files. False where
 * there is none. */
bool fact_file_field(const char *text, const char *name, uint64_t *out_value);
