/* SPDX-License-Identifier: Apache-2.0
 * The server's program as a shell meets it: options, environment, key file, exit codes, signals,
 * the log. It starts the program itself. */
#include "tests/unit/http/http_fixture.h"
#include <glib/gstdio.h>
#include <signal.h>
#include <sys/wait.h>

#define PROGRAM BIN_DIR "/breakeven-server"

static char *folder; /* of this test's files */

struct program {
    GPid pid;
    int log_fd; /* reads its stderr */
    GString *log;
    uint16_t port;
};

static char **words_of(const char *arguments)
{
    g_autofree char *line = g_strdup_printf("%s %s", PROGRAM, arguments);
    char **words = NULL;
    g_assert_true(g_shell_parse_argv(line, NULL, &words, NULL));
    return words;
}

/* Runs to the end; `text` must be in its stderr (or stdout where it ends well), which is one line
 * where it ends with 2. */
static void assert_ends(const char *arguments, int code, const char *text)
{
    g_auto(GStrv) words = words_of(arguments);
    g_autofree char *out = NULL, *err = NULL;
    g_autoptr(GError) error = NULL;
    int status;
    g_spawn_sync(folder, words, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err, &status, &error);
    g_assert_no_error(error);
    g_test_message("%s -> %s%s", arguments, out, err);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, code);
    g_assert_nonnull(strstr(code == 0 && *out ? out : err, text));
    if (code == 2)
        g_assert_true(strchr(err, '\n') == err + strlen(err) - 1);
}

static void program_read_log(struct program *program, const char *until)
{
    char piece[4096];
    while (!until || !strstr(program->log->str, until)) {
        struct pollfd poll_fd = {.fd = program->log_fd, .events = POLLIN};
        g_assert_cmpint(poll(&poll_fd, 1, FIXTURE_WAIT_MS), ==, 1);
        ssize_t got = read(program->log_fd, piece, sizeof piece);
        if (got <= 0)
            break;
        g_string_append_len(program->log, piece, got);
    }
    if (until)
        g_assert_nonnull(strstr(program->log->str, until));
}

static struct program program_start(const char *arguments)
{
    struct program program = {.log = g_string_new(NULL)};
    g_auto(GStrv) words = words_of(arguments);
    g_autoptr(GError) error = NULL;
    g_spawn_async_with_pipes(folder, words, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                             &program.pid, NULL, NULL, &program.log_fd, &error);
    g_assert_no_error(error);
    program_read_log(&program, "listening on http://");
    const char *address =
        strstr(program.log->str, "listening on http://") + strlen("listening on http://");
    g_autofree char *authority = g_strndup(address, strcspn(address, "/"));
    const char *port = strrchr(authority, ':') + 1;
    program.port = (uint16_t)g_ascii_strtoull(port, NULL, 10);
    g_assert_cmpuint(program.port, >, 0);
    return program;
}

/* Waits for its end; returns its exit code, or minus the signal. */
static int program_end(struct program *program)
{
    int status;
    program_read_log(program, NULL);
    g_assert_cmpint(waitpid(program->pid, &status, 0), ==, program->pid);
    g_spawn_close_pid(program->pid);
    close(program->log_fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void file_write(const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void test_usage(void)
{
    assert_ends("--help", 0, "Example:");
    assert_ends("--version", 0, "breakeven-server ");
    assert_ends("--lisen 127.0.0.1:0", 2, "unknown option --lisen; there are --listen, --store");
    assert_ends("-l 127.0.0.1:0", 2, "unknown option -l");
    assert_ends("--store sqlite:a --store sqlite:b", 2, "--store is given twice");
    assert_ends("--store=sqlite:a --store sqlite:b", 2, "--store is given twice");
    assert_ends("--listen", 2, "--listen wants a value: --listen ADDRESS:PORT");
    assert_ends("--listen 8080", 2, "127.0.0.1:8080 or [::1]:8080 would be right");
    assert_ends("--listen ::1:8080", 2, "[::1]:8080 would be right");
    assert_ends("--listen 127.0.0.1:65536", 2, "would be right");
    assert_ends("--store postgres:x", 2, "sqlite:FILE would be right");
    assert_ends("--workers 0", 2, "no whole number from 1 to 64");
    assert_ends("--workers 2x", 2, "no whole number from 1 to 64");
    assert_ends("--access-log maybe", 2, "neither on nor off");
    assert_ends("server", 2, "unknown command server; serve (the default), migrate, backup FILE");
    assert_ends("serve migrate", 2, "one command is enough");
    assert_ends("backup", 2, "backup wants a file: breakeven-server backup breakeven.backup");
    assert_ends("restore", 2, "restore wants a file");
    assert_ends("backup one two", 2, "two: one command is enough");
    assert_ends("migrate --force", 2, "--force belongs to backup and restore");
    assert_ends("check --store sqlite:missing.db", 1, "no store is at missing.db");
}

static void test_token_file(void)
{
    file_write("empty", "\n");
    file_write("spaced", "0123456789 0123456789\n");
    assert_ends("--write-token-file missing", 2, "missing");
    assert_ends("--write-token-file empty", 2, "16 to 1024 visible ASCII characters");
    assert_ends("--write-token-file spaced", 2, "holds no token");
    assert_ends("--listen 0.0.0.0:0 --store sqlite:open.db", 1,
                "while there is no token nobody could be told");
}

static void test_sources(void)
{
    file_write("server.conf", "[server]\nworkers=0\n");
    file_write("other.conf", "[server]\nworker=1\n");
    file_write("group.conf", "[client]\nworkers=1\n");
    assert_ends("--config server.conf", 2, "server.conf: workers: 0 is no whole number");
    assert_ends("--config other.conf", 2,
                "unknown key worker in [server]; there are listen, store");
    assert_ends("--config group.conf", 2, "unknown group [client]");
    assert_ends("--config missing.conf", 2, "missing.conf");
    g_setenv("BREAKEVEN_WORKERS", "65", TRUE);
    assert_ends("--config server.conf", 2, "BREAKEVEN_WORKERS: 65 is no whole number");
    assert_ends("--config server.conf --workers 66", 2, "--workers: 66 is no whole number");
    g_unsetenv("BREAKEVEN_WORKERS");
}

static void test_migrate(void)
{
    assert_ends("migrate --store sqlite:migrated.db", 0, "has this version's schema");
    assert_ends("check --store sqlite:migrated.db", 0, "migrated.db: whole; schema");
    g_autofree char *path = g_build_filename(folder, "migrated.db", NULL);
    g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
}

static void test_serve_and_stop(void)
{
    struct program program = program_start("serve --listen 127.0.0.1:0 --store sqlite:serve.db");
    struct fixture client = {.port = program.port};
    g_autofree char *busy =
        g_strdup_printf("--listen 127.0.0.1:%u --store sqlite:second.db", program.port);
    g_autofree char *address =
        g_strdup_printf("cannot listen on 127.0.0.1:%u: Address already in use", program.port);
    struct answer answer = fixture_request(&client, "GET", "/api/x%0aevil\"y", "", NULL);
    g_assert_cmpuint(answer.status, ==, 404);
    answer_clear(&answer);
    assert_ends(busy, 1, address);
    /* An upload whose body comes after the signal is in flight: it is finished first. */
    int fd = client_open(&client), idle = client_open(&client);
    client_print(
        fd,
        "POST /api/runs HTTP/1.1\r\nHost: localhost:%u\r\nContent-Type: application/json\r\n"
        "Content-Length: 2\r\n\r\n",
        program.port);
    client_print(idle, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
    answer = answer_read(idle, true);
    g_assert_cmpuint(answer.status, ==, 200);
    answer_clear(&answer);
    g_assert_cmpint(kill(program.pid, SIGTERM), ==, 0);
    program_read_log(&program, "SIGTERM: finishing");
    client_print(idle, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
    answer = answer_read(idle, true);
    g_assert_cmpuint(answer.status, ==, 503);
    answer_clear(&answer);
    client_print(fd, "{}");
    answer = answer_read(fd, true);
    g_assert_cmpuint(answer.status, ==, 422);
    assert_header(&answer, "Connection", "close");
    answer_clear(&answer);
    g_assert_cmpint(program_end(&program), ==, 0);
    g_assert_nonnull(strstr(program.log->str, "path=\"/api/x%0aevil\\\"y\" status=404"));
    g_assert_nonnull(strstr(program.log->str, "msg=stopped"));
    g_string_free(program.log, TRUE);
    close(fd);
    close(idle);
}

/* A second signal does not wait for what is in flight. */
static void test_second_signal(void)
{
    struct program program =
        program_start("--listen 127.0.0.1:0 --store sqlite:signal.db --drain-seconds 600");
    struct fixture client = {.port = program.port};
    int fd = client_open(&client);
    client_print(fd, "POST /api/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n");
    struct answer answer = fixture_request(&client, "GET", "/healthz", "", NULL);
    g_assert_cmpuint(answer.status, ==, 200);
    answer_clear(&answer);
    g_assert_cmpint(kill(program.pid, SIGINT), ==, 0);
    program_read_log(&program, "SIGINT: finishing");
    g_assert_cmpint(kill(program.pid, SIGTERM), ==, 0);
    g_assert_cmpint(program_end(&program), ==, -SIGTERM);
    g_string_free(program.log, TRUE);
    close(fd);
}

/* With a token, on all addresses, configured by file and environment. */
static void test_token(void)
{
    file_write("token", "0123456789abcdef0123456789abcdef\n");
    file_write("token.conf", "[server]\nstore=sqlite:token.db\nwrite-token-file=token\nlisten=x\n");
    g_setenv("BREAKEVEN_LISTEN", "0.0.0.0:0", TRUE);
    struct program program = program_start("--config token.conf");
    g_unsetenv("BREAKEVEN_LISTEN");
    struct fixture client = {.port = program.port};
    g_autoptr(GBytes) body = g_bytes_new_static("{}", 2);
    struct answer answer =
        fixture_request(&client, "POST", "/api/runs", "Content-Type: application/json\r\n", body);
    g_assert_cmpuint(answer.status, ==, 401);
    answer_clear(&answer);
    answer = fixture_request(&client, "POST", "/api/runs",
                             "Content-Type: application/json\r\nAuthorization: Bearer "
                             "0123456789abcdef0123456789abcdef\r\n",
                             body);
    g_assert_cmpuint(answer.status, ==, 422);
    answer_clear(&answer);
    g_assert_cmpint(kill(program.pid, SIGTERM), ==, 0);
    g_assert_cmpint(program_end(&program), ==, 0);
    g_assert_null(strstr(program.log->str, "0123456789abcdef"));
    g_string_free(program.log, TRUE);
}

static void remove_folder(void)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
    g_rmdir(folder);
    g_free(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/server/program/usage", test_usage);
    g_test_add_func("/server/program/token-file", test_token_file);
    g_test_add_func("/server/program/sources", test_sources);
    g_test_add_func("/server/program/migrate", test_migrate);
    g_test_add_func("/server/program/serve-and-stop", test_serve_and_stop);
    g_test_add_func("/server/program/second-signal", test_second_signal);
    g_test_add_func("/server/program/token", test_token);
    folder = g_dir_make_tmp("breakeven-server-XXXXXX", NULL);
    int result = g_test_run();
    remove_folder();
    return result;
}
