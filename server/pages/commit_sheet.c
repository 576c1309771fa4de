/* SPDX-License-Identifier: Apache-2.0
 * The commit page in its other forms: verdicts, what moved, what was measured. The request's
 * thread.
 */
#include "server/pages/commit_view.h"

#include "server/pages/commit_verdict.h"
#include "server/pages/compare_sheet.h"
#include "server/pages/compare_table.h"
#include "server/pages/series_parts.h"

#include <math.h>

static const struct commit_verdict *verdict_at(const struct commit_view *view, guint i)
{
    return (const struct commit_verdict *)view->verdicts->pdata[i];
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

static const struct sheet_column verdict_columns[] = {
    {"machine", "Machine", false},    {"run", NULL, false},
    {"judged", "Judged", false},      {"verdict", "Verdict", false},
    {"base", "Compared with", false}, {0}};

static void write_verdicts(Sheet *sheet, const struct commit_view *view)
{
    sheet_table(sheet, "verdicts", NULL, verdict_columns, 0);
    for (guint i = 0; i < MIN(view->verdicts->len, COMMIT_VERDICTS_MAX); i++) {
        const struct commit_verdict *verdict = verdict_at(view, i);
        const Comparison *comparison = verdict->comparison;
        bool has_base = comparison && comparison->base.commit;
        g_autofree char *words = has_base ? compare_words(comparison) : NULL;
        sheet_text(sheet, verdict->run->machine->name);
        sheet_text(sheet, verdict->run->id);
        sheet_bool(sheet, !verdict->is_waiting);
        sheet_text(sheet, words);
        sheet_commit(sheet, has_base ? comparison->base.commit : NULL);
    }
    sheet_table_end(sheet);
}

static void write_warnings(Sheet *sheet, const struct commit_view *view)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    for (guint i = 0; i < MIN(view->verdicts->len, COMMIT_VERDICTS_MAX); i++) {
        const Comparison *comparison = verdict_at(view, i)->comparison;
        for (guint k = 0; comparison && k < comparison->warnings->len; k++)
            g_ptr_array_add(all, comparison->warnings->pdata[k]);
    }
    sheet_fact_list(sheet, "warnings", "Warning", all);
}

/* ---- What moved, and what was not measured ----------------------------------------------------
 */

static const struct sheet_column moved_columns[] = {COMPARE_SHEET_COLUMNS, {0}};

static void write_rows(Sheet *sheet, const struct commit_view *view, guint verdicts)
{
    for (guint i = 0; i < MIN(view->verdicts->len, COMMIT_VERDICTS_MAX); i++) {
        const Comparison *comparison = verdict_at(view, i)->comparison;
        for (guint k = 0; comparison && k < comparison->rows->len; k++) {
            const struct comparison_row *row =
                &g_array_index(comparison->rows, struct comparison_row, k);
            if (verdicts & 1u << row->verdict)
                compare_sheet_row(sheet, row);
        }
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

static const struct sheet_column result_columns[] = {SERIES_PARTS_COLUMNS,
                                                     {"value", "Value", true},
                                                     {"low", "Low", true},
                                                     {"high", "High", true},
                                                     {"n", "n", true},
                                                     {"censored", NULL, false},
                                                     {"flagged", NULL, false},
                                                     {"before", NULL, true},
                                                     {"before_commit", NULL, false},
                                                     {0}};

static void write_results(Sheet *sheet, const struct commit_view *view)
{
    const GArray *results = view->results->results;
    sheet_table(sheet, "results", "Results", result_columns, SHEET_ROWS);
    for (guint i = 0; i < results->len; i++) {
        const struct commit_result *result = &g_array_index(results, struct commit_result, i);
        const struct commit_point *value = &result->value;
        const char *unit = result->series->unit;
        series_parts_cells(sheet, result->series);
        sheet_number(sheet, value->center, unit);
        sheet_number(sheet, value->has_interval ? value->low : (double)NAN, unit);
        sheet_number(sheet, value->has_interval ? value->high : (double)NAN, unit);
        sheet_integer(sheet, value->n);
        sheet_text(sheet, value->censored > 0 ? "above" : value->censored < 0 ? "below" : NULL);
        sheet_bool(sheet, value->flagged);
        sheet_number(sheet, result->base_commit ? result->base.center : (double)NAN, unit);
        sheet_commit(sheet, result->base_commit);
    }
    sheet_table_end(sheet);
}

static const struct sheet_column error_columns[] = {
    {"bench", "Benchmark", false}, {"params", "Parameters", false}, {"error", "Error", false}, {0}};

static void write_errors(Sheet *sheet, const struct commit_view *view)
{
    sheet_table(sheet, "errors", "Errors", error_columns, SHEET_ROWS);
    for (guint i = 0; i < view->errors->len; i++) {
        const struct store_result_error *error =
            (const struct store_result_error *)view->errors->pdata[i];
        sheet_text(sheet, error->bench);
        sheet_raw(sheet, error->params_text, error->params_text);
        sheet_text(sheet, error->message);
    }
    sheet_table_end(sheet);
}

Sheet *commit_sheet_new(const struct commit_view *view, enum sheet_form form)
{
    const struct store_commit *commit = view->commit;
    g_autofree char *title = g_strdup_printf("%.8s · %s", commit->sha, commit->project->name);
    Sheet *sheet = sheet_new(view->request, form, title);
    sheet_csv_default(sheet, "results");
    sheet_fact(sheet, "commit", "Commit", commit->sha);
    sheet_fact(sheet, "subject", "Subject", commit->subject);
    sheet_fact(sheet, "author", "Author", commit->author);
    sheet_fact_integer(sheet, "runs", "Runs", view->results->n_runs);
    write_warnings(sheet, view);
    write_verdicts(sheet, view);
    sheet_table(sheet, "moved", "What moved", moved_columns, SHEET_ROWS);
    write_rows(sheet, view, 1u << COMPARISON_REGRESSED | 1u << COMPARISON_IMPROVED);
    sheet_table_end(sheet);
    sheet_table(sheet, "missing", "Not measured here", moved_columns, SHEET_ROWS);
    write_rows(sheet, view, 1u << COMPARISON_MISSING);
    sheet_table_end(sheet);
    write_results(sheet, view);
    if (view->errors->len > 0 || form == SHEET_JSON)
        write_errors(sheet, view);
    return sheet;
}
