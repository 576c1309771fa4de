/* SPDX-License-Identifier: Apache-2.0
 * The child process of a cell: the order it is given as arguments, and what it says in the end. It
 * knows bytes and exit states; what the bytes mean is cell.c's. */
#pragma once

#include "runner/cell.h"
#include "runner/child_process.h"
#include <sys/types.h>

#define CELL_RESULT_FD   3 /* where the child writes its frame; 1 and 2 are the tail that is kept */
#define CELL_EXIT_ORDER  64 /* the order is not understood, or the parent is gone */
#define CELL_EXIT_WRITE  65 /* the frame could not be written */
#define CELL_SAMPLES_MAX 10000u

struct cell_order {
    const char *bench;   /* points into the arguments */
    const char *library; /* so, too: the path of the library that the executor is in, or "" */
    struct bench_case values;
    struct cell_request request;
    pid_t parent;
};

/* argv as cell_process_run makes it; false where it is anything else. */
bool cell_order_parse(int argc, char **argv, struct cell_order *out);

/* Starts this program again with the order, and returns when it and its group are gone. NULL with
 * an error where no process could be started. One at a time in a program. */
ChildOutcome *cell_process_run(const struct cell *cell, const struct cell_request *request,
                               GError **error);
