/* SPDX-License-Identifier: Apache-2.0
 * A point as one flat row that needs no other to be understood: what a table, a spreadsheet or a
 * data source of Grafana takes. Knows no request; one thread at a time. */
#pragma once

#include "server/analysis/commit_points.h"
#include "server/api/api_write.h"

struct point_row { /* all borrowed from a snapshot, but the point */
    const struct store_series *series;
    const struct store_commit *commit;
    struct commit_point point;
};

extern const char *const point_row_names[]; /* of the members and columns, NULL-terminated */

/* An object with all members; all are texts, numbers, booleans or null. */
void point_row_write_json(struct json_writer *writer, const struct point_row *row);
/* A whole row. */
void point_row_write_csv(struct csv_writer *writer, const struct point_row *row);

/* In which direction a bound is beyond its value; NULL for a number. */
const char *point_row_censored(int censored);
