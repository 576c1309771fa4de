/* SPDX-License-Identifier: Apache-2.0
 * What is held in memory: projects, machines, benchmarks, series, commits in order, runs without
 * their samples. Filled at the start; later only the writer changes it, after a COMMIT, under the
 * write lock. Readers hold the read lock. Each structure of store.h is the first member of one
 * here; what follows it belongs to the writer alone and needs no lock. Must not know of SQL. */
#pragma once

#include "server/store/commit_order.h"
#include "server/store/param_defaults.h"
#include "server/store/store_branches.h"
#include <pthread.h>

struct catalogue_project {
    struct store_project pub;
    GHashTable *commit_by_sha;     /* struct store_commit *; read by readers too */
    GTree *commits_by_sha;         /* sha -> struct store_commit *, sorted; read by readers too */
    GHashTable *benchmark_by_name; /* struct store_benchmark * as posted; read by readers too */
    GHashTable *benchmark_aliases; /* name -> struct store_benchmark * that it stands for at once;
                                      read by readers too */
    GHashTable *value_aliases;     /* line_value_key -> the value that it stands for; read by
                                      readers too */
    GPtrArray *cases;              /* struct catalogue_case *; read by readers too */
    ParamDefaults *defaults;       /* NULL: none; read by readers too */
    /* The writer's (branch_line.h). */
    bool has_line;          /* the default branch's head is known: commits say how they stand */
    bool line_end_is_known; /* its chain ends in a root */
};

struct catalogue_commit {
    struct store_commit pub;
    int64_t told_time_s; /* where pub.has_time: as told, before clamping; read by readers too */
    /* The writer's: what is known, staged facts included. The texts become pub's when they are
     * committed. */
    struct order_commit order;
    int64_t claimed_time_s; /* where has_claimed: what was told, if that was clamped */
    bool has_claimed;
    const char *author, *subject, *trailers_json, *branch;
    guint bound_facts; /* enum staging_fact: which of them give way to the word of others */
    bool stored;       /* has its row */
};

struct catalogue_series {
    struct store_series pub;
    char *spelling; /* params text as first posted, where it differs from pub.params_text; read by
                       readers too */
    /* As which it is shown: itself, or the joined series that it is a part of; of a joined series
     * that is not shown, what its first part is shown as (NULL: nothing). Read by readers too. */
    struct catalogue_series *line;
    bool is_joined; /* made up of others: it has no points of its own */
    /* The writer's. */
    enum better better;                 /* staged included */
    struct catalogue_series *next_unit; /* same but for the unit */
    int64_t staged_seq;                 /* the latest run that was given a point */
};

struct catalogue_environment {
    int64_t id;
    char *digest;
    bool has_topology;
};

struct catalogue_case { /* benchmark and parameters that ever ended in an error */
    int64_t id;
    struct store_benchmark *benchmark;
    char *params_text;
    GPtrArray *params;
};

/* A key of several parts; texts are not owned. */
struct catalogue_key {
    int kind;
    int64_t scope, scope2;
    const char *name, *name2; /* name2 may be NULL */
};
guint catalogue_key_hash(gconstpointer key);
gboolean catalogue_key_equal(gconstpointer a, gconstpointer b);

/* The latest ids given; writer only. */
struct catalogue_ids {
    int64_t project, machine, benchmark, series, commit, environment, topology, error_case, run,
        annotation;
};

typedef struct catalogue {
    pthread_rwlock_t lock;    /* prefers writers */
    gint n_writers, n_paused; /* atomic: who waits for the lock or holds it to write; snapshots that
                                 gave way to them and go on later */
    GPtrArray *removed;       /* struct store_run * that a paused snapshot may still look at */
    int64_t version;          /* of the latest transaction that changed what is seen */
    int64_t rules_version;    /* grows where rules change */
    int64_t retention_version;   /* grows where the rules of how long data is kept change */
    GPtrArray *projects;         /* struct store_project * by name, owned */
    GPtrArray *machines;         /* struct store_machine * that are shown, by name */
    GPtrArray *all_machines;     /* struct store_machine * as posted, owned */
    GHashTable *project_by_name; /* keys owned */
    GHashTable *machine_by_name; /* as posted; keys owned */
    GHashTable *machine_aliases; /* name -> struct store_machine * that it stands for at once */
    GPtrArray *series_by_id, *commits_by_id; /* by id, NULL where there is none; owned */
    GPtrArray *benchmarks;                   /* struct store_benchmark *, owned */
    GPtrArray *runs;                         /* struct store_run * by seq, owned */
    GHashTable *run_by_id;
    GHashTable *environment_by_digest; /* struct catalogue_environment *, owned */
    /* The writer's. */
    GHashTable *series_by_identity; /* struct catalogue_key * (owned) -> first struct
                                       catalogue_series * of its units */
    GHashTable *topology_by_digest; /* char * (owned) -> int64_t * (owned) */
    GHashTable *case_by_params;     /* struct catalogue_key * (owned) -> struct catalogue_case * */
    GHashTable *joined_by_key; /* names of a line (owned) -> joined struct catalogue_series *, shown
                                  or not (catalogue_lines.h) */
    bool lines_moved;  /* series came that are shown under other names: lines are to be planned */
    GHashTable *texts; /* branches, reasons: one copy of each */
    struct catalogue_ids last;
    int64_t tally_seq; /* how far the stored tallies of series reach */
} Catalogue;

Catalogue *catalogue_new(void);
void catalogue_free(Catalogue *catalogue);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Catalogue, catalogue_free)

void catalogue_read_lock(Catalogue *catalogue);
void catalogue_write_lock(Catalogue *catalogue);
void catalogue_unlock(Catalogue *catalogue);
void catalogue_write_unlock(Catalogue *catalogue);
/* A reader lets a writer that waits go first; without one it does nothing. */
void catalogue_give_way(Catalogue *catalogue);

/* What readers see of a commit's parents: NULL-terminated, the array is the caller's. */
struct store_commit **catalogue_parents(const struct order_commit *order);

/* Making structures; all copy their texts. */
struct catalogue_project *catalogue_project_new(int64_t id, const char *name);
void catalogue_project_free(struct catalogue_project *project);
struct store_machine *catalogue_machine_new(int64_t id, const char *name);
void catalogue_machine_free(struct store_machine *machine);
struct store_benchmark *catalogue_benchmark_new(int64_t id, struct store_project *project,
                                                const char *name);
void catalogue_benchmark_free(struct store_benchmark *benchmark);
struct catalogue_commit *catalogue_commit_new(int64_t id, struct store_project *project,
                                              const char *sha);
void catalogue_commit_free(struct catalogue_commit *commit);
struct catalogue_series *catalogue_series_new(int64_t id, struct store_benchmark *benchmark,
                                              struct store_machine *machine,
                                              const char *params_text);
void catalogue_series_free(struct catalogue_series *series);
struct catalogue_case *catalogue_case_new(int64_t id, struct store_benchmark *benchmark,
                                          const char *params_text);
void catalogue_case_free(struct catalogue_case *error_case);
struct catalogue_environment *catalogue_environment_new(int64_t id, const char *digest);
void catalogue_environment_free(struct catalogue_environment *environment);
struct store_run *catalogue_run_new(int64_t seq, const char *id);
void catalogue_run_free(struct store_run *run);

/* The catalogue's copy of a text that repeats in many runs; NULL for NULL. Writer only. */
char *catalogue_text(Catalogue *catalogue, const char *text);

/* Adding: under the write lock, or before readers exist. All take ownership. */
void catalogue_add_project(Catalogue *catalogue, struct catalogue_project *project);
void catalogue_add_machine(Catalogue *catalogue, struct store_machine *machine);
void catalogue_add_benchmark(Catalogue *catalogue, struct store_benchmark *benchmark);
void catalogue_add_series(Catalogue *catalogue, struct catalogue_series *series);
/* A joined series, not yet shown. */
void catalogue_add_joined(Catalogue *catalogue, struct catalogue_series *series);
void catalogue_add_commit(Catalogue *catalogue, struct catalogue_commit *commit);
void catalogue_add_environment(Catalogue *catalogue, struct catalogue_environment *environment);
void catalogue_add_topology(Catalogue *catalogue, const char *digest, int64_t id);
void catalogue_add_case(Catalogue *catalogue, struct catalogue_case *error_case);
void catalogue_add_run(Catalogue *catalogue, struct store_run *run);
void catalogue_add_annotation(Catalogue *catalogue, struct store_project *project,
                              struct store_annotation *annotation);
/* In place of the branch's head, where it has one. */
void catalogue_set_head(struct store_project *project, struct store_head *head);
void catalogue_drop_head(struct store_project *project, const char *branch);

/* After names of machines stand for others: which are shown, and whose runs are whose. */
void catalogue_relist_machines(Catalogue *catalogue);

/* Takes a run out and frees it, as soon as no paused snapshot can hold it. */
void catalogue_remove_run(Catalogue *catalogue, struct store_run *run);

/* Looking up; any thread with a lock, and the writer without. */
struct catalogue_series *catalogue_series_find(const Catalogue *catalogue,
                                               const struct catalogue_key *key);
struct store_series *catalogue_series_at(const Catalogue *catalogue, int64_t id);
struct catalogue_commit *catalogue_commit_at(const Catalogue *catalogue, int64_t id);
/* Index of the first run of `runs` with that seq or a larger one. */
guint catalogue_runs_position(const GPtrArray *runs, int64_t seq);

/* Commits whose order changed: computed without the lock, applied under it. */
struct catalogue_splice {
    struct catalogue_project *project;
    GPtrArray *changed; /* struct order_commit *, in order */
    GPtrArray *tail;    /* struct store_commit * from position `first` on */
    guint first;
};
void catalogue_splice_prepare(struct catalogue_splice *splice, struct catalogue_project *project,
                              const GPtrArray *dirty);
void catalogue_splice_apply(struct catalogue_splice *splice);
void catalogue_splice_clear(struct catalogue_splice *splice);

static inline struct catalogue_commit *catalogue_commit_of(struct order_commit *order)
{
    return (struct catalogue_commit *)(void *)((char *)order -
                                               offsetof(struct catalogue_commit, order));
}
