/* SPDX-License-Identifier: Apache-2.0
 * dlopen and dlsym for libraries with prototypes of our own. Main thread. */
#include "runner/executors/shared_library.h"
#include "schema/error.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool shared_library_bind(const char *file, const char *install, const struct shared_symbol *symbols,
                         GError **error)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "not installed: %s (%s)", install,
                    dlerror());
        return false;
    }
    for (; symbols->name; symbols++) {
        void *symbol = dlsym(library, symbols->name);
        if (!symbol) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                        "not installed: %s (%s is there but has no %s)", install, file,
                        symbols->name);
            return false;
        }
        memcpy(symbols->slot, &symbol, sizeof symbol); /* POSIX: one size for all pointers */
    }
    return true;
}

const char *shared_library_version(const void *address)
{
    Dl_info info;
    char path[PATH_MAX];
    if (!dladdr(address, &info) || !info.dli_fname || !realpath(info.dli_fname, path)) {
        return "";
    }
    const char *version = strstr(path, ".so.");
    return version ? g_intern_string(version + strlen(".so.")) : "";
}

const char *shared_library_digest(const void *address, unsigned chars)
{
    Dl_info info;
    g_autofree char *bytes = NULL;
    gsize length = 0;
    if (!dladdr(address, &info) || !info.dli_fname ||
        !g_file_get_contents(info.dli_fname, &bytes, &length, NULL)) {
        return "";
    }
    g_autofree char *digest =
        g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)bytes, length);
    g_autofree char *text = g_strdup_printf("sha256:%.*s", (int)chars, digest);
    return g_intern_string(text);
}
