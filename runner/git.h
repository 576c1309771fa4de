/* SPDX-License-Identifier: Apache-2.0
 * What git knows about the commit that is measured. It reads raw commits, so that a parent is named
 * even where a shallow clone does not hold it. Git runs without locks, prompts and replacement
 * objects; nothing in the repository is changed. */
#pragma once

#include "schema/run.h"

#define GIT_HISTORY 200u /* commits sent along with a run */

typedef struct git_facts {
    char *project; /* last part of the URL of remote origin without .git, else the name of the top
                      folder */
    char *project_from; /* "git remote origin" or "the folder /x/y": to say where it comes from */
    char *branch; /* what HEAD points at; NULL where it is detached, or where another revision was
                     asked for */
    bool dirty;   /* tracked files differ from HEAD; false where another revision was asked for */
    struct run_commit *commit;
    GPtrArray *history; /* struct run_commit *, newest first, without `commit` itself */
} GitFacts;

/* Facts of `revision` (NULL: HEAD) in the repository that holds the current folder.
 * ERROR_UNAVAILABLE: git is not installed; ERROR_NOT_FOUND: no repository, or no such commit in it;
 * ERROR_FORBIDDEN: git refuses a folder of another owner, with what to do. */
GitFacts *git_read(const char *revision, guint history_max, GError **error);
void git_facts_free(GitFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GitFacts, git_facts_free)

/* The commits of a range as git rev-list takes it, newest first, at most `max`; *out_more: there
 * are further ones. Array of struct run_commit *. */
GPtrArray *git_log(const char *range, guint max, bool *out_more, GError **error);

/* The same for the ancestors of a commit, itself included, but for those of `known` (char *, shas
 * that git holds). */
GPtrArray *git_log_since(const char *sha, const GPtrArray *known, guint max, bool *out_more,
                         GError **error);

/* The shas of a commit and of its first parents, newest first, at most `max`: char *, owned. NULL
 * where git does not hold it. */
GPtrArray *git_first_parents(const char *sha, guint max);

/* Whether the clone holds only a part of the history. */
bool git_is_shallow(void);

/* The whole id of a revision's commit; NULL where git knows none. */
char *git_resolve(const char *revision);

/* The newest commit that both descend from; NULL where the clone does not go back so far. */
char *git_merge_base(const char *a, const char *b);
