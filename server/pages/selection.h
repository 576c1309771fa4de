/* SPDX-License-Identifier: Apache-2.0
 * Which series of a benchmark a page draws: the metric, and for the machine and each parameter the
 * values chosen. What the address does not say is chosen by rule: the metric by rank, the parameter
 * with the most values becomes the lines, every other keeps the one value that has the most series.
 * Works on the catalogue inside a snapshot; no I/O. */
#pragma once

#include "server/http/http.h"
#include "server/store/store.h"

#define SELECTION_LINES_MAX  32u /* drawn at once; further ones are counted and said */
#define SELECTION_FACETS_MAX 24u /* parameters to choose by: those that most series have */

struct facet_value {
    const char *text; /* "" : series without the parameter */
    guint n_series;   /* of the metric, before the choice */
    bool is_chosen;
    bool is_reachable; /* a series has it together with what the other facets chose */
};

struct facet {
    char *name;        /* of the parameter; "machine" for the machine */
    char *query_name;  /* "param.threads", "machine" */
    GArray *values;    /* struct facet_value: numbers by size, else bytewise, "" first */
    GHashTable *index; /* the text of a value -> its place in `values`, and one */
    bool is_explicit;  /* chosen by the address */
};

struct selection {
    GPtrArray
        *metrics; /* struct store_series *: the first of each (metric, unit), best rank first */
    const struct store_series *metric; /* of metrics; NULL where the benchmark has no series */
    GPtrArray *facets; /* struct facet *: machine first, then parameters by name; at most
                          SELECTION_FACETS_MAX of them */
    GPtrArray *series; /* struct store_series *: chosen, in the order of the facets' values; at most
                          SELECTION_LINES_MAX */
    guint n_series_chosen; /* before that maximum */
};
typedef struct selection Selection;

/* `pairs`: struct http_pair * of the address; NULL for none (the default selection). */
Selection *selection_new(const struct store_benchmark *benchmark, const GPtrArray *pairs);
void selection_free(Selection *selection);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Selection, selection_free)

/* The value that a series has for a facet; "" where it has none. */
const char *selection_series_value(const struct facet *facet, const struct store_series *series);

/* The parts in which the chosen series differ ("threads 4"); of a single one all its parts. The
 * caller frees it. */
char *selection_line_name(const Selection *selection, const struct store_series *series);

/* The parts that all chosen series share: "executor fifo · task_cost 1000". "" where there is none.
 */
char *selection_common_name(const Selection *selection);

/* A number for the look of a line that stays with the series whatever else is chosen beside it,
 * unless two of one chart meet. */
guint selection_series_slot(const Selection *selection, const struct store_series *series);

/* How a metric is named in the address: its name, with its unit behind a bar where two share the
 * name. */
char *selection_metric_key(const Selection *selection, const struct store_series *metric);

/* The order of metrics as they are preferred where none is asked for; 0: the same name and unit. */
int selection_compare_metrics(const struct store_series *a, const struct store_series *b);
