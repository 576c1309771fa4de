/* SPDX-License-Identifier: Apache-2.0
 * Forking, reading, timing out and killing. Main thread. */
#include "runner/executors/forked.h"
#include "runner/sample/clock.h"
#include "schema/error.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_MS   1000000u
#define READ_BYTES  4096u
#define ANSWER_MARK '\x06' /* before an answer that is whole: an empty one is told from none */

struct streams {
    int answer[2], tail[2]; /* read end, write end */
};

static void close_end(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static void streams_close(struct streams *streams)
{
    for (int end = 0; end < 2; end++) {
        close_end(&streams->answer[end]);
        close_end(&streams->tail[end]);
    }
}

/* In the child; does not return. exit handlers and buffers are the parent's, so _exit. */
static void run_child(struct streams *streams, pid_t parent,
                      void (*body)(void *context, GString *answer), void *context)
{
    const struct rlimit no_core = {0, 0};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);
    }
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    dup2(streams->tail[1], STDOUT_FILENO);
    dup2(streams->tail[1], STDERR_FILENO);
    GString *answer = g_string_new(NULL);
    body(context, answer);
    g_string_prepend_c(answer, ANSWER_MARK);
    size_t sent = 0;
    while (sent < answer->len) {
        ssize_t written = write(streams->answer[1], answer->str + sent, answer->len - sent);
        if (written <= 0 && errno != EINTR) {
            _exit(1);
        }
        sent += written > 0 ? (size_t)written : 0;
    }
    _exit(0);
}

/* False when the stream has ended. Beyond `most` bytes the oldest go. */
static bool read_stream(int fd, GString *text, size_t most)
{
    char buffer[READ_BYTES];
    ssize_t got = read(fd, buffer, sizeof buffer);
    if (got > 0) {
        g_string_append_len(text, buffer, got);
        if (text->len > most) {
            g_string_erase(text, 0, (gssize)(text->len - most));
        }
    }
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Until the answer's stream has ended, which is when the child has; false when time is up. */
static bool collect(struct streams *streams, guint timeout_ms, GString *answer, GString *tail)
{
    uint64_t deadline_ns = clock_wall_ns() + (uint64_t)timeout_ms * NS_PER_MS;
    for (;;) {
        uint64_t now_ns = clock_wall_ns();
        if (now_ns >= deadline_ns) {
            return false;
        }
        struct pollfd polled[] = {{.fd = streams->answer[0], .events = POLLIN},
                                  {.fd = streams->tail[0], .events = POLLIN}};
        if (poll(polled, G_N_ELEMENTS(polled), (int)((deadline_ns - now_ns) / NS_PER_MS + 1)) < 0) {
            continue; /* EINTR */
        }
        if (polled[1].revents && !read_stream(streams->tail[0], tail, FORKED_TAIL_BYTES)) {
            close_end(&streams->tail[0]);
        }
        if (polled[0].revents &&
            !read_stream(streams->answer[0], answer, FORKED_ANSWER_BYTES_MAX)) {
            return true;
        }
    }
}

static char *line_of(const GString *tail)
{
    g_autofree char *text = g_utf8_make_valid(tail->str, (gssize)tail->len);
    for (char *c = text; *c; c++) {
        if (g_ascii_iscntrl(*c)) {
            *c = ' ';
        }
    }
    return g_strdup(g_strstrip(text));
}

static Forked *await(pid_t pid, struct streams *streams, guint timeout_ms)
{
    Forked *forked = g_new0(Forked, 1);
    siginfo_t info = {0};
    g_autoptr(GString) tail = g_string_new(NULL);
    forked->answer = g_string_new(NULL);
    bool in_time = collect(streams, timeout_ms, forked->answer, tail);
    if (!in_time) {
        kill(-pid, SIGKILL);
        kill(pid, SIGKILL); /* it may not lead its group yet */
    }
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    kill(-pid, SIGKILL); /* what it started, while its number cannot be another's */
    while (waitid(P_PID, (id_t)pid, &info, WEXITED) != 0 && errno == EINTR) {
    }
    if (streams->tail[0] >= 0) {
        read_stream(streams->tail[0], tail, FORKED_TAIL_BYTES);
    }
    forked->tail = line_of(tail);
    forked->code = info.si_status;
    bool is_whole = forked->answer->len > 0 && forked->answer->str[0] == ANSWER_MARK;
    if (!in_time) {
        forked->end = FORKED_TIMED_OUT;
    } else if (info.si_code != CLD_EXITED) {
        forked->end = FORKED_KILLED;
    } else {
        forked->end = info.si_status == 0 && is_whole ? FORKED_RETURNED : FORKED_EXITED;
    }
    if (forked->end == FORKED_RETURNED) {
        g_string_erase(forked->answer, 0, 1);
    } else {
        g_string_truncate(forked->answer, 0);
    }
    return forked;
}

Forked *forked_run(void (*body)(void *context, GString *answer), void *context, guint timeout_ms,
                   GError **error)
{
    struct streams streams = {{-1, -1}, {-1, -1}};
    pid_t parent = getpid();
    pid_t pid = -1;
    if (pipe2(streams.answer, O_CLOEXEC) == 0 && pipe2(streams.tail, O_CLOEXEC) == 0 &&
        fcntl(streams.tail[0], F_SETFL, O_NONBLOCK) == 0) {
        pid = fork();
    }
    if (pid < 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "cannot start a process: %s",
                    g_strerror(errno));
        streams_close(&streams);
        return NULL;
    }
    if (pid == 0) {
        run_child(&streams, parent, body, context);
    }
    close_end(&streams.answer[1]);
    close_end(&streams.tail[1]);
    Forked *forked = await(pid, &streams, timeout_ms);
    streams_close(&streams);
    return forked;
}

void forked_free(Forked *forked)
{
    if (forked) {
        g_string_free(forked->answer, TRUE);
        g_free(forked->tail);
        g_free(forked);
    }
}

char *forked_describe_end(const Forked *forked, guint timeout_ms)
{
    g_autoptr(GString) text = g_string_new(NULL);
    switch (forked->end) {
    case FORKED_RETURNED:
        return NULL;
    case FORKED_TIMED_OUT:
        g_string_printf(text, "no answer within %.1f s: it hangs", timeout_ms / 1000.0);
        break;
    case FORKED_KILLED: {
        const char *name = sigabbrev_np(forked->code);
        const char *description = sigdescr_np(forked->code);
        g_string_printf(text, "crashed: killed by SIG%s (%s)", name ? name : "?",
                        description ? description : "unknown signal");
        break;
    }
    case FORKED_EXITED:
        g_string_printf(text, "ended its process with exit status %d", forked->code);
        break;
    }
    if (*forked->tail) {
        g_string_append_printf(text, "; it said: %s", forked->tail);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}
