/* SPDX-License-Identifier: Apache-2.0
 * See out_file.h. Knows nothing of what the bytes are. Main thread. */
#include "runner/out_file.h"

#include "schema/error.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe, a terminal, a device: it has to be written to itself. A root's rename onto /dev/null
 * would take it from everybody, and one onto the file behind /dev/stdout would lose what the shell
 * sent there. */
static bool is_special(const char *path)
{
    struct stat facts;
    return g_str_has_prefix(path, "/dev/") || g_str_has_prefix(path, "/proc/") ||
           (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode));
}

/* Where the links lead; the path itself where there is nothing yet. */
static char *target_of(const char *path)
{
    char *resolved = realpath(path, NULL);
    char *target = g_strdup(resolved ? resolved : path);
    free(resolved);
    return target;
}

bool out_file_check(const char *option, const char *path, GError **error)
{
    g_autofree char *target = target_of(path);
    g_autofree char *folder = g_path_get_dirname(target);
    const char *written = is_special(path) ? path : folder;
    bool is_folder = g_file_test(path, G_FILE_TEST_IS_DIR);
    if (!is_folder && access(written, W_OK) == 0)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "--%s %s cannot be written: %s", option,
                path, is_folder ? "it is a folder" : g_strerror(errno));
    return false;
}

static bool write_special(const char *path, const GString *document)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    bool is_whole = fwrite(document->str, 1, document->len, file) == document->len;
    return fclose(file) == 0 && is_whole;
}

bool out_file_write(const char *option, const char *path, const GString *document, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autofree char *target = target_of(path);
    if (is_special(path)) {
        if (write_special(path, document))
            return true;
        g_set_error(error, BREAKEVEN_ERROR, ERROR_FULL, "--%s: %s cannot be written: %s", option,
                    path, g_strerror(errno));
        return false;
    }
    if (g_file_set_contents_full(target, document->str, (gssize)document->len,
                                 G_FILE_SET_CONTENTS_CONSISTENT, 0644, &problem))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_FULL, "--%s: %s", option, problem->message);
    return false;
}

bool out_file_append(const char *path, const GString *text, GError **error)
{
    FILE *file = fopen(path, "ae");
    bool is_whole = file && fwrite(text->str, 1, text->len, file) == text->len;
    if (file)
        is_whole = fclose(file) == 0 && is_whole;
    if (!is_whole)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_FULL, "%s cannot be written: %s", path,
                    g_strerror(errno));
    return is_whole;
}
