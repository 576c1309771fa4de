/* SPDX-License-Identifier: Apache-2.0
 * See project_tree.h. */
#include "server/pages/project_tree.h"

#include <string.h>

static const char *value_of(const struct store_series *series, const char *param)
{
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *own = (const struct run_param *)series->params->pdata[i];
        if (strcmp(own->name, param) == 0)
            return own->value;
    }
    return "";
}

static guint count_values(const GPtrArray *cases, const char *param)
{
    g_autoptr(GHashTable) values = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < cases->len; i++) {
        const char *value = value_of((const struct store_series *)cases->pdata[i], param);
        g_hash_table_add(values, (gpointer)(gsize)value);
    }
    return g_hash_table_size(values);
}

/* Of those with several values the one with the fewest, the first by name among equals; NULL: none.
 */
static const char *choose_param(const GPtrArray *cases)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    const char *best = NULL;
    guint best_n = 0;
    for (guint i = 0; i < cases->len; i++) {
        const struct store_series *series = (const struct store_series *)cases->pdata[i];
        for (guint k = 0; k < series->params->len; k++) {
            char *name = ((const struct run_param *)series->params->pdata[k])->name;
            if (!g_hash_table_add(seen, name))
                continue;
            guint n = count_values(cases, name);
            bool is_better = !best || n < best_n || (n == best_n && strcmp(name, best) < 0);
            if (n > 1 && is_better) {
                best = name;
                best_n = n;
            }
        }
    }
    return best;
}

static void free_branch(gpointer data)
{
    struct project_branch *branch = (struct project_branch *)data;
    g_ptr_array_unref(branch->cases);
    g_free(branch);
}

void project_tree_free(ProjectTree *tree)
{
    if (!tree)
        return;
    g_ptr_array_unref(tree->branches);
    g_free(tree);
}

ProjectTree *project_tree_new(const GPtrArray *cases)
{
    ProjectTree *tree = g_new0(ProjectTree, 1);
    g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal);
    tree->param = choose_param(cases);
    tree->branches = g_ptr_array_new_with_free_func(free_branch);
    for (guint i = 0; i < cases->len; i++) {
        const struct store_series *series = (const struct store_series *)cases->pdata[i];
        const char *value = tree->param ? value_of(series, tree->param) : "";
        struct project_branch *branch = (struct project_branch *)g_hash_table_lookup(places, value);
        if (!branch) {
            branch = g_new0(struct project_branch, 1);
            branch->value = value;
            branch->cases = g_ptr_array_new();
            g_ptr_array_add(tree->branches, branch);
            g_hash_table_insert(places, (gpointer)(gsize)value, branch);
        }
        g_ptr_array_add(branch->cases, cases->pdata[i]);
    }
    return tree;
}
