/* SPDX-License-Identifier: Apache-2.0
 * A foreign file as its parser sees it: checked text, and the tree where it is JSON. */
#pragma once

#include "schema/document.h"
#include "schema/run.h"

struct format_input {
    char *bytes; /* valid UTF-8 without a byte order mark; a NUL follows */
    size_t length;
    json_t *json;       /* NULL where the file is no JSON */
    GError *json_error; /* why it is none, where it looks like it */
};

/* Bare NaN and Infinity, which tools print though JSON has none, are null or [] in the tree. False:
 * ERROR_TOO_LARGE, ERROR_BUSY, or ERROR_SYNTAX where the file is no UTF-8. */
bool format_input_open(struct format_input *input, const char *bytes, size_t length,
                       GError **error);
void format_input_close(struct format_input *input);

/* The next line of the text, without its end and a carriage return; NULL at the end. *cursor begins
 * with input->bytes. The caller frees it. */
char *format_input_line(const char **cursor);
