/* SPDX-License-Identifier: Apache-2.0
 * See series_judge.h. The work thread runs it. */
#include "server/work/series_judge.h"

#include "server/analysis/commit_points.h"
#include "server/store/store_branches.h"
#include "server/work/change_match.h"
#include "server/work/series_replay.h"
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

int64_t series_judge_digest(const char *hex)
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
    guint64 first;     /* index of commits[0] */
    guint64 held_from; /* as in struct change_match */
    bool is_open;      /* no commits follow */
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
                                 .held_from = found->held_from,
                                 .is_open = found->is_open,
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
static Detector *with_newest(const SeriesStream *stream)
{
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    Detector *detector = detector_copy(stream->detector);
    detector_feed(detector, &stream->newest.point, events);
    detector_refresh(detector);
    return detector;
}

/* What holds now; with `matches`, also what the tail's changes are. */
static bool conclude(const struct series_judge *judge, const struct store_series *series,
                     SeriesStream *stream, SeriesSegments *segments, bool matches, GError **error)
{
    g_autofree const struct store_commit **commits = commits_of(judge, stream->commits, 1);
    const struct store_commit *newest =
        store_commit_by_id(judge->snapshot, stream->newest.commit_id);
    if (!commits || !newest) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "the commits of series %" G_GINT64_FORMAT " changed while it was judged",
                    series->id);
        return false;
    }
    g_autoptr(Detector) now = with_newest(stream);
    guint n_commits = stream->commits->len;
    commits[n_commits++] = newest;
    add_level(judge, series, stream, now, commits, n_commits);
    series_segments_update(segments, now, stream, newest->id);
    series_segments_conclude(segments);
    g_ptr_array_add(judge->judgement->states, series_stream_save(stream, series->id));
    g_autoptr(GArray) changes = tail_changes(now);
    guint64 count = detector_count(now);
    guint64 held_from = count > DETECTOR_TAIL ? count - DETECTOR_TAIL + 1 : 0;
    struct found found = {changes, commits, n_commits, count - n_commits, held_from, true};
    return !matches || match_changes(judge, series, &found, error);
}

/* ---- The whole history
 * ----------------------------------------------------------------------------------------
 */

/* What was found on the way: all that left the tail, and where the old stream was not met also what
 * the tail holds. */
static bool match_replayed(const struct series_judge *judge, const struct series_replay *replay,
                           GError **error)
{
    const struct series_history *history = &replay->history;
    guint end = replay->end;
    g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(struct detector_change));
    g_array_append_vals(changes, replay->settled->data, replay->settled->len);
    if (end == history->points->len) {
        g_autoptr(Detector) now = with_newest(replay->stream);
        g_autoptr(GArray) last = tail_changes(now);
        g_array_append_vals(changes, last->data, last->len);
    } else {
        end = end > DETECTOR_TAIL + 1 ? end - DETECTOR_TAIL : 1; /* its tail is as it was */
    }
    if (end <= replay->first)
        return true;
    g_autofree const struct store_commit **commits =
        series_history_commits(replay->series, history, replay->first, end);
    struct found found = {changes,       commits, end - replay->first,
                          replay->first, 0,       end == history->points->len};
    return match_changes(judge, replay->series, &found, error);
}

static bool conclude_replay(const struct series_judge *judge, struct series_replay *replay,
                            GError **error)
{
    if (!match_replayed(judge, replay, error) ||
        !conclude(judge, replay->series, replay->stream, replay->segments,
                  replay->end < replay->history.points->len, error))
        return false;
    series_checkpoints_conclude(replay->checkpoints);
    return true;
}

static void forget(const struct series_judge *judge, const struct series_replay *replay)
{
    int64_t id = replay->series->id;
    g_array_append_val(judge->judgement->forgotten, id);
    series_checkpoints_forget(replay->checkpoints, 0, G_MAXUINT);
    series_checkpoints_conclude(replay->checkpoints);
    series_segments_set_aside(replay->segments, 0);
    series_segments_conclude(replay->segments);
}

/* From the last checkpoint before what is new on; `kept` (NULL: from the start) is taken. */
static bool judge_history(const struct series_judge *judge, const struct store_series *series,
                          SeriesStream *kept, GError **error)
{
    struct series_replay replay = {.judge = judge, .series = series};
    bool fine = series_replay_run(&replay, kept, error);
    if (fine && !replay.stream)
        forget(judge, &replay);
    else if (fine)
        fine = conclude_replay(judge, &replay, error);
    series_replay_clear(&replay);
    return fine;
}

bool series_judge_anew(const struct series_judge *judge, const struct store_series *series,
                       GError **error)
{
    return judge_history(judge, series, NULL, error);
}

static void rehearse(const struct series_judge *judge, const struct store_series *series,
                     const struct series_history *history, struct series_rehearsal *rehearsal)
{
    g_autoptr(SeriesStream) stream = series_stream_new(&rehearsal->settings);
    for (guint i = 0; i < history->points->len; i++) {
        struct series_newest newest = series_history_newest(judge, series, history, i);
        series_stream_push(stream, &newest);
        series_stream_settle(stream, rehearsal->events);
    }
}

bool series_judge_rehearse(const struct series_judge *judge, const struct store_series *series,
                           struct series_rehearsal rehearsals[2], GPtrArray *commits,
                           GError **error)
{
    struct series_history history = {.until_seq = INT64_MAX, .known_seq = INT64_MAX};
    bool fine = series_history_read(judge, series, &history, error);
    for (guint i = 0; fine && i < history.points->len; i++)
        g_ptr_array_add(commits,
                        series->project->commits->pdata[series_history_position(&history, i)]);
    for (guint i = 0; fine && i < 2; i++)
        rehearse(judge, series, &history, &rehearsals[i]);
    series_history_clear(&history);
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

/* Keeps the stream as it is before its newest commit. */
static bool keep_checkpoint(const struct series_judge *judge, const struct store_series *series,
                            const SeriesStream *stream, GError **error)
{
    g_autoptr(SeriesCheckpoints) checkpoints = series_checkpoints_read(judge, series, error);
    if (!checkpoints)
        return false;
    series_checkpoints_add(checkpoints, stream);
    series_checkpoints_conclude(checkpoints);
    return true;
}

/* The commit is the newest: its value goes in front of, or in place of, the newest one. */
static bool judge_newest(const struct series_judge *judge, const struct store_series *series,
                         SeriesStream *stream, struct series_newest newest, GError **error)
{
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    g_autoptr(SeriesSegments) segments = series_segments_read(judge, series, error);
    if (!segments)
        return false;
    if (stream->newest.commit_id == newest.commit_id) {
        newest.point.marks = stream->newest.point.marks;
        if (!median_of_runs(judge, series, &newest.point.value, error))
            return false;
    } else {
        guint64 before = detector_count(stream->detector);
        series_stream_settle(stream, events);
        guint64 count = detector_count(stream->detector);
        if (count > before && count % SERIES_JUDGE_CHECKPOINT_VALUES == 0 &&
            !keep_checkpoint(judge, series, stream, error))
            return false;
    }
    series_stream_push(stream, &newest);
    stream->judged_seq = judge->run->seq;
    if (judge->n_commits)
        ++*judge->n_commits;
    return conclude(judge, series, stream, segments, true, error);
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

/* The run was there already when the series was judged on its whole history. */
static bool note_again(const struct series_judge *judge, const struct store_series *series,
                       int64_t version, GError **error)
{
    if (version == 0)
        return true;
    g_autoptr(GArray) versions = store_series_versions(judge->snapshot, series->id, error);
    if (!versions)
        return false;
    int64_t known = 0;
    for (guint i = 0; i < versions->len; i++) {
        const struct store_series_version *row =
            &g_array_index(versions, struct store_series_version, i);
        if (row->run_seq <= judge->run->seq)
            known = row->digest;
    }
    note_version(judge, series, &known, version);
    return true;
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
        return note_again(judge, series, version, error);
    int64_t received = stream ? stream->version_received : 0;
    note_version(judge, series, &received, version);
    if (!stream && series->n_points > 1)
        return judge_history(judge, series, NULL, error);
    if (!stream)
        stream = series_stream_new(&judge->settings);
    else if (!goes_last(judge, stream))
        return judge_history(judge, series, g_steal_pointer(&stream), error);
    stream->version_received = received;
    struct series_newest newest = {.commit_id = run->commit->id,
                                   .point = {.value = point->center},
                                   .environment = series_judge_digest(run->environment_digest),
                                   .version = version};
    return judge_newest(judge, series, stream, newest, error);
}
