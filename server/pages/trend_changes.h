/* SPDX-License-Identifier: Apache-2.0
 * What was found on the lines of a trend: marks at the columns where a level moved, the levels
 * between them, and how far the lines were judged. Reads the store inside the request's snapshot;
 * only the judged branch has any. */
#pragma once

#include "server/pages/trend_data.h"

/* Fills levels and marks of data->lines, whose columns are laid out, and data->judged. */
bool trend_changes_read(TrendData *data, StoreSnapshot *snapshot,
                        const struct store_project *project, GError **error);

/* Positions of the commits at which a change of the line is drawn: guint. NULL: it could not be
 * read. */
GArray *trend_changes_positions(StoreSnapshot *snapshot, const struct trend_line *line,
                                GError **error);
