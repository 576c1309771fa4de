/* SPDX-License-Identifier: Apache-2.0
 * See series_judge.h. The work thread runs it. */
#include "server/work/series_judge.h"

#include "server/analysis/commit_points.h"
#include "server/store/store_branches.h"
#include "server/work/change_match.h"
#include "server/work/series_stream.h"
#include <string.h>

/* ---- Which runs
 * -----------------------------------------------------------------------------------------------
 */

const char *series_judge_branch(const struct store_project *project)
{
    const struct store_run *first = NULL;
    guint n_runs = store_head_find(project, project->default_branch) ? 0 : project->runs->len;
    for (guint i = 0; i < n_runs; i++) {
        const struct store_run *run = project->runs->pdata[i];
        if (!run->branch || strcmp(run->branch, project->default_branch) == 0)
            return project->default_branch;
        first = first ? first : run;
    }
    return first ? first->branch : project->default_branch;
}

bool series_judge_is_aside(const struct store_run *run)
{
    return store_run_is_of_pull_request(run) || g_strcmp0(run->reason, "bisect") == 0 ||
           g_strcmp0(run->reason, "confirm") == 0;
}

bool series_judge_takes(const struct store_run *run, const char *branch)
{
    if (run->dirty || series_judge_is_aside(run))
        return false;
    bool is_default = strcmp(branch, run->project->default_branch) == 0;
    enum store_line line = is_default ? run->commit->line : STORE_LINE_UNKNOWN;
    return store_run_is_of(run, branch, is_default, line);
}

static int64_t digest_of(const char *hex)
{
    char start[16];
    if (!hex)
        return 0;
    g_strlcpy(start, hex, sizeof start);
    return (int64_t)g_ascii_strtoull(start, NULL, 16);
}

/* ---- Commits by id
 * -------------------------------------------------------------------------------------------- */

/* The commits of a stream; NULL where one is gone or their order is no longer that of the stream.
 */
static const struct store_commit **commits_of(const struct series_judge *judge, const GArray *ids,
                                              guint extra)
{
    g_autofree const struct store_commit **commits =
        g_new(const struct store_commit *, ids->len + extra + 1);
    for (guint i = 0; i < ids->len; i++) {
        commits[i] = store_commit_by_id(judge->snapshot, g_array_index(ids, int64_t, i));
        if (!commits[i] || (i > 0 && commits[i]->position <= commits[i - 1]->position))
            return NULL;
    }
    return g_steal_pointer(&commits);
}

/* ---- What is found
 * -------------------------------------------------------------------------------------------- */

static void set_level(const struct detector_segment *segment, guint *n, double *level,
                      double *noise)
{
    *n = segment->n;
    *level = segment->level;
    *noise = segment->noise;
}

/* What the detector says of its last level, and of the one before the newest commit. `commits` are
 * those of its tail with the newest. */
static void add_level(const struct series_judge *judge, const struct store_series *series,
                      const SeriesStream *stream, const Detector *now,
                      const struct store_commit *const *commits, guint n_commits)
{
    struct store_level level = {.series_id = series->id,
                                .n_commits = (guint)detector_count(now),
                                .last_commit_id = commits[n_commits - 1]->id,
                                .first_commit_id = stream->first_commit_id,
                                .start_commit_id = commits[0]->id,
                                .judged_seq = judge->run ? judge->run->seq : series->last_run_seq};
    struct detector_segment segment;
    if (detector_segment(stream->detector, &segment))
        set_level(&segment, &level.base_n, &level.base_level, &level.base_noise);
    if (detector_segment(now, &segment)) {
        guint64 first = detector_count(now) - n_commits;
        set_level(&segment, &level.n, &level.level, &level.noise);
        if (segment.start >= first)
            level.start_commit_id = commits[segment.start - first]->id;
    }
    g_array_append_val(judge->judgement->levels, level);
}

struct found {
    const GArray *changes; /* struct detector_change */
    const struct store_commit *const *commits;
    guint n_commits;
    guint64 first; /* index of commits[0] */
};

static bool match_changes(const struct series_judge *judge, const struct store_series *series,
                          const struct found *found, GError **error)
{
    g_autoptr(GPtrArray) kept = store_series_changes(judge->snapshot, series->id, error);
    if (!kept)
        return false;
    if (kept->len == 0 && found->changes->len == 0)
        return true;
    struct change_match match = {.series = series,
                                 .found = found->changes,
                                 .first = found->first,
                                 .commits = found->commits,
                                 .n_commits = found->n_commits,
                                 .kept = kept,
                                 .commit_of = store_commit_by_id,
                                 .snapshot = judge->snapshot,
                                 .by_rule = judge->by_rule};
    change_match_run(&match, judge->judgement->changes);
    return true;
}

static GArray *tail_changes(const Detector *detector)
{
    guint n;
    const struct detector_change *changes = detector_changes(detector, &n);
    GArray *copy = g_array_new(FALSE, FALSE, sizeof(struct detector_change));
    g_array_append_vals(copy, changes, n);
    return copy;
}

/* Looks one commit ahead: the stream as it is kept ends before its newest commit. */
static Detector *with_newest(const SeriesStream *stream, const struct detector_settings *settings)
{
    g_autoptr(GBytes) state = detector_save(stream->detector);
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    Detector *detector = detector_restore(state, settings, NULL);
    if (detector)
        detector_feed(detector, &stream->newest.point, events);
    return detector;
}

static bool conclude(const struct series_judge *judge, const struct store_series *series,
                     SeriesStream *stream, GError **error)
{
    g_autofree const struct store_commit **commits = commits_of(judge, stream->commits, 1);
    g_autoptr(Detector) now = with_newest(stream, &judge->settings);
    const struct store_commit *newest =
        store_commit_by_id(judge->snapshot, stream->newest.commit_id);
    if (!commits || !now || !newest) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "the commits of series %" G_GINT64_FORMAT " changed while it was judged",
                    series->id);
        return false;
    }
    guint n_commits = stream->commits->len;
    commits[n_commits++] = newest;
    add_level(judge, series, stream, now, commits, n_commits);
    g_ptr_array_add(judge->judgement->states, series_stream_save(stream, series->id));
    g_autoptr(GArray) changes = tail_changes(now);
    struct found found = {changes, commits, n_commits, detector_count(now) - n_commits};
    return match_changes(judge, series, &found, error);
}

/* ---- The whole history
 * ---------------------------------------------------------------------------------------- */

struct history {
    GArray *points;   /* struct commit_point, in commit order */
    GArray *versions; /* struct store_series_version by run */
    guint8 *marks;    /* of enum detector_mark, by point */
};

static void history_clear(struct history *history)
{
    g_clear_pointer(&history->points, g_array_unref);
    g_clear_pointer(&history->versions, g_array_unref);
    g_clear_pointer(&history->marks, g_free);
}

static GArray *eligible_points(const struct series_judge *judge, const struct store_series *series,
                               GError **error)
{
    g_autoptr(GArray) stored = store_series_points(judge->snapshot, series->id, error);
    if (!stored)
        return NULL;
    const char *branch = series_judge_branch(series->project);
    g_autoptr(GArray) inputs = g_array_new(FALSE, FALSE, sizeof(struct commit_point_input));
    for (guint i = 0; i < stored->len; i++) {
        const struct store_point *point = &g_array_index(stored, struct store_point, i);
        const struct store_run *run = store_run_by_seq(judge->snapshot, point->run_seq);
        if (!run || point->flagged || point->censored || !series_judge_takes(run, branch))
            continue;
        struct commit_point_input input = {.position = run->commit->position,
                                           .center = point->center,
                                           .n = point->n,
                                           .run_seq = run->seq};
        g_array_append_val(inputs, input);
    }
    return commit_points_build((const struct commit_point_input *)(const void *)inputs->data,
                               inputs->len, branch);
}

/* What people decided: marks at the first measured commit at or after the change's place. */
static bool mark_triage(const struct series_judge *judge, const struct store_series *series,
                        struct history *history, GError **error)
{
    g_autoptr(GPtrArray) kept = store_series_changes(judge->snapshot, series->id, error);
    for (guint i = 0; kept && i < kept->len; i++) {
        const struct store_change *change = kept->pdata[i];
        const struct store_commit *commit =
            store_commit_by_id(judge->snapshot, change->bad_commit_id);
        bool is_fixed = change->triage == STORE_TRIAGE_EXPECTED && !change->in_advance;
        guint8 mark = is_fixed                               ? DETECTOR_MARK_PINNED
                      : change->triage == STORE_TRIAGE_NOISE ? DETECTOR_MARK_QUIET
                                                             : 0;
        for (guint k = 0; mark && commit && k < history->points->len; k++) {
            if (g_array_index(history->points, struct commit_point, k).position < commit->position)
                continue;
            history->marks[k] |= mark;
            break;
        }
    }
    return kept != NULL;
}

static bool history_read(const struct series_judge *judge, const struct store_series *series,
                         struct history *history, GError **error)
{
    history->points = eligible_points(judge, series, error);
    history->versions =
        history->points ? store_series_versions(judge->snapshot, series->id, error) : NULL;
    if (!history->versions)
        return false;
    const GArray *fresh = judge->judgement->versions;
    for (guint i = 0; i < fresh->len; i++) {
        struct store_series_version version = g_array_index(fresh, struct store_series_version, i);
        if (version.series_id == series->id)
            g_array_append_val(history->versions, version);
    }
    history->marks = g_new0(guint8, history->points->len + 1);
    return mark_triage(judge, series, history, error);
}

static int64_t version_at(const GArray *versions, int64_t run_seq)
{
    int64_t digest = 0;
    for (guint i = 0; i < versions->len; i++) {
        const struct store_series_version *version =
            &g_array_index(versions, struct store_series_version, i);
        if (version->run_seq <= run_seq)
            digest = version->digest;
    }
    return digest;
}

static struct series_newest newest_of(const struct series_judge *judge,
                                      const struct store_series *series,
                                      const struct history *history, guint index)
{
    const struct commit_point *point = &g_array_index(history->points, struct commit_point, index);
    const struct store_commit *commit = series->project->commits->pdata[point->position];
    const struct store_run *run = store_run_by_seq(judge->snapshot, point->last_run_seq);
    return (struct series_newest){.commit_id = commit->id,
                                  .point = {.value = point->center, .marks = history->marks[index]},
                                  .environment = digest_of(run ? run->environment_digest : NULL),
                                  .version = version_at(history->versions, point->last_run_seq)};
}

/* The last checkpoint whose commits are those of the history's start; *out_next is the index of the
 * first point that is not in it. Those marked by people begin anew. */
static SeriesStream *find_start(const struct series_judge *judge, const struct store_series *series,
                                const struct history *history, guint before, guint *out_next)
{
    g_autoptr(GPtrArray) kept = store_series_checkpoints(judge->snapshot, series->id, NULL);
    g_autoptr(SeriesStream) best = NULL;
    *out_next = 0;
    for (guint i = 0; kept && i < kept->len; i++) {
        const struct store_state *state = kept->pdata[i];
        const struct store_commit *commit = store_commit_by_id(judge->snapshot, state->commit_id);
        g_autoptr(SeriesStream) stream = series_stream_restore(state, &judge->settings);
        if (!commit || !stream || commit->position >= before)
            continue;
        guint count = (guint)detector_count(stream->detector);
        g_autofree const struct store_commit **commits = commits_of(judge, stream->commits, 0);
        bool fits = commits && count < history->points->len && count > *out_next &&
                    g_array_index(history->points, struct commit_point, count - 1).position ==
                        commit->position;
        if (!fits)
            continue;
        series_stream_free(best);
        best = g_steal_pointer(&stream);
        *out_next = count;
    }
    return best ? g_steal_pointer(&best) : series_stream_new(&judge->settings);
}

static void take_settled(const GArray *events, GArray *changes)
{
    for (guint i = 0; i < events->len; i++) {
        const struct detector_event *event = &g_array_index(events, struct detector_event, i);
        if (event->news == DETECTOR_NEWS_SETTLED)
            g_array_append_val(changes, event->change);
    }
}

/* Feeds the history's points from `next` on; settled changes are appended, checkpoints kept. */
static void replay(const struct series_judge *judge, const struct store_series *series,
                   const struct history *history, SeriesStream *stream, guint next, GArray *settled)
{
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    for (guint i = next; i < history->points->len; i++) {
        series_stream_settle(stream, events);
        if (i > next && i % SERIES_JUDGE_CHECKPOINT_VALUES == 0)
            g_ptr_array_add(judge->judgement->checkpoints, series_stream_save(stream, series->id));
        struct series_newest newest = newest_of(judge, series, history, i);
        series_stream_push(stream, &newest);
    }
    take_settled(events, settled);
    stream->judged_seq = series->last_run_seq;
    if (history->versions->len > 0)
        stream->version_received = g_array_index(history->versions, struct store_series_version,
                                                 history->versions->len - 1)
                                       .digest;
}

static const struct store_commit **history_commits(const struct store_series *series,
                                                   const struct history *history, guint first)
{
    guint n = history->points->len;
    const struct store_commit **commits = g_new(const struct store_commit *, n - first + 1);
    for (guint i = first; i < n; i++)
        commits[i - first] =
            series->project->commits
                ->pdata[g_array_index(history->points, struct commit_point, i).position];
    return commits;
}

/* Levels, state and all changes after the checkpoint's tail. */
static bool conclude_history(const struct series_judge *judge, const struct store_series *series,
                             const struct history *history, SeriesStream *stream, guint next,
                             GError **error)
{
    g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(struct detector_change));
    replay(judge, series, history, stream, next, changes);
    guint64 first = next > DETECTOR_TAIL ? next - DETECTOR_TAIL : 0;
    g_autofree const struct store_commit **commits = history_commits(series, history, (guint)first);
    guint n_commits = history->points->len - (guint)first;
    g_autoptr(Detector) now = with_newest(stream, &judge->settings);
    if (!now)
        return false;
    guint tail = MIN(n_commits, DETECTOR_TAIL);
    add_level(judge, series, stream, now, commits + (n_commits - tail), tail);
    g_ptr_array_add(judge->judgement->states, series_stream_save(stream, series->id));
    g_autoptr(GArray) last = tail_changes(now);
    g_array_append_vals(changes, last->data, last->len);
    struct found found = {changes, commits, n_commits, first};
    return match_changes(judge, series, &found, error);
}

/* From the last checkpoint before a commit's position on. */
static bool judge_from(const struct series_judge *judge, const struct store_series *series,
                       guint position, GError **error)
{
    struct history history = {0};
    bool fine = history_read(judge, series, &history, error);
    if (fine && history.points->len == 0) {
        int64_t id = series->id;
        g_array_append_val(judge->judgement->forgotten, id);
        g_array_append_val(judge->judgement->checkpoints_dropped, id);
    } else if (fine) {
        guint next;
        g_autoptr(SeriesStream) stream = find_start(judge, series, &history, position, &next);
        if (next == 0) {
            int64_t id = series->id;
            g_array_append_val(judge->judgement->checkpoints_dropped, id);
        }
        fine = conclude_history(judge, series, &history, stream, next, error);
    }
    history_clear(&history);
    return fine;
}

bool series_judge_anew(const struct series_judge *judge, const struct store_series *series,
                       GError **error)
{
    return judge_from(judge, series, 0, error);
}

static void rehearse(const struct series_judge *judge, const struct store_series *series,
                     const struct history *history, struct series_rehearsal *rehearsal)
{
    g_autoptr(SeriesStream) stream = series_stream_new(&rehearsal->settings);
    for (guint i = 0; i < history->points->len; i++) {
        struct series_newest newest = newest_of(judge, series, history, i);
        series_stream_push(stream, &newest);
        series_stream_settle(stream, rehearsal->events);
    }
}

bool series_judge_rehearse(const struct series_judge *judge, const struct store_series *series,
                           struct series_rehearsal rehearsals[2], GPtrArray *commits,
                           GError **error)
{
    struct history history = {0};
    bool fine = history_read(judge, series, &history, error);
    for (guint i = 0; fine && i < history.points->len; i++)
        g_ptr_array_add(
            commits, series->project->commits
                         ->pdata[g_array_index(history.points, struct commit_point, i).position]);
    for (guint i = 0; fine && i < 2; i++)
        rehearse(judge, series, &history, &rehearsals[i]);
    history_clear(&history);
    return fine;
}

/* ---- A run
 * ------------------------------------------------------------------------------------------------------
 */

static void note_version(const struct series_judge *judge, const struct store_series *series,
                         int64_t *received, int64_t version)
{
    if (version == 0 || version == *received)
        return;
    *received = version;
    struct store_series_version row = {series->id, judge->run->seq, version};
    g_array_append_val(judge->judgement->versions, row);
}

/* The value of a commit that has several runs. */
static bool median_of_runs(const struct series_judge *judge, const struct store_series *series,
                           double *out, GError **error)
{
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct store_point));
    for (guint i = 0; i < judge->commit_runs->len; i++)
        if (!store_series_point(judge->snapshot, series->id,
                                g_array_index(judge->commit_runs, int64_t, i), points, error))
            return false;
    g_autoptr(GArray) inputs = g_array_new(FALSE, FALSE, sizeof(struct commit_point_input));
    for (guint i = 0; i < points->len; i++) {
        const struct store_point *point = &g_array_index(points, struct store_point, i);
        struct commit_point_input input = {.center = point->center, .run_seq = point->run_seq};
        if (!point->flagged && !point->censored)
            g_array_append_val(inputs, input);
    }
    g_autoptr(GArray) built = commit_points_build(
        (const struct commit_point_input *)(const void *)inputs->data, inputs->len, NULL);
    if (built->len == 1)
        *out = g_array_index(built, struct commit_point, 0).center;
    return true;
}

/* The commit is the newest: its value goes in front of, or in place of, the newest one. */
static bool judge_newest(const struct series_judge *judge, const struct store_series *series,
                         SeriesStream *stream, struct series_newest newest, GError **error)
{
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    if (stream->newest.commit_id == newest.commit_id) {
        newest.point.marks = stream->newest.point.marks;
        if (!median_of_runs(judge, series, &newest.point.value, error))
            return false;
    } else {
        series_stream_settle(stream, events);
        guint64 count = detector_count(stream->detector);
        if (count > 0 && count % SERIES_JUDGE_CHECKPOINT_VALUES == 0)
            g_ptr_array_add(judge->judgement->checkpoints, series_stream_save(stream, series->id));
    }
    series_stream_push(stream, &newest);
    stream->judged_seq = judge->run->seq;
    return conclude(judge, series, stream, error);
}

/* Whether the stream is in commit order still, and the run's commit not before its newest. */
static bool goes_last(const struct series_judge *judge, const SeriesStream *stream)
{
    g_autofree const struct store_commit **commits = commits_of(judge, stream->commits, 0);
    const struct store_commit *newest =
        store_commit_by_id(judge->snapshot, stream->newest.commit_id);
    guint n = stream->commits->len;
    return commits && newest && newest->position <= judge->run->commit->position &&
           (n == 0 || commits[n - 1]->position < newest->position);
}

bool series_judge_run(const struct series_judge *judge, const struct store_series *series,
                      const struct store_point *point, int64_t version, GError **error)
{
    const struct store_run *run = judge->run;
    if (point->flagged || point->censored)
        return true;
    GError *cause = NULL;
    struct store_state *state = store_series_state(judge->snapshot, series->id, &cause);
    if (cause) {
        g_propagate_error(error, cause);
        return false;
    }
    g_autoptr(SeriesStream) stream = state ? series_stream_restore(state, &judge->settings) : NULL;
    store_state_free(state);
    if (stream && run->seq <= stream->judged_seq)
        return true; /* it was there already when the series was judged from its start */
    int64_t received = stream ? stream->version_received : 0;
    note_version(judge, series, &received, version);
    if (!stream && series->n_points > 1)
        return judge_from(judge, series, run->commit->position, error);
    if (!stream)
        stream = series_stream_new(&judge->settings);
    else if (!goes_last(judge, stream))
        return judge_from(judge, series, run->commit->position, error);
    stream->version_received = received;
    struct series_newest newest = {.commit_id = run->commit->id,
                                   .point = {.value = point->center},
                                   .environment = digest_of(run->environment_digest),
                                   .version = version};
    return judge_newest(judge, series, stream, newest, error);
}
