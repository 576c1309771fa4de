/* SPDX-License-Identifier: Apache-2.0
 * See project_pulse.h. */
#include "server/pages/project_pulse.h"

#include "server/pages/chart_spark.h"
#include "server/pages/link.h"

#include <math.h>

#define MOVES_MAX 100000u /* of a project that are looked at */

void project_pulse_free(ProjectPulse *pulse)
{
    if (!pulse)
        return;
    if (pulse->moves)
        g_array_unref(pulse->moves);
    g_free(pulse);
}

static int direction_of(const struct store_series *series, double effect)
{
    if (!series || series->better == BETTER_UNKNOWN)
        return 0;
    return (effect > 0) == (series->better == BETTER_HIGHER) ? 1 : -1;
}

int project_pulse_direction(StoreSnapshot *snapshot, const struct store_move *move)
{
    return direction_of(store_series_by_id(snapshot, move->series_id), move->effect);
}

static double size_of(double effect)
{
    return fabs(log1p(fmax(effect, -0.999)));
}

static void count_waiting(ProjectPulse *pulse, const struct store_series *series,
                          const struct store_move *move)
{
    int direction = direction_of(series, move->effect);
    pulse->n_worse += direction < 0 ? 1 : 0;
    pulse->n_better += direction > 0 ? 1 : 0;
    pulse->n_other += direction == 0 ? 1 : 0;
    if (direction < 0 && (!pulse->worst || size_of(move->effect) > size_of(pulse->worst_effect))) {
        pulse->worst = series;
        pulse->worst_effect = move->effect;
    }
}

static guint n_directed(const struct store_project *project)
{
    guint n = 0;
    for (guint i = 0; i < project->series->len; i++)
        n += ((const struct store_series *)project->series->pdata[i])->better != BETTER_UNKNOWN;
    return n;
}

/* What each column adds to the logarithm of the mean: a machine's own move is none of the
 * project's. */
static void add_move(ProjectPulse *pulse, StoreSnapshot *snapshot, const struct store_move *move,
                     double *steps)
{
    const struct store_commit *bad = store_commit_by_id(snapshot, move->bad_commit_id);
    guint first = pulse->project->commits->len - pulse->n_commits;
    int direction = project_pulse_direction(snapshot, move);
    if (!bad || bad->position < first || direction == 0 || move->is_boundary)
        return;
    guint column = (guint)((guint64)(bad->position - first) * pulse->n_values / pulse->n_commits);
    steps[MIN(column, pulse->n_values - 1)] += direction * size_of(move->effect);
}

static void draw(ProjectPulse *pulse, StoreSnapshot *snapshot)
{
    double steps[PULSE_COLUMNS] = {0}, sum = 0;
    guint n_series = n_directed(pulse->project);
    pulse->n_commits = MIN(pulse->project->commits->len, PULSE_COMMITS);
    pulse->n_values = MIN(pulse->n_commits, PULSE_COLUMNS);
    if (n_series == 0 || pulse->n_values == 0) {
        pulse->n_values = 0;
        return;
    }
    for (guint i = 0; i < pulse->moves->len; i++)
        add_move(pulse, snapshot, &g_array_index(pulse->moves, struct store_move, i), steps);
    for (guint i = 0; i < pulse->n_values; i++) {
        sum += steps[i] / n_series;
        pulse->values[i] = exp(sum);
    }
}

ProjectPulse *project_pulse_read(StoreSnapshot *snapshot, const struct store_project *project,
                                 GError **error)
{
    g_autoptr(ProjectPulse) pulse = g_new0(ProjectPulse, 1);
    pulse->project = project;
    pulse->moves = store_project_moves(snapshot, project->id, MOVES_MAX, error);
    if (!pulse->moves)
        return NULL;
    for (guint i = 0; i < pulse->moves->len; i++) {
        const struct store_move *move = &g_array_index(pulse->moves, struct store_move, i);
        const struct store_series *series = store_series_by_id(snapshot, move->series_id);
        if (move->waits && series && !series->rule.muted)
            count_waiting(pulse, series, move);
    }
    draw(pulse, snapshot);
    return g_steal_pointer(&pulse);
}

/* ---- Writing --------------------------------------------------------------------------------- */

void project_pulse_write(Html *html, const ProjectPulse *pulse)
{
    static const double start = 1;
    if (pulse->n_values == 0) {
        html_literal(html, "<span class=\"none\">no data</span>");
        return;
    }
    double ratio = pulse->values[pulse->n_values - 1] - 1;
    char text[QUANTITY_TEXT_BYTES];
    quantity_ratio(fabs(ratio), text);
    bool is_level = fabs(ratio) < 5e-5;
    g_autofree char *words = is_level ? g_strdup("unchanged")
                                      : g_strdup_printf("%s %s", text + (*text == '+' ? 1 : 0),
                                                        ratio > 0 ? "better" : "worse");
    g_autofree char *label = g_strdup_printf(
        "Geometric mean of all levels over the last %u commits: %s", pulse->n_commits, words);
    const struct chart_spark spark = {pulse->values, pulse->n_values, label, G_MAXUINT, &start};
    html_literal(html, "<span class=\"pulse\">");
    chart_spark_write(html, &spark);
    html_print(html, " <span class=\"n\">%s over %u %s</span></span>", words, pulse->n_commits,
               pulse->n_commits == 1 ? "commit" : "commits");
}

void project_pulse_write_waiting(Html *html, const ProjectPulse *pulse)
{
    g_autofree char *url = link_changes(pulse->project->name);
    char effect[QUANTITY_TEXT_BYTES];
    html_literal(html, "<a");
    html_url(html, "href", url);
    html_literal(html, ">");
    if (pulse->n_worse + pulse->n_better + pulse->n_other == 0)
        html_literal(html, "none");
    if (pulse->n_worse > 0)
        html_print(html, "<span class=\"tag worse\">▼ %u worse</span> ", pulse->n_worse);
    if (pulse->n_better > 0)
        html_print(html, "<span class=\"tag better\">▲ %u better</span> ", pulse->n_better);
    if (pulse->n_other > 0)
        html_print(html, "<span class=\"tag\">%u moved</span>", pulse->n_other);
    html_literal(html, "</a>");
    if (!pulse->worst)
        return;
    quantity_ratio(pulse->worst_effect, effect);
    html_print(html, "<span class=\"sub\">worst: %s %s by %s</span>", pulse->worst->benchmark->name,
               pulse->worst->metric, effect);
}
