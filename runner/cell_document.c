/* SPDX-License-Identifier: Apache-2.0
 * A cell's result in and out of a run document. Pure; any thread. */
#include "runner/cell_document.h"

#define ENVELOPE_SHA "0000000000000000000000000000000000000000"

struct run_result *cell_result_new(const struct bench *bench, const struct bench_case *values)
{
    struct run_result *result = run_result_new(bench->name);
    if (*values->executor) {
        run_result_add_param(result, "executor", values->executor);
    }
    if (values->threads) {
        run_result_add_param_number(result, "threads", values->threads);
    }
    if (!bench->own_costs) {
        run_result_add_param_number(result, "task_cost", (double)values->task_cost);
    }
    for (guint i = 0; bench->params && bench->params[i].name; i++) {
        if (*values->own[i]) {
            run_result_add_param(result, bench->params[i].name, values->own[i]);
        }
    }
    if (*values->placement) {
        run_result_add_param(result, "placement", values->placement);
    }
    return result;
}

void cell_document_print(struct run_result *result, GString *out)
{
    g_autoptr(Run) run = run_new();
    run->id = g_strdup("cell");
    run->project = g_strdup("cell");
    run->commit.sha = g_strdup(ENVELOPE_SHA);
    run->machine = g_strdup("cell");
    run->started_ms = 1;
    g_ptr_array_add(run->results, result);
    run_print(run, out);
}

static bool is_result_of(const struct run_result *result, const struct cell *cell)
{
    struct run_result *wanted = cell_result_new(cell->bench, &cell->values);
    g_autofree char *wanted_params = run_params_text(wanted->params);
    g_autofree char *params = run_params_text(result->params);
    run_result_free(wanted);
    return g_str_equal(result->bench, cell->bench->name) && g_str_equal(params, wanted_params);
}

struct run_result *cell_document_parse(const char *bytes, size_t length, const struct cell *cell,
                                       GError **error)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(Run) run = run_parse(bytes, length, faults, error);
    if (!run) {
        return NULL;
    }
    if (run->results->len != 1 || !is_result_of(g_ptr_array_index(run->results, 0), cell)) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_INVALID,
                            "the answer is about another cell");
        return NULL;
    }
    return g_ptr_array_steal_index(run->results, 0);
}
