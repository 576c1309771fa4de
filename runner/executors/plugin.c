/* SPDX-License-Identifier: Apache-2.0
 * dlopen and what may be wrong with what it finds. Main thread. */
#include "runner/executors/plugin.h"
#include "runner/executors/forked.h"
#include "schema/error.h"
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#define DESCRIBE_TIMEOUT_MS 10000u
#define MODULES_FOLDER      "../lib/breakeven/executors"

/* What a table of this version has at least: all members up to destroy. */
#define TABLE_BYTES_MIN offsetof(struct executor_ops, submit_n)

static bool table_fails(GError **error, const char *origin, const char *what)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "%s: %s", origin, what);
    return false;
}

bool plugin_check_table(const struct executor_ops *ops, const char *origin, GError **error)
{
    if (ops->abi != EXECUTOR_ABI) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "%s: its table is of version %u of runner/executor.h, this program speaks %u",
                    origin, ops->abi, EXECUTOR_ABI);
        return false;
    }
    if (ops->size < TABLE_BYTES_MIN) {
        return table_fails(error, origin,
                           "its table says a size that is too small; set size = "
                           "sizeof(struct executor_ops)");
    }
    if (!ops->name || !ops->version) {
        return table_fails(error, origin, "its table has no name or no version (\"\" is one)");
    }
    if (!ops->create || !ops->submit || !ops->wait_all || !ops->shutdown || !ops->destroy) {
        return table_fails(error, origin,
                           "its table lacks one of create, submit, wait_all, "
                           "shutdown, destroy");
    }
    if ((ops->capabilities & EXECUTOR_BULK) && !PLUGIN_HAS(ops, submit_n)) {
        return table_fails(error, origin, "it declares EXECUTOR_BULK and has no submit_n");
    }
    if ((ops->capabilities & EXECUTOR_MAIN) &&
        (!PLUGIN_HAS(ops, post_main) || !PLUGIN_HAS(ops, pump_main))) {
        return table_fails(error, origin,
                           "it declares EXECUTOR_MAIN and lacks post_main or pump_main");
    }
    return true;
}

typedef const struct executor_ops *(*entry_fn)(uint32_t host_abi);

const struct executor_ops *plugin_load(const char *path, GError **error)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "%s", dlerror());
        return NULL;
    }
    union { /* ISO C has no cast from an object's to a function's pointer; POSIX allows this */
        void *symbol;
        entry_fn function;
    } entry = {.symbol = dlsym(library, EXECUTOR_SYMBOL)};
    if (!entry.symbol) {
        table_fails(error, path, "it exports no " EXECUTOR_SYMBOL "; see runner/executor.h");
        return NULL;
    }
    const struct executor_ops *ops = entry.function(EXECUTOR_ABI);
    if (!ops) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "%s: it does not speak version %u of runner/executor.h", path, EXECUTOR_ABI);
        return NULL;
    }
    return plugin_check_table(ops, path, error) ? ops : NULL;
}

const struct executor_ops *plugin_load_module(const char *name, const char *install, GError **error)
{
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = g_path_get_dirname(program ? program : ".");
    g_autofree char *file = g_strdup_printf("%s.so", name);
    g_autofree char *path = g_build_filename(folder, MODULES_FOLDER, file, NULL);
    g_autoptr(GError) problem = NULL;
    const struct executor_ops *ops = NULL;
    if (access(path, R_OK) != 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "not installed: %s (this build has no module %s)", install, file);
    } else if (!(ops = plugin_load(path, &problem))) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "not installed: %s (%s)", install,
                    problem->message);
    }
    return ops;
}

bool plugin_facts(const struct executor_ops *ops, struct executor_facts *out, GError **error)
{
    *out = (struct executor_facts){.capabilities = ops->capabilities,
                                   .has_region = PLUGIN_HAS(ops, run_region)};
    if (g_strlcpy(out->name, ops->name, sizeof out->name) >= sizeof out->name ||
        g_strlcpy(out->version, ops->version, sizeof out->version) >= sizeof out->version) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "executor %.64s: its name or version is too long (%zu and %zu bytes at most)",
                    ops->name, sizeof out->name - 1, sizeof out->version - 1);
        return false;
    }
    return true;
}

/* What the child answers: this, then as many bytes as `message_length`. */
struct answer {
    struct executor_facts facts;
    gsize message_length; /* 0: it was loaded */
};

struct describing {
    const char *subject;
    const struct executor_ops *(*load)(GError **error);
};

static void describe_in_child(void *context, GString *out)
{
    const struct describing *describing = context;
    struct answer answer = {.message_length = 0};
    g_autoptr(GError) problem = NULL;
    const struct executor_ops *ops =
        describing->load ? describing->load(&problem) : plugin_load(describing->subject, &problem);
    if (!ops || !plugin_facts(ops, &answer.facts, &problem)) {
        answer.message_length = strlen(problem->message);
    }
    g_string_append_len(out, (const char *)&answer, sizeof answer);
    g_string_append(out, problem ? problem->message : "");
}

bool plugin_describe(const char *subject, const struct executor_ops *(*load)(GError **error),
                     struct executor_facts *out, GError **error)
{
    struct describing describing = {subject, load};
    g_autoptr(Forked) forked =
        forked_run(describe_in_child, &describing, DESCRIBE_TIMEOUT_MS, error);
    if (!forked) {
        return false;
    }
    struct answer answer;
    if (forked->end != FORKED_RETURNED || forked->answer->len < sizeof answer) {
        g_autofree char *end = forked_describe_end(forked, DESCRIBE_TIMEOUT_MS);
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "%s: it cannot be loaded: %s",
                    subject, end ? end : "no answer");
        return false;
    }
    memcpy(&answer, forked->answer->str, sizeof answer);
    if (answer.message_length > 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "%s",
                    forked->answer->str + sizeof answer);
        return false;
    }
    *out = answer.facts;
    return true;
}
