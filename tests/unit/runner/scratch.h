/* SPDX-License-Identifier: Apache-2.0
 * A folder for a test's files, gone after it. */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>

static inline char *scratch_new(void)
{
    g_autoptr(GError) error = NULL;
    char *folder = g_dir_make_tmp("breakeven-test-XXXXXX", &error);
    g_assert_no_error(error);
    return folder;
}

/* Frees `folder` too. */
static inline void scratch_remove(char *folder)
{
    const char *const argv[] = {"rm", "-rf", "--", folder, NULL};
    g_assert_cmpint(g_chdir("/"), ==, 0);
    g_assert_true(g_spawn_sync(NULL, (char **)(guintptr)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
                               NULL, NULL, NULL, NULL));
    g_free(folder);
}
