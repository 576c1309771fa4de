/* SPDX-License-Identifier: Apache-2.0
 * Starting, reading and ending the child of a cell. Runs in the thread that measures (its death is
 * what the child is told of); cell_interrupt may come from a signal handler. */
#include "runner/cell_process.h"
#include "runner/cell_frame.h"
#include "runner/executors/executors.h"
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
#include <sys/wait.h>
#include <unistd.h>

#define FD_SAFE_MIN 10 /* above all that the child's own descriptors are put on */
#define MS_PER_S    1000
#define NS_PER_MS   1000000u
#define READ_BYTES  65536u

/* The child's process id, or one of these. Lock-free, so a signal handler may use it. */
enum { CHILD_NONE = 0, CHILD_STARTING = -1, CHILD_UNWANTED = -2 };
static atomic_int running_pid = CHILD_NONE;

void cell_interrupt(void)
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

void cell_outcome_free(CellOutcome *outcome)
{
    if (outcome) {
        g_byte_array_unref(outcome->bytes);
        g_string_free(outcome->tail, TRUE);
        g_free(outcome);
    }
}

/* The order. */

enum {
    ARG_PROGRAM,
    ARG_MARK,
    ARG_BENCH,
    ARG_EXECUTOR,
    ARG_LIBRARY,
    ARG_NUMBERS,
    N_NUMBERS = 6,
    ARG_PLACEMENT = ARG_NUMBERS + N_NUMBERS,
    ARG_OWN,
    N_ARGS = ARG_OWN + BENCH_PARAMS_MAX
};

/* The texts behind the numbers: placement, then the benchmark's own parameters. */
static bool texts_parse(char **argv, struct bench_case *out)
{
    bool fit =
        g_strlcpy(out->placement, argv[ARG_PLACEMENT], BENCH_VALUE_BYTES) < BENCH_VALUE_BYTES;
    for (unsigned i = 0; i < BENCH_PARAMS_MAX; i++) {
        fit =
            fit && g_strlcpy(out->own[i], argv[ARG_OWN + i], BENCH_VALUE_BYTES) < BENCH_VALUE_BYTES;
    }
    return fit;
}

bool cell_order_parse(int argc, char **argv, struct cell_order *out)
{
    uint64_t numbers[N_NUMBERS];
    const uint64_t most[N_NUMBERS] = {BENCH_THREADS_MAX, UINT64_MAX, UINT64_MAX,
                                      CELL_SAMPLES_MAX,  UINT32_MAX, INT32_MAX};
    if (argc != N_ARGS || !g_str_equal(argv[ARG_MARK], CELL_ARGUMENT) ||
        strlen(argv[ARG_EXECUTOR]) >= sizeof out->values.executor) {
        return false;
    }
    for (int i = 0; i < N_NUMBERS; i++) {
        if (!g_ascii_string_to_unsigned(argv[ARG_NUMBERS + i], 10, 0, most[i], &numbers[i], NULL)) {
            return false;
        }
    }
    *out = (struct cell_order){
        .bench = argv[ARG_BENCH],
        .library = argv[ARG_LIBRARY],
        .values = {.threads = (uint32_t)numbers[0], .task_cost = numbers[1]},
        .request = {.iterations = numbers[2],
                    .samples = (uint32_t)numbers[3],
                    .sample_ms = (uint32_t)numbers[4]},
        .parent = (pid_t)numbers[5],
    };
    g_strlcpy(out->values.executor, argv[ARG_EXECUTOR], sizeof out->values.executor);
    return texts_parse(argv, &out->values) && out->request.samples > 0;
}

static GStrv order_arguments(const struct cell *cell, const struct cell_request *request)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    const uint64_t numbers[N_NUMBERS] = {cell->values.threads, cell->values.task_cost,
                                         request->iterations,  request->samples,
                                         request->sample_ms,   (uint64_t)getpid()};
    g_strv_builder_add_many(builder, "/proc/self/exe", CELL_ARGUMENT, cell->bench->name,
                            cell->values.executor, executor_library(cell->values.executor), NULL);
    for (int i = 0; i < N_NUMBERS; i++) {
        g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, numbers[i]);
        g_strv_builder_add(builder, number);
    }
    g_strv_builder_add(builder, cell->values.placement);
    for (unsigned i = 0; i < BENCH_PARAMS_MAX; i++) {
        g_strv_builder_add(builder, cell->values.own[i]);
    }
    return g_strv_builder_end(builder);
}

/* Starting. */

struct pipes {
    int result_read, result_write, tail_read, tail_write;
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
    close_fd(&pipes->result_read);
    close_fd(&pipes->result_write);
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

static int spawn_with(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
                      const struct pipes *pipes, GStrv arguments, pid_t *out_pid)
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
    failure = failure ? failure
                      : posix_spawn_file_actions_adddup2(actions, pipes->tail_write, STDOUT_FILENO);
    failure = failure ? failure
                      : posix_spawn_file_actions_adddup2(actions, pipes->tail_write, STDERR_FILENO);
    failure = failure
                  ? failure
                  : posix_spawn_file_actions_adddup2(actions, pipes->result_write, CELL_RESULT_FD);
    return failure
               ? failure
               : posix_spawn(out_pid, "/proc/self/exe", actions, attributes, arguments, environ);
}

static int spawn_child(const struct pipes *pipes, GStrv arguments, pid_t *out_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure) {
        return failure;
    }
    failure = posix_spawnattr_init(&attributes);
    if (!failure) {
        failure = spawn_with(&actions, &attributes, pipes, arguments, out_pid);
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

static bool read_result(int fd, GByteArray *bytes)
{
    guint8 buffer[READ_BYTES];
    size_t length;
    bool more = read_some(fd, buffer, &length);
    size_t room = CELL_FRAME_BYTES_MAX + 1 -
                  bytes->len; /* one byte more than can be right, to be seen as wrong */
    g_byte_array_append(bytes, buffer, (guint)MIN(length, room));
    return more;
}

static bool read_tail(int fd, GString *tail)
{
    guint8 buffer[READ_BYTES];
    size_t length;
    bool more = read_some(fd, buffer, &length);
    g_string_append_len(tail, (const char *)buffer, (gssize)length);
    if (tail->len > CELL_TAIL_BYTES) {
        g_string_erase(tail, 0, (gssize)(tail->len - CELL_TAIL_BYTES));
    }
    return more;
}

/* What is in the pipes when the child is gone; bounded by what a pipe holds, for no writer may be
 * left. */
static void drain(struct pipes *pipes, CellOutcome *outcome)
{
    guint before = 0;
    do {
        before = outcome->bytes->len;
    } while (pipes->result_read >= 0 && read_result(pipes->result_read, outcome->bytes) &&
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

/* Until the child has ended, or the deadline has come: then false. */
static bool collect(struct pipes *pipes, int pidfd, uint64_t deadline_ns, CellOutcome *outcome)
{
    for (;;) {
        struct pollfd polled[] = {{.fd = pidfd, .events = POLLIN},
                                  {.fd = pipes->result_read, .events = POLLIN},
                                  {.fd = pipes->tail_read, .events = POLLIN}};
        int ready = poll(polled, G_N_ELEMENTS(polled), wait_ms(deadline_ns));
        if (ready == 0) {
            return false;
        }
        if (ready < 0) {
            continue; /* EINTR: a signal; its handler decides */
        }
        if (polled[1].revents && !read_result(pipes->result_read, outcome->bytes)) {
            close_fd(&pipes->result_read);
        }
        if (polled[2].revents && !read_tail(pipes->tail_read, outcome->tail)) {
            close_fd(&pipes->tail_read);
        }
        if (polled[0].revents) {
            return true;
        }
    }
}

static void wait_for_end(pid_t pid, bool in_time, CellOutcome *outcome)
{
    siginfo_t info = {0};
    /* The group goes while its leader is still unreaped: its number cannot be another's yet. */
    kill(-pid, SIGKILL);
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    atomic_store(&running_pid, CHILD_NONE);
    while (waitid(P_PID, (id_t)pid, &info, WEXITED) != 0 && errno == EINTR) {
    }
    outcome->code = info.si_status;
    outcome->end = info.si_code == CLD_EXITED ? CELL_EXITED : CELL_KILLED;
    if (!in_time) {
        outcome->end = CELL_TIMED_OUT;
    }
}

/* The child, and a descriptor that tells of its end. 0 or an errno; then there is no child. */
static int start_child(struct pipes *pipes, GStrv arguments, pid_t *out_pid, int *out_pidfd)
{
    siginfo_t info;
    if (!pipe_open(&pipes->result_read, &pipes->result_write) ||
        !pipe_open(&pipes->tail_read, &pipes->tail_write)) {
        return errno;
    }
    int failure = spawn_child(pipes, arguments, out_pid);
    close_fd(&pipes->result_write);
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

CellOutcome *cell_process_run(const struct cell *cell, const struct cell_request *request,
                              GError **error)
{
    struct pipes pipes = {-1, -1, -1, -1};
    pid_t pid = 0;
    int pidfd = -1;
    g_auto(GStrv) arguments = order_arguments(cell, request);
    uint64_t timeout_ns = (uint64_t)request->timeout_seconds * MS_PER_S * NS_PER_MS;
    uint64_t deadline_ns = clock_wall_ns() + timeout_ns;
    atomic_store(&running_pid, CHILD_STARTING);
    int failure = start_child(&pipes, arguments, &pid, &pidfd);
    if (failure) {
        atomic_store(&running_pid, CHILD_NONE);
        pipes_close(&pipes);
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "cannot start a process to measure in: %s", g_strerror(failure));
        return NULL;
    }
    child_is_there(pid);
    CellOutcome *outcome = g_new0(CellOutcome, 1);
    outcome->bytes = g_byte_array_new();
    outcome->tail = g_string_new(NULL);
    bool in_time = collect(&pipes, pidfd, deadline_ns, outcome);
    wait_for_end(pid, in_time, outcome);
    drain(&pipes, outcome);
    close_fd(&pidfd);
    pipes_close(&pipes);
    return outcome;
}
