/* SPDX-License-Identifier: Apache-2.0
 * The end of a transaction's staging: taken back, or made visible. Part of staging.h; the writer
 * thread runs it, and holds the catalogue's write lock only while it applies what was prepared. */
#include "server/store/catalogue_rules.h"
#include "server/store/staging.h"

#include "server/store/branch_line.h"
#include <string.h>

void staging_settings_free(struct staging_settings *settings)
{
    store_project_settings_free(settings->settings);
    g_clear_pointer(&settings->defaults, g_hash_table_unref);
    g_clear_pointer(&settings->resolved, g_array_unref);
    g_free(settings);
}

void staging_rename_free(struct staging_rename *rename)
{
    g_free(rename->benchmark);
    g_free(rename->machine);
    g_clear_pointer(&rename->values, g_hash_table_unref);
    g_ptr_array_unref(rename->fresh);
    line_plan_free(rename->plan);
    g_free(rename);
}

static void free_change(struct staging_change *change)
{
    g_clear_pointer(&change->series, g_ptr_array_unref);
    g_clear_pointer(&change->last_seqs, g_array_unref);
    g_clear_pointer(&change->settings, staging_settings_free);
    g_clear_pointer(&change->rename, staging_rename_free);
    if (change->gone)
        g_clear_pointer(&change->gone->parents, g_ptr_array_unref);
    g_free(change->gone);
    g_free(change->who);
    g_free(change);
}

/* ---- Taking back
 * --------------------------------------------------------------------------------------------------
 */

static void drop_facts(struct catalogue_commit *commit, guint facts)
{
    if (facts & FACT_PARENTS)
        commit_order_unlink(&commit->order);
    if (facts & FACT_TIME) {
        commit->order.has_time = false;
        commit->has_claimed = false;
    }
    const char **texts[] = {&commit->author, &commit->subject, &commit->trailers_json,
                            &commit->branch};
    static const guint of_text[] = {FACT_AUTHOR, FACT_SUBJECT, FACT_TRAILERS, FACT_BRANCH};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        if (facts & of_text[i]) {
            g_free((gpointer)(guintptr)*texts[i]);
            *texts[i] = NULL;
        }
    }
}

void staging_take_facts_back(struct staging *staging, guint change, guint facts)
{
    struct staging_change *changed = staging->changes->pdata[change];
    struct catalogue_commit *commit = changed->object;
    drop_facts(commit, facts);
    commit->bound_facts &= ~facts;
    changed->facts &= ~facts;
    if (changed->facts != 0 || commit->bound_facts != changed->bound_before)
        return;
    g_ptr_array_remove_index(staging->changes, change);
    free_change(changed);
}

static void unlink_unit(const struct staging *staging, struct catalogue_series *series)
{
    struct catalogue_series *first =
        staging_find_series(staging, series->pub.benchmark, series->pub.machine,
                            series->pub.params_text, series->pub.metric);
    while (first && first->next_unit != series)
        first = first->next_unit;
    if (first)
        first->next_unit = series->next_unit;
}

/* What had been taken out is the commit's again. */
static void undo_gone(struct catalogue_commit *commit, const struct staging_change *change)
{
    const struct staging_gone *gone = change->gone;
    if (gone->parents)
        commit_order_link(&commit->order, (struct order_commit *const *)gone->parents->pdata,
                          gone->parents->len);
    if (change->facts & FACT_TIME) {
        commit->order.has_time = true;
        commit->order.time_s = gone->time_s;
        commit->has_claimed = gone->has_claimed;
        commit->claimed_time_s = gone->claimed_time_s;
    }
    commit->author = change->facts & FACT_AUTHOR ? gone->author : commit->author;
    commit->subject = change->facts & FACT_SUBJECT ? gone->subject : commit->subject;
    commit->branch = change->facts & FACT_BRANCH ? gone->branch : commit->branch;
    commit->bound_facts = change->bound_before;
}

static void undo_commit(struct staging_change *change)
{
    struct catalogue_commit *commit = change->object;
    if (change->kind == STAGED_COMMIT) {
        catalogue_commit_free(commit);
    } else if (change->kind == STAGED_FACTS) {
        drop_facts(commit, change->facts);
        commit->bound_facts = change->bound_before;
    } else if (change->kind == STAGED_FACTS_GONE) {
        undo_gone(commit, change);
    } else {
        commit->order.has_borrowed = change->had_borrowed;
        commit->order.borrowed_s = change->borrowed_s;
    }
}

static void undo_change(struct staging *staging, struct staging_change *change)
{
    if (change->kind == STAGED_SERIES && !change->key)
        unlink_unit(staging, change->object);
    if (change->key)
        g_hash_table_remove(staging->found, change->key);
    switch (change->kind) {
    case STAGED_PROJECT:
        catalogue_project_free(change->object);
        break;
    case STAGED_MACHINE:
        catalogue_machine_free(change->object);
        break;
    case STAGED_BENCHMARK:
        catalogue_benchmark_free(change->object);
        break;
    case STAGED_SERIES:
        catalogue_series_free(change->object);
        break;
    case STAGED_BETTER: {
        struct catalogue_series *series = change->object;
        series->better = BETTER_UNKNOWN;
        break;
    }
    case STAGED_COMMIT:
    case STAGED_FACTS:
    case STAGED_FACTS_GONE:
    case STAGED_BORROWED:
        undo_commit(change);
        break;
    case STAGED_ENVIRONMENT:
    case STAGED_TOPOLOGY:
        catalogue_environment_free(change->object);
        break;
    case STAGED_CASE:
        catalogue_case_free(change->object);
        break;
    case STAGED_RUN:
        catalogue_run_free(change->object);
        break;
    case STAGED_RENAME:
        for (guint i = 0; i < change->rename->fresh->len; i++)
            catalogue_series_free(change->rename->fresh->pdata[i]);
        break;
    case STAGED_HEAD:
        store_head_free(change->object);
        break;
    case STAGED_ANNOTATION:
        store_annotation_free(change->object);
        break;
    case STAGED_ENVIRONMENT_TOPOLOGY:
    case STAGED_DELETION:
    case STAGED_SETTINGS:
    case STAGED_RETENTION:
    case STAGED_DROPPED:
    case STAGED_TOUCH:
    case STAGED_HEAD_GONE:
    case STAGED_ANNOTATION_GONE:
        break;
    }
    free_change(change);
}

void staging_undo(struct staging *staging, guint mark)
{
    while (staging->changes->len > mark) {
        guint last = staging->changes->len - 1;
        struct staging_change *change = staging->changes->pdata[last];
        g_ptr_array_set_size(staging->changes, (gint)last);
        undo_change(staging, change);
    }
    if (mark == 0)
        staging->key_min = INT64_MAX;
}

/* ---- Applying
 * -----------------------------------------------------------------------------------------------------
 */

GPtrArray *staging_touched(const struct staging *staging)
{
    GPtrArray *touched = g_ptr_array_new();
    for (guint i = 0; i < staging->changes->len; i++) {
        struct staging_change *change = staging->changes->pdata[i];
        if (change->project && !g_ptr_array_find(touched, change->project, NULL))
            g_ptr_array_add(touched, change->project);
    }
    return touched;
}

static bool moves_commit(const struct staging_change *change)
{
    bool are_facts = change->kind == STAGED_FACTS || change->kind == STAGED_FACTS_GONE;
    return change->kind == STAGED_COMMIT || change->kind == STAGED_BORROWED ||
           (are_facts && (change->facts & (FACT_PARENTS | FACT_TIME)));
}

/* For each project whose commits changed, the splice of its order. */
static GArray *prepare_splices(const struct staging *staging, const GPtrArray *touched)
{
    GArray *splices = g_array_new(FALSE, TRUE, sizeof(struct catalogue_splice));
    for (guint t = 0; t < touched->len; t++) {
        g_autoptr(GPtrArray) dirty = g_ptr_array_new();
        for (guint i = 0; i < staging->changes->len; i++) {
            struct staging_change *change = staging->changes->pdata[i];
            if (!moves_commit(change) || change->project != touched->pdata[t])
                continue;
            g_ptr_array_add(dirty, &((struct catalogue_commit *)change->object)->order);
            if (change->gone && change->gone->parents) /* they may have had their time of it */
                g_ptr_array_extend(dirty, change->gone->parents, NULL, NULL);
        }
        if (dirty->len == 0)
            continue;
        struct catalogue_splice splice = {0};
        catalogue_splice_prepare(&splice, touched->pdata[t], dirty);
        g_array_append_val(splices, splice);
    }
    return splices;
}

static void apply_facts(struct catalogue_commit *commit, guint facts)
{
    if (facts & FACT_PARENTS)
        commit->pub.parents = catalogue_parents(&commit->order);
    if (facts & FACT_TIME) {
        commit->pub.has_time = true;
        commit->pub.provisional = false;
        commit->told_time_s = commit->has_claimed ? commit->claimed_time_s : commit->order.time_s;
    }
    /* The texts were made for the commit and are its own from now on. */
    if (facts & FACT_AUTHOR)
        commit->pub.author = (gpointer)(guintptr)commit->author;
    if (facts & FACT_SUBJECT)
        commit->pub.subject = (gpointer)(guintptr)commit->subject;
    if (facts & FACT_TRAILERS)
        commit->pub.trailers_json = (gpointer)(guintptr)commit->trailers_json;
    if (facts & FACT_BRANCH)
        commit->pub.branch = (gpointer)(guintptr)commit->branch;
}

/* The texts were the commit's; what it has now comes with a later change. */
static void apply_gone(struct catalogue_commit *commit, const struct staging_change *change)
{
    const struct staging_gone *gone = change->gone;
    if (change->facts & FACT_PARENTS)
        g_clear_pointer(&commit->pub.parents, g_free);
    if (change->facts & FACT_TIME) {
        commit->pub.has_time = false;
        commit->pub.provisional = true;
    }
    const struct {
        guint fact;
        char **seen;
        const char *was;
    } texts[] = {{FACT_AUTHOR, &commit->pub.author, gone->author},
                 {FACT_SUBJECT, &commit->pub.subject, gone->subject},
                 {FACT_BRANCH, &commit->pub.branch, gone->branch}};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        if (!(change->facts & texts[i].fact))
            continue;
        *texts[i].seen = NULL;
        g_free((gpointer)(guintptr)texts[i].was);
    }
}

/* A run's point counts once in the line that its series is part of. */
static void count_in_line(struct catalogue_series *series, int64_t run_seq)
{
    struct store_series *line = &series->line->pub;
    if (series->line == series || line->last_run_seq == run_seq)
        return;
    line->n_points++;
    line->last_run_seq = run_seq;
}

static void recount_line(struct catalogue_series *series)
{
    struct store_series *line = &series->line->pub;
    line->n_points = 0;
    line->last_run_seq = 0;
    for (guint i = 0; i < line->parts->len; i++) {
        const struct store_series *part = line->parts->pdata[i];
        line->n_points += part->n_points;
        line->last_run_seq = MAX(line->last_run_seq, part->last_run_seq);
    }
}

static void apply_run(Catalogue *catalogue, struct staging_change *change)
{
    struct store_run *run = change->object;
    catalogue_add_run(catalogue, run);
    for (guint i = 0; i < change->series->len; i++) {
        struct catalogue_series *series = change->series->pdata[i];
        series->pub.n_points++;
        series->pub.last_run_seq = run->seq;
        count_in_line(series, run->seq);
    }
}

static void apply_deletion(Catalogue *catalogue, struct staging_change *change)
{
    for (guint i = 0; i < change->series->len; i++) {
        struct catalogue_series *series = change->series->pdata[i];
        series->pub.n_points--;
        series->pub.last_run_seq = g_array_index(change->last_seqs, int64_t, i);
        if (series->line != series)
            recount_line(series);
    }
    catalogue_remove_run(catalogue, change->object);
}

static void replace_text(char **text, const char *by)
{
    if (!by)
        return;
    g_free(*text);
    *text = *by ? g_strdup(by) : NULL;
}

static void apply_rules(Catalogue *catalogue, struct catalogue_project *project,
                        struct staging_settings *update)
{
    g_autoptr(GPtrArray) rules = g_steal_pointer(&update->settings->rules);
    g_clear_pointer(&project->pub.rules_json, g_free);
    if (rules->len == 0)
        g_clear_pointer(&rules, g_ptr_array_unref);
    else
        project->pub.rules_json = rules_text(rules);
    catalogue_rules_replace(catalogue, project, g_steal_pointer(&rules), update->resolved);
}

static void apply_settings(Catalogue *catalogue, struct staging_change *change)
{
    struct catalogue_project *project = change->object;
    struct staging_settings *update = change->settings;
    if (update->settings->default_branch && *update->settings->default_branch)
        replace_text(&project->pub.default_branch, update->settings->default_branch);
    replace_text(&project->pub.commit_url_template, update->settings->commit_url_template);
    if (update->resolved)
        apply_rules(catalogue, project, update);
    if (update->settings->param_defaults_json) {
        g_free(project->pub.param_defaults_json);
        project->pub.param_defaults_json = param_defaults_json(update->defaults);
        g_clear_pointer(&project->defaults, g_hash_table_unref);
        project->defaults = g_steal_pointer(&update->defaults);
        catalogue->lines_moved = true; /* cases with a default are shown without it */
    }
}

static void set_alias(GHashTable *aliases, const char *name, gpointer target)
{
    if (target)
        g_hash_table_replace(aliases, g_strdup(name), target);
    else
        g_hash_table_remove(aliases, name);
}

static void apply_rename(Catalogue *catalogue, struct staging_rename *rename)
{
    if (rename->benchmark)
        set_alias(rename->project->benchmark_aliases, rename->benchmark, rename->benchmark_target);
    if (rename->machine)
        set_alias(catalogue->machine_aliases, rename->machine, rename->machine_target);
    if (rename->values) {
        g_hash_table_unref(rename->project->value_aliases);
        rename->project->value_aliases = g_steal_pointer(&rename->values);
    }
    for (guint i = 0; i < rename->fresh->len; i++)
        catalogue_add_joined(catalogue, rename->fresh->pdata[i]);
    line_plan_apply(catalogue, rename->plan);
}

static void apply_retention(Catalogue *catalogue, struct catalogue_project *project,
                            const struct store_retention *retention)
{
    const struct store_retention_rules *before = &project->pub.retention.rules;
    const struct store_retention_rules *now = &retention->rules;
    if (before->branches_days != now->branches_days ||
        before->branches_keep != now->branches_keep || before->samples_days != now->samples_days)
        catalogue->retention_version++;
    project->pub.retention = *retention;
}

static void apply_removal(struct staging_change *change)
{
    struct store_annotation *annotation = change->object;
    annotation->removed_by = g_steal_pointer(&change->who);
    annotation->removed_ms = change->at_ms;
}

/* Heads and annotations. */
static void apply_mark(Catalogue *catalogue, struct staging_change *change)
{
    struct store_project *project = &change->project->pub;
    if (change->kind == STAGED_HEAD)
        catalogue_set_head(project, change->object);
    else if (change->kind == STAGED_HEAD_GONE)
        catalogue_drop_head(project, ((const struct store_head *)change->object)->branch);
    else if (change->kind == STAGED_ANNOTATION)
        catalogue_add_annotation(catalogue, project, change->object);
    else
        apply_removal(change);
}

/* What people said of the project, and what that did. */
static void apply_rule(Catalogue *catalogue, struct staging_change *change)
{
    if (change->kind == STAGED_SETTINGS)
        apply_settings(catalogue, change);
    else if (change->kind == STAGED_RENAME)
        apply_rename(catalogue, change->rename);
    else if (change->kind == STAGED_RETENTION)
        apply_retention(catalogue, change->object, &change->retention);
    else
        ((struct store_run *)change->object)->samples_dropped = true;
}

static void apply_topology(Catalogue *catalogue, struct catalogue_environment *topology)
{
    catalogue_add_topology(catalogue, topology->digest, topology->id);
    catalogue_environment_free(topology);
}

static void apply_better(struct catalogue_series *series)
{
    if (series->line->better == BETTER_UNKNOWN)
        series->line->better = series->better;
    catalogue_rules_apply(series);
    catalogue_rules_apply(series->line);
}

static void apply_change(Catalogue *catalogue, struct staging_change *change)
{
    switch (change->kind) {
    case STAGED_PROJECT:
        catalogue_add_project(catalogue, change->object);
        break;
    case STAGED_MACHINE:
        catalogue_add_machine(catalogue, change->object);
        break;
    case STAGED_BENCHMARK:
        catalogue_add_benchmark(catalogue, change->object);
        break;
    case STAGED_SERIES:
        catalogue_add_series(catalogue, change->object);
        break;
    case STAGED_BETTER:
        apply_better(change->object);
        break;
    case STAGED_COMMIT:
        catalogue_add_commit(catalogue, change->object);
        break;
    case STAGED_FACTS:
        apply_facts(change->object, change->facts);
        break;
    case STAGED_FACTS_GONE:
        apply_gone(change->object, change);
        break;
    case STAGED_ENVIRONMENT:
        catalogue_add_environment(catalogue, change->object);
        break;
    case STAGED_ENVIRONMENT_TOPOLOGY:
        ((struct catalogue_environment *)change->object)->has_topology = true;
        break;
    case STAGED_TOPOLOGY:
        apply_topology(catalogue, change->object);
        break;
    case STAGED_CASE:
        catalogue_add_case(catalogue, change->object);
        break;
    case STAGED_RUN:
        apply_run(catalogue, change);
        break;
    case STAGED_DELETION:
        apply_deletion(catalogue, change);
        break;
    case STAGED_SETTINGS:
    case STAGED_RENAME:
    case STAGED_RETENTION:
    case STAGED_DROPPED:
        apply_rule(catalogue, change);
        break;
    case STAGED_HEAD:
    case STAGED_HEAD_GONE:
    case STAGED_ANNOTATION:
    case STAGED_ANNOTATION_GONE:
        apply_mark(catalogue, change);
        break;
    case STAGED_BORROWED:
    case STAGED_TOUCH:
        break;
    }
}

/* From which position on a change may have moved the default branch's line. */
static guint line_moves_from(const struct staging_change *change)
{
    const struct store_head *head = change->object;
    const struct catalogue_commit *commit = change->object;
    if ((change->kind == STAGED_FACTS || change->kind == STAGED_FACTS_GONE) &&
        (change->facts & FACT_PARENTS))
        return commit->pub.position;
    if (change->kind == STAGED_HEAD_GONE || change->kind == STAGED_SETTINGS)
        return 0;
    if (change->kind != STAGED_HEAD ||
        strcmp(head->branch, change->project->pub.default_branch) != 0)
        return G_MAXUINT;
    return head->before ? MIN(head->before->position, head->commit->position) : 0;
}

static void update_line(const struct staging *staging, struct catalogue_project *project,
                        const GArray *splices)
{
    guint first = G_MAXUINT;
    for (guint i = 0; i < splices->len; i++) {
        const struct catalogue_splice *splice = &g_array_index(splices, struct catalogue_splice, i);
        if (splice->project == project)
            first = MIN(first, splice->first);
    }
    for (guint i = 0; i < staging->changes->len; i++) {
        const struct staging_change *change = staging->changes->pdata[i];
        if (change->project == project)
            first = MIN(first, line_moves_from(change));
    }
    if (first != G_MAXUINT)
        branch_line_update(project, first);
}

void staging_apply(struct staging *staging, int64_t version)
{
    if (staging->changes->len == 0)
        return;
    g_autoptr(GPtrArray) touched = staging_touched(staging);
    g_autoptr(GArray) splices = prepare_splices(staging, touched);
    g_hash_table_remove_all(staging->found);

    catalogue_write_lock(staging->catalogue);
    for (guint i = 0; i < staging->changes->len; i++)
        apply_change(staging->catalogue, staging->changes->pdata[i]);
    for (guint i = 0; i < splices->len; i++)
        catalogue_splice_apply(&g_array_index(splices, struct catalogue_splice, i));
    for (guint i = 0; i < touched->len; i++)
        update_line(staging, touched->pdata[i], splices);
    for (guint i = 0; i < touched->len; i++)
        ((struct catalogue_project *)touched->pdata[i])->pub.version = version;
    if (touched->len > 0)
        staging->catalogue->version = version;
    catalogue_write_unlock(staging->catalogue);

    for (guint i = 0; i < splices->len; i++)
        catalogue_splice_clear(&g_array_index(splices, struct catalogue_splice, i));
    for (guint i = 0; i < staging->changes->len; i++)
        free_change(staging->changes->pdata[i]);
    g_ptr_array_set_size(staging->changes, 0);
    staging->key_min = INT64_MAX;
}
