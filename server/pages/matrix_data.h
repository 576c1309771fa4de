/* SPDX-License-Identifier: Apache-2.0
 * The matrix of one commit on one machine: executors × cells, from the results of a commit. A cell
 * is a benchmark with its parameters less the executor; its value is that of one metric (the
 * benchmark's rate where it has one, else its latency). Reads what was read; no I/O, no HTML. */
#pragma once

#include "server/analysis/task_efficiency.h"
#include "server/pages/commit_results.h"

#define MATRIX_EXECUTORS_MAX 32u
#define MATRIX_ROWS_MAX      2000u

struct matrix_cell {
    const struct store_series *series; /* NULL: not measured */
    struct commit_point value;
};

struct matrix_row {
    const struct store_series *like; /* of any executor: its parameters name the row */
    char *label;                     /* "threads 2 · task_cost 1000"; "" where there are none */
    struct matrix_cell cells[MATRIX_EXECUTORS_MAX]; /* in the order of `executors` */
};

struct matrix_bench {
    const struct store_benchmark *benchmark;
    const char *metric, *unit;
    enum better better;
    GPtrArray *rows;        /* struct matrix_row *, by threads, then as they were measured */
    GHashTable *row_by_key; /* parameters less the executor -> struct matrix_row *; owns the keys */
    GHashTable *plain; /* canonical task_cost -> const double *: items/s of its own plain calls */
};

struct matrix {
    GPtrArray *executors;   /* const char *: in the order in which they were measured */
    GPtrArray *benches;     /* struct matrix_bench * */
    GHashTable *references; /* canonical task_cost -> double *: items/s of a plain call */
    bool is_cut;            /* there were more than the maximum */
};
typedef struct matrix Matrix;

Matrix *matrix_new(const CommitResults *results, const struct store_machine *machine);
void matrix_free(Matrix *matrix);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Matrix, matrix_free)

/* The value of a parameter; "" where the series has none. */
const char *matrix_param(const struct store_series *series, const char *name);

/* Whether an executor is the plain call that others are compared with. */
bool matrix_is_yardstick(const Matrix *matrix, guint executor);
/* Whether an executor has a value in a benchmark. */
bool matrix_has_executor(const struct matrix_bench *bench, guint executor);
/* The best value of a row but for the yardstick's; 0 where there is none. */
double matrix_row_best(const Matrix *matrix, const struct matrix_row *row,
                       const struct matrix_bench *bench);

/* Efficiency of an executor in a benchmark at a number of threads ("" where it has none), against
 * task cost, ascending: cores = min(threads, effective_cpus), of an executor without threads
 * effective_cpus. Array of struct efficiency_point; empty where there is no plain call to compare
 * with, or where effective_cpus is 0: not told. Bounds are left out. */
GArray *matrix_efficiency(const Matrix *matrix, const struct matrix_bench *bench, guint executor,
                          const char *threads, double effective_cpus);

/* The numbers of threads of a benchmark, as texts in the order of its rows, the first `n_max`:
 * const char *, the caller frees the array. *out_n: before that maximum. */
GPtrArray *matrix_threads(const struct matrix_bench *bench, guint n_max, guint *out_n);

/* min(threads, effective_cpus), at least 1; of "" effective_cpus. */
double matrix_cores(const char *threads, double effective_cpus);
