/* SPDX-License-Identifier: Apache-2.0
 * See run_judge.h. The work thread runs it. */
#include "server/work/run_judge.h"

#include "server/work/machine_move.h"
#include "server/work/series_judge.h"

/* One snapshot holds the catalogue still, and with it what uploads wait for: so it is short, also
 * where long histories are read. */
#define CHUNK_SERIES 64u
#define CHUNK_US     5000

/* What a run holds, read once. */
struct taken {
    GArray *points;      /* struct store_point */
    GHashTable *version; /* series id -> digest, both in place */
    GArray *commit_runs; /* int64_t */
};

static void taken_clear(struct taken *taken)
{
    g_clear_pointer(&taken->points, g_array_unref);
    g_clear_pointer(&taken->version, g_hash_table_unref);
    g_clear_pointer(&taken->commit_runs, g_array_unref);
}

static GArray *find_commit_runs(const struct store_run *run, const char *branch)
{
    GArray *seqs = g_array_new(FALSE, FALSE, sizeof(int64_t));
    const GPtrArray *runs = run->project->runs;
    guint left = run->commit->n_runs;
    for (guint i = runs->len; i-- > 0 && left > 0;) {
        const struct store_run *other = runs->pdata[i];
        if (other->commit != run->commit)
            continue;
        left--;
        if (other->machine == run->machine && series_judge_takes(other, branch))
            g_array_append_val(seqs, other->seq);
    }
    return seqs;
}

static bool read_versions(const struct run_judge *judge, StoreSnapshot *snapshot, int64_t run_seq,
                          struct taken *taken, GError **error)
{
    g_autoptr(GArray) versions = version_ahead_of_run(judge->ahead, snapshot, run_seq, error);
    if (!versions)
        return false;
    taken->version = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    for (guint i = 0; i < versions->len; i++) {
        const struct store_series_version *version =
            &g_array_index(versions, struct store_series_version, i);
        g_hash_table_insert(taken->version,
                            g_memdup2(&version->series_id, sizeof version->series_id),
                            g_memdup2(&version->digest, sizeof version->digest));
    }
    return true;
}

/* Leaves taken->points NULL where the run is gone or is no part of the judged history. */
static bool take_run(struct run_judge *judge, int64_t run_seq, struct taken *taken,
                     int64_t *out_project, GError **error)
{
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(judge->reader, error);
    if (!snapshot)
        return false;
    const struct store_run *run = store_run_by_seq(snapshot, run_seq);
    if (!run)
        return true;
    *out_project = run->project->id;
    const char *branch = series_judge_branch(run->project);
    if (!series_judge_takes(run, branch))
        return true;
    taken->commit_runs = find_commit_runs(run, branch);
    if (!read_versions(judge, snapshot, run_seq, taken, error))
        return false;
    taken->points = store_run_points(snapshot, run_seq, error);
    return taken->points != NULL;
}

static struct series_judge series_judge_of(struct run_judge *judge, StoreSnapshot *snapshot,
                                           struct store_judgement *judgement)
{
    return (struct series_judge){.snapshot = snapshot,
                                 .judgement = judgement,
                                 .settings = {.table = judge->table},
                                 .ahead = version_ahead_table(judge->ahead),
                                 .until_seq = version_ahead_until(judge->ahead),
                                 .n_commits = &judge->n_commits};
}

/* As the rules say of the series. */
static void take_rule(struct series_judge *with, const struct store_series *series)
{
    with->settings.least_effect_ratio = series->rule.least_effect;
    with->settings.least_effect_absolute = series->rule.least_effect_absolute;
}

static bool judge_point(struct series_judge *with, const struct store_point *point,
                        const struct taken *taken, GError **error)
{
    const struct store_series *series = store_series_by_id(with->snapshot, point->series_id);
    const int64_t *version = g_hash_table_lookup(taken->version, &point->series_id);
    if (series)
        take_rule(with, series);
    return !series || series_judge_run(with, series, point, version ? *version : 0, error);
}

/* Judges some series from `*inout_next` on; a run that went meanwhile has none left to judge: its
 * series wait to be judged anew. */
static bool judge_chunk(struct run_judge *judge, const struct taken *taken, guint *inout_next,
                        struct store_judgement *judgement, GError **error)
{
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(judge->reader, error);
    if (!snapshot)
        return false;
    struct series_judge with = series_judge_of(judge, snapshot, judgement);
    with.commit_runs = taken->commit_runs;
    int64_t until_us = g_get_monotonic_time() + CHUNK_US;
    guint end = MIN(*inout_next + CHUNK_SERIES, taken->points->len);
    do {
        const struct store_point *point =
            &g_array_index(taken->points, struct store_point, *inout_next);
        with.run = store_run_by_seq(snapshot, point->run_seq);
        if (with.run && !judge_point(&with, point, taken, error))
            return false;
        judge->n_series++;
        ++*inout_next;
    } while (*inout_next < end && g_get_monotonic_time() < until_us);
    return true;
}

struct store_judgement *run_judge_run(struct run_judge *judge, int64_t run_seq, GError **error)
{
    struct taken taken = {0};
    struct store_judgement *judgement = store_judgement_new();
    judgement->run_seq = run_seq;
    bool fine = version_ahead_read(judge->ahead, judge->reader, error) &&
                take_run(judge, run_seq, &taken, &judgement->project_id, error);
    for (guint next = 0; fine && taken.points && next < taken.points->len;)
        fine = judge_chunk(judge, &taken, &next, judgement, error);
    taken_clear(&taken);
    fine = fine && machine_move_note(judge->reader, judgement, error);
    if (!fine)
        g_clear_pointer(&judgement, store_judgement_free);
    return judgement;
}

static bool judge_anew(struct run_judge *judge, int64_t id, struct store_judgement *judgement,
                       GError **error)
{
    g_autoptr(StoreSnapshot) snapshot = store_snapshot_begin(judge->reader, error);
    if (!snapshot)
        return false;
    const struct store_series *series = store_series_by_id(snapshot, id);
    struct series_judge with = series_judge_of(judge, snapshot, judgement);
    if (judgement->rejudged->len == 0)
        judgement->rules_version = store_rules_version(snapshot);
    g_array_append_val(judgement->rejudged, id);
    if (!series)
        return true;
    judgement->project_id = series->project->id;
    take_rule(&with, series);
    return store_is_rule_rejudge(snapshot, id, &with.by_rule, error) &&
           series_judge_anew(&with, series, error);
}

struct store_judgement *run_judge_series(struct run_judge *judge, const GArray *series_ids,
                                         GError **error)
{
    struct store_judgement *judgement = store_judgement_new();
    bool fine = version_ahead_read(judge->ahead, judge->reader, error);
    for (guint i = 0; fine && i < series_ids->len; i++) {
        fine = judge_anew(judge, g_array_index(series_ids, int64_t, i), judgement, error);
        judge->n_series++;
    }
    fine = fine && machine_move_note(judge->reader, judgement, error);
    if (!fine)
        g_clear_pointer(&judgement, store_judgement_free);
    return judgement;
}
