/* SPDX-License-Identifier: Apache-2.0
 * Which series somebody speaks of, in a rule or in a commit's trailer: a benchmark's name in which
 * `*` stands for any text, parameters that must be had, a machine, a metric. Pure; any thread. */
#pragma once

#include "schema/run.h"

struct series_pattern {
    char *bench;       /* NULL: any */
    GPtrArray *params; /* struct run_param *, sorted by name; never NULL once initialised */
    char *machine;     /* exactly; NULL: any */
    char *metric;      /* exactly; NULL: any */
};

/* What a series is called; borrowed. */
struct series_names {
    const char *bench;
    const GPtrArray *params; /* struct run_param * */
    const char *machine, *metric;
};

void series_pattern_init(struct series_pattern *pattern);
void series_pattern_clear(struct series_pattern *pattern);

/* `*` stands for any text, the empty one too; all else for itself. */
bool series_pattern_glob(const char *glob, const char *text);

bool series_pattern_fits(const struct series_pattern *pattern, const struct series_names *names);

/* Which of two is the more specific: > 0 the first, < 0 the second, 0 neither. The first difference
 * decides: the benchmark (a whole name before a pattern, a pattern with more letters before one
 * with fewer, any before none), the number of parameters, a machine before none, a metric before
 * none. */
int series_pattern_compare(const struct series_pattern *a, const struct series_pattern *b);

/* True where both name the same, text for text. */
bool series_pattern_equal(const struct series_pattern *a, const struct series_pattern *b);

/* `BENCH` or `BENCH{name=value,...}` as a trailer writes it. False with ERROR_SYNTAX that says what
 * is wrong; `out` is initialised here and cleared by the caller in both cases. */
bool series_pattern_parse(const char *text, struct series_pattern *out, GError **error);
