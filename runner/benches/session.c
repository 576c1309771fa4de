/* SPDX-License-Identifier: Apache-2.0
 * Making and ending executors for benchmarks. Main thread. */
#include "runner/benches/session.h"
#include "runner/executors/executors.h"
#include "runner/executors/plugin.h"
#include "schema/error.h"
#include <string.h>

#define MESSAGE_BYTES 256

bool session_fail(const struct executor_ops *ops, const char *what, int failure, GError **error)
{
    const char *name = failure < 0 ? strerrordesc_np(-failure) : NULL;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "executor %s: %s failed: %s", ops->name,
                what, name ? name : "with a code that is no -errno");
    return false;
}

bool session_prepare(struct session *session, const struct bench_case *cell, GError **error)
{
    *session = (struct session){
        .ops = executor_load(cell->executor, error),
        .config = {.size = sizeof session->config, .threads = cell->threads ? cell->threads : 1},
    };
    return session->ops != NULL;
}

bool session_open(struct session *session, GError **error)
{
    char message[MESSAGE_BYTES] = "";
    session->is_shut = false;
    session->self = NULL;
    int failure = session->ops->create(&session->self, &session->config, message, sizeof message);
    session->is_open = failure == 0;
    if (failure && *message) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "executor %s: %s", session->ops->name,
                    message);
    } else if (failure) {
        session_fail(session->ops, "create", failure, error);
    }
    return session->is_open;
}

bool session_has_region(const struct session *session)
{
    return PLUGIN_HAS(session->ops, run_region);
}

bool session_run(struct session *session, void (*body)(void *context), void *context,
                 GError **error)
{
    if (!session_has_region(session)) {
        body(context);
        return true;
    }
    int failure = session->ops->run_region(session->self, body, context);
    return !failure || session_fail(session->ops, "run_region", failure, error);
}

bool session_shutdown(struct session *session, GError **error)
{
    int failure = session->ops->shutdown(session->self);
    session->is_shut = true;
    return !failure || session_fail(session->ops, "shutdown", failure, error);
}

void session_close(struct session *session)
{
    if (session->is_open) {
        session->ops->destroy(session->self);
        session->is_open = false;
    }
}

uint64_t session_items(const struct bench_case *cell, uint64_t items)
{
    struct executor_facts facts;
    bool is_slow = executor_describe(cell->executor, &facts, NULL) &&
                   (facts.capabilities & EXECUTOR_THREAD_PER_TASK);
    return is_slow ? MIN(items, SESSION_SLOW_TASKS_MAX) : items;
}
