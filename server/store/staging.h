/* SPDX-License-Identifier: Apache-2.0
 * What a transaction will have changed in the catalogue: found by the writer as if it were there
 * already, invisible to readers until staging_apply. A list of changes in order; a mark and
 * staging_undo take back those of one write, so that a write that fails leaves no trace; applying
 * cannot fail. Must not know of SQL. The writer thread owns it. */
#pragma once

#include "server/store/catalogue_lines.h"

enum staging_fact {
    FACT_PARENTS = 1,
    FACT_TIME = 2,
    FACT_AUTHOR = 4,
    FACT_SUBJECT = 8,
    FACT_TRAILERS = 16,
    FACT_BRANCH = 32
};

enum staging_kind {
    STAGED_PROJECT,
    STAGED_MACHINE,
    STAGED_BENCHMARK,
    STAGED_SERIES,
    STAGED_BETTER,
    STAGED_COMMIT,
    STAGED_FACTS,
    STAGED_FACTS_GONE,
    STAGED_BORROWED,
    STAGED_ENVIRONMENT,
    STAGED_ENVIRONMENT_TOPOLOGY,
    STAGED_TOPOLOGY,
    STAGED_CASE,
    STAGED_RUN,
    STAGED_DELETION,
    STAGED_SETTINGS,
    STAGED_RENAME,
    STAGED_RETENTION,
    STAGED_DROPPED,
    STAGED_TOUCH,
    STAGED_HEAD,
    STAGED_HEAD_GONE,
    STAGED_ANNOTATION,
    STAGED_ANNOTATION_GONE
};

/* Which names stand for others, and the lines that are shown then; alone in its transaction. */
struct staging_rename {
    struct catalogue_project *project; /* of a benchmark or its values; NULL: a machine, or none */
    char *benchmark, *machine;         /* the name that is given a target, or NULL */
    struct store_benchmark *benchmark_target; /* NULL: none any more */
    struct store_machine *machine_target;
    GHashTable *values; /* instead of project->value_aliases, or NULL */
    GPtrArray *fresh;   /* struct catalogue_series *: joined series that are new */
    LinePlan *plan;
};
void staging_rename_free(struct staging_rename *rename);

/* New settings of a project; a transaction that holds one holds nothing else. */
struct staging_settings {
    struct store_project_settings *settings; /* what is not NULL replaces what was; "" is none */
    ParamDefaults *defaults;                 /* used where settings->param_defaults_json is set */
    GArray *resolved; /* where settings->rules is set: struct rule_settings of each series */
};
void staging_settings_free(struct staging_settings *settings);

/* What a commit's facts were that give way to others. */
struct staging_gone {
    int64_t time_s, claimed_time_s;
    bool has_claimed;
    const char *author, *subject, *branch;
    GPtrArray *parents; /* struct order_commit *, or NULL */
};

struct staging_change {
    enum staging_kind kind;
    struct catalogue_project
        *project;              /* whose version grows; NULL where nobody sees it by itself */
    void *object;              /* of the catalogue, or to be added to it */
    struct catalogue_key *key; /* under which it is found until then, or NULL */
    guint facts;        /* STAGED_FACTS: enum staging_fact that it filled; … _GONE: took out */
    guint bound_before; /* both: the commit's bound_facts before it */
    struct staging_gone *gone; /* STAGED_FACTS_GONE */
    bool had_borrowed;         /* STAGED_BORROWED: what was before */
    int64_t borrowed_s;
    GPtrArray *series; /* STAGED_RUN, STAGED_DELETION: struct catalogue_series * of its points */
    GArray *last_seqs; /* STAGED_DELETION: their new last_run_seq, int64_t */
    struct staging_settings *settings; /* STAGED_SETTINGS */
    struct staging_rename *rename;     /* STAGED_RENAME */
    struct store_retention retention;  /* STAGED_RETENTION */
    char *who;                         /* STAGED_ANNOTATION_GONE: who removed it … */
    int64_t at_ms;                     /* … and when */
};

struct staging {
    Catalogue *catalogue;
    GPtrArray *changes; /* struct staging_change * */
    GHashTable *found;  /* struct catalogue_key * -> object */
    int64_t key_min;    /* for commit_order_find_cycles */
};

void staging_init(struct staging *staging, Catalogue *catalogue);
void staging_clear(struct staging *staging);

/* Takes back the changes from that index on. */
void staging_undo(struct staging *staging, guint mark);

/* The projects whose version grows: struct catalogue_project *, each once. */
GPtrArray *staging_touched(const struct staging *staging);

/* After COMMIT: makes all of it visible as `version`, under the write lock, and empties the
 * staging. */
void staging_apply(struct staging *staging, int64_t version);

/* Finding: staged or not; NULL where there is none. */
struct catalogue_project *staging_find_project(const struct staging *staging, const char *name);
struct store_machine *staging_find_machine(const struct staging *staging, const char *name);
struct store_benchmark *staging_find_benchmark(const struct staging *staging,
                                               const struct catalogue_project *project,
                                               const char *name);
/* The first of its units; follow next_unit. */
struct catalogue_series *staging_find_series(const struct staging *staging,
                                             const struct store_benchmark *benchmark,
                                             const struct store_machine *machine,
                                             const char *params_text, const char *metric);
struct catalogue_commit *staging_find_commit(const struct staging *staging,
                                             const struct catalogue_project *project,
                                             const char *sha);
struct catalogue_environment *staging_find_environment(const struct staging *staging,
                                                       const char *digest);
int64_t staging_find_topology(const struct staging *staging, const char *digest); /* 0: none */
struct catalogue_case *staging_find_case(const struct staging *staging,
                                         const struct store_benchmark *benchmark,
                                         const char *params_text);
struct store_run *staging_find_run(const struct staging *staging, const char *id);

/* Adding, with the next id. */
struct catalogue_project *staging_add_project(struct staging *staging, const char *name);
struct store_machine *staging_add_machine(struct staging *staging, const char *name);
struct store_benchmark *staging_add_benchmark(struct staging *staging,
                                              struct catalogue_project *project, const char *name);
struct catalogue_series *staging_add_series(struct staging *staging,
                                            struct store_benchmark *benchmark,
                                            struct store_machine *machine, const char *params_text,
                                            const struct run_metric *metric);
struct catalogue_commit *staging_add_commit(struct staging *staging,
                                            struct catalogue_project *project, const char *sha);
struct catalogue_environment *staging_add_environment(struct staging *staging, const char *digest);
int64_t staging_add_topology(struct staging *staging, const char *digest);
struct catalogue_case *staging_add_case(struct staging *staging, struct store_benchmark *benchmark,
                                        const char *params_text);
struct store_run *staging_add_run(struct staging *staging, const char *id,
                                  struct catalogue_project *project, GPtrArray *series);
/* A copy, with an id; takes the texts. */
struct store_annotation *staging_add_annotation(struct staging *staging,
                                                struct catalogue_project *project,
                                                const struct store_annotation *annotation);

/* Changing. */
void staging_set_better(struct staging *staging, struct catalogue_series *series,
                        enum better better);
void staging_set_topology(struct staging *staging, struct catalogue_environment *environment);
/* A run's start is the time of a commit that has none, where it is the earliest. */
void staging_lend_start(struct staging *staging, struct catalogue_commit *commit, int64_t start_s);
void staging_set_borrowed(struct staging *staging, struct catalogue_commit *commit, bool has,
                          int64_t borrowed_s);
/* Records that facts of a commit were filled (commit_telling.c fills them), or that others of them
 * give way to further ones now. */
void staging_note_facts(struct staging *staging, struct catalogue_commit *commit, guint facts,
                        guint bound_before);
/* Takes facts out (not trailers), so that others can be filled in. */
void staging_drop_facts(struct staging *staging, struct catalogue_commit *commit, guint facts);
/* Takes some of the facts of that change back. */
void staging_take_facts_back(struct staging *staging, guint change, guint facts);
void staging_set_project(struct staging *staging, struct catalogue_project *project,
                         struct staging_settings *settings); /* takes the settings */
void staging_rename(struct staging *staging, struct staging_rename *rename); /* takes it */
void staging_set_retention(struct staging *staging, struct catalogue_project *project,
                           const struct store_retention *retention);
void staging_drop_samples(struct staging *staging, struct store_run *run);
/* The project shows something new, of which the catalogue holds nothing; 0 or an unknown id: none
 * does. */
void staging_touch(struct staging *staging, int64_t project_id);
void staging_delete_run(struct staging *staging, struct store_run *run, GPtrArray *series,
                        GArray *last_seqs);
/* Heads and annotations are alone in their transaction: those that are known are the catalogue's.
 */
void staging_set_head(struct staging *staging, struct catalogue_project *project,
                      struct store_head *head); /* takes the head */
void staging_drop_head(struct staging *staging, struct catalogue_project *project,
                       const struct store_head *head);
void staging_remove_annotation(struct staging *staging, struct catalogue_project *project,
                               const struct store_annotation *annotation, const char *who,
                               int64_t removed_ms);
