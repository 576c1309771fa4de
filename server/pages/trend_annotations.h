/* SPDX-License-Identifier: Apache-2.0
 * Annotations of a trend: which of them its columns show, their list beside the chart, and their
 * data for the script. The request's thread, inside its snapshot. */
#pragma once

#include "server/pages/trend_view.h"

/* Fills data->annotations, whose columns are laid out: what is said of the selection's benchmark
 * and of a machine of its lines, oldest column first. */
void trend_annotations_read(TrendData *data, StoreSnapshot *snapshot,
                            const struct store_project *project, const Selection *selection);

/* The columns of an annotation's commits; false: it has none. `positions` are the columns'
 * commits', ascending. With `gaps` there are commits between the columns, and those have the next
 * column. */
bool trend_annotations_columns(const struct store_annotation *annotation, const GArray *positions,
                               bool gaps, guint *out_first, guint *out_last);

/* Their list, and forms to add one and to remove one (page_annotations.c takes what they send). */
void trend_annotations_write(Html *html, const struct trend_view *view);
/* [[first column, last column, number, "text"], …] */
void trend_annotations_json(Html *html, const TrendData *data);

/* "of ThreadPoolSpawn on ci-7, by A. Author, " and the time. */
void trend_annotations_facts(Html *html, const struct store_annotation *annotation);
