/* SPDX-License-Identifier: Apache-2.0
 * /badge/{project}.svg: how many series got slower and wait for somebody. /badge/{project}/
 * {bench}.svg: the latest change of a benchmark. Pictures for a README or a wiki: no script, no
 * font, revalidated by ETag. A worker thread. */
#include "server/pages/badge.h"
#include "server/pages/judged_note.h"
#include "server/pages/page_names.h"
#include "server/pages/project_pulse.h"
#include "server/routes.h"

#include <math.h>

#define MOVES_MAX 100000u /* of a project that are looked at */

struct said {
    char *text;
    enum badge_tone tone;
};

static struct said steady(const JudgedNote *note)
{
    return note->n_judged > 0 ? (struct said){g_strdup("steady"), BADGE_STEADY}
                              : (struct said){g_strdup("not judged"), BADGE_UNKNOWN};
}

static bool say_project(StoreSnapshot *snapshot, const struct store_project *project,
                        struct said *out, GError **error)
{
    JudgedNote note;
    g_autoptr(ProjectPulse) pulse = project_pulse_read(snapshot, project, error);
    if (!pulse || !judged_note_read(snapshot, project->series, &note, error))
        return false;
    *out = pulse->n_worse > 0
               ? (struct said){g_strdup_printf("%u slower", pulse->n_worse), BADGE_WORSE}
               : steady(&note);
    return true;
}

struct latest {
    const struct store_commit *commit;
    double effect;
    int direction;
};

static void take_move(struct latest *latest, StoreSnapshot *snapshot,
                      const struct store_benchmark *benchmark, const struct store_move *move)
{
    const struct store_series *series = store_series_by_id(snapshot, move->series_id);
    const struct store_commit *commit = store_commit_by_id(snapshot, move->bad_commit_id);
    int direction = project_pulse_direction(snapshot, move);
    if (!series || !commit || series->benchmark != benchmark || direction == 0 ||
        move->is_boundary || series->rule.muted)
        return;
    bool is_later = !latest->commit || commit->position > latest->commit->position ||
                    (commit == latest->commit && fabs(move->effect) > fabs(latest->effect));
    if (is_later)
        *latest = (struct latest){commit, move->effect, direction};
}

static bool say_benchmark(StoreSnapshot *snapshot, const struct store_benchmark *benchmark,
                          struct said *out, GError **error)
{
    JudgedNote note;
    struct latest latest = {.commit = NULL};
    g_autoptr(GArray) moves =
        store_project_moves(snapshot, benchmark->project->id, MOVES_MAX, error);
    if (!moves || !judged_note_read(snapshot, benchmark->series, &note, error))
        return false;
    for (guint i = 0; i < moves->len; i++)
        take_move(&latest, snapshot, benchmark, &g_array_index(moves, struct store_move, i));
    if (!latest.commit) {
        *out = steady(&note);
        return true;
    }
    char effect[QUANTITY_TEXT_BYTES];
    quantity_ratio(latest.effect, effect);
    bool is_worse = latest.direction < 0;
    *out = (struct said){g_strdup_printf("%s: %s at %.7s", is_worse ? "slower" : "faster", effect,
                                         latest.commit->sha),
                         is_worse ? BADGE_WORSE : BADGE_BETTER};
    return true;
}

/* Of the project as a whole where `benchmark` is NULL. */
static void answer(HttpRequest *request, StoreSnapshot *snapshot,
                   const struct store_project *project, const struct store_benchmark *benchmark)
{
    http_response_embeddable(request, NULL);
    if (http_not_modified(request, store_version(snapshot, project), HTTP_SVG))
        return;
    g_autoptr(GError) error = NULL;
    struct said said = {NULL, BADGE_UNKNOWN};
    if (benchmark ? say_benchmark(snapshot, benchmark, &said, &error)
                  : say_project(snapshot, project, &said, &error)) {
        Html *html = html_new();
        badge_write(html, benchmark ? benchmark->name : project->name, said.text, said.tone);
        http_respond(request, 200, HTTP_SVG, html_finish(html));
    } else {
        http_respond_error(request, error, NULL);
    }
    g_free(said.text);
}

void page_badge(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    if (project)
        answer(request, snapshot, project, NULL);
}

void page_badge_bench(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    const struct store_benchmark *benchmark =
        project ? page_find_benchmark(request, project) : NULL;
    if (benchmark)
        answer(request, snapshot, project, benchmark);
}
