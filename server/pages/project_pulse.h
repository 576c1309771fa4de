/* SPDX-License-Identifier: Apache-2.0
 * A project in one line: the geometric mean of all levels along its last commits, and what moved
 * and waits for somebody. It is made of the changes that were found, so no history is read: between
 * two changes a level is taken to hold. The request's thread, inside its snapshot. */
#pragma once

#include "server/pages/layout.h"
#include "server/store/store_changes.h"

#define PULSE_COMMITS 200u
#define PULSE_COLUMNS 60u

typedef struct project_pulse {
    const struct store_project *project;
    GArray *moves;                /* struct store_move: all that the project has */
    guint n_commits;              /* along which it is drawn, at most PULSE_COMMITS */
    double values[PULSE_COLUMNS]; /* the mean against the first one; more is better */
    guint n_values;
    guint n_worse, n_better, n_other; /* that wait for somebody */
    const struct store_series *worst; /* of those, or NULL */
    double worst_effect;              /* relative, in the metric's own direction */
} ProjectPulse;

ProjectPulse *project_pulse_read(StoreSnapshot *snapshot, const struct store_project *project,
                                 GError **error);
void project_pulse_free(ProjectPulse *pulse);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ProjectPulse, project_pulse_free)

/* +1 better, -1 worse, 0: the metric has no direction, or the series is gone. */
int project_pulse_direction(StoreSnapshot *snapshot, const struct store_move *move);

/* The line, and in words how far the mean has come. */
void project_pulse_write(Html *html, const ProjectPulse *pulse);
/* "▼ 3 worse, by up to +18.0 % · ▲ 2 better", a link to the inbox; "none" in words. */
void project_pulse_write_waiting(Html *html, const ProjectPulse *pulse);
