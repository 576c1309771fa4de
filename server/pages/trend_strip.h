/* SPDX-License-Identifier: Apache-2.0
 * The overview below a trend's chart: all of the branch's history in a few hundred buckets, each
 * with the lowest and highest value of each line; what the chart shows of it is marked. The script
 * makes it a brush (web/src/strip.ts). The request's thread. */
#pragma once

#include "server/pages/trend_view.h"

void trend_strip_init(struct trend_strip *strip);
void trend_strip_clear(struct trend_strip *strip);

/* Fills data->strip while the points of data->lines hold their commits' positions. `flags`: not 0
 * for the commits that have a place; `places` by position. */
void trend_strip_read(TrendData *data, const struct store_project *project, const guint8 *flags,
                      const guint *places);

/* Nothing where the strip is empty. */
void trend_strip_write(Html *html, const struct trend_view *view);
/* {"first":place,"sha":["12 digits of each bucket's first commit", …]}, or null; no shas where all
 * commits are columns. */
void trend_strip_json(Html *html, const TrendData *data);
