/* SPDX-License-Identifier: Apache-2.0
 * Words and ownership of what store_changes.h keeps. Pure; any thread. */
#include "server/store/store_changes.h"
#include <string.h>

static const char *const kinds[] = {"change", "boundary", "pinned"};
static const char *const statuses[] = {"candidate", "confirmed", "withdrawn", "reverted"};
static const char *const triages[] = {"open",  "acknowledged", "expected",
                                      "noise", "infra",        "fixed"};

const char *store_change_kind_name(enum store_change_kind kind)
{
    return kinds[kind];
}

const char *store_change_status_name(enum store_change_status status)
{
    return statuses[status];
}

const char *store_triage_name(enum store_triage triage)
{
    return triages[triage];
}

static int find_word(const char *const *words, guint n, const char *word)
{
    for (guint i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0)
            return (int)i;
    return -1;
}

bool store_change_status_parse(const char *word, enum store_change_status *out)
{
    int found = find_word(statuses, G_N_ELEMENTS(statuses), word);
    if (found >= 0)
        *out = (enum store_change_status)found;
    return found >= 0;
}

bool store_triage_parse(const char *word, enum store_triage *out)
{
    int found = find_word(triages, G_N_ELEMENTS(triages), word);
    if (found >= 0)
        *out = (enum store_triage)found;
    return found >= 0;
}

void store_state_free(struct store_state *state)
{
    if (!state)
        return;
    g_clear_pointer(&state->state, g_bytes_unref);
    g_clear_pointer(&state->tail, g_bytes_unref);
    g_free(state);
}

void store_change_free(struct store_change *change)
{
    if (!change)
        return;
    g_free(change->note);
    g_free(change->who);
    g_free(change->expectation);
    g_free(change);
}

void store_triage_write_free(struct store_triage_write *write)
{
    if (!write)
        return;
    g_clear_pointer(&write->change_ids, g_array_unref);
    g_free(write->note);
    g_free(write->who);
    g_free(write);
}

static void clear_change_write(gpointer item)
{
    struct store_change_write *write = item;
    g_clear_pointer(&write->change.expectation, g_free);
}

struct series_names store_series_names(const struct store_series *series)
{
    return (struct series_names){.bench = series->benchmark->name,
                                 .params = series->params,
                                 .machine = series->machine->name,
                                 .metric = series->metric};
}

static void free_state(gpointer state)
{
    store_state_free(state);
}

struct store_judgement *store_judgement_new(void)
{
    struct store_judgement *judgement = g_new0(struct store_judgement, 1);
    judgement->rejudged = g_array_new(FALSE, FALSE, sizeof(int64_t));
    judgement->levels = g_array_new(FALSE, FALSE, sizeof(struct store_level));
    judgement->forgotten = g_array_new(FALSE, FALSE, sizeof(int64_t));
    judgement->states = g_ptr_array_new_with_free_func(free_state);
    judgement->checkpoints = g_ptr_array_new_with_free_func(free_state);
    judgement->checkpoints_dropped = g_array_new(FALSE, FALSE, sizeof(struct store_checkpoint_key));
    judgement->segments = g_array_new(FALSE, FALSE, sizeof(struct store_segment));
    judgement->segments_dropped = g_array_new(FALSE, FALSE, sizeof(int64_t));
    judgement->versions = g_array_new(FALSE, FALSE, sizeof(struct store_series_version));
    judgement->changes = g_array_new(FALSE, FALSE, sizeof(struct store_change_write));
    g_array_set_clear_func(judgement->changes, clear_change_write);
    return judgement;
}

void store_judgement_free(struct store_judgement *judgement)
{
    if (!judgement)
        return;
    g_array_unref(judgement->rejudged);
    g_array_unref(judgement->levels);
    g_array_unref(judgement->forgotten);
    g_ptr_array_unref(judgement->states);
    g_ptr_array_unref(judgement->checkpoints);
    g_array_unref(judgement->checkpoints_dropped);
    g_array_unref(judgement->segments);
    g_array_unref(judgement->segments_dropped);
    g_array_unref(judgement->versions);
    g_array_unref(judgement->changes);
    g_free(judgement);
}
