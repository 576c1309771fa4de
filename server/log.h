/* SPDX-License-Identifier: Apache-2.0
 * The one place that writes the server's log: a line on stderr for each event, as logfmt
 * (key=value) or as a JSON object. Under systemd's journal each line begins with its priority, as
 * sd-daemon(3) says. Any thread; a line is one write. Whatever is no plain text in a value is
 * escaped, so that no client can write a line, or a terminal's sequence, of its own; a path is told
 * without its query. */
#pragma once

#include "server/http/http.h"

enum log_level { LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };
enum log_format { LOG_LOGFMT, LOG_JSON };

/* Once, before other threads run; without it: logfmt. */
void log_setup(enum log_format format);

void log_line(enum log_level level, const char *format, ...) G_GNUC_PRINTF(2, 3);
void log_access(const struct http_log_entry *entry);

/* `value` as logfmt takes it: bare where it can be, else in quotes with \" \\ \n \xNN, code points
 * that steer a terminal or the direction of text as \u{N}, and bytes that are no UTF-8 replaced. At
 * most LOG_VALUE_MAX bytes of it. */
#define LOG_VALUE_MAX 1024u
void log_append_value(GString *out, const char *value);
