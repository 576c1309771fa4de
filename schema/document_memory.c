/* SPDX-License-Identifier: Apache-2.0
 * See document_memory.h. The allocators are installed once for the process; they are malloc's, so
 * that what was taken before can be given back after. Any thread. */
#include "schema/document_memory.h"

#include <jansson.h>
#include <pthread.h>

static _Thread_local struct {
    unsigned depth, failures;
} state;

static void *take(size_t n)
{
    void *memory = state.depth > 0 ? g_try_malloc(n) : g_malloc(n);

    if (!memory && n > 0)
        state.failures++;
    return memory;
}

static void give_back(void *memory)
{
    g_free(memory);
}

static void install(void)
{
    json_set_alloc_funcs(take, give_back);
}

void document_memory_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, install);
    state.depth++;
}

bool document_memory_leave(GError **error)
{
    unsigned failures = state.failures;

    if (--state.depth == 0)
        state.failures = 0;
    if (failures > 0)
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_BUSY,
                            "no memory for this document now; try again in a moment");
    return failures == 0;
}
