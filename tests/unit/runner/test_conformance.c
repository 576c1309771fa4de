/* SPDX-License-Identifier: Apache-2.0
 * Conformance: the executors of the table pass, and a plug-in that is right but for one fault is
 * found by the check that is about it. */
#include "runner/executors/conformance.h"
#include "runner/executors/executors.h"
#include "runner/executors/forked.h"
#include "schema/error.h"
#include "tests/unit/runner/sanitized.h"
#include <string.h>
#include <unistd.h>

#define PLUGIN     BIN_DIR "/../lib/test/broken_executor.so"
#define TIMEOUT_MS 60000u
#define HANG_MS    1000u /* for a child that is to hang */
#define FAULT_NAME "BREAKEVEN_TEST_FAULT"

/* ThreadSanitizer has a thread of its own in each process, which polls. */
#define NOT_JUDGED (IS_THREAD_SANITIZED ? "idle" : NULL)

/* `but`: a check that is passed over. */
static char *failures(const GArray *outcomes, const char *but)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < outcomes->len; i++) {
        const struct conformance_outcome *outcome =
            &g_array_index(outcomes, struct conformance_outcome, i);
        if (outcome->state == CONFORMANCE_FAILED && g_strcmp0(outcome->check, but) != 0) {
            g_string_append_printf(text, "%s: %s\n", outcome->check, outcome->message);
        }
    }
    return g_string_free(text, FALSE);
}

static void test_own_executors(void)
{
    for (const struct executor_entry *entry = executors; entry->name; entry++) {
        g_autoptr(GError) error = NULL;
        if (IS_SANITIZED && entry->install) {
            continue; /* a library that is not built so */
        }
        g_autoptr(GArray) outcomes = conformance_run(entry->name, TIMEOUT_MS, &error);
        if (!outcomes) {
            g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE);
            g_test_message("%s: %s", entry->name, error->message);
            continue;
        }
        g_autofree char *failed = failures(outcomes, NOT_JUDGED);
        g_assert_cmpstr(failed, ==, "");
        g_assert_true(IS_THREAD_SANITIZED || conformance_passed(outcomes));
        g_assert_cmpuint(outcomes->len, ==, 13);
    }
}

static const char *plugin_name(void)
{
    g_autoptr(GError) error = NULL;
    g_unsetenv(FAULT_NAME);
    const char *name = executor_resolve(PLUGIN, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(name, ==, "broken");
    return name;
}

static void test_right_plugin(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) outcomes = conformance_run(plugin_name(), TIMEOUT_MS, &error);
    g_assert_no_error(error);
    g_autofree char *failed = failures(outcomes, NOT_JUDGED);
    g_assert_cmpstr(failed, ==, "");
}

static void assert_found(const char *fault, guint timeout_ms, const char *check, const char *words)
{
    g_autoptr(GError) error = NULL;
    const char *name = plugin_name();
    g_setenv(FAULT_NAME, fault, TRUE);
    g_autoptr(GArray) outcomes = conformance_run(name, timeout_ms, &error);
    g_assert_no_error(error);
    g_autofree char *failed = failures(outcomes, NULL);
    g_autofree char *begin = g_strdup_printf("%s: ", check);
    const char *line = strstr(failed, begin);
    if (!line || !strstr(line, words)) {
        g_error("fault %s: \"%s\" has no \"%s…%s\"", fault, failed, begin, words);
    }
    g_assert_false(conformance_passed(outcomes));
}

static void test_faults(void)
{
    assert_found("loses", TIMEOUT_MS, "exactly-once", "ran 0 times, not 1");
    assert_found("repeats", TIMEOUT_MS, "exactly-once", "ran 2 times, not 1");
    assert_found("early", TIMEOUT_MS, "wait", "of 8 tasks had run");
    assert_found("inline", TIMEOUT_MS, "where", "declare EXECUTOR_MAY_INLINE");
    assert_found("lazy", TIMEOUT_MS, "threads", "at most 1 ran at once");
    assert_found("many", TIMEOUT_MS, "threads", "at 3 threads 4 tasks ran at once");
    assert_found("leaks", TIMEOUT_MS, "ends", "1 threads are left");
    assert_found("drops", TIMEOUT_MS, "drain", "shutdown returned 0 when ");
    assert_found("mute", TIMEOUT_MS, "errors", "must be a negative errno, with a message");
    assert_found("late", TIMEOUT_MS, "errors", "submit after it 0");
    assert_found("polls", TIMEOUT_MS, "idle", "context switches");
    assert_found("crashes", TIMEOUT_MS, "exactly-once", "crashed: killed by SIGABRT");
    assert_found("exits", TIMEOUT_MS, "wait", "ended its process with exit status 3");
    assert_found("hangs", HANG_MS, "exactly-once", "it hangs");
}

static void assert_refused(const char *fault, const char *words)
{
    g_autoptr(GError) error = NULL;
    g_setenv(FAULT_NAME, fault, TRUE);
    /* A library is known by its path once it is taken: each fault gets a path of its own. */
    g_autofree char *path = g_strdup_printf("%s/../bin/../lib/test/%s.so", BIN_DIR, fault);
    g_assert_cmpint(symlink("broken_executor.so", path), ==, 0);
    g_assert_null(executor_resolve(path, &error));
    g_assert_cmpint(unlink(path), ==, 0);
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE);
    if (!strstr(error->message, words)) {
        g_error("fault %s: \"%s\" does not say \"%s\"", fault, error->message, words);
    }
}

static void test_refused_plugins(void)
{
    g_autoptr(GError) error = NULL;
    assert_refused("crashes-loading", "it cannot be loaded: crashed: killed by SIGABRT");
    assert_refused("other-version", "does not speak version 1 of runner/executor.h");
    assert_refused("no-submit", "lacks one of create, submit");
    assert_refused("bad-name", "its name \"My Pool\" cannot be taken");
    assert_refused("taken-name", "its name \"fifo\" is taken by one that the runner has");
    assert_refused("no-bulk", "declares EXECUTOR_BULK and has no submit_n");
    g_assert_null(executor_resolve("./nothing.so", &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE);
    g_assert_nonnull(strstr(error->message, "cannot open shared object file"));
    g_clear_error(&error);
    g_assert_null(executor_resolve("/proc/self/exe", &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE);
    g_clear_error(&error);
    g_assert_null(executor_resolve("nothing", &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND);
}

static void answer_and_print(void *context, GString *answer)
{
    g_string_append(answer, context);
    g_assert_cmpint(write(STDOUT_FILENO, "a\nb", 3), ==, 3);
}

static void test_forked(void)
{
    g_autoptr(GError) error = NULL;
    char text[] = "";
    g_autoptr(Forked) empty = forked_run(answer_and_print, text, TIMEOUT_MS, &error);
    g_assert_no_error(error);
    g_assert_cmpint(empty->end, ==, FORKED_RETURNED);
    g_assert_cmpstr(empty->answer->str, ==, "");
    g_assert_cmpstr(empty->tail, ==, "a b");
    g_assert_null(forked_describe_end(empty, TIMEOUT_MS));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/conformance/forked", test_forked);
    g_test_add_func("/conformance/own-executors", test_own_executors);
    g_test_add_func("/conformance/right-plugin", test_right_plugin);
    g_test_add_func("/conformance/faults", test_faults);
    g_test_add_func("/conformance/refused-plugins", test_refused_plugins);
    return g_test_run();
}
