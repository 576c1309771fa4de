/* SPDX-License-Identifier: Apache-2.0
 * How far a run of a plan is: one line that is redrawn on a terminal; elsewhere one line for each
 * round. */
#pragma once

#include <glib.h>

struct progress {
    guint round, rounds;        /* rounds: expected, 0 where not known */
    guint cell, cells;          /* cells begun in this round */
    double elapsed_s, budget_s; /* budget_s 0: none */
};

/* The line's text, at most `width` columns of ASCII and the cell's name. Pure. */
char *progress_line(const struct progress *progress, const char *cell_name, guint width);

void progress_cell(const struct progress *progress, const char *cell_name);
void progress_round_done(const struct progress *progress, double round_s);
void progress_end(void);
