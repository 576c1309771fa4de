/* SPDX-License-Identifier: Apache-2.0
 * What the values of a line are divided by where a chart is normalised: the first one in the range,
 * or the reference of the project's page. Pure: sets `base` of data->lines; any thread. */
#pragma once

#include "server/pages/trend_data.h"

/* The median of the commits before the newest one (recent_runs.h); before columns are laid out. */
void trend_norm_reference(TrendData *data);

/* The first value in the range that is looked at; after that is found. */
void trend_norm_first(TrendData *data);

/* "first", "reference" or ""; and what an address calls it. */
const char *trend_norm_name(enum trend_norm norm);
enum trend_norm trend_norm_parse(const char *text);

/* What a share is of: "% of the first value". NULL where values are as measured. */
const char *trend_norm_label(enum trend_norm norm);
