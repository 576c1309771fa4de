/* SPDX-License-Identifier: Apache-2.0
 * See import_source.h: the table, and the walk over a folder of files. */
#include "runner/import_source.h"

#include "runner/nearest.h"
#include "schema/run.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX    16u
#define FILES_MAX    1000000u
#define MS_PER_S     1000
#define SUFFIX       ".json"
#define IS_ASV_FACTS "machine.json" /* of the machine, not of a commit */
#define IS_ASV_CASES "benchmarks.json"

GString *import_read_file(const char *path, gsize bytes_max, int64_t *out_time_ms, GError **error)
{
    struct stat facts;
    char *text = NULL;
    gsize length = 0;
    g_autoptr(GError) problem = NULL;
    if (stat(path, &facts) == 0 && (guint64)facts.st_size > bytes_max) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE, "%s is over %" G_GSIZE_FORMAT " MiB",
                    path, bytes_max >> 20);
        return NULL;
    }
    if (!g_file_get_contents(path, &text, &length, &problem)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s", problem->message);
        return NULL;
    }
    *out_time_ms = stat(path, &facts) == 0 ? (int64_t)facts.st_mtim.tv_sec * MS_PER_S : 0;
    GString *bytes = g_string_new_len(text, (gssize)length);
    g_free(text);
    return bytes;
}

/* ---- Folders ---- */

static gint compare_names(gconstpointer a, gconstpointer b)
{
    const char *const *left = (const char *const *)a, *const *right = (const char *const *)b;
    return strcmp(*left, *right);
}

static GPtrArray *names_in(const char *folder, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(GDir) directory = g_dir_open(folder, 0, &problem);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    if (!directory)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s", problem->message);
    while (directory && (name = g_dir_read_name(directory)))
        g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, compare_names);
    if (directory)
        return names;
    g_ptr_array_unref(names);
    return NULL;
}

/* Files that end with .json, below `path`; links are not followed. */
/* NOLINTNEXTLINE(misc-no-recursion): DEPTH_MAX deep */
static bool list_files(const char *path, guint depth, GPtrArray *files, GError **error)
{
    g_autoptr(GPtrArray) names = names_in(path, error);
    for (guint i = 0; names && i < names->len; i++) {
        const char *name = (const char *)names->pdata[i];
        g_autofree char *whole = g_build_filename(path, name, NULL);
        struct stat facts;
        if (*name == '.' || lstat(whole, &facts) != 0)
            continue;
        if (S_ISDIR(facts.st_mode) && depth < DEPTH_MAX) {
            if (!list_files(whole, depth + 1, files, error))
                return false;
        } else if (S_ISREG(facts.st_mode) && g_str_has_suffix(name, SUFFIX) &&
                   files->len < FILES_MAX) {
            g_ptr_array_add(files, g_steal_pointer(&whole));
        }
    }
    return names != NULL;
}

static bool take_file(const char *path, import_item_fn take, void *user, GError **error)
{
    struct import_item item = {.name = path, .hint = path};
    GString *bytes = import_read_file(path, RUN_BODY_BYTES_MAX, &item.time_ms, error);
    if (!bytes)
        return false;
    item.bytes = bytes;
    bool is_good = take(&item, user, error);
    g_string_free(bytes, TRUE);
    return is_good;
}

/* A folder, or one file of it. */
static bool each_file(const char *path, import_item_fn take, void *user, GError **error)
{
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    if (!g_file_test(path, G_FILE_TEST_IS_DIR))
        return take_file(path, take, user, error);
    bool is_good = list_files(path, 0, files, error);
    for (guint i = 0; is_good && i < files->len; i++)
        is_good = take_file((const char *)files->pdata[i], take, user, error);
    return is_good;
}

struct asv_walk {
    import_item_fn take;
    void *user;
};

static bool take_asv(const struct import_item *item, void *user, GError **error)
{
    const struct asv_walk *walk = (const struct asv_walk *)user;
    g_autofree char *name = g_path_get_basename(item->name);
    if (strcmp(name, IS_ASV_FACTS) == 0 || strcmp(name, IS_ASV_CASES) == 0)
        return true;
    return walk->take(item, walk->user, error);
}

static bool each_asv_file(const char *path, import_item_fn take, void *user, GError **error)
{
    struct asv_walk walk = {take, user};
    return each_file(path, take_asv, &walk, error);
}

/* ---- The table ---- */

const struct import_source import_sources[] = {
    {"asv", "asv", "asv's folder results/", each_asv_file},
    {"codespeed", "codespeed", "a file of Codespeed's manage.py dumpdata codespeed",
     import_codespeed_each},
    {"github-action-benchmark", NULL, "its data.js", NULL},
    {"google-benchmark-dir", "google-benchmark",
     "a folder of Google Benchmark's JSON files, each (or its folder) named after its commit",
     each_file},
    {"lnt", "lnt", "a folder of LNT's reports", each_file},
    {NULL, NULL, NULL, NULL},
};

const struct import_source *import_source_find(const char *name, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const struct import_source *source = import_sources; source->name; source++) {
        if (strcmp(source->name, name) == 0)
            return source;
        g_ptr_array_add(names, (gpointer)(guintptr)source->name);
    }
    g_autofree char *hint = nearest_hint(name, (const char *const *)names->pdata, names->len, "");
    g_ptr_array_add(names, NULL);
    g_autofree char *all = g_strjoinv(", ", (GStrv)names->pdata);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "--from %s: there is no such source%s (there are: %s)", name, hint, all);
    return NULL;
}
