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

/* git's facts; a whole id that git does not know stands for itself. */
static bool take_commit(Provenance *provenance, const Options *options, GitFacts **out_facts,
                        GError **error)
{
    const char *given = options_value(options, "commit");
    g_autoptr(GError) problem = NULL;
    *out_facts = git_read(given, GIT_HISTORY, &problem);
    if (*out_facts) {
        GitFacts *facts = *out_facts;
        provenance->commit = g_steal_pointer(&facts->commit);
        provenance->history = g_steal_pointer(&facts->history);
        provenance->branch = g_strdup(facts->branch);
        provenance->dirty = facts->dirty;
    } else if (given && text_is_sha(given)) {
        provenance->commit = run_commit_new();
        provenance->commit->sha = g_strdup(given);
    } else {
        if (given)
            g_prefix_error(&problem, "--commit %s is no whole commit id, and ", given);
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    return override_commit(provenance->commit, options, error);
}

Provenance *provenance_gather(const Options *options, const Settings *settings, GError **error)
{
    g_autoptr(Provenance) provenance = g_new0(Provenance, 1);
    g_autoptr(GitFacts) facts = NULL;
    if (!take_machine(provenance, settings, error) ||
        !take_commit(provenance, options, &facts, error) ||
        !take_project(provenance, settings, facts, error))
        return NULL;
    struct ci_job job = ci_detect(g_getenv);
    const char *branch = options_value(options, "branch");
    if (branch || (!provenance->branch && job.branch && !options_value(options, "commit"))) {
        g_free(provenance->branch);
        provenance->branch = g_strdup(branch ? branch : job.branch);
    }
    provenance->source_json = ci_source_json(&job);
    bool is_good = take_reason(provenance, options_value(options, "reason"), &job, error) &&
                   (!provenance->branch || check_name("branch", provenance->branch, error));
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
