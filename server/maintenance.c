/* SPDX-License-Identifier: Apache-2.0
 * See maintenance.h: words around what server/store does. Knows no file format. */
#include "server/maintenance.h"
#include "server/store/store_backup.h"
#include "server/store/store_check.h"
#include <string.h>
#include <sys/stat.h>

static const char *path_in(const Config *config)
{
    return config->store + strlen("sqlite:");
}

char *maintenance_backup(const Config *config, GError **error)
{
    if (!store_backup(config->store, config->file, config->is_force, error))
        return NULL;
    struct stat status;
    gint64 bytes = stat(config->file, &status) == 0 ? (gint64)status.st_size : 0;
    return g_strdup_printf("%s: %" G_GINT64_FORMAT " bytes of %s, checked and on the disk\n",
                           config->file, bytes, path_in(config));
}

char *maintenance_restore(const Config *config, GError **error)
{
    g_autofree char *kept = NULL;
    if (!store_restore(config->store, config->file, config->is_force, &kept, error))
        return NULL;
    return g_strdup_printf("%s: restored from %s%s%s\n", path_in(config), config->file,
                           kept ? "; what was there is now " : "", kept ? kept : "");
}

char *maintenance_check(const Config *config, bool *out_is_whole, GError **error)
{
    g_autoptr(StoreCheck) check = store_check(config->store, error);
    *out_is_whole = check && check->faults->len == 0;
    if (!check)
        return NULL;
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < check->faults->len; i++)
        g_string_append_printf(text, "%s: %s\n", path_in(config),
                               (const char *)check->faults->pdata[i]);
    g_string_append_printf(text, "%s: %s; schema %" G_GINT64_FORMAT, path_in(config),
                           *out_is_whole ? "whole" : "DAMAGED", (gint64)check->schema);
    if (check->is_older)
        g_string_append(text, ", older than this program's: its documents were not read");
    else
        g_string_append_printf(text, ", %u runs read, %u of them without their samples",
                               check->n_runs, check->n_shortened);
    g_string_append_c(text, '\n');
    return g_string_free(text, FALSE);
}
