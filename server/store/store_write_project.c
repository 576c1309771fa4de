/* SPDX-License-Identifier: Apache-2.0
 * Settings of a project (part of store_write.h). Its parameter defaults move lines: a case that has
 * the default is shown as the one that lacks the parameter (catalogue_lines.h). The writer thread
 * runs it, alone in its transaction. */
#include "server/store/catalogue_rules.h"
#include "server/store/store_write.h"
#include <string.h>

static void add_default(const char *bench, const char *param, const char *value, void *user)
{
    param_defaults_add(user, bench, param, value);
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
    staging_set_project(&writer->staging, project, update);
    write->receipt.outcome = known ? STORE_UPDATED : STORE_CREATED;
    if (update->resolved && !save_rules(writer, project, update, &write->receipt, error))
        return false;
    const char *json = update->settings->param_defaults_json;
    if (!json)
        return true;
    update->defaults = param_defaults_new();
    return sqlite_writer_set_defaults(writer->rows, project->pub.id, *json ? json : "{}",
                                      add_default, update->defaults, error);
}
