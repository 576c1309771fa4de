/* SPDX-License-Identifier: Apache-2.0
 * Codespeed's tables put together again into what its own uploaders send, a list of results
 * (schema/formats/codespeed.c), a list for each run. Main thread. */
#include "runner/import_source.h"

#include <jansson.h>
#include <string.h>

/* The rows that others refer to, by model and key. */
struct tables {
    GHashTable *rows; /* "codespeed.revision 7" → json_t *, fields; borrowed */
};

static void index_rows(struct tables *tables, const json_t *dump)
{
    for (size_t i = 0; i < json_array_size(dump); i++) {
        const json_t *row = json_array_get(dump, i);
        const char *model = json_string_value(json_object_get(row, "model"));
        json_int_t key = json_integer_value(json_object_get(row, "pk"));
        json_t *fields = json_object_get(row, "fields");
        if (model && json_is_object(fields))
            g_hash_table_insert(tables->rows,
                                g_strdup_printf("%s %" JSON_INTEGER_FORMAT, model, key), fields);
    }
}

/* What a field refers to; NULL where it refers to nothing. */
static json_t *row_of(const struct tables *tables, const json_t *fields, const char *field)
{
    json_int_t key = json_integer_value(json_object_get(fields, field));
    g_autofree char *name = g_strdup_printf("codespeed.%s %" JSON_INTEGER_FORMAT, field, key);
    return (json_t *)g_hash_table_lookup(tables->rows, name);
}

static void copy(json_t *to, const char *to_key, const json_t *from, const char *from_key)
{
    json_t *value = json_object_get(from, from_key);
    if (value && !json_is_null(value))
        json_object_set(to, to_key, value);
}

/* One result as it was sent; NULL where a row that it refers to is not in the file. */
static json_t *result_of(const struct tables *tables, const json_t *fields)
{
    const json_t *revision = row_of(tables, fields, "revision");
    const json_t *benchmark = row_of(tables, fields, "benchmark");
    const json_t *executable = row_of(tables, fields, "executable");
    const json_t *environment = row_of(tables, fields, "environment");
    const json_t *project = row_of(tables, revision, "project");
    if (!revision || !benchmark || !executable || !environment || !project)
        return NULL;
    json_t *result = json_object();
    copy(result, "commitid", revision, "commitid");
    copy(result, "revision_date", revision, "date");
    copy(result, "branch", row_of(tables, revision, "branch"), "name");
    copy(result, "project", project, "name");
    copy(result, "executable", executable, "name");
    copy(result, "environment", environment, "name");
    copy(result, "benchmark", benchmark, "name");
    copy(result, "units", benchmark, "units");
    copy(result, "units_title", benchmark, "units_title");
    copy(result, "lessisbetter", benchmark, "lessisbetter");
    copy(result, "result_value", fields, "value");
    copy(result, "result_date", fields, "date");
    copy(result, "std_dev", fields, "std_dev");
    copy(result, "min", fields, "val_min");
    copy(result, "max", fields, "val_max");
    copy(result, "q1", fields, "q1");
    copy(result, "q3", fields, "q3");
    return result;
}

static const char *text_of(const json_t *result, const char *key)
{
    const char *text = json_string_value(json_object_get(result, key));
    return text ? text : "";
}

/* What tells runs apart, in the order of their commits' times. */
static char *run_of(const json_t *result)
{
    return g_strdup_printf("%s\n%s\n%s\n%s\n%s", text_of(result, "revision_date"),
                           text_of(result, "project"), text_of(result, "commitid"),
                           text_of(result, "branch"), text_of(result, "environment"));
}

static void free_list(gpointer list)
{
    json_decref((json_t *)list);
}

static gint compare_keys(gconstpointer a, gconstpointer b, gpointer user)
{
    (void)user;
    return strcmp((const char *)a, (const char *)b);
}

/* Lists of results by run. */
static GTree *group(const struct tables *tables, const json_t *dump)
{
    GTree *runs = g_tree_new_full(compare_keys, NULL, g_free, free_list);
    for (size_t i = 0; i < json_array_size(dump); i++) {
        const json_t *row = json_array_get(dump, i);
        if (strcmp(text_of(row, "model"), "codespeed.result") != 0)
            continue;
        json_t *result = result_of(tables, json_object_get(row, "fields"));
        g_autofree char *key = result ? run_of(result) : NULL;
        json_t *list = key ? (json_t *)g_tree_lookup(runs, key) : NULL;
        if (key && !list) {
            list = json_array();
            g_tree_insert(runs, g_steal_pointer(&key), list);
        }
        if (list)
            json_array_append_new(list, result);
    }
    return runs;
}

static bool give(json_t *list, int64_t time_ms, import_item_fn take, void *user, GError **error)
{
    char *text = json_dumps(list, JSON_COMPACT | JSON_SORT_KEYS);
    GString *bytes = g_string_new(text);
    free(text);
    struct import_item item = {
        .name = text_of(json_array_get(list, 0), "commitid"), .bytes = bytes, .time_ms = time_ms};
    bool is_good = take(&item, user, error);
    g_string_free(bytes, TRUE);
    return is_good;
}

static json_t *load(const char *path, int64_t *out_time_ms, GError **error)
{
    json_error_t wrong;
    GString *bytes = import_read_file(path, IMPORT_FILE_BYTES_MAX, out_time_ms, error);
    if (!bytes)
        return NULL;
    json_t *dump = json_loadb(bytes->str, bytes->len, 0, &wrong);
    g_string_free(bytes, TRUE);
    if (json_is_array(dump))
        return dump;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "%s is no list of rows as manage.py dumpdata codespeed writes it%s%s", path,
                dump ? "" : ": ", dump ? "" : wrong.text);
    json_decref(dump);
    return NULL;
}

bool import_codespeed_each(const char *path, import_item_fn take, void *user, GError **error)
{
    int64_t time_ms = 0;
    json_t *dump = load(path, &time_ms, error);
    if (!dump)
        return false;
    struct tables tables = {g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    index_rows(&tables, dump);
    GTree *runs = group(&tables, dump);
    bool is_good = true;
    for (GTreeNode *node = g_tree_node_first(runs); node && is_good; node = g_tree_node_next(node))
        is_good = give((json_t *)g_tree_node_value(node), time_ms, take, user, error);
    g_tree_destroy(runs);
    g_hash_table_unref(tables.rows);
    json_decref(dump);
    return is_good;
}
