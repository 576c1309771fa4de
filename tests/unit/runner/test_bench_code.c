/* SPDX-License-Identifier: Apache-2.0
 * A look at the machine code, once: the workload must be the loop that it says it is, neither
 * vectorised nor moved out of the way, and the benchmarks must call that one function. A wrong
 * result could not tell: no pass's result depends on the passes before. */
#include "runner/benches/bench.h"
#include "runner/benches/bench_task.h"
#include "tests/unit/runner/sanitized.h"
#include <string.h>

#define INSTRUCTIONS_MAX 4096u

struct instruction {
    uint64_t address;
    char *text;
};

static void instruction_clear(gpointer data)
{
    struct instruction *instruction = data;
    g_free(instruction->text);
}

/* The instructions of a function of this very program. */
static GArray *disassemble(const char *function)
{
    g_autofree char *option = g_strconcat("--disassemble=", function, NULL);
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    g_strv_builder_add_many(builder, "objdump", "-d", "--no-show-raw-insn", option, self, NULL);
    g_auto(GStrv) arguments = g_strv_builder_end(builder);
    g_autofree char *output = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(g_spawn_sync(NULL, arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output,
                               NULL, NULL, &error));
    g_auto(GStrv) lines = g_strsplit(output, "\n", -1);
    GArray *code = g_array_new(FALSE, FALSE, sizeof(struct instruction));
    g_array_set_clear_func(code, instruction_clear);
    for (char **line = lines; *line && code->len < INSTRUCTIONS_MAX; line++) {
        char *end;
        uint64_t address = g_ascii_strtoull(*line, &end, 16);
        if (**line == ' ' && *end == ':') {
            struct instruction instruction = {.address = address,
                                              .text = g_strdup(g_strstrip(end + 1))};
            g_array_append_val(code, instruction);
        }
    }
    g_assert_cmpuint(code->len, >, 0);
    return code;
}

static bool starts_with(const struct instruction *instruction, const char *mnemonic)
{
    return g_str_has_prefix(instruction->text, mnemonic);
}

/* The target where this is a jump back, to an address not above its own; else 0. */
static uint64_t jump_back(const struct instruction *instruction)
{
    if (*instruction->text != 'j') {
        return 0;
    }
    const char *operand = strchr(instruction->text, ' ');
    uint64_t target = operand ? g_ascii_strtoull(operand, NULL, 16) : 0; /* skips spaces */
    return target <= instruction->address ? target : 0;
}

/* How many loops of the function the instruction lies in. */
static unsigned loops_around(const GArray *code, uint64_t address)
{
    unsigned loops = 0;
    for (guint i = 0; i < code->len; i++) {
        const struct instruction *instruction = &g_array_index(code, struct instruction, i);
        uint64_t target = jump_back(instruction);
        loops += target && target <= address && address <= instruction->address;
    }
    return loops;
}

static bool can_look(void)
{
    g_autofree char *objdump = g_find_program_in_path("objdump");
#if defined(__x86_64__)
    const bool is_known_code = true;
#else
    const bool is_known_code = false;
#endif
    if (!objdump) {
        g_test_skip("objdump is not installed (binutils)");
    } else if (IS_SANITIZED) {
        g_test_skip("a sanitizer's build has a sanitizer's code");
    } else if (!is_known_code) {
        g_test_skip("the instructions looked for are those of x86-64");
    }
    return objdump && !IS_SANITIZED && is_known_code;
}

/* Compilers may unroll the 32 steps, partly or whole; each step is a shift by a register and a
 * subtraction, in the loop of passes. */
static void test_workload_is_a_loop(void)
{
    if (!can_look()) {
        return;
    }
    struct workload workload;
    workload_init(&workload, 1000);
    g_assert_cmpuint(workload_run(&workload), ==, 31);
    g_autoptr(GArray) code = disassemble("workload_run");
    unsigned shifts = 0, subtractions = 0, loops = 2;
    for (guint i = 0; i < code->len; i++) {
        const struct instruction *instruction = &g_array_index(code, struct instruction, i);
        g_assert_null(strstr(instruction->text, "%xmm"));
        g_assert_null(strstr(instruction->text, "%ymm"));
        bool shift = starts_with(instruction, "shl ") ? strstr(instruction->text, "%cl") != NULL
                                                      : starts_with(instruction, "shlx");
        bool subtraction = starts_with(instruction, "sub ") && !strstr(instruction->text, "$");
        unsigned around = loops_around(code, instruction->address);
        if ((shift || subtraction) && around > 0) {
            loops = MIN(loops, around);
            shifts += shift;
            subtractions += subtraction;
        }
    }
    g_assert_cmpuint(shifts, >=, 1);
    g_assert_cmpuint(shifts, <=, WORKLOAD_WORDS);
    g_assert_cmpuint(WORKLOAD_WORDS % shifts, ==, 0);
    g_assert_cmpuint(subtractions, >=, shifts);
    /* A loop of words in a loop of passes; the inner one may be gone where it is unrolled whole. */
    g_assert_true(loops == 2 || (loops == 1 && shifts == WORKLOAD_WORDS));
}

static unsigned calls_of_workload(const char *function, bool in_loop)
{
    g_autoptr(GArray) code = disassemble(function);
    unsigned calls = 0;
    for (guint i = 0; i < code->len; i++) {
        const struct instruction *instruction = &g_array_index(code, struct instruction, i);
        if (strstr(instruction->text, "<workload_run>")) {
            calls += !in_loop || loops_around(code, instruction->address) > 0;
        }
    }
    return calls;
}

/* No benchmark has a copy of the loop. */
static void test_one_function_for_all(void)
{
    if (!can_look()) {
        return;
    }
    g_assert_nonnull(bench_find("WorkloadCost"));
    g_assert_cmpuint(calls_of_workload("workload_cost_iterate", true), >=, 1);
    g_assert_cmpuint(calls_of_workload("bench_task_run", false), ==, 1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bench/code/workload-is-a-loop", test_workload_is_a_loop);
    g_test_add_func("/bench/code/one-function-for-all", test_one_function_for_all);
    return g_test_run();
}
