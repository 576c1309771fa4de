/* SPDX-License-Identifier: Apache-2.0
 * Feeds every file of the named folders to a fuzz target, so that what fuzzing once found stays
 * found, with any compiler. Runs as a test; single-threaded. */
#include "tests/fuzz/fuzz.h"

#include <glib.h>
#include <stdio.h>

/* A copy of exactly the file's size: a read past its end is seen by the address sanitizer. */
static void replay_file(const char *path)
{
    g_autofree char *bytes = NULL;
    g_autofree uint8_t *exact = NULL;
    gsize length = 0;

    if (!g_file_get_contents(path, &bytes, &length, NULL))
        g_error("%s cannot be read", path);
    exact = (uint8_t *)g_memdup2(bytes, length);
    LLVMFuzzerTestOneInput(exact, length);
}

static guint replay_folder(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    guint n = 0;

    for (const char *name = dir ? g_dir_read_name(dir) : NULL; name; name = g_dir_read_name(dir)) {
        g_autofree char *file = g_build_filename(path, name, NULL);

        replay_file(file);
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        guint n = replay_folder(argv[i]);

        printf("%s: %u files\n", argv[i], n);
        if (n == 0)
            return 1;
    }
    return argc < 2;
}
