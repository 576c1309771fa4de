/* SPDX-License-Identifier: Apache-2.0
 * The parent's side of a cell: runs the process, and turns whatever became of it into a result. It
 * knows no plan. Runs in the thread that measures. */
#include "runner/cell.h"
#include "runner/cell_document.h"
#include "runner/cell_frame.h"
#include "runner/cell_process.h"

static char *describe_end(const struct cell *cell, const ChildOutcome *outcome,
                          const struct cell_request *request, const GError *wrong)
{
    if (cell->program && outcome->end == CHILD_EXITED && outcome->code == CELL_EXIT_ORDER) {
        return g_strdup_printf("%s does not measure such a cell: it is no breakeven-runner, or one "
                               "of another version",
                               cell->program);
    }
    g_autofree char *end = child_describe_end(outcome, request->timeout_seconds);
    switch (outcome->end) {
    case CHILD_TIMED_OUT:
        return g_steal_pointer(&end);
    case CHILD_KILLED:
        return g_strdup_printf("crashed: %s", end);
    case CHILD_EXITED:
        break;
    }
    return end ? g_strdup_printf("%s and without a result", end)
               : g_strdup_printf("ended without a result: %s",
                                 wrong ? wrong->message : "no answer");
}

static struct run_result *result_of_failure(const struct cell *cell, const ChildOutcome *outcome,
                                            const struct cell_request *request, const GError *wrong)
{
    struct run_result *result = cell_result_new(cell->bench, &cell->values);
    g_autofree char *end = describe_end(cell, outcome, request, wrong);
    g_autofree char *tail = child_tail_line(outcome);
    result->error = *tail ? g_strdup_printf("%s; it said: %s", end, tail) : g_steal_pointer(&end);
    return result;
}

struct run_result *cell_measure(const struct cell *cell, const struct cell_request *request,
                                uint64_t *out_iterations, GError **error)
{
    const char *document;
    size_t length;
    *out_iterations = 0;
    g_autoptr(ChildOutcome) outcome = cell_process_run(cell, request, error);
    if (!outcome) {
        return NULL;
    }
    if (outcome->end != CHILD_EXITED || outcome->code != 0) {
        return result_of_failure(cell, outcome, request, NULL);
    }
    g_autoptr(GError) wrong = NULL;
    struct run_result *result = NULL;
    uint64_t iterations = 0;
    if (cell_frame_unpack(outcome->bytes, &iterations, &document, &length, &wrong)) {
        result = cell_document_parse(document, length, cell, &wrong);
    }
    if (!result) {
        return result_of_failure(cell, outcome, request, wrong);
    }
    *out_iterations = result->error ? 0 : iterations;
    return result;
}
