/* SPDX-License-Identifier: Apache-2.0
 * Running the checks, and what they share. Main thread. */
#include "runner/executors/conformance.h"
#include "runner/executors/conformance_check.h"
#include "runner/executors/executors.h"
#include "runner/executors/forked.h"
#include "runner/executors/plugin.h"
#include <errno.h>
#include <string.h>
#include <time.h>

#define MESSAGE_BYTES 256
#define MS_PER_S      1000
#define NS_PER_MS     1000000

bool conformance_fails(struct conformance *conformance, const char *format, ...)
{
    if (conformance->fault->len == 0) {
        va_list arguments;
        va_start(arguments, format);
        g_string_vprintf(conformance->fault, format, arguments);
        va_end(arguments);
    }
    return false;
}

static bool call_fails(struct conformance *conformance, const char *what, int failure)
{
    const char *name = failure < 0 ? strerrordesc_np(-failure) : NULL;
    return conformance_fails(conformance, "%s returned %d%s%s%s", what, failure, name ? " (" : "",
                             name ? name : ", which is no negative errno", name ? ")" : "");
}

bool conformance_create(struct conformance *conformance, uint32_t threads)
{
    struct executor_config config = {.size = sizeof config, .threads = threads};
    char message[MESSAGE_BYTES] = "";
    bool takes_threads =
        !(conformance->ops->capabilities & (EXECUTOR_NO_THREADS | EXECUTOR_ELASTIC));
    config.threads = takes_threads ? threads : 1;
    conformance->threads = config.threads;
    int failure = conformance->ops->create(&conformance->self, &config, message, sizeof message);
    if (failure && *message) {
        return conformance_fails(conformance, "create with %u threads fails: %s", config.threads,
                                 message);
    }
    return !failure || call_fails(conformance, "create", failure);
}

void conformance_destroy(struct conformance *conformance)
{
    int failure = conformance->ops->shutdown(conformance->self);
    if (failure) {
        call_fails(conformance, "shutdown", failure);
    }
    conformance->ops->destroy(conformance->self);
}

bool conformance_in_region(struct conformance *conformance, void (*body)(void *context))
{
    if (!PLUGIN_HAS(conformance->ops, run_region)) {
        body(conformance);
        return conformance->fault->len == 0;
    }
    int failure = conformance->ops->run_region(conformance->self, body, conformance);
    return failure ? call_fails(conformance, "run_region", failure) : conformance->fault->len == 0;
}

bool conformance_submit(struct conformance *conformance, executor_task_fn task, void *argument)
{
    int failure = conformance->ops->submit(conformance->self, task, argument);
    return !failure || call_fails(conformance, "submit", failure);
}

bool conformance_wait(struct conformance *conformance)
{
    int failure = conformance->ops->wait_all(conformance->self);
    return !failure || call_fails(conformance, "wait_all", failure);
}

uint32_t conformance_tasks(const struct conformance *conformance)
{
    return conformance_has(conformance, EXECUTOR_THREAD_PER_TASK) ? CONFORMANCE_TASKS_MAX / 20
                                                                  : CONFORMANCE_TASKS_MAX;
}

bool conformance_has(const struct conformance *conformance, uint64_t capabilities)
{
    return (conformance->ops->capabilities & capabilities) == capabilities;
}

void conformance_sleep_ms(uint32_t ms)
{
    struct timespec left = {.tv_sec = ms / MS_PER_S, .tv_nsec = ms % MS_PER_S * NS_PER_MS};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

struct run {
    const char *executor;
    const struct conformance_check *check;
};

static void run_in_child(void *context, GString *answer)
{
    const struct run *run = context;
    g_autoptr(GError) error = NULL;
    struct conformance conformance = {.ops = executor_load(run->executor, &error), .fault = answer};
    if (conformance.ops) {
        run->check->run(&conformance);
    } else {
        conformance_fails(&conformance, "%s", error->message);
    }
}

static void add_outcome(GArray *outcomes, const struct run *run, uint64_t capabilities,
                        guint timeout_ms)
{
    const struct conformance_check *check = run->check;
    struct conformance_outcome outcome = {.check = check->name, .promise = check->promise};
    g_autoptr(GError) error = NULL;
    if ((capabilities & check->needs) != check->needs || (capabilities & check->without)) {
        outcome.state = CONFORMANCE_NOT_ASKED;
        outcome.message = g_strdup("not asked of what it declares");
    } else {
        struct run copy = *run;
        g_autoptr(Forked) forked = forked_run(run_in_child, &copy, timeout_ms, &error);
        outcome.message = !forked                          ? g_strdup(error->message)
                          : forked->end != FORKED_RETURNED ? forked_describe_end(forked, timeout_ms)
                          : forked->answer->len            ? g_strdup(forked->answer->str)
                                                           : NULL;
        outcome.state = outcome.message ? CONFORMANCE_FAILED : CONFORMANCE_PASSED;
    }
    g_array_append_val(outcomes, outcome);
}

static void outcome_clear(gpointer data)
{
    g_free(((struct conformance_outcome *)data)->message);
}

GArray *conformance_run(const char *name, guint timeout_ms, GError **error)
{
    const struct conformance_check *const tables[] = {conformance_use_checks,
                                                      conformance_life_checks};
    struct executor_facts facts;
    if (!executor_describe(name, &facts, error)) {
        return NULL;
    }
    uint64_t had = facts.capabilities | (facts.has_region ? CONFORMANCE_NEEDS_REGION : 0);
    GArray *outcomes = g_array_new(FALSE, TRUE, sizeof(struct conformance_outcome));
    g_array_set_clear_func(outcomes, outcome_clear);
    for (gsize t = 0; t < G_N_ELEMENTS(tables); t++) {
        for (const struct conformance_check *check = tables[t]; check->name; check++) {
            add_outcome(outcomes, &(struct run){name, check}, had, timeout_ms);
        }
    }
    return outcomes;
}

bool conformance_passed(const GArray *outcomes)
{
    for (guint i = 0; i < outcomes->len; i++) {
        if (g_array_index(outcomes, struct conformance_outcome, i).state == CONFORMANCE_FAILED) {
            return false;
        }
    }
    return true;
}
