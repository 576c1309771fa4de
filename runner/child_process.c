/* SPDX-License-Identifier: Apache-2.0
 * See child_process.h. The thread that runs it is what a child can be told the death of;
 * child_interrupt may come from a signal handler. */
#include "runner/child_process.h"

#include "runner/sample/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define FD_SAFE_MIN 10 /* above all that the child's own descriptors are put on */
#define MS_PER_S    1000
#define NS_PER_MS   1000000u
#define NS_PER_US   1000u
#define US_PER_S    1000000u
#define BYTES_PER_K 1024u
#define READ_BYTES  65536u

/* The child's process id, or one of these. Lock-free, so a signal handler may use it. */
enum { CHILD_NONE = 0, CHILD_STARTING = -1, CHILD_UNWANTED = -2 };
static atomic_int running_pid = CHILD_NONE;

void child_interrupt(void)
{
    int pid = CHILD_STARTING;
    if (atomic_compare_exchange_strong(&running_pid, &pid, CHILD_UNWANTED)) {
        return; /* child_is_there kills it as soon as its number is known */
    }
    if (pid > 0) {
        kill(-pid, SIGKILL);
    }
}

static void child_is_there(pid_t pid)
{
    int before = CHILD_STARTING;
    if (!atomic_compare_exchange_strong(&running_pid, &before, pid)) {
        atomic_store(&running_pid, pid);
        kill(-pid, SIGKILL);
    }
}

void child_outcome_free(ChildOutcome *outcome)
{
    if (outcome) {
        g_byte_array_unref(outcome->bytes);
        g_string_free(outcome->tail, TRUE);
        g_free(outcome);
    }
}

/* Starting. */

struct pipes {
    int kept_read, kept_write, tail_read, tail_write;
};

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static void pipes_close(struct pipes *pipes)
{
    close_fd(&pipes->kept_read);
    close_fd(&pipes->kept_write);
    close_fd(&pipes->tail_read);
    close_fd(&pipes->tail_write);
}

/* The write end goes above FD_SAFE_MIN, so that no dup2 in the child lands on it. */
static bool pipe_open(int *out_read, int *out_write)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    *out_read = ends[0];
    *out_write = fcntl(ends[1], F_DUPFD_CLOEXEC, FD_SAFE_MIN);
    close(ends[1]);
    return *out_write >= 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

static int add_stream(posix_spawn_file_actions_t *actions, enum child_stream stream, int fd,
                      const struct pipes *pipes)
{
    switch (stream) {
    case CHILD_KEEP:
        return posix_spawn_file_actions_adddup2(actions, pipes->kept_write, fd);
    case CHILD_TAIL:
        return posix_spawn_file_actions_adddup2(actions, pipes->tail_write, fd);
    case CHILD_DROP:
        return posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_WRONLY, 0);
    case CHILD_PASS:
    default:
        return 0;
    }
}

static int spawn_with(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
                      const struct pipes *pipes, const struct child_request *request,
                      pid_t *out_pid)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETSIGDEF);
    int failure = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    failure = failure ? failure : add_stream(actions, request->out, STDOUT_FILENO, pipes);
    failure = failure ? failure : add_stream(actions, request->err, STDERR_FILENO, pipes);
    if (request->kept_fd > 0) {
        failure = failure ? failure : add_stream(actions, CHILD_KEEP, request->kept_fd, pipes);
    }
    return failure ? failure
                   : posix_spawnp(out_pid, request->arguments[0], actions, attributes,
                                  (char *const *)(guintptr)request->arguments, environ);
}

static int spawn_child(const struct pipes *pipes, const struct child_request *request,
                       pid_t *out_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure) {
        return failure;
    }
    failure = posix_spawnattr_init(&attributes);
    if (!failure) {
        failure = spawn_with(&actions, &attributes, pipes, request, out_pid);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

/* Reading. Both return false when nothing more will come; a pipe that is empty for now returns
 * true. */

static bool read_some(int fd, guint8 *buffer, size_t *out_length)
{
    ssize_t got = read(fd, buffer, READ_BYTES);
    *out_length = got > 0 ? (size_t)got : 0;
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool read_kept(int fd, GByteArray *bytes, gsize bytes_max)
{
    guint8 buffer[READ_BYTES];
    size_t length;
    bool more = read_some(fd, buffer, &length);
    g_byte_array_append(bytes, buffer, (guint)MIN(length, bytes_max - bytes->len));
    return more;
}

static bool read_tail(int fd, GString *tail)
{
    guint8 buffer[READ_BYTES];
    size_t length;
    bool more = read_some(fd, buffer, &length);
    g_string_append_len(tail, (const char *)buffer, (gssize)length);
    if (tail->len > CHILD_TAIL_BYTES) {
        g_string_erase(tail, 0, (gssize)(tail->len - CHILD_TAIL_BYTES));
    }
    return more;
}

/* What is in the pipes when the child is gone; bounded by what a pipe holds, for no writer may be
 * left. */
static void drain(struct pipes *pipes, gsize kept_bytes_max, ChildOutcome *outcome)
{
    guint before = 0;
    do {
        before = outcome->bytes->len;
    } while (pipes->kept_read >= 0 && read_kept(pipes->kept_read, outcome->bytes, kept_bytes_max) &&
             outcome->bytes->len > before);
    if (pipes->tail_read >= 0) {
        read_tail(pipes->tail_read, outcome->tail);
    }
}

static int wait_ms(uint64_t deadline_ns)
{
    uint64_t now_ns = clock_wall_ns();
    if (now_ns >= deadline_ns) {
        return 0;
    }
    uint64_t left_ms = (deadline_ns - now_ns) / NS_PER_MS + 1;
    return left_ms > INT32_MAX ? INT32_MAX : (int)left_ms;
}

/* Until the child has ended (at *out_end_ns), or the deadline has come: then false. */
static bool collect(struct pipes *pipes, const struct child_request *request, int pidfd,
                    uint64_t deadline_ns, ChildOutcome *outcome, uint64_t *out_end_ns)
{
    for (;;) {
        struct pollfd polled[] = {{.fd = pidfd, .events = POLLIN},
                                  {.fd = pipes->kept_read, .events = POLLIN},
                                  {.fd = pipes->tail_read, .events = POLLIN}};
        int ready = poll(polled, G_N_ELEMENTS(polled), wait_ms(deadline_ns));
        *out_end_ns = clock_wall_ns();
        if (ready == 0 && *out_end_ns >= deadline_ns) {
            return false;
        }
        if (ready <= 0) {
            continue; /* EINTR: a signal; its handler decides */
        }
        if (polled[1].revents &&
            !read_kept(pipes->kept_read, outcome->bytes, request->kept_bytes_max)) {
            close_fd(&pipes->kept_read);
        }
        if (polled[2].revents && !read_tail(pipes->tail_read, outcome->tail)) {
            close_fd(&pipes->tail_read);
        }
        if (polled[0].revents) {
            return true;
        }
    }
}

static uint64_t timeval_ns(const struct timeval *time)
{
    return ((uint64_t)time->tv_sec * US_PER_S + (uint64_t)time->tv_usec) * NS_PER_US;
}

static void wait_for_end(pid_t pid, bool in_time, ChildOutcome *outcome)
{
    siginfo_t info = {0};
    struct rusage usage = {0};
    int status = 0;
    /* The group goes while its leader is still unreaped: its number cannot be another's yet. */
    kill(-pid, SIGKILL);
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    atomic_store(&running_pid, CHILD_NONE);
    while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    outcome->code = info.si_status;
    outcome->end = info.si_code == CLD_EXITED ? CHILD_EXITED : CHILD_KILLED;
    outcome->user_ns = timeval_ns(&usage.ru_utime);
    outcome->system_ns = timeval_ns(&usage.ru_stime);
    outcome->peak_rss_bytes = (uint64_t)usage.ru_maxrss * BYTES_PER_K;
    if (!in_time) {
        outcome->end = CHILD_TIMED_OUT;
    }
}

static bool keeps(const struct child_request *request)
{
    return request->kept_fd > 0 || request->out == CHILD_KEEP || request->err == CHILD_KEEP;
}

static bool has_tail(const struct child_request *request)
{
    return request->out == CHILD_TAIL || request->err == CHILD_TAIL;
}

/* The child, and a descriptor that tells of its end. 0 or an errno; then there is no child. */
static int start_child(struct pipes *pipes, const struct child_request *request, pid_t *out_pid,
                       int *out_pidfd)
{
    siginfo_t info;
    if ((keeps(request) && !pipe_open(&pipes->kept_read, &pipes->kept_write)) ||
        (has_tail(request) && !pipe_open(&pipes->tail_read, &pipes->tail_write))) {
        return errno;
    }
    int failure = spawn_child(pipes, request, out_pid);
    close_fd(&pipes->kept_write);
    close_fd(&pipes->tail_write);
    if (failure) {
        return failure;
    }
    *out_pidfd = pidfd_open(*out_pid, 0);
    if (*out_pidfd >= 0) {
        return 0;
    }
    failure = errno;
    kill(-*out_pid, SIGKILL);
    waitid(P_PID, (id_t)*out_pid, &info, WEXITED);
    return failure;
}

ChildOutcome *child_run(const struct child_request *request, GError **error)
{
    struct pipes pipes = {-1, -1, -1, -1};
    pid_t pid = 0;
    int pidfd = -1;
    uint64_t begin_ns = clock_wall_ns(), end_ns = begin_ns;
    uint64_t timeout_ns = (uint64_t)request->timeout_seconds * MS_PER_S * NS_PER_MS;
    uint64_t deadline_ns = request->timeout_seconds ? begin_ns + timeout_ns : UINT64_MAX;
    atomic_store(&running_pid, CHILD_STARTING);
    int failure = start_child(&pipes, request, &pid, &pidfd);
    if (failure) {
        atomic_store(&running_pid, CHILD_NONE);
        pipes_close(&pipes);
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "%s: %s", request->arguments[0],
                    g_strerror(failure));
        return NULL;
    }
    child_is_there(pid);
    ChildOutcome *outcome = g_new0(ChildOutcome, 1);
    outcome->bytes = g_byte_array_new();
    outcome->tail = g_string_new(NULL);
    bool in_time = collect(&pipes, request, pidfd, deadline_ns, outcome, &end_ns);
    wait_for_end(pid, in_time, outcome);
    outcome->wall_ns = end_ns - begin_ns;
    drain(&pipes, request->kept_bytes_max, outcome);
    close_fd(&pidfd);
    pipes_close(&pipes);
    return outcome;
}

/* What became of it, for people. */

char *child_describe_end(const ChildOutcome *outcome, uint32_t timeout_seconds)
{
    if (outcome->end == CHILD_TIMED_OUT) {
        return g_strdup_printf("no answer within %u s: it hangs, or needs more time",
                               timeout_seconds);
    }
    if (outcome->end == CHILD_KILLED) {
        const char *name = sigabbrev_np(outcome->code);
        const char *description = sigdescr_np(outcome->code);
        return g_strdup_printf("killed by SIG%s (%s)", name ? name : "?",
                               description ? description : "unknown signal");
    }
    return outcome->code ? g_strdup_printf("ended with exit status %d", outcome->code) : NULL;
}

char *child_tail_line(const ChildOutcome *outcome)
{
    g_autofree char *text = g_utf8_make_valid(outcome->tail->str, (gssize)outcome->tail->len);
    for (char *c = text; *c; c++) {
        if (g_ascii_iscntrl(*c)) {
            *c = ' ';
        }
    }
    return g_strdup(g_strstrip(text));
}
