/* SPDX-License-Identifier: Apache-2.0
 * See catalogue_rules.h. The writer thread, and the loader. */
#include "server/store/catalogue_rules.h"

#include "server/store/store_changes.h"

static void set(struct catalogue_series *series, const struct rule_settings *settings)
{
    series->pub.rule = *settings;
    series->pub.measured_better = series->better;
    series->pub.better = settings->has_better ? settings->better : series->better;
}

void catalogue_rules_apply(struct catalogue_series *series)
{
    const struct series_names names = store_series_names(&series->pub);
    struct rule_settings settings = rules_resolve(series->pub.project->rules, &names);
    set(series, &settings);
}

GArray *catalogue_rules_resolve(const struct catalogue_project *project, const GPtrArray *rules)
{
    const GPtrArray *all = project->pub.series;
    GArray *resolved = g_array_sized_new(FALSE, FALSE, sizeof(struct rule_settings), all->len);
    for (guint i = 0; i < all->len; i++) {
        const struct series_names names = store_series_names(all->pdata[i]);
        struct rule_settings settings = rules_resolve(rules, &names);
        g_array_append_val(resolved, settings);
    }
    return resolved;
}

void catalogue_rules_replace(Catalogue *catalogue, struct catalogue_project *project,
                             GPtrArray *rules, const GArray *resolved)
{
    g_clear_pointer(&project->pub.rules, g_ptr_array_unref);
    project->pub.rules = rules;
    catalogue->rules_version++;
    for (guint i = 0; i < resolved->len && i < project->pub.series->len; i++)
        set(project->pub.series->pdata[i], &g_array_index(resolved, struct rule_settings, i));
}
