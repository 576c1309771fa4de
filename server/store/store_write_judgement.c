/* SPDX-License-Identifier: Apache-2.0
 * Writes of what was found in the histories, and of what people say of it (part of store_write.h).
 * The writer thread runs it. */
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
        news.commit_id = change->bad_commit_id;
    }
    return sqlite_verdict_tell(rows, &news, error);
}

static bool set_fixed(SqliteVerdictWriter *rows, int64_t id, int64_t at_ms, GError **error)
{
    struct store_change *change = sqlite_verdict_change(rows, id, error);
    if (!change)
        return false;
    change->triage = STORE_TRIAGE_FIXED;
    change->triaged_ms = at_ms;
    struct store_change_entry entry = {.at_ms = at_ms, .triage = "fixed"};
    bool fine =
        sqlite_verdict_triage(rows, change, error) && sqlite_verdict_log(rows, id, &entry, error);
    store_change_free(change);
    return fine;
}

/* Says in its log that a change has another status than before. */
static bool log_status(SqliteVerdictWriter *rows, const struct store_change *change, int64_t at_ms,
                       GError **error)
{
    struct store_change_entry entry = {.at_ms = at_ms,
                                       .status = store_change_status_name(change->status)};
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
    return (before == change->status || log_status(rows, change, at_ms, error)) &&
           (!write->tell || tell(rows, write, at_ms, error)) &&
           (!write->set_fixed || set_fixed(rows, change->id, at_ms, error));
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
        fine = sqlite_verdict_drop_checkpoints(
            rows, g_array_index(judgement->checkpoints_dropped, int64_t, i), error);
    for (guint i = 0; i < judgement->checkpoints->len && fine; i++)
        fine = sqlite_verdict_add_checkpoint(rows, judgement->checkpoints->pdata[i], error);
    return fine;
}

bool store_write_judgement(struct store_writer *writer, struct store_write *write, GError **error)
{
    SqliteVerdictWriter *rows = writer->verdicts;
    struct store_judgement *judgement = write->judgement;
    int64_t at_ms = now_ms();
    bool fine = write_states(rows, judgement, at_ms, error);
    for (guint i = 0; i < judgement->versions->len && fine; i++)
        fine = sqlite_verdict_add_version(
            rows, &g_array_index(judgement->versions, struct store_series_version, i), error);
    for (guint i = 0; i < judgement->changes->len && fine; i++)
        fine = write_change(rows, &g_array_index(judgement->changes, struct store_change_write, i),
                            at_ms, error);
    for (guint i = 0; i < judgement->rejudged->len && fine; i++)
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
    if (said->has_triage)
        change->triage = said->triage;
    if (said->note) {
        g_free(change->note);
        change->note = *said->note ? g_strdup(said->note) : NULL;
    }
    g_free(change->who);
    change->who = g_strdup(said->who);
    change->triaged_ms = at_ms;
}

bool store_write_triage(struct store_writer *writer, struct store_write *write, GError **error)
{
    const struct store_triage_write *said = write->triage;
    struct store_change *change = sqlite_verdict_change(writer->verdicts, said->change_id, error);
    if (!change)
        return false;
    enum store_triage before = change->triage;
    int64_t at_ms = now_ms();
    apply(change, said, at_ms);
    struct store_change_entry entry = {.at_ms = at_ms,
                                       .who = said->who,
                                       .triage = said->has_triage ? store_triage_name(said->triage)
                                                                  : NULL,
                                       .note = said->note};
    bool fine = sqlite_verdict_triage(writer->verdicts, change, error) &&
                sqlite_verdict_log(writer->verdicts, change->id, &entry, error);
    if (fine && before != change->triage &&
        (moves_detector(before) || moves_detector(change->triage)))
        fine = sqlite_verdict_add_rejudge(writer->verdicts, change->series_id, error);
    if (fine) {
        staging_touch(&writer->staging, change->project_id);
        write->receipt.outcome = STORE_UPDATED;
    }
    store_change_free(change);
    return fine;
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
