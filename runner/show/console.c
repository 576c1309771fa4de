/* SPDX-License-Identifier: Apache-2.0
 * Writes to the standard streams. No colours, so NO_COLOR has nothing to turn off; one line of
 * progress, redrawn in place, on terminals only. Control characters of messages (a server's words,
 * a file's name) never reach the terminal. Main thread. */
#include "runner/show/console.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ERASE_LINE "\r\033[K"

static bool progress_is_shown;

void console_write(const char *bytes, gsize length)
{
    fwrite(bytes, 1, length, stdout);
}

void console_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stdout, format, arguments);
    va_end(arguments);
}

bool console_is_terminal(void)
{
    const char *terminal = g_getenv("TERM");
    return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

void console_progress(const char *line)
{
    if (!console_is_terminal())
        return;
    if (line)
        fprintf(stderr, ERASE_LINE "%s", line);
    else if (progress_is_shown)
        fputs(ERASE_LINE, stderr);
    progress_is_shown = line != NULL;
    fflush(stderr);
}

static void blank_controls(char *text)
{
    for (char *at = text; *at; at++)
        if (g_ascii_iscntrl(*at) && *at != '\n' && *at != '\t')
            *at = '?';
}

void console_message(const char *format, ...)
{
    console_progress(NULL);
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    blank_controls(text);
    fflush(stdout);
    fprintf(stderr, "breakeven-runner: %s\n", text);
}

void console_command(const char *lines)
{
    console_progress(NULL);
    fflush(stdout);
    fputs(lines, stderr);
}

bool console_flush(void)
{
    return fflush(stdout) == 0 && !ferror(stdout);
}
