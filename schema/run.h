/* SPDX-License-Identifier: Apache-2.0
 * The run document `breakeven.run/1` as a C structure: what one execution at one commit on one
 * machine measured. The codec parses, validates with every fault found, and prints canonically; two
 * documents that mean the same print the same bytes. Open maps whose content nobody interprets
 * (context, environment, info, trailers, source) are kept as canonical JSON text (sorted keys, no
 * spaces), so that only the codec knows the JSON library. Everything here is plain data: no thread
 * of its own, no I/O, no clock. Strings are owned by the structure. */
#pragma once

#include "schema/error.h"
#include "schema/fault.h"
#include <stdbool.h>
#include <stdint.h>

#define RUN_SCHEMA             "breakeven.run/1"
#define RUN_BODY_BYTES_MAX     (16u << 20) /* after decompression */
#define RUN_RESULTS_MAX        20000u
#define RUN_SAMPLES_MAX        10000u /* in one metric */
#define RUN_METRICS_MAX        64u    /* in one result */
#define RUN_PARAMS_MAX         64u    /* in one result */
#define RUN_BESIDE_MAX         64u    /* in one result */
#define RUN_FLAGS_MAX          32u    /* in one result */
#define RUN_HISTORY_MAX        10000u /* commits before the run's own */
#define RUN_PARENTS_MAX        64u
#define RUN_BUCKETS_MAX        16384u /* in one histogram */
#define RUN_MAP_MAX            256u   /* entries of context, environment, info, trailers */
#define RUN_BENCH_BYTES_MAX    1024u
#define RUN_NAME_BYTES_MAX     256u
#define RUN_TEXT_BYTES_MAX     4096u /* error messages, subjects (longer ones are faults) */
#define RUN_TOPOLOGY_BYTES_MAX (1u << 20)

enum better { BETTER_UNKNOWN, BETTER_HIGHER, BETTER_LOWER };
const char *better_name(enum better better); /* NULL for BETTER_UNKNOWN */

struct run_param {
    char *name;
    char *value; /* canonical text: a number is its shortest decimal, a boolean true or false; a
                    string stays as it is */
};

struct run_commit {
    char *sha;      /* 40 or 64 lower-case hex digits */
    char **parents; /* NULL: not known. An empty vector: a root commit */
    bool has_time;
    int64_t time_s;      /* committer date, seconds since 1970 UTC */
    char *author;        /* or NULL */
    char *subject;       /* or NULL */
    char *trailers_json; /* {"Name":["value",…]} or NULL */
    bool is_bound;       /* not of the document: told by one who speaks for another branch than the
                            default one only, so that it gives way to the word of others */
};

enum metric_kind { METRIC_SAMPLES, METRIC_SUMMARY, METRIC_HISTOGRAM, METRIC_CENSORED };

struct run_bucket {
    double low, high; /* low <= value < high, in the metric's unit */
    int64_t count;
};

struct run_metric {
    char *name;
    char *unit; /* "" where there is none */
    enum better better;
    enum metric_kind kind;
    double *samples; /* METRIC_SAMPLES: n_samples finite numbers in the order measured */
    uint32_t n_samples;
    struct {
        double center, low, high;
        bool has_low, has_high, has_n, is_mean; /* is_mean: kind "mean", else "median" */
        int64_t n;
    } summary; /* METRIC_SUMMARY */
    struct {
        double error_ratio; /* relative width of a bucket */
        struct run_bucket *buckets;
        uint32_t n_buckets;
    } histogram; /* METRIC_HISTOGRAM: {"error": r, "buckets": [[low, high, count], …]}, ascending,
                    not overlapping */
    struct {
        bool above; /* true: beyond limit; false: below it */
        double limit;
    } censored; /* METRIC_CENSORED: {"above": limit} or {"below": limit} */
};

struct run_beside {
    char *name;
    char *unit;
    double *values; /* one per sample, in the samples' order */
    uint32_t n_values;
};

struct run_result {
    char *bench;
    GPtrArray *params;  /* struct run_param *, sorted by name (bytewise) */
    GPtrArray *metrics; /* struct run_metric *, sorted by (name, unit) */
    char *error;        /* or NULL; with metrics: a partial result */
    char *info_json;    /* or NULL */
    GPtrArray *flags;   /* char *, sorted, never NULL */
    GPtrArray *beside;  /* struct run_beside *, sorted by name */
};

typedef struct run {
    char *id;
    char *project;
    struct run_commit commit;
    char *branch; /* or NULL */
    bool dirty;
    char *source_json;  /* {"ci":…,"url":…,"pull_request":…,"base":…} or NULL */
    GPtrArray *history; /* struct run_commit *, newest first; never NULL */
    char *machine;
    char *environment_json;          /* or NULL */
    char *topology;                  /* hwloc XML or NULL */
    char *reason;                    /* or NULL */
    int64_t started_ms, finished_ms; /* since 1970 UTC; finished_ms 0 where absent */
    char *context_json;              /* or NULL */
    GPtrArray *results;              /* struct run_result *, in the document's order */
} Run;

Run *run_new(void);
void run_free(Run *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Run, run_free)

struct run_result *run_result_new(const char *bench);
void run_result_free(struct run_result *result);
struct run_metric *run_metric_new(const char *name, const char *unit, enum better better);
void run_metric_free(struct run_metric *metric);
struct run_commit *run_commit_new(void);
void run_commit_free(struct run_commit *commit);  /* the structure and what it owns */
void run_commit_clear(struct run_commit *commit); /* only what it owns */

/* Building. All copy what they are given; results keep their lists sorted. A result's parameters,
 * metrics, flags and what is beside have each name once: adding it twice makes a document that
 * run_validate refuses. */
GPtrArray *run_params_new(void);  /* of struct run_param *, which it owns */
GPtrArray *run_commits_new(void); /* of struct run_commit *, which it owns */
void run_params_add(GPtrArray *params, const char *name, const char *value); /* keeps them sorted */
void run_result_add_param(struct run_result *result, const char *name, const char *value);
void run_result_add_param_number(struct run_result *result, const char *name, double value);
void run_result_take_metric(struct run_result *result, struct run_metric *metric);
void run_metric_add_sample(struct run_metric *metric, double value);
void run_result_add_flag(struct run_result *result, const char *flag);
void run_result_add_beside(struct run_result *result, const char *name, const char *unit,
                           const double *values, uint32_t n_values);

/* Parses and validates. NULL on failure: ERROR_SYNTAX with line, column and byte offset (malformed
 * JSON, invalid UTF-8, a bare NaN, a duplicate key, nesting beyond 2048), ERROR_TOO_LARGE, or
 * ERROR_INVALID with every fault in `faults` (which the caller made). */
Run *run_parse(const char *bytes, size_t length, Faults *faults, GError **error);

/* The same for a list of commits as POST /api/projects/{p}/commits takes it: {"commits":[…]}. Array
 * of struct run_commit *. */
GPtrArray *run_parse_commits(const char *bytes, size_t length, Faults *faults, GError **error);

/* Prints canonically: fixed key order, shortest decimals, no spaces. parse(print(run)) prints the
 * same bytes. */
void run_print(const Run *run, GString *out);

/* Whether a run that was built, not parsed, keeps every rule of the document: for what comes from
 * foreign formats and query parameters. Faults and errors as run_parse; it prints and parses, so
 * that there is one set of rules. */
bool run_validate(const Run *run, Faults *faults, GError **error);

/* SHA-256 of the canonical document as 64 hex digits. */
char *run_digest(const Run *run);

/* A map of scalars as canonical JSON text (sorted keys, shortest numbers, no spaces), for
 * context_json, environment_json and info_json made by others; NULL where `json_text` is no such
 * map. */
char *run_map_text(const char *json_text);

/* SHA-256 of the environment's facts that move results, as 64 hex digits; NULL where the run has no
 * environment. Facts that change by themselves (host name, load, uptime, topology's XML with its
 * process name) are not among them. */
char *run_environment_digest(const char *environment_json);

/* {"executor":"fifo","task_cost":1000}: the parameters as canonical JSON text; "{}" for none. Its
 * bytes are their identity. */
char *run_params_text(const GPtrArray *params);

void run_params_append(GString *out, const GPtrArray *params); /* the same, appended */

/* True where a parameter's text prints without quotes: it is true, false, or exactly a canonical
 * number ("1000", not "1e3"). */
bool run_param_is_bare(const char *value);

/* The inverse: struct run_param * sorted by name, from text that run_params_text made; NULL for
 * other text. */
GPtrArray *run_params_parse(const char *text);

/* What the source says of a pull request; *out_base (a sha) only with one. Each is NULL where it is
 * not said; the caller frees them. */
bool run_pull_request(const Run *run, char **out_pull_request, char **out_base);

uint64_t run_count_samples(const Run *run);
