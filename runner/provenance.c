/* SPDX-License-Identifier: Apache-2.0
 * Decides what a run says about itself, before anything is measured. Main thread. */
#include "runner/provenance.h"

#include "runner/ci.h"
#include "runner/git.h"
#include "runner/nearest.h"
#include "schema/text.h"
#include "schema/timestamp.h"
#include <string.h>

static const char *const reasons[] = {"merge",    "nightly", "manual",  "pull-request",
                                      "backfill", "bisect",  "confirm", NULL};

static bool check_name(const char *what, const char *name, GError **error)
{
    g_autofree char *problem = text_name_problem(name, strlen(name), RUN_NAME_BYTES_MAX);
    if (problem)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the %s \"%s\" %s; another one: --%s NAME", what, name, problem, what);
    return !problem;
}

static bool take_reason(Provenance *provenance, const char *given, const struct ci_job *job,
                        GError **error)
{
    if (given && !g_strv_contains(reasons, given)) {
        g_autofree char *hint = nearest_hint(given, reasons, G_N_ELEMENTS(reasons) - 1, "");
        g_autofree char *all = g_strjoinv(", ", (GStrv)(guintptr)reasons);
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--reason %s: there is no such reason%s (there are: %s)", given, hint, all);
        return false;
    }
    const char *usual = job->pull_request ? "pull-request" : settings_in_ci() ? "merge" : "manual";
    provenance->reason = g_strdup(given ? given : usual);
    return true;
}

static bool take_machine(Provenance *provenance, const Settings *settings, GError **error)
{
    if (!settings->machine && settings_in_ci()) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--machine NAME is needed where the variable CI is set: host names of CI jobs "
                    "change with every job, and each "
                    "would begin a history of its own");
        return false;
    }
    provenance->machine = g_strdup(settings->machine ? settings->machine : g_get_host_name());
    return check_name("machine", provenance->machine, error);
}

static bool take_project(Provenance *provenance, const Settings *settings, const GitFacts *facts,
                         GError **error)
{
    if (settings->project)
        provenance->project = g_strdup(settings->project);
    else if (facts && facts->project) {
        provenance->project = g_strdup(facts->project);
        provenance->project_from = g_strdup(facts->project_from);
    } else {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the project is not known here; give --project NAME");
        return false;
    }
    return check_name("project", provenance->project, error);
}

/* Facts that the command line gives about the commit stand above git's. */
static bool override_commit(struct run_commit *commit, const Options *options, GError **error)
{
    const char *time = options_value(options, "time");
    if (time) {
        int64_t time_ms = 0;
        if (!timestamp_parse_ms(time, &time_ms, error)) {
            g_prefix_error(error, "--time: ");
            return false;
        }
        commit->has_time = true;
        commit->time_s = time_ms / 1000;
    }
    const GPtrArray *parents = options_list(options, "parents");
    if (!parents)
        return true;
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    bool is_root = parents->len == 1 && strcmp((const char *)parents->pdata[0], "none") == 0;
    for (guint i = 0; i < parents->len && !is_root; i++) {
        const char *parent = (const char *)parents->pdata[i];
        if (!text_is_sha(parent)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "--parents %s: not a whole commit id (40 or 64 lower-case hex digits); for "
                        "a first commit write "
                        "--parents none",
                        parent);
            return false;
        }
        g_strv_builder_add(builder, parent);
    }
    g_strfreev(commit->parents);
    commit->parents = g_strv_builder_end(builder);
    return true;
}

static void take_facts(Provenance *provenance, GitFacts *facts)
{
    provenance->commit = g_steal_pointer(&facts->commit);
    provenance->history = g_steal_pointer(&facts->history);
    provenance->branch = g_strdup(facts->branch);
    provenance->dirty = facts->dirty;
}

static void take_bare_commit(Provenance *provenance, const char *sha)
{
    provenance->commit = run_commit_new();
    provenance->commit->sha = g_strdup(sha);
}

/* git's facts of the commit that is named; a whole id that git does not know stands for itself. */
static bool take_named(Provenance *provenance, const char *given, GitFacts **out_facts,
                       GError **error)
{
    g_autoptr(GError) problem = NULL;
    *out_facts = git_read(given, GIT_HISTORY, &problem);
    if (*out_facts) {
        take_facts(provenance, *out_facts);
    } else if (text_is_sha(given)) {
        take_bare_commit(provenance, given);
    } else {
        g_prefix_error(&problem, "--commit %s is no whole commit id, and ", given);
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    return true;
}

/* Whether HEAD is the merge that a CI system made to try a pull request: nobody will see it again,
 * and what is measured is the pull request's head. */
static bool is_tried_merge(const GitFacts *head, const struct ci_job *job)
{
    char **parents = head->commit->parents;
    return job->pull_request && job->commit && parents && g_strv_length(parents) > 1 &&
           g_strv_contains((const char *const *)parents, job->commit);
}

/* HEAD is what is measured; a CI system's word counts where it is about HEAD, or git is not there.
 */
static bool take_current(Provenance *provenance, const struct ci_job *job, GitFacts **out_facts,
                         GError **error)
{
    g_autoptr(GError) problem = NULL;
    *out_facts = git_read(NULL, GIT_HISTORY, &problem);
    if (!*out_facts) {
        bool is_refused = g_error_matches(problem, BREAKEVEN_ERROR, ERROR_FORBIDDEN);
        if (job->commit && !is_refused)
            take_bare_commit(provenance, job->commit);
        else
            g_propagate_error(error, g_steal_pointer(&problem));
        return job->commit && !is_refused;
    }
    bool dirty = (*out_facts)->dirty;
    g_autoptr(GitFacts) tried =
        is_tried_merge(*out_facts, job) ? git_read(job->commit, GIT_HISTORY, NULL) : NULL;
    if (tried)
        take_facts(provenance, tried);
    else if (is_tried_merge(*out_facts, job))
        take_bare_commit(provenance, job->commit); /* a shallow clone does not hold it */
    else
        take_facts(provenance, *out_facts);
    provenance->dirty = dirty;
    return true;
}

/* What a CI system calls the branch of its commit stands above what the checkout is on. */
static void take_branch(Provenance *provenance, const char *given, const struct ci_job *job,
                        bool is_named)
{
    bool is_its = g_strcmp0(job->commit, provenance->commit->sha) == 0;
    const char *branch = given ? given
                         : job->branch && (is_its || (!provenance->branch && !is_named))
                             ? job->branch
                             : NULL;
    if (!branch)
        return;
    g_free(provenance->branch);
    provenance->branch = g_strdup(branch);
}

/* Where the pull request left the branch that it is to go into, as far as the clone goes back; else
 * that branch's commit; NULL where nothing is known. */
static char *base_of(const struct ci_job *job, const char *commit)
{
    g_autofree char *remote =
        job->base_branch ? g_strconcat("refs/remotes/origin/", job->base_branch, NULL) : NULL;
    g_autofree char *base = job->base ? git_resolve(job->base) : NULL;
    if (!base)
        base = job->base && text_is_sha(job->base) ? g_strdup(job->base)
               : remote                            ? git_resolve(remote)
                                                   : NULL;
    char *left_at = base ? git_merge_base(base, commit) : NULL;
    return left_at ? left_at : g_steal_pointer(&base);
}

static bool fill(Provenance *provenance, const Options *options, const Settings *settings,
                 const struct ci_job *job, GError **error)
{
    const char *commit = options_value(options, "commit");
    g_autoptr(GitFacts) facts = NULL;
    if (!take_machine(provenance, settings, error) ||
        !(commit ? take_named(provenance, commit, &facts, error)
                 : take_current(provenance, job, &facts, error)) ||
        !override_commit(provenance->commit, options, error) ||
        !take_project(provenance, settings, facts, error))
        return false;
    take_branch(provenance, options_value(options, "branch"), job, commit != NULL);
    g_autofree char *base = base_of(job, provenance->commit->sha);
    provenance->source_json = ci_source_json(job, base);
    return take_reason(provenance, options_value(options, "reason"), job, error) &&
           (!provenance->branch || check_name("branch", provenance->branch, error));
}

Provenance *provenance_gather(const Options *options, const Settings *settings, GError **error)
{
    g_autoptr(Provenance) provenance = g_new0(Provenance, 1);
    struct ci_job job = ci_detect(g_getenv);
    bool is_good = fill(provenance, options, settings, &job, error);
    ci_job_clear(&job);
    return is_good ? g_steal_pointer(&provenance) : NULL;
}

void provenance_free(Provenance *provenance)
{
    if (!provenance)
        return;
    g_free(provenance->project);
    g_free(provenance->project_from);
    g_free(provenance->machine);
    g_free(provenance->branch);
    g_free(provenance->source_json);
    g_free(provenance->reason);
    if (provenance->commit)
        run_commit_free(provenance->commit);
    if (provenance->history)
        g_ptr_array_unref(provenance->history);
    g_free(provenance);
}
