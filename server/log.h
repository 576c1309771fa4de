/* SPDX-License-Identifier: Apache-2.0
 * The one place that writes the server's log: a line of logfmt (key=value) on stderr for each
 * event. Any thread; a line is one write. Control characters and quotes of values are escaped, so
 * that no client can write a line of its own. */
#pragma once

#include "server/http/http.h"

enum log_level { LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

void log_line(enum log_level level, const char *format, ...) G_GNUC_PRINTF(2, 3);
void log_access(const struct http_log_entry *entry);

/* `value` as logfmt takes it: bare where it can be, else in quotes with \" \\ \n \xNN. At most
 * LOG_VALUE_MAX bytes of it. */
#define LOG_VALUE_MAX 1024u
void log_append_value(GString *out, const char *value);
