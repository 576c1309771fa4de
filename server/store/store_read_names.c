/* SPDX-License-Identifier: Apache-2.0
 * Names that stand for others, through a snapshot (see store.h). Any thread. */
#include "server/store/catalogue_lines.h"
#include "server/store/store_internal.h"
#include <string.h>

static void free_rule(gpointer item)
{
    struct store_name_rule *rule = item;
    g_free(rule->bench);
    g_free(rule->param);
    g_free(rule->value);
    g_free(rule->target);
    g_free(rule);
}

static gint compare_rules(gconstpointer a, gconstpointer b)
{
    const struct store_name_rule *left = *(const struct store_name_rule *const *)a;
    const struct store_name_rule *right = *(const struct store_name_rule *const *)b;
    int order = strcmp(left->bench, right->bench);
    if (order == 0)
        order = g_strcmp0(left->param, right->param);
    return order != 0 ? order : g_strcmp0(left->value, right->value);
}

GPtrArray *store_name_rules(const struct store_project *project)
{
    const struct catalogue_project *of = (const struct catalogue_project *)project;
    GPtrArray *rules = g_ptr_array_new_with_free_func(free_rule);
    GHashTableIter iterator;
    gpointer key, target;
    g_hash_table_iter_init(&iterator, of->benchmark_aliases);
    while (g_hash_table_iter_next(&iterator, &key, &target)) {
        struct store_name_rule *rule = g_new0(struct store_name_rule, 1);
        rule->bench = g_strdup(key);
        rule->target = g_strdup(((const struct store_benchmark *)target)->name);
        g_ptr_array_add(rules, rule);
    }
    g_hash_table_iter_init(&iterator, of->value_aliases);
    while (g_hash_table_iter_next(&iterator, &key, &target)) {
        g_auto(GStrv) parts = g_strsplit(key, "\n", 3);
        struct store_name_rule *rule = g_new0(struct store_name_rule, 1);
        rule->bench = g_strdup(parts[0]);
        rule->param = g_strdup(parts[1]);
        rule->value = g_strdup(parts[2]);
        rule->target = g_strdup(target);
        g_ptr_array_add(rules, rule);
    }
    g_ptr_array_sort(rules, compare_rules);
    return rules;
}

static gint compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *store_machine_aliases(StoreSnapshot *snapshot, const struct store_machine *machine)
{
    const struct line_rules rules = {.catalogue = snapshot->catalogue};
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter iterator;
    gpointer key, target;
    g_hash_table_iter_init(&iterator, snapshot->catalogue->machine_aliases);
    while (g_hash_table_iter_next(&iterator, &key, &target))
        if (line_machine(&rules, target) == machine)
            g_ptr_array_add(names, g_strdup(key));
    g_ptr_array_sort(names, compare_texts);
    return names;
}

bool store_benchmark_first_run(StoreSnapshot *snapshot, const struct store_benchmark *benchmark,
                               int64_t *out_seq, GError **error)
{
    const struct catalogue_project *project = (const struct catalogue_project *)benchmark->project;
    const struct line_rules rules = {0};
    SqliteReader *rows = store_snapshot_rows(snapshot, error);
    GHashTableIter iterator;
    gpointer posted;
    *out_seq = 0;
    g_hash_table_iter_init(&iterator, project->benchmark_by_name);
    while (rows && g_hash_table_iter_next(&iterator, NULL, &posted)) {
        int64_t seq;
        if (line_benchmark(&rules, posted) != benchmark)
            continue;
        if (!sqlite_reader_first(rows, ((const struct store_benchmark *)posted)->id, &seq, error))
            return false;
        if (seq > 0)
            *out_seq = *out_seq == 0 ? seq : MIN(*out_seq, seq);
    }
    return rows != NULL;
}
