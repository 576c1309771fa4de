/* SPDX-License-Identifier: Apache-2.0
 * The form of a plan, checked before anybody asks what it means. Pure; main thread. */
#include "runner/plan_file.h"

#include "runner/nearest.h"
#include <string.h>

#define PLAN_BYTES_MAX (1u << 20)
#define PLAN_ITEMS_MAX 1000u
#define PLAN_NAME_MAX  64u

struct plan_file {
    GKeyFile *keys;
    GPtrArray *groups; /* char *: those of cells */
    char *origin;
};

static const char *const head_keys[] = {"name",    "rounds",  "time-budget", "samples", "sample-ms",
                                        "timeout", "retries", "cell-ms",     NULL};
static const char *const cell_keys[] = {"bench", "executor", "threads", "task-cost", NULL};

/* Group heads and keys that are there twice. */
static bool check_repeats(const char *text, const char *origin, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autofree char *group = g_strdup("");
    for (guint i = 0; lines[i]; i++) {
        char *line = g_strstrip(lines[i]);
        if (*line == '\0' || *line == '#')
            continue;
        bool is_group = *line == '[';
        gsize length = strcspn(line, is_group ? "]" : "=");
        g_autofree char *name = g_strchomp(g_strndup(line, length));
        if (is_group) {
            g_free(group);
            group = g_strdup(name);
        }
        if (!g_hash_table_add(seen,
                              is_group ? g_strdup(name) : g_strdup_printf("%s %s", group, name))) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s, line %u: %s%s is there twice",
                        origin, i + 1, name, is_group ? "]" : "");
            return false;
        }
    }
    return true;
}

static bool check_keys(const PlanFile *file, const char *group, const char *const *known,
                       GError **error)
{
    g_auto(GStrv) keys = g_key_file_get_keys(file->keys, group, NULL, NULL);
    for (char **key = keys; key && *key; key++) {
        if (g_strv_contains(known, *key))
            continue;
        g_autofree char *hint =
            nearest_hint(*key, known, g_strv_length((GStrv)(guintptr)known), "");
        g_autofree char *all = g_strjoinv(", ", (GStrv)(guintptr)known);
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s, [%s]: there is no key \"%s\"%s (there are: %s)", file->origin, group, *key,
                    hint, all);
        return false;
    }
    return true;
}

/* "bench, …" and those that benchmarks bring. */
static const char **all_cell_keys(const char *const *more_keys)
{
    GPtrArray *all = g_ptr_array_new();
    for (guint i = 0; cell_keys[i]; i++)
        g_ptr_array_add(all, (gpointer)(guintptr)cell_keys[i]);
    for (; *more_keys; more_keys++)
        g_ptr_array_add(all, (gpointer)(guintptr)*more_keys);
    g_ptr_array_add(all, NULL);
    gpointer list = g_ptr_array_free(all, FALSE);
    return list;
}

static bool check_groups(PlanFile *file, const char *const *more_keys, GError **error)
{
    g_autofree const char **keys_of_cells = all_cell_keys(more_keys);
    g_auto(GStrv) groups = g_key_file_get_groups(file->keys, NULL);
    for (char **group = groups; *group; group++) {
        bool is_head = strcmp(*group, "plan") == 0;
        bool is_cells = strcmp(*group, "cells") == 0 || g_str_has_prefix(*group, "cells ");
        if (!is_head && !is_cells) {
            g_set_error(
                error, BREAKEVEN_ERROR, ERROR_INVALID,
                "%s: there is no group [%s]; a plan has [plan] and groups like [cells spawn]",
                file->origin, *group);
            return false;
        }
        if (!check_keys(file, *group, is_head ? head_keys : (const char *const *)keys_of_cells,
                        error))
            return false;
        if (is_cells)
            g_ptr_array_add(file->groups, g_strdup(*group));
    }
    if (g_key_file_has_group(file->keys, "plan"))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "%s: the group [plan] is missing; it holds name and rounds", file->origin);
    return false;
}

PlanFile *plan_file_parse(const char *text, gsize length, const char *origin,
                          const char *const *more_keys, GError **error)
{
    if (length > PLAN_BYTES_MAX || memchr(text, '\0', length) ||
        !g_utf8_validate(text, (gssize)length, NULL)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s is no plan: it must be UTF-8 text of at most 1 MiB", origin);
        return NULL;
    }
    g_autofree char *copy = g_strndup(text, length);
    g_autoptr(PlanFile) file = g_new0(PlanFile, 1);
    file->keys = g_key_file_new();
    file->groups = g_ptr_array_new_with_free_func(g_free);
    file->origin = g_strdup(origin);
    g_autoptr(GError) problem = NULL;
    if (!g_key_file_load_from_data(file->keys, copy, length, G_KEY_FILE_NONE, &problem)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s is no plan: %s", origin,
                    problem->message);
        return NULL;
    }
    return check_repeats(copy, origin, error) && check_groups(file, more_keys, error)
               ? g_steal_pointer(&file)
               : NULL;
}

void plan_file_free(PlanFile *file)
{
    if (!file)
        return;
    g_key_file_unref(file->keys);
    g_ptr_array_unref(file->groups);
    g_free(file->origin);
    g_free(file);
}

const char *plan_file_origin(const PlanFile *file)
{
    return file->origin;
}

const char *plan_file_group(const PlanFile *file, guint i)
{
    return i < file->groups->len ? (const char *)file->groups->pdata[i] : NULL;
}

/* The text of a key without a comment behind it; NULL where there is none. */
static char *value_of(const PlanFile *file, const char *group, const char *key)
{
    g_autofree char *value = g_key_file_get_value(file->keys, group, key, NULL);
    if (!value)
        return NULL;
    value[strcspn(value, "#")] = '\0';
    return g_strdup(g_strstrip(value));
}

bool plan_file_name(const PlanFile *file, char **out_name, GError **error)
{
    g_autofree char *name = value_of(file, "plan", "name");
    gsize good = name ? strspn(name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._-") : 0;
    if (!name || good == 0 || name[good] != '\0' || good > PLAN_NAME_MAX) {
        g_set_error(
            error, BREAKEVEN_ERROR, ERROR_INVALID,
            "%s, [plan]: name %s; write 1 to %u letters, digits and . _ - like name = nightly",
            file->origin, name ? "cannot be used" : "is missing", PLAN_NAME_MAX);
        return false;
    }
    *out_name = g_steal_pointer(&name);
    return true;
}

bool plan_file_number(const PlanFile *file, const char *key, struct plan_range range,
                      guint *inout_value, GError **error)
{
    g_autofree char *text = value_of(file, "plan", key);
    if (!text && !range.required)
        return true;
    guint64 value = 0;
    if (text && g_ascii_string_to_unsigned(text, 10, range.min, range.max, &value, NULL)) {
        *inout_value = (guint)value;
        return true;
    }
    if (text)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s, [plan]: %s = %s is not a whole number from %u to %u", file->origin, key,
                    text, range.min, range.max);
    else
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s, [plan]: %s is missing; write a number from %u to %u", file->origin, key,
                    range.min, range.max);
    return false;
}

GStrv plan_file_split(const char *text)
{
    GStrv items = g_strsplit(text, ",", -1);
    for (char **item = items; *item; item++)
        g_strstrip(*item);
    return items;
}

bool plan_file_list(const PlanFile *file, const char *group, const char *key, GStrv *out_list,
                    GError **error)
{
    g_autofree char *text = value_of(file, group, key);
    if (!text)
        return true;
    g_auto(GStrv) items = plan_file_split(text);
    bool has_empty = items[0] == NULL;
    for (char **item = items; *item; item++)
        has_empty = has_empty || **item == '\0';
    if (has_empty || g_strv_length(items) > PLAN_ITEMS_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s, [%s]: %s = %s %s", file->origin,
                    group, key, text,
                    has_empty ? "has an empty item; write A, B" : "has too many items");
        return false;
    }
    *out_list = g_steal_pointer(&items);
    return true;
}
