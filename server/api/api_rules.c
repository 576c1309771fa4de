/* SPDX-License-Identifier: Apache-2.0
 * /api/projects/{project}/rules: what holds, who saved what, and what other rules would have told.
 * Saving is PUT /api/projects/{project} (api_projects.c). */
#include "server/api/api_body.h"
#include "server/api/api_projects.h"
#include "server/api/api_series.h"
#include "server/context.h"
#include "server/routes.h"
#include "server/work/rules_trial.h"

#include "schema/rules_parse.h"
#include <string.h>

#define LOG_LIMIT 100

/* ---- GET
 * ------------------------------------------------------------------------------------------------------
 */

static guint count_fits(const struct store_project *project, const struct rule *rule)
{
    guint n = 0;
    for (guint i = 0; i < project->series->len; i++) {
        const struct series_names names = store_series_names(project->series->pdata[i]);
        n += series_pattern_fits(&rule->pattern, &names);
    }
    return n;
}

static void write_rules(struct json_writer *writer, const struct store_project *project)
{
    json_writer_array(writer, "rules");
    for (guint i = 0; project->rules && i < project->rules->len; i++) {
        const struct rule *rule = g_ptr_array_index(project->rules, i);
        g_autoptr(GString) text = g_string_new(NULL);
        rule_print(rule, text);
        json_writer_object(writer, NULL);
        json_writer_raw(writer, "rule", text->str);
        json_writer_integer(writer, "series", count_fits(project, rule));
        json_writer_end(writer);
    }
    json_writer_end(writer);
}

static void write_entry(struct json_writer *writer, const struct store_rule_entry *entry)
{
    json_writer_object(writer, NULL);
    api_write_time_ms(writer, "at", entry->at_ms);
    json_writer_string(writer, "who", entry->who);
    json_writer_string(writer, "note", entry->note);
    json_writer_integer(writer, "series", entry->n_series);
    json_writer_raw(writer, "rules", entry->rules_json);
    json_writer_end(writer);
}

/* The newest entries below `before`, and where the next ones are. */
static bool write_log(struct json_writer *writer, StoreSnapshot *snapshot,
                      const struct store_project *project, int64_t before, GError **error)
{
    const struct store_page page = {project->id, before, LOG_LIMIT + 1};
    g_autoptr(GPtrArray) log = store_rule_log(snapshot, &page, error);
    if (!log)
        return false;
    json_writer_array(writer, "log");
    for (guint i = 0; i < log->len && i < LOG_LIMIT; i++)
        write_entry(writer, log->pdata[i]);
    json_writer_end(writer);
    char *next = NULL;
    if (log->len > LOG_LIMIT) {
        const struct store_rule_entry *last = log->pdata[LOG_LIMIT - 1];
        g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)last->id);
        next = api_write_address("/api/projects/", project->name, "/rules?before=", id, NULL);
    }
    api_write_taken(writer, "next", next);
    return true;
}

static GString *render(StoreSnapshot *snapshot, const struct store_project *project, int64_t before,
                       GError **error)
{
    g_autoptr(GString) body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_string(&writer, "project", project->name);
    api_write_taken(&writer, "page", api_write_address("/p/", project->name, "/rules", NULL));
    json_writer_number(&writer, "least_effect", RULES_LEAST_EFFECT_DEFAULT);
    write_rules(&writer, project);
    if (!write_log(&writer, snapshot, project, before, error))
        return NULL;
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    return g_steal_pointer(&body);
}

void api_rules_get(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    int64_t before = 0;
    if (!http_query_integer(request, "before", 1, INT64_MAX, &before, &error)) {
        http_respond_error(request, error, NULL);
        return;
    }
    StoreSnapshot *snapshot = context_snapshot(request);
    if (!snapshot)
        return;
    const struct store_project *project = api_project_of_path(request, snapshot, &error);
    GString *body = NULL;
    if (project && !http_not_modified(request, store_version(snapshot, project), HTTP_JSON))
        body = render(snapshot, project, before, &error);
    store_snapshot_end(snapshot);
    if (body)
        http_respond(request, 200, HTTP_JSON, body);
    else if (error)
        http_respond_error(request, error, NULL);
}

/* ---- POST try
 * -------------------------------------------------------------------------------------------------
 */

struct trial_body {
    GPtrArray *rules;
    int64_t commits;
};

static void take_rules(struct reading at, json_t *value, const struct field *field, void *member)
{
    GPtrArray **slot = (GPtrArray **)member;
    (void)field;
    g_clear_pointer(slot, g_ptr_array_unref);
    *slot = rules_read(at, value);
}

static void take_commits(struct reading at, json_t *value, const struct field *field, void *member)
{
    int64_t *commits = (int64_t *)member;
    (void)field;
    if (document_whole(at, value, 1, commits) && *commits > RULES_TRIAL_COMMITS_MAX)
        document_fault(at, "must be from 1 to %u", RULES_TRIAL_COMMITS_MAX);
}

static const struct field trial_fields[] = {
    {"rules", true, take_rules, offsetof(struct trial_body, rules), 0, NULL},
    {"commits", false, take_commits, offsetof(struct trial_body, commits), 0, NULL},
};
static const struct field_table trial_table = {"a trial", trial_fields, G_N_ELEMENTS(trial_fields)};

static const char *word_of(int verdict)
{
    return verdict < 0 ? "regressed" : verdict > 0 ? "improved" : NULL;
}

static void write_sha(struct json_writer *writer, const char *key, StoreSnapshot *snapshot,
                      int64_t commit_id)
{
    const struct store_commit *commit = store_commit_by_id(snapshot, commit_id);
    json_writer_string(writer, key, commit ? commit->sha : NULL);
}

static void write_change(struct json_writer *writer, StoreSnapshot *snapshot,
                         const struct rules_trial_row *row)
{
    const struct store_series *series = store_series_by_id(snapshot, row->series_id);
    if (!series)
        return;
    json_writer_object(writer, NULL);
    json_writer_string(writer, "what", rules_trial_what_name(row->what));
    json_writer_string(writer, "kind", row->is_boundary ? "boundary" : "change");
    api_series_write(writer, "series", series);
    write_sha(writer, "last_good", snapshot, row->good_commit_id);
    write_sha(writer, "first_bad", snapshot, row->bad_commit_id);
    write_sha(writer, "told_at", snapshot, row->told_commit_id);
    json_writer_number(writer, "effect", row->effect);
    json_writer_number(writer, "low", row->low);
    json_writer_number(writer, "high", row->high);
    json_writer_string(writer, "verdict", word_of(row->verdict_then));
    json_writer_string(writer, "verdict_now", word_of(row->verdict_now));
    json_writer_end(writer);
}

static void write_counts(struct json_writer *writer, const guint counts[RULES_TRIAL_WHATS])
{
    for (guint i = 0; i < RULES_TRIAL_WHATS; i++)
        json_writer_integer(writer, rules_trial_what_name((enum rules_trial_what)i), counts[i]);
}

static void write_trial(struct json_writer *writer, StoreSnapshot *snapshot,
                        const RulesTrial *trial)
{
    guint n_all = trial->counts[RULES_TRIAL_ADDED] + trial->counts[RULES_TRIAL_GONE] +
                  trial->counts[RULES_TRIAL_TURNED];
    json_writer_integer(writer, "commits", trial->commits);
    write_counts(writer, trial->counts);
    json_writer_integer(writer, "series_touched", trial->n_touched);
    json_writer_integer(writer, "series_tried", trial->n_tried);
    json_writer_bool(writer, "cut", trial->is_cut);
    json_writer_integer(writer, "changes_left_off", n_all - trial->rows->len);
    json_writer_array(writer, "changes");
    for (guint i = 0; i < trial->rows->len; i++)
        write_change(writer, snapshot, &g_array_index(trial->rows, struct rules_trial_row, i));
    json_writer_end(writer);
    json_writer_array(writer, "series");
    for (guint i = 0; i < trial->series->len; i++) {
        const struct rules_trial_series *series =
            &g_array_index(trial->series, struct rules_trial_series, i);
        json_writer_object(writer, NULL);
        api_write_id(writer, "id", series->series_id);
        write_counts(writer, series->counts);
        json_writer_end(writer);
    }
    json_writer_end(writer);
}

static void answer_trial(HttpRequest *request, const RulesTrial *trial)
{
    StoreSnapshot *snapshot = context_snapshot(request);
    if (!snapshot)
        return;
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_string(&writer, "project", http_request_segment(request, "project"));
    write_trial(&writer, snapshot, trial);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    store_snapshot_end(snapshot);
    http_respond(request, 200, HTTP_JSON, body);
}

void api_rules_try(HttpRequest *request)
{
    if (!api_body_check_json(request))
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(RulesTrial) trial = NULL;
    struct trial_body body = {.commits = RULES_TRIAL_COMMITS};
    if (api_body_read(request, &trial_table, &body, faults, &error)) {
        const struct rules_trial_request wanted = {.project =
                                                       http_request_segment(request, "project"),
                                                   .rules = body.rules,
                                                   .commits = (guint)body.commits,
                                                   .values_max = RULES_TRIAL_VALUES_MAX};
        trial = rules_trial_run((StoreReader *)http_request_thread(request), &wanted, &error);
    }
    g_clear_pointer(&body.rules, g_ptr_array_unref);
    if (trial)
        answer_trial(request, trial);
    else
        http_respond_error(request, error, faults);
}
