/* SPDX-License-Identifier: Apache-2.0
 * See comparison_warn.h. The thread of whoever compares. */
#include "server/work/comparison_warn.h"

#include <string.h>

/* The environments in which a machine measured a side. */
struct environments {
    const char *first; /* digest of one of them; NULL: none is known */
    bool differ;       /* there are others */
    guint n_runs, n_unknown;
};

static void note_environments(const GPtrArray *runs, const struct store_machine *machine,
                              struct environments *found)
{
    for (guint i = 0; i < runs->len; i++) {
        const struct store_run *run = runs->pdata[i];
        if (run->machine != machine)
            continue;
        found->n_runs++;
        if (!run->environment_digest)
            found->n_unknown++;
        else if (!found->first)
            found->first = run->environment_digest;
        else if (strcmp(found->first, run->environment_digest) != 0)
            found->differ = true;
    }
}

static char *warning_of(const struct store_machine *machine, const GPtrArray *base_runs,
                        const GPtrArray *head_runs)
{
    struct environments both = {0};
    note_environments(base_runs, machine, &both);
    if (both.n_runs == 0)
        return g_strdup_printf("nothing was measured on %s up to the base: its series are new",
                               machine->name);
    note_environments(head_runs, machine, &both);
    if (both.differ)
        return g_strdup_printf("%s: base and head were measured in different environments; a "
                               "difference may be the machine's",
                               machine->name);
    if (both.n_unknown > 0)
        return g_strdup_printf("%s: %u of the %u runs do not tell their environment; whether base "
                               "and head were measured in the same one is not known",
                               machine->name, both.n_unknown, both.n_runs);
    return NULL;
}

static void warn_of_environments(Comparison *comparison, const GPtrArray *base_runs,
                                 const GPtrArray *head_runs)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < head_runs->len; i++) {
        const struct store_run *head = head_runs->pdata[i];
        char *warning = g_hash_table_add(seen, head->machine)
                            ? warning_of(head->machine, base_runs, head_runs)
                            : NULL;
        if (warning)
            g_ptr_array_add(comparison->warnings, warning);
    }
    if (head_runs->len == 0)
        g_ptr_array_add(comparison->warnings,
                        g_strdup("the head was not measured: nothing was compared"));
}

static void warn_across(Comparison *comparison, const GPtrArray *base_runs,
                        const GPtrArray *head_runs)
{
    const struct store_run *base = base_runs->len > 0 ? base_runs->pdata[0] : NULL;
    const struct store_run *head = head_runs->len > 0 ? head_runs->pdata[0] : NULL;
    if (!base || !head) {
        g_ptr_array_add(comparison->warnings,
                        g_strdup_printf("the %s was not measured there: nothing was compared",
                                        base ? "head" : "base"));
        return;
    }
    g_ptr_array_add(
        comparison->warnings,
        g_strdup_printf("the base is %s, the head %s: a difference may be the machines'",
                        base->machine->name, head->machine->name));
    if (base->commit != head->commit)
        g_ptr_array_add(comparison->warnings,
                        g_strdup_printf("the base is of %.12s, the head of %.12s: a difference may "
                                        "be the commits'",
                                        base->commit->sha, head->commit->sha));
}

/* Machines whose nearest measured commit is not the one that is named. */
static void warn_of_other_bases(Comparison *comparison, const GPtrArray *base_runs)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < base_runs->len; i++) {
        const struct store_run *run = base_runs->pdata[i];
        if (comparison->measured && run->commit != comparison->measured &&
            g_hash_table_add(seen, run->machine))
            g_ptr_array_add(comparison->warnings,
                            g_strdup_printf("%s: its base is %.12s, the nearest commit that was "
                                            "measured on it",
                                            run->machine->name, run->commit->sha));
    }
}

void comparison_warn(Comparison *comparison, const GPtrArray *base_runs, const GPtrArray *head_runs)
{
    if (comparison->is_across)
        warn_across(comparison, base_runs, head_runs);
    else
        warn_of_environments(comparison, base_runs, head_runs);
    warn_of_other_bases(comparison, base_runs);
}
