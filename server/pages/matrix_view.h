/* SPDX-License-Identifier: Apache-2.0
 * What the views of the matrix page share; page_matrix.c gathers them. All write HTML inside the
 * request's snapshot; false with an error. */
#pragma once

#include "server/pages/layout.h"
#include "server/pages/matrix_data.h"
#include "server/pages/sheet.h"

struct matrix_view {
    HttpRequest *request;
    StoreSnapshot *snapshot;
    const struct store_project *project;
    const char *branch; /* as trend_branch_of gives it */
};

/* Executors × cells of one commit on one machine, with the curves of efficiency. */
bool matrix_executors_write(Html *html, const struct matrix_view *view, GError **error);
/* Benchmarks × the last commits of a machine. */
bool matrix_commits_write(Html *html, const struct matrix_view *view, GError **error);
/* Benchmarks × machines. */
bool matrix_machines_write(Html *html, const struct matrix_view *view, GError **error);

/* The same in their other forms: of the rows of the page at hand, a row of the table for each
 * value.
 */
bool matrix_executors_sheet(Sheet *sheet, const struct matrix_view *view, GError **error);
bool matrix_commits_sheet(Sheet *sheet, const struct matrix_view *view, GError **error);
bool matrix_machines_sheet(Sheet *sheet, const struct matrix_view *view, GError **error);

/* One of several choices: a link that sets `name` to `value` and leaves the rest of the address,
 * but for the page, as it is. */
void matrix_choice_write(Html *html, const struct matrix_view *view, const char *name,
                         const char *value, bool is_chosen);

/* The mark of a value that is kept out of baselines. */
void matrix_flag_write(Html *html);

/* How far a value is behind the best: 0 (the best) to MATRIX_SHADES, which is also that of what
 * cannot be said. The number of a class of the style sheet. */
#define MATRIX_SHADES 5u
guint matrix_shade(double value, double best, enum better better);

/* ---- Of the executors' view ---- */

struct matrix_cells {
    const struct matrix_view *view;
    const struct store_commit *commit;   /* NULL: none was measured */
    const struct store_machine *machine; /* NULL with it */
    GPtrArray *machines;                 /* const struct store_machine *: of the commit */
    Matrix *matrix;                      /* NULL with it */
    double
        effective_cpus; /* where the commit was measured; 0: not told, and no efficiency with it */
};
/* As the address asks for; clear it after. False with an error, and nothing to clear. */
bool matrix_cells_open(struct matrix_cells *cells, const struct matrix_view *view, GError **error);
void matrix_cells_clear(struct matrix_cells *cells);

/* Curve, sentence and tables of a benchmark whose tasks have a cost; nothing of another. */
void matrix_efficiency_write(Html *html, const struct matrix_cells *cells,
                             const struct matrix_bench *bench);
