/* SPDX-License-Identifier: Apache-2.0
 * What an acknowledgement is worth: after kill -9 of a process that posts, every acknowledged run
 * is there, whole and once; on a full disk nothing is half stored, and writing works again when
 * there is room. */
#include "store_fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

/* ---- kill -9
 * ------------------------------------------------------------------------------------------------------
 */

enum { POSTERS = 4, KILLS = 10, RESULTS = 20 };

static Run *run_of(guint round, guint poster, guint i)
{
    g_autofree char *id = g_strdup_printf("run-%u-%u-%u", round, poster, i);
    Run *run = make_run(id, "A", (round * 1000 + i) * POSTERS + poster);
    for (guint r = 0; r < RESULTS; r++) {
        struct run_result *result = run_result_new("Sized");
        run_result_add_param_number(result, "size", r);
        struct run_metric *metric = run_metric_new("t", "ns", BETTER_LOWER);
        for (guint s = 0; s < 10; s++)
            run_metric_add_sample(metric, r + s * 0.1);
        run_result_take_metric(result, metric);
        g_ptr_array_add(run->results, result);
    }
    return run;
}

struct poster {
    pthread_t thread;
    Store *store;
    guint round, number;
};

static void *post_for_ever(void *argument)
{
    struct poster *poster = argument;
    for (guint i = 0;; i++) {
        must_put_run(poster->store, run_of(poster->round, poster->number, i));
        char line[64];
        int length = g_snprintf(line, sizeof line, "%u %u %u\n", poster->round, poster->number, i);
        if (write(STDOUT_FILENO, line, (size_t)length) != length)
            return NULL;
    }
}

/* The child: opens the store, posts, and says what was acknowledged until it is killed. */
static int child_main(const char *url, guint round)
{
    struct store_options options = {.url = url};
    g_autoptr(GError) error = NULL;
    Store *store = store_open(&options, &error);
    g_assert_no_error(error);
    struct poster posters[POSTERS];
    for (guint i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){.store = store, .round = round, .number = i};
        g_assert_cmpint(pthread_create(&posters[i].thread, NULL, post_for_ever, &posters[i]), ==,
                        0);
    }
    for (guint i = 0; i < POSTERS; i++)
        pthread_join(posters[i].thread, NULL);
    return 1;
}

/* Starts a child, reads what it acknowledges until there are `enough` lines, kills it, reads the
 * rest. */
static void post_and_kill(struct fixture *fixture, guint round, guint enough,
                          GPtrArray *acknowledged)
{
    g_autofree char *round_text = g_strdup_printf("%u", round);
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    char *arguments[] = {self, (char[]){"--post"}, fixture->url, round_text, NULL};
    g_autoptr(GError) error = NULL;
    GPid child;
    int out;
    g_spawn_async_with_pipes(NULL, arguments, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &child,
                             NULL, &out, NULL, &error);
    g_assert_no_error(error);
    FILE *lines = fdopen(out, "r");
    char line[64];
    guint n = 0;
    while (fgets(line, sizeof line, lines)) {
        /* A line that the kill cut off was written after its receipt all the same, but cannot be
         * read. */
        if (line[strlen(line) - 1] == '\n')
            g_ptr_array_add(acknowledged, g_strdup(g_strchomp(line)));
        if (++n == enough)
            kill(child, SIGKILL);
    }
    fclose(lines);
    int status;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    g_spawn_close_pid(child);
}

static void check_acknowledged(StoreSnapshot *snapshot, const GPtrArray *acknowledged)
{
    for (guint i = 0; i < acknowledged->len; i++) {
        guint round, poster, number;
        g_assert_cmpint(sscanf(acknowledged->pdata[i], "%u %u %u", &round, &poster, &number), ==,
                        3);
        g_autoptr(Run) posted = run_of(round, poster, number);
        const struct store_run *stored = store_run_find(snapshot, posted->id);
        if (!stored)
            g_test_fail_printf("%s was acknowledged and is lost", posted->id);
        g_assert_nonnull(stored);
        g_autoptr(GError) error = NULL;
        g_autoptr(Run) run = store_run_document(snapshot, stored->seq, &error);
        g_assert_no_error(error);
        g_autofree char *expected = print_run(posted), *found = print_run(run);
        g_assert_cmpstr(found, ==, expected);
    }
}

/* Whole: every run, acknowledged or not, has all its points; no id twice. */
static void check_whole(StoreSnapshot *snapshot)
{
    const struct store_project *project = store_project_find(snapshot, "demo");
    g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; project && i < project->runs->len; i++) {
        const struct store_run *run = project->runs->pdata[i];
        g_autoptr(GArray) points = store_run_points(snapshot, run->seq, NULL);
        g_assert_cmpuint(points->len, ==, RESULTS + 1);
        g_assert_true(g_hash_table_add(ids, run->id));
    }
    for (guint i = 0; project && i < project->series->len; i++) {
        const struct store_series *series = project->series->pdata[i];
        g_autoptr(GArray) points = store_series_points(snapshot, series->id, NULL);
        g_assert_cmpuint(points->len, ==, project->runs->len);
        g_assert_cmpuint(points->len, ==, series->n_points);
    }
}

static void test_kill(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    g_autoptr(GPtrArray) acknowledged = g_ptr_array_new_with_free_func(g_free);
    for (guint round = 0; round < KILLS; round++) {
        store_close(fixture.store);
        guint enough = (guint)g_test_rand_int_range(1, 60);
        post_and_kill(&fixture, round, enough, acknowledged);
        fixture_open(&fixture);
        g_autoptr(StoreReader) reader = must_read(fixture.store);
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        check_acknowledged(snapshot, acknowledged);
        check_whole(snapshot);
    }
    g_test_message("%u runs were acknowledged over %d kills", acknowledged->len, KILLS);
    g_assert_cmpuint(acknowledged->len, >=, KILLS);
    fixture_end(&fixture);
}

/* ---- A full disk
 * --------------------------------------------------------------------------------------------------
 */

enum { PARALLEL = 8 };

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool fine = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return fine;
}

/* A small disk of its own for this process. */
static bool mount_small_disk(const char *folder)
{
    unsigned user = getuid(), group = getgid();
    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return false;
        g_autofree char *users = g_strdup_printf("0 %u 1", user);
        g_autofree char *groups = g_strdup_printf("0 %u 1", group);
        if (!write_text("/proc/self/setgroups", "deny") ||
            !write_text("/proc/self/uid_map", users) || !write_text("/proc/self/gid_map", groups))
            return false;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", folder, "tmpfs", 0, "size=12m") == 0;
}

static Run *big_run(guint i)
{
    g_autofree char *id = g_strdup_printf("big-%u", i);
    Run *run = make_run(id, "A", i);
    struct run_result *result = run_result_new("Big");
    struct run_metric *metric = run_metric_new("t", "ns", BETTER_LOWER);
    for (guint s = 0; s < 5000; s++)
        run_metric_add_sample(metric, s + 0.1);
    run_result_take_metric(result, metric);
    g_ptr_array_add(run->results, result);
    return run;
}

/* Puts several at once, so that they share transactions; returns how many were stored. */
static guint put_several(Store *store, guint first, guint n, guint *out_full)
{
    struct outcome outcomes[PARALLEL];
    guint stored = 0;
    for (guint i = 0; i < n; i++) {
        Run *run = big_run(first + i);
        outcome_init(&outcomes[i]);
        store_put_run(store, run, run_digest(run), outcome_done, &outcomes[i]);
    }
    for (guint i = 0; i < n; i++) {
        outcome_wait(&outcomes[i]);
        stored += outcomes[i].outcome == STORE_CREATED;
        *out_full += outcomes[i].code == ERROR_FULL;
        g_assert_true(outcomes[i].code == ERROR_FULL || outcomes[i].code == -1);
        outcome_clear(&outcomes[i]);
    }
    return stored;
}

static void check_count(Store *store, guint expected)
{
    struct store_status status;
    store_status(store, &status);
    g_assert_cmpuint(status.n_runs, ==, expected);
    g_autoptr(StoreReader) reader = must_read(store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    const struct store_project *project = store_project_find(snapshot, "demo");
    g_assert_cmpuint(project->runs->len, ==, expected);
    for (guint i = 0; i < project->runs->len; i++) {
        const struct store_run *run = project->runs->pdata[i];
        g_autoptr(GError) error = NULL;
        g_autoptr(Run) document = store_run_document(snapshot, run->seq, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(run_count_samples(document), ==, 5006);
    }
    for (guint i = 0; i < project->series->len; i++)
        g_assert_cmpuint(((struct store_series *)project->series->pdata[i])->n_points, ==,
                         expected);
}

static void make_ballast(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(posix_fallocate(fd, 0, 8 << 20), ==, 0);
    close(fd);
}

static void test_full(void)
{
    g_autofree char *folder = g_dir_make_tmp("breakeven-disk-XXXXXX", NULL);
    if (!mount_small_disk(folder)) {
        g_test_skip("no mount namespace is permitted here, so no small disk can be made");
        g_rmdir(folder);
        return;
    }
    struct fixture fixture = {.folder = g_strdup(folder), .log = g_string_new(NULL)};
    pthread_mutex_init(&fixture.log_mutex, NULL);
    fixture.path = g_build_filename(folder, "test.db", NULL);
    fixture.url = g_strconcat("sqlite:", fixture.path, NULL);
    g_autofree char *ballast = g_build_filename(folder, "ballast", NULL);
    make_ballast(ballast);
    fixture_open(&fixture);
    guint stored = 0, full = 0, next = 0;
    for (; full == 0 && next < 1000; next += PARALLEL)
        stored += put_several(fixture.store, next, PARALLEL, &full);
    g_assert_cmpuint(full, >, 0);
    g_assert_cmpuint(stored, >, 0);
    /* Until not even one more fits. */
    for (full = 0; full == 0; next++)
        stored += put_several(fixture.store, next, 1, &full);
    check_count(fixture.store, stored);
    struct store_status status;
    store_status(fixture.store, &status);
    g_assert_false(status.can_write);
    g_assert_nonnull(strstr(fixture.log->str, "no room"));

    g_assert_cmpint(g_unlink(ballast), ==, 0);
    guint full_later = 0;
    stored += put_several(fixture.store, 2000, PARALLEL, &full_later);
    g_assert_cmpuint(full_later, ==, 0);
    check_count(fixture.store, stored);
    store_status(fixture.store, &status);
    g_assert_true(status.can_write);
    fixture_reopen(&fixture);
    check_count(fixture.store, stored);
    g_test_message("%u runs stored, %u refused on the full disk", stored, full);
    store_close(fixture.store);
    fixture.store = NULL;
    umount(folder);
    fixture_end(&fixture);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--post") == 0)
        return child_main(argv[2], (guint)g_ascii_strtoull(argv[3], NULL, 10));
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/faults/kill", test_kill);
    g_test_add_func("/faults/full-disk", test_full);
    return g_test_run();
}
