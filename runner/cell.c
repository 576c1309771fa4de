/* SPDX-License-Identifier: Apache-2.0
 * The parent's side of a cell: runs the process, and turns whatever became of it into a result. It
 * knows no plan. Runs in the thread that measures. */
#include "runner/cell.h"
#include "runner/cell_document.h"
#include "runner/cell_frame.h"
#include "runner/cell_process.h"
#include <signal.h>
#include <string.h>

/* One line of printable UTF-8, whatever a crashing process wrote. */
static char *tail_as_line(const GString *tail)
{
    g_autofree char *text = g_utf8_make_valid(tail->str, (gssize)tail->len);
    for (char *c = text; *c; c++) {
        if (g_ascii_iscntrl(*c)) {
            *c = ' ';
        }
    }
    return g_strdup(g_strstrip(text));
}

static char *describe_end(const CellOutcome *outcome, const struct cell_request *request,
                          const GError *wrong)
{
    switch (outcome->end) {
    case CELL_TIMED_OUT:
        return g_strdup_printf("no answer within %u s: it hangs, or needs more time",
                               request->timeout_seconds);
    case CELL_KILLED: {
        const char *name = sigabbrev_np(outcome->code);
        const char *description = sigdescr_np(outcome->code);
        return g_strdup_printf("crashed: killed by SIG%s (%s)", name ? name : "?",
                               description ? description : "unknown signal");
    }
    case CELL_EXITED:
        break;
    }
    if (outcome->code != 0) {
        return g_strdup_printf("ended with exit status %d and without a result", outcome->code);
    }
    return g_strdup_printf("ended without a result: %s", wrong ? wrong->message : "no answer");
}

static struct run_result *result_of_failure(const struct cell *cell, const CellOutcome *outcome,
                                            const struct cell_request *request, const GError *wrong)
{
    struct run_result *result = cell_result_new(cell->bench, &cell->values);
    g_autofree char *end = describe_end(outcome, request, wrong);
    g_autofree char *tail = tail_as_line(outcome->tail);
    result->error = *tail ? g_strdup_printf("%s; it said: %s", end, tail) : g_steal_pointer(&end);
    return result;
}

struct run_result *cell_measure(const struct cell *cell, const struct cell_request *request,
                                uint64_t *out_iterations, GError **error)
{
    const char *document;
    size_t length;
    *out_iterations = 0;
    g_autoptr(CellOutcome) outcome = cell_process_run(cell, request, error);
    if (!outcome) {
        return NULL;
    }
    if (outcome->end != CELL_EXITED || outcome->code != 0) {
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
