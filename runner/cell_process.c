/* SPDX-License-Identifier: Apache-2.0
 * The order of a cell as arguments and back; the process itself is child_process.c's. Runs in the
 * thread that measures. */
#include "runner/cell_process.h"
#include "runner/cell_frame.h"
#include "runner/executors/executors.h"
#include <string.h>
#include <unistd.h>

enum {
    ARG_PROGRAM,
    ARG_MARK,
    ARG_BENCH,
    ARG_EXECUTOR,
    ARG_LIBRARY,
    ARG_NUMBERS,
    N_NUMBERS = 6,
    ARG_PLACEMENT = ARG_NUMBERS + N_NUMBERS,
    ARG_OWN,
    N_ARGS = ARG_OWN + BENCH_PARAMS_MAX
};

/* The texts behind the numbers: placement, then the benchmark's own parameters. */
static bool texts_parse(char **argv, struct bench_case *out)
{
    bool fit =
        g_strlcpy(out->placement, argv[ARG_PLACEMENT], BENCH_VALUE_BYTES) < BENCH_VALUE_BYTES;
    for (unsigned i = 0; i < BENCH_PARAMS_MAX; i++) {
        fit =
            fit && g_strlcpy(out->own[i], argv[ARG_OWN + i], BENCH_VALUE_BYTES) < BENCH_VALUE_BYTES;
    }
    return fit;
}

bool cell_order_parse(int argc, char **argv, struct cell_order *out)
{
    uint64_t numbers[N_NUMBERS];
    const uint64_t most[N_NUMBERS] = {BENCH_THREADS_MAX, UINT64_MAX, UINT64_MAX,
                                      CELL_SAMPLES_MAX,  UINT32_MAX, INT32_MAX};
    if (argc != N_ARGS || !g_str_equal(argv[ARG_MARK], CELL_ARGUMENT) ||
        strlen(argv[ARG_EXECUTOR]) >= sizeof out->values.executor) {
        return false;
    }
    for (int i = 0; i < N_NUMBERS; i++) {
        if (!g_ascii_string_to_unsigned(argv[ARG_NUMBERS + i], 10, 0, most[i], &numbers[i], NULL)) {
            return false;
        }
    }
    *out = (struct cell_order){
        .bench = argv[ARG_BENCH],
        .library = argv[ARG_LIBRARY],
        .values = {.threads = (uint32_t)numbers[0], .task_cost = numbers[1]},
        .request = {.iterations = numbers[2],
                    .samples = (uint32_t)numbers[3],
                    .sample_ms = (uint32_t)numbers[4]},
        .parent = (pid_t)numbers[5],
    };
    g_strlcpy(out->values.executor, argv[ARG_EXECUTOR], sizeof out->values.executor);
    return texts_parse(argv, &out->values) && out->request.samples > 0;
}

static GStrv order_arguments(const struct cell *cell, const struct cell_request *request)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    const uint64_t numbers[N_NUMBERS] = {cell->values.threads, cell->values.task_cost,
                                         request->iterations,  request->samples,
                                         request->sample_ms,   (uint64_t)getpid()};
    const char *library = cell->library ? cell->library : executor_library(cell->values.executor);
    g_strv_builder_add_many(builder, cell->program ? cell->program : "/proc/self/exe",
                            CELL_ARGUMENT, cell->bench->name, cell->values.executor, library, NULL);
    for (int i = 0; i < N_NUMBERS; i++) {
        g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, numbers[i]);
        g_strv_builder_add(builder, number);
    }
    g_strv_builder_add(builder, cell->values.placement);
    for (unsigned i = 0; i < BENCH_PARAMS_MAX; i++) {
        g_strv_builder_add(builder, cell->values.own[i]);
    }
    return g_strv_builder_end(builder);
}

void cell_interrupt(void)
{
    child_interrupt();
}

ChildOutcome *cell_process_run(const struct cell *cell, const struct cell_request *request,
                               GError **error)
{
    g_auto(GStrv) arguments = order_arguments(cell, request);
    struct child_request child = {
        .arguments = (const char *const *)arguments,
        .out = CHILD_TAIL,
        .err = CHILD_TAIL,
        .kept_fd = CELL_RESULT_FD,
        .kept_bytes_max = CELL_FRAME_BYTES_MAX + 1, /* one more than can be right, to be seen */
        .timeout_seconds = request->timeout_seconds,
    };
    g_autoptr(GError) problem = NULL;
    ChildOutcome *outcome = child_run(&child, &problem);
    if (!outcome)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "cannot start a process to measure in: %s", problem->message);
    return outcome;
}
