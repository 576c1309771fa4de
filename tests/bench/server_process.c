/* SPDX-License-Identifier: Apache-2.0
 * See server_process.h. */
#include "tests/bench/server_process.h"

#include "tests/bench/http_talk.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_SECONDS_MAX 60
#define POLL_US           10000
#define QUIET_US          500000 /* in which a server that is settled uses less than this: */
#define QUIET_CPU_SECONDS 0.005
#define SETTLE_POLLS_MAX  1200

static void die_with_parent(gpointer user)
{
    (void)user;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static char *program_path(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *self = g_file_read_link("/proc/self/exe", &error);
    if (!self)
        g_error("%s", error->message);
    g_autofree char *folder = g_path_get_dirname(self);
    return g_build_filename(folder, "breakeven-server", NULL);
}

static void spawn(struct server_process *server, const char *path)
{
    g_autofree char *program = program_path();
    g_autofree char *url = g_strconcat("sqlite:", path, NULL);
    char listen[] = "--listen", address[] = "127.0.0.1:0", store[] = "--store";
    char *words[] = {program, listen, address, store, url, NULL};
    int log = open(server->log_path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    g_autoptr(GError) error = NULL;
    if (log < 0)
        g_error("cannot open %s: %s", server->log_path, g_strerror(errno));
    if (!g_spawn_async_with_fds(NULL, words, NULL, G_SPAWN_DO_NOT_REAP_CHILD, die_with_parent, NULL,
                                &server->pid, -1, -1, log, &error))
        g_error("%s", error->message);
    close(log);
}

/* 0 while the log does not say that it listens. */
static guint port_in_log(const char *log_path)
{
    static const char start[] = "listening on http://127.0.0.1:";
    g_autofree char *text = NULL;
    if (!g_file_get_contents(log_path, &text, NULL, NULL))
        return 0;
    const char *found = strstr(text, start);
    return found && strchr(found, '\n') ? (guint)g_ascii_strtoull(found + strlen(start), NULL, 10)
                                        : 0;
}

void server_process_start(struct server_process *server, const char *path)
{
    server->log_path = g_strconcat(path, ".log", NULL);
    server->port = 0;
    spawn(server, path);
    for (guint i = 0; server->port == 0; i++) {
        if (i > START_SECONDS_MAX * (G_USEC_PER_SEC / POLL_US) ||
            waitpid(server->pid, NULL, WNOHANG) != 0)
            g_error("the server does not start: see %s", server->log_path);
        g_usleep(POLL_US);
        server->port = port_in_log(server->log_path);
    }
}

void server_process_stop(struct server_process *server)
{
    int status = 0;
    kill(server->pid, SIGTERM);
    if (waitpid(server->pid, &status, 0) != server->pid || status != 0)
        g_error("the server ended with status %d: see %s", status, server->log_path);
    g_unlink(server->log_path);
    g_free(server->log_path);
}

double server_process_cpu_seconds(const struct server_process *server)
{
    clockid_t clock;
    struct timespec spent;
    int code = clock_getcpuclockid(server->pid, &clock);
    if (code != 0 || clock_gettime(clock, &spent) != 0)
        g_error("cannot read the server's CPU time: %s", g_strerror(code ? code : errno));
    return (double)spent.tv_sec + (double)spent.tv_nsec / 1e9;
}

void server_process_settle(const struct server_process *server)
{
    double before = 0, after = server_process_cpu_seconds(server);
    for (guint i = 0; after - before >= QUIET_CPU_SECONDS; i++) {
        if (i > SETTLE_POLLS_MAX)
            g_error("the server is not done with its file: see %s", server->log_path);
        g_usleep(QUIET_US);
        before = after;
        after = server_process_cpu_seconds(server);
    }
}

gint64 server_process_metric(const struct server_process *server, const char *name)
{
    struct http_talk talk;
    http_talk_open(&talk, server->port);
    http_talk_get(&talk, "/metrics", "");
    g_autofree char *start = g_strdup_printf("\n%s ", name);
    const char *found = strstr(http_talk_body(&talk), start);
    if (!found)
        g_error("/metrics does not tell %s", name);
    gint64 value = g_ascii_strtoll(found + strlen(start), NULL, 10);
    http_talk_close(&talk);
    return value;
}
