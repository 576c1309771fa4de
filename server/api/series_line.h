/* SPDX-License-Identifier: Apache-2.0
 * The line of a series: one point for each commit, within what a request asks for (from, to,
 * branch, buckets). One thread at a time; reads the store through the snapshot it is given. */
#pragma once

#include "server/analysis/commit_points.h"
#include "server/http/http.h"
#include "server/store/store.h"

/* An end of a range: a commit, or a moment. 12 to 14 digits may be either: they are the commit
 * that they name, else milliseconds since 1970, as Grafana's ${__from} gives them. */
struct line_bound {
    char *sha; /* its first 7 digits or more, in lower case; or NULL */
    bool has_time;
    int64_t time_ms;
};

struct line_query {
    struct line_bound from, to; /* both inclusive; neither sha nor time: open */
    GPtrArray *branches;        /* char *; NULL: any */
    int64_t n_buckets;          /* 0: all points */
};

/* ERROR_SYNTAX that names the parameter. To be cleared in every case. */
bool line_query_parse(const HttpRequest *request, struct line_query *query, GError **error);
void line_query_clear(struct line_query *query);

/* The same among a project's commits. */
struct line_range {
    guint first, last;      /* positions, inclusive */
    int64_t from_ms, to_ms; /* of the commits' times, inclusive */
};

/* ERROR_SYNTAX where a sha names no commit of the project, or the range ends before it begins. */
bool line_query_resolve(const struct line_query *query, const struct store_project *project,
                        struct line_range *out, GError **error);

/* Array of struct commit_point in commit order, borrowing from the snapshot; NULL: the store could
 * not be read. */
GArray *series_line_read(StoreSnapshot *snapshot, const struct store_series *series,
                         const struct line_query *query, const struct line_range *range,
                         GError **error);
