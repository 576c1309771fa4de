/* SPDX-License-Identifier: Apache-2.0
 * One write within the writer's transaction: looked up, judged, written to rows and staged. Must
 * not know of queues and threads. The writer thread runs all of it. */
#pragma once

#include "server/store/prepared_run.h"
#include "server/store/sqlite_access.h"
#include "server/store/sqlite_branches.h"
#include "server/store/sqlite_rename.h"
#include "server/store/sqlite_retention.h"
#include "server/store/sqlite_verdict.h"
#include "server/store/sqlite_write.h"
#include "server/store/staging.h"
#include "server/store/store_retention.h"

enum write_kind {
    WRITE_RUN,
    WRITE_COMMITS,
    WRITE_DELETION,
    WRITE_PROJECT,
    WRITE_JUDGEMENT,
    WRITE_TRIAGE,
    WRITE_RENAME,
    WRITE_RETENTION,
    WRITE_DROPPED,
    WRITE_HEAD,
    WRITE_ANNOTATION,
    WRITE_ACCESS
};

struct store_write {
    enum write_kind kind;
    PreparedRun *run;   /* WRITE_RUN */
    char *name;         /* WRITE_DELETION: the run's id; WRITE_COMMITS: the project */
    char *branch;       /* WRITE_COMMITS, or NULL */
    GPtrArray *commits; /* WRITE_COMMITS */
    struct store_project_settings *settings;   /* WRITE_PROJECT */
    struct store_judgement *judgement;         /* WRITE_JUDGEMENT */
    struct store_triage_write *triage;         /* WRITE_TRIAGE */
    struct store_rename *rename;               /* WRITE_RENAME */
    struct store_retention_write *retention;   /* WRITE_RETENTION */
    GArray *dropped;                           /* WRITE_DROPPED: struct store_dropped */
    bool is_expired, keeps_verdicts;           /* WRITE_DELETION by the rules of retention */
    struct store_head_write *head;             /* WRITE_HEAD */
    struct store_annotation_write *annotation; /* WRITE_ANNOTATION */
    struct store_access_write *access;         /* WRITE_ACCESS */
    gint64 bytes;                              /* about what it holds in memory */
    gint64 queued_us;                          /* monotonic */
    store_done_fn done;
    void *user;
    /* What became of it. */
    struct store_receipt receipt;
    GError *error;
    GPtrArray *warnings;
};

struct store_write *store_write_new(enum write_kind kind, store_done_fn done, void *user);
void store_write_free(struct store_write *write);

struct store_writer {
    SqliteWriter *rows;
    SqliteVerdictWriter *verdicts;
    SqliteBranchWriter *branches;
    SqliteRenameWriter *renames;
    SqliteRetentionWriter *retentions;
    SqliteAccessWriter *accesses;
    Catalogue *catalogue;
    struct staging staging;
    int64_t version; /* that the transaction at hand gives to what it changes */
};

/* Forgets what became of it, so that it can be performed again. */
void store_write_reset(struct store_write *write);

/* Within a transaction. False where it is refused, with ERROR_CONFLICT or ERROR_NOT_FOUND before it
 * has written anything, or where it failed with another error: then rows and staging hold parts of
 * it, which the caller takes back. Fills outcome, run_seq, n_commits and warnings of the receipt.
 */
bool store_write_perform(struct store_writer *writer, struct store_write *write, GError **error);

/* Parts of it, one file each. */
bool store_write_run(struct store_writer *writer, struct store_write *write, GError **error);
bool store_write_deletion(struct store_writer *writer, struct store_write *write, GError **error);
bool store_write_project(struct store_writer *writer, struct store_write *write, GError **error);
bool store_write_judgement(struct store_writer *writer, struct store_write *write, GError **error);
bool store_write_triage(struct store_writer *writer, struct store_write *write, GError **error);
bool store_write_head(struct store_writer *writer, struct store_write *write, GError **error);
bool store_write_annotation(struct store_writer *writer, struct store_write *write, GError **error);
bool store_write_commits(struct store_writer *writer, struct store_write *write, GError **error);

bool store_write_rename(struct store_writer *writer, struct store_write *write, GError **error);

bool store_write_access(struct store_writer *writer, struct store_write *write, GError **error);

bool store_write_retention(struct store_writer *writer, struct store_write *write, GError **error);
bool store_write_dropped(struct store_writer *writer, struct store_write *write, GError **error);

/* One run more was deleted by the rules. */
bool store_write_count_expired(struct store_writer *writer, struct catalogue_project *project,
                               GError **error);

/* Series came that are shown under other names: plans the lines anew. In a transaction of its own.
 */
bool store_write_lines(struct store_writer *writer, GError **error);

/* The id under which a change is shown: its own, or its twin's on the line that holds its series
 * now. */
bool store_write_shown_change(struct store_writer *writer, int64_t id, int64_t *out,
                              GError **error);

/* Finds the project or adds it. */
struct catalogue_project *store_write_need_project(struct store_writer *writer, const char *name,
                                                   GError **error);

/* The order of its history, or what belongs to it, changed: all its series wait to be judged anew.
 */
bool store_write_rejudge(struct store_writer *writer, const struct catalogue_project *project,
                         GError **error);

/* Writes the rows of the commits that were staged from `mark` on. */
bool store_write_commit_rows(struct store_writer *writer, guint mark, GError **error);
