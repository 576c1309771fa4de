/* SPDX-License-Identifier: Apache-2.0
 * What a project's rules say of each of its series, kept with the series: its settings, and the
 * direction that readers see. Under the write lock, or before readers exist; resolving alone needs
 * no lock of the writer. */
#pragma once

#include "server/store/catalogue.h"

/* Gives a series the settings that its project's rules say: where it is added, where its metric
 * told its direction, and where its names changed. */
void catalogue_rules_apply(struct catalogue_series *series);

/* What `rules` say of each series of a project, in the order of project->pub.series: array of
 * struct rule_settings. The writer, without a lock: it changes nothing. */
GArray *catalogue_rules_resolve(const struct catalogue_project *project, const GPtrArray *rules);

/* Replaces a project's rules (taken; NULL: none), and each series' settings by those that were
 * resolved for them. */
void catalogue_rules_replace(Catalogue *catalogue, struct catalogue_project *project,
                             GPtrArray *rules, const GArray *resolved);
