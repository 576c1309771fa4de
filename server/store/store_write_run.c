/* SPDX-License-Identifier: Apache-2.0
 * Storing a run (part of store_write.h): the id is checked, what it names is found or made, then
 * rows and staging. The writer thread runs it; whatever did not need the store's content was done
 * before (prepared_run.h). */
#include "server/store/commit_telling.h"
#include "server/store/sample_blob.h"
#include "server/store/store_write.h"
#include <string.h>

struct run_write {
    struct store_writer *writer;
    const PreparedRun *prepared;
    GPtrArray *warnings;
    struct catalogue_project *project;
    struct store_machine *machine;
    struct store_run *run;
    struct sample_directory directory;
    GPtrArray *series; /* struct catalogue_series * that got a point */
    guint next_summary;
    struct store_benchmark *benchmark; /* of the result at hand */
    GHashTable *benchmarks;            /* that have their row for this run */
};

/* ---- The id
 * -------------------------------------------------------------------------------------------------------
 */

/* True where the run is new. Else false, with an error or with the receipt filled. */
static bool check_id(struct store_writer *writer, struct store_write *write, GError **error)
{
    const char *id = write->run->run->id;
    const struct store_run *known = staging_find_run(&writer->staging, id);
    if (!known) {
        bool deleted;
        if (!sqlite_writer_is_deleted(writer->rows, id, &deleted, error))
            return false;
        if (deleted)
            g_set_error(
                error, BREAKEVEN_ERROR, ERROR_CONFLICT,
                "run %s was deleted, and a deleted id stays deleted; send it under a new id", id);
        return !deleted;
    }
    g_autofree char *digest = sqlite_writer_run_digest(writer->rows, known->seq, error);
    if (!digest)
        return false;
    if (strcmp(digest, write->run->digest) == 0) {
        write->receipt.outcome = STORE_UNCHANGED;
        write->receipt.run_seq = known->seq;
    } else {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_CONFLICT,
                    "run %s is stored already with other content; a new run needs a new id", id);
    }
    return false;
}

/* ---- Series and points
 * -------------------------------------------------------------------------------------------- */

static const char *text_of_better(enum better better)
{
    const char *name = better_name(better);
    return name ? name : "not known";
}

static bool check_better(struct run_write *w, struct catalogue_series *series,
                         const struct run_metric *metric, GError **error)
{
    if (metric->better == BETTER_UNKNOWN || metric->better == series->better)
        return true;
    if (series->better == BETTER_UNKNOWN) {
        staging_set_better(&w->writer->staging, series, metric->better);
        return sqlite_writer_set_better(w->writer->rows, series, error);
    }
    g_ptr_array_add(w->warnings, g_strdup_printf("%s %s: better is %s here and %s in the series, "
                                                 "which stays so",
                                                 series->pub.benchmark->name, metric->name,
                                                 text_of_better(metric->better),
                                                 text_of_better(series->better)));
    return true;
}

/* The series of a metric; NULL with the error where a new one cannot be written. */
static struct catalogue_series *need_series(struct run_write *w, const char *posted,
                                            const struct run_metric *metric, GError **error)
{
    struct staging *staging = &w->writer->staging;
    struct catalogue_series *first =
        staging_find_series(staging, w->benchmark, w->machine, posted, metric->name);
    for (struct catalogue_series *series = first; series; series = series->next_unit)
        if (strcmp(series->pub.unit, metric->unit) == 0)
            return check_better(w, series, metric, error) ? series : NULL;
    if (first)
        g_ptr_array_add(w->warnings,
                        g_strdup_printf("%s %s: the unit is \"%s\" here and was \"%s\"; "
                                        "this is a series of its own",
                                        w->benchmark->name, metric->name, metric->unit,
                                        first->pub.unit));
    struct catalogue_series *series =
        staging_add_series(staging, w->benchmark, w->machine, posted, metric);
    return sqlite_writer_add_series(w->writer->rows, series, error) ? series : NULL;
}

/* False where the series has its point of this run already. */
static bool take_place(struct run_write *w, struct catalogue_series *series)
{
    struct catalogue_series *line = series->line;
    if (series->staged_seq == w->run->seq || line->staged_seq == w->run->seq)
        g_ptr_array_add(w->warnings,
                        g_strdup_printf("%s %s: two results are one case by the project's renames "
                                        "and parameter defaults; one of them is drawn",
                                        line->pub.benchmark->name, line->pub.metric));
    if (series->staged_seq == w->run->seq)
        return false;
    series->staged_seq = line->staged_seq = w->run->seq;
    return true;
}

static bool add_point(struct run_write *w, struct catalogue_series *series,
                      const struct run_result *result, GError **error)
{
    const struct summary *summary =
        &g_array_index(w->prepared->summaries, struct summary, w->next_summary);
    w->next_summary++;
    sample_directory_add_series(&w->directory, series->pub.id);
    if (!take_place(w, series))
        return true;
    g_ptr_array_add(w->series, series);
    return sqlite_writer_add_point(w->writer->rows, series->pub.id, w->run->seq, summary,
                                   result->flags->len > 0, error);
}

static bool need_benchmark(struct run_write *w, const struct run_result *result, GError **error)
{
    struct staging *staging = &w->writer->staging;
    if (!w->benchmark || strcmp(w->benchmark->name, result->bench) != 0)
        w->benchmark = staging_find_benchmark(staging, w->project, result->bench);
    if (!w->benchmark) {
        w->benchmark = staging_add_benchmark(staging, w->project, result->bench);
        if (!sqlite_writer_add_benchmark(w->writer->rows, w->benchmark, error))
            return false;
    }
    return !g_hash_table_add(w->benchmarks, w->benchmark) ||
           sqlite_writer_add_benchmark_run(w->writer->rows, w->benchmark->id, w->run->seq, error);
}

static bool add_error(struct run_write *w, guint ordinal, GError **error)
{
    const struct run_result *result = w->prepared->run->results->pdata[ordinal];
    const char *params_text = w->prepared->params_texts[ordinal];
    struct catalogue_case *error_case =
        staging_find_case(&w->writer->staging, w->benchmark, params_text);
    if (!error_case) {
        error_case = staging_add_case(&w->writer->staging, w->benchmark, params_text);
        if (!sqlite_writer_add_case(w->writer->rows, error_case, error))
            return false;
    }
    return sqlite_writer_add_error(w->writer->rows, error_case->id, w->run->seq, ordinal,
                                   result->error, error);
}

static bool is_spelled_as(const struct catalogue_series *series, const char *bench,
                          const char *params_text)
{
    const char *spelling = series->spelling ? series->spelling : series->pub.params_text;
    return strcmp(series->pub.benchmark->name, bench) == 0 && strcmp(spelling, params_text) == 0;
}

static bool add_result(struct run_write *w, guint ordinal, GError **error)
{
    const struct run_result *result = w->prepared->run->results->pdata[ordinal];
    const char *posted = w->prepared->params_texts[ordinal];
    if (!need_benchmark(w, result, error) || (result->error && !add_error(w, ordinal, error)))
        return false;
    guint n_metrics = result->metrics->len;
    if (n_metrics == 0)
        sample_directory_add_result(&w->directory, result->bench, posted, 0);
    for (guint m = 0; m < n_metrics; m++) {
        struct catalogue_series *series = need_series(w, posted, result->metrics->pdata[m], error);
        if (!series)
            return false;
        if (m == 0) {
            bool spelled = !is_spelled_as(series, result->bench, posted);
            sample_directory_add_result(&w->directory, spelled ? result->bench : NULL,
                                        spelled ? posted : NULL, n_metrics);
        }
        if (!add_point(w, series, result, error))
            return false;
    }
    return true;
}

/* ---- The machine
 * --------------------------------------------------------------------------------------------------
 */

static bool need_machine(struct run_write *w, GError **error)
{
    struct staging *staging = &w->writer->staging;
    const char *name = w->prepared->run->machine;
    w->machine = staging_find_machine(staging, name);
    if (w->machine)
        return true;
    w->machine = staging_add_machine(staging, name);
    return sqlite_writer_add_machine(w->writer->rows, w->machine, error);
}

static bool need_topology(struct run_write *w, int64_t *out_id, GError **error)
{
    const PreparedRun *prepared = w->prepared;
    *out_id = 0;
    if (!prepared->topology_digest)
        return true;
    *out_id = staging_find_topology(&w->writer->staging, prepared->topology_digest);
    if (*out_id)
        return true;
    *out_id = staging_add_topology(&w->writer->staging, prepared->topology_digest);
    return sqlite_writer_add_topology(w->writer->rows, *out_id, prepared->topology_digest,
                                      prepared->run->topology, error);
}

/* Finds or adds the environment. Sets samples->environment where the run's facts are not those that
 * stand for the digest. */
static bool need_environment(struct run_write *w, struct sqlite_samples *samples,
                             struct catalogue_environment **out, GError **error)
{
    const PreparedRun *prepared = w->prepared;
    struct staging *staging = &w->writer->staging;
    const char *facts = prepared->run->environment_json;
    *out = NULL;
    samples->environment = facts;
    if (!facts || !prepared->environment_digest)
        return true;
    struct catalogue_environment *environment =
        staging_find_environment(staging, prepared->environment_digest);
    bool same = true;
    if (!environment) {
        environment = staging_add_environment(staging, prepared->environment_digest);
        if (!sqlite_writer_add_environment(w->writer->rows, environment, facts, error))
            return false;
    } else if (!sqlite_writer_environment_is(w->writer->rows, environment->id, facts, &same,
                                             error)) {
        return false;
    }
    if (same)
        samples->environment = NULL;
    *out = environment;
    if (!samples->topology_id || environment->has_topology)
        return true;
    staging_set_topology(staging, environment);
    return sqlite_writer_set_environment_topology(w->writer->rows, environment->id,
                                                  samples->topology_id, error);
}

/* ---- The whole
 * ----------------------------------------------------------------------------------------------------
 */

static bool is_of_pull_request(const struct run_write *w)
{
    return w->prepared->pull_request || g_strcmp0(w->prepared->run->reason, "pull-request") == 0;
}

/* A pull request's branch may be called as ours is, and what it grew from is not of it. */
static const char *branch_told(const struct run_write *w)
{
    const char *branch = w->prepared->run->branch;
    bool is_ours = g_strcmp0(branch, w->project->pub.default_branch) == 0;
    return is_of_pull_request(w) && is_ours ? NULL : branch;
}

static GByteArray *tell_commits(struct run_write *w, guint mark, struct catalogue_commit **out)
{
    const Run *run = w->prepared->run;
    struct commit_telling telling;
    commit_telling_init(&telling, &w->writer->staging, w->project, w->warnings);
    telling.branch = branch_told(w);
    telling.is_aside = is_of_pull_request(w);
    g_autoptr(GPtrArray) known = g_ptr_array_sized_new(run->history->len + 1);
    g_ptr_array_add(known, commit_telling_tell(&telling, &run->commit));
    if (is_of_pull_request(w))
        telling.branch = NULL;
    for (guint i = 0; i < run->history->len; i++)
        g_ptr_array_add(known, commit_telling_tell(&telling, run->history->pdata[i]));
    commit_telling_settle(&telling, mark);
    commit_telling_clear(&telling);
    *out = known->pdata[0];
    if (!(*out)->order.has_time)
        staging_lend_start(&w->writer->staging, *out, run->started_ms / 1000);
    return commit_telling_pack(run, known);
}

static void fill_run(struct run_write *w, struct catalogue_commit *commit,
                     const struct catalogue_environment *environment)
{
    const PreparedRun *prepared = w->prepared;
    const Run *posted = prepared->run;
    struct store_run *run = w->run;
    run->posted_machine = w->machine;
    run->commit = &commit->pub;
    run->branch = catalogue_text(w->writer->catalogue, posted->branch);
    run->reason = catalogue_text(w->writer->catalogue, posted->reason);
    run->pull_request = catalogue_text(w->writer->catalogue, prepared->pull_request);
    run->base = catalogue_text(w->writer->catalogue, prepared->base);
    run->is_bound = posted->commit.is_bound;
    run->dirty = posted->dirty;
    run->started_ms = posted->started_ms;
    run->finished_ms = posted->finished_ms;
    run->received_ms = prepared->received_ms;
    run->environment_digest = environment ? environment->digest : NULL;
    run->n_results = posted->results->len;
    run->n_errors = prepared->n_errors;
    run->n_samples = prepared->n_samples;
}

/* All rows but those of results' points and errors. */
static bool add_envelope(struct run_write *w, guint mark, struct sqlite_samples *samples,
                         GByteArray **out_commits, GError **error)
{
    const Run *posted = w->prepared->run;
    struct catalogue_commit *commit;
    struct catalogue_environment *environment;
    *out_commits = tell_commits(w, mark, &commit);
    samples->commits = *out_commits;
    samples->digest = w->prepared->digest;
    samples->results = w->prepared->results;
    samples->source = posted->source_json;
    samples->context = posted->context_json;
    samples->machine = strcmp(w->machine->name, posted->machine) == 0 ? NULL : posted->machine;
    if (!store_write_commit_rows(w->writer, mark, error) ||
        !need_topology(w, &samples->topology_id, error) ||
        !need_environment(w, samples, &environment, error))
        return false;
    w->run = staging_add_run(&w->writer->staging, posted->id, w->project, w->series);
    samples->run_seq = w->run->seq;
    fill_run(w, commit, environment);
    return sqlite_writer_add_run(w->writer->rows, w->run, environment ? environment->id : 0,
                                 error) &&
           (!w->run->pull_request ||
            sqlite_branch_add_pull_request(w->writer->branches, w->run, error)) &&
           (!w->run->is_bound ||
            sqlite_branch_add_bound_run(w->writer->branches, w->run->seq, error));
}

static bool add_run(struct run_write *w, guint mark, GError **error)
{
    struct sqlite_samples samples = {0};
    g_autoptr(GByteArray) commits = NULL;
    if (!need_machine(w, error) || !add_envelope(w, mark, &samples, &commits, error))
        return false;
    sample_directory_start(&w->directory, w->prepared->run->results->len);
    for (guint i = 0; i < w->prepared->run->results->len; i++)
        if (!add_result(w, i, error))
            return false;
    samples.series = w->directory.bytes;
    return sqlite_writer_add_samples(w->writer->rows, &samples, error) &&
           sqlite_verdict_enqueue(w->writer->verdicts, w->run->seq, error);
}

bool store_write_run(struct store_writer *writer, struct store_write *write, GError **error)
{
    GError *cause = NULL;
    if (!check_id(writer, write, &cause)) {
        if (cause)
            g_propagate_error(error, cause);
        return cause == NULL;
    }
    guint mark = writer->staging.changes->len;
    struct run_write w = {.writer = writer,
                          .prepared = write->run,
                          .warnings = write->warnings,
                          .series = g_ptr_array_new(),
                          .benchmarks = g_hash_table_new(NULL, NULL)};
    w.project = store_write_need_project(writer, write->run->run->project, error);
    bool stored = w.project && add_run(&w, mark, error);
    if (stored) {
        write->receipt.outcome = STORE_CREATED;
        write->receipt.run_seq = w.run->seq;
    }
    g_clear_pointer(&w.directory.bytes, g_byte_array_unref);
    g_ptr_array_unref(w.series);
    g_hash_table_unref(w.benchmarks);
    return stored;
}
