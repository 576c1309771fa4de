/* SPDX-License-Identifier: Apache-2.0
 * See machine_move.h. */
#include "server/work/machine_move.h"

#include "server/work/change_groups.h"
#include "server/work/machine_probe.h"
#include "server/work/series_judge.h"
#include "server/work/series_stream.h"

#include <math.h>
#include <string.h>

#define NEWS_MAX                                                                                   \
    200u /* of a project, the newest, among which the machine's last ones are sought               \
          */
#define MOVE_VALUES 20u
#define EFFECT_SHARE                                                                               \
    0.5 /* of the changes' median effect that others and the probe must move by                    \
         */

/* The commits that a machine measured, with the last run of each. */
struct measured {
    guint position;
    int64_t run_seq;
};

/* One machine, and those of the judgement's changes that are news of it. */
struct suspect {
    StoreSnapshot *snapshot;
    struct store_judgement *judgement;
    int64_t machine_id;
    GArray *measured;  /* struct measured, upwards by position */
    GPtrArray *writes; /* struct store_change_write * */
    guint center;      /* index in `measured` of the place that most of them share */
    int direction;     /* that most of these have */
    double effect;     /* their median, as a logarithm, >= 0 */
    int64_t event_commit_id;
};

static void suspect_clear(struct suspect *suspect)
{
    g_clear_pointer(&suspect->measured, g_array_unref);
    g_clear_pointer(&suspect->writes, g_ptr_array_unref);
}

/* ---- Where and which way
 * ---------------------------------------------------------------------------------------------
 */

static int compare_measured(gconstpointer a, gconstpointer b)
{
    const struct measured *left = a, *right = b;
    if (left->position != right->position)
        return left->position < right->position ? -1 : 1;
    return (left->run_seq > right->run_seq) - (left->run_seq < right->run_seq);
}

static GArray *find_measured(const struct store_project *project, int64_t machine_id)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct measured));
    const char *branch = series_judge_branch(project);
    for (guint i = 0; i < project->runs->len; i++) {
        const struct store_run *run = project->runs->pdata[i];
        struct measured one = {run->commit->position, run->seq};
        if (run->machine->id == machine_id && series_judge_takes(run, branch))
            g_array_append_val(all, one);
    }
    g_array_sort(all, compare_measured);
    GArray *measured = g_array_new(FALSE, FALSE, sizeof(struct measured));
    for (guint i = 0; i < all->len; i++) {
        const struct measured *one = &g_array_index(all, struct measured, i);
        bool is_last = i + 1 == all->len || one[1].position != one->position;
        if (is_last)
            g_array_append_vals(measured, one, 1);
    }
    return measured;
}

static guint index_of(const struct suspect *suspect, int64_t commit_id)
{
    const struct store_commit *commit = store_commit_by_id(suspect->snapshot, commit_id);
    guint low = 0, high = suspect->measured->len;
    while (commit && low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(suspect->measured, struct measured, middle).position < commit->position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct store_series *series_of(const struct suspect *suspect,
                                            const struct store_change_write *write)
{
    return store_series_by_id(suspect->snapshot, write->change.series_id);
}

static bool is_near(guint a, guint b)
{
    return (a > b ? a - b : b - a) <= DETECTOR_SAME_WITHIN;
}

static int direction_of(const struct suspect *suspect, const struct store_change_write *write)
{
    const struct store_series *series = series_of(suspect, write);
    return series ? change_direction(series, &write->change) : 0;
}

/* The place and direction that most of the changes share. */
static void find_center(struct suspect *suspect)
{
    guint n = suspect->writes->len, most = 0;
    g_autofree guint *places = g_new(guint, n + 1);
    g_autofree int *directions = g_new(int, n + 1);
    for (guint i = 0; i < n; i++) {
        const struct store_change_write *write = suspect->writes->pdata[i];
        places[i] = index_of(suspect, write->change.bad_commit_id);
        directions[i] = direction_of(suspect, write);
    }
    for (guint i = 0; i < n; i++) {
        guint with = 0;
        for (guint k = 0; k < n && directions[i] != 0; k++)
            with += directions[k] == directions[i] && is_near(places[i], places[k]);
        if (with > most) {
            most = with;
            suspect->center = places[i];
            suspect->direction = directions[i];
            suspect->event_commit_id =
                ((const struct store_change_write *)suspect->writes->pdata[i])
                    ->change.bad_commit_id;
        }
    }
}

static double size_of(double effect)
{
    return fabs(log1p(fmax(effect, -0.999)));
}

static gint compare_doubles(gconstpointer a, gconstpointer b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Leaves those of the center, and takes their median effect. */
static void keep_center(struct suspect *suspect)
{
    g_autoptr(GArray) sizes = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = suspect->writes->len; i-- > 0;) {
        const struct store_change_write *write = suspect->writes->pdata[i];
        if (direction_of(suspect, write) != suspect->direction ||
            !is_near(index_of(suspect, write->change.bad_commit_id), suspect->center)) {
            g_ptr_array_remove_index(suspect->writes, i);
            continue;
        }
        double size = size_of(write->change.effect);
        g_array_append_val(sizes, size);
    }
    g_array_sort(sizes, compare_doubles);
    suspect->effect = sizes->len > 0 ? g_array_index(sizes, double, sizes->len / 2) : 0;
}

/* ---- Whether most series moved
 * ---------------------------------------------------------------------------------------------
 */

static guint place_in(const struct suspect *suspect, const SeriesStream *stream)
{
    guint position = g_array_index(suspect->measured, struct measured, suspect->center).position;
    for (guint i = 0; i < stream->commits->len; i++) {
        const struct store_commit *commit =
            store_commit_by_id(suspect->snapshot, g_array_index(stream->commits, int64_t, i));
        if (commit && commit->position >= position)
            return i;
    }
    return stream->commits->len;
}

/* The move of a series at the center as a cost: positive where it is worse. */
static bool cost_at_center(const struct suspect *suspect, const struct store_state *state,
                           const struct store_series *series, double *out)
{
    const struct detector_settings settings = {0};
    g_autoptr(SeriesStream) stream = series_stream_restore(state, &settings);
    if (!stream)
        return false;
    guint64 first = detector_count(stream->detector) - stream->commits->len;
    if (!detector_move_at(stream->detector, first + place_in(suspect, stream), MOVE_VALUES, out))
        return false;
    *out = series->better == BETTER_HIGHER ? -*out : *out;
    return true;
}

static bool most_moved(const struct suspect *suspect)
{
    guint n_all = 0, n_moved = 0;
    const GPtrArray *states = suspect->judgement->states;
    for (guint i = 0; i < states->len; i++) {
        const struct store_state *state = states->pdata[i];
        const struct store_series *series = store_series_by_id(suspect->snapshot, state->series_id);
        double cost = 0;
        if (!series || series->machine->id != suspect->machine_id ||
            series->better == BETTER_UNKNOWN || !cost_at_center(suspect, state, series, &cost))
            continue;
        n_all++;
        n_moved += -suspect->direction * cost >= EFFECT_SHARE * suspect->effect;
    }
    return n_moved >= MACHINE_MOVE_SERIES_MIN && n_moved >= MACHINE_MOVE_SHARE * n_all;
}

/* ---- Whether the probe moved
 * ---------------------------------------------------------------------------------------------
 */

static GArray *seqs_between(const struct suspect *suspect, guint first, guint end)
{
    GArray *seqs = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint i = first; i < MIN(end, suspect->measured->len); i++)
        g_array_append_val(seqs, g_array_index(suspect->measured, struct measured, i).run_seq);
    return seqs;
}

static bool probe_moved(const struct suspect *suspect, StoreReader *reader)
{
    guint center = suspect->center;
    g_autoptr(GArray) before =
        seqs_between(suspect, center - MIN(center, MACHINE_MOVE_RUNS), center);
    g_autoptr(GArray) after = seqs_between(suspect, center, center + MACHINE_MOVE_RUNS);
    double move = machine_probe_move(reader, before, after);
    return -suspect->direction * move >= EFFECT_SHARE * suspect->effect;
}

/* ---- News
 * ---------------------------------------------------------------------------------------------
 */

/* The commit that news of this move named already, so that series that are found later are no
 * further news. */
static bool find_event(struct suspect *suspect, GError **error)
{
    struct store_page page = {.project_id = suspect->judgement->project_id, .limit = NEWS_MAX};
    g_autoptr(GPtrArray) list = store_project_news(suspect->snapshot, &page, error);
    for (guint i = 0; list && i < list->len; i++) {
        const struct store_news *news = list->pdata[i];
        if (strcmp(news->news, "environment") == 0 && news->machine_id == suspect->machine_id &&
            is_near(index_of(suspect, news->commit_id), suspect->center))
            suspect->event_commit_id = news->commit_id;
    }
    return list != NULL;
}

static bool is_news(const struct store_change_write *write, int64_t machine_id)
{
    return write->tell && write->change.status == STORE_STATUS_CONFIRMED &&
           write->change.kind == STORE_KIND_CHANGE &&
           (machine_id == 0 || write->machine_id == machine_id);
}

/* True where most series of the machine moved at one place. */
static bool find_suspect(struct suspect *suspect, GError **error)
{
    const struct store_project *project = NULL;
    for (guint i = 0; i < suspect->judgement->changes->len; i++) {
        struct store_change_write *write =
            &g_array_index(suspect->judgement->changes, struct store_change_write, i);
        const struct store_series *series = series_of(suspect, write);
        if (!series || !is_news(write, suspect->machine_id))
            continue;
        g_ptr_array_add(suspect->writes, write);
        project = series->project;
    }
    if (!project)
        return false;
    suspect->measured = find_measured(project, suspect->machine_id);
    find_center(suspect);
    keep_center(suspect);
    return suspect->writes->len > 0 && suspect->center < suspect->measured->len &&
           most_moved(suspect) && find_event(suspect, error);
}

static bool note_machine(StoreReader *reader, struct store_judgement *judgement, int64_t machine_id,
                         GError **error)
{
    GError *cause = NULL;
    StoreSnapshot *snapshot = store_snapshot_begin(reader, error);
    if (!snapshot)
        return false;
    struct suspect suspect = {.snapshot = snapshot,
                              .judgement = judgement,
                              .machine_id = machine_id,
                              .writes = g_ptr_array_new()};
    bool is_suspect = find_suspect(&suspect, &cause);
    store_snapshot_end(snapshot);
    if (is_suspect && probe_moved(&suspect, reader)) {
        for (guint i = 0; i < suspect.writes->len; i++) {
            struct store_change_write *write = suspect.writes->pdata[i];
            write->change.kind = STORE_KIND_BOUNDARY;
            write->event_commit_id = suspect.event_commit_id;
        }
    }
    suspect_clear(&suspect);
    if (cause)
        g_propagate_error(error, cause);
    return cause == NULL;
}

bool machine_move_note(StoreReader *reader, struct store_judgement *judgement, GError **error)
{
    g_autoptr(GHashTable) machines =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint i = 0; i < judgement->changes->len; i++) {
        const struct store_change_write *write =
            &g_array_index(judgement->changes, struct store_change_write, i);
        int64_t machine_id = write->machine_id;
        if (!is_news(write, 0) ||
            !g_hash_table_add(machines, g_memdup2(&machine_id, sizeof machine_id)))
            continue;
        if (!note_machine(reader, judgement, machine_id, error))
            return false;
    }
    return true;
}
