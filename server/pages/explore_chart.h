/* SPDX-License-Identifier: Apache-2.0
 * A small chart of the explore page, as SVG drawn by the server, and the same as data for the
 * script, which draws it again with a cursor (web/src/explore.ts). Knows no request and no store.
 * Pure; any thread. */
#pragma once

#include "server/pages/chart.h"
#include "server/pages/explore_data.h"
#include "server/pages/quantity.h"

struct explore_frame {
    struct chart_range range;
    struct quantity_scale scale;
    guint n_columns;
};

/* What the y axis spans; `unit` of the values as they are drawn. */
struct explore_frame explore_frame_of(const struct explore_chart *chart, const ExploreData *data,
                                      const char *unit, bool from_zero);

void explore_chart_render(Html *html, const struct explore_chart *chart, const ExploreData *data,
                          const struct explore_frame *frame, const char *summary);

/* {"low":…,"high":…,"divisor":…,"lines":[{"slot":0,"column":[…],"value":[…]},…]} */
void explore_chart_json(Html *html, const struct explore_chart *chart,
                        const struct explore_frame *frame);
