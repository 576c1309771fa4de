/* SPDX-License-Identifier: Apache-2.0
 * Draws the progress of a run. It is only drawn between cells, never while one is measured. Main
 * thread. */
#include "runner/show/progress.h"

#include "runner/show/console.h"
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PROGRESS_COLUMNS 80u

char *progress_line(const struct progress *progress, const char *cell_name, guint width)
{
    g_autoptr(GString) line = g_string_new(NULL);
    g_string_append_printf(line, "round %u", progress->round);
    if (progress->rounds)
        g_string_append_printf(line, " of %u", progress->rounds);
    g_string_append_printf(line, ", cell %u of %u, %.0f", progress->cell, progress->cells,
                           progress->elapsed_s);
    if (progress->budget_s > 0)
        g_string_append_printf(line, " of %.0f", progress->budget_s);
    g_string_append_printf(line, " s  %s", cell_name);
    glong columns = g_utf8_strlen(line->str, -1);
    if (columns > (glong)width)
        return g_utf8_substring(line->str, 0, (glong)width);
    return g_strdup(line->str);
}

static guint terminal_columns(void)
{
    struct winsize size = {0};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
        return PROGRESS_COLUMNS;
    return size.ws_col;
}

void progress_cell(const struct progress *progress, const char *cell_name)
{
    if (!console_is_terminal())
        return;
    g_autofree char *line = progress_line(progress, cell_name, terminal_columns() - 1);
    console_progress(line);
}

void progress_round_done(const struct progress *progress, double round_s)
{
    if (console_is_terminal())
        return;
    console_message("round %u: %u %s in %.1f s", progress->round, progress->cells,
                    progress->cells == 1 ? "cell" : "cells", round_s);
}

void progress_end(void)
{
    console_progress(NULL);
}
