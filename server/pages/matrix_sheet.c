/* SPDX-License-Identifier: Apache-2.0
 * The executors' view of the matrix in its other forms: the cells, the points of the curves of
 * efficiency, and where each curve crosses METG(50 %) and break-even. The request's thread. */
#include "server/pages/matrix_view.h"

#include "server/pages/matrix_chart.h"
#include "server/pages/series_parts.h"

#include <math.h>

#define THREADS_MAX 32u /* of a benchmark, as the page shows them */

static const struct sheet_column cell_columns[] = {SERIES_PARTS_COLUMNS,
                                                   {"value", "Value", true},
                                                   {"censored", NULL, false},
                                                   {"flagged", NULL, false},
                                                   {0}};

static void write_cells(Sheet *sheet, const Matrix *matrix, const struct matrix_bench *bench)
{
    for (guint r = 0; r < bench->rows->len; r++) {
        const struct matrix_row *row = (const struct matrix_row *)bench->rows->pdata[r];
        for (guint e = 0; e < matrix->executors->len; e++) {
            const struct matrix_cell *cell = &row->cells[e];
            if (!cell->series)
                continue;
            series_parts_cells(sheet, cell->series);
            sheet_number(sheet, cell->value.center, bench->unit);
            sheet_text(sheet, cell->value.censored > 0   ? "above"
                              : cell->value.censored < 0 ? "below"
                                                         : NULL);
            sheet_bool(sheet, cell->value.flagged);
        }
    }
}

/* Called for each curve: an executor of a benchmark at a number of threads. */
struct curve {
    const struct matrix_bench *bench;
    const char *executor, *threads;
    double cores;
    const GArray *points; /* struct efficiency_point, at least one */
};
typedef void (*curve_fn)(Sheet *sheet, const struct curve *curve);

static void each_curve(Sheet *sheet, const struct matrix_cells *cells,
                       const struct matrix_bench *bench, curve_fn write)
{
    guint n_threads;
    g_autoptr(GPtrArray) all = matrix_threads(bench, THREADS_MAX, &n_threads);
    for (guint e = 0; e < cells->matrix->executors->len; e++) {
        for (guint t = 0; t < all->len && !matrix_is_yardstick(cells->matrix, e); t++) {
            const char *threads = (const char *)all->pdata[t];
            g_autoptr(GArray) points =
                matrix_efficiency(cells->matrix, bench, e, threads, cells->effective_cpus);
            const struct curve curve = {bench, (const char *)cells->matrix->executors->pdata[e],
                                        threads, matrix_cores(threads, cells->effective_cpus),
                                        points};
            if (points->len > 0)
                write(sheet, &curve);
        }
    }
}

static const struct sheet_column point_columns[] = {{"bench", "Benchmark", false},
                                                    {"executor", "Executor", false},
                                                    {"threads", "Threads", true},
                                                    {"task_cost", "task_cost", true},
                                                    {"work_ns", "Work of a task", true},
                                                    {"efficiency", "Efficiency", true},
                                                    {0}};

static void write_points(Sheet *sheet, const struct curve *curve)
{
    for (guint i = 0; i < curve->points->len; i++) {
        const struct efficiency_point *point =
            &g_array_index(curve->points, struct efficiency_point, i);
        sheet_text(sheet, curve->bench->benchmark->name);
        sheet_text(sheet, curve->executor);
        sheet_text(sheet, curve->threads);
        sheet_number(sheet, point->task_cost, "");
        sheet_number(sheet, point->work_ns, "ns");
        sheet_share(sheet, point->efficiency);
    }
}

static const struct sheet_column crossing_columns[] = {{"bench", "Benchmark", false},
                                                       {"executor", "Executor", false},
                                                       {"threads", "Threads", true},
                                                       {"metg", NULL, false},
                                                       {"metg_ns", "METG(50 %)", true},
                                                       {"break_even", NULL, false},
                                                       {"break_even_ns", "Break-even work", true},
                                                       {NULL, "Reached", false},
                                                       {0}};

static const char *reach_word(enum efficiency_reach reach)
{
    return reach == EFFICIENCY_BELOW ? "below" : reach == EFFICIENCY_BEYOND ? "not reached" : "at";
}

static void write_crossing(Sheet *sheet, const struct curve *curve)
{
    const struct efficiency_point *points =
        (const struct efficiency_point *)(const void *)curve->points->data;
    const struct efficiency_crossing metg =
        efficiency_crossing_of(points, curve->points->len, MATRIX_METG);
    const struct efficiency_crossing even =
        efficiency_crossing_of(points, curve->points->len, 1 / curve->cores);
    g_autofree char *reached =
        g_strdup_printf("METG %s, break-even %s", reach_word(metg.reach), reach_word(even.reach));
    sheet_text(sheet, curve->bench->benchmark->name);
    sheet_text(sheet, curve->executor);
    sheet_text(sheet, curve->threads);
    sheet_text(sheet, reach_word(metg.reach));
    sheet_number(sheet, metg.work_ns / MATRIX_METG, "ns");
    sheet_text(sheet, reach_word(even.reach));
    sheet_number(sheet, even.work_ns, "ns");
    sheet_text(sheet, reached);
}

bool matrix_executors_sheet(Sheet *sheet, const struct matrix_view *view, GError **error)
{
    struct matrix_cells cells;
    if (!matrix_cells_open(&cells, view, error))
        return false;
    const GPtrArray *benches = cells.matrix ? cells.matrix->benches : NULL;
    guint n = benches ? benches->len : 0;
    sheet_fact(sheet, "commit", "Commit", cells.commit ? cells.commit->sha : NULL);
    sheet_fact(sheet, "machine", "Machine", cells.machine ? cells.machine->name : NULL);
    if (cells.effective_cpus > 0)
        sheet_fact_integer(sheet, "effective_cpus", "CPUs", (int64_t)cells.effective_cpus);
    sheet_table(sheet, "cells", "Cells", cell_columns, SHEET_ROWS);
    for (guint i = 0; i < n; i++)
        write_cells(sheet, cells.matrix, (const struct matrix_bench *)benches->pdata[i]);
    sheet_table_end(sheet);
    sheet_table(sheet, "efficiency", "Efficiency", point_columns, SHEET_ROWS);
    for (guint i = 0; i < n; i++)
        each_curve(sheet, &cells, (const struct matrix_bench *)benches->pdata[i], write_points);
    sheet_table_end(sheet);
    sheet_table(sheet, "metg", "METG(50 %) and break-even", crossing_columns, SHEET_ROWS);
    for (guint i = 0; i < n; i++)
        each_curve(sheet, &cells, (const struct matrix_bench *)benches->pdata[i], write_crossing);
    sheet_table_end(sheet);
    matrix_cells_clear(&cells);
    return true;
}
