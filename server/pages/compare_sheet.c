/* SPDX-License-Identifier: Apache-2.0
 * See compare_sheet.h. The request's thread. */
#include "server/pages/compare_sheet.h"

#include "server/pages/compare_table.h"
#include "server/pages/compare_view.h"
#include "server/work/comparison_base.h"

#include <math.h>

static void write_value(Sheet *sheet, const struct comparison_value *value, const char *unit)
{
    sheet_number(sheet, value->known ? value->level : (double)NAN, unit);
}

void compare_sheet_row(Sheet *sheet, const struct comparison_row *row)
{
    const char *unit = row->series->unit;
    const struct verdict_result none = {.effect = (double)NAN,
                                        .low = (double)NAN,
                                        .high = (double)NAN,
                                        .p = (double)NAN,
                                        .detectable = (double)NAN};
    const struct verdict_result *result = row->has_result ? &row->result : &none;
    bool is_other = row->base_series && row->base_series->machine != row->series->machine;
    series_parts_cells(sheet, row->series);
    sheet_text(sheet, is_other ? row->base_series->machine->name : NULL);
    sheet_text(sheet, comparison_verdict_name(row->verdict));
    write_value(sheet, &row->base, unit);
    write_value(sheet, &row->head, unit);
    sheet_ratio(sheet, result->effect);
    sheet_ratio(sheet, result->low);
    sheet_ratio(sheet, result->high);
    sheet_probability(sheet, result->p);
    sheet_integer(sheet, row->base.n);
    sheet_integer(sheet, row->head.n);
    sheet_share(sheet, row->base.noise > 0 ? row->base.noise : (double)NAN);
    sheet_share(sheet, fabs(result->detectable));
    sheet_id(sheet, row->change_id);
}

/* ---- The page -------------------------------------------------------------------------------- */

/* A head's name in front of what is said of it, where there are two. */
static char *with_name(const struct compare_view *view, guint i, const char *text)
{
    g_autofree char *name = compare_side_name(&view->set->of[i]->head);
    return view->set->n > 1 ? g_strdup_printf("%s: %s", name, text) : g_strdup(text);
}

static void write_side(Sheet *sheet, const char *key, const char *label,
                       const struct comparison_side *side)
{
    g_autofree char *name = compare_side_name(side);
    g_autofree char *text =
        side->branch || side->run || side->is_machine
            ? g_strdup_printf("%s, %.8s%s%s", name, side->commit->sha,
                              side->commit->subject ? " " : "",
                              side->commit->subject ? side->commit->subject : "")
            : g_strdup_printf("%s%s%s", name, side->commit->subject ? " " : "",
                              side->commit->subject ? side->commit->subject : "");
    sheet_fact(sheet, key, label, text);
}

static void write_facts(Sheet *sheet, const struct compare_view *view)
{
    static const char *const keys[][3] = {{"sentence", "head", "Head"},
                                          {"also_sentence", "also", "Also"}};
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < view->set->n; i++) {
        g_autofree char *words = compare_words(view->set->of[i]);
        g_autofree char *text = with_name(view, i, words);
        sheet_fact(sheet, keys[i][0], NULL, text);
    }
    write_side(sheet, "base", "Base", &view->set->of[0]->base);
    for (guint i = 0; i < view->set->n; i++) {
        const Comparison *comparison = view->set->of[i];
        g_autofree char *against = comparison_base_words(comparison);
        write_side(sheet, keys[i][1], keys[i][2], &comparison->head);
        if (against)
            g_ptr_array_add(warnings, with_name(view, i, against));
        for (guint k = 0; k < comparison->warnings->len; k++)
            g_ptr_array_add(warnings,
                            with_name(view, i, (const char *)comparison->warnings->pdata[k]));
    }
    sheet_fact_list(sheet, "warnings", "Note", warnings);
}

static const struct sheet_column row_columns[] = {
    {"with", NULL, false}, COMPARE_SHEET_COLUMNS, {0}};
static const struct sheet_column wide_columns[] = {
    {"with", "With", false}, COMPARE_SHEET_COLUMNS, {0}};

/* A row a series and head. People get what ?show= names, programs all of it. */
static bool write_rows(Sheet *sheet, const struct compare_view *view, enum sheet_form form,
                       GError **error)
{
    bool is_all = view->show == COMPARE_SHOW_ALL ||
                  (form != SHEET_MARKDOWN && view->show == COMPARE_SHOW_DIFFERENCES);
    guint verdicts = is_all ? G_MAXUINT : compare_view_verdicts(view);
    sheet_table(sheet, "series", NULL, view->set->n > 1 ? wide_columns : row_columns, SHEET_ROWS);
    for (guint i = 0; i < view->set->rows->len; i++) {
        const struct comparison_set_row *row =
            &g_array_index(view->set->rows, struct comparison_set_row, i);
        if (!compare_view_takes(view, row, verdicts))
            continue;
        if (!store_snapshot_give_way(view->snapshot, error))
            return false;
        for (guint k = 0; k < view->set->n; k++) {
            if (!row->of[k])
                continue;
            g_autofree char *name = compare_side_name(&view->set->of[k]->head);
            sheet_text(sheet, name);
            compare_sheet_row(sheet, row->of[k]);
        }
    }
    sheet_table_end(sheet);
    return true;
}

static const struct sheet_column mean_columns[] = {
    {"with", NULL, false},       {"bench", "Benchmark", false},
    {"metric", "Metric", false}, {"unit", NULL, false},
    {"better", NULL, false},     {"mean", "Geometric mean", true},
    {"series", "Series", true},  {0}};

static void write_means(Sheet *sheet, const struct compare_view *view)
{
    sheet_table(sheet, "means", "By benchmark", mean_columns, SHEET_ROWS);
    for (guint k = 0; k < view->set->n; k++) {
        const Comparison *comparison = view->set->of[k];
        g_autofree char *name = compare_side_name(&comparison->head);
        for (guint i = 0; i < comparison->means->len; i++) {
            const struct comparison_mean *mean =
                &g_array_index(comparison->means, struct comparison_mean, i);
            sheet_text(sheet, name);
            sheet_text(sheet, mean->benchmark->name);
            sheet_text(sheet, mean->metric);
            sheet_text(sheet, mean->unit);
            sheet_text(sheet, better_name(mean->better));
            sheet_ratio(sheet, mean->ratio - 1);
            sheet_integer(sheet, mean->n);
        }
    }
    sheet_table_end(sheet);
}

/* Where the API says the same in full. */
static char *api_address(const struct compare_view *view)
{
    static const char *const names[] = {"base", "head", "also"};
    GString *url = g_string_new("/api/compare?project=");
    http_append_encoded(url, view->project->name);
    for (guint i = 0; i < G_N_ELEMENTS(names) && view->sides[i]; i++) {
        g_string_append_printf(url, "&%s=", names[i]);
        http_append_encoded(url, view->sides[i]);
    }
    return g_string_free(url, FALSE);
}

Sheet *compare_sheet_new(const struct compare_view *view, enum sheet_form form, GError **error)
{
    g_autofree char *title = g_strdup_printf(
        "Compare %s...%s%s%s · %s", view->sides[0], view->sides[1], view->sides[2] ? "..." : "",
        view->sides[2] ? view->sides[2] : "", view->project->name);
    g_autoptr(Sheet) sheet = sheet_new(view->request, form, title);
    g_autofree char *api = api_address(view);
    if (form == SHEET_JSON)
        sheet_fact(sheet, "api", NULL, api);
    write_facts(sheet, view);
    if (!write_rows(sheet, view, form, error))
        return NULL;
    write_means(sheet, view);
    return g_steal_pointer(&sheet);
}
