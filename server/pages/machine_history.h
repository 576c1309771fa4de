/* SPDX-License-Identifier: Apache-2.0
 * What a machine did over time, from the catalogue alone: its runs by the time at which they were
 * measured, projects, stretches of one environment, silences. The request's thread, inside its
 * snapshot. */
#pragma once

#include "server/store/store.h"

#define MACHINE_SILENT_GAPS   3u                      /* of the usual interval are a silence … */
#define MACHINE_SILENT_MS     (INT64_C(24) * 3600000) /* … where that is longer than this */
#define MACHINE_INTERVALS_MIN 3u /* of a project, before anything is called usual */

struct machine_project {
    const struct store_project *project;
    guint n_runs;
    const struct store_run *last; /* by time of measurement */
    int64_t interval_ms;          /* the median between its commits here; 0: too few to say */
};

/* One environment, until another one came. Runs that do not tell theirs belong to the one before.
 */
struct machine_stretch {
    const struct store_run *first, *last;
    guint n_runs;
};

struct machine_gap {
    const struct store_run *before, *after; /* after NULL: it lasts */
    int64_t ms;
};

typedef struct machine_history {
    GPtrArray *runs;                /* struct store_run *, by time of measurement */
    GArray *projects;               /* struct machine_project, the latest first */
    GArray *stretches;              /* struct machine_stretch, oldest first */
    GArray *gaps;                   /* struct machine_gap, oldest first */
    const char *environment_digest; /* of the latest run that tells its own, or NULL */
    int64_t interval_ms; /* usual between two rounds of the busiest project; 0: not known */
    int64_t silence_ms;  /* from how long on it is a silence; 0: cannot be said */
} MachineHistory;

/* When a run was measured: by the sender's clock, where that is not ahead of ours. */
int64_t machine_run_ms(const struct store_run *run);

/* From how long on it is a silence that no further run came: `runs` (struct store_run *) are of one
 * project on one machine, and are sorted by time. 0: too few to say. */
int64_t machine_silence_after_ms(GPtrArray *runs);

/* The runs (struct store_run *) of each machine (struct store_machine *), projects together, in one
 * pass over all runs. Free with g_hash_table_unref. */
GHashTable *machine_runs_by_machine(StoreSnapshot *snapshot);

/* `runs` as above; NULL: of a machine that has none. */
MachineHistory *machine_history_new(const GPtrArray *runs, int64_t now_ms);
void machine_history_free(MachineHistory *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MachineHistory, machine_history_free)
