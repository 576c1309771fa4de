/* SPDX-License-Identifier: Apache-2.0
 * The table of executors. Adding one is a file beside this and a row here. Main thread. */
#include "runner/executors/executors.h"
#include "runner/executors/direct.h"
#include "runner/executors/fifo.h"
#include "runner/executors/glib.h"
#include "runner/executors/gnustep.h"
#include "runner/executors/libdispatch.h"
#include "runner/executors/libuv.h"
#include "runner/executors/openmp.h"
#include "runner/executors/plugin.h"
#include "runner/executors/steal.h"
#include "runner/executors/tbb.h"
#include "runner/executors/thread.h"
#include "schema/error.h"
#include <string.h>

const struct executor_entry executors[] = {
    {"direct", "a plain call, no threads: the yardstick", NULL, direct_load},
    {"thread", "a POSIX thread for each task", NULL, thread_load},
    {"fifo", "this project's thread pool: one queue, one lock", NULL, fifo_load},
    {"steal", "this project's pool of deques with stealing", NULL, steal_load},
    {"glib", "GLib's GThreadPool", NULL, glib_load},
    {"libuv", "libuv's uv_queue_work", LIBUV_INSTALL, libuv_load},
    {"openmp", "tasks of OpenMP, by GCC's libgomp", OPENMP_INSTALL, openmp_load},
    {"tbb", "oneTBB's task_group in an arena", TBB_INSTALL, tbb_load},
    {"libdispatch", "Grand Central Dispatch: the global queue", LIBDISPATCH_INSTALL,
     libdispatch_load},
    {"libdispatch-group", "Grand Central Dispatch: a group on the global queue",
     LIBDISPATCH_INSTALL, libdispatch_load_group},
    {"libdispatch-serial", "Grand Central Dispatch: a serial queue", LIBDISPATCH_INSTALL,
     libdispatch_load_serial},
    {"performselector", "GNUstep's performSelectorInBackground: a thread for each task",
     GNUSTEP_INSTALL, gnustep_load_perform},
    {"nsthread", "GNUstep's NSThread: one detached for each task", GNUSTEP_INSTALL,
     gnustep_load_detach},
    {NULL, NULL, NULL, NULL},
};

/* One per row of the table, then one per library. */
struct known {
    const struct executor_entry *entry; /* of the table, or: */
    const char *path;                   /* of a library */
    bool is_described;
    struct executor_facts facts;
    const struct executor_ops *ops; /* once loaded here */
};

static struct known of_table[G_N_ELEMENTS(executors)];
static struct known libraries[EXECUTOR_LIBRARIES_MAX];
static guint n_libraries;
static bool loads_here;

void executors_load_here(void)
{
    loads_here = true;
}

const struct executor_entry *executor_find(const char *name)
{
    for (const struct executor_entry *entry = executors; entry->name; entry++) {
        if (g_str_equal(entry->name, name)) {
            return entry;
        }
    }
    return NULL;
}

char *executor_names(void)
{
    GString *names = g_string_new(NULL);
    for (const struct executor_entry *entry = executors; entry->name; entry++) {
        g_string_append_printf(names, "%s%s", names->len ? ", " : "", entry->name);
    }
    return g_string_free(names, FALSE);
}

static struct known *find_known(const char *name)
{
    const struct executor_entry *entry = executor_find(name);
    if (entry) {
        struct known *known = &of_table[entry - executors];
        known->entry = entry;
        return known;
    }
    for (guint i = 0; i < n_libraries; i++) {
        if (g_str_equal(libraries[i].facts.name, name)) {
            return &libraries[i];
        }
    }
    return NULL;
}

static struct known *find_named(const char *name, GError **error)
{
    struct known *known = find_known(name);
    if (!known) {
        g_autofree char *names = executor_names();
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "executor %s: there is none of that name; there are %s; a library is given by "
                    "a path with a slash, such as ./libmine.so",
                    name, names);
    }
    return known;
}

static const struct executor_ops *load_known(struct known *known, GError **error)
{
    if (!known->ops) {
        known->ops = known->entry ? known->entry->load(error) : plugin_load(known->path, error);
    }
    return known->ops;
}

const struct executor_ops *executor_load(const char *name, GError **error)
{
    struct known *known = find_named(name, error);
    return known ? load_known(known, error) : NULL;
}

bool executor_describe(const char *name, struct executor_facts *out, GError **error)
{
    struct known *known = find_named(name, error);
    if (!known) {
        return false;
    }
    if (!known->is_described) {
        const struct executor_entry *entry = known->entry;
        if (loads_here || (entry && !entry->install)) {
            const struct executor_ops *ops = load_known(known, error);
            known->is_described = ops && plugin_facts(ops, &known->facts, error);
        } else {
            known->is_described =
                plugin_describe(name, entry ? entry->load : NULL, &known->facts, error);
        }
    }
    *out = known->facts;
    return known->is_described;
}

static bool is_name(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length <= EXECUTOR_NAME_BYTES_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == length;
}

static bool check_name(const char *path, const char *name, GError **error)
{
    const struct known *known = is_name(name) ? find_known(name) : NULL;
    if (!is_name(name)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "%s: its name \"%s\" cannot be taken: it must be 1 to %u of a-z 0-9 . _ -",
                    path, name, EXECUTOR_NAME_BYTES_MAX);
    } else if (known) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "%s: its name \"%s\" is taken by %s; give it another in its table", path, name,
                    known->path ? known->path : "one that the runner has");
    }
    return is_name(name) && !known;
}

static const char *add_library(const char *path, GError **error)
{
    struct known *added = &libraries[n_libraries];
    if (n_libraries == EXECUTOR_LIBRARIES_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "%s: there are %u libraries already, which is the most", path,
                    EXECUTOR_LIBRARIES_MAX);
        return NULL;
    }
    *added = (struct known){.path = g_intern_string(path)};
    if (loads_here) {
        added->ops = plugin_load(path, error);
        added->is_described = added->ops && plugin_facts(added->ops, &added->facts, error);
    } else {
        added->is_described = plugin_describe(path, NULL, &added->facts, error);
    }
    if (!added->is_described || !check_name(path, added->facts.name, error)) {
        return NULL;
    }
    n_libraries++;
    return added->facts.name;
}

const char *executor_resolve(const char *text, GError **error)
{
    if (!strchr(text, '/')) {
        const struct known *known = find_named(text, error);
        return !known ? NULL : known->entry ? known->entry->name : known->facts.name;
    }
    g_autofree char *path = g_canonicalize_filename(text, NULL);
    for (guint i = 0; i < n_libraries; i++) {
        if (g_str_equal(libraries[i].path, path)) {
            return libraries[i].facts.name;
        }
    }
    return add_library(path, error);
}

const char *executor_library(const char *name)
{
    const struct known *known = find_known(name);
    return known && known->path ? known->path : "";
}
