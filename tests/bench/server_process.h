/* SPDX-License-Identifier: Apache-2.0
 * The real server as a process of its own, as it is installed: its defaults, its log into a file.
 * For benchmarks only: what fails ends the program, and the server ends with it. */
#pragma once

#include <glib.h>
#include <sys/types.h>

struct server_process {
    pid_t pid;
    guint port;
    char *log_path;
};

/* Starts breakeven-server from the folder of this program, on a free port of the loopback address,
 * with the store in the file at `path`, and waits until it listens. */
void server_process_start(struct server_process *server, const char *path);
/* Ends it by SIGTERM, waits, and removes its log. */
void server_process_stop(struct server_process *server);

/* CPU time that all its threads have used, user and system, to a nanosecond's digits. */
double server_process_cpu_seconds(const struct server_process *server);

/* Waits until it has nothing left to do in the background: what it found in its file at the start.
 */
void server_process_settle(const struct server_process *server);

/* One number of its /metrics. */
gint64 server_process_metric(const struct server_process *server, const char *name);
