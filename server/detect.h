/* SPDX-License-Identifier: Apache-2.0
 * The command `breakeven-server detect [--least-effect 2%] [FILE]`: judges histories from a file
 * (schema/detect_history.h) or standard input without a server or a store. Prints nothing: the
 * caller writes the text. The main thread. */
#pragma once

#include <glib.h>

/* argv[0] is the command's own name. The answer is a JSON document: per series `changes`, what
 * holds with the whole history known, and `alarms`, what would have been told while the commits
 * arrived. NULL with ERROR_SYNTAX for a mistake of use or malformed JSON, other kinds for bad
 * input. The caller frees it. */
char *detect_text(int argc, char **argv, GError **error);
