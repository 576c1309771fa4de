/* SPDX-License-Identifier: Apache-2.0
 * Fuzzing of the JSON reader against jansson's own: both take a text or both refuse it, and what
 * they take is equal. libFuzzer's entry point; replay.c feeds it what was kept. */
#include "schema/json_tree.h"
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>

static void check(bool holds)
{
    if (!holds)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct json_problem problem = {0};
    json_error_t error;
    json_t *ours = json_tree_read(bytes, size, &problem);
    json_t *theirs = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

    if (ours) {
        check(theirs && json_equal(ours, theirs));
    } else {
        check(problem.what && problem.byte_offset <= size && problem.line >= 1);
        /* jansson goes deeper, and loses a zero byte that it has put back. */
        check(!theirs || strstr(problem.what, "nested") || memchr(data, 0, size));
    }
    json_decref(ours);
    json_decref(theirs);
    return 0;
}
