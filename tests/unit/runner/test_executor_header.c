/* SPDX-License-Identifier: Apache-2.0
 * The plug-in header by itself: compiles as C, C++ and Objective-C, and lays its table out alike in
 * each. A compiler that is not there is skipped by name. */
#include "runner/executor.h"
#include "tests/unit/runner/scratch.h"

#define WARNINGS "-Wall -Wextra -Wpedantic -Werror"

/* The offsets that a plug-in built elsewhere relies on; the header may only append. */
static void test_layout(void)
{
    const size_t word = sizeof(void *);
    g_assert_cmpuint(offsetof(struct executor_ops, abi), ==, 0);
    g_assert_cmpuint(offsetof(struct executor_ops, size), ==, 4);
    g_assert_cmpuint(offsetof(struct executor_ops, capabilities), ==, 8);
    g_assert_cmpuint(offsetof(struct executor_ops, name), ==, 16);
    g_assert_cmpuint(offsetof(struct executor_ops, create), ==, 16 + 2 * word);
    g_assert_cmpuint(offsetof(struct executor_ops, destroy), ==, 16 + 6 * word);
    g_assert_cmpuint(offsetof(struct executor_ops, submit_n), ==, 16 + 7 * word);
    g_assert_cmpuint(offsetof(struct executor_ops, run_region), ==, 16 + 11 * word);
    g_assert_cmpuint(sizeof(struct executor_config), ==, 8);
}

static void compile_as(const char *compiler, const char *language, const char *standard)
{
    g_autofree char *program = g_find_program_in_path(compiler);
    if (!program) {
        g_test_skip_printf("%s is not installed", compiler);
        return;
    }
    char *folder = scratch_new();
    g_autofree char *source = g_build_filename(folder, "plugin.txt", NULL);
    g_autofree char *object = g_build_filename(folder, "plugin.o", NULL);
    g_autoptr(GError) error = NULL;
    const char *text = "#include \"runner/executor.h\"\n"
                       "static const struct executor_ops *table;\n"
                       "const struct executor_ops *breakeven_executor(uint32_t host_abi)\n"
                       "{ return host_abi == EXECUTOR_ABI ? table : NULL; }\n";
    g_assert_true(g_file_set_contents(source, text, -1, &error));
    g_autofree char *command =
        g_strdup_printf("%s -x %s -std=%s %s -I '%s' -c '%s' -o '%s'", program, language, standard,
                        WARNINGS, SOURCE_DIR, source, object);
    g_autofree char *complaint = NULL;
    int status = 0;
    g_assert_true(g_spawn_command_line_sync(command, NULL, &complaint, &status, &error));
    if (status && complaint && g_strrstr(complaint, "cannot execute")) {
        g_test_skip_printf("%s has no %s", compiler, language); /* gcc without gobjc or g++ */
    } else {
        g_assert_cmpstr(complaint, ==, "");
        g_assert_cmpint(status, ==, 0);
    }
    scratch_remove(folder);
}

static void test_c(void)
{
    compile_as("gcc", "c", "gnu11");
}

static void test_clang(void)
{
    compile_as("clang", "c", "c17");
}

static void test_cxx(void)
{
    compile_as("g++", "c++", "c++17");
}

static void test_objective_c(void)
{
    compile_as("gcc", "objective-c", "gnu11");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/executor-header/layout", test_layout);
    g_test_add_func("/executor-header/c", test_c);
    g_test_add_func("/executor-header/clang", test_clang);
    g_test_add_func("/executor-header/c++", test_cxx);
    g_test_add_func("/executor-header/objective-c", test_objective_c);
    return g_test_run();
}
