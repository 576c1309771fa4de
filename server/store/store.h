/* SPDX-License-Identifier: Apache-2.0
 * The one interface to what is kept. Behind it: an engine (sqlite*.c) and the catalogue
 * (catalogue.c), which holds in memory what every trend joins: projects, machines, benchmarks,
 * series, commits in order, runs without their samples.
 *
 * Writing: any thread hands a write to the queue and is called back, on the writer thread, after
 * the COMMIT that holds it has reached the disk (or after it was refused). The writer commits
 * whatever is waiting, at most 128 runs or 4 MB, in one transaction with one savepoint a write. The
 * queue is bounded.
 *
 * Reading: a StoreReader is one read-only connection and belongs to one thread at a time. A
 * snapshot of it holds a read transaction and the catalogue's read lock: pointers into the
 * catalogue are valid until the snapshot ends, so render into a buffer, end it, then send. Readers
 * never wait for a transaction of the writer, only for the moment in which it updates the
 * catalogue. */
#pragma once

#include "schema/latency.h"
#include "schema/rules.h"
#include "schema/run.h"
#include "schema/summary.h"

/* ---- What is kept ---- */

struct store_retention_rules {
    int64_t branches_days; /* runs of other branches are thinned after so many days; 0: never … */
    int64_t branches_keep; /* … but for so many, the newest of each branch and machine */
    int64_t samples_days;  /* samples are dropped after so many days; 0: never */
};
struct store_retention {
    struct store_retention_rules rules;
    int64_t done_ms;              /* end of the last pass, since 1970 UTC; 0: never */
    int64_t n_deleted, n_dropped; /* runs that were deleted, and that lost their samples, by it */
};

/* Where a commit stands to the first-parent chain of the default branch's head. */
enum store_line {
    STORE_LINE_UNKNOWN, /* no head is known, or the parents between are not: what runs say counts */
    STORE_LINE_ON,      /* of the chain */
    STORE_LINE_BEYOND,  /* comes after the head: what runs say counts, the head may be behind */
    STORE_LINE_OFF      /* left the chain, or was left by it */
};

struct store_project {
    int64_t id;
    char *name;
    char *default_branch;      /* "main" where nobody said otherwise */
    char *commit_url_template; /* "https://…/commit/{sha}" or NULL; http and https only */
    char *param_defaults_json; /* {"bench":{"param":value}} or NULL */
    char *rules_json;          /* canonical, or NULL where there are none */
    GPtrArray *rules;          /* struct rule *, the same, parsed; or NULL */
    int64_t version;           /* grows with every write that changes what the project shows */
    GPtrArray *commits;        /* struct store_commit * in commit order, oldest first */
    GPtrArray *runs;           /* struct store_run * by seq, oldest received first */
    GPtrArray *benchmarks;     /* struct store_benchmark * by name */
    GPtrArray *series;         /* struct store_series * by id */
    struct store_retention retention;
    GPtrArray *heads;       /* struct store_head * by name (store_branches.h) */
    GPtrArray *annotations; /* struct store_annotation * by id (store_branches.h) */
};

struct store_machine {
    int64_t id;
    char *name;
    int64_t last_seen_ms; /* latest received_ms of its runs; 0 before the first */
    guint n_runs;
    char *environment_digest; /* of its latest run, or NULL */
};

struct store_benchmark {
    int64_t id;
    char *name;
    struct store_project *project;
    GPtrArray *series; /* struct store_series * that are shown under its name */
};

struct store_series {
    int64_t id;
    struct store_project *project;
    struct store_benchmark *benchmark;
    struct store_machine *machine;
    char *params_text; /* canonical JSON text, defaults left out: its identity */
    GPtrArray *params; /* struct run_param *, the same, parsed */
    char *metric, *unit;
    enum better better;          /* by rule, or else … */
    enum better measured_better; /* … as the metric says of itself */
    struct rule_settings rule;   /* what the project's rules say of it */
    guint n_points;
    int64_t last_run_seq;
    /* struct store_series * as posted, where renames join them to this one; else NULL */
    GPtrArray *parts;
};

struct store_commit {
    int64_t id;
    struct store_project *project;
    char *sha;
    struct store_commit **parents; /* NULL-terminated; NULL where not known */
    /* provisional: known by its sha only, time_s borrowed from a run's start */
    bool has_time, provisional;
    int64_t time_s;         /* committer date (clamped to now + 1 day) */
    int64_t key_s;          /* corrected commit date; order is (key_s, sha) */
    guint position;         /* index in project->commits now */
    char *author, *subject; /* or NULL */
    char *trailers_json;    /* or NULL */
    char *branch; /* under which it was first told (a bound one's word gives way); or NULL */
    enum store_line line;
    guint n_runs;
};

struct store_run {
    int64_t seq; /* in order of receipt, never used again */
    char *id;
    struct store_project *project;
    struct store_machine *machine;        /* as it is shown … */
    struct store_machine *posted_machine; /* … and under the name that was posted */
    struct store_commit *commit;
    char *branch, *reason; /* or NULL */
    char *pull_request;    /* of which it is a run, or NULL */
    char *base;            /* sha of what that is to go into, or NULL */
    bool is_bound; /* posted by one who may not speak for the default branch: of its own branch only
                    */
    bool dirty;
    int64_t started_ms, finished_ms, received_ms;
    char *environment_digest; /* or NULL */
    guint n_results, n_errors;
    uint64_t n_samples;
    bool samples_dropped; /* its document holds summaries where it held samples */
};

struct store_point {
    int64_t series_id, run_seq;
    double center;
    bool has_interval;
    double low, high;
    int64_t n;
    int censored; /* as in struct summary */
    bool flagged; /* kept out of baselines */
};

struct store_result_error {
    char *bench, *params_text, *message;
};

struct store_environment {
    char *digest;
    char *facts_json;
    bool has_topology;
    int64_t first_seen_ms, last_seen_ms;
};

/* ---- Opening ---- */

typedef struct store Store;
typedef struct store_reader StoreReader;
typedef struct store_snapshot StoreSnapshot;

struct store_options {
    const char *url; /* sqlite:PATH */
    /* of waiting writes; beyond it a write is refused as busy. 0: 256 MiB */
    gint64 queue_bytes_max;
    /* what is worth a line: clamped times, contradicting facts. Any thread. */
    void (*log)(const char *message, void *user);
    void *log_user;
};

/* Creates or migrates the file (a newer schema is refused, and a file that another server holds),
 * loads the catalogue, starts the writer and the checkpoint thread. */
Store *store_open(const struct store_options *options, GError **error);

/* Finishes what is queued, checkpoints, closes. Readers must be closed before. Takes NULL. */
void store_close(Store *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Store, store_close)

/* ---- Writing ---- */

enum store_outcome { STORE_REFUSED, STORE_CREATED, STORE_UNCHANGED, STORE_UPDATED, STORE_DELETED };

struct store_receipt {
    enum store_outcome outcome;
    /* where STORE_REFUSED: ERROR_CONFLICT, ERROR_FULL, ERROR_NOT_FOUND, ERROR_BUSY, ERROR_INTERNAL,
     * … */
    const GError *error;
    /* char *, may be empty: facts that were refused, a contradicting unit or direction, a clamped
     * time */
    const GPtrArray *warnings;
    int64_t run_seq;               /* of the run that was stored, or was there already */
    guint n_commits;               /* commits that were new, for store_put_commits */
    guint n_series;                /* series that new rules have judged anew */
    const struct store_head *head; /* for store_put_head: as it is now; NULL where it was removed */
    int64_t annotation_id;         /* for store_put_annotation */
    int64_t access_id;             /* for store_put_access (store_access.h) */
};

/* Called once for each write, on the writer thread (or at once, on the caller's, where the queue is
 * full). Must be quick. */
typedef void (*store_done_fn)(const struct store_receipt *receipt, void *user);

struct store_project_settings {
    /* NULL: as it was; "": none. The defaults are {"bench":{"param":value}} and replace those
     * before: series that spell a default out are from then on those that lack the parameter. */
    char *name, *default_branch, *commit_url_template, *param_defaults_json;
    GPtrArray *rules; /* struct rule *; NULL: as they were */
    char *who, *note; /* of those who save rules, for their log; or NULL */
};
void store_project_settings_free(struct store_project_settings *settings);

/* A name that stands for another from now on, or for itself again: what was posted under it is
 * shown with that, what was posted stays as it is. */
enum store_rename_kind { STORE_RENAME_BENCHMARK, STORE_RENAME_MACHINE, STORE_RENAME_VALUES };
struct store_value_name {
    char *param, *value;
    char *target; /* NULL: itself again */
};
struct store_rename {
    enum store_rename_kind kind;
    char *project; /* NULL for a machine */
    char *name;    /* of the benchmark, or of the machine */
    char *target;  /* for those two; NULL: itself again */
    bool is_new;   /* the target is a name that nothing has so far; else one that something has */
    GPtrArray *values; /* struct store_value_name *, of the benchmark */
};
void store_rename_free(struct store_rename *rename);

/* All take ownership of what they are given. `digest` is run_digest(run). */
void store_put_run(Store *store, Run *run, char *digest, store_done_fn done, void *user);
void store_delete_run(Store *store, char *id, store_done_fn done, void *user);
void store_put_commits(Store *store, char *project, char *branch, GPtrArray *commits,
                       store_done_fn done, void *user);
void store_put_project(Store *store, struct store_project_settings *settings, store_done_fn done,
                       void *user);
/* ERROR_NOT_FOUND: no such name; ERROR_CONFLICT: names in a circle, a new name that is known, or
 * two cases of one run that would be one. receipt->n_series: lines that changed. */
void store_put_rename(Store *store, struct store_rename *rename, store_done_fn done, void *user);

/* ---- Reading ---- */

StoreReader *store_reader_new(Store *store, GError **error);
/* How long one snapshot's questions to the rows may take, from its beginning: later ones are given
 * up as ERROR_COSTLY, in the middle of a statement too. 0 (at first): any time. */
void store_reader_limit(StoreReader *reader, int64_t max_us);
void store_reader_free(StoreReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreReader, store_reader_free)

StoreSnapshot *store_snapshot_begin(StoreReader *reader, GError **error);
void store_snapshot_end(StoreSnapshot *snapshot);
/* Between two rows of something long: lets a writer that waits go first. Rows of the store stay as
 * they were at the first question; the catalogue may be newer afterwards. Pointers to its
 * structures stay valid until the snapshot ends, also to what was removed; its lists and texts are
 * to be looked up anew. False where the rows cannot be read. */
bool store_snapshot_give_way(StoreSnapshot *snapshot, GError **error);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreSnapshot, store_snapshot_end)

/* For ETags: changes whenever anything of the project (NULL: of anything) that a reader can see
 * changes. */
int64_t store_version(StoreSnapshot *snapshot, const struct store_project *project);

/* Catalogue: no I/O. Arrays are owned by the caller where they are returned as GPtrArray * (not
 * const); elements never are. */
const GPtrArray *store_projects(StoreSnapshot *snapshot); /* by name */
const GPtrArray *store_machines(StoreSnapshot *snapshot); /* by name */
struct store_project *store_project_find(StoreSnapshot *snapshot, const char *name);
struct store_machine *store_machine_find(StoreSnapshot *snapshot, const char *name);
/* through aliases */
struct store_benchmark *store_benchmark_find(const struct store_project *project, const char *name);
/* the line that it is shown as, where renames join it to others */
struct store_series *store_series_by_id(StoreSnapshot *snapshot, int64_t id);
struct store_run *store_run_by_seq(StoreSnapshot *snapshot, int64_t seq);
/* The same, quick for many that are asked for in ascending order: *place, 0 at first, is where the
 * latest one was. */
struct store_run *store_run_from(StoreSnapshot *snapshot, guint *place, int64_t seq);
struct store_run *store_run_find(StoreSnapshot *snapshot, const char *id);
/* A full sha, or 7 digits or more that name one known commit; ERROR_NOT_FOUND, or ERROR_CONFLICT
 * where it names several. */
struct store_commit *store_commit_find(const struct store_project *project, const char *sha,
                                       GError **error);

/* Filters: each list is "or", a NULL list is "any". Values are exact, with two exceptions: a
 * benchmark that no project's name or alias is may be a pattern, in which * stands for any text; a
 * parameter's values are compared as canonical text, and beside them ranges of numbers may be
 * given. Lists of texts free their texts; `params` is a list without a free function whose items
 * and their members store_filter_clear frees. */
struct store_range {
    double low, high; /* both included; infinite: open */
};
struct store_param_filter {
    char *name;
    GPtrArray *values; /* char * */
    GArray *ranges;    /* struct store_range; NULL: none */
};
struct store_filter {
    GPtrArray *projects, *benches, *machines, *branches, *reasons, *metrics; /* char * */
    GPtrArray *commits;                                                      /* full shas */
    /* struct store_param_filter * */
    GPtrArray *params;
    int64_t since_ms, until_ms; /* of started_ms: since <= started < until; 0: open */
};
void store_filter_clear(struct store_filter *filter);

/* Whether a series passes the filter's projects, benches, params, machines and metrics; and whether
 * a result of a project does its benches and params (`bench` a name or alias, `params` struct
 * run_param * sorted by name). What a case leaves out has the project's default. No I/O. */
bool store_filter_takes_series(StoreSnapshot *snapshot, const struct store_filter *filter,
                               const struct store_series *series);
bool store_filter_takes_result(const struct store_filter *filter,
                               const struct store_project *project, const char *bench,
                               const GPtrArray *params);

/* struct store_series *, by id */
GPtrArray *store_series_select(StoreSnapshot *snapshot, const struct store_filter *filter);

/* Runs, newest received first, with seq < before (0: from the newest), at most `limit`. Those that
 * hold a result of the filter's benches, params and metrics, where it names any. *out_more: further
 * ones exist. */
GPtrArray *store_runs_select(StoreSnapshot *snapshot, const struct store_filter *filter,
                             int64_t before, guint limit, bool *out_more, GError **error);

/* Which names stand for others in a project: struct store_name_rule *, by bench, param, value. */
struct store_name_rule {
    char *bench;
    char *param, *value; /* NULL where the benchmark itself stands for another */
    char *target;
};
GPtrArray *store_name_rules(const struct store_project *project);
/* The names that stand for a machine (char *), by name. */
GPtrArray *store_machine_aliases(StoreSnapshot *snapshot, const struct store_machine *machine);
/* The first run that holds a result of a benchmark or of what stands for it; 0: none. */
bool store_benchmark_first_run(StoreSnapshot *snapshot, const struct store_benchmark *benchmark,
                               int64_t *out_seq, GError **error);

/* The parameters of a posted case as its line has them, canonical text: values that stand for
 * others replaced, defaults left out. `bench` is a name or alias. The caller frees it. */
char *store_case_params(const struct store_project *project, const char *bench,
                        const GPtrArray *params);

/* All points of a series, in no promised order; runs that this snapshot does not know are left out.
 * Array of struct store_point. */
GArray *store_series_points(StoreSnapshot *snapshot, int64_t series_id, GError **error);

/* All points of a run (array of struct store_point), and its results' errors (struct
 * store_result_error *). */
GArray *store_run_points(StoreSnapshot *snapshot, int64_t run_seq, GError **error);
GPtrArray *store_run_errors(StoreSnapshot *snapshot, int64_t run_seq, GError **error);

/* run_digest of the document: says its content without reading it. The caller frees it. */
char *store_run_digest(StoreSnapshot *snapshot, int64_t run_seq, GError **error);

/* The whole document again, as it was posted. */
Run *store_run_document(StoreSnapshot *snapshot, int64_t run_seq, GError **error);

/* Environments of a machine, newest last_seen first: struct store_environment *. */
GPtrArray *store_machine_environments(StoreSnapshot *snapshot, const struct store_machine *machine,
                                      GError **error);
/* Where a machine's environment became another, in order of receipt, the latest `limit` ones: array
 * of struct store_environment_change. Runs that do not tell theirs are passed over. */
struct store_environment_change {
    const struct store_run *run; /* the first in the new one */
    const char *before, *after;  /* digests */
};
GArray *store_machine_changes(StoreSnapshot *snapshot, const struct store_machine *machine,
                              guint limit);
/* hwloc XML or NULL */
char *store_topology(StoreSnapshot *snapshot, const char *environment_digest, GError **error);

/* ---- Watching ---- */

struct store_status {
    /* False for 5 s after a write that failed: then it is worth trying again, or a proxy that obeys
     * /readyz would keep the writes away that alone can show that there is room again. */
    bool can_write;
    gint64 queued_writes, queued_bytes;
    gint64 commits, runs_stored, runs_refused; /* transactions, runs: since the start */
    struct latency_counts transactions; /* how long they took, from their begin to the disk */
    gint64 waited_us;                   /* of the write that is first in the queue; 0: none */
    gint64 database_bytes, wal_bytes, disk_free_bytes;
    gint64 backup_s; /* when the latest backup was taken, since 1970 UTC; 0: none is known */
    guint n_projects, n_machines, n_series, n_runs, n_commits;
};
void store_status(Store *store, struct store_status *out_status); /* any thread */

const char *store_engine(void); /* "SQLite 3.40.1" */
guint store_schema(void);       /* the number of this program's schema */
