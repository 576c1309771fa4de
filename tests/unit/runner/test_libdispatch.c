/* SPDX-License-Identifier: Apache-2.0
 * The executors of libdispatch: what is said where the library is not there or is another one; and,
 * where BREAKEVEN_LIBDISPATCH names a real one, that they keep the contract. Debian 12 has no
 * package of it, so without the variable that is skipped, visibly. */
#include "runner/executors/conformance.h"
#include "runner/executors/executors.h"
#include "runner/executors/libdispatch.h"
#include "schema/error.h"
#include "tests/unit/runner/sanitized.h"
#include <string.h>

#define TIMEOUT_MS 60000u

static const char *const names[] = {"libdispatch", "libdispatch-group", "libdispatch-serial"};

static void assert_unavailable(const char *path, const char *words)
{
    g_autoptr(GError) error = NULL;
    g_setenv(LIBDISPATCH_VARIABLE, path, TRUE);
    g_assert_null(libdispatch_load(&error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE);
    g_assert_true(g_str_has_prefix(error->message, "not installed: Debian 12 has no package"));
    if (!strstr(error->message, words)) {
        g_error("\"%s\" does not say \"%s\"", error->message, words);
    }
}

static void test_not_there(void)
{
    g_autofree char *path = g_strdup(g_getenv(LIBDISPATCH_VARIABLE));
    assert_unavailable("/nonexistent/libdispatch.so", "/nonexistent/libdispatch.so: cannot open");
    assert_unavailable(SOURCE_DIR "/runner/executor.h", "invalid ELF header");
    assert_unavailable(BIN_DIR "/../lib/test/broken_executor.so",
                       "broken_executor.so is there but has no dispatch_get_global_queue");
    if (path) {
        g_setenv(LIBDISPATCH_VARIABLE, path, TRUE);
    } else {
        g_unsetenv(LIBDISPATCH_VARIABLE);
    }
}

static void test_real(void)
{
    if (!g_getenv(LIBDISPATCH_VARIABLE)) {
        g_test_skip(LIBDISPATCH_VARIABLE " is not set: no real libdispatch is tested");
        return;
    }
    if (IS_SANITIZED) {
        g_test_skip("the library is not built with this sanitizer");
        return;
    }
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(GError) error = NULL;
        struct executor_facts facts;
        g_assert_true(executor_describe(names[i], &facts, &error));
        g_assert_no_error(error);
        g_assert_true(g_str_has_prefix(facts.version, "sha256:"));
        g_autoptr(GArray) outcomes = conformance_run(names[i], TIMEOUT_MS, &error);
        g_assert_no_error(error);
        for (guint c = 0; c < outcomes->len; c++) {
            const struct conformance_outcome *outcome =
                &g_array_index(outcomes, struct conformance_outcome, c);
            if (outcome->state == CONFORMANCE_FAILED) {
                g_error("%s: %s: %s", names[i], outcome->check, outcome->message);
            }
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/libdispatch/not-there", test_not_there);
    g_test_add_func("/libdispatch/real", test_real);
    return g_test_run();
}
