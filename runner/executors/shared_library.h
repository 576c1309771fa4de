/* SPDX-License-Identifier: Apache-2.0
 * A C library that may or may not be on this machine, used through prototypes of our own: so the
 * program builds everywhere and an executor is there where its library is. Main thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

struct shared_symbol {
    const char *name;
    void *slot; /* of a pointer to function or to data; set where it is found */
};

/* Opens `file` (a soname or path) and fills the slots up to a row whose name is NULL. False,
 * ERROR_UNAVAILABLE: "not installed: <install> (<why>)". It stays loaded. */
bool shared_library_bind(const char *file, const char *install, const struct shared_symbol *symbols,
                         GError **error);

/* The version in the name of the file that holds `address`: "1.0.0" of libgomp.so.1.0.0, or "". For
 * libraries that do not tell it. The text lives as long as the process. */
const char *shared_library_version(const void *address);

/* The first `chars` of the SHA-256 of the file that holds `address`, for libraries that have no
 * version at all: "sha256:0123…", or "" where it cannot be read. As long-lived. */
const char *shared_library_digest(const void *address, unsigned chars);
