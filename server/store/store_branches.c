/* SPDX-License-Identifier: Apache-2.0
 * What readers ask of heads and annotations (see store_branches.h): no I/O. Any thread, within a
 * snapshot; the writer thread, too. */
#include "server/store/store_branches.h"
#include "server/store/branch_line.h"
#include <string.h>

static const char *const moves[] = {"made", "forward", "forced", "unproven"};

const char *store_head_move_name(enum store_head_move move)
{
    return moves[move];
}

bool store_head_move_parse(const char *word, enum store_head_move *out)
{
    for (guint i = 0; word && i < G_N_ELEMENTS(moves); i++) {
        if (strcmp(moves[i], word) == 0) {
            *out = (enum store_head_move)i;
            return true;
        }
    }
    return false;
}

void store_head_free(struct store_head *head)
{
    if (!head)
        return;
    g_free(head->branch);
    g_free(head->who);
    g_free(head);
}

void store_head_write_free(struct store_head_write *write)
{
    if (!write)
        return;
    g_free(write->project);
    g_free(write->branch);
    g_free(write->sha);
    g_free(write->who);
    g_free(write);
}

const struct store_head *store_head_find(const struct store_project *project, const char *branch)
{
    guint low = 0, high = project->heads->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const struct store_head *head = project->heads->pdata[middle];
        int order = strcmp(head->branch, branch);
        if (order == 0)
            return head;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Ancestors come before their descendants in commit order: one pass downwards, as far as the older
 * one, marks what the newer one descends from. */
enum store_ancestry store_ancestry(const struct store_commit *older,
                                   const struct store_commit *newer)
{
    if (older == newer)
        return STORE_ANCESTRY_YES;
    const GPtrArray *commits = newer->project->commits;
    bool is_placed = newer->position < commits->len &&
                     commits->pdata[newer->position] == (gconstpointer)newer &&
                     older->position < commits->len;
    if (!is_placed)
        return STORE_ANCESTRY_UNKNOWN;
    if (older->position > newer->position)
        return newer->parents ? STORE_ANCESTRY_NO : STORE_ANCESTRY_UNKNOWN;
    guint first = older->position;
    g_autofree guint8 *marks = g_new0(guint8, newer->position - first + 1);
    bool ends_are_known = true;
    marks[newer->position - first] = 1;
    for (guint i = newer->position + 1; i-- > first;) {
        const struct store_commit *commit = commits->pdata[i];
        if (!marks[i - first])
            continue;
        if (commit == older)
            return STORE_ANCESTRY_YES;
        ends_are_known = ends_are_known && commit->parents;
        for (guint p = 0; commit->parents && commit->parents[p]; p++)
            if (commit->parents[p]->position >= first)
                marks[commit->parents[p]->position - first] = 1;
    }
    return ends_are_known ? STORE_ANCESTRY_NO : STORE_ANCESTRY_UNKNOWN;
}

/* ---- What is of a branch
 * ------------------------------------------------------------------------------------------ */

bool store_run_is_of_pull_request(const struct store_run *run)
{
    return run->pull_request || (run->reason && strcmp(run->reason, "pull-request") == 0);
}

bool store_run_is_of(const struct store_run *run, const char *branch, bool is_default,
                     enum store_line line)
{
    if (run->is_bound && is_default && strcmp(run->branch, branch) != 0)
        return false;
    if (line == STORE_LINE_ON || line == STORE_LINE_OFF)
        return line == STORE_LINE_ON;
    if (!run->branch)
        return is_default;
    if (is_default && store_run_is_of_pull_request(run))
        return false;
    return strcmp(run->branch, branch) == 0;
}

void store_branch_open(StoreBranch *branch, const struct store_project *project, const char *name)
{
    *branch = (StoreBranch){.project = project,
                            .name = name,
                            .is_default = strcmp(name, project->default_branch) == 0,
                            .head = store_head_find(project, name)};
    if (branch->head && !branch->is_default)
        branch->line = branch_line_states(project, branch_line_top(branch->head));
}

void store_branch_clear(StoreBranch *branch)
{
    g_clear_pointer(&branch->line, g_free);
}

enum store_line store_branch_line(const StoreBranch *branch, const struct store_commit *commit)
{
    if (branch->line)
        return (enum store_line)branch->line[commit->position];
    return branch->is_default ? commit->line : STORE_LINE_UNKNOWN;
}

bool store_branch_has_run(const StoreBranch *branch, const struct store_run *run)
{
    return store_run_is_of(run, branch->name, branch->is_default,
                           store_branch_line(branch, run->commit));
}

/* ---- Annotations
 * --------------------------------------------------------------------------------------------------
 */

void store_annotation_free(struct store_annotation *annotation)
{
    if (!annotation)
        return;
    g_free(annotation->text);
    g_free(annotation->who);
    g_free(annotation->removed_by);
    g_free(annotation);
}

void store_annotation_write_free(struct store_annotation_write *write)
{
    if (!write)
        return;
    g_free(write->project);
    g_free(write->first);
    g_free(write->last);
    g_free(write->bench);
    g_free(write->machine);
    g_free(write->text);
    g_free(write->who);
    g_free(write);
}

const struct store_annotation *store_annotation_find(const struct store_project *project,
                                                     int64_t id)
{
    for (guint i = 0; i < project->annotations->len; i++) {
        const struct store_annotation *annotation = project->annotations->pdata[i];
        if (annotation->id == id)
            return annotation;
    }
    return NULL;
}

const struct store_benchmark *store_annotation_benchmark(const struct store_annotation *annotation)
{
    const struct store_benchmark *benchmark = annotation->benchmark;
    return benchmark ? store_benchmark_find(benchmark->project, benchmark->name) : NULL;
}

const struct store_machine *store_annotation_machine(StoreSnapshot *snapshot,
                                                     const struct store_annotation *annotation)
{
    return annotation->machine ? store_machine_find(snapshot, annotation->machine->name) : NULL;
}

bool store_annotation_applies(StoreSnapshot *snapshot, const struct store_annotation *annotation,
                              const struct store_series *series)
{
    const struct store_benchmark *benchmark = store_annotation_benchmark(annotation);
    const struct store_machine *machine = store_annotation_machine(snapshot, annotation);
    return annotation->removed_ms == 0 && (!benchmark || benchmark == series->benchmark) &&
           (!machine || machine == series->machine);
}
