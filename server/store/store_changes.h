/* SPDX-License-Identifier: Apache-2.0
 * What is found in the histories, as the store keeps it: the queue of runs to judge, each series'
 * level and its detector's memory, changes with what people say of them, what is to be told. A part
 * of store.h's interface: the same threads, snapshots and ownership. It knows no statistics. */
#pragma once

#include "server/store/store.h"

/* ---- What holds of a series --------------------------------------------------------------- */

struct store_level {
    int64_t series_id;
    guint n_commits; /* commits it was judged on */
    int64_t last_commit_id, first_commit_id,
        start_commit_id; /* newest, oldest, of the last segment */
    int64_t judged_seq;  /* the latest run that was taken */
    int64_t judged_ms;   /* set by the writer */
    guint n;             /* commits behind the level; 0: too few to have one */
    double level, noise;
    guint base_n; /* the same before the newest commit came */
    double base_level, base_noise;
};

/* A detector and the commits it holds; what the bytes mean is the analysis' own. */
struct store_state {
    int64_t series_id;
    int64_t commit_id; /* of a checkpoint: the newest commit in it */
    GBytes *state, *tail;
};
void store_state_free(struct store_state *state);

struct store_checkpoint_key {
    int64_t series_id, commit_id;
};

/* A level that held until a change or a boundary ended it. */
struct store_segment {
    int64_t series_id;
    int64_t start_commit_id, end_commit_id; /* its first commit, and the first one after it */
    guint n;                                /* commits behind the level, the last ones of it */
    double level, noise;                    /* as of a store_level */
};

struct store_series_version {
    int64_t series_id, run_seq, digest; /* from that run on, in order of receipt */
};

/* ---- Changes ------------------------------------------------------------------------------ */

enum store_change_kind { STORE_KIND_CHANGE, STORE_KIND_BOUNDARY, STORE_KIND_PINNED };
enum store_change_status {
    STORE_STATUS_CANDIDATE,
    STORE_STATUS_CONFIRMED,
    STORE_STATUS_WITHDRAWN,
    STORE_STATUS_REVERTED
};
enum store_triage {
    STORE_TRIAGE_OPEN,
    STORE_TRIAGE_ACKNOWLEDGED,
    STORE_TRIAGE_EXPECTED,
    STORE_TRIAGE_NOISE,
    STORE_TRIAGE_INFRA,
    STORE_TRIAGE_FIXED
};
/* The words of schema and API; parse: false for another word. */
const char *store_change_kind_name(enum store_change_kind kind);
const char *store_change_status_name(enum store_change_status status);
const char *store_triage_name(enum store_triage triage);
bool store_change_status_parse(const char *word, enum store_change_status *out);
bool store_triage_parse(const char *word, enum store_triage *out);

struct store_change {
    int64_t id, project_id, series_id;
    int64_t good_commit_id; /* 0: not known */
    int64_t bad_commit_id;
    enum store_change_kind kind;
    enum store_change_status status;
    double effect, low, high, before, after, p;
    guint n_before, n_after;
    int64_t found_ms, told_ms; /* told_ms 0: never */
    enum store_triage triage;
    char *note, *who; /* or NULL */
    int64_t triaged_ms;
    /* What it rests on beside the data. */
    bool by_rule;      /* its status came with a rule */
    bool never_news;   /* found while muted, or by a rule that came later: shown, not told */
    char *expectation; /* what its commit expects of it, as the trailer says, or NULL */
    bool in_advance;   /* that covers it and gave it its triage; no people did */
};
void store_change_free(struct store_change *change);

struct store_change_entry {
    int64_t at_ms;
    const char *who, *triage, *status, *note; /* each may be NULL; owned where they were read */
};

/* ---- Writing a judgement ------------------------------------------------------------------ */

enum store_change_action { STORE_CHANGE_ADD, STORE_CHANGE_UPDATE, STORE_CHANGE_DROP };

/* A change as it is now found. People's columns are not looked at, but for `sets_triage`. */
struct store_change_write {
    enum store_change_action action;
    struct store_change change; /* ADD: without an id; note and who NULL; owns its expectation */
    int64_t machine_id;
    bool tell;               /* put it into the outbox: once for each change and news */
    int64_t event_commit_id; /* of a boundary: the commit that its news names; 0: its own */
    bool sets_triage;        /* to change.triage: the level returned, or its commit expects it */
};

struct store_judgement {
    int64_t project_id;     /* whose version grows; 0: nothing is seen of it */
    int64_t run_seq;        /* the queue entry that it answers; 0: none */
    int64_t rules_version;  /* store_rules_version when it began: with other rules by now, what was
                               judged anew waits again */
    GArray *rejudged;       /* int64_t series ids that no longer wait */
    GArray *levels;         /* struct store_level */
    GArray *forgotten;      /* int64_t series ids without any commit left: level and state go */
    GPtrArray *states;      /* struct store_state * by series */
    GPtrArray *checkpoints; /* struct store_state * to add */
    GArray *checkpoints_dropped; /* struct store_checkpoint_key: go before those are added */
    GArray *segments;            /* struct store_segment to add */
    GArray *segments_dropped;    /* int64_t series ids whose segments go before those are added */
    GArray *versions;            /* struct store_series_version to add */
    GArray *changes;             /* struct store_change_write */
};
struct store_judgement *store_judgement_new(void);
void store_judgement_free(struct store_judgement *judgement);

/* All of it in one transaction. Takes the judgement. The receipt's outcome is STORE_UPDATED. */
void store_put_judgement(Store *store, struct store_judgement *judgement, store_done_fn done,
                         void *user);

/* What people say of changes. */
struct store_triage_write {
    GArray *change_ids; /* int64_t */
    bool has_triage;
    enum store_triage triage;
    char *note; /* NULL: stays; "": none */
    char *who;  /* or NULL */
};
void store_triage_write_free(struct store_triage_write *write);

/* Takes it: all of the changes, or none. ERROR_NOT_FOUND where one does not exist. `expected`,
 * `noise` and going back from them have the series judged anew. */
void store_put_triage(Store *store, struct store_triage_write *write, store_done_fn done,
                      void *user);

/* ---- Reading ------------------------------------------------------------------------------ */

/* The first of what waits: int64_t run seqs, and series ids. */
GArray *store_analysis_queue(StoreSnapshot *snapshot, guint limit, GError **error);
GArray *store_rejudge_queue(StoreSnapshot *snapshot, guint limit, GError **error);
/* The same of the runs after `seq`. */
GArray *store_analysis_queue_after(StoreSnapshot *snapshot, int64_t seq, guint limit,
                                   GError **error);
/* The latest run that this snapshot knows; 0 of none. No I/O. */
int64_t store_latest_run_seq(StoreSnapshot *snapshot);
bool store_is_waiting(StoreSnapshot *snapshot, int64_t run_seq, bool *out, GError **error);

/* *out_found false: never judged. */
bool store_series_level(StoreSnapshot *snapshot, int64_t series_id, struct store_level *out,
                        bool *out_found, GError **error);

/* Of many at once: array of struct store_level by series id, of those among `series` (struct
 * store_series * by id) that have been judged, and maybe of some whose ids lie between theirs. */
GArray *store_series_levels(StoreSnapshot *snapshot, const GPtrArray *series, GError **error);

/* How far series have been judged. */
struct store_levels_sum {
    guint n; /* that have been judged */
    guint commits_min, commits_max;
    int64_t last_ms; /* the latest judgement */
};
/* Adds the series with first <= id <= last, without a row for each. */
bool store_levels_sum(StoreSnapshot *snapshot, int64_t first, int64_t last,
                      struct store_levels_sum *inout, GError **error);
/* NULL without an error where there is none. */
struct store_state *store_series_state(StoreSnapshot *snapshot, int64_t series_id, GError **error);
GPtrArray *store_series_checkpoints(StoreSnapshot *snapshot, int64_t series_id, GError **error);
GArray *store_series_versions(StoreSnapshot *snapshot, int64_t series_id, GError **error);
/* Array of struct store_segment, in no promised order. */
GArray *store_series_segments(StoreSnapshot *snapshot, int64_t series_id, GError **error);

GPtrArray *store_series_changes(StoreSnapshot *snapshot, int64_t series_id, GError **error);
/* All of a project, by id downwards from `before` (0: the newest), at most `limit`. */
GPtrArray *store_project_changes(StoreSnapshot *snapshot, int64_t project_id, int64_t before,
                                 guint limit, GError **error);

/* A change as lists of projects count it: confirmed or reverted, and not called noise. */
struct store_move {
    int64_t series_id, bad_commit_id;
    double effect;
    bool is_boundary; /* the environment moved */
    bool waits;       /* triage is open or acknowledged */
};
/* Array of struct store_move of a project, in no promised order, at most `limit`. */
GArray *store_project_moves(StoreSnapshot *snapshot, int64_t project_id, guint limit,
                            GError **error);
/* NULL with ERROR_NOT_FOUND. Of a series that renames show as part of another line it is the same
 * change of that line, which has another id. */
struct store_change *store_change_by_id(StoreSnapshot *snapshot, int64_t id, GError **error);
GPtrArray *store_change_log(StoreSnapshot *snapshot, int64_t id, GError **error);
bool store_outbox_count(StoreSnapshot *snapshot, int64_t change_id, guint *out, GError **error);

/* A part of a project's list, newest first: ids below `before` (0: from the newest). */
struct store_page {
    int64_t project_id, before;
    guint limit;
};
struct store_news {
    int64_t id; /* order of telling */
    char *news; /* confirmed, withdrawn, reverted, environment */
    int64_t change_id, machine_id;
    int64_t commit_id; /* of a moved environment; 0 where the change says it */
    int64_t at_ms;
};
GPtrArray *store_project_news(StoreSnapshot *snapshot, const struct store_page *page,
                              GError **error);

/* ---- Rules -------------------------------------------------------------------------------- */

struct store_rule_entry {
    int64_t id, at_ms;
    char *who, *note; /* or NULL */
    char *rules_json;
    guint n_series; /* judged anew because of it */
};
GPtrArray *store_rule_log(StoreSnapshot *snapshot, const struct store_page *page, GError **error);

/* True where the series waits in the rejudge queue because a rule changed. */
bool store_is_rule_rejudge(StoreSnapshot *snapshot, int64_t series_id, bool *out, GError **error);

/* Grows with every change of any project's rules. */
int64_t store_rules_version(StoreSnapshot *snapshot);

/* What a series is called, for the patterns of rules. Borrowed. */
struct series_names store_series_names(const struct store_series *series);

/* The point of a series in a run, appended to `points` (struct store_point) where there is one. */
bool store_series_point(StoreSnapshot *snapshot, int64_t series_id, int64_t run_seq, GArray *points,
                        GError **error);
/* What was measured, of each series of a run whose result tells its library or bench_version: array
 * of struct store_series_version. */
GArray *store_run_versions(StoreSnapshot *snapshot, int64_t run_seq, GError **error);

/* A commit of the catalogue by its id, or NULL; no I/O. */
struct store_commit *store_commit_by_id(StoreSnapshot *snapshot, int64_t id);

/* ---- Watching ----------------------------------------------------------------------------- */

/* Called on the writer thread after each transaction. Must be quick and call nothing of the store.
 * NULL: nobody is called any more when this returns. */
void store_on_queued(Store *store, void (*queued)(void *user), void *user);
