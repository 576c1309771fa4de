/* SPDX-License-Identifier: Apache-2.0
 * The table of executors. Adding one is a file beside this and a row here. Plain data, any thread.
 */
#include "runner/executors/executors.h"
#include "runner/executors/direct.h"
#include "runner/executors/fifo.h"

const struct executor_entry executors[] = {
    {"direct", "a plain call, no threads: the yardstick", NULL, direct_load},
    {"fifo", "this project's thread pool: one queue, one lock", NULL, fifo_load},
    {NULL, NULL, NULL, NULL},
};

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
