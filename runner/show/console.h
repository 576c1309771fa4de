/* SPDX-License-Identifier: Apache-2.0
 * The two streams of the program: data on the standard output, messages on the standard error. */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Data, as it is. */
void console_write(const char *bytes, gsize length);
void console_print(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* One message: "breakeven-runner: …\n". Lines of progress are wiped first. */
void console_message(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Lines for a machine that reads the standard error as it comes (a CI system's commands): as they
 * are. */
void console_command(const char *lines);

/* True where a line of progress may be drawn: the standard error is a terminal that can move its
 * cursor. */
bool console_is_terminal(void);

/* Draws or wipes (NULL) the one line of progress. Does nothing where there is no terminal. */
void console_progress(const char *line);

/* False where data was lost: the disk is full, or the reader is gone. Call it last. */
bool console_flush(void);
