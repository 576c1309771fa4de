/* SPDX-License-Identifier: Apache-2.0
 * Sorting results into rows and columns. The request's thread. */
#include "server/pages/matrix_data.h"

#include "schema/number.h"

#include <string.h>

#define EXECUTOR  "executor"
#define THREADS   "threads"
#define TASK_COST "task_cost"
#define DIRECT    "direct"
#define REFERENCE "WorkloadCost"
#define RATE      "items_per_second"
#define LATENCY   "latency_p50"

static void row_free(struct matrix_row *row)
{
    g_free(row->label);
    g_free(row);
}

static void bench_free(struct matrix_bench *bench)
{
    g_hash_table_unref(bench->row_by_key);
    g_hash_table_unref(bench->plain);
    g_ptr_array_unref(bench->rows);
    g_free(bench);
}

void matrix_free(Matrix *matrix)
{
    if (!matrix)
        return;
    g_ptr_array_unref(matrix->executors);
    g_ptr_array_unref(matrix->benches);
    g_hash_table_unref(matrix->references);
    g_free(matrix);
}

const char *matrix_param(const struct store_series *series, const char *name)
{
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(series->params, i);
        if (strcmp(param->name, name) == 0)
            return param->value;
    }
    return "";
}

/* All parameters but the executor (and threads, where `any_threads`): two cases with the same text
 * are of one row. Lengths keep apart what a name or value may hold. */
static char *row_key(const struct store_series *series, bool any_threads)
{
    GString *key = g_string_new(NULL);
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(series->params, i);
        if (strcmp(param->name, EXECUTOR) == 0 ||
            (any_threads && strcmp(param->name, THREADS) == 0))
            continue;
        g_string_append_printf(key, "%zu:%s%zu:%s", strlen(param->name), param->name,
                               strlen(param->value), param->value);
    }
    return g_string_free(key, FALSE);
}

static char *row_label(const struct store_series *series)
{
    static const char *const first[] = {THREADS, TASK_COST, NULL};
    GString *label = g_string_new(NULL);
    for (guint i = 0; first[i]; i++) {
        const char *value = matrix_param(series, first[i]);
        if (*value)
            g_string_append_printf(label, "%s%s %s", label->len ? " · " : "", first[i], value);
    }
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(series->params, i);
        if (strcmp(param->name, EXECUTOR) != 0 && !g_strv_contains(first, param->name))
            g_string_append_printf(label, "%s%s %s", label->len ? " · " : "", param->name,
                                   param->value);
    }
    return g_string_free(label, FALSE);
}

static guint executor_column(Matrix *matrix, const char *name)
{
    for (guint i = 0; i < matrix->executors->len; i++)
        if (strcmp((const char *)g_ptr_array_index(matrix->executors, i), name) == 0)
            return i;
    if (matrix->executors->len == MATRIX_EXECUTORS_MAX) {
        matrix->is_cut = true;
        return MATRIX_EXECUTORS_MAX;
    }
    g_ptr_array_add(matrix->executors, (gpointer)(guintptr)name);
    return matrix->executors->len - 1;
}

/* What a benchmark is shown by: its rate, else its median latency, else what comes first. */
static guint metric_rank(const struct store_series *series)
{
    return strcmp(series->metric, RATE) == 0 ? 0 : strcmp(series->metric, LATENCY) == 0 ? 1 : 2;
}

static struct matrix_bench *bench_of(Matrix *matrix, const struct store_series *series)
{
    for (guint i = 0; i < matrix->benches->len; i++) {
        struct matrix_bench *bench = (struct matrix_bench *)g_ptr_array_index(matrix->benches, i);
        if (bench->benchmark == series->benchmark)
            return bench;
    }
    struct matrix_bench *bench = g_new0(struct matrix_bench, 1);
    bench->benchmark = series->benchmark;
    bench->rows = g_ptr_array_new_with_free_func((GDestroyNotify)row_free);
    bench->row_by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bench->plain = g_hash_table_new(g_str_hash, g_str_equal);
    bench->metric = series->metric;
    bench->unit = series->unit;
    bench->better = series->better;
    g_ptr_array_add(matrix->benches, bench);
    return bench;
}

/* First only the metric is chosen: a later result of the benchmark may have a better one. */
static void choose_metric(Matrix *matrix, const struct store_series *series)
{
    struct matrix_bench *bench = bench_of(matrix, series);
    const struct store_series shown = {.metric = (char *)(guintptr)bench->metric};
    if (metric_rank(series) < metric_rank(&shown)) {
        bench->metric = series->metric;
        bench->unit = series->unit;
        bench->better = series->better;
    }
}

static struct matrix_row *row_of(Matrix *matrix, struct matrix_bench *bench,
                                 const struct store_series *series)
{
    g_autofree char *key = row_key(series, false);
    struct matrix_row *row = (struct matrix_row *)g_hash_table_lookup(bench->row_by_key, key);
    if (row)
        return row;
    if (bench->rows->len == MATRIX_ROWS_MAX) {
        matrix->is_cut = true;
        return NULL;
    }
    row = g_new0(struct matrix_row, 1);
    row->like = series;
    row->label = row_label(series);
    g_ptr_array_add(bench->rows, row);
    g_hash_table_insert(bench->row_by_key, g_steal_pointer(&key), row);
    return row;
}

static void add_reference(Matrix *matrix, const struct commit_result *result)
{
    const struct store_series *series = result->series;
    const char *cost = matrix_param(series, TASK_COST);
    bool is_reference = strcmp(series->benchmark->name, REFERENCE) == 0;
    if (*cost && is_reference && strcmp(series->metric, RATE) == 0 && result->value.center > 0)
        g_hash_table_insert(matrix->references, g_strdup(cost),
                            g_memdup2(&result->value.center, sizeof result->value.center));
}

static void add_cell(Matrix *matrix, const struct commit_result *result)
{
    const struct store_series *series = result->series;
    struct matrix_bench *bench = bench_of(matrix, series);
    if (strcmp(series->metric, bench->metric) != 0 || strcmp(series->unit, bench->unit) != 0)
        return;
    guint column = executor_column(matrix, matrix_param(series, EXECUTOR));
    struct matrix_row *row = column < MATRIX_EXECUTORS_MAX ? row_of(matrix, bench, series) : NULL;
    if (row)
        row->cells[column] = (struct matrix_cell){series, result->value};
}

static int compare_rows(gconstpointer a, gconstpointer b)
{
    const struct matrix_row *left = *(const struct matrix_row *const *)a;
    const struct matrix_row *right = *(const struct matrix_row *const *)b;
    guint64 threads_left = g_ascii_strtoull(matrix_param(left->like, THREADS), NULL, 10);
    guint64 threads_right = g_ascii_strtoull(matrix_param(right->like, THREADS), NULL, 10);
    if (threads_left != threads_right)
        return threads_left < threads_right ? -1 : 1;
    return left->like->id < right->like->id ? -1 : left->like->id > right->like->id;
}

/* Rows with threads by what they have beside them: key -> GPtrArray * of struct matrix_row *. */
static GHashTable *rows_with_threads(const struct matrix_bench *bench)
{
    GHashTable *found =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    for (guint r = 0; r < bench->rows->len; r++) {
        struct matrix_row *row = (struct matrix_row *)g_ptr_array_index(bench->rows, r);
        if (!*matrix_param(row->like, THREADS))
            continue;
        g_autofree char *key = row_key(row->like, true);
        GPtrArray *rows = (GPtrArray *)g_hash_table_lookup(found, key);
        if (!rows) {
            rows = g_ptr_array_new();
            g_hash_table_insert(found, g_steal_pointer(&key), rows);
        }
        g_ptr_array_add(rows, row);
    }
    return found;
}

/* An executor without threads (a plain call) is the same at any number of them: it stands in each
 * row that has its other parameters, and its own row goes. */
static void spread_threadless(struct matrix_bench *bench)
{
    g_autoptr(GHashTable) with_threads = rows_with_threads(bench);
    for (guint i = bench->rows->len; i > 0; i--) {
        const struct matrix_row *from =
            (const struct matrix_row *)g_ptr_array_index(bench->rows, i - 1);
        if (*matrix_param(from->like, THREADS))
            continue;
        g_autofree char *key = row_key(from->like, true);
        const GPtrArray *rows = (const GPtrArray *)g_hash_table_lookup(with_threads, key);
        for (guint r = 0; rows && r < rows->len; r++) {
            struct matrix_row *to = (struct matrix_row *)g_ptr_array_index(rows, r);
            for (guint e = 0; e < MATRIX_EXECUTORS_MAX; e++)
                if (!to->cells[e].series)
                    to->cells[e] = from->cells[e];
        }
        if (rows)
            g_ptr_array_remove_index(bench->rows, i - 1);
    }
    g_hash_table_remove_all(bench->row_by_key); /* rows have gone */
}

/* Rows with a parameter beyond threads and task_cost (a placement, …) are other curves. */
static bool is_plain_row(const struct matrix_row *row)
{
    for (guint i = 0; i < row->like->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(row->like->params, i);
        if (strcmp(param->name, EXECUTOR) != 0 && strcmp(param->name, THREADS) != 0 &&
            strcmp(param->name, TASK_COST) != 0)
            return false;
    }
    return true;
}

static void note_plain(const Matrix *matrix, struct matrix_bench *bench)
{
    for (guint r = 0; r < bench->rows->len; r++) {
        const struct matrix_row *row = (const struct matrix_row *)g_ptr_array_index(bench->rows, r);
        const char *cost = matrix_param(row->like, TASK_COST);
        for (guint e = 0; *cost && is_plain_row(row) && e < matrix->executors->len; e++)
            if (row->cells[e].series && row->cells[e].value.censored == 0 &&
                matrix_is_yardstick(matrix, e))
                g_hash_table_insert(bench->plain, (gpointer)(guintptr)cost,
                                    (gpointer)(guintptr)&row->cells[e].value.center);
    }
}

Matrix *matrix_new(const CommitResults *results, const struct store_machine *machine)
{
    Matrix *matrix = g_new0(Matrix, 1);
    matrix->executors = g_ptr_array_new();
    matrix->benches = g_ptr_array_new_with_free_func((GDestroyNotify)bench_free);
    matrix->references = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (int pass = 0; pass < 2; pass++) {
        for (guint i = 0; i < results->results->len; i++) {
            const struct commit_result *result =
                &g_array_index(results->results, struct commit_result, i);
            if (result->series->machine != machine)
                continue;
            add_reference(matrix, result);
            if (!*matrix_param(result->series, EXECUTOR))
                continue;
            if (pass == 0)
                choose_metric(matrix, result->series);
            else
                add_cell(matrix, result);
        }
    }
    for (guint i = 0; i < matrix->benches->len; i++) {
        struct matrix_bench *bench = (struct matrix_bench *)g_ptr_array_index(matrix->benches, i);
        g_ptr_array_sort(bench->rows, compare_rows);
        spread_threadless(bench);
        note_plain(matrix, bench);
    }
    return matrix;
}

bool matrix_is_yardstick(const Matrix *matrix, guint executor)
{
    return strcmp((const char *)g_ptr_array_index(matrix->executors, executor), DIRECT) == 0;
}

bool matrix_has_executor(const struct matrix_bench *bench, guint executor)
{
    for (guint r = 0; r < bench->rows->len; r++)
        if (((const struct matrix_row *)g_ptr_array_index(bench->rows, r))->cells[executor].series)
            return true;
    return false;
}

double matrix_row_best(const Matrix *matrix, const struct matrix_row *row,
                       const struct matrix_bench *bench)
{
    double best = 0;
    for (guint i = 0; i < matrix->executors->len; i++) {
        const struct matrix_cell *cell = &row->cells[i];
        if (!cell->series || cell->value.censored != 0 || matrix_is_yardstick(matrix, i))
            continue;
        bool is_better =
            bench->better == BETTER_LOWER ? cell->value.center < best : cell->value.center > best;
        if (best <= 0 || is_better)
            best = cell->value.center;
    }
    return best;
}

static int compare_points(gconstpointer a, gconstpointer b)
{
    double left = ((const struct efficiency_point *)a)->task_cost;
    double right = ((const struct efficiency_point *)b)->task_cost;
    return (left > right) - (left < right);
}

/* The items/s of a plain call at a cost: that of the reference workload, else of the benchmark's
 * own cells on the executor direct. */
static double reference_rate(const Matrix *matrix, const struct matrix_bench *bench,
                             const char *task_cost)
{
    const double *known = (const double *)g_hash_table_lookup(matrix->references, task_cost);
    if (!known)
        known = (const double *)g_hash_table_lookup(bench->plain, task_cost);
    return known ? *known : 0;
}

GPtrArray *matrix_threads(const struct matrix_bench *bench, guint n_max, guint *out_n)
{
    GPtrArray *all = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint r = 0; r < bench->rows->len; r++) {
        const struct matrix_row *row = (const struct matrix_row *)g_ptr_array_index(bench->rows, r);
        const char *threads = matrix_param(row->like, THREADS);
        if (g_hash_table_add(seen, (gpointer)(guintptr)threads) && all->len < n_max)
            g_ptr_array_add(all, (gpointer)(guintptr)threads);
    }
    *out_n = g_hash_table_size(seen);
    return all;
}

double matrix_cores(const char *threads, double effective_cpus)
{
    double asked = *threads ? g_ascii_strtod(threads, NULL) : effective_cpus;
    return MAX(1, MIN(asked, effective_cpus));
}

GArray *matrix_efficiency(const Matrix *matrix, const struct matrix_bench *bench, guint executor,
                          const char *threads, double effective_cpus)
{
    GArray *points = g_array_new(FALSE, FALSE, sizeof(struct efficiency_point));
    double cores = matrix_cores(threads, effective_cpus);
    guint n_rows = effective_cpus > 0 && strcmp(bench->metric, RATE) == 0 ? bench->rows->len : 0;
    for (guint r = 0; r < n_rows; r++) {
        const struct matrix_row *row = (const struct matrix_row *)g_ptr_array_index(bench->rows, r);
        const struct matrix_cell *cell = &row->cells[executor];
        const char *cost = matrix_param(row->like, TASK_COST);
        struct efficiency_point point;
        double number = 0;
        if (!cell->series || cell->value.censored != 0 || !is_plain_row(row) ||
            strcmp(matrix_param(row->like, THREADS), threads) != 0 || !number_parse(cost, &number))
            continue;
        if (efficiency_point_make(number, cell->value.center, reference_rate(matrix, bench, cost),
                                  cores, &point))
            g_array_append_val(points, point);
    }
    g_array_sort(points, compare_points);
    return points;
}
