/* SPDX-License-Identifier: Apache-2.0
 * Writes of what was found in the histories, and of what people say of it (part of store_write.h).
 * The writer thread runs it. */
#include "schema/expectation.h"
#include "server/store/sqlite_verdict.h"
#include "server/store/store_write.h"

static int64_t now_ms(void)
{
    return g_get_real_time() / 1000;
}

/* ---- A judgement
 * -----------------------------------------------------------------------------------------------
 */

static bool tell(SqliteVerdictWriter *rows, const struct store_change_write *write, int64_t at_ms,
                 GError **error)
{
    const struct store_change *change = &write->change;
    struct sqlite_news news = {.news = store_change_status_name(change->status),
                               .change_id = change->id,
                               .project_id = change->project_id,
                               .machine_id = write->machine_id,
                               .at_ms = at_ms};
    /* A moved environment is one piece of news, however many series it moves. */
    if (change->kind == STORE_KIND_BOUNDARY) {
        news.news = "environment";
        news.change_id = 0;
        news.commit_id =
            write->event_commit_id != 0 ? write->event_commit_id : change->bad_commit_id;
    }
    return sqlite_verdict_tell(rows, &news, error);
}

/* A triage that no people gave: the level returned, or what the commit expects. */
static bool set_triage(SqliteVerdictWriter *rows, const struct store_change *now, int64_t at_ms,
                       GError **error)
{
    struct store_change *change = sqlite_verdict_change(rows, now->id, error);
    if (!change)
        return false;
    change->triage = now->triage;
    change->triaged_ms = at_ms;
    g_autofree char *note =
        now->triage == STORE_TRIAGE_EXPECTED
            ? g_strdup_printf(EXPECTATION_TRAILER ": %s", now->expectation)
        : now->triage == STORE_TRIAGE_OPEN
            ? g_strdup_printf("larger than its commit expects (" EXPECTATION_TRAILER ": %s)",
                              now->expectation)
            : NULL;
    struct store_change_entry entry = {
        .at_ms = at_ms, .triage = store_triage_name(now->triage), .note = note};
    bool fine = sqlite_verdict_triage(rows, change, error) &&
                sqlite_verdict_log(rows, now->id, &entry, error);
    store_change_free(change);
    return fine;
}

/* Says in its log that a change has another status than before. */
static bool log_status(SqliteVerdictWriter *rows, const struct store_change *change, int64_t at_ms,
                       GError **error)
{
    struct store_change_entry entry = {.at_ms = at_ms,
                                       .status = store_change_status_name(change->status),
                                       .note = change->by_rule ? "by a rule that was saved, not by "
                                                                 "data"
                                                               : NULL};
    return sqlite_verdict_log(rows, change->id, &entry, error);
}

static bool write_change(SqliteVerdictWriter *rows, struct store_change_write *write, int64_t at_ms,
                         GError **error)
{
    struct store_change *change = &write->change;
    enum store_change_status before = STORE_STATUS_CANDIDATE;
    if (write->tell && change->status == STORE_STATUS_CONFIRMED)
        change->told_ms = at_ms;
    if (write->action == STORE_CHANGE_DROP)
        return sqlite_verdict_drop_change(rows, change->id, error);
    if (write->action == STORE_CHANGE_ADD) {
        change->found_ms = at_ms;
        if (!sqlite_verdict_add_change(rows, change, error))
            return false;
    } else {
        struct store_change *known = sqlite_verdict_change(rows, change->id, error);
        if (!known)
            return false;
        before = known->status;
        store_change_free(known);
        if (!sqlite_verdict_update_change(rows, change, error))
            return false;
    }
    return sqlite_verdict_set_basis(rows, change, error) &&
           (before == change->status || log_status(rows, change, at_ms, error)) &&
           (!write->tell || tell(rows, write, at_ms, error)) &&
           (!write->sets_triage || set_triage(rows, change, at_ms, error));
}

static bool write_states(SqliteVerdictWriter *rows, struct store_judgement *judgement,
                         int64_t at_ms, GError **error)
{
    bool fine = true;
    for (guint i = 0; i < judgement->levels->len && fine; i++) {
        struct store_level *level = &g_array_index(judgement->levels, struct store_level, i);
        level->judged_ms = at_ms;
        fine = sqlite_verdict_set_level(rows, level, error);
    }
    for (guint i = 0; i < judgement->states->len && fine; i++)
        fine = sqlite_verdict_set_state(rows, judgement->states->pdata[i], error);
    for (guint i = 0; i < judgement->forgotten->len && fine; i++)
        fine = sqlite_verdict_forget(rows, g_array_index(judgement->forgotten, int64_t, i), error);
    for (guint i = 0; i < judgement->checkpoints_dropped->len && fine; i++)
        fine = sqlite_verdict_drop_checkpoint(
            rows, &g_array_index(judgement->checkpoints_dropped, struct store_checkpoint_key, i),
            error);
    for (guint i = 0; i < judgement->checkpoints->len && fine; i++)
        fine = sqlite_verdict_add_checkpoint(rows, judgement->checkpoints->pdata[i], error);
    return fine;
}

static bool write_segments(SqliteVerdictWriter *rows, const struct store_judgement *judgement,
                           GError **error)
{
    bool fine = true;
    for (guint i = 0; i < judgement->segments_dropped->len && fine; i++)
        fine = sqlite_verdict_drop_segments(
            rows, g_array_index(judgement->segments_dropped, int64_t, i), error);
    for (guint i = 0; i < judgement->segments->len && fine; i++)
        fine = sqlite_verdict_add_segment(
            rows, &g_array_index(judgement->segments, struct store_segment, i), error);
    return fine;
}

bool store_write_judgement(struct store_writer *writer, struct store_write *write, GError **error)
{
    SqliteVerdictWriter *rows = writer->verdicts;
    struct store_judgement *judgement = write->judgement;
    int64_t at_ms = now_ms();
    bool fine =
        write_states(rows, judgement, at_ms, error) && write_segments(rows, judgement, error);
    for (guint i = 0; i < judgement->versions->len && fine; i++)
        fine = sqlite_verdict_add_version(
            rows, &g_array_index(judgement->versions, struct store_series_version, i), error);
    for (guint i = 0; i < judgement->changes->len && fine; i++)
        fine = write_change(rows, &g_array_index(judgement->changes, struct store_change_write, i),
                            at_ms, error);
    bool is_current = judgement->rules_version == writer->catalogue->rules_version;
    for (guint i = 0; i < judgement->rejudged->len && fine && is_current; i++)
        fine = sqlite_verdict_drop_rejudge(rows, g_array_index(judgement->rejudged, int64_t, i),
                                           error);
    if (fine && judgement->run_seq > 0)
        fine = sqlite_verdict_dequeue(rows, judgement->run_seq, error);
    if (!fine)
        return false;
    staging_touch(&writer->staging, judgement->project_id);
    write->receipt.outcome = STORE_UPDATED;
    return true;
}

/* ---- Triage
 * ----------------------------------------------------------------------------------------------------
 */

/* What the detector must know of: a level that people expect, or noise. */
static bool moves_detector(enum store_triage triage)
{
    return triage == STORE_TRIAGE_EXPECTED || triage == STORE_TRIAGE_NOISE;
}

static void apply(struct store_change *change, const struct store_triage_write *said, int64_t at_ms)
{
    if (said->has_triage) {
        change->triage = said->triage;
        change->in_advance = false;
    }
    if (said->note) {
        g_free(change->note);
        change->note = *said->note ? g_strdup(said->note) : NULL;
    }
    g_free(change->who);
    change->who = g_strdup(said->who);
    change->triaged_ms = at_ms;
}

/* What the detector was told of the change before and after. */
static enum store_triage told_to_detector(const struct store_change *change)
{
    return change->in_advance || !moves_detector(change->triage) ? STORE_TRIAGE_OPEN
                                                                 : change->triage;
}

static bool write_said(struct store_writer *writer, const struct store_triage_write *said,
                       struct store_change *change, GError **error)
{
    SqliteVerdictWriter *rows = writer->verdicts;
    enum store_triage before = told_to_detector(change);
    int64_t at_ms = now_ms();
    apply(change, said, at_ms);
    struct store_change_entry entry = {.at_ms = at_ms,
                                       .who = said->who,
                                       .triage = said->has_triage ? store_triage_name(said->triage)
                                                                  : NULL,
                                       .note = said->note};
    if (!sqlite_verdict_triage(rows, change, error) ||
        !sqlite_verdict_set_basis(rows, change, error) ||
        !sqlite_verdict_log(rows, change->id, &entry, error))
        return false;
    staging_touch(&writer->staging, change->project_id);
    return before == told_to_detector(change) ||
           sqlite_verdict_add_rejudge(rows, change->series_id, error);
}

static void free_change(gpointer change)
{
    store_change_free(change);
}

bool store_write_triage(struct store_writer *writer, struct store_write *write, GError **error)
{
    const struct store_triage_write *said = write->triage;
    g_autoptr(GPtrArray) changes = g_ptr_array_new_with_free_func(free_change);
    for (guint i = 0; i < said->change_ids->len; i++) { /* all are there before any is written */
        int64_t id = g_array_index(said->change_ids, int64_t, i);
        struct store_change *change = store_write_shown_change(writer, id, &id, error)
                                          ? sqlite_verdict_change(writer->verdicts, id, error)
                                          : NULL;
        if (!change)
            return false;
        g_ptr_array_add(changes, change);
    }
    for (guint i = 0; i < changes->len; i++)
        if (!write_said(writer, said, changes->pdata[i], error))
            return false;
    write->receipt.outcome = STORE_UPDATED;
    return true;
}

bool store_write_rejudge(struct store_writer *writer, const struct catalogue_project *project,
                         GError **error)
{
    for (guint i = 0; i < project->pub.series->len; i++) {
        const struct store_series *series = project->pub.series->pdata[i];
        if (series->n_points > 0 &&
            !sqlite_verdict_add_rejudge(writer->verdicts, series->id, error))
            return false;
    }
    return true;
}
