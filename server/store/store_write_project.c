/* SPDX-License-Identifier: Apache-2.0
 * Settings of a project, and what its parameter defaults do to series (part of store_write.h). A
 * case that has the default is the same series as one that lacks the parameter, so series that
 * spell the default out are given the shorter identity; where both exist, both stay and it is said.
 * The writer thread runs it, alone in its transaction. */
#include "server/store/catalogue_rules.h"
#include "server/store/store_write.h"
#include <string.h>

static void add_default(const char *bench, const char *param, const char *value, void *user)
{
    param_defaults_add(user, bench, param, value);
}

static char *identity_text(const struct store_series *series, const char *params_text)
{
    return g_strdup_printf("%" G_GINT64_FORMAT "\n%" G_GINT64_FORMAT "\n%s\n%s\n%s",
                           series->benchmark->id, series->machine->id, params_text, series->metric,
                           series->unit);
}

static bool rename_series(struct store_writer *writer, struct store_write *write,
                          struct catalogue_project *project, struct staging_settings *update,
                          GError **error)
{
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < project->pub.series->len; i++) {
        const struct store_series *series = project->pub.series->pdata[i];
        g_hash_table_add(taken, identity_text(series, series->params_text));
    }
    guint both = 0;
    for (guint i = 0; i < project->pub.series->len; i++) {
        struct catalogue_series *series = project->pub.series->pdata[i];
        g_autofree char *shorter = param_defaults_identity(
            update->defaults, series->pub.benchmark->name, series->pub.params);
        if (!shorter)
            continue;
        char *identity = identity_text(&series->pub, shorter);
        if (!g_hash_table_add(taken, identity)) {
            both++;
            continue;
        }
        if (!sqlite_writer_rename_series(writer->rows, series, shorter, error))
            return false;
        g_ptr_array_add(update->renamed, series);
        g_ptr_array_add(update->params_texts, g_steal_pointer(&shorter));
    }
    if (both > 0)
        g_ptr_array_add(write->warnings,
                        g_strdup_printf("%u series spell out a default and exist without it too: "
                                        "they stay apart, new results go to those without it",
                                        both));
    return true;
}

/* Those of which the rules say something else than before wait to be judged anew. */
static bool save_rules(struct store_writer *writer, const struct catalogue_project *project,
                       const struct staging_settings *update, struct store_receipt *receipt,
                       GError **error)
{
    for (guint i = 0; i < update->resolved->len; i++) {
        const struct store_series *series = project->pub.series->pdata[i];
        if (rule_settings_equal(&series->rule,
                                &g_array_index(update->resolved, struct rule_settings, i)))
            continue;
        receipt->n_series++;
        if (series->n_points > 0 &&
            !sqlite_verdict_add_rule_rejudge(writer->verdicts, series->id, error))
            return false;
    }
    g_autofree char *text = rules_text(update->settings->rules);
    const struct store_rule_entry entry = {.at_ms = g_get_real_time() / 1000,
                                           .who = update->settings->who,
                                           .note = update->settings->note,
                                           .rules_json = text,
                                           .n_series = receipt->n_series};
    return sqlite_verdict_log_rules(writer->verdicts, project->pub.id, &entry, error);
}

bool store_write_project(struct store_writer *writer, struct store_write *write, GError **error)
{
    bool known = staging_find_project(&writer->staging, write->settings->name) != NULL;
    const char *branch = write->settings->default_branch;
    struct catalogue_project *project =
        store_write_need_project(writer, write->settings->name, error);
    if (!project || !sqlite_writer_set_project(writer->rows, &project->pub, write->settings, error))
        return false;
    if (branch && *branch && strcmp(branch, project->pub.default_branch) != 0 &&
        !store_write_rejudge(writer, project, error))
        return false;
    struct staging_settings *update = g_new0(struct staging_settings, 1);
    update->settings = g_steal_pointer(&write->settings);
    if (update->settings->rules)
        update->resolved = catalogue_rules_resolve(project, update->settings->rules);
    update->renamed = g_ptr_array_new();
    update->params_texts = g_ptr_array_new_with_free_func(g_free);
    staging_set_project(&writer->staging, project, update);
    write->receipt.outcome = known ? STORE_UPDATED : STORE_CREATED;
    if (update->resolved && !save_rules(writer, project, update, &write->receipt, error))
        return false;
    const char *json = update->settings->param_defaults_json;
    if (!json)
        return true;
    update->defaults = param_defaults_new();
    return sqlite_writer_set_defaults(writer->rows, project->pub.id, *json ? json : "{}",
                                      add_default, update->defaults, error) &&
           rename_series(writer, write, project, update, error);
}
