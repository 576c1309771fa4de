/* SPDX-License-Identifier: Apache-2.0
 * Units as tools write them, to the few that Breakeven keeps: times are ns, sizes B, rates per
 * second. So a tool that prints ms in one run and us in the next keeps its series. What is counted
 * ("op", "items", "allocs") is a word of the tool's and stays. Pure; any thread. */
#pragma once

#include "schema/run.h"

#define METRIC_UNIT_BYTES_MAX                                                                      \
    (RUN_NAME_BYTES_MAX - 8u) /* as a tool writes it: "i" grows to "items" */

struct metric_unit {
    char text[RUN_NAME_BYTES_MAX + 1]; /* "ns", "B/s", "ns/op", "allocs/op", "" */
    double factor;                     /* a value in the tool's unit times this is one in `text` */
};

/* "msec" → ns × 1e6, "MB/s" → B/s × 1e6, "us/op" → ns/op × 1e3, "ops/ms" → ops/s × 1e3,
 * "iter/sec" → iter/s. Decimal prefixes are powers of 1000, those with an i of 1024. Any other text
 * stays as it is with the factor 1; text beyond METRIC_UNIT_BYTES_MAX is cut between characters. */
void metric_unit_normalise(const char *text, struct metric_unit *out);

/* What a normalised unit says by itself: a time (also per something) is better lower, anything per
 * second is better higher, allocated bytes and counts per operation lower. Else not known. */
enum better metric_unit_better(const char *unit);

/* "time" for a time, "throughput" for a rate, "size" for B, any other unit itself, "value" where
 * there is none: the name of the one metric of a tool that does not name what it measures. `unit`
 * is normalised and stays the caller's. */
const char *metric_unit_noun(const char *unit);
