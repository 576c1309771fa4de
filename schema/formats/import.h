/* SPDX-License-Identifier: Apache-2.0
 * What all foreign formats share: putting a run's results together from what a tool printed. A
 * format walks the file and says what it finds; this checks names and bounds, brings units and
 * directions to the ones we keep, merges what a tool prints several times, and remembers what it
 * had to leave out. Nothing is lost in silence: a value that is no finite number takes its metric
 * with it and leaves a warning; a result without any metric becomes an error, never a zero.
 *
 * An Import lives on the stack of the thread that parses. Texts given to it are copied. */
#pragma once

#include "schema/document.h"
#include "schema/run.h"
#include <math.h>

#define IMPORT_WARNINGS_MAX 50u
#define IMPORT_EXPANDED_MAX                                                                        \
    1000000                       /* of a whole file: a few bytes of it may stand for thousands    \
                                   */
#define IMPORT_NONE ((double)NAN) /* no number: drops its metric; an absent bound */

typedef struct import {
    Run *run;            /* results are appended; facts that the file has are filled in */
    GPtrArray *warnings; /* char * */
    Faults *faults;
    guint n_warnings;       /* found, kept or not */
    int64_t n_expanded;     /* samples that the file says by a count, not one by one */
    const struct place *at; /* where in the JSON; NULL: the whole file */
    guint line;             /* in a text, from 1; 0: not in lines */
    GPtrArray *rows;        /* struct import_result *, beside run->results */
    /* "bench\nparams" to the index in rows: jansson's hash is seeded, GLib's is not */
    json_t *by_key;
    json_t *context, *environment;
    /* What the file itself says; import_end gives it to the run where nobody has said it. */
    char *project, *machine, *branch;
    struct run_commit commit;
} Import;

/* A result that is being put together; the import's. */
struct import_result {
    struct run_result *result; /* the run's */
    json_t *info;              /* object, or NULL */
    GPtrArray *dropped;        /* char *: metrics that had a value which is no finite number */
};

/* What a value is of. `unit` is the tool's; it is normalised, and so are the values. A tool that
 * does not name what it measures leaves `name` NULL: metric_unit_noun names it. */
struct import_metric {
    const char *name, *unit;
    enum better better; /* BETTER_UNKNOWN: what the unit says */
    bool is_undirected; /* no direction, whatever the unit says */
};

/* A metric of which the tool gives no samples. `low` and `high` are IMPORT_NONE, `n` is 0 where not
 * known.
 */
struct import_summary {
    double center, low, high;
    int64_t n;
    bool is_mean;
};

void import_begin(Import *import, Run *run, GPtrArray *warnings, Faults *faults);
/* Gives what says nothing an error, fills the run's maps, says how many warnings were too many. */
void import_end(Import *import);

/* ---- What is wrong ---- */

void import_warn(Import *import, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* At import->at, or its member where that is not NULL. The file is then refused. */
void import_fault(Import *import, const char *member, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* ---- Walking JSON: import->at follows ---- */

typedef void (*import_element_fn)(Import *import, json_t *element, void *user);
typedef void (*import_member_fn)(Import *import, const char *key, json_t *value, void *user);

/* Each element of the member `key` (NULL: of `value` itself). A fault where that is no array. */
void import_each_element(Import *import, json_t *value, const char *key, import_element_fn each,
                         void *user);
void import_each_member(Import *import, json_t *value, const char *key, import_member_fn each,
                        void *user);
const char *import_text(const json_t *object, const char *key); /* NULL where it is no string */
bool import_number(const json_t *value, double *out);           /* false: no finite number */
bool import_member_number(const json_t *object, const char *key, double *out);

/* ---- Names and parameters ---- */

/* The text as a name may be: NFC, control characters are spaces, none at its ends; beyond
 * `bytes_max` it is cut and ends with a part of its hash. The caller frees it. */
char *import_tidy(const char *text, size_t bytes_max);

/* Adds a parameter to `params` (of run_params_new): a number that loses no digit is one, a name
 * that is there already becomes name_2, …. */
void import_param(GPtrArray *params, const char *name, const char *text);
/* A scalar as it is; null is "null", what is no scalar its JSON text. */
void import_param_json(GPtrArray *params, const char *name, json_t *value);
/* All members of an object; nothing where it is none. */
void import_params_json(GPtrArray *params, json_t *object);
/* A name with parameters in it, such as sort/n=1000/fast/8: segments k=v are parameters, bare
 * numbers after the first are arg0, arg1, …; the rest is the benchmark's name, which the caller
 * frees. */
char *import_split_name(const char *name, GPtrArray *params);

/* ---- Results ---- */

/* The result of (bench, params), made where it is new: what a tool repeats is one result. `params`
 * is taken and may be NULL. NULL, with a fault, where a name is not right or there are too many. */
struct import_result *import_result_take(Import *import, const char *bench, GPtrArray *params);
/* The same where there is one already, else NULL. */
struct import_result *import_result_find(Import *import, const char *bench, GPtrArray *params);

/* What the file says of the direction, unless it says that less of a rate is better: that is a
 * mistake that hides every regression, so it is said and not believed. */
enum better import_claim(Import *import, const struct import_result *row, const char *unit,
                         enum better claimed);
/* A sample. One that is not finite drops the metric with a warning: which one it was would be lost.
 */
void import_sample(Import *import, struct import_result *row, const struct import_metric *metric,
                   double value);
/* The same from JSON: a number, or a text that is one; anything else is not finite. */
void import_sample_json(Import *import, struct import_result *row,
                        const struct import_metric *metric, const json_t *value);
/* The same n times, where the file says a value and how often it was. */
void import_sample_times(Import *import, struct import_result *row,
                         const struct import_metric *metric, const json_t *value, int64_t n);
/* Each element of an array as import_sample_json. */
void import_samples_json(Import *import, struct import_result *row,
                         const struct import_metric *metric, const json_t *values);
/* A second summary of the same metric makes both centers samples. */
void import_summary(Import *import, struct import_result *row, const struct import_metric *metric,
                    const struct import_summary *summary);
/* A value recorded beside the sample that was added last. It is kept only where each sample has
 * one. */
void import_beside(struct import_result *row, const char *name, const char *unit, double value);
/* The result was not measured, or not all of it. The first message stays; without one it says so.
 */
void import_error(Import *import, struct import_result *row, const char *message);
/* A fact of the result that is no part of its identity; `value` is borrowed. What is no scalar is
 * left out, null too; of two different ones the first stays, with a warning. */
void import_info(Import *import, struct import_result *row, const char *key, const json_t *value);
/* NULL says nothing. */
void import_info_text(Import *import, struct import_result *row, const char *key, const char *text);

/* ---- The run ---- */

/* An object of the run's context, flattened: scalars as they are, lists as one text, objects in it
 * as prefix.key; what is neither is counted and warned of. */
void import_context(Import *import, const char *prefix, json_t *object);
/* NULL says nothing. */
void import_context_text(Import *import, const char *key, const char *text);
/* A fact of the machine that its environment is made of (schema/run_environment.c lists names). */
void import_environment(Import *import, const char *fact, const json_t *value);
/* Fills `*slot`: &import->project, machine, branch or commit.sha. NULL and "" say nothing. A fault
 * where the file says two, or what is no name. */
void import_fact(Import *import, char **slot, const char *what, const char *text);
void import_commit_time(Import *import, const char *text);
/* Fills run->started_ms with the earliest; RFC 3339, also with a space for the T, and UTC where no
 * offset is said. */
void import_started(Import *import, const char *text);
/* What import_end calls. */
void import_fill_facts(Import *import);
bool import_time_ms(const char *text, int64_t *out_ms, GError **error);
