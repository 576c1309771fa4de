/* SPDX-License-Identifier: Apache-2.0
 * A machine's page in its other forms; its tables that read the store are written by the parts that
 * show them. The request's thread, inside its snapshot. */
#include "server/pages/environment_facts.h"
#include "server/pages/link.h"
#include "server/pages/machine_view.h"

#include <math.h>

static double seconds(int64_t ms)
{
    return ms > 0 ? (double)ms / 1e3 : (double)NAN;
}

static void write_facts(Sheet *sheet, const struct machine_view *view)
{
    static const struct sheet_column columns[] = {
        {"fact", "Fact", false}, {"value", "Value", false}, {0}};
    g_autoptr(GPtrArray) facts =
        environment_facts_of(view->environments, view->history->environment_digest);
    sheet_table(sheet, "facts", "Facts", columns, SHEET_ROWS);
    for (guint i = 0; facts && i < facts->len; i++) {
        const struct run_param *fact = (const struct run_param *)facts->pdata[i];
        sheet_text(sheet, fact->name);
        sheet_text(sheet, fact->value);
    }
    sheet_table_end(sheet);
}

static void write_environments(Sheet *sheet, const struct machine_view *view)
{
    static const struct sheet_column columns[] = {{"first", "From", false},
                                                  {"last", "To", false},
                                                  {"runs", "Runs", true},
                                                  {"project", "Project", false},
                                                  {"commit", "First run of", false},
                                                  {"environment", "Environment", false},
                                                  {0}};
    const GArray *stretches = view->history->stretches;
    sheet_table(sheet, "environments", "Environments", columns, SHEET_ROWS);
    for (guint i = stretches->len; i > 0; i--) {
        const struct machine_stretch *one =
            &g_array_index(stretches, struct machine_stretch, i - 1);
        sheet_time_ms(sheet, machine_run_ms(one->first));
        sheet_time_ms(sheet, machine_run_ms(one->last));
        sheet_integer(sheet, one->n_runs);
        sheet_text(sheet, one->first->project->name);
        sheet_commit(sheet, one->first->commit);
        sheet_text(sheet, one->first->environment_digest);
    }
    sheet_table_end(sheet);
}

static void write_gaps(Sheet *sheet, const struct machine_view *view)
{
    static const struct sheet_column columns[] = {
        {"silent_s", "Silent for", true},   {"from", "From", false},          {"to", "To", false},
        {"before", "Commit before", false}, {"after", "Commit after", false}, {0}};
    const GArray *gaps = view->history->gaps;
    sheet_table(sheet, "silences", "Silences", columns, SHEET_ROWS);
    for (guint i = gaps->len; i > 0; i--) {
        const struct machine_gap *gap = &g_array_index(gaps, struct machine_gap, i - 1);
        sheet_number(sheet, seconds(gap->ms), "s");
        sheet_time_ms(sheet, machine_run_ms(gap->before));
        sheet_time_ms(sheet, gap->after ? gap->after->started_ms : 0);
        sheet_commit(sheet, gap->before->commit);
        sheet_commit(sheet, gap->after ? gap->after->commit : NULL);
    }
    sheet_table_end(sheet);
}

static void write_projects(Sheet *sheet, const struct machine_view *view)
{
    static const struct sheet_column columns[] = {
        {"project", "Project", false},         {"runs", "Runs", true},
        {"interval_s", "Usually every", true}, {"last_result", "Last result", false},
        {"commit", "Commit", false},           {0}};
    const GArray *projects = view->history->projects;
    sheet_table(sheet, "projects", "What runs here", columns, SHEET_ROWS);
    for (guint i = 0; i < projects->len; i++) {
        const struct machine_project *one = &g_array_index(projects, struct machine_project, i);
        g_autofree char *url = link_project(one->project->name);
        sheet_link(sheet, one->project->name, url);
        sheet_integer(sheet, one->n_runs);
        sheet_number(sheet, seconds(one->interval_ms), "s");
        sheet_time_ms(sheet, machine_run_ms(one->last));
        sheet_commit(sheet, one->last->commit);
    }
    sheet_table_end(sheet);
}

static void write_runs(Sheet *sheet, const struct machine_view *view)
{
    static const struct sheet_column columns[] = {
        {"run", NULL, false},          {"project", "Project", false}, {"commit", "Commit", false},
        {"subject", "Subject", false}, {"reason", "Reason", false},   {"started", "Started", false},
        {"finished", NULL, false},     {"took_s", "Took", true},      {"results", "Results", true},
        {"errors", "Errors", true},    {"environment", NULL, false},  {0}};
    const GPtrArray *runs = view->history->runs;
    sheet_table(sheet, "runs", "Runs", columns, SHEET_ROWS);
    for (guint i = runs->len; i > 0; i--) {
        const struct store_run *run = (const struct store_run *)runs->pdata[i - 1];
        sheet_text(sheet, run->id);
        sheet_text(sheet, run->project->name);
        sheet_commit(sheet, run->commit);
        sheet_text(sheet, run->commit->subject);
        sheet_text(sheet, run->reason);
        sheet_time_ms(sheet, run->started_ms);
        sheet_time_ms(sheet, run->finished_ms);
        sheet_number(sheet, seconds(run->finished_ms - run->started_ms), "s");
        sheet_integer(sheet, run->n_results);
        sheet_integer(sheet, run->n_errors);
        sheet_text(sheet, run->environment_digest);
    }
    sheet_table_end(sheet);
}

Sheet *machine_sheet_new(const struct machine_view *view, enum sheet_form form, GError **error)
{
    g_autoptr(Sheet) sheet = sheet_new(view->request, form, view->machine->name);
    g_autoptr(GPtrArray) aliases = store_machine_aliases(view->snapshot, view->machine);
    sheet_csv_default(sheet, "runs");
    sheet_fact(sheet, "machine", NULL, form == SHEET_JSON ? view->machine->name : NULL);
    sheet_fact_list(sheet, "aliases", "Also known as", aliases);
    write_facts(sheet, view);
    write_environments(sheet, view);
    write_gaps(sheet, view);
    if (!machine_probes_sheet(sheet, view, error) || !machine_noise_sheet(sheet, view, error))
        return NULL;
    write_projects(sheet, view);
    write_runs(sheet, view);
    return g_steal_pointer(&sheet);
}
