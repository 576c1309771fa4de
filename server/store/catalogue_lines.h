/* SPDX-License-Identifier: Apache-2.0
 * Which series are shown as one line. Each series keeps the names under which it was posted; rules
 * (a benchmark or machine that stands for another, a parameter's value that does, parameter
 * defaults) say under which names it is shown. Series whose shown names are the same, or other than
 * their own, make up a joined series: a line with an id of its own, so that what is found in it
 * never touches what is kept of its parts, and a rule that is taken back leaves no trace.
 *
 * Pure but for the catalogue it is given. The writer thread builds plans without a lock and applies
 * them under the write lock. */
#pragma once

#include "server/store/catalogue.h"

/* The rules as they will be: those of the catalogue, but for what is set here. */
struct line_rules {
    const Catalogue *catalogue;
    const struct catalogue_project *project; /* of `benchmark` and `values`; NULL: nothing is set */
    /* The name that is given another target (NULL: none any more), where it is not NULL. */
    const char *benchmark, *machine;
    const struct store_benchmark *benchmark_target;
    struct store_machine *machine_target;
    GHashTable *values; /* instead of project->value_aliases, where it is not NULL */
};

struct store_benchmark *line_benchmark(const struct line_rules *rules,
                                       const struct store_benchmark *benchmark);
struct store_machine *line_machine(const struct line_rules *rules, struct store_machine *machine);

/* The parameters of a case as its line has them: canonical text, the caller's. */
char *line_params_text(const struct line_rules *rules, const struct store_benchmark *benchmark,
                       const GPtrArray *params);

/* The value that a parameter's value stands for; itself where no rule is. */
const char *line_value(const struct line_rules *rules, const struct store_benchmark *benchmark,
                       const char *param, const char *value);

/* Keys of tables of value aliases: the caller frees it. */
char *line_value_key(const char *bench, const char *param, const char *value);

/* Under which a joined series is found in catalogue->joined_by_key; the caller frees it. */
char *line_series_key(const struct store_series *series);

/* ---- Plans */

struct line_names { /* under which a line is shown */
    struct store_benchmark *benchmark;
    struct store_machine *machine;
    const char *params_text; /* canonical JSON */
    const char *metric, *unit;
};
struct line_group {                /* the series of one joined line */
    struct line_names names;       /* owns its params_text, the rest is of the first part */
    GPtrArray *parts;              /* struct catalogue_series *, by id */
    struct catalogue_series *line; /* the joined series; NULL: it is to be made */
};
struct line_plan {
    const struct catalogue_project *project; /* NULL: all */
    GPtrArray *groups;                       /* struct line_group * */
};

struct line_plan *line_plan_new(const struct line_rules *rules,
                                const struct catalogue_project *project);
void line_plan_free(struct line_plan *plan);
typedef struct line_plan LinePlan;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LinePlan, line_plan_free)

/* Under the write lock: shows what the plan says. The groups have their lines. */
void line_plan_apply(Catalogue *catalogue, const struct line_plan *plan);

/* After loading: shows the lines that are stored; what has none yet sets catalogue->lines_moved. */
void line_plan_restore(Catalogue *catalogue);

/* A joined series that belongs to no list yet. */
struct catalogue_series *line_series_new(int64_t id, const struct line_names *names);

/* Whether a series that was just added is shown under other names, or with others: then a plan is
 * to be made. */
bool line_is_affected(const Catalogue *catalogue, const struct catalogue_series *series);
