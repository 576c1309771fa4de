/* SPDX-License-Identifier: Apache-2.0
 * See history.h. About a hundred of a commit's first parents, each a tenth further back than the
 * one before, are asked for in one question; what the server knows of them bounds what it is told.
 * Main thread. */
#include "runner/history.h"

#include "runner/envelope.h"
#include "runner/git.h"
#include "runner/judging.h"
#include "runner/show/console.h"
#include <string.h>

#define BATCH_COMMITS     1000u
#define FOLLOW_MAX        20000u  /* commits told along with a run; history sends more */
#define ASK_ANCESTORS_MAX 262144u /* how far back is asked */
#define ASK_SECONDS       10u

static char *project_path(const char *project, const char *what)
{
    g_autofree char *escaped = g_uri_escape_string(project, NULL, FALSE);
    return g_strdup_printf("/api/projects/%s/%s", escaped, what);
}

/* ---- Commits
 * ------------------------------------------------------------------------------------------------------
 */

bool history_send(Delivery *delivery, const char *project, const char *branch,
                  const GPtrArray *commits, GError **error)
{
    g_autofree char *escaped = branch ? g_uri_escape_string(branch, NULL, FALSE) : NULL;
    g_autofree char *what = escaped ? g_strconcat("commits?branch=", escaped, NULL) : NULL;
    g_autofree char *path = project_path(project, what ? what : "commits");
    for (guint from = 0; from < commits->len; from += BATCH_COMMITS) {
        GString *batch = envelope_commits(commits, from, MIN(from + BATCH_COMMITS, commits->len));
        bool is_good = delivery_post(delivery, path, batch->str, batch->len, error);
        g_string_free(batch, TRUE);
        if (!is_good)
            return false;
    }
    return true;
}

/* The nearest first parents, and then each a tenth further back. */
static GPtrArray *choose(const GPtrArray *ancestors)
{
    GPtrArray *chosen = g_ptr_array_new();
    for (guint at = 0; at < ancestors->len; at += MAX(1, at / 10))
        g_ptr_array_add(chosen, ancestors->pdata[at]);
    if (ancestors->len > 1)
        g_ptr_array_add(chosen, ancestors->pdata[ancestors->len - 1]);
    return chosen;
}

static char *question(const char *project, const GPtrArray *shas)
{
    g_autoptr(GString) what = g_string_new("commits?limit=1000");
    for (guint i = 0; i < shas->len; i++)
        g_string_append_printf(what, "&sha=%s", (const char *)shas->pdata[i]);
    return project_path(project, what->str);
}

/* Those of the shas that the server knows with their parents: char *, owned. NULL: no answer. */
static GPtrArray *ask_known(const Settings *settings, const char *project, const GPtrArray *shas)
{
    g_autofree char *path = question(project, shas);
    g_autoptr(GError) problem = NULL;
    json_t *answer = judging_fetch(settings, path, ASK_SECONDS, &problem);
    const json_t *rows = json_object_get(answer, "commits");
    GPtrArray *known = json_is_array(rows) ? g_ptr_array_new_with_free_func(g_free) : NULL;
    for (size_t i = 0; known && i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *sha = json_string_value(json_object_get(row, "sha"));
        if (sha && json_is_array(json_object_get(row, "parents")))
            g_ptr_array_add(known, g_strdup(sha));
    }
    json_decref(answer);
    return known;
}

void history_say_shallow(const char *what)
{
    if (git_is_shallow())
        console_message("this clone is shallow, %s; git fetch --unshallow (in CI: fetch-depth: 0) "
                        "brings the rest",
                        what);
}

static void tell_since(Delivery *delivery, const Run *run, const GPtrArray *known)
{
    bool more = false;
    g_autoptr(GError) problem = NULL;
    g_autoptr(GPtrArray) commits =
        git_log_since(run->commit.sha, known, FOLLOW_MAX, &more, &problem);
    if (!commits || commits->len <= run->history->len + 1)
        return; /* the run carries them */
    if (!history_send(delivery, run->project, NULL, commits, &problem)) {
        console_message("the commits before the run were not told: %s", problem->message);
        return;
    }
    console_message("told the server of %u commits, back to those that it knew%s", commits->len,
                    more ? " (there are more: breakeven-runner history)" : "");
}

void history_before_run(Delivery *delivery, const Settings *settings, const Run *run)
{
    g_autoptr(GPtrArray) ancestors = git_first_parents(run->commit.sha, ASK_ANCESTORS_MAX);
    if (!ancestors) {
        history_say_shallow("and does not hold the run's commit: what lies before it is told by "
                            "nobody");
        return;
    }
    g_autoptr(GPtrArray) chosen = choose(ancestors);
    g_autoptr(GPtrArray) known = ask_known(settings, run->project, chosen);
    if (!known)
        return;
    if (known->len > 0)
        tell_since(delivery, run, known);
    else
        history_say_shallow("and does not reach back to a commit that the server knows: where the "
                            "run belongs in the history is not known to it");
}

/* ---- Heads
 * --------------------------------------------------------------------------------------------------------
 */

bool history_tell_head(Delivery *delivery, const char *project, const char *branch, const char *sha,
                       GError **error)
{
    g_autofree char *escaped = g_uri_escape_string(branch, NULL, FALSE);
    g_autofree char *what = g_strconcat("branches/", escaped, NULL);
    g_autofree char *path = project_path(project, what);
    g_autofree char *body = g_strdup_printf("{\"head\":\"%s\",\"at_least\":true}", sha);
    return delivery_put(delivery, path, body, strlen(body), error);
}

bool history_is_head(const char *branch, const char *sha)
{
    g_autofree char *remote_name = g_strconcat("refs/remotes/origin/", branch, NULL);
    g_autofree char *local_name = g_strconcat("refs/heads/", branch, NULL);
    g_autofree char *remote = git_resolve(remote_name);
    g_autofree char *local = remote ? NULL : git_resolve(local_name);
    return g_strcmp0(remote ? remote : local, sha) == 0;
}

void history_after_run(Delivery *delivery, const Run *run)
{
    g_autofree char *pull_request = NULL, *base = NULL;
    bool is_aside =
        run_pull_request(run, &pull_request, &base) || g_strcmp0(run->reason, "pull-request") == 0;
    if (is_aside || run->dirty || !run->branch || !history_is_head(run->branch, run->commit.sha))
        return;
    g_autoptr(GError) problem = NULL;
    if (!history_tell_head(delivery, run->project, run->branch, run->commit.sha, &problem) &&
        !g_error_matches(problem, BREAKEVEN_ERROR, ERROR_NOT_FOUND))
        console_message("where branch %s points was not told: %s", run->branch, problem->message);
}
