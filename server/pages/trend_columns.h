/* SPDX-License-Identifier: Apache-2.0
 * Which commits a trend draws, and where its lines' points are among them. Where more are asked for
 * than a screen has room, only the lowest and the highest commit of each line in each stretch are
 * columns, and those at which something changed. The request's thread, inside its snapshot. */
#pragma once

#include "server/pages/trend_data.h"

/* Lays out data->columns for data->lines, whose points hold the position of their commit as column:
 * points get their columns, those outside are dropped. Finds the range that is looked at and the
 * overview. */
bool trend_columns_lay(TrendData *data, StoreSnapshot *snapshot,
                       const struct store_project *project, const struct trend_request *request,
                       GError **error);
